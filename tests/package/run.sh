#!/usr/bin/env bash
# Installs a build into a prefix, moves it, and checks what lies there: the program, programs built
# against the libraries, the Debian package.
# tests/package/run.sh BUILD_FOLDER
set -Eeuo pipefail
build=${1:?usage: tests/package/run.sh BUILD_FOLDER}
folder=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$folder/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'echo "${BASH_SOURCE[0]}:$LINENO: failed" >&2' ERR
unset SAWTOOTH_EXPERIMENTS

fail() {
  echo "$*" >&2
  exit 1
}
# quietly LOG COMMAND ...: its output goes to a log, which is shown where it fails.
quietly() {
  "${@:2}" >"$work/$1.log" 2>&1 || { cat "$work/$1.log" >&2; fail "$1 failed"; }
}
# program_works PREFIX: from a folder that has nothing to do with either, as the build's program.
program_works() {
  local point=(simulate --gpu gb10 --seq 4K --scan linear,sawtooth --csv - --quiet)
  diff <(cd / && "$1/bin/sawtooth" "${point[@]}") <("$build/sawtooth" "${point[@]}")
  (cd / && "$1/bin/sawtooth" systems) | grep flash-attention-3 >/dev/null
  [ -f "$1/share/sawtooth/plots/plot.py" ]
  [ -f "$1/share/sawtooth/plots/report.html" ]
  grep -q -- --miss-curve "$1/share/bash-completion/completions/sawtooth"
  grep -q "^.TH sawtooth-simulate 1" "$1/share/man/man1/sawtooth-simulate.1"
}

quietly install cmake --install "$build" --prefix "$work/first"
mv "$work/first" "$work/prefix"
if [ -x "$build/sawtooth" ]; then program_works "$work/prefix"; fi
if grep -q 'CMAKE_BUILD_TYPE:STRING=Release' "$build/CMakeCache.txt"; then
  found=$(grep -rlF -e "$source" -e "$build" "$work/prefix") && fail "name the build: $found"
fi

# build_against PREFIX NAME: the examples, linked to what is there.
build_against() {
  quietly "configure-$2" cmake -S "$folder" -B "$work/$2" -DCMAKE_PREFIX_PATH="$1"
  quietly "build-$2" cmake --build "$work/$2"
  local program
  for program in from_sim from_c from_cpp; do
    [ ! -e "$work/$2/$program" ] || "$work/$2/$program"
  done
}
build_against "$work/prefix" static
[ ! -e "$work/prefix/lib/libsawtooth_kernels.a" ] || [ -x "$work/static/from_c" ]

# A component that is not there is refused by name.
mkdir "$work/none"
printf '%s\n' 'cmake_minimum_required(VERSION 3.22)' 'project(none LANGUAGES CXX)' \
  'find_package(sawtooth REQUIRED COMPONENTS none)' >"$work/none/CMakeLists.txt"
! cmake -S "$work/none" -B "$work/none/build" -DCMAKE_PREFIX_PATH="$work/prefix" \
  >"$work/none.log" 2>&1 || fail "the component none was found"
grep -q "has the components scheduler;sim" "$work/none.log"

# The simulator as a shared library; it answers once, so it is built in less time.
quietly configure-shared cmake -S "$source" -B "$work/shared-build" -DBUILD_SHARED_LIBS=ON \
  -DSAWTOOTH_CUDA=OFF -DSAWTOOTH_TESTS=OFF -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O0
quietly build-shared cmake --build "$work/shared-build" --target sawtooth_sim --parallel 2
quietly install-shared cmake --install "$work/shared-build" --component libraries \
  --prefix "$work/shared-prefix"
build_against "$work/shared-prefix" shared
ldd "$work/shared/from_sim" | grep "libsawtooth_sim.so" >/dev/null

if [ -x "$build/sawtooth" ] && command -v dpkg-deb dpkg-shlibdeps >/dev/null; then
  # Under another generator's name cpack does not first build what nothing here needs.
  quietly package cpack --config "$build/CPackConfig.cmake" -B "$work/package" \
    -D CPACK_CMAKE_GENERATOR=Ninja
  package=("$work"/package/sawtooth_*.deb)
  dpkg-deb --field "${package[0]}" Depends | grep libboost-program-options >/dev/null
  dpkg-deb --extract "${package[0]}" "$work/extracted"
  program_works "$work/extracted/usr"
fi
