#!/usr/bin/env bash
# Predicts the lists of this folder, fills README.md and draws its picture. No GPU; some minutes of one core.
#
#   experiments/studies/serving/run.sh [PROGRAM]   (default: build/release/sawtooth)
#   experiments/studies/serving/run.sh --check     has README.md the figures of results/?
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 2

here=experiments/studies/serving
[ "${1:-}" = --check ] && exec python3 "$here/finding.py" --check
mkdir -p "$here/results"
for list in decode lengths splits cascade pages drawn varlen; do
  "${1:-build/release/sawtooth}" simulate "$here/lists/$list.ini" --resume --csv "$here/results/$list.csv"
done
"${1:-build/release/sawtooth}" simulate "$here/lists/drawn.ini" --kernel-costs mma-decode-h200 --resume \
  --csv "$here/results/drawn_pages.csv"  # drawn_costs.csv is from before the points were measured
python3 "$here/finding.py"
python=python3
$python -c 'import matplotlib' 2>/dev/null || python=/usr/bin/python3
"$python" "$here/draw.py" "$here/results/decode.csv" "$here/pictures/packing"
