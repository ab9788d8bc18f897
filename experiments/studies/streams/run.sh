#!/usr/bin/env bash
# Fits the two-half model to the recorded streams of an H200 and of an H100, and draws readings beside the model.
#   run.sh SAWTOOTH           writes into build/streams
#   run.sh SAWTOOTH --check   the fits alone; ends with 1 where a check of the streams fails
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
sawtooth=${1:-build/release/sawtooth}
for gpu in h200 h100-sxm; do
  data=experiments/data/${gpu%-sxm}/streams/stream_counters.csv
  "$sawtooth" calibrate --from "$data" --gpu "$gpu" --output "build/streams/$gpu"
  [ "${2:-}" = --check ] ||
    "$sawtooth" plot calibration "$data" "build/streams/$gpu/model_counters.csv" -o "build/streams/$gpu/streams.png"
done
