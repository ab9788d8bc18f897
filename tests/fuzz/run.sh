#!/usr/bin/env bash
# Fuzzes the readers of files and the models of sweeps side by side, with clang's libFuzzer and
# sanitizers: tests/fuzz/run.sh [SECONDS], 60 if not said. Starts from the seeds of corpus_test.cpp
# and from what earlier runs in this folder have found (build/fuzz/found). An input that crashes,
# hangs or takes too much memory is left in build/fuzz/crashes, and the exit code is 1. Add it to the
# seeds when the bug is mended; tests replay them in every build.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source experiments/packages.sh
install_packages clang

# Inputs of readers that take a path are files, best in memory.
[[ -w /dev/shm ]] && export TMPDIR=/dev/shm

seconds=${1:-60}
[[ $seconds =~ ^[1-9][0-9]*$ ]] || { echo "usage: tests/fuzz/run.sh [SECONDS]" >&2; exit 2; }
targets=(trace configuration csv order sweep profile readers)
read -ra cmake_args <<<"${SAWTOOTH_CMAKE_ARGS:-}"
cmake --preset fuzz "${cmake_args[@]}" >/dev/null
cmake --build build/fuzz --parallel "$(nproc)" --target corpus_tests "${targets[@]/#/fuzz_}"
SAWTOOTH_SEEDS=build/fuzz/seeds build/fuzz/tests/fuzz/corpus_tests --gtest_brief=1

# fuzz TARGET: in the background; the log holds what it says. An input of csv takes far less than
# one of the others, which would have little of the time: csv has a tenth of it.
fuzz() {
  local found=build/fuzz/found/$1 crashes=build/fuzz/crashes
  mkdir -p "$found" "$crashes"
  local limit=$seconds
  [[ $1 == csv ]] && limit=$(((seconds + 9) / 10))
  "build/fuzz/tests/fuzz/fuzz_$1" -max_total_time="$limit" -max_len=4096 -timeout=30 \
    -rss_limit_mb=1024 -print_final_stats=1 -artifact_prefix="$crashes/$1-" \
    "$found" "build/fuzz/seeds/$1" >"build/fuzz/$1.log" 2>&1
}

declare -A running
for target in "${targets[@]}"; do
  fuzz "$target" &
  running[$target]=$!
done
failed=0
for target in "${targets[@]}"; do
  if wait "${running[$target]}"; then
    printf '%-14s %s\n' "$target" "$(grep -E '^Done [0-9]+ runs' "build/fuzz/$target.log")"
  else
    printf '%-14s FAILED, see build/fuzz/%s.log\n' "$target" "$target"
    tail -n 40 "build/fuzz/$target.log"
    failed=1
  fi
done
exit "$failed"
