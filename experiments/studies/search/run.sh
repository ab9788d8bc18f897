#!/usr/bin/env bash
# Searches the lists of this folder and draws them (some ten minutes of one core, no GPU).
#
#   [ORDERS=24] [ALL=1] experiments/studies/search/run.sh [PROGRAM]
# PROGRAM is sawtooth (default: build/release/sawtooth). ORDERS explicit orders are tried for each shape; ALL decides
# every schedule of the H200's shapes as well.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
program=${1:-$root/build/release/sawtooth}
folder=$root/runs/search
mkdir -p "$folder"
for list in "$here"/lists/*.ini; do
  gpu=$(basename "$list" .ini)
  "$program" search "$list" --budget 6 --audit 3 --orders "${ORDERS:-0}" --seed 26 --resume \
    --csv "$folder/$gpu.csv" --best "$folder/$gpu.best.ini" | tee "$folder/$gpu.txt"
  # The sampling error: the best schedule on twice the K/V heads (of sections called `sampled`).
  python3 "$here/sampling.py" "$list" "$folder/$gpu.best.ini" >"$folder/$gpu.twice.ini"
  if grep -q '^\[' "$folder/$gpu.twice.ini"; then
    "$program" simulate "$folder/$gpu.twice.ini" --timing timed --overwrite --csv "$folder/$gpu.twice.csv"
  fi
done
if [ -n "${ALL:-}" ]; then # what screening costs: every schedule decided
  "$program" search "$here/lists/h200.ini" --budget 1000 --seed 26 --resume --csv "$folder/h200.all.csv"
fi
python=python3
$python -c 'import matplotlib' 2>/dev/null || python=/usr/bin/python3
"$python" "$here/tables.py" "$folder" "$here/results"
"$python" "$here/draw.py" "$here/results/shapes.csv" "$here/pictures/search"
