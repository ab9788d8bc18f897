#!/usr/bin/env bash
# Makes everything that README.md and the tables and pictures beside it show, after a change of the
# model: judges every list that was measured, the known systems, and what is taught. No GPU; about a
# quarter of an hour on two cores.
#
#   experiments/validation/publish.sh            writes results/, pictures/, *.md, elsewhere.csv
#   experiments/validation/publish.sh --check    whether results/calibration and README.md are what the
#                                                program and results/ give (seconds; exit 1 if not)
# $SAWTOOTH is the program (default: build/release/sawtooth).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 2
here=experiments/validation
measured=experiments/measured/h200/validation

if [ "${1:-}" = --check ]; then
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  QUICK=1 "$here/judge.sh" calibration "$folder" >/dev/null
  python3 "$here/points.py" --same "$folder/points.csv" "$here/results/calibration/points.csv"
  "$here/finding.py" --check
  exit
fi
(($# == 0)) || {
  sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}" >&2
  exit 2
}

# keep FROM TO FILE ...: copies what exists of FROM to TO.
keep() {
  mkdir -p "$2"
  for file in "${@:3}"; do cp "$1/$file" "$2/"; done
}
declare -A shown=([calibration]="ablation" [grid]="scatter regimes changes" [drawn]="scatter regimes")
# results/holdout and results/drawn are records of the one look that judged a frozen model: made once.
for list in calibration grid drawn; do
  [ -e "$measured/$list.csv" ] || continue
  [ "$list" != drawn ] || [ ! -e "$here/results/drawn" ] || continue
  "$here/judge.sh" "$list"
  keep "build/judge/$list" "$here/results/$list" points.csv summary.csv report.md
  for picture in ${shown[$list]}; do
    cp "build/judge/$list/$picture.png" "$here/pictures/$list-$picture.png"
  done
done
QUICK=1 "$here/judge.sh" holdout build/judge/holdout-now
keep build/judge/holdout-now "$here/results/holdout-now" points.csv summary.csv
"$here/judge_systems.sh"
mkdir -p "$here/results/systems"
for errors in build/judge/systems/*.errors.csv; do
  cp "${errors%.errors.csv}.csv" "$here/results/systems/"
done
cp build/judge/systems/points.md "$here/results/systems/points.md"
"$here/teach.sh"
keep build/teach "$here" elsewhere.csv
keep build/teach "$here/pictures" causal.png elsewhere.png
"$here/finding.py"
