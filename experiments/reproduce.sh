#!/usr/bin/env bash
# Reproduces the analysis of the sawtooth paper (arXiv 2601.16032) on a CPU: builds the program, runs
# every configuration of experiments/studies/paper/, and writes CSVs, claims.csv and plots to runs/paper/.
#   --quick   a thinner sweep, at most two minutes with the build
#   --out DIR another folder than runs/paper
# A run that was interrupted goes on where it stopped. $SAWTOOTH names a program that is there already.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source experiments/packages.sh

quick=no
out=runs/paper
while (($#)); do
  case $1 in
    --quick) quick=yes ;;
    --out) out=${2:?--out needs a folder}; shift ;;
    -h | --help) sed -n '2,6s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "reproduce.sh: unknown option '$1' (allowed: --quick, --out DIR, --help)" >&2; exit 2 ;;
  esac
  shift
done

install_packages
program=${SAWTOOTH:-}
if [ -z "$program" ]; then
  program=build/cpu/sawtooth
  echo "Building the simulator in build/cpu"
  cmake --preset cpu >/dev/null
  cmake --build build/cpu --target sawtooth --parallel "$(nproc)"
fi
experiments/studies/paper/run.sh "$program" "$out" "$quick"
