#!/usr/bin/env bash
# Installs the kernel library into a temporary prefix and builds programs against it.
# tests/package/run.sh BUILD_FOLDER
set -euo pipefail
build=${1:?usage: tests/package/run.sh BUILD_FOLDER}
source=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --component kernels --prefix "$work/prefix" >"$work/install.log"
cmake -S "$source" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/prefix" >"$work/configure.log"
cmake --build "$work/build" >"$work/build.log"
"$work/build/from_c"
"$work/build/from_cpp"
