#!/usr/bin/env bash
# Predicts the lists of this folder, judges them by what was measured, and fills README.md. No GPU; a minute of one core.
#
#   experiments/studies/serving/run.sh [PROGRAM]          (default: build/release/sawtooth)
#   experiments/studies/serving/run.sh --check            has README.md the figures of results/?
#   experiments/studies/serving/run.sh --decode LIBRARY   needs a GPU and PyTorch: times decode beside PyTorch's
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 2
source experiments/studies/judging.sh serving "$@"
[ "${1:-}" = --decode ] && SAWTOOTH_LIBRARY=$2 exec python3 "$here/decode.py" "$folder/decode.csv"

for list in drawn_decode drawn_reuse drawn_ways flashmla decode splits lengths; do predict "$list" "$list"; done
predict varlen varlen --gpu "$(python3 "$tables" before h200 "$folder")"
judge "H200, drawn decode" drawn_decode h200/serving/drawn_decode
judge "H200, drawn, K and V read again" drawn_reuse h200/serving/drawn_reuse
judge "H100, drawn, packed" drawn_ways h100/serving/drawn_ways prefix= pack_gqa=on
judge "H100, drawn, not packed" drawn_ways h100/serving/drawn_ways prefix= pack_gqa=
judge "H100, drawn, packed or not" drawn_ways h100/serving/drawn_ways prefix=
judge "H100, drawn, prefix read by each" drawn_ways h100/serving/drawn_ways prefix!= cascade=
judge "H100, drawn, cascade" drawn_ways h100/serving/drawn_ways cascade=on
judge "H100, drawn, prefix" drawn_ways h100/serving/drawn_ways prefix!=
judge "H200, packed sequences" varlen h200/serving/varlen
judge "H200, FlashMLA" flashmla h200/serving/flashmla
judge "H100, drawn, all" drawn_ways h100/serving/drawn_ways
"$program" merge "$folder"/{decode,splits,lengths}.csv --csv "$folder/predicted.csv"
python3 "$tables" keep "$folder/predicted.csv" --to "$here/results/predicted.csv"
python3 "$tables" page "$here"
# Points are one group, whatever costs they have.
sed -i 's/^"timed, [^"]*"/timed/' "$folder/errors.csv"
"$program" plot validation "$folder/errors.csv" --format png -o "$here/predicted.png"
