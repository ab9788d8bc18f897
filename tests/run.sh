#!/usr/bin/env bash
# Builds and runs every test. Arguments go to ctest, for instance: tests/run.sh -R Mask
#   SAWTOOTH_PRESET      CMake preset (release by default; debug, asan-ubsan, fuzz, tsan, cpu)
#   SAWTOOTH_CMAKE_ARGS  further arguments of the configuration, for instance -DSAWTOOTH_WERROR=ON
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source experiments/packages.sh
install_packages python3-dev python3-venv dpkg-dev

preset=${SAWTOOTH_PRESET:-release}
# Where a program loads libraries or starts others, the leak check of clang 14 may take what it finds
# before a library's thread-local block for its size, and dies of it.
export ASAN_OPTIONS=intercept_tls_get_addr=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}
read -ra cmake_args <<<"${SAWTOOTH_CMAKE_ARGS:-}"
cmake --preset "$preset" "${cmake_args[@]}"
cmake --build "build/$preset" --parallel "$(nproc)"
ctest --test-dir "build/$preset" --output-on-failure --parallel "$(nproc)" "$@"
