#!/usr/bin/env bash
# Predicts a list of problems in two ways with the costs of fit_ways.py.
#
#   predict_ways.sh LIST GPU OUT.csv [PROGRAM]   (LIST of lists/; default: build/release/sawtooth)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 2

name=${1:?LIST} gpu=${2:?GPU}
list=$(mktemp --suffix=.ini)
trap 'rm "$list"' EXIT
# The lists have the decode kernels' older costs, and none for the forward kernel.
sed -e '/, once]$/,/^$/ s/^kernel-costs = \(.*\)-decode-h200/kernel-costs = \1-cascade-h200/' \
  "experiments/studies/serving/lists/$name.ini" |
  sed -e "s/^kernel-costs = \(.*\)-h200/kernel-costs = \1-ways-$gpu/" \
    -e "/, not packed]/a kernel-costs = mma-ways-$gpu" >"$list"
"${4:-build/release/sawtooth}" simulate "$list" --gpu "$gpu" --quiet --overwrite --csv "${3:?OUT.csv}"
