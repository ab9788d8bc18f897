#!/usr/bin/env bash
# The shared library shows every function of the C header, and nothing else.
# tests/kernels/shared_library_test.sh LIBRARY HEADER
set -euo pipefail
shown=$(nm -D --defined-only "$1" | awk '{print $3}' | sort)
declared=$(tr '\n' ' ' <"$2" | grep -oE 'SAWTOOTH_API [a-z][^(;]*\(' | grep -oE '[a-z_]+\($' | tr -d '(' | sort)
diff <(echo "$declared") <(echo "$shown")
[ "$(echo "$shown" | wc -l)" -gt 1 ]
