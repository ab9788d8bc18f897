#!/usr/bin/env bash
# Builds and checks the project on a machine with an NVIDIA GPU.   tests/gpu.sh FOLDER
#
# Nothing is installed. What is missing (Boost, Eigen, GoogleTest, ncu, compute-sanitizer) leaves
# out the steps that need it, by name. Every step has a time limit and a log; later steps run even
# when an earlier one fails. FOLDER gets summary.txt, stream_counters.csv and logs.tar.gz with
# everything. Exit code: the number of failed steps, at most 100.
# SAWTOOTH_BIN=FOLDER takes programs that were built elsewhere (sawtooth, stream_selfcheck,
# stream_once, stream_counted, lockstep_reads, test programs test_*) where the folder has them.
# SAWTOOTH_STEPS=REGEX runs only the steps whose names match, for instance '^(test_|ncu|calibrate)'.
#
# Expected of the streams: a cold read takes 1.000 +- 0.005 of its sectors from DRAM, a hot 8 MiB
# under 0.001; DRAM = near misses - fabric reads + fabric misses within 1 %; counts agree with
# Nsight Compute within 1 %. 200 points without growth, under 0.5 s each; on an H200 the readings of
# tests/gpu/h200_readings.hpp are met.
set -u
if [ $# -lt 1 ]; then
  sed -n '2,16s/^# \{0,1\}//p' "$0"
  exit 2
fi
root=$(cd "$(dirname "$0")/.." && pwd)
out=$(mkdir -p "$1" && cd "$1" && pwd)
work=$(mktemp -d)
logs=$work/logs
mkdir -p "$logs"
cd "$root" || exit 2
build=${SAWTOOTH_BUILD:-$root/build/release}
jobs=$(nproc)
failed=0
started=$SECONDS

say() { echo "$*" | tee -a "$logs/summary.txt"; }

pack() {
  cp "$logs/summary.txt" "$out/summary.txt"
  tar -czf "$out/logs.tar.gz" -C "$work" logs
}

# step NAME SECONDS COMMAND...: runs it, keeps its log, counts a failure.
step() {
  local name=$1 limit=$2 begin=$SECONDS code
  shift 2
  [[ $name =~ ${SAWTOOTH_STEPS:-.} ]] || return 1
  timeout --kill-after=10 "$limit" "$@" >"$logs/$name.log" 2>&1
  code=$?
  case $code in
    0) say "ok      $name ($((SECONDS - begin)) s)" ;;
    124 | 137) say "TIMEOUT $name (after $limit s)" ;;
    *) say "FAILED  $name (exit $code, $((SECONDS - begin)) s): $(tail -n 1 "$logs/$name.log")" ;;
  esac
  [ $code -eq 0 ] || failed=$((failed + 1))
  grep -E '^(PASS|FAIL) ' "$logs/$name.log" | sed 's/^/          /' | tee -a "$logs/summary.txt"
  pack
  return $code
}

skip() { say "skipped $1: $2"; }
have() { command -v "$1" >/dev/null 2>&1; }

# A folder with libcupti and libnvperf_host, and the one with its headers.
find_cupti() {
  local places=(${CUDA_HOME:-} /usr/local/cuda /usr/local/cuda-* /opt/nvidia
    "$(python3 -c 'import site; print(*site.getsitepackages())' 2>/dev/null | tr ' ' '\n' | head -1)")
  local place file
  for place in "${places[@]}"; do
    [ -d "$place" ] || continue
    for file in $(find -L "$place" -maxdepth 6 -name 'libcupti.so.1[0-9]' 2>/dev/null); do
      [ -e "$(dirname "$file")/libnvperf_host.so" ] || continue
      cupti_lib=$(dirname "$file")
      break 2
    done
  done
  for place in "${places[@]}"; do
    [ -d "$place" ] || continue
    cupti_include=$(find -L "$place" -maxdepth 6 -name cupti_range_profiler.h 2>/dev/null | head -1)
    [ -n "$cupti_include" ] && cupti_include=$(dirname "$cupti_include") && break
  done
}

environment() {
  date -u +%Y-%m-%dT%H:%M:%SZ
  git log -1 --format='commit %H' 2>/dev/null
  nvidia-smi
  nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.mem,clocks.max.sm,power.limit,ecc.mode.current --format=csv
  grep -i profiling /proc/driver/nvidia/params
  g++ --version | head -1
  cmake --version | head -1
  nvcc --version | tail -2
  ncu --version 2>/dev/null | tail -2
  echo "cupti libraries ${cupti_lib:-not found}, headers ${cupti_include:-not found}"
  dpkg -l 2>/dev/null | grep -E 'libboost|eigen|gtest|rapidcheck|benchmark' | awk '{print $2, $3}'
  return 0
}

