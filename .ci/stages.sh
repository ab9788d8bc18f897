# shellcheck shell=bash
# Stages of .ci/run and .ci/long: each runs whatever the others do, and the last line names those that
# failed.
failed=()

# stage TITLE COMMAND [ARGUMENT ...]
stage() {
  printf '\n==== %s (at %d s)\n' "$1" "$SECONDS"
  "${@:2}" || failed+=("$1")
}

# run_tests PRESET [CMAKE_ARGUMENT]: the whole suite with warnings as errors and $cases random cases a
# property, 1,000 unless set; the log is kept for the closing lines.
run_tests() {
  mkdir -p build
  SAWTOOTH_PRESET=$1 \
    SAWTOOTH_CMAKE_ARGS="-DSAWTOOTH_WERROR=ON -DSAWTOOTH_PROPERTY_CASES=${cases:-1000} ${2:-}" \
    ./tests/run.sh 2>&1 | tee "build/ci-$1.log"
}

fuzz_for() { SAWTOOTH_CMAKE_ARGS=-DSAWTOOTH_WERROR=ON ./tests/fuzz/run.sh "$1"; }

# close PRESET ...: what ctest said at the end, and the exit code of the whole run.
close() {
  local preset
  for preset in "$@"; do
    printf '\n==== closing lines of ctest, %s\n' "$preset"
    tail -n 15 "build/ci-$preset.log"
  done
  printf '\n==== %d s, failed stages: %s\n' "$SECONDS" "${failed[*]:-none}"
  ((${#failed[@]} == 0))
}
