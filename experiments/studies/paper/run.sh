#!/usr/bin/env bash
# run.sh SAWTOOTH OUT [yes|no]: runs the configurations of lists/ with the program SAWTOOTH into
# the folder OUT, then derives closed_forms.csv and claims.csv and draws the plots. `yes` is the
# quick mode: fewer lengths, and fewer batches where schedules stand side by side (two in causal
# mode, where CTAs that run on from one batch to the next matter).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$here/../../..
source "$root/experiments/packages.sh"
sawtooth=$1
out=$2
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
# predict CONFIG CSV [OPTION ...]
predict() {
  printf '%4d s  %s\n' "$((SECONDS - begin))" "$2"
  "$sawtooth" simulate "$here/lists/$1.ini" --csv "$out/$2.csv" --resume "${@:3}"
}

for list in point raw_cuda profile ctas; do predict "$list" "$list"; done
predict sectors sectors "${sectors_lengths[@]}"
predict misses misses "${misses_lengths[@]}"
predict scans scans "${side_by_side[@]}"
predict launches launches "${side_by_side[@]}"
predict causal causal "${causal[@]}"
predict curve curve --miss-curve "$out/miss_curve.csv" --histogram "$out/histogram.csv"
for mask in none causal; do
  predict wavefront "wavefront_$mask" --mask "$mask" --wavefront "$out/wave_$mask.csv"
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
