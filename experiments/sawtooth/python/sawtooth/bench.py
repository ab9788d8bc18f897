"""bench(): our kernels beside those of PyTorch and of packages that are installed, on this GPU."""

from __future__ import annotations

import importlib.util
import itertools
import statistics
from typing import Any

from . import contenders
from .kernels import DeviceError, attention, attention_backward, require_kernels
from .simulation import UsageError, values_of
from .table import Table, row_of

_COLUMNS = ("gpu", "pass", *contenders.Shape._fields, "contender", "peer", "rounds", "time_us")
_COLUMNS += ("ratio", "ratio_low", "ratio_high", "status")
_ALLOWED = {
    "mask": ("none", "causal"),
    "dtype": ("bf16", "fp16", "fp32"),
    "pass_": ("forward", "backward"),
}


def _forward(torch: Any, q: Any, k: Any, v: Any, mask: str) -> Any:
    return lambda: attention(q, k, v, causal=mask == "causal")


def _backward(torch: Any, q: Any, k: Any, v: Any, mask: str, gradient: Any) -> Any:
    causal = mask == "causal"
    out, lse = attention(q, k, v, causal=causal, lse=True)
    return lambda: attention_backward(gradient, q, k, v, out, lse, causal=causal)


OURS = {"forward": _forward, "backward": _backward}


def _count(name: str, value: Any) -> Any:
    try:
        if name == "head_dim" and "/" in str(value):
            return contenders.width(value)
        if (value is None and name == "kv_heads") or contenders.count(value) > 0:
            return value and contenders.count(value)
    except ValueError:
        pass
    raise UsageError(f"{name} is {value!r}; allowed: a count such as 8192 or 8K")


def bench(
    *,
    batch: Any = 1,
    heads: Any = 16,
    kv_heads: Any = None,
    seq: Any = "8K",
    head_dim: Any = 128,
    mask: Any = "causal",
    dtype: Any = "bf16",
    pass_: Any = "forward",
    rounds: int = 9,
) -> Table:
    """Times plain calls of attention(), or with pass_ "backward" of attention_backward(), beside PyTorch's
    back ends and the packages flash_attn and flash_attn_interface where they are installed.

    A list of values is an axis; `kv_heads` are `heads` by default. In each of `rounds` every contender
    runs a burst of about a millisecond, in an order that is shuffled anew. A row is a contender on a
    shape: its median `time_us`; `ratio` is the time of `peer`, the first back end that runs, over its
    own in the same round (median, least and most), above 1 where it is faster; in `status` why it did
    not run, or that its output differs.

    Raises DeviceError without PyTorch, a GPU or the kernels, UsageError for other values.
    """
    axes = {name: values_of(axis) for name, axis in locals().items() if name != "rounds"}
    for name, given in axes.items():
        allowed = _ALLOWED.get(name)
        for value in given:
            if allowed and value not in allowed:
                raise UsageError(f"{name} is {value!r}; allowed: {', '.join(allowed)}")
        axes[name] = given if allowed else [_count(name, value) for value in given]
    torch, missing = contenders.torch_with_gpu()
    if not torch:
        raise DeviceError(f"bench: {missing}")
    require_kernels()
    spread = lambda values: (statistics.median(values), min(values), max(values))  # noqa: E731
    packages = [name for name, of in contenders.PACKAGES.items() if importlib.util.find_spec(of)]
    rows = []
    for *counts, rows_kv, dim, of_mask, of_type, of_pass in itertools.product(*axes.values()):
        counts[2] = counts[2] or counts[1]
        shape = contenders.Shape(of_type, *counts, rows_kv, dim, of_mask)
        peers = ["sdpa-efficient"] if of_type == "fp32" else ["sdpa-cudnn", "sdpa-flash", *packages]
        known = (torch, of_pass, shape, peers, OURS, rounds, spread)
        rows += contenders.raced_rows(*known, gpu=torch.cuda.get_device_name())
    texts = ([str(row.get(name, "")) for name in _COLUMNS] for row in rows)
    return Table(_COLUMNS, (row_of(_COLUMNS, cells) for cells in texts))
