"""Launches FlashInfer's prefill kernel from the library of flashinfer_prefill.cu; its package is not needed."""

import ctypes
import math
import os

LIBRARY = "SAWTOOTH_FLASHINFER"  # environment variable: libflashinfer_prefill.so


def refusal(shape):
    """Why the kernel does not run a shape; empty if it does."""
    if not os.environ.get(LIBRARY):
        return (
            f"{LIBRARY} does not name a library (experiments/studies/peers/flashinfer_prefill.cu)"
        )
    if shape.dtype != "bf16" or shape.head_dim not in (64, 128) or shape.batch != 1:
        return "the FlashInfer kernel is compiled for one request, bf16, head dim 64 and 128"
    return ""


def prepare(torch, q, k, v, causal):
    library = ctypes.CDLL(os.environ[LIBRARY])
    batch, heads, length, head_dim = q.shape
    if batch != 1:
        raise ValueError("one request")
    o = torch.empty(length, heads, head_dim, device=q.device, dtype=q.dtype)
    tensors = [ctypes.c_void_p(tensor.data_ptr()) for tensor in (q, k, v, o)]
    scale = ctypes.c_float(1 / math.sqrt(head_dim))

    def launch():
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        code = library.flashinfer_prefill(
            *tensors, heads, length, head_dim, int(causal), scale, stream
        )
        if code != 0:
            raise RuntimeError(f"flashinfer_prefill: CUDA error {code}")
        return o.permute(1, 0, 2)[None]

    return launch
