#!/usr/bin/env bash
# Builds and checks the project on a machine with an NVIDIA GPU.   tests/gpu.sh FOLDER
#
# Takes nine minutes on an H200 with programs that were built elsewhere. Nothing is installed. What is
# missing (Boost, Eigen, GoogleTest, rapidcheck, ncu, compute-sanitizer) leaves out the steps that need
# it, by name. Every step has a time limit and a log; later steps run even when an earlier one fails. FOLDER gets
# summary.txt, stream_counters.csv and logs.tar.gz with everything. Exit code: the number of failed
# steps, at most 100.
# SAWTOOTH_BIN=FOLDER takes programs that were built elsewhere (sawtooth, ladder, stream_run,
# attention_check ..., test_kernels, test_ladder, test_cupti, test_gpu), and builds none.
# SAWTOOTH_STEPS=REGEX runs only the steps whose names match, for instance '^(test_|ncu|calibrate)'.
#
# Expected of the streams: a cold read takes 1.000 +- 0.005 of its sectors from DRAM, a hot 8 MiB
# under 0.001; DRAM = near misses - fabric reads + fabric misses within 1 %; counts agree with
# Nsight Compute within 1 %. 200 points without growth, under 0.5 s each.
set -u
if [ $# -lt 1 ]; then
  sed -n '2,15s/^# \{0,1\}//p' "$0"
  exit 2
fi
if [ -z "${CUDA_VISIBLE_DEVICES-unset}" ] || ! nvidia-smi -L 2>/dev/null | grep -q GPU; then
  echo "tests/gpu.sh: nvidia-smi lists no GPU here; run on a machine with a GPU and its driver" >&2
  exit 3
fi
root=$(cd "$(dirname "$0")/.." && pwd)
out=$(mkdir -p "$1" && cd "$1" && pwd)
work=$(mktemp -d)
logs=$work/logs
mkdir -p "$logs"
cd "$root" || exit 2
build=${SAWTOOTH_BUILD:-$root/build/release}
cores=$(nproc)
started=$SECONDS
sanitizer_tools="memcheck racecheck initcheck synccheck"

say() { echo "$*" | tee -a "$logs/summary.txt"; }
skip() { say "skipped $1: $2"; }
have() { command -v "$1" >/dev/null 2>&1; }
keep() { cp "$1" "$out/$2" 2>/dev/null; }  # a file among the results

pack() {
  cp "$logs/summary.txt" "$out/summary.txt"
  flock "$work" tar -czf "$out/logs.tar.gz" -C "$work" logs 2>/dev/null
}

# beside COMMAND...: checks of results alone run beside each other, one a core; `wait` ends them.
beside() {
  while [ "$(jobs -rp | wc -l)" -ge "$cores" ]; do wait -n; done
  "$@" &
}

# step NAME SECONDS COMMAND...: runs it, keeps its log.
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
  grep -E '^(PASS|FAIL) ' "$logs/$name.log" | sed 's/^/          /' | tee -a "$logs/summary.txt"
  pack
  return $code
}

# random_points NAME SECONDS PROGRAM ARGUMENT...: a step of 300 random points, 50 in each of six processes,
# for what takes long is the reference on the host.
in_six() {
  local first pids=() bad=0 pid
  for first in 0 50 100 150 200 250; do
    "$@" 50 $first &
    pids+=($!)
  done
  for pid in "${pids[@]}"; do wait "$pid" || bad=1; done
  return $bad
}
export -f in_six
random_points() {
  local name=$1 limit=$2
  shift 2
  step "$name" "$limit" bash -c 'in_six "$@"' in_six "$@"
  grep -hs ' points' "$logs/$name.log" | tee -a "$logs/summary.txt"
}

# sanitize NAME SECONDS TOOLS COMMAND...: a step under each tool of compute-sanitizer.
sanitize() {
  local name=$1 limit=$2 tools=$3 tool
  shift 3
  have compute-sanitizer || return
  for tool in $tools; do
    beside step "sanitizer-$tool-$name" "$limit" compute-sanitizer --tool "$tool" --error-exitcode 9 "$@"
  done
}

# Where a program is, in SAWTOOTH_BIN or the build; nothing and false where it is in neither.
program() {
  local folder
  for folder in "${SAWTOOTH_BIN:-/nowhere}" "$build" "$build"/tests/{gpu,kernels} \
    "$build"/experiments/studies; do
    [ -f "$folder/$1" ] && [ -x "$folder/$1" ] && echo "$folder/$1" && return
  done
  return 1
}

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

# build_step NAME SECONDS TARGETS...
build_step() {
  local name=$1 limit=$2
  shift 2
  [ $configured = no ] || step "$name" "$limit" cmake --build "$build" -j "$cores" --target "$@"
}

