#!/usr/bin/env bash
# Predicts what sawtooth changes in time for the held-out kernels and for those of lists/stages.ini, each
# taught from its linear scans, prints the errors and draws the pictures. No GPU; ten minutes of one core.
#
#   experiments/studies/latency/run.sh [PROGRAM]   (default: build/release/sawtooth)
#   experiments/studies/latency/run.sh --check     has README.md the figures of results/*.csv?
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 2

here=experiments/studies/latency
data=experiments/data/h200/latency
results=$here/results
held_out=("$data"/held_out_triton_counters.csv "$data"/held_out_own.csv)
stages=$data/stages.csv
gain() { python3 "$here/gain.py" "$@"; }
if [ "${1:-}" = --check ]; then
  gain --check "$results/held_out.csv" "${held_out[@]}" --page "$here/README.md"
  gain --check "$results/stages.csv" "$stages" --page "$here/README.md" --by kernel
  exit
fi
program=${1:-build/release/sawtooth}
mkdir -p "$results"
gain --program "$program" --predict "$results/held_out.csv" \
  "$data"/held_out_triton_times.csv "$data"/held_out_own.csv
gain --report "$results/held_out.csv" "${held_out[@]}"
gain --program "$program" --predict "$results/stages.csv" "$stages"
gain --report "$results/stages.csv" "$stages" --by kernel
python=python3
$python -c 'import matplotlib' 2>/dev/null || python=/usr/bin/python3
"$python" "$here/draw.py" "$data/triton_times.csv" "$data/triton_counters.csv" "$here/pictures"
