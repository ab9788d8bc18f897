#!/usr/bin/env bash
# Builds hopper_check with nvcc alone and runs it.   tests/kernels/hopper_check.sh FOLDER [ARGUMENTS]
# FOLDER gets the program and the compiler's reports. Needs CUDA 12.5 or later, nothing else.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(mkdir -p "$1" && cd "$1" && pwd)
shift
cd "$root"
flags=(-std=c++20 -O3 -I. -lineinfo -gencode=arch=compute_90a,code=sm_90a -Xptxas -v)
compile() { nvcc "${flags[@]}" -c -o "$folder/$(basename "$1").o" "$1" >"$folder/$(basename "$1").log" 2>&1 || { cat "$folder/$(basename "$1").log"; return 1; }; }
pids=()
for source in kernels/hopper/variants/*.cu kernels/hopper/*.cpp kernels/tma/*.cpp tests/kernels/hopper/*.cu; do
  compile "$source" &
  pids+=($!)
done
for pid in "${pids[@]}"; do wait "$pid"; done
nvcc -o "$folder/hopper_check" "$folder"/*.o
grep -lE 'C75(0|1|2)' "$folder"/*.log | sed 's/^/wgmma warning in /' || true
exec "$folder/hopper_check" "$@"