cupti_lib= cupti_include=
find_cupti
[ -n "$cupti_lib" ] && export SAWTOOTH_CUPTI_DIR=$cupti_lib
environment >"$logs/environment.log" 2>&1
capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -1)

# 1. Configure: with tests where GoogleTest and rapidcheck are there, else without.
options=(-DCMAKE_BUILD_TYPE=Release "-DCMAKE_CUDA_ARCHITECTURES=${SAWTOOTH_ARCHITECTURES:-native}")
[ -n "$cupti_include" ] && options+=("-DSAWTOOTH_CUPTI_INCLUDE_DIR=$cupti_include")
configured=no
if [ -n "${SAWTOOTH_BIN:-}" ]; then
  say "programs of $SAWTOOTH_BIN"
elif timeout 120 cmake -S . -B "$build" "${options[@]}" >"$logs/configure-with-tests.log" 2>&1; then
  configured=yes
elif ! grep -qE 'NOT find GTest|Findrapidcheck' "$logs/configure-with-tests.log"; then
  say "FAILED  configure: $(grep -m1 -A 1 'CMake Error' "$logs/configure-with-tests.log" | tr -d '\n')"
else
  rm -f "$build/CMakeCache.txt"
  step configure 120 cmake -S . -B "$build" "${options[@]}" -DSAWTOOTH_TESTS=OFF && configured=yes
fi

# 2. What the next steps need, then the rest of the build beside them: counters do not care about a
# busy CPU.
build_step build-streams 240 stream_run
build_step build-attention 300 attention_check decode_check packed_check call_cost long_run
if [ $configured = yes ]; then
  nice -n 15 cmake --build "$build" -j "$((cores > 2 ? cores - 2 : 1))" >"$logs/build-all.log" 2>&1 &
  build_pid=$!
fi

# 3. Checks of results, beside each other: the attention kernels against the double-precision reference ...
if check=$(program attention_check); then
  beside random_points attention-check 300 "$check"
  beside random_points attention-check-backward 300 "$check" --pass backward
fi
for serving in decode packed; do
  served=$(program ${serving}_check) && beside random_points $serving-check 300 "$served"
done
# 10,000 random launches in two threads, on streams, by plans and graphs, in workspaces that all share.
crowd=$(program long_run) && beside step long-run 300 "$crowd"
if [ -n "$check" ]; then
  sanitize attention 300 "memcheck initcheck synccheck" "$check" --covering
  sanitize backward 300 "memcheck initcheck synccheck" "$check" --pass backward --covering
  # Shared memory is the same at every point of a kernel: each one meets three.
  for family in mma mma-fp32; do
    sanitize "backward-$family" 300 racecheck "$check" --pass backward 48 0 "$family"
  done
  [ "$capability" = 9.0 ] &&
    sanitize backward-hopper 300 racecheck "$check" --pass backward 30 0 hopper
  for family in mma mma-1-stage mma-half-step; do
    sanitize "$family" 300 racecheck "$check" --covering "$family"
  done
  [[ $capability =~ ^(9|1[0-9])\. ]] && sanitize mma-tma 300 racecheck "$check" --covering mma-tma
  [ "$capability" = 9.0 ] && sanitize hopper 300 racecheck "$check" --covering hopper
fi

# ... and, once the build is whole, small streams of every kind, the injected library of
# `sawtooth record` where nothing is counted, and the ladder under compute-sanitizer.
if [ $configured = yes ]; then
  wait "$build_pid" && say "ok      build-all" ||
    say "FAILED  build-all: $(grep -m1 -iE 'error' "$logs/build-all.log")"
fi
have compute-sanitizer || skip compute-sanitizer "it is missing"
stream=$(program stream_run)
if [ -n "$stream" ]; then
  for point in "1 ld same linear" "1 ld all reversed" "1 ld one linear" "1 write same linear" \
    "1 tma shift reversed" "1 tma same there-and-back"; do
    sanitize "${point// /-}" 120 "$sanitizer_tools" "$stream" $point
  done
fi
own=$(program record_own_work) && sanitize record-own-work 120 memcheck "$own"
ladder=${SAWTOOTH_LADDER:-$(program ladder)} &&
  sanitize ladder 200 "$sanitizer_tools" "$ladder" --batch 1 --heads 2 --seq 192 --repetitions 1
# Tests that compare results alone; the others of the folder of programs come later.
gpu_tests='*OnGpu*:*OnHostApi*:MetricHost*'
for name in kernels ladder; do
  test=$(program test_$name) && beside step test_$name 300 "$test" --gtest_filter="$gpu_tests"
