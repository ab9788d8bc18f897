#!/usr/bin/env bash
# The steps of docs/guide/your-kernel.md: a Triton kernel and a PyTorch program are recorded, taught, described,
# predicted under sawtooth, changed and measured again.
#   guide.sh FOLDER [SAWTOOTH]             with a GPU: records into FOLDER, then the rest
#   guide.sh FOLDER [SAWTOOTH] --recorded  the rest alone, from the rows that are in FOLDER
# Ends with 1 where the prediction of a change misses what was measured (changes.py).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$1
sawtooth=${2:-sawtooth}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# One pass of counters; without --metrics all of results.csv are read, in four.
metrics=dram__sectors_read.sum,l1tex__m_xbar2l1tex_read_sectors.sum,lts__t_sectors_srcunit_tex_op_read_lookup_miss.sum

record() { # NAME PROGRAM...
  local name=$1
  shift
  "$sawtooth" record --gpu h200 --flush --kernel 'flash_fwd|^persistent' --metrics "$metrics" \
    --csv "$work/$name.csv" -- python3 "$here/programs.py" "$@" "$work/launches.csv"
  python3 "$here/label.py" "$work/$name.csv" "$work/launches.csv" "$folder/$name.csv"
}

# 1. Record what there is.
mkdir -p "$folder"
if [ "${3:-}" != --recorded ]; then
  record triton-linear triton linear
  record pytorch-sdpa pytorch sdpa
fi

# 2. Teach: costs of each kernel from durations of the order that it has.
"$sawtooth" teach "$folder/triton-linear.csv" --output "$work/triton-costs.ini"
"$sawtooth" teach "$folder/pytorch-sdpa.csv" --output "$work/sdpa-costs.ini"

# 3. Describe: how each orders its work.
cat > "$work/my-triton.ini" <<'INI'
launch = static
workers = 132
ctas-per-sm = 1
tile-q = 128
tile-kv = 128

[system]
description = my Triton kernel: persistent, one CTA an SM, ascending Q tiles
INI
cat > "$work/my-sdpa.ini" <<'INI'
launch = grid
ctas-per-sm = 2
tile-q = 128
tile-kv = 128
lse = on
spill-bytes = 3168

[system]
description = PyTorch's FlashAttention-2 at head dim 64: hardware grid, two CTAs an SM
INI

# 4. Predict: the order of today, and sawtooth.
problem=(--gpu h200 --seq 128K,160K --head-dim 64 --scan linear,sawtooth --quiet)
"$sawtooth" simulate "${problem[@]}" --system "$work/my-triton.ini" --kernel-costs "$work/triton-costs.ini" \
  --csv "$work/triton.csv"
"$sawtooth" simulate "${problem[@]}" --system "$work/my-sdpa.ini" --kernel-costs "$work/sdpa-costs.ini" \
  --csv "$work/sdpa.csv"

# 5. Change: the kernel gets the order, and the layer gets the kernel. Measure again.
if [ "${3:-}" != --recorded ]; then
  record triton-sawtooth triton sawtooth
  record pytorch-sawtooth pytorch sawtooth
fi

# 6. What was predicted beside what came.
python3 "$here/changes.py" "$work/triton.csv" "$work/sdpa.csv" "$folder"
