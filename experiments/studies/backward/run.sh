#!/usr/bin/env bash
# Predicts the lists of this folder, fills README.md and draws its picture. No GPU; some ten minutes of one core.
#
#   experiments/studies/backward/run.sh [PROGRAM]   (default: build/release/sawtooth)
#   experiments/studies/backward/run.sh --check     has README.md the figures of results/?
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 2

here=experiments/studies/backward
[ "${1:-}" = --check ] && exec python3 "$here/finding.py" --check
program=${1:-build/release/sawtooth}
mkdir -p "$here/results"
for list in orders dash presets; do
  "$program" simulate "$here/lists/$list.ini" --resume --csv "$here/results/$list.csv"
done
# drawn GPU LIST OPTIONS...: a list that was drawn, beside what was counted on the GPU.
drawn() {
  local data=experiments/data/$1/backward list=$2
  shift 2
  "$program" simulate "$here/lists/$list.ini" "$@" --timing lockstep,timed --resume --csv "$here/results/$list.csv"
  "$program" compare "$here/results/$list.csv" "$data/$list.csv" --quiet \
    --csv "$here/results/${list}_errors.csv" --summary "$here/results/${list}_summary.csv"
}
parts=$(mktemp -d)
trap 'rm -r "$parts"' EXIT
# With the costs of kernels/mma as they were when the lists were measured.
for gpu in h200 h100-sxm; do
  sed 's/mma-backward-h100-sxm/mma-backward-h200/' "experiments/profiles/gpus/$gpu.ini" >"$parts/$gpu.ini"
done
drawn h200 drawn --gpu "$parts/h200.ini"
drawn h200 drawn_families --gpu "$parts/h200.ini"
drawn h100 drawn_third --gpu "$parts/h100-sxm.ini"
drawn h100 drawn_fourth --gpu "$parts/h100-sxm.ini"
# Points of kernels/mma that were counted, and timed, again with the kernels of now.
mkdir "$parts/again"
for list in third fourth; do
  for costs in then now; do
    gpu=h100-sxm
    [ $costs = then ] && gpu=$parts/h100-sxm.ini
    "$program" simulate "$here/lists/drawn_$list.ini" --gpu "$gpu" --timing timed --csv "$parts/again/$list-$costs.csv"
    for part in again times; do
      "$program" compare "$parts/again/$list-$costs.csv" "experiments/data/h100/backward/${list}_$part.csv" --quiet \
        --csv "$here/results/${list}_${part}_${costs}_errors.csv"
    done
  done
done
for d in 128 64; do
  for mask in causal none; do
    "$program" simulate "experiments/studies/peers/lists/race-backward-d$d-$mask.ini" --pass backward --head-dim $d \
      --mask $mask --seq 8K --batch 2 --heads 16 --timing timed --csv "$parts/$d-$mask.csv"
  done
done
"$program" merge "$parts"/*.csv --csv "$here/results/ordered.csv"
python3 "$here/finding.py"
python=python3
$python -c 'import matplotlib' 2>/dev/null || python=/usr/bin/python3
"$python" "$here/draw.py" "$here/results/orders.csv" "$here/pictures/traffic"
