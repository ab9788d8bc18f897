#!/usr/bin/env bash
# Predicts the lists of this folder, judges them by what was measured, and fills README.md. No GPU; five minutes of one core.
#
#   experiments/studies/ring/run.sh [PROGRAM]            (default: build/release/sawtooth)
#   experiments/studies/ring/run.sh --check              has README.md the figures of results/?
#   experiments/studies/ring/run.sh --measure PROGRAM N  on a host with N GPUs (2 or 4): four minutes; MOVER=nccl for NCCL
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 2
source experiments/studies/judging.sh ring "$@"

# measure PROGRAM N: results against one GPU's, shares of the ideal, then counters and times of the judged steps.
measure() {
  local ring=("$1" ring --overwrite --ring-mover "${MOVER:-copy}") list=$folder/drawn_$2.ini
  for pass in forward backward; do
    "${ring[@]}" --gpu h200 --ring "$2" --seq 16K --heads 8 --head-dim 128 --mask causal --pass "$pass" --automatic \
      --counted off --check --repetitions 1 --csv /dev/null
  done
  "${ring[@]}" "$here/lists/ideal.ini" --ring "$2" --automatic --counted off --csv "$folder/ideal_$2.csv"
  awk -v gpus="$2" 'BEGIN { RS = ""; ORS = "\n\n" } NR == 1 || $0 ~ "\nring = " gpus "\n"' "$here/lists/drawn.ini" >"$list"
  "${ring[@]}" "$list" --repetitions 1 --csv "$folder/drawn_counters_$2.csv"
  "${ring[@]}" "$list" --counted off --csv "$folder/drawn_times_$2.csv"
  [ "$2" = 2 ] || return 0
  "${ring[@]}" "$here/lists/backward.ini" --repetitions 1 --csv "$folder/backward_counters.csv"
  "${ring[@]}" "$here/lists/backward.ini" --counted off --csv "$folder/backward_times.csv"
}
if [ "${1:-}" = --measure ]; then
  measure "${2:?PROGRAM}" "${3:?number of GPUs}"
  exit
fi

# predict LIST GPU MEASURED...: rows of a list, and their errors.
predict() {
  "$program" simulate "$here/lists/$1.ini" --gpu "$(python3 "$tables" before "$2" "$folder")" --quiet --overwrite --csv "$folder/$1.csv"
  python3 "$here/steps.py" "$folder/$1.csv" "${@:3}" --csv "$folder/$1_errors.csv"
}
# judge SET LIST CONDITIONS...
judge() { python3 "$tables" errors "$folder/$2_errors.csv" --set "$1" --where "${@:3}" --to "$here/results/judged.csv"; }

data=experiments/data/h100/ring
predict drawn h100-sxm "$data"/{counters,times}.csv
judge "H100, drawn, each GPU" drawn of=GPU
judge "H100, drawn, each of four GPUs" drawn of=GPU ring=4
judge "H100, drawn, each of two GPUs" drawn of=GPU ring=2
judge "H100, drawn, each step" drawn of=step
predict backward h100-sxm "$data"/{counters,times}.csv
judge "H100, backward, each GPU" backward of=GPU
judge "H100, backward, each step" backward of=step
predict recorded h200 experiments/data/h200/ring/recorded.csv
judge "H200, whole rings" recorded of=ring
python3 "$tables" page "$here"
"$program" plot xy "$data/ideal.csv" --x seq_q --y of_ideal --hue ring,mask --facet pass --log x --size 9x3.4 \
  --format png -o "$here/ideal.png"
