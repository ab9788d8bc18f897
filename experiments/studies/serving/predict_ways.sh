#!/usr/bin/env bash
# Predicts lists/drawn_ways.ini with the costs of fit_ways.py.
#
#   predict_ways.sh GPU OUT.csv [PROGRAM]   (default: build/release/sawtooth)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 2

gpu=${1:?GPU}
list=$(mktemp --suffix=.ini)
trap 'rm "$list"' EXIT
# The list has the decode kernels' older costs, and none for the forward kernel.
sed -e "s/^kernel-costs = \(.*\)-decode-h200/kernel-costs = \1-decode-ways-$gpu/" \
  -e "/, not packed]/a kernel-costs = mma-ways-$gpu" experiments/studies/serving/lists/drawn_ways.ini >"$list"
"${3:-build/release/sawtooth}" simulate "$list" --gpu "$gpu" --quiet --overwrite --csv "${2:?OUT.csv}"
