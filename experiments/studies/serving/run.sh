#!/usr/bin/env bash
# Predicts the lists of this folder, judges them by what was measured, and fills README.md. No GPU; a minute of one core.
#
#   experiments/studies/serving/run.sh [PROGRAM]          (default: build/release/sawtooth)
#   experiments/studies/serving/run.sh --check            has README.md the figures of results/?
#   experiments/studies/serving/run.sh --decode LIBRARY   needs a GPU and PyTorch: times decode beside PyTorch's
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 2

here=experiments/studies/serving
tables=experiments/studies/judged.py
[ "${1:-}" = --check ] && exec python3 "$tables" page "$here" --check
folder=runs/serving
mkdir -p "$folder"
[ "${1:-}" = --decode ] && SAWTOOTH_LIBRARY=$2 exec python3 "$here/decode.py" "$folder/decode.csv"
program=${1:-build/release/sawtooth}

# predict NAME: rows of a list.
predict() { "$program" simulate "$here/lists/$1.ini" --quiet --overwrite --csv "$folder/$1.csv"; }
# judge SET NAME GPU CONDITIONS...: errors of predicted rows, those that meet the conditions.
judge() {
  "$program" compare "$folder/$2.csv" "experiments/data/$3/serving/$2.csv" --quiet --csv "$folder/errors.csv" >/dev/null
  python3 "$tables" errors "$folder/errors.csv" --set "$1" --where "${@:4}" --to "$here/results/judged.csv"
}

for list in drawn_decode drawn_reuse drawn_ways varlen decode splits lengths; do predict "$list"; done
judge "H200, drawn decode" drawn_decode h200
judge "H200, drawn, K and V read again" drawn_reuse h200
judge "H100, drawn, packed" drawn_ways h100 prefix= pack_gqa=on
judge "H100, drawn, not packed" drawn_ways h100 prefix= pack_gqa=
judge "H100, drawn, packed or not" drawn_ways h100 prefix=
judge "H100, drawn, prefix read by each" drawn_ways h100 prefix!= cascade=
judge "H100, drawn, cascade" drawn_ways h100 cascade=on
judge "H100, drawn, prefix" drawn_ways h100 prefix!=
judge "H200, packed sequences" varlen h200
judge "H100, drawn, all" drawn_ways h100
"$program" merge "$folder"/{decode,splits,lengths}.csv --csv "$folder/predicted.csv"
python3 "$tables" keep "$folder/predicted.csv" --to "$here/results/predicted.csv"
python3 "$tables" page "$here"
# Points are one group, whatever costs they have.
sed -i 's/^"timed, [^"]*"/timed/' "$folder/errors.csv"
"$program" plot validation "$folder/errors.csv" --format png -o "$here/predicted.png"
