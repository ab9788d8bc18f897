"""Launches the cubins of cutile_attention.py through the CUDA driver; cuda.tile is not needed here.

Parameters of a cubin (calling convention cutile_python_v1): an array is its address, its shape and
its strides, 32 bits each; constants are compiled in. A tile kernel's block is chosen by its compiler
and given as 1 x 1 x 1.
"""

import ctypes
import math
import os

import cutile_attention as source

FOLDER = "SAWTOOTH_CUTILE"  # environment variable: the folder of the cubins
LOG2_E = math.log2(math.e)


class DriverError(RuntimeError):
    """A call of the CUDA driver that failed; the text names it and the driver's code."""


def call(name, *arguments):
    code = getattr(ctypes.CDLL("libcuda.so.1"), name)(*arguments)
    if code != 0:
        raise DriverError(f"{name}: CUDA driver error {code}")


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


def load(path):
    """The kernel of a cubin, in the context that is current (torch's)."""
    with open(path, "rb") as file:
        image = file.read()
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    call("cuModuleLoadData", ctypes.byref(module), image)
    call("cuModuleGetFunction", ctypes.byref(function), module, source.SYMBOL.encode())
    return function


def prepare(torch, q, k, v, causal):
    head_dim = q.shape[-1]
    name = source.cubin_name(head_dim, "causal" if causal else "none")
    function = load(os.path.join(os.environ[FOLDER], name))
    o = torch.empty_like(q)
    parameters = [p for tensor in (q, k, v, o) for p in array_parameters(tensor)]
    parameters.append(ctypes.c_float(LOG2_E / math.sqrt(head_dim)))
    addresses = (ctypes.c_void_p * len(parameters))(*map(ctypes.addressof, parameters))
    heads = q.shape[0] * q.shape[1]
    grid = q.shape[2] // source.TILE_Q, heads, 1

    def launch():
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        call("cuLaunchKernel", function, *grid, 1, 1, 1, 0, stream, addresses, None)
        launch.keep = parameters  # the driver reads them through `addresses`
        return o

    return launch
