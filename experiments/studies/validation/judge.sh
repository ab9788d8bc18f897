#!/usr/bin/env bash
# Predicts a list of experiments/studies/validation, compares it with what was measured, and draws the figures:
# all that is said of a model, with one command, in minutes on two cores and without a GPU.
#
#   experiments/studies/validation/judge.sh calibration|grid|holdout|drawn|drawn_again|drawn_third|drawn_fourth|drawn_fifth \
#       [FOLDER] [-- OPTIONS OF SIMULATE]
#
# FOLDER (default: build/judge/LIST) gets
#   predicted.csv, errors.csv   every point
#   report.txt, report.md       errors, seeds, mechanisms, changes of schedule, every point as a table
#   summary.csv, points.csv     the same for scripts (experiments/studies/validation/results has them recorded)
#   scatter, regimes, ablation, changes   figures, where a Python with matplotlib is
# $QUICK=1 leaves out what needs further simulations (other seeds, mechanisms switched off, rules).
# A prediction is the median of $LAUNCHES (default: 5) simulated launches; mechanisms are switched off in one.
# Options after -- go to every `simulate`. $SAWTOOTH is the program (default: build/release/sawtooth).
# Exit code 1 where two runs of one seed differ by a byte.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 2

program=${SAWTOOTH:-build/release/sawtooth}
options=(--timing timed --l2 halves --quiet)
other_seeds=(1 2 3 4)
launches=(--launches "${LAUNCHES:-5}")

usage() {
  sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}" >&2
  exit 2
}

list=${1:-}
case $list in
  calibration | grid | holdout | drawn | drawn_again | drawn_third | drawn_fourth | drawn_fifth) shift ;;
  *) usage ;;
esac
folder=build/judge/$list
if (($#)) && [ "$1" != -- ]; then
  folder=$1
  shift
fi
if (($#)); then
  [ "$1" = -- ] || usage
  shift
fi
# Measured on one GPU, whose SMs' speeds are known; of the others they are drawn.
case $list in
  calibration | drawn_fifth) options+=(--die experiments/data/h200/validation/die.ini) ;;
  drawn_fourth) options+=(--die experiments/data/h200/validation/fourth_die.ini) ;;
  drawn_third) options+=(--die experiments/data/h200/validation/third_die.ini) ;;
esac
options+=("$@")
measured=experiments/data/h200/validation/development.csv
case $list in
  calibration) measured=experiments/data/h200/validation/calibration.csv ;;
  drawn_fifth) measured=experiments/data/h200/validation/judgement.csv ;;
esac
for file in "$program" "$measured"; do
  [ -e "$file" ] && continue
  echo "judge.sh: $file is not there (cmake --build --preset release; sawtooth measure)" >&2
  exit 2
done
mkdir -p "$folder"

# predict VARIANT [OPTION ...], judge VARIANT [OPTION ...]: VARIANT.csv, VARIANT.summary
predict() {
  "$program" simulate "experiments/studies/validation/$list.ini" "${options[@]}" "${@:2}" --csv "$folder/$1.csv"
}
judge() {
  "$program" compare "$folder/$1.csv" "$measured" --summary "$folder/$1.summary" "${@:2}"
}

predict predicted "${launches[@]}"
rules=(--baselines computed)
[ -z "${QUICK:-}" ] || rules=()
judge predicted "${rules[@]}" --csv "$folder/errors.csv" >"$folder/report.txt"
variants=("model=$folder/predicted.summary")

if [ -z "${QUICK:-}" ]; then
  predict again "${launches[@]}"
  cmp "$folder/predicted.csv" "$folder/again.csv" || {
    echo "judge.sh: one seed gives two results" >&2
    exit 1
  }
  for seed in "${other_seeds[@]}"; do
    predict "seed-$seed" "${launches[@]}" --seed "$seed"
    judge "seed-$seed" >/dev/null
    variants+=("seed $seed=$folder/seed-$seed.summary")
  done
  mechanisms=$("$program" simulate --help | tr -d '\n' | tr -s ' ' |
    sed 's/.*--without NAME.*switched off: \([a-z0-9, -]*\) (default.*/\1/; s/nothing, //; s/, /,/g')
  predict without --without "nothing,$mechanisms"
  judge without --csv "$folder/without.errors" >/dev/null
  variants+=("=$folder/without.summary")
fi

python3 experiments/studies/validation/report.py "$folder/errors.csv" "${variants[@]}" \
  --record "$folder" >"$folder/report.md"
rm -f "$folder"/again.csv "$folder"/seed-*.csv "$folder"/*.summary

python=
for candidate in ${SAWTOOTH_PYTHON:-} python3 /usr/bin/python3; do
  "$candidate" -c "import matplotlib" 2>/dev/null && python=$candidate && break
done
if [ -n "$python" ]; then
  "$python" plots/figures/validation.py "$folder/errors.csv" -o "$folder/scatter"
  "$python" plots/figures/error_by_regime.py "$folder/errors.csv" -o "$folder/regimes"
  [ ! -e "$folder/without.errors" ] ||
    "$python" plots/figures/ablation.py "$folder/without.errors" -o "$folder/ablation"
  "$python" plots/figures/changes.py "$folder/errors.csv" -o "$folder/changes"
else
  echo "judge.sh: no python3 with matplotlib: no figures" >&2
fi
sed '/^## Every point/,$d' "$folder/report.md"
echo "written to $folder"
