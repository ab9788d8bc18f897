#!/usr/bin/env bash
# Predicts what experiments/studies/peers measured of other libraries' kernels, and compares. An error inside
# the 5 to 95 % range of a point's own launches counts as zero, as everywhere in `compare`.
#
#   experiments/studies/validation/judge_systems.sh [FOLDER] [-- OPTIONS OF SIMULATE]
#
# FOLDER (default: build/judge/systems) gets SYSTEM.predicted.csv, SYSTEM.errors.csv, SYSTEM.txt and a
# scatter a system, points.md with every point and SYSTEM.csv, DRAM reads and duration of every point
# (recorded in experiments/studies/validation/results/systems). $SAWTOOTH is the program (default: build/release/sawtooth). Needs no GPU.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 2

program=${SAWTOOTH:-build/release/sawtooth}
peers=experiments/data/h200/peers
systems=(flash-attention-2 flash-attention-3 cudnn triton-tutorial)
counters=sm_read_sectors,l2_read_sectors,l2_read_miss_sectors,l2_write_sectors,fabric_read_sectors,fabric_read_miss_sectors,dram_read_sectors,time_us

folder=build/judge/systems
if (($#)) && [ "$1" != -- ]; then
  folder=$1
  shift
fi
(($# == 0)) || [ "$1" = -- ] && shift $(($# > 0))
[ -x "$program" ] || {
  echo "judge_systems.sh: $program is not there; build it or set SAWTOOTH" >&2
  exit 2
}
python=
for candidate in ${SAWTOOTH_PYTHON:-} python3 /usr/bin/python3; do
  "$candidate" -c "import matplotlib" 2>/dev/null && python=$candidate && break
done
[ -n "$python" ] || echo "judge_systems.sh: no python3 with matplotlib: no figures" >&2

mkdir -p "$folder"
measured=$folder/measured.csv
head -n 1 "$peers/peers.csv" >"$measured"
tail -q -n +2 "$peers/peers.csv" "$peers/flash_attention_3.csv" >>"$measured"
tables=()
for system in "${systems[@]}"; do
  stem=$folder/$system
  "$program" simulate --gpu h200 --system "$system" --seq 16K,32K,64K,128K,256K --head-dim 64,128 \
    --mask none,causal "$@" --quiet --csv "$stem.predicted.csv"
  echo "$system:"
  "$program" compare "$stem.predicted.csv" "$measured" --baselines computed --counters "$counters" \
    --csv "$stem.errors.csv" | tee "$stem.txt"
  tables+=("$system=$stem.errors.csv")
  python3 experiments/studies/validation/points.py --record "$stem.csv" "$stem.errors.csv"
  [ -z "$python" ] || "$python" plots/figures/validation.py "$stem.errors.csv" -o "$stem"
done
python3 experiments/studies/validation/points.py "${tables[@]}" >"$folder/points.md"
head -n $((2 + ${#systems[@]})) "$folder/points.md"
echo "written to $folder"
