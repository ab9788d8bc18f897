#!/usr/bin/env python3
"""The kernels behind PyTorch's autograd, checked against gradients in double precision.

    autograd.py    needs a GPU, PyTorch and the Python package with kernels (README.md, "On a GPU")

Prints the worst relative error of dQ, dK and dV (Frobenius norm of the difference over that of the
gradient); ends with 1 where one is above the bound, and with 3 without a GPU.
"""

import math
import sys

BOUNDS = {"bfloat16": 1e-2, "float16": 2e-3, "float32": 1e-4}
SHAPES = (  # batch, heads, K/V heads, queries, keys, head dim
    (2, 4, 4, 300, 300, 64),
    (1, 8, 2, 257, 129, 64),
    (1, 4, 1, 512, 512, 128),
    (1, 2, 2, 100, 700, 128),
)


def attention_function(torch, sawtooth):
    """torch.autograd.Function of sawtooth.attention."""

    class Attention(torch.autograd.Function):
        @staticmethod
        def forward(ctx, q, k, v, causal=False):
            q, k, v = (tensor.detach() for tensor in (q, k, v))
            out, lse = sawtooth.attention(q, k, v, causal=causal, lse=True)
            ctx.save_for_backward(q, k, v, out, lse)
            ctx.causal = causal
            return out

        @staticmethod
        def backward(ctx, grad_out):
            gradients = sawtooth.attention_backward(grad_out, *ctx.saved_tensors, causal=ctx.causal)
            return (*gradients, None)

    return Attention


def reference(torch, q, k, v, causal):
    k, v = (tensor.repeat_interleave(q.shape[1] // k.shape[1], 1) for tensor in (k, v))
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if causal:
        rows, keys = scores.shape[-2:]
        seen = torch.ones(rows, keys, device=q.device).tril(keys - rows).bool()
        scores = scores.masked_fill(~seen, -math.inf)
    return scores.softmax(-1) @ v


def errors(torch, attention, shape, dtype, causal):
    """Relative errors of dQ, dK and dV on random inputs."""
    batch, heads, kv_heads, queries, keys, dim = shape
    sizes = [(batch, heads, queries, dim)] + 2 * [(batch, kv_heads, keys, dim)]
    given = [torch.randn(*size, device="cuda", dtype=dtype, requires_grad=True) for size in sizes]
    exact = [tensor.detach().double().requires_grad_() for tensor in given]
    grad_out = torch.randn(*sizes[0], device="cuda", dtype=dtype)
    attention.apply(*given, causal).backward(grad_out)
    reference(torch, *exact, causal).backward(grad_out.double())
    return [
        ((one.grad.double() - other.grad).norm() / other.grad.norm()).item()
        for one, other in zip(given, exact)
    ]


def main():
    try:
        import sawtooth
        import torch
    except ImportError as error:
        sys.exit(f"autograd.py: {error}")
    if not torch.cuda.is_available():
        print("autograd.py: no GPU", file=sys.stderr)
        return 3
    torch.manual_seed(1)
    attention = attention_function(torch, sawtooth)
    failed = False
    for name, bound in BOUNDS.items():
        worst = [0.0, 0.0, 0.0]
        for shape in SHAPES:
            for causal in (False, True):
                if causal and shape[3] > shape[4]:
                    continue  # rows without a key: softmax of nothing has no gradient in PyTorch
                found = errors(torch, attention, shape, getattr(torch, name), causal)
                worst = [max(one, other) for one, other in zip(worst, found)]
        failed |= not all(error <= bound for error in worst)
        cells = ", ".join(f"{of} {error:.1e}" for of, error in zip(("dQ", "dK", "dV"), worst))
        print(f"{name}: worst relative errors {cells}; allowed {bound:.0e}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
