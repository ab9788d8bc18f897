"""This project's kernels by plain calls of the C API, which name no schedule, no tile and no kernel.

$SAWTOOTH_LIBRARY is the path of libsawtooth_kernels.so (a build with -DBUILD_SHARED_LIBS=ON).
"""

import ctypes
import os

LIBRARY = "SAWTOOTH_LIBRARY"
OK, API_VERSION = 0, 1
DTYPES = {"bfloat16": 0, "float16": 1, "float32": 2}
MASKS = {"none": 0, "causal": 1}


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
        + [("head_dim_v", ctypes.c_int32)]
    )


class Gradients(ctypes.Structure):
    """sawtooth_gradients of the same header."""

    _fields_ = (
        [("struct_size", ctypes.c_uint32), ("version", ctypes.c_uint32)]
        + [(name, ctypes.c_void_p) for name in "d_o dq dk dv".split()]
        + [(f"{name}_strides", ctypes.c_int64 * 3) for name in "d_o dq dk dv".split()]
        + [("dq_additions", ctypes.c_char_p)]
    )


class Library:
    def __init__(self):
        path = os.environ.get(LIBRARY, "")
        if not os.path.isfile(path):
            raise RuntimeError(f"${LIBRARY} names no file")
        self.functions_ = ctypes.CDLL(path)
        self.functions_.sawtooth_last_message.restype = ctypes.c_char_p

    def require(self, function, *arguments):
        """Calls sawtooth_FUNCTION; raises RuntimeError with the library's words."""
        if getattr(self.functions_, f"sawtooth_{function}")(*arguments) != OK:
            raise RuntimeError(self.functions_.sawtooth_last_message().decode())

    def started(self, structure, function):
        made = structure()
        size = ctypes.c_size_t(ctypes.sizeof(made))
        getattr(self.functions_, f"sawtooth_{function}_init")(ctypes.byref(made), size)
        if made.version != API_VERSION:
            raise RuntimeError(f"the library has version {made.version} of the API")
        return made


def call_of(torch, library, q, k, v, o, mask):
    """The call; tensors are [batch, heads, length, dim]."""
    call = library.started(Attention, "attention")
    call.batch, call.heads, call.seq_q, call.head_dim = q.shape
    call.kv_heads, call.seq_kv = k.shape[1:3]
    call.head_dim_v = v.shape[3]
    call.dtype = DTYPES[str(q.dtype).removeprefix("torch.")]
    call.mask, call.workspace_starts_zero = MASKS[mask], 1
    call.q, call.k, call.v, call.o = (tensor.data_ptr() for tensor in (q, k, v, o))
    return call


def workspace_of(torch, library, function, *structures):
    """(tensor, address, bytes)"""
    size = ctypes.c_size_t()
    library.require(function, *map(ctypes.byref, structures), ctypes.byref(size))
    workspace = torch.zeros(size.value, device="cuda", dtype=torch.uint8)
    torch.cuda.synchronize()
    return workspace, ctypes.c_void_p(workspace.data_ptr()), size


def stream(torch):
    return ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)


def forward(torch, q, k, v, mask):
    """A launch that returns its output."""
    library, o = Library(), q.new_empty((*q.shape[:3], v.shape[3]))
    call, plan = call_of(torch, library, q, k, v, o, mask), ctypes.c_void_p()
    workspace, place, size = workspace_of(torch, library, "attention_workspace_bytes", call)
    library.require("plan_create", ctypes.byref(call), place, size, ctypes.byref(plan))

    def launch(kept=(q, k, v, workspace)):  # the plan has their addresses
        library.require("plan_run", plan, stream(torch))
        return o

    return launch


def backward(torch, q, k, v, mask, gradient):
    """A launch of the whole backward pass that returns dQ, dK and dV."""
    library, o = Library(), torch.empty_like(q)
    lse = torch.empty(q.shape[:3], device="cuda", dtype=torch.float32)
    call = call_of(torch, library, q, k, v, o, mask)
    call.lse = lse.data_ptr()
    first, place, size = workspace_of(torch, library, "attention_workspace_bytes", call)
    library.require("attention_forward", ctypes.byref(call), place, size, stream(torch))
    made = [torch.empty_like(tensor) for tensor in (q, k, v)]
    gradients = library.started(Gradients, "gradients")
    gradients.d_o = gradient.data_ptr()
    gradients.dq, gradients.dk, gradients.dv = (tensor.data_ptr() for tensor in made)
    both = ctypes.byref(call), ctypes.byref(gradients)
    kept, place, size = workspace_of(torch, library, "backward_workspace_bytes", call, gradients)

    def launch(tensors=(q, k, v, o, lse, gradient, first, kept)):
        library.require("attention_backward", *both, place, size, stream(torch))
        return made

    return launch
