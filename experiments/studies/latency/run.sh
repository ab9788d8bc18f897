#!/usr/bin/env bash
# Predicts what sawtooth changes in time for the held-out kernels, each taught from its linear scans,
# prints the errors and draws the pictures. No GPU; five minutes of one core.
#
#   experiments/studies/latency/run.sh [PROGRAM]   (default: build/release/sawtooth)
#   experiments/studies/latency/run.sh --check     has README.md the figures of results/held_out.csv?
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 2

here=experiments/studies/latency
data=experiments/data/h200/latency
result=$here/results/held_out.csv
if [ "${1:-}" = --check ]; then
  exec python3 "$here/gain.py" --check "$result" --page "$here/README.md" "$data"/held_out_triton_counters.csv "$data"/held_out_own.csv
fi
mkdir -p "$here/results"
python3 "$here/gain.py" --program "${1:-build/release/sawtooth}" --predict "$result" \
  "$data"/held_out_triton_times.csv "$data"/held_out_own.csv
python3 "$here/gain.py" --report "$result" "$data"/held_out_triton_counters.csv "$data"/held_out_own.csv
python=python3
$python -c 'import matplotlib' 2>/dev/null || python=/usr/bin/python3
"$python" "$here/draw.py" "$data/triton_times.csv" "$data/triton_counters.csv" "$here/pictures"
