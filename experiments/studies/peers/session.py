"""A run of peers on this machine: PyTorch, checked launches, their times, their rows, exit codes."""

import argparse
import importlib
import shutil
import statistics
import sys

import kernels
import lib_path  # noqa: F401  (makes plots/lib importable)
import measures
import rows as results
import shapes as shaping

LARGEST_DIFFERENCE = 1e-2  # of two outputs in 16 bits, relative, as a norm
LARGEST_FP32_DIFFERENCE = 1e-5


class Missing(RuntimeError):
    """torch or a GPU is missing; the text says which."""


def parser(description, peers, **more):
    """A parser of shapes, --peers, --gpu and further options {name: keywords}."""
    form = argparse.RawDescriptionHelpFormatter
    made = argparse.ArgumentParser(description=description, formatter_class=form)
    shaping.add_options(made)
    kind = shaping.listed(shaping.one_of(*kernels.PEERS))
    made.add_argument("--peers", type=kind, default=peers, help=f"default: {','.join(peers)}")
    made.add_argument("--gpu", default="h200", help="name of the gpu column and of the profile")
    for name, keywords in more.items():
        made.add_argument("--" + name.replace("_", "-"), **keywords)
    return made


def run(name, options, work):
    """Exit code of work(options, note): 2, with one line, where --sawtooth is no program or a file
    cannot be used, 3 where torch or a GPU is missing."""

    def note(text):
        print(f"{name}: {text}", file=sys.stderr, flush=True)

    if options.sawtooth and not shutil.which(options.sawtooth):
        note(f"--sawtooth: {options.sawtooth} is no program; build it first")
        return 2
    try:
        return work(options, note)
    except Missing as error:
        note(str(error))
        return 3
    except OSError as error:
        note(f"{error.filename}: {error.strerror}")
        return 2


def torch_with_gpu():
    try:
        torch = importlib.import_module("torch")
    except ImportError as error:
        raise Missing(f"PyTorch cannot be imported ({error}); install torch") from error
    if not torch.cuda.is_available():
        raise Missing("PyTorch sees no GPU; run this on a machine with one")
    return torch


def inputs(torch, shape):
    """Random Q, K and V of a fixed seed: zeros would be faster than anything real."""
    torch.manual_seed(1)
    types = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}
    size = (shape.batch, shape.heads, shape.seq, shape.head_dim)
    return [torch.randn(size, device="cuda", dtype=types[shape.dtype]) for _ in range(3)]


def prepared(torch, shape, name, tensors=None):
    """A peer's launch on these Q, K and V, or on new ones."""
    tensors = tensors or inputs(torch, shape)
    peer = kernels.PEERS[name]
    prepare = peer.prepare_backward if shape.is_backward() else peer.prepare
    return prepare(torch, *tensors, shape.mask == "causal")


def refusal(shape, name):
    """Why the peer cannot run the shape, or an empty text."""
    peer = kernels.PEERS[name]
    if shape.is_backward() and peer.prepare_backward is None:
        return "has no backward pass here"
    return peer.refusal(shape)


def time_us(torch, launch):
    """Duration of one launch, by CUDA events; of a short one, its time on the CPU may count (burst.py)."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    launch()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1000


def difference(a, b):
    """Of two outputs, or the greatest of two equally long rows of them."""
    if isinstance(a, (tuple, list)):
        return max(difference(one, other) for one, other in zip(a, b, strict=True))
    return float((a.float() - b.float()).norm() / b.float().norm())


def ready_launches(torch, shape, names, note):
    """(name -> launch of the peers that run this shape, name -> reason of the others). The first that
    runs is the yardstick of the others' outputs."""
    tensors = inputs(torch, shape)
    launches, reasons, yardstick = {}, {}, None
    for name in names:
        reason = refusal(shape, name)
        try:
            if not reason:
                launch = prepared(torch, shape, name, tensors)
                output = launch()
                torch.cuda.synchronize()
        except Exception as error:  # back ends refuse with many kinds of error
            reason = f"{type(error).__name__}: {str(error).splitlines()[0]}"
        if not reason and yardstick is not None:
            off = difference(output, yardstick)
            allowed = LARGEST_FP32_DIFFERENCE if shape.dtype == "fp32" else LARGEST_DIFFERENCE
            if not off <= allowed:
                reason = f"output differs from the first peer's by {off:.1e}"
        if reason:
            note(f"{shape.text()}: {name}: {reason}")
            reasons[name] = reason.replace(",", ";")
            continue
        yardstick = output if yardstick is None else yardstick
        launches[name] = launch
    return launches, reasons


def all_correct(reasons):
    return not any("differs" in reason for reason in reasons.values())


def row(shape, name, gpu, **cells):
    system = kernels.PEERS[name].system
    if system and shape.is_backward():
        system += "-backward"
    return results.row(shape, name, system, gpu, **cells)


def peer_rows(options, shape, times, reasons, state, note):
    """A row a launch of every peer, or one with the reason why it did not run."""
    for name in options.peers:
        if name in reasons:
            yield row(shape, name, options.gpu, status=reasons[name])
            continue
        for turn, value in enumerate(times[name]):
            yield row(shape, name, options.gpu, repetition=turn, time_us=value, state=state)
        middle = statistics.median(times[name])
        speed = measures.tflops(shape.flop(), middle)
        note(f"{shape.text()}: {name}: {middle:.1f} us, {speed:.1f} TFLOP/s")
