#!/usr/bin/env bash
# The first measurement of a GPU model that nobody has recorded: one command, one archive.
#
#   first_measurement.sh measure LIST [FOLDER]   on that GPU, half an hour: calibrates, measures lists/LIST.ini (or
#                                                a path of such a file), teaches costs; writes FOLDER (default:
#                                                runs/first-LIST) and FOLDER.tar.gz. Done again it goes on.
#   first_measurement.sh compare FILE.tar.gz     anywhere: predicts the archive's list and compares
#
# The archive holds list.ini, results.csv, linear.csv (its linear scans, from which costs are taught), kernel.ini (if
# they could be), calibration/ (profile, die, raw counters and provenance.ini, in which the GPU's UUID is hashed) and
# SHA256SUMS. $SAWTOOTH is the program (default: build/release/sawtooth). Exit code 2: wrong usage or an archive that
# is not whole; else that of the program.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
program=${SAWTOOTH:-$here/../../../build/release/sawtooth}

fail() {
  echo "first_measurement.sh: $1" >&2
  exit 2
}
usage() { fail "usage: first_measurement.sh measure LIST [FOLDER] | compare FILE.tar.gz"; }

lists() {
  local names=("$here"/lists/*.ini)
  names=("${names[@]##*/}")
  echo "${names[*]%.ini}"
}

measure() {
  local list=$here/lists/$1.ini folder name
  [ -f "$list" ] || list=$1
  [ -f "$list" ] || fail "no list '$1'; allowed: $(lists), or a path"
  name=${list##*/}
  folder=${2:-runs/first-${name%.ini}}
  mkdir -p "$folder"
  if ! [ -d "$folder/calibration" ]; then
    rm -rf "$folder/calibration.new"
    "$program" calibrate --output "$folder/calibration.new"
    mv "$folder/calibration.new" "$folder/calibration"
  fi
  cp "$list" "$folder/list.ini"
  "$program" measure "$folder/list.ini" --resume --csv "$folder/results.csv"
  # Costs come from linear scans alone; no cell before `scan` has a comma.
  awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == "scan") scan = i } NR == 1 || $scan == "linear"' \
    "$folder/results.csv" >"$folder/linear.csv"
  "$program" teach "$folder/linear.csv" --output "$folder/kernel.ini" ||
    echo "first_measurement.sh: no costs could be taught; the archive goes without kernel.ini" >&2
  (
    cd "$folder"
    find . -type f ! -name SHA256SUMS ! -name '*.lock' -printf '%P\n' | LC_ALL=C sort |
      xargs -d '\n' sha256sum >SHA256SUMS
  )
  tar --sort=name --owner=0 --group=0 --numeric-owner --exclude='*.lock' -czf "$folder.tar.gz.tmp" -C "$folder" .
  mv "$folder.tar.gz.tmp" "$folder.tar.gz"
  echo "written to $folder.tar.gz"
}

compare() {
  [ -f "$1" ] || fail "$1: no such file"
  local folder
  folder=$(mktemp -d)
  # shellcheck disable=SC2064  # the folder of now
  trap "rm -rf '$folder'" EXIT
  tar -xzf "$1" -C "$folder" 2>/dev/null || fail "$1: no archive of first_measurement.sh measure"
  (cd "$folder" && sha256sum --quiet --strict -c SHA256SUMS) >&2 || fail "$1: not as it was packed"
  sed -n '/^\[gpu/,$p' "$folder/calibration/provenance.ini"
  local costs=()
  [ -f "$folder/kernel.ini" ] && costs=(--timing timed --kernel-costs "$folder/kernel.ini")
  "$program" simulate "$folder/list.ini" --csv "$folder/predicted.csv" --quiet
  "$program" compare "$folder/predicted.csv" "$folder/results.csv"
  ((${#costs[@]})) || return 0
  echo "with costs taught from its linear scans:"
  "$program" simulate "$folder/list.ini" "${costs[@]}" --csv "$folder/taught.csv" --quiet
  "$program" compare "$folder/taught.csv" "$folder/results.csv"
}

case ${1:-} in
  measure) [ $# = 2 ] || [ $# = 3 ] || usage; measure "${@:2}" ;;
  compare) [ $# = 2 ] || usage; compare "$2" ;;
  *) usage ;;
esac
