#!/usr/bin/env bash
# Predicts the lists of this folder (under a minute, no GPU), fills the figures of README.md and draws its pictures.
#
#   experiments/studies/hopper/run.sh [PROGRAM]
#   experiments/studies/hopper/run.sh --check [PROGRAM]            is README.md what the tables give? exit 1 if not
#   experiments/studies/hopper/run.sh --measure FOLDER [PROGRAM]   measures the lists, 13 minutes on an H200; a run
#                                                            that was interrupted goes on where it stopped
# PROGRAM is sawtooth (default: build/release/sawtooth). SAWTOOTH_READINGS=FOLDER takes other readings than
# experiments/data/h200/hopper.csv.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
lists=(length launches scans prefetch sections split)
check='' measure=''
case ${1:-} in
  --check) check=--check && shift ;;
  --measure) measure=${2:?give the folder that the tables go to} && shift 2 ;;
esac
program=${1:-$root/build/release/sawtooth}

if [ -n "$measure" ]; then
  mkdir -p "$measure"
  for list in "${lists[@]}"; do
    "$program" measure "$here/lists/$list.ini" --kernel mma --repetitions 3 --csv "$measure/$list.csv" --resume
  done
  exit
fi

measured=${SAWTOOTH_READINGS:-$root/experiments/data/h200/hopper.csv}
predicted=$root/runs/hopper
python=python3
$python -c 'import matplotlib' 2>/dev/null || python=/usr/bin/python3
mkdir -p "$predicted"
for list in "${lists[@]}"; do
  # Half of the H200's L2: every line that all SMs read lives in both halves.
  "$program" simulate "$here/lists/$list.ini" --timing lockstep --l2 lru --l2-bytes 30MiB --csv "$predicted/$list.csv"
done
"$python" "$here/finding.py" "$measured" "$predicted" $check
[ -z "$check" ] || exit 0

"$python" "$here/draw.py" "$measured" "$predicted" "$here/pictures"
for order in ascending descending; do
  "$program" simulate --gpu h200 --seq 128K --head-dim 64 --tile-q 128 --tile-kv 128 \
    --mask causal --launch dynamic --q-order "$order" --quiet --csv "$predicted/$order.csv" \
    --wavefront "$predicted/$order.wave.csv" --wavefront-steps 2500
done
"$python" "$root/plots/plot.py" wavefront "shortest first=$predicted/ascending.wave.csv" \
  "longest first=$predicted/descending.wave.csv" -o "$here/pictures/causal"
rm "$here"/pictures/*.pdf
