#!/usr/bin/env bash
# The study's steps; results go to runs/ring.
#
#   experiments/studies/ring/run.sh measure [GPUS]   # on a host with GPUS (2) of them: ten minutes
#   experiments/studies/ring/run.sh backward         # two GPUs: two minutes
#   experiments/studies/ring/run.sh ideal GPUS       # list four on so many GPUs (4, or 2): two minutes
#   experiments/studies/ring/run.sh predict-drawn    # no GPU: the drawn list (LIST=drawn_second: the second), five minutes of one core
#   experiments/studies/ring/run.sh measure-drawn N  # its rings of N GPUs (2 or 4): two minutes
#   experiments/studies/ring/run.sh second-steps     # one GPU: launches that add, half a minute
#   experiments/studies/ring/run.sh predict          # no GPU: the judged list, half an hour of one core
#   experiments/studies/ring/run.sh judge [OPTIONS]  # the recorded rows of two H200, and steps of two H100; OPTIONS are simulate's
# SAWTOOTH is the program (default: build/release/sawtooth); MOVER is copy or nccl (with NCCL_NVLS_ENABLE=0: no
# NVLink multicast).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
program=${SAWTOOTH:-$root/build/release/sawtooth}
gpus=${2:-2}
mover=${MOVER:-copy}
drawn=${LIST:-drawn}
folder=$root/runs/ring
mkdir -p "$folder"
case ${1:-} in
  measure)
    "$program" ring --ring "$gpus" --seq 16K --heads 8 --head-dim 128 --mask causal --automatic --counted off --check \
      --ring-mover "$mover" --repetitions 1 --csv /dev/null
    "$program" ring "$here/lists/times.ini" --ring "$gpus" --ring-mover "$mover" --automatic --counted off \
      --overwrite --csv "$folder/times_$gpus.csv"
    if [ "$gpus" = 2 ]; then
      "$program" ring "$here/lists/judged.ini" --repetitions 1 --overwrite --csv "$folder/judged_counters.csv"
      "$program" ring "$here/lists/judged.ini" --counted off --overwrite --csv "$folder/judged_times.csv"
    fi
    python3 "$here/ring_table.py" "$folder/times_$gpus.csv"
    ;;
  backward)
    for mask in causal none; do
      "$program" ring --gpu h200 --ring 2 --seq 16K --heads 8 --head-dim 128 --mask "$mask" --pass backward --automatic \
        --counted off --check --ring-mover "$mover" --repetitions 1 --csv /dev/null
    done
    "$program" ring "$here/lists/backward.ini" --counted off --overwrite --csv "$folder/backward_times.csv"
    "$program" ring "$here/lists/backward.ini" --repetitions 1 --overwrite --csv "$folder/backward_counters.csv"
    "$program" ring "$here/lists/backward.ini" --automatic --counted off --overwrite --csv "$folder/backward_automatic.csv"
    ;;
  ideal)
    for pass in forward backward; do
      "$program" ring --gpu h200 --ring "$gpus" --seq 16K --heads 8 --head-dim 128 --mask causal --pass "$pass" \
        --automatic --counted off --check --ring-mover "$mover" --repetitions 1 --csv /dev/null
    done
    "$program" ring "$here/lists/four.ini" --ring "$gpus" --ring-mover "$mover" --automatic --counted off --overwrite \
      --csv "$folder/ideal_$gpus.csv"
    python3 "$here/ring_table.py" "$folder/ideal_$gpus.csv"
    ;;
  predict-drawn)
    for gpu in h100-sxm h200; do
      "$program" simulate "$here/lists/$drawn.ini" --gpu "$gpu" --resume --csv "$here/results/${drawn}_${gpu%-sxm}.csv"
    done
    ;;
  measure-drawn)
    list=$folder/${drawn}_$gpus.ini
    awk -v gpus="$gpus" 'BEGIN { RS = ""; ORS = "\n\n" } NR == 1 || $0 ~ "\nring = " gpus "\n"' "$here/lists/$drawn.ini" >"$list"
    "$program" ring "$list" --repetitions 1 --overwrite --csv "$folder/${drawn}_counters_$gpus.csv"
    "$program" ring "$list" --counted off --overwrite --csv "$folder/${drawn}_times_$gpus.csv"
    ;;
  second-steps)
    "$root/build/release/experiments/studies/second_steps" "$folder"
    python3 "$here/item_paces.py" "$folder/later_items.csv"
    ;;
  predict)
    "$program" simulate "$here/lists/judged.ini" --resume --csv "$here/results/judged.csv"
    "$program" simulate "$here/lists/judged.ini" --gpu "$here/lists/h100.ini" --resume --csv "$here/results/judged_h100.csv"
    "$program" simulate "$here/lists/backward.ini" --resume --csv "$here/results/backward.csv"
    "$program" simulate "$here/lists/backward.ini" --gpu "$here/lists/h100.ini" --resume --csv "$here/results/backward_h100.csv"
    ;;
  judge)
    "$program" simulate "$here/lists/recorded.ini" "${@:2}" --overwrite --csv "$folder/recorded.csv"
    python3 "$here/ring_table.py" "$root/experiments/data/h200/ring/two_gpus_copy.csv" --predicted "$folder/recorded.csv"
    python3 "$here/steps_table.py" "$here/results/judged_h100.csv" "$root/experiments/data/h100/ring/judged_counters.csv" \
      "$root/experiments/data/h100/ring/judged_times.csv"
    python3 "$here/steps_table.py" "$here/results/drawn_h100.csv" "$root/experiments/data/h100/ring/drawn_counters.csv" \
      "$root/experiments/data/h100/ring/drawn_times.csv"
    python3 "$here/steps_table.py" "$here/results/drawn_second_h100.csv" \
      "$root/experiments/data/h100/ring/drawn_second_counters.csv" "$root/experiments/data/h100/ring/drawn_second_times.csv"
    for rows in four_gpus two_gpus four_gpus_backward backward_automatic; do
      python3 "$here/ring_table.py" "$root/experiments/data/h100/ring/$rows.csv"
    done
    python3 "$here/steps_table.py" "$here/results/backward_h100.csv" \
      "$root/experiments/data/h100/ring/backward_counters.csv" "$root/experiments/data/h100/ring/backward_times.csv"
    ;;
  *)
    sed -n '2,15s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
    ;;
esac