done
wait
cost=$(program call_cost) && step call-cost 60 "$cost" && keep "$logs/call-cost.log" call_cost.csv

# 4. Nsight Compute on the same process: stream_run under ncu, and under our own profiler, three times
# each in turn, by launches and as one range of all passes. Kernel by kernel, ncu's own work between two
# launches displaces about 0.9 MiB of L2: a reversed second pass, which finds what the first one left,
# is compared where nothing comes between, as a range or as one launch.
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
      "$stream" "$@" >"${theirs[-1]}" || return 1
    "$stream" "$@" counted $together >"${ours[-1]}" || return 1
  done
  python3 tests/gpu/compare_ncu.py "$tolerance" "$1" "${ours[@]}" -- "${theirs[@]}"
}
export -f compare_with_ncu
export logs stream
if have ncu && [ -n "$stream" ]; then
  # 48 MiB lies on the cliff, where readings of one program may differ by 6 % (docs/models/streams.md).
  for point in "0.01 application 8 ld same linear" "0.01 application 64 ld all there-and-back" \
    "0.01 application 64 tma same linear" "0.01 app-range 64 ld same reversed" \
    "0.06 app-range 48 tma same reversed"; do
    name=${point#* }
    step "ncu-${name// /-}" 90 bash -c "compare_with_ncu $point"
  done
else
  skip ncu "ncu or stream_run is missing"
fi

# 5. The injected library with counters, contexts and processes.
if sawtooth=$(program sawtooth); then
  step record-contexts 60 python3 tests/gpu/record_contexts.py check "$sawtooth"
fi

# 6. The tests that need a GPU, of this build and of the folder of programs.
if [ $configured = yes ] && [ -e "$build/CTestTestfile.cmake" ]; then
  step tests 200 ctest --test-dir "$build" --output-on-failure --timeout 120 -R "${SAWTOOTH_GPU_TESTS:-OnGpu}"
  grep -cE 'Skipped' "$logs/tests.log" | sed 's/^/          skipped tests: /' | tee -a "$logs/summary.txt"
elif [ $configured = yes ]; then
  skip tests "GoogleTest or rapidcheck is missing, tests were not built"
fi
for name in cupti gpu; do
  test=$(program test_$name) && step test_$name 300 "$test" --gtest_filter="$gpu_tests"
done

# 7. Attention: predicted beside measured, schedules against each other, and against PyTorch.
export SAWTOOTH_EXPERIMENTS=${SAWTOOTH_EXPERIMENTS:-$root/experiments}
torch=$(python3 -c 'import torch' 2>/dev/null && echo yes)
if sawtooth=$(program sawtooth); then
  step counters-list 60 "$sawtooth" counters list --chip GH100 --match lts__t_sectors
  step calibrate 400 "$sawtooth" calibrate --output "$logs/calibrate" --repetitions "${SAWTOOTH_REPETITIONS:-1}" &&
    keep "$logs/calibrate/stream_counters.csv" stream_counters.csv
  cd "$work" || exit 2
  step attention-run 150 "$sawtooth" run "$root/experiments/studies/orders/lists/matching.ini"
  cd "$root" || exit 2
  keep "$work/runs/matching-h200/results.csv" matching_h200.csv
  cp -r "$work"/runs "$logs/" 2>/dev/null
  step attention-schedules 120 "$sawtooth" bench "$root/experiments/studies/orders/lists/scans.ini"
  keep "$logs/attention-schedules.log" attention_schedules.txt
else
  skip sawtooth "the program was not built (Boost.Program_options and Eigen are needed)"
fi

# 8. The ladder: error against the reference, times.
if [ -n "$ladder" ]; then
  step ladder-s1024 120 "$ladder" --repetitions 50
  step ladder-s16k 180 "$ladder" --seq 16384 --repetitions 5
  step ladder-bf16 120 "$ladder" --dtype bf16 --repetitions 50
else
  skip ladder "the program was not built"
fi

# 9. Plain calls beside PyTorch's back ends.
if [ -n "$torch" ] && python3 -c 'from sawtooth.kernels import require_kernels as k; k()' 2>/dev/null; then
  for pass in forward backward; do
    step "race-$pass" 300 python3 experiments/studies/speed/race.py run "$pass" \
      "$logs/race_$pass.csv" --only 'bf16 long' --rounds 5
  done
else
  skip race "PyTorch or the package sawtooth with kernels is missing"
fi

failed=$(grep -cE '^(FAILED|TIMEOUT)' "$logs/summary.txt")
say "$failed steps failed, $((SECONDS - started)) s"
pack
rm -rf "$work"
exit $((failed > 100 ? 100 : failed))