cupti_lib= cupti_include=
find_cupti
[ -n "$cupti_lib" ] && export SAWTOOTH_CUPTI_DIR=$cupti_lib
environment >"$logs/environment.log" 2>&1

# 1. Configure: with tests where GoogleTest is there, else without.
options=(-DCMAKE_BUILD_TYPE=Release "-DCMAKE_CUDA_ARCHITECTURES=${SAWTOOTH_ARCHITECTURES:-native}")
[ -n "$cupti_include" ] && options+=("-DSAWTOOTH_CUPTI_INCLUDE_DIR=$cupti_include")
configured=no
if step configure 120 cmake -S . -B "$build" "${options[@]}"; then
  configured=yes
else
  rm -rf "$build/CMakeCache.txt"
  step configure-without-tests 120 cmake -S . -B "$build" "${options[@]}" -DSAWTOOTH_TESTS=OFF &&
    configured=yes
fi

# 2. The streams first: they need nothing but CUDA. Without CMake's help nvcc alone will do.
selfcheck=$build/tests/gpu/stream_selfcheck
once=$build/tests/gpu/stream_once
counted=$build/tests/gpu/stream_counted
if [ -x "${SAWTOOTH_BIN:-}/stream_selfcheck" ]; then
  selfcheck=$SAWTOOTH_BIN/stream_selfcheck once=$SAWTOOTH_BIN/stream_once
  counted=$SAWTOOTH_BIN/stream_counted
elif [ $configured = yes ]; then
  step build-streams 240 cmake --build "$build" -j "$jobs" \
    --target stream_selfcheck stream_once stream_counted lockstep_reads
