#!/usr/bin/env bash
# Predicts a list of experiments/validation, compares it with what was measured, and draws the figures.
#
#   experiments/validation/judge.sh calibration|grid|holdout [FOLDER] [-- OPTIONS OF SIMULATE]
#
# FOLDER (default: build/judge/LIST) gets predicted.csv, errors.csv, report.txt, changes.md and the
# figures. Options after -- go to `simulate`; several values of a model option give several models, so
#   experiments/validation/judge.sh calibration ablation -- --without nothing,stalls,latency
# is the ablation of two mechanisms. $SAWTOOTH is the program (default: build/release/sawtooth). Needs
# no GPU; figures need a Python with matplotlib.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 2

program=${SAWTOOTH:-build/release/sawtooth}
model=(--timing timed --l2 halves)

usage() {
  sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}" >&2
  exit 2
}

list=${1:-}
case $list in calibration | grid | holdout) shift ;; *) usage ;; esac
folder=build/judge/$list
if (($#)) && [ "$1" != -- ]; then
  folder=$1
  shift
fi
if (($#)); then
  [ "$1" = -- ] || usage
  shift
fi
[ -x "$program" ] || {
  echo "judge.sh: $program is not there; build it (cmake --build --preset release) or set SAWTOOTH" >&2
  exit 2
}

mkdir -p "$folder"
measured=experiments/measured/h200/validation/$list.csv
"$program" simulate "experiments/validation/$list.ini" "${model[@]}" "$@" --csv "$folder/predicted.csv"
"$program" compare "$folder/predicted.csv" "$measured" --baselines computed \
  --csv "$folder/errors.csv" | tee "$folder/report.txt"
python3 experiments/validation/changes.py "$folder/errors.csv" >"$folder/changes.md"

python=${SAWTOOTH_PYTHON:-}
for candidate in $python python3 /usr/bin/python3; do
  "$candidate" -c "import matplotlib" 2>/dev/null && python=$candidate && break
  python=
done
[ -n "$python" ] || {
  echo "judge.sh: no python3 with matplotlib: no figures" >&2
  exit 0
}
"$python" plots/validation.py "$folder/errors.csv" -o "$folder/scatter"
"$python" plots/error_by_regime.py "$folder/errors.csv" -o "$folder/error_by_regime"
"$python" plots/ablation.py "$folder/errors.csv" -o "$folder/ablation"
"$python" plots/changes.py "$folder/errors.csv" -o "$folder/changes"
echo "written to $folder"
