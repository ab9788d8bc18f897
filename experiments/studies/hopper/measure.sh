#!/usr/bin/env bash
# Measures the lists of this folder on an NVIDIA GPU of two halves (about 13 minutes on an H200).
#   experiments/studies/hopper/measure.sh OUTPUT_FOLDER [PROGRAM]
# A run that was interrupted goes on where it stopped. Then
#   SAWTOOTH_READINGS=OUTPUT_FOLDER experiments/studies/hopper/finding.sh
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
out=${1:?give the folder that the tables go to}
program=${2:-$here/../../build/release/sawtooth}
mkdir -p "$out"
for list in length launches scans prefetch sections split; do
  "$program" measure "$here/$list.ini" --kernel mma --repetitions 3 --csv "$out/$list.csv" --resume
done
