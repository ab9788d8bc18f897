#!/usr/bin/env bash
# Makes README.md and pictures/ beside it from the recorded readings, without a GPU: simulates the
# lists (under a minute), fills the numbers of finding.md and draws.
#   experiments/studies/hopper/finding.sh [--check] [PROGRAM]
# PROGRAM is sawtooth, by default build/release/sawtooth. --check says whether README.md is current.
# SAWTOOTH_READINGS=FOLDER takes other readings, such as those that measure.sh wrote.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$here/../../..
check=
if [ "${1:-}" = --check ]; then check=--check; shift; fi
program=${1:-$root/build/release/sawtooth}
measured=${SAWTOOTH_READINGS:-$root/experiments/data/h200/hopper}
predicted=$root/runs/hopper/predicted
python=python3
$python -c 'import matplotlib' 2>/dev/null || python=/usr/bin/python3

mkdir -p "$predicted"
for list in length launches scans prefetch sections split; do
  # Half of the H200's L2: every line that all SMs read lives in both halves (expected.md).
  "$program" simulate "$here/$list.ini" --l2-bytes 30MiB --csv "$predicted/$list.csv"
done
"$python" "$here/finding.py" "$measured" "$predicted" $check
if [ -z "$check" ]; then
  "$python" "$root/plots/figures/hopper.py" "$measured" "$predicted" -o "$here/pictures"
  rm "$here"/pictures/*.pdf
fi
