#!/usr/bin/env bash
# Measures what search chose beside schedules drawn from its space, on the GPU that is here (four minutes).
#
#   experiments/studies/search/measure.sh FOUND.csv FOLDER [PROGRAM]
# FOUND.csv is what `sawtooth search proof.ini` wrote; FOLDER gets times.csv, counters.csv and their lists.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
found=$1
folder=$2
program=${3:-$here/../../../build/release/sawtooth}
mkdir -p "$folder"
python3 "$here/proof.py" draw "$found" --seed 26 --schedules 24 >"$folder/candidates.ini"
"$program" bench "$folder/candidates.ini" --repetitions 5 --quiet --overwrite --csv "$folder/times.csv"
python3 "$here/proof.py" near "$found" "$folder/times.csv" >"$folder/near.ini"
"$program" measure "$folder/near.ini" --repetitions 1 --quiet --overwrite --csv "$folder/counters.csv"
python3 "$here/proof.py" judge "$found" "$folder/times.csv" "$folder/counters.csv" "$folder/proof.csv"
