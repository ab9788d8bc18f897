#!/usr/bin/env bash
# Predicts the lists of this folder, judges them by what was measured, and fills README.md. No GPU; three minutes of one core.
#
#   experiments/studies/backward/run.sh [PROGRAM]   (default: build/release/sawtooth)
#   experiments/studies/backward/run.sh --check     has README.md the figures of results/?
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 2
source experiments/studies/judging.sh backward "$@"

predict h100 drawn_h100 --timing lockstep,timed
judge "H100, drawn, kernels/hopper" h100 h100/backward/drawn
judge "H100, drawn, kernels/mma" h100 h100/backward/drawn_mma
judge "H100, drawn, kernels/mma, timed alone" h100 h100/backward/drawn_mma_times
predict h200 drawn_h200
judge "H200, development, kernels/hopper" h200 h200/backward/drawn
predict again drawn_again
for family in hopper mma; do
  judge "H200, drawn, kernels/$family" again h200/backward/drawn_again kernel=$family
done
predict first first
judge "H200, first launches" first h200/backward/first
predict separate separate --gpu h100-sxm
judge "H100, separate" separate h100/backward/separate
predict libraries libraries
judge "H200, cuDNN and FlashAttention-2" libraries h200/backward/libraries
predict ordered ordered
for dq in atomic ordered; do
  judge "H200, $dq" ordered h200/backward/ordered dq=$dq
done
predict orders orders
python3 "$tables" keep "$folder/orders.csv" --to "$here/results/orders.csv"
python3 "$tables" page "$here"
"$program" plot xy "$folder/orders.csv" --x seq_kv --y dram_over_compulsory --hue scan --facet mask --log x --size 10x3.4 \
  --where heads=1 --where q_order=ascending --where dq=atomic --format png -o "$here/traffic.png"
