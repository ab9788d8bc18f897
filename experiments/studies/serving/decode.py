#!/usr/bin/env python3
"""Times decode of this project beside cuDNN and FlashAttention-2 (PyTorch's SDPA with enable_gqa), all in one run, on
one GPU. 32 query and 8 K/V heads, head dim 128, one query.

    decode.py DECODE.csv [ROUNDS]     $SAWTOOTH_LIBRARY is libsawtooth_kernels.so (a build with -DBUILD_SHARED_LIBS=ON)

In every round each contender runs a burst of launches behind another one, in an order shuffled anew, over K and V that
rotate through memory of at least four times L2. Times are medians of rounds, a launch each.
"""

import ctypes
import itertools
import os
import statistics
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGE = HERE.parents[1] / "sawtooth" / "python" / "sawtooth"
sys.path += [str(HERE.parents[2] / "plots" / "lib"), str(PACKAGE)]
import contenders  # noqa: E402  (the path above leads to it)
import table  # noqa: E402

HEADS, KV_HEADS, DIM = 32, 8, 128
ROW_BYTES = KV_HEADS * DIM * 2  # of a key, of K or of V
SHAPES = [(1, 8), (1, 32), (1, 128), (2, 64), (4, 8), (4, 32), (8, 8), (8, 32), (16, 8), (4, 128)]
SHAPES += [(16, 32), (32, 16), (64, 8), (128, 8)]  # batch, keys / 1024
FAMILIES = ("mma-tma", "mma")
PEERS = {"cudnn": "sdpa-cudnn", "flash": "sdpa-flash"}
BURST_US = 2000
OK, API_VERSION, BF16 = 0, 1, 0  # of kernels/attention/attention.h


class Decode(ctypes.Structure):
    """sawtooth_decode of kernels/attention/attention.h."""

    _fields_ = (
        [("struct_size", ctypes.c_uint32), ("version", ctypes.c_uint32)]
        + [(n, ctypes.c_int64) for n in "batch heads kv_heads seq_q seq_kv head_dim".split()]
        + [("dtype", ctypes.c_int), ("mask", ctypes.c_int)]
        + [(name, ctypes.c_void_p) for name in "q k v o lse".split()]
        + [(f"{name}_strides", ctypes.c_int64 * 3) for name in "qkvo"]
        + [("lengths", ctypes.c_void_p), ("page_table", ctypes.c_void_p)]
        + [(name, ctypes.c_int64) for name in "table_stride page_rows page_count".split()]
        + [("scale", ctypes.c_float), ("workspace_starts_zero", ctypes.c_int32)]
        + [("family", ctypes.c_char_p), ("workers", ctypes.c_int64)]
    )


def require(library, function, *arguments):
    """Calls sawtooth_FUNCTION; raises RuntimeError with the library's words."""
    if getattr(library, f"sawtooth_{function}")(*arguments) != OK:
        raise RuntimeError(library.sawtooth_last_message().decode())


def loaded_library():
    path = os.environ.get("SAWTOOTH_LIBRARY", "")
    if not os.path.isfile(path):
        raise RuntimeError("$SAWTOOTH_LIBRARY names no file")
    library = ctypes.CDLL(path)
    library.sawtooth_last_message.restype = ctypes.c_char_p
    return library


def ours(torch, family, q, k, v):
    """A launch that returns its output; tensors are [batch, heads, length, dim]."""
    library, o, plan = loaded_library(), torch.full_like(q, float("nan")), ctypes.c_void_p()
    call, size = Decode(), ctypes.c_size_t()
    library.sawtooth_decode_init(ctypes.byref(call), ctypes.c_size_t(ctypes.sizeof(call)))
    if call.version != API_VERSION:
        raise RuntimeError(f"the library has version {call.version} of the API")
    call.batch, call.heads, call.seq_q, call.head_dim = q.shape
    call.kv_heads, call.seq_kv = k.shape[1:3]
    call.dtype, call.workspace_starts_zero = BF16, 1
    call.q, call.k, call.v, call.o = (tensor.data_ptr() for tensor in (q, k, v, o))
    for name, tensor in zip("qkvo", (q, k, v, o)):
        setattr(call, f"{name}_strides", (ctypes.c_int64 * 3)(*tensor.stride()[:3]))
    call.family = family.encode()
    require(library, "decode_workspace_bytes", ctypes.byref(call), ctypes.byref(size))
    workspace = torch.zeros(size.value, device="cuda", dtype=torch.uint8)
    torch.cuda.synchronize()
    place = ctypes.c_void_p(workspace.data_ptr())
    require(library, "decode_plan_create", ctypes.byref(call), place, size, ctypes.byref(plan))
    handle = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)

    def launch(kept=(q, k, v, workspace)):  # the plan has their addresses
        require(library, "decode_plan_run", plan, handle)
        return o

    return launch


def rows_of(torch, batch, keys, rounds):
    moved = 2 * batch * keys * ROW_BYTES
    turns = max(2, -(-4 * torch.cuda.get_device_properties(0).L2_cache_size // moved))
    size = (batch, KV_HEADS, keys, DIM)
    kvs = [
        [torch.randn(size, device="cuda", dtype=torch.bfloat16) for _ in "kv"] for _ in range(turns)
    ]
    q = torch.randn(batch, HEADS, 1, DIM, device="cuda", dtype=torch.bfloat16)
    entries = {(name, ""): (contenders.forward, backend) for name, backend in PEERS.items()}
    entries |= {("sawtooth", f"family={family}"): (ours, family) for family in FAMILIES}
    bursts, errors, expected = {}, {}, None
    count = max(3, min(40, int(BURST_US / max(20, moved / 4e6))))
    for name, (prepare, how) in entries.items():
        launches = [prepare(torch, how, q, *kv) for kv in kvs]
        try:
            output = launches[0]().clone()
        except RuntimeError as error:
            print(f"{name[0]} refuses {batch} x {keys}: {str(error)[:100]}")
            continue
        expected = output if expected is None else expected
        errors[name] = f"{contenders.difference(output, expected):.2e}"
        turn = itertools.cycle(launches)
        bursts[name] = contenders.Burst(torch, lambda turn=turn: next(turn)(), count, True)
    for name, times in contenders.raced(bursts, rounds, str(size)).items():
        us = statistics.median(times)
        row = dict(part="shapes", batch=batch, keys=keys, kernel=name[0], options=name[1])
        yield {**row, "us": f"{us:.2f}", "gb_s": f"{moved / us / 1000:.1f}", "error": errors[name]}


def main(path, rounds=11):
    torch, missing = contenders.torch_with_gpu()
    if not torch:
        print(f"decode.py: {missing}", file=sys.stderr)
        return 3
    torch.manual_seed(1)
    rows = []
    for batch, kilo in SHAPES:
        rows += rows_of(torch, batch, kilo * 1024, int(rounds))
        table.write(path, rows)  # stays, whatever comes next
        print(*rows[-1].values(), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
