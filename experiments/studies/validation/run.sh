#!/usr/bin/env bash
# Judges the model on lists of measured points: predicts, compares, draws. No GPU.
#
#   experiments/studies/validation/run.sh [LIST|ROLE ...] [-- OPTIONS OF SIMULATE]
#   experiments/studies/validation/run.sh --record LIST ...   also writes results/ and README.md's figures
#   experiments/studies/validation/run.sh --check             seconds: is what is recorded what the program gives?
#   experiments/studies/validation/run.sh --page              fills README.md from results/
#   experiments/studies/validation/run.sh --intervals         minutes: the lines of [intervals] of the GPU's profile
#
# LIST and ROLE are those of lists.csv (default: calibration). build/judge/LIST gets predicted.csv, errors.csv,
# report.txt (of `compare`), report.md and, where a Python with matplotlib is, scatter, regimes, changes and ablation.
# For calibration and judgement also other seeds, and where the die is known each mechanism switched off, and rules: minutes.
# QUICK=1 leaves these and the rules out. $LAUNCHES overrides the simulated launches of lists.csv; $SAWTOOTH is the program
# (default: build/release/sawtooth). Exit code 1 where a check fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 2

here=experiments/studies/validation
program=${SAWTOOTH:-build/release/sawtooth}
other_seeds=(1 2 3 4)
# Lists, with rows of several launches a point, whose errors say how wide intervals are: of development.ini, and of their own.
interval_lists="drawn_third|drawn_fourth"
interval_files=(families families_again families_third families_fourth families_fifth)

usage() {
  sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}" >&2
  exit 2
}

# sections_of FILE LIST[|LIST ...]: the head of FILE and its sections of these lists.
sections_of() {
  awk -v RS= -v ORS='\n\n' -v wanted="^\\\\[($2)[],]?\$" 'NR == 1 || $1 ~ wanted' "$1"
}

# Predicts lists without their dies, a seed after the other, and says how wide intervals are.
say_intervals() {
  local folder=build/judge/intervals data=experiments/data seed list predicted=()
  local measured=("$data/h200/validation/development.csv")
  mkdir -p "$folder"
  sections_of "$here/lists/development.ini" "$interval_lists" >"$folder/lists.ini"
  for seed in 0 1; do
    predicted+=("$folder/seed-$seed.csv")
    predict_for_intervals "$folder/lists.ini" "$seed" "${predicted[-1]}"
    for list in "${interval_files[@]}"; do
      predict_for_intervals "$here/lists/$list.ini" "$seed" "$folder/list.csv" "$(of_list "$list" 10)"
      tail -n +2 "$folder/list.csv" >>"${predicted[-1]}"
    done
  done
  for list in "${interval_files[@]}"; do measured+=("$data/$(of_list "$list" 4)"); done
  python3 "$here/intervals.py" --measured "${measured[@]}" --predicted "${predicted[@]}"
}

# predict_for_intervals FILE SEED CSV [GPU]
predict_for_intervals() {
  "$program" simulate "$1" --timing timed --l2 halves --quiet --overwrite --seed "$2" --csv "$3" ${4:+--gpu "$4"}
}

# of_list LIST FIELD: of its row in lists.csv.
of_list() { awk -F, -v list="$1" -v field="$2" '$1 == list { print $field }' "$here/lists.csv"; }

