#!/usr/bin/env bash
# The tables of README.md from recorded races, as race.py prints them, and its figure (where matplotlib is).
#   run.sh           prints the tables and draws pictures/race.png
#   run.sh --check   ends with 1 where README.md has not all of their lines
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
data=../../data
tables=$(python3 race.py table "$data"/h100/race/{forward,backward}.csv "$data"/h200/race/{forward,backward}.csv)
if [ "${1:-}" = --check ]; then
  missing=$(grep '^| [a-z]' <<<"$tables" | grep -vxFf README.md || true)
  [ -z "$missing" ] || { echo "speed: README.md lacks: $missing" >&2; exit 1; }
  exit 0
fi
echo "$tables"
source ../../packages.sh
if python=$(python_with_matplotlib); then
  "$python" ../../../plots/plot.py xy "$data"/h?00/race/forward.csv --where dtype=bf16 --where contender=sawtooth \
    --x seq_kv --y ratio --hue head_dim,mask --facet gpu --log x -o pictures/race.png
fi
