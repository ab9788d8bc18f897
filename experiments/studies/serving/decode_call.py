"""Decode calls of this project by the C API, for the scripts of this study.

The path of libsawtooth_kernels.so is given (a build with -DBUILD_SHARED_LIBS=ON).
"""

import ctypes

DTYPES = {"bf16": 0, "fp16": 1}


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
        + [("drawn_percent", ctypes.c_int32), ("drawn_shares", ctypes.c_int32)]
    )


class Library:
    """The calls of one libsawtooth_kernels.so on PyTorch's tensors."""

    def __init__(self, torch, path):
        self.torch = torch
        self.library = ctypes.CDLL(path)
        self.library.sawtooth_last_message.restype = ctypes.c_char_p
        self.library.sawtooth_decode_plan_run.argtypes = [ctypes.c_void_p, ctypes.c_void_p]

    def require(self, status):
        if status != 0:
            raise RuntimeError(self.library.sawtooth_last_message().decode())

    def prepare(self, q, k, v, o, lengths=None, table=None, keys=None, **named):
        """A launch. q, o: [batch, heads, positions, dim]; k, v: [batch, kv_heads, keys, dim], or
        with a table [sequence, page] [pages, kv_heads, page rows, dim]; by their strides."""
        library, torch = self.library, self.torch
        call, size, plan = Decode(), ctypes.c_size_t(), ctypes.c_void_p()
        library.sawtooth_decode_init(ctypes.byref(call), ctypes.c_size_t(ctypes.sizeof(call)))
        call.batch, call.heads, call.seq_q, call.head_dim = q.shape
        call.kv_heads = k.shape[1]
        call.dtype = DTYPES["bf16" if q.dtype == torch.bfloat16 else "fp16"]
        call.workspace_starts_zero = 1
        call.seq_kv = keys or k.shape[2]
        for name, tensor in zip("qkvo", (q, k, v, o)):
            setattr(call, name, tensor.data_ptr())
            setattr(call, f"{name}_strides", (ctypes.c_int64 * 3)(*tensor.stride()[:3]))
        if lengths is not None:
            call.lengths = lengths.data_ptr()
        if table is not None:
            call.page_table, call.table_stride = table.data_ptr(), table.stride(0)
            call.page_count, call.page_rows = k.shape[0], k.shape[2]
        for field, value in named.items():
            setattr(call, field, value.encode() if isinstance(value, str) else value)
        self.require(
            library.sawtooth_decode_workspace_bytes(ctypes.byref(call), ctypes.byref(size))
        )
        workspace = torch.zeros(size.value, device="cuda", dtype=torch.uint8)
        torch.cuda.synchronize()
        place = ctypes.c_void_p(workspace.data_ptr())
        self.require(
            library.sawtooth_decode_plan_create(ctypes.byref(call), place, size, ctypes.byref(plan))
        )

        def launch(kept=(q, k, v, o, lengths, table, workspace)):  # the plan has their addresses
            self.require(
                library.sawtooth_decode_plan_run(plan, torch.cuda.current_stream().cuda_stream)
            )

        return launch
