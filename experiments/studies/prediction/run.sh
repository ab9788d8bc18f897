#!/usr/bin/env bash
# Judges lists of measured points: predicts, compares, fills README.md, draws its picture. No GPU.
#
#   experiments/studies/prediction/run.sh [LIST ...]   all lists of prediction.py take a quarter of an hour of one core
#   experiments/studies/prediction/run.sh --check      seconds: is what is recorded what the program gives?
#   experiments/studies/prediction/run.sh --unmeasured the GPUs without a measurement: ten minutes
# build/prediction/LIST gets predicted.csv, errors.csv and all.csv. $SAWTOOTH is the program (default: build/release/sawtooth).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 2
here=experiments/studies/prediction
program=${SAWTOOTH:-build/release/sawtooth}

python3 "$here/prediction.py" "$program" "$@"
errors=build/prediction/families_sixth/errors.csv
[[ "${1:-}" != --* && -e $errors ]] || exit 0
"$program" plot validation "$errors" --format png -o "$here/pictures/families_sixth"
