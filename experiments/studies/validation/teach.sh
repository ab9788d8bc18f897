#!/usr/bin/env bash
# Draws the pictures of README.md from recorded measurements and fresh predictions; no GPU.
#
#   experiments/studies/validation/teach.sh [FOLDER]
#
# FOLDER (default: build/teach) gets causal, changes and elsewhere as .png and .pdf, elsewhere.csv, and
# report.md, summary.csv and points.csv of the lists of experiments/studies/hopper.
# $SAWTOOTH is the program (default: build/release/sawtooth), $SAWTOOTH_PYTHON a Python with
# matplotlib (default: python3).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 2

program=${SAWTOOTH:-build/release/sawtooth}
python=${SAWTOOTH_PYTHON:-python3}
folder=${1:-build/teach}
[ -x "$program" ] || {
  echo "teach.sh: $program is not there; build it (cmake --build --preset release) or set SAWTOOTH" >&2
  exit 2
}
"$python" -c "import matplotlib" || {
  echo "teach.sh: $python has no matplotlib; set SAWTOOTH_PYTHON" >&2
  exit 2
}
mkdir -p "$folder"

# Which K/V tile each CTA reads when: the same causal items, shortest and longest first.
for order in ascending descending; do
  "$program" simulate --gpu h200 --seq 128K --head-dim 64 --tile-q 128 --tile-kv 128 --mask causal \
    --launch dynamic --q-order "$order" --quiet --csv "$folder/$order.csv" \
    --wavefront "$folder/$order.wave.csv" --wavefront-steps 2500
done
"$python" plots/figures/wavefront.py "shortest first"="$folder/ascending.wave.csv" \
  "longest first"="$folder/descending.wave.csv" -o "$folder/causal"
rm "$folder"/*.wave.csv

# What each change of schedule wins, on the measured points of experiments/studies/hopper.
# join OUTPUT TABLE...: rows of tables with the same header.
join() {
  head -n 1 "$2" >"$1"
  tail -q -n +2 "${@:2}" >>"$1"
}
predicted=()
measured=()
for list in launches length prefetch scans sections split; do
  "$program" simulate "experiments/studies/hopper/$list.ini" --timing timed --l2 halves --quiet \
    --csv "$folder/$list.csv"
  predicted+=("$folder/$list.csv")
  measured+=("experiments/data/h200/hopper/$list.csv")
done
join "$folder/predicted.csv" "${predicted[@]}"
join "$folder/measured.csv" "${measured[@]}"
rm "${predicted[@]}"
"$program" compare "$folder/predicted.csv" "$folder/measured.csv" --csv "$folder/errors.csv" \
  --summary "$folder/all.summary" >"$folder/report.txt"
python3 experiments/studies/validation/report.py "$folder/errors.csv" model="$folder/all.summary" \
  --record "$folder" >"$folder/report.md"
rm "$folder/all.summary"
"$python" plots/figures/changes.py "$folder/errors.csv" -o "$folder/changes"

"$program" simulate experiments/studies/validation/elsewhere.ini --quiet --csv "$folder/elsewhere.csv"
"$python" plots/figures/elsewhere.py "$folder/elsewhere.csv" -o "$folder/elsewhere"
echo "written to $folder"
