#!/usr/bin/env bash
# Builds the wheel, installs it in a fresh virtual environment and runs the tests of this folder there,
# which execute the notebooks and the Python of README and docs too.
# tests/python/run.sh BUILD_FOLDER; 77 (skipped) where pip has no network. SAWTOOTH_WHEEL_CUDA=ON adds
# the kernels (few variants), for attention(): without a GPU the tests of its checks run.
set -euo pipefail
build=${1:?usage: tests/python/run.sh BUILD_FOLDER}
root=$(cd "$(dirname "$0")/../.." && pwd)
cuda=${SAWTOOTH_WHEEL_CUDA:-OFF}
most_bytes=$((5 * 1024 * 1024))  # of a wheel without CUDA
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset SAWTOOTH_EXPERIMENTS

if ! python3 -m venv "$work/venv" >"$work/log" 2>&1; then
  echo "skipped: python3 cannot make a virtual environment (python3-venv)"
  exit 77
fi
python=$work/venv/bin/python
if ! "$python" -c "import os, sysconfig; os.stat(sysconfig.get_path('include') + '/Python.h')" 2>/dev/null; then
  echo "skipped: no Python.h (python3-dev)"
  exit 77
fi
if ! "$python" -m pip download -q --no-deps -d "$work/probe" nanobind >>"$work/log" 2>&1; then
  echo "skipped: pip has no network"
  exit 77
fi
if [ "$cuda" != OFF ] && ! command -v nvcc >/dev/null; then
  echo "skipped: no nvcc"
  exit 77
fi
# -O1 gives the same digits and is built in less time.
options=(-C build-dir="$build/python-wheel-$cuda" -C cmake.define.SAWTOOTH_CUDA="$cuda"
  -C cmake.define.CMAKE_CXX_FLAGS_RELEASE=-O1)
[ "$cuda" = OFF ] ||
  options+=(-C cmake.define.SAWTOOTH_VARIANTS=minimal -C cmake.define.SAWTOOTH_HOPPER=OFF)
"$python" -m pip wheel "$root" --no-deps -w "$work/wheel" "${options[@]}" \
  >"$work/log" 2>&1 || { tail -n 40 "$work/log"; exit 1; }
wheel=("$work"/wheel/sawtooth-*.whl)
bytes=$(stat -c %s "${wheel[0]}")
echo "${wheel[0]##*/}: $bytes bytes"
[ "$cuda" != OFF ] || ((bytes < most_bytes)) || { echo "more than $most_bytes bytes"; exit 1; }
"$python" -m pip install -q "${wheel[0]}"
"$python" -m pip install -q pandas matplotlib >>"$work/log" 2>&1 ||
  echo "without pandas and matplotlib: tests that need them are skipped"
[ ! -x "$build/sawtooth" ] || export SAWTOOTH_PROGRAM=$build/sawtooth
cd "$work"
"$python" -m unittest discover -v -s "$root/tests/python" -p '*_test.py'
