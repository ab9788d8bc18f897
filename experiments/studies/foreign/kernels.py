"""Attention kernels of others as launches: PyTorch's back ends, Triton, FlashInfer."""

import ctypes
import math
import os
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "speed"))
import backends  # noqa: E402  (the path above leads to it)

FLASHINFER = "SAWTOOTH_FLASHINFER"  # environment variable: the library of flashinfer_prefill.cu


def sdpa(name):
    return lambda torch, q, k, v, mask: backends.forward(torch, name, q, k, v, mask)


def triton(torch, q, k, v, mask):
    from triton_attention import attention

    o = torch.empty_like(q)
    lse = torch.empty(q.shape[:3], device="cuda", dtype=torch.float32)
    return lambda: attention(q, k, v, o, lse, mask == "causal")


def flashinfer(torch, q, k, v, mask):
    """One request, bf16, head dim 64 or 128."""
    if not os.environ.get(FLASHINFER):
        raise RuntimeError(f"{FLASHINFER} names no library of flashinfer_prefill.cu")
    library = ctypes.CDLL(os.environ[FLASHINFER])
    _, heads, length, head_dim = q.shape
    o = torch.empty(length, heads, head_dim, device=q.device, dtype=q.dtype)
    tensors = [ctypes.c_void_p(tensor.data_ptr()) for tensor in (q, k, v, o)]
    scale = ctypes.c_float(1 / math.sqrt(head_dim))

    def launch():
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        shape = heads, length, head_dim, int(mask == "causal"), scale
        if code := library.flashinfer_prefill(*tensors, *shape, stream):
            raise RuntimeError(f"flashinfer_prefill: CUDA error {code}")

    return launch


KERNELS = {name: sdpa(name) for name in backends.PEERS}
KERNELS |= {"triton": triton, "flashinfer": flashinfer}
