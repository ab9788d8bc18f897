# shellcheck shell=bash
# Debian and Ubuntu packages that the build, the tests and the plots need. Sourced by
# experiments/reproduce.sh and tests/run.sh; says what it installs, and what it could not.

sawtooth_packages=(
  g++ cmake make pkg-config
  libboost-program-options-dev libeigen3-dev libzstd-dev
  libgtest-dev libgmock-dev librapidcheck-dev
  python3 python3-matplotlib
)

# What some parts of the build look for and others do without: mpirun, and a Slurm for a test.
# shellcheck disable=SC2034
sawtooth_optional_packages=(libopenmpi-dev openmpi-bin)

missing_packages() {
  local package
  for package in "$@"; do
    dpkg-query -W -f='${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed ||
      echo "$package"
  done
}

# install_packages [PACKAGE ...]: installs what is missing of the project's packages and of those
# given. Never fails: the build says itself what it cannot do without.
install_packages() {
  local missing as_root=()
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "No apt here. Needed, by their Debian names: ${sawtooth_packages[*]} $*" >&2
    return 0
  fi
  mapfile -t missing < <(missing_packages "${sawtooth_packages[@]}" "$@")
  ((${#missing[@]})) || return 0
  if ((EUID != 0)); then
    # Without a terminal sudo must not wait for a password.
    if command -v sudo >/dev/null && { [[ -t 0 ]] || sudo -n true 2>/dev/null; }; then
      as_root=(sudo)
    else
      echo "Missing, and neither root nor sudo to install them: ${missing[*]}" >&2
      return 0
    fi
  fi
  echo "Installing with apt-get: ${missing[*]}"
  if ! { "${as_root[@]}" apt-get update -qq &&
         "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
           apt-get install -y -qq --no-install-recommends "${missing[@]}"; }; then
    mapfile -t missing < <(missing_packages "${missing[@]}")
    echo "Could not install: ${missing[*]}" >&2
  fi
}

# The python3 on PATH may be another one than the one whose packages apt installs.
python_with_matplotlib() {
  local python
  for python in python3 /usr/bin/python3; do
    if "$python" -c 'import matplotlib' 2>/dev/null; then
      echo "$python"
      return 0
    fi
  done
  return 1
}