# judge FOLDER LIST ROLE FILE MEASURED DIE LAUNCHES GPU: one row of lists.csv; GPU is the one that came, where the list
# names another.
judge() {
  local folder=$1 list=$2 role=$3 file=$here/lists/$4 measured=experiments/data/$5 die=$6 gpu=$8
  local repeated=(--launches "${LAUNCHES:-$7}") options=(--timing timed --l2 halves --quiet)
  [ -z "$die" ] || options+=(--die "experiments/$die")
  options+=("${simulate_options[@]}")
  mkdir -p "$folder"
  rm -f "$folder"/*.summary
  if [ -n "$gpu" ]; then
    options+=(--gpu "$gpu")
    sed "s/^\([^,]*,measured\),[^,]*/\1,$gpu/" "$measured" >"$folder/measured.csv"
    measured=$folder/measured.csv
  fi
  case $4 in # files of several lists
    development.ini | libraries.ini)
      sections_of "$file" "$list" >"$folder/$list.ini"
      file=$folder/$list.ini
      ;;
  esac
  predict() { "$program" simulate "$file" "${options[@]}" "${@:2}" --csv "$folder/$1.csv"; }
  compare() { "$program" compare "$folder/$1.csv" "$measured" --summary "$folder/$1.summary" "${@:2}"; }

  local rules=(--baselines computed)
  [[ -z "${QUICK:-}" && $role == judgement && -n $die ]] || rules=()
  predict model "${repeated[@]}"
  compare model "${rules[@]}" --csv "$folder/errors.csv" >"$folder/report.txt"
  if [ -z "${QUICK:-}" ] && [[ $role == calibration || $role == judgement ]]; then
    for seed in "${other_seeds[@]}"; do
      predict "seed-$seed" "${repeated[@]}" --seed "$seed"
      compare "seed-$seed" >/dev/null
    done
    if [ -n "$die" ]; then # the plain call: no die file, one launch
      local -a with_die=("${options[@]}")
      options=(--timing timed --l2 halves --quiet "${simulate_options[@]}")
      for seed in 0 "${other_seeds[@]}"; do
        predict "no-die-seed-$seed" --seed "$seed"
        compare "no-die-seed-$seed" >/dev/null
      done
      options=("${with_die[@]}")
      local mechanisms
      mechanisms=$("$program" simulate --help | tr -d '\n' | tr -s ' ' |
        sed 's/.*--without NAME.*switched off: \([a-z0-9, -]*\) (default.*/\1/; s/nothing, //; s/, /,/g')
      predict without --without "nothing,$mechanisms"
      compare without --csv "$folder/without.errors" >/dev/null
    fi
  fi
  mv "$folder/model.csv" "$folder/predicted.csv"
  rm -f "$folder"/seed-*.csv "$folder"/no-die-*.csv "$folder/without.csv"
}

draw() {
  local folder=$1 python
  for python in ${SAWTOOTH_PYTHON:-} python3 /usr/bin/python3 ""; do
    [ -n "$python" ] && "$python" -c "import matplotlib" 2>/dev/null && break
  done
  [ -n "$python" ] || {
    echo "run.sh: no python3 with matplotlib: no figures" >&2
    return
  }
  "$python" plots/plot.py validation "$folder/errors.csv" -o "$folder/scatter"
  "$python" plots/plot.py error_by_regime "$folder/errors.csv" -o "$folder/regimes"
  # A list of shapes, not of schedules, has no pairs to draw.
  "$python" plots/plot.py changes "$folder/errors.csv" -o "$folder/changes" || true
  [ ! -e "$folder/without.errors" ] ||
    "$python" plots/plot.py ablation "$folder/without.errors" -o "$folder/ablation"
}

record='' check='' intervals=''
wanted=() simulate_options=()
while (($#)); do
  case $1 in
    --record) record=yes ;;
    --check) check=yes wanted=(calibration) ;;
    --intervals) intervals=yes ;;
    --page) exec python3 "$here/judge.py" page ;;
    --) simulate_options=("${@:2}"); break ;;
    -*) usage ;;
    *) wanted+=("$1") ;;
  esac
  shift
done
((${#wanted[@]})) || wanted=(calibration)
[ -x "$program" ] || {
  echo "run.sh: $program is not there; build it (cmake --build --preset release) or set SAWTOOTH" >&2
  exit 2
}

if [ -n "$intervals" ]; then
  say_intervals
  exit
fi

judged=0
while IFS=, read -r list role file measured die launches _ _ _ gpu <&3; do
  [[ " ${wanted[*]} " == *" $list "* || " ${wanted[*]} " == *" $role "* ]] || continue
  judged=$((judged + 1))
  if [ -n "$check" ]; then
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    QUICK=1 judge "$folder" "$list" "$role" "$file" "$measured" "$die" "$launches" "$gpu"
    python3 "$here/judge.py" same "$folder" "$list" || {
      echo "run.sh: predictions have changed; run $here/run.sh --record LIST ..." >&2
      exit 1
    }
    exec python3 "$here/judge.py" page --check
  fi
  folder=build/judge/$list
  judge "$folder" "$list" "$role" "$file" "$measured" "$die" "$launches" "$gpu"
  python3 "$here/judge.py" report "$folder" ${record:+--record "$list"} | tee "$folder/report.md"
  draw "$folder"
  echo "written to $folder"
done 3< <(tail -n +2 "$here/lists.csv")
((judged)) || {
  echo "run.sh: no list or role '${wanted[*]}' in $here/lists.csv" >&2
  exit 2
}
[ -z "$record" ] || python3 "$here/judge.py" page
