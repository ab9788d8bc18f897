"""Kernels of attention as launches that are timed in shuffled rounds: PyTorch's back ends, packages of
others, and ours. bench() and experiments/studies use it; it needs nothing but the standard library."""

import importlib
import random
import statistics
from collections import namedtuple

PEERS = {
    "sdpa-flash": "FLASH_ATTENTION",  # FlashAttention-2
    "sdpa-cudnn": "CUDNN_ATTENTION",
    "sdpa-efficient": "EFFICIENT_ATTENTION",  # the one that takes fp32
}
PACKAGES = {"flash-attn": "flash_attn", "flash-attn-3": "flash_attn_interface"}
OURS = "sawtooth"
BURST_US = 1000  # long beside the resolution of events
LONG_LAUNCH_US = 5000  # a longer one needs no launch in front
# The largest difference of two outputs, relative, as a norm.
LARGEST_DIFFERENCE = {"bf16": 1e-2, "fp16": 1e-2, "fp32": 1e-5}
SUFFIXES = {"K": 1 << 10, "M": 1 << 20}

Shape = namedtuple("Shape", "dtype batch heads kv_heads seq_kv head_dim mask")
FIRST_SLEEP_CYCLES = 1_000_000  # 0.5 ms at 2 GHz
MOST_SLEEP_CYCLES = 1_000_000_000


def count(text):
    """8192 of 8K."""
    text = str(text)
    return int(text[:-1]) * SUFFIXES[text[-1]] if text[-1:] in SUFFIXES else int(text)


def width(text):
    """128, or "192/128": elements of a row of Q and K, and of V and O."""
    of_q, mark, of_v = str(text).partition("/")
    return f"{int(of_q)}/{int(of_v)}" if mark else int(of_q)


def torch_with_gpu():
    """(PyTorch, "") or (None, what is missing)."""
    try:
        import torch
    except ImportError as error:
        return None, f"PyTorch cannot be imported: {error}"
    return (torch, "") if torch.cuda.is_available() else (None, "PyTorch sees no GPU")


def forward(torch, name, q, k, v, mask="none"):
    """A launch that returns its output; tensors are [batch, heads, length, dim]."""
    causal = mask == "causal"
    if name in PACKAGES:
        call = importlib.import_module(PACKAGES[name]).flash_attn_func
        across = [tensor.transpose(1, 2) for tensor in (q, k, v)]

        def launch():
            made = call(*across, causal=causal)  # of FlashAttention-3 with more behind it
            return (made[0] if isinstance(made, tuple) else made).transpose(1, 2)

        return launch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    wanted, call = (
        getattr(SDPBackend, PEERS[name]),
        torch.nn.functional.scaled_dot_product_attention,
    )
    more = {} if q.shape[1] == k.shape[1] else {"enable_gqa": True}

    def launch():
        with sdpa_kernel(wanted):
            return call(q, k, v, is_causal=causal, **more)

    return launch


def backward(torch, name, q, k, v, mask, gradient):
    """A launch of the whole backward pass that returns dQ, dK and dV."""
    inputs = [tensor.detach().requires_grad_() for tensor in (q, k, v)]
    output = forward(torch, name, *inputs, mask)()
    return lambda: torch.autograd.grad(output, inputs, gradient, retain_graph=True)


class NeverQueued(RuntimeError):
    """A launch waits for the GPU, so that no sleep is long enough."""


class Burst:
    """Launches whose time is the GPU's alone. One of PyTorch's takes the CPU as long as a short kernel
    runs, so the GPU sleeps until the whole burst is queued; a burst that began earlier is thrown away.
    The launch in front of a short one is of the same kind: each contender finds L2 as it leaves it.
    """

    def __init__(self, torch, launch, launches, behind_another):
        self.torch_, self.launch_ = torch, launch
        self.launches_, self.behind_another_ = launches, behind_another
        self.sleep_cycles_ = FIRST_SLEEP_CYCLES

    def time_us(self):
        """Mean duration of the launches, by CUDA events."""
        while self.sleep_cycles_ <= MOST_SLEEP_CYCLES:
            total_us, queued = self.once()
            if queued:
                return total_us / self.launches_
            self.sleep_cycles_ *= 2
        raise NeverQueued("a launch waits for the GPU: its time on the CPU cannot be left out")

    def once(self):
        """(microseconds of all launches, whether all were queued while the GPU slept)."""
        cuda = self.torch_.cuda
        awake, begin, end = (cuda.Event(enable_timing=True) for _ in range(3))
        cuda._sleep(self.sleep_cycles_)
        awake.record()
        if self.behind_another_:
            self.launch_()
        begin.record()
        for _ in range(self.launches_):
            self.launch_()
        end.record()
        queued = not awake.query()
        end.synchronize()
        return begin.elapsed_time(end) * 1000, queued


