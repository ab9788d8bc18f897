#!/usr/bin/env bash
# Makes everything that README.md and the tables and pictures beside it show, after a change of the
# model: judges every list that was measured, the known systems, and what is taught. No GPU; a quarter
# of an hour on two cores.
#
#   experiments/studies/validation/publish.sh            writes results/, pictures/, *.md, elsewhere.csv
#   experiments/studies/validation/publish.sh --check    whether results/calibration and README.md are what the
#                                                program and results/ give (seconds; exit 1 if not)
# $SAWTOOTH is the program (default: build/release/sawtooth).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 2
here=experiments/studies/validation
measured=experiments/data/h200/validation

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
"$here/judge.sh" calibration
keep build/judge/calibration "$here/results/calibration" points.csv summary.csv report.md
cp build/judge/calibration/ablation.png "$here/pictures/calibration-ablation.png"
# results/holdout, drawn, drawn_again, drawn_third, drawn_fourth and drawn_fifth are records of the one look that
# judged a frozen model: made once.
if [ -e "$measured/drawn_fifth.csv" ] && [ ! -e "$here/results/drawn_fifth" ]; then
  "$here/judge.sh" drawn_fifth
  keep build/judge/drawn_fifth "$here/results/drawn_fifth" points.csv summary.csv report.md
  for picture in scatter regimes ablation; do
    cp "build/judge/drawn_fifth/$picture.png" "$here/pictures/drawn-fifth-$picture.png"
  done
fi
# What judged before is a development set now.
for list in grid holdout drawn drawn_again drawn_third drawn_fourth; do
  QUICK=1 LAUNCHES=1 "$here/judge.sh" "$list" "build/judge/$list-now"
  keep "build/judge/$list-now" "$here/results/$list-now" points.csv summary.csv report.md
done
cp build/judge/grid-now/changes.png "$here/pictures/grid-changes.png"
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
