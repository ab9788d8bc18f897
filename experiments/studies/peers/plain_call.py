"""This project's kernels by a call of the C API; a plain one names no schedule, no tile and no kernel.

$SAWTOOTH_LIBRARY is the path of libsawtooth_kernels.so (a build with -DBUILD_SHARED_LIBS=ON).
"""

import ctypes
import itertools
import os

LIBRARY = "SAWTOOTH_LIBRARY"
OK, API_VERSION = 0, 1
DTYPES = {"bfloat16": 0, "float16": 1, "float32": 2}
MASKS = {False: 0, True: 1}  # none, causal


class Attention(ctypes.Structure):
    """sawtooth_attention of kernels/attention/attention.h."""

    _fields_ = (
        [("struct_size", ctypes.c_uint32), ("version", ctypes.c_uint32)]
        + [(n, ctypes.c_int64) for n in "batch heads kv_heads seq_q seq_kv head_dim".split()]
        + [("dtype", ctypes.c_int), ("mask", ctypes.c_int), ("window", ctypes.c_int64)]
        + [(name, ctypes.c_void_p) for name in "q k v o lse".split()]
        + [(f"{name}_strides", ctypes.c_int64 * 3) for name in "qkvo"]
        + [("scale", ctypes.c_float), ("workspace_starts_zero", ctypes.c_int32)]
        + [("family", ctypes.c_char_p), ("tile_q", ctypes.c_int64), ("tile_kv", ctypes.c_int64)]
        + [(name, ctypes.c_char_p) for name in "launch scan q_order".split()]
        + [(n, ctypes.c_int64) for n in "section workers kv_split prefetch".split()]
        + [("seed", ctypes.c_uint64)]
        + [(name, ctypes.POINTER(ctypes.c_int32)) for name in "packed_q packed_kv".split()]
        + [("sequence_order", ctypes.c_char_p), ("packed_may_change", ctypes.c_int32)]
    )


def refusal(_):
    path = os.environ.get(LIBRARY, "")
    return "" if os.path.isfile(path) else f"${LIBRARY} names no file"


def loaded():
    library = ctypes.CDLL(os.environ[LIBRARY])
    library.sawtooth_last_message.restype = ctypes.c_char_p
    library.sawtooth_plan_run.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    return library


def prepare(torch, q, k, v, causal, o=None, lengths=None, **named):
    """A launch that returns its output, `o` or a tensor of its own; `named` are fields of Attention.
    Tensors are [batch, heads, length, dim], or with `lengths` (of queries and of keys) packed
    sequences [rows, heads, dim]."""
    library = loaded()

    def require(status):
        if status != OK:
            raise RuntimeError(library.sawtooth_last_message().decode())

    call, size, plan = Attention(), ctypes.c_size_t(), ctypes.c_void_p()
    library.sawtooth_attention_init(ctypes.byref(call), ctypes.c_size_t(ctypes.sizeof(call)))
    if call.version != API_VERSION:
        raise RuntimeError(f"the library has version {call.version} of the API, not {API_VERSION}")
    o = torch.empty_like(q) if o is None else o
    if lengths is None:
        call.batch, call.heads, call.seq_q, call.head_dim = q.shape
        call.kv_heads, call.seq_kv = k.shape[1:3]
    else:
        call.heads, call.head_dim = q.shape[1:]
        call.batch, call.kv_heads = len(lengths), k.shape[1]
        rows = (ctypes.c_int32 * (len(lengths) + 1))(0, *itertools.accumulate(lengths))
        call.packed_q = call.packed_kv = rows
    call.dtype = DTYPES[str(q.dtype).removeprefix("torch.")]
    call.mask, call.workspace_starts_zero = MASKS[causal], 1
    call.q, call.k, call.v, call.o = (tensor.data_ptr() for tensor in (q, k, v, o))
    for field, value in named.items():
        setattr(call, field, value.encode() if isinstance(value, str) else value)
    require(library.sawtooth_attention_workspace_bytes(ctypes.byref(call), ctypes.byref(size)))
    workspace = torch.zeros(size.value, device="cuda", dtype=torch.uint8)
    torch.cuda.synchronize()
    place = ctypes.c_void_p(workspace.data_ptr())
    require(library.sawtooth_plan_create(ctypes.byref(call), place, size, ctypes.byref(plan)))

    def launch(kept=(q, k, v, workspace)):  # the plan has their addresses
        require(library.sawtooth_plan_run(plan, torch.cuda.current_stream().cuda_stream))
        return o

    return launch
