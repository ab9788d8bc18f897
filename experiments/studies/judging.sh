# What studies share that judge their lists by what was measured. Sourced in the project's folder, with the study's name
# and the arguments of its run.sh, of which --check ends here.
here=experiments/studies/$1
tables=experiments/studies/judged.py
[ "${2:-}" = --check ] && exec python3 "$tables" page "$here" --check
program=${2:-build/release/sawtooth}
folder=runs/$1
mkdir -p "$folder"

# predict NAME LIST OPTIONS...: rows of a list.
predict() { "$program" simulate "$here/lists/$2.ini" "${@:3}" --quiet --overwrite --csv "$folder/$1.csv"; }
# judge SET NAME MEASURED CONDITIONS...: errors of predicted rows, those that meet the conditions.
judge() {
  "$program" compare "$folder/$2.csv" "experiments/data/$3.csv" --quiet --csv "$folder/errors.csv" >/dev/null
  python3 "$tables" errors "$folder/errors.csv" --set "$1" --where "${@:4}" --to "$here/results/judged.csv"
}
