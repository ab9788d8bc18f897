#!/usr/bin/env bash
# Builds and runs every test. Arguments go to ctest, for instance: tests/run.sh -R Mask
#   SAWTOOTH_PRESET      CMake preset (release by default; debug, asan-ubsan, fuzz, tsan, cpu)
#   SAWTOOTH_CMAKE_ARGS  further arguments of the configuration, for instance -DSAWTOOTH_WERROR=ON
# Without a GPU nothing runs the kernels: where the arguments do not name SAWTOOTH_VARIANTS, a set that
# covers every head dim is built, without the kernels of sm_90a.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source experiments/packages.sh
install_packages python3-dev python3-venv dpkg-dev ninja-build

preset=${SAWTOOTH_PRESET:-release}
# Where a program loads libraries or starts others, the leak check of clang 14 may take what it finds
# before a library's thread-local block for its size, and dies of it.
export ASAN_OPTIONS=intercept_tls_get_addr=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}
read -ra cmake_args <<<"${SAWTOOTH_CMAKE_ARGS:-}"
if [[ $preset = release && "${cmake_args[*]}" != *SAWTOOTH_VARIANTS* ]] && ! nvidia-smi -L 2>/dev/null | grep -q GPU; then
  cmake_args+=(-DSAWTOOTH_VARIANTS=covering -DSAWTOOTH_HOPPER=OFF)
fi
# Ninja keeps all cores busy to the end; an earlier folder keeps the generator that it has.
[[ -f build/$preset/CMakeCache.txt ]] || ! command -v ninja >/dev/null || export CMAKE_GENERATOR=Ninja
cmake --preset "$preset" "${cmake_args[@]}"
cmake --build "build/$preset" --parallel "$(nproc)"
ctest --test-dir "build/$preset" --output-on-failure --parallel "$(nproc)" "$@"
