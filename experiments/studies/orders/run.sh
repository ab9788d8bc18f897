#!/usr/bin/env bash
# Predicts the pairs of schedules of README.md, fills its figures and draws its picture. No GPU; two minutes.
#
#   experiments/studies/orders/run.sh                   with --gains also what taught kernels gain: half an hour
#   experiments/studies/orders/run.sh --check           seconds: is what is recorded what the program gives?
#   experiments/studies/orders/run.sh --measure FOLDER  measures the lists, half an hour on an H200; goes on where it stopped
# $SAWTOOTH is the program (default: build/release/sawtooth).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 2
here=experiments/studies/orders
program=${SAWTOOTH:-build/release/sawtooth}

if [ "${1:-}" = --measure ]; then
  mkdir -p "${2:?give the folder that the tables go to}"
  for list in length launches scans prefetch sections split stages held_out; do
    "$program" measure "$here/lists/$list.ini" --repetitions 3 --csv "$2/$list.csv" --resume
  done
  exit
fi
python3 "$here/orders.py" "$program" "$@"
[ "${1:-}" != --check ] || exit 0

mkdir -p build/orders
# Half of the H200's L2: every line that all SMs read lives in both halves.
"$program" simulate "$here/lists/length.ini" --timing lockstep --l2 lru --l2-bytes 30MiB --mask none \
  --launch static --q-order ascending --quiet --overwrite --csv build/orders/length.csv
"$program" plot xy experiments/data/h200/orders/schedules.csv build/orders/length.csv --x seq_kv \
  --y dram_read_sectors --hue scan --facet head_dim --where experiment=length --where mask=none --format png \
  -o "$here/pictures/length"
