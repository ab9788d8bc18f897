#!/usr/bin/env bash
# Builds the wheel, installs it in a fresh virtual environment and runs the tests of this folder there.
# tests/python/run.sh BUILD_FOLDER; 77 (skipped) where pip has no network.
set -euo pipefail
build=${1:?usage: tests/python/run.sh BUILD_FOLDER}
root=$(cd "$(dirname "$0")/../.." && pwd)
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
"$python" -m pip wheel "$root" --no-deps -w "$work/wheel" -C build-dir="$build/python-wheel" \
  >"$work/log" 2>&1 || { tail -n 40 "$work/log"; exit 1; }
wheel=("$work"/wheel/sawtooth-*.whl)
(($(stat -c %s "${wheel[0]}") < most_bytes)) || { echo "${wheel[0]}: more than $most_bytes bytes"; exit 1; }
"$python" -m pip install -q "${wheel[0]}"
"$python" -m pip install -q pandas matplotlib >>"$work/log" 2>&1 ||
  echo "without pandas and matplotlib: tests that need them are skipped"
[ ! -x "$build/sawtooth" ] || export SAWTOOTH_PROGRAM=$build/sawtooth
cd "$work"
"$python" -m unittest discover -s "$root/tests/python" -p '*_test.py'