THEIRS = {"forward": forward, "backward": backward}


def launches_of(torch, of_pass, shape, peers, ours):
    """({name: launch} of those that run and are right, {name: reason} of the others). `ours` has
    functions by pass of torch, q, k, v, mask, and for backward the gradient of the output."""
    torch.manual_seed(1)  # zeros would be faster than anything real
    kind = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}[shape.dtype]
    of_q, *of_v = map(int, str(shape.head_dim).split("/"))
    widths = (of_q, of_q, *2 * (of_v or [of_q]))
    counts = (shape.heads, shape.kv_heads, shape.kv_heads, shape.heads)
    sizes = [(shape.batch, n, shape.seq_kv, dim) for n, dim in zip(counts, widths, strict=True)]
    q, k, v, gradient = (torch.randn(size, device="cuda", dtype=kind) for size in sizes)
    more = (gradient,) if of_pass == "backward" else ()
    launches, reasons, yardstick = {}, {}, None
    for name in (*peers, OURS):
        try:
            if name == OURS:
                launch = ours[of_pass](torch, q, k, v, shape.mask, *more)
            else:
                launch = THEIRS[of_pass](torch, name, q, k, v, shape.mask, *more)
            output = launch()
            torch.cuda.synchronize()
        except Exception as error:  # back ends refuse with many kinds of error
            reasons[name] = f"{type(error).__name__}: {str(error).splitlines()[0]}".replace(
                ",", ";"
            )
            continue
        output = output if isinstance(output, (tuple, list)) else (output,)
        if yardstick is None:
            yardstick = [tensor.clone() for tensor in output]
        off = max(difference(*pair) for pair in zip(output, yardstick, strict=True))
        if off <= LARGEST_DIFFERENCE[shape.dtype]:
            launches[name] = launch
        else:
            reasons[name] = f"output differs from the first peer's by {off:.1e}"
    return launches, reasons


def difference(a, b):
    return float((a.float() - b.float()).norm() / b.float().norm())


def burst_of(torch, launch):
    warm = [Burst(torch, launch, 1, False).time_us() for _ in range(2)][-1]
    return Burst(torch, launch, max(1, int(BURST_US / warm)), warm < LONG_LAUNCH_US)


def raced(bursts, rounds, seed):
    """{name: time of each round} of {name: burst}, shuffled anew in every round."""
    times, turns, shuffled = {name: [] for name in bursts}, list(bursts), random.Random(seed)
    for _ in range(rounds):
        shuffled.shuffle(turns)
        for name in turns:
            times[name].append(bursts[name].time_us())
    return times


def raced_rows(torch, of_pass, shape, peers, ours, rounds, interval, **known):
    """The rows of one shape, after launches of each contender that are not counted. Ratios are to the
    first of `peers` that runs."""
    launches, reasons = launches_of(torch, of_pass, shape, peers, ours)
    bursts = {name: burst_of(torch, launch) for name, launch in launches.items()}
    times = raced(bursts, rounds, str(shape))
    known.update({"pass": of_pass, **shape._asdict()})
    peer = next((name for name in peers if name in times), peers[0])
    return list(rows_of(times, reasons, peer, interval, **known))


def rows_of(times, reasons, peer, interval, **known):
    """A row a contender; one that did not run has its reason. `interval` gives median, low and high."""
    for name, own in times.items():
        row = dict(known, contender=name, peer=peer, rounds=len(own), status="ok")
        row["time_us"] = f"{statistics.median(own):.2f}"
        if peer in times:
            ratios = interval([b / a for a, b in zip(own, times[peer])])
            row.update(zip(("ratio", "ratio_low", "ratio_high"), map("{:.4f}".format, ratios)))
        yield row
    for name, reason in reasons.items():
        yield dict(known, contender=name, peer=peer, status=reason)