fi
if [ ! -x "$selfcheck" ]; then
  mkdir -p "$work/bin"
  selfcheck=$work/bin/stream_selfcheck once=$work/bin/stream_once
  counted=$work/bin/stream_counted
  flags=(-std=c++20 -O3 "-arch=${SAWTOOTH_ARCHITECTURES:-native}" -I. ${cupti_include:+-I$cupti_include} -ldl)
  cupti_sources=(cupti/status.cpp cupti/metric_plan.cpp cupti/metric_table.cpp cupti/reading.cpp
    cupti/libraries.cpp cupti/metric_host.cpp cupti/range_profiler.cpp)
  step nvcc-selfcheck 240 nvcc "${flags[@]}" -o "$selfcheck" tests/gpu/stream_selfcheck.cpp \
    experiments/sawtooth/calibrate/{calibration,l2_half_report}.cpp experiments/sawtooth/calibrate/stream_*.cpp \
    kernels/stream/*.cpp kernels/stream/*.cu "${cupti_sources[@]}"
  step nvcc-once 240 nvcc "${flags[@]}" -o "$once" tests/gpu/stream_once.cpp kernels/stream/*.cpp \
    kernels/stream/*.cu
  step nvcc-counted 240 nvcc "${flags[@]}" -o "$counted" tests/gpu/stream_counted.cpp \
    kernels/stream/*.cpp kernels/stream/*.cu "${cupti_sources[@]}"
fi

attention_check=$build/tests/kernels/attention_check
attention_timing=$build/experiments/studies/attention_timing
if [ $configured = yes ]; then
  step build-attention 300 cmake --build "$build" -j "$jobs" --target attention_check attention_timing
fi

# 3. The rest of the build, beside the streams: counters do not care about a busy CPU.
if [ $configured = yes ]; then
  nice -n 15 cmake --build "$build" -j "$((jobs > 2 ? jobs - 2 : 1))" >"$logs/build-all.log" 2>&1 &
  build_pid=$!
fi

if [ -x "$selfcheck" ]; then
  step stream-selfcheck 400 "$selfcheck" "$logs/streams" "${SAWTOOTH_REPETITIONS:-2}"
  cp "$logs/streams/stream_counters.csv" "$out/" 2>/dev/null
fi

lockstep=$build/experiments/studies/streams/lockstep_reads
[ -x "${SAWTOOTH_BIN:-}/lockstep_reads" ] && lockstep=$SAWTOOTH_BIN/lockstep_reads
[ -x "$lockstep" ] && step lockstep-reads 90 "$lockstep" "$out/lockstep_reads.csv"

# The attention kernels: against the double-precision reference, then timed.
for name in attention_check attention_timing; do
  [ -x "${SAWTOOTH_BIN:-}/$name" ] && declare "$name=$SAWTOOTH_BIN/$name"
done
if [ -x "$attention_check" ]; then
  step attention-check 150 "$attention_check" 300
  tail -n 21 "$logs/attention-check.log" | tee -a "$logs/summary.txt"
fi
if [ -x "$attention_timing" ]; then
  step attention-timing 120 "$attention_timing"
  cp "$logs/attention-timing.log" "$out/attention_timing.txt"
fi
if [ -x "$attention_check" ] && have compute-sanitizer; then
  for tool in memcheck initcheck synccheck; do
    step "sanitizer-$tool-attention" 90 compute-sanitizer --tool "$tool" --error-exitcode 9 \
      "$attention_check" --covering
  done
  families=(mma)
  nvidia-smi --query-gpu=compute_cap --format=csv,noheader | grep -qE '^(9|1[0-9])\.' &&
    families+=(mma-tma)
  nvidia-smi --query-gpu=compute_cap --format=csv,noheader | grep -q '^9\.0' && families+=(hopper)
  for family in "${families[@]}"; do
    step "sanitizer-racecheck-$family" 60 compute-sanitizer --tool racecheck --error-exitcode 9 \
      "$attention_check" --covering "$family"
  done
fi

# The Hopper kernel: correctness of every variant, then TFLOP/s. Built by nvcc alone.
if nvidia-smi --query-gpu=compute_cap --format=csv,noheader | grep -q '^9\.0'; then
  step hopper-check 200 tests/kernels/hopper_check.sh "$work/hopper"
  cp "$logs/hopper-check.log" "$out/hopper_check.txt"
else
  skip hopper-check "the GPU is not of compute capability 9.0"
fi

# 4. Nsight Compute on the same process: stream_once under ncu, stream_counted under our own profiler,
# three times each in turn, by launches and as one range of all passes. Kernel by kernel, ncu's own
# work between two launches displaces about 0.9 MiB of L2: a reversed second pass, which finds what the
# first one left, is compared where nothing comes between, as a range or as one launch.
compare_with_ncu() {
  local tolerance=$1 replay=$2 run theirs=() ours=() together=
  shift 2
  local name="$replay $*"
  name=${name// /-}
  [ "$replay" = app-range ] && together=together
  for run in 1 2 3; do
    theirs+=("$logs/ncu-$name-$run.csv")
    ours+=("$logs/counted-$name-$run.csv")
    ncu --replay-mode "$replay" --cache-control none --clock-control none --csv --page raw \
      --metrics dram__sectors_read.sum,lts__t_sectors_srcunit_tex_op_read.sum,lts__t_sectors_srcunit_tex_op_read_lookup_miss.sum,lts__t_sectors_srcunit_ltcfabric_op_read.sum,lts__t_sectors_srcunit_ltcfabric_op_read_lookup_miss.sum,l1tex__m_xbar2l1tex_read_sectors.sum \
      "$once" "$@" >"${theirs[-1]}" || return 1
    "$counted" "$@" $together >"${ours[-1]}" || return 1
  done
  python3 tests/gpu/compare_ncu.py "$tolerance" "$1" "${ours[@]}" -- "${theirs[@]}"
}
export -f compare_with_ncu
export logs once counted
if have ncu && [ -x "$once" ] && [ -x "$counted" ]; then
  # 48 MiB lies on the cliff, where readings of one program may differ by 6 % (docs/stream-counters.md).
  for point in "0.01 application 8 ld same linear" "0.01 application 64 ld same linear" \
    "0.01 application 64 ld same there-and-back" "0.01 application 64 ld all there-and-back" \
    "0.01 application 64 ld shift linear" "0.01 application 64 tma same linear" \
    "0.01 app-range 64 ld same linear" "0.01 app-range 64 ld same reversed" \
    "0.01 app-range 64 ld all reversed" "0.01 app-range 64 tma same reversed" \
    "0.06 app-range 48 tma same reversed"; do
    name=${point#* }
    step "ncu-${name// /-}" 90 bash -c "compare_with_ncu $point"
  done
else
  skip ncu "ncu, stream_once or stream_counted is missing"
fi

# 5. compute-sanitizer on small streams of every kind.
if have compute-sanitizer && [ -x "$once" ]; then
  for tool in memcheck racecheck initcheck synccheck; do
    for point in "1 ld same linear" "1 ld all reversed" "1 ld one linear" "1 write same linear" \
      "1 tma shift reversed" "1 tma same there-and-back"; do
      step "sanitizer-$tool-${point// /-}" 60 compute-sanitizer --tool "$tool" --error-exitcode 9 \
        "$once" $point
    done
  done
else
  skip compute-sanitizer "compute-sanitizer or stream_once is missing"
fi

# 6. Everything else that was built.
if [ $configured = yes ]; then
  wait "$build_pid" && say "ok      build-all" || { say "FAILED  build-all: $(grep -m1 -iE 'error' "$logs/build-all.log")"; failed=$((failed + 1)); }
  if [ -e "$build/CTestTestfile.cmake" ]; then
    step tests 200 ctest --test-dir "$build" --output-on-failure --timeout 120 -R "${SAWTOOTH_GPU_TESTS:-OnGpu}"
    grep -cE 'Skipped' "$logs/tests.log" | sed 's/^/          skipped tests: /' | tee -a "$logs/summary.txt"
  else
    skip tests "GoogleTest is missing, tests were not built"
  fi
fi
program=$build/sawtooth
if [ -n "${SAWTOOTH_BIN:-}" ]; then
  [ -x "$SAWTOOTH_BIN/sawtooth" ] && program=$SAWTOOTH_BIN/sawtooth
  export SAWTOOTH_EXPERIMENTS=${SAWTOOTH_EXPERIMENTS:-$root/experiments}
  for test in "$SAWTOOTH_BIN"/test_*; do
    [ -x "$test" ] || continue
    step "$(basename "$test")" 120 "$test" --gtest_filter='*OnGpu*:*OnHostApi*:MetricHost*'
  done
fi
if [ -x "$program" ]; then
  step counters-list 60 "$program" counters list --chip GH100 --match lts__t_sectors
  step calibrate 300 "$program" calibrate --output "$logs/calibrate" --repetitions 1
else
  skip sawtooth "the program was not built (Boost.Program_options and Eigen are needed)"
fi

# Attention: predicted beside measured, schedules against each other, and against PyTorch.
if [ -x "$program" ]; then
  export SAWTOOTH_EXPERIMENTS=${SAWTOOTH_EXPERIMENTS:-$root/experiments}
  cd "$work" || exit 2
  step attention-run 150 "$program" run "$root/experiments/studies/matching/lists/h200.ini"
  cd "$root" || exit 2
  cp "$work"/runs/matching-h200/results.csv "$out/matching_h200.csv" 2>/dev/null
  cp -r "$work"/runs "$logs/" 2>/dev/null
  step attention-schedules 120 "$program" bench "$root/experiments/studies/matching/lists/schedules.ini"
  cp "$logs/attention-schedules.log" "$out/attention_schedules.txt"
  if python3 -c 'import torch' 2>/dev/null; then
    step attention-peers 300 python3 experiments/studies/peers/sdpa.py --bench "$program" \
      --csv "$out/peers.csv"
    cp "$logs/attention-peers.log" "$out/attention_peers.txt"
  else
    skip attention-peers "PyTorch is missing"
  fi
fi

# 7. The ladder: error against the reference, times, counters; a program built elsewhere will do.
ladder=${SAWTOOTH_LADDER:-$build/ladder}
if [ -x "$ladder" ]; then
  step ladder-s1024 120 "$ladder" --repetitions 50 --csv "$logs/ladder_s1024.csv"
  step ladder-s16k 180 "$ladder" --seq 16384 --repetitions 5 --csv "$logs/ladder_s16k.csv"
  step ladder-bf16 120 "$ladder" --dtype bf16 --repetitions 50 --csv "$logs/ladder_bf16.csv"
  if have compute-sanitizer; then
    for tool in memcheck racecheck initcheck synccheck; do
      step "sanitizer-$tool-ladder" 90 compute-sanitizer --tool "$tool" --error-exitcode 9 \
        "$ladder" --batch 1 --heads 2 --seq 192 --repetitions 1 --no-counters
    done
  fi
else
  skip ladder "the program was not built"
fi

# 8. Peers: PyTorch's and Triton's kernels, and where the program has it its own bench, in turn.
if python3 -c 'import torch' 2>/dev/null; then
  bench=()
  "$build/sawtooth" bench --help >/dev/null 2>&1 &&
    bench=(--sawtooth "$build/sawtooth" --bench-options '--tile-q 128 --tile-kv 64')
  step peers 240 python3 experiments/studies/peers/peers.py --seq 4K,16K,128K --head-dim 64,128 \
    --mask none,causal --rounds 9 "${bench[@]}" --csv "$logs/peers.csv"
  if have ncu; then
    step peers-counters 300 python3 experiments/studies/peers/peers.py --seq 128K --mask none,causal \
      --peers sdpa-flash,triton --rounds 3 --count --csv "$logs/peers_counters.csv"
  fi
else
  skip peers "PyTorch is missing"
fi

say "$failed steps failed, $((SECONDS - started)) s"
pack
rm -rf "$work"
exit $((failed > 100 ? 100 : failed))
