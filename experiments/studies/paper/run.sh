#!/usr/bin/env bash
# run.sh SAWTOOTH OUT [yes|no]: runs lists/ and changes of lists/point.ini with the program SAWTOOTH into
# the folder OUT, then derives closed_forms.csv and claims.csv and draws the plots. `yes` is the
# quick mode: fewer lengths, and fewer batches where schedules stand side by side (two in causal
# mode, where CTAs that run on from one batch to the next matter).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$here/../../..
source "$root/experiments/packages.sh"
sawtooth=${1:?usage: run.sh SAWTOOTH OUT [yes|no]}
out=${2:?usage: run.sh SAWTOOTH OUT [yes|no]}
quick=${3:-no}
mkdir -p "$out"

# Quick and full rows must not meet in one table.
if [[ -f $out/mode && $(<"$out/mode") != "$quick" ]]; then rm -f "$out"/*.csv; fi
echo "$quick" >"$out/mode"

side_by_side=()
causal=()
misses_lengths=()
sectors_lengths=()
if [[ $quick == yes ]]; then
  side_by_side=(--batch 1)
  causal=(--batch 2)
  misses_lengths=(--seq "8192,32768,65536,81920,90112,94208,96256,106496,131072,196608,262144")
  sectors_lengths=(--seq "8192,32768")
fi

begin=$SECONDS
# predict LIST CSV [OPTION ...]
predict() {
  printf '%4d s  %s\n' "$((SECONDS - begin))" "$2"
  "$sawtooth" simulate "$here/lists/$1.ini" --csv "$out/$2.csv" --resume "${@:3}"
}
# from_point CSV OPTION ...: the paper's point, with other values of some keys.
from_point() { predict point "$1" --experiment "$@"; }

predict point point
predict sectors sectors "${sectors_lengths[@]}"
predict misses misses "${misses_lengths[@]}"
# The raw CUDA kernel: its L1 table is S = 32K; its misses fall by half where K and V do not fit L2.
from_point raw_cuda --batch 1 --seq 32768,131072 --tile-q 80 --tile-kv 80
# Published: 34,078,720 sectors without a mask, 17,563,648 with a causal one.
from_point profile --batch 1 --heads 8 --seq 4096 --head-dim 128 --mask none,causal --scan linear
from_point ctas --batch 1 --workers 1,2,4,8,16,32,48
from_point scans --mask none,causal --scan linear,reverse,sawtooth,sawtooth-item,sawtooth-wave,attach,random \
  --seed 1 "${side_by_side[@]}"
# The paper does not say how CTAs go on from item to item.
every_way=(--q-order ascending,descending --launch grid,static,dynamic --timing lockstep,lockstep-wave)
from_point launches "${every_way[@]}" "${side_by_side[@]}"
from_point causal --mask causal "${every_way[@]}" "${causal[@]}"
from_point curve --batch 1 --miss-curve "$out/miss_curve.csv" --histogram "$out/histogram.csv"
for mask in none causal; do  # a wavefront's table does not say the mask
  predict point "wavefront_$mask" --experiment wavefront --batch 1 --seq 16384 --mask "$mask" \
    --wavefront "$out/wave_$mask.csv" --wavefront-steps 2000
done

python=$(command -v python3 || echo /usr/bin/python3)
"$python" "$here/closed_forms.py" "$out/closed_forms.csv" "$out/sectors.csv"
"$python" "$here/claims.py" "$out"
if python=$(python_with_matplotlib); then
  "$python" "$here/draw.py" "$out"
else
  echo "No Python with matplotlib: the CSVs in $out are complete, plots are not drawn" >&2
fi
echo "Done in $((SECONDS - begin)) s: $out/claims.csv, $out/*.csv, $out/plots/"
