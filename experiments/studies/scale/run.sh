#!/usr/bin/env bash
# The tables of README.md.
#   run.sh SAWTOOTH           minutes; processes of MPI where mpirun is
#   run.sh SAWTOOTH --check   short lengths alone, in seconds
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
sawtooth=${1:-build/release/sawtooth}
if [ "${2:-}" = --check ]; then
  exec python3 "$here/scale.py" growth "$sawtooth" --seq 32K,64K
fi
python3 "$here/scale.py" growth "$sawtooth"
if command -v mpirun >/dev/null; then python3 "$here/scale.py" ranks "$sawtooth"; fi
