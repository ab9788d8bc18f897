"""Launches the cubins of cutile_attention.py through the CUDA driver; cuda.tile is not needed here.

Parameters of a cubin (calling convention cutile_python_v1): an array is its address, its shape and
its strides, 32 bits each; constants are compiled in. A tile kernel's block is chosen by its compiler
and given as 1 x 1 x 1.
"""

import ctypes
import math
import os

import cubin
import cutile_attention as source

FOLDER = "SAWTOOTH_CUTILE"  # environment variable: the folder of the cubins
LOG2_E = math.log2(math.e)


def path_of(shape):
    return os.path.join(os.environ.get(FOLDER, ""), source.cubin_name(shape.head_dim, shape.mask))


def refusal(shape):
    """Why the kernel does not run a shape; empty if it does."""
    if not os.environ.get(FOLDER):
        return f"{FOLDER} does not name a folder of cubins (experiments/studies/peers/cutile_attention.py)"
    if shape.dtype != "bf16" or shape.head_dim not in source.HEAD_DIMS:
        return "the cuTile kernel is compiled for bf16, head dim 64 and 128"
    if shape.seq % source.TILE_Q != 0:
        return f"the cuTile kernel takes lengths in multiples of {source.TILE_Q}"
    if not os.path.exists(path_of(shape)):
        return f"{path_of(shape)} is missing (experiments/studies/peers/cutile_attention.py)"
    return ""


def array_parameters(tensor):
    """Of batch x heads x length x head dim, as (batch x heads) x length x head dim."""
    flat = tensor.view(-1, *tensor.shape[2:])
    sizes = map(ctypes.c_int32, (*flat.shape, *flat.stride()))
    return [ctypes.c_void_p(flat.data_ptr()), *sizes]


def prepare(torch, q, k, v, causal):
    head_dim = q.shape[-1]
    name = source.cubin_name(head_dim, "causal" if causal else "none")
    function = cubin.load(os.path.join(os.environ[FOLDER], name), source.SYMBOL)
    o = torch.empty_like(q)
    parameters = [p for tensor in (q, k, v, o) for p in array_parameters(tensor)]
    parameters.append(ctypes.c_float(LOG2_E / math.sqrt(head_dim)))
    heads = q.shape[0] * q.shape[1]
    grid = q.shape[2] // source.TILE_Q, heads, 1
    run = cubin.launcher(function, grid, (1, 1, 1), 0, parameters)

    def launch():
        run(torch.cuda.current_stream().cuda_stream)
        return o

    return launch
