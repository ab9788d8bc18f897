#!/usr/bin/env bash
# Searches the lists of this folder and draws them (some ten minutes of one core, no GPU).
#
#   experiments/studies/search/run.sh [PROGRAM]     PROGRAM is sawtooth (default: build/release/sawtooth)
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
program=${1:-$root/build/release/sawtooth}
folder=$root/runs/search
mkdir -p "$folder"
for list in "$here"/lists/*.ini; do
  gpu=$(basename "$list" .ini)
  case $gpu in h200 | gb10) orders=24 ;; *) orders=0 ;; esac
  "$program" search "$list" --budget 6 --audit 3 --orders $orders --seed 26 --overwrite \
    --csv "$folder/$gpu.csv" --best "$folder/$gpu.best.ini" | tee "$folder/$gpu.txt"
  # The sampling error: the best schedule on twice the K/V heads (of sections called `sampled`).
  python3 "$here/sampling.py" "$list" "$folder/$gpu.best.ini" >"$folder/$gpu.twice.ini"
  if grep -q '^\[' "$folder/$gpu.twice.ini"; then
    "$program" simulate "$folder/$gpu.twice.ini" --timing timed --csv "$folder/$gpu.twice.csv"
  fi
done
# What screening costs: the same lists with every schedule decided.
for gpu in h200 gb10; do
  "$program" search "$here/lists/$gpu.ini" --budget 1000 --seed 26 --overwrite --csv "$folder/$gpu.all.csv"
done
python=python3
$python -c 'import matplotlib' 2>/dev/null || python=/usr/bin/python3
"$python" "$here/tables.py" "$folder" "$here/results"
"$python" "$here/draw.py" "$here/results/shapes.csv" "$here/pictures/search"
