#!/usr/bin/env bash
# Makes the generated part of the seed corpus anew: tests/fuzz/make_seeds.sh PATH_TO_SAWTOOTH. Inputs
# that fuzzing found have other names and stay.
set -euo pipefail
sawtooth=$(realpath "${1:?usage: tests/fuzz/make_seeds.sh PATH_TO_SAWTOOTH}")
cd "$(dirname "${BASH_SOURCE[0]}")/corpus"

# trace NAME FORMAT OPTIONS ...: one small point.
trace() {
  "$sawtooth" trace "${@:3}" --l2-bytes 4K --workers 3 --head-dim 64 --tile-q 2 --tile-kv 2 \
    --format "$2" --write "trace/seed-$1-$2"
}
for format in binary csv; do
  trace causal "$format" --seq 9 --mask causal --scan sawtooth --lse on
done
trace split binary --seq 8 --kv-split 2 --heads 2
"$sawtooth" trace --read trace/seed-split-binary --unit lines --write trace/seed-split-lines-binary
printf 'line\n5\n6\n5\n' >trace/seed-least-csv
printf 'line,lines,sectors,direction,times\n0,3,11,forwards,2\n9,1,4,,\n0,3,11,backwards,1\n' \
  >trace/seed-turned-csv

config() { cat >"configuration/seed-$1"; }
config axes <<<'gpu = gb10, h200 # a comment
seq = 1K, 2K
scan = linear, sawtooth
[section name]
scan = random
seed = 7'
config system <<<'gpu = h200
system = flash-attention-3
head-dim = 128
seq = 4096
mask = causal'
config gqa <<<'l2-bytes = 1.5MiB
workers = 7
heads = 8
kv-heads = 2
seq-q = 100
seq-kv = 333
mask = window:17
section = auto:32MiB'
config split <<<'gpu = gb10
seq = 256
kv-split = 4
lse = on
launch = dynamic
q-order = fold
head-order = head-major
section = all
prefetch = 2'
config outer <<<'gpu = gb10
seq = 512
loop = kv-outer
timing = lockstep-wave
dtype = fp32'
config outputs <<<'csv = r.csv
by-tensor = t.csv
quiet = on
threads = 3
gpu = gb10
seq = 64'
config repeated <<<'gpu = gb10
seq = 64
seq = 128
seq = 256'
config mistake <<<'gpu = gb10
seq = sixty
[open'

table() { printf "$2" >"csv/seed-$1"; }
table quotes 'a,b\n"1,""x""","two\nlines"\n'
table windows 'a,b\r\n1,2\r\n'
table mark '\xef\xbb\xbfa,b\n1,2\n'
table empty-cells 'a,b,c\n,,\n1,,3\n'
table open-quote 'a\n"1\n'
table short-row 'a,b\n1\n'
table no-name 'a,,c\n1,2,3\n'
"$sawtooth" simulate --gpu gb10 --seq 64,128 --quiet --csv csv/seed-results

# order NAME CHOICES TEXT: choices are batch, heads, rows, mask, launch, workers, prefetch, loop, split.
order() { printf "$2$3" >"order/seed-$1"; }
order heads '\x0\x1\x1\x0\x0\x1\x0\x1\x0' '0 1 0\n0 0 0\n'
order batches '\x1\x0\x1\x0\x0\x2\x0\x1\x0' '1 0 0\n0 0 0\n'
order parts '\x0\x0\x3\x0\x1\x1\x1\x1\x1' '0 0 1 1\n0 0 0 0\n0 0 1 0\n0 0 0 1\n'
order outer '\x0\x1\x3\x1\x0\x1\x0\x0' '0 1 0\n0 0 0\n'
order comment '\x0\x0\x1\x0\x0\x0\x0\x1\x0' '# all\n\n 0 0 0 # the item\n'
order short '\x0\x0\x3\x0\x0\x0\x0\x1\x0' '0 0 0\n'
order twice '\x0\x0\x3\x0\x0\x0\x0\x1\x0' '0 0 0\n0 0 0\n'
order word '\x0\x0\x0\x0\x0\x0\x0\x1\x0' '0 zero 0\n'
order launch-2 '\x0\x0\x5\x1\x2\x1\x1\x1\x0' '0 0 2\n0 0 0\n0 0 1\n'

# Hexadecimal digits are as good a row of choices as any.
for number in {0..7}; do
  printf '%s' "$number" | sha256sum | cut -c1-40 >"sweep/seed-$number"
done

# profile KIND FILES: 0 is a GPU, 1 a kernel.
profile() {
  local file
  for file in "${@:2}"; do
    { printf "\\x$1" && cat "$file"; } >"profile/seed-$(basename "$file" .ini)"
  done
}
profiles=../../../experiments/profiles
profile 0 "$profiles"/gpus/{gb10,h200}.ini
profile 1 "$profiles"/kernels/mma-h200.ini
