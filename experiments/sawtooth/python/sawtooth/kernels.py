"""attention() and attention_backward(): the kernels on tensors of PyTorch, CuPy, JAX or any other
library with DLPack."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any, Optional

from .simulation import UsageError

try:
    from . import _attention
except ImportError:  # a build without CUDA
    _attention = None  # type: ignore[assignment]

_CUDA_DEVICES = (2, 13)  # kDLCUDA and kDLCUDAManaged of dlpack.h
# Arguments of both passes that are options of a call by the same name.
_OPTIONS = (
    "causal window scale scan launch q_order section workers kv_split prefetch seed tile_q tile_kv dq"
).split()
_SAME_STREAM = -1  # in the array API's numbers: nothing to wait for
_LEGACY_STREAM = 1  # the default stream in the array API's numbers, where 0 is not allowed


class DeviceError(RuntimeError):
    """No GPU, no kernels in this build, or a launch that failed; the message says which."""


def attention(
    q: Any,
    k: Any,
    v: Any,
    *,
    causal: bool = False,
    window: int = 0,
    scale: Optional[float] = None,
    scan: Optional[str] = None,
    launch: Optional[str] = None,
    q_order: Optional[str] = None,
    section: int = 0,
    workers: int = 0,
    kv_split: int = 0,
    prefetch: int = 0,
    seed: int = 0,
    tile_q: int = 0,
    tile_kv: int = 0,
    kernel: Optional[str] = None,
    lists: Optional[Sequence[Any]] = None,
    out: Any = None,
    lse: bool = False,
    stream: Any = None,
) -> Any:
    """O = softmax(Q K^T * scale + mask) V on tensor cores of a CUDA device, under a schedule.

    `q` is [batch, heads, length, head_dim], `k` and `v` are [batch, kv_heads, length, head_dim], `v`
    perhaps with fewer elements a row than `k` (128 beside 192), all bf16 or all fp16, on one device;
    heads is a multiple of kv_heads (GQA, MQA). They are any objects with `__dlpack__` and may have gaps:
    a row's elements are neighbours, other strides multiples of 8 elements, addresses of 16 bytes. PyTorch's tensors that require a gradient are refused outside of
    torch.no_grad(): attention_backward() is called by hand, or by a torch.autograd.Function.

    `causal`: query i sees key j when j <= i + length of k - length of q. `window`: and of these only the
    last so many, itself included, with or without causal; 0 is no window. `scale` of the scores, 1 / sqrt(head_dim)
    by default.

    `lists`, instead of a mask: (begin, entries) or (begin, entries, spans) without gaps on q's device,
    in tiles of `tile_q` and `tile_kv` rows, which are given too (fastest on Hopper: 128 and 64 at head
    dim 64, 128 and 128 at 128). Q tile t sees the K/V tiles of entries
    begin[t] to begin[t + 1] - 1: twice a tile's number, ascending, plus 1 where some row of the Q tile
    does not see all of its keys, or it has fewer than tile_kv. There row i sees the keys [b, e) of the
    two ranges spans[i] = (b, e, b, e), without spans all. begin is int64, the others int32.

    `scan`, `launch`, `q_order` are names of `sawtooth schedules`; `section` (heads walked together),
    `workers` (CTAs), `kv_split` (parts of the K/V range), `prefetch` (steps, 0 is off), `tile_q` and
    `tile_kv` (rows), `kernel` (mma, mma-tma, hopper). None and 0 are chosen by shape and device.

    Returns O, of q's type and [batch, heads, length, head_dim of v]: `out` where it is given, which is written; else a new tensor of
    q's library, or for libraries without the array API an object with `__dlpack__`. With `lse` returns
    (O, lse): natural logarithms of the sums of exp(scores), fp32 [batch, heads, length].

    Runs on `stream`, behind what produced the tensors: a handle as int, or an object of PyTorch, CuPy
    or with `__cuda_stream__`; by default the current stream of PyTorch or CuPy for their tensors, else
    the default stream. It does not wait, except for results that are not PyTorch's, which are complete.
    PyTorch's tensors may be dropped at once, whatever stream this is. A workspace a device and stream is
    kept for the next call, and one a call that is captured in a CUDA graph, until free_workspaces().

    Raises UsageError (a ValueError) that names the argument and what is allowed, DeviceError where
    this build has no kernels, there is no GPU, or a launch failed.
    """
    if lists is not None and (causal or window or len(lists) not in (2, 3)):
        raise UsageError("lists: allowed: (begin, entries[, spans]), without causal and window")
    of_mask = {f"lists[{i}]": one for i, one in enumerate(lists or ())}
    _check_devices(q=q, k=k, v=v, **of_mask, **({} if out is None else {"out": out}))
    jax = sys.modules.get("jax")
    if jax is not None and isinstance(out, jax.Array):
        raise UsageError("out is an array of JAX, which nothing may write; allowed: None")
    options = _options(locals())
    handle = _handle(q, stream)
    torch = _torch_of(q)
    made_lse = None
    if torch is not None:  # memory of its allocator
        with torch.no_grad():
            if out is None:
                out = torch.empty((*q.shape[:3], v.shape[3]), dtype=q.dtype, device=q.device)
            if lse:
                made_lse = torch.empty(q.shape[:3], dtype=torch.float32, device=q.device)
    used = {"q": q, "k": k, "v": v, "out": out, "lse": made_lse}
    capsules = {n: None if t is None else _capsule(n, t, handle) for n, t in used.items()}
    lists = [_capsule(name, one, handle) for name, one in of_mask.items()]
    status, message, new_out, new_lse = _attention.forward(
        *capsules.values(), lse, options, handle, lists
    )
    _check_status(status, message)
    _keep_until_done([*used.values(), *of_mask.values()], handle)
    output = out if new_out is None else _as_of(q, new_out)
    if not lse:
        return output
    return output, made_lse if new_lse is None else _as_of(q, new_lse)


def attention_backward(
    grad_out: Any,
    q: Any,
    k: Any,
    v: Any,
    out: Any,
    lse: Any,
    *,
    causal: bool = False,
    window: int = 0,
    scale: Optional[float] = None,
    dq: Optional[str] = None,
    scan: Optional[str] = None,
    launch: Optional[str] = None,
    q_order: Optional[str] = None,
    section: int = 0,
    workers: int = 0,
    seed: int = 0,
    tile_q: int = 0,
    tile_kv: int = 0,
    kernel: Optional[str] = None,
    stream: Any = None,
) -> tuple[Any, Any, Any]:
    """The gradients of attention(): dQ, dK and dV, of the shapes and type of q, k and v.

    `grad_out` is the gradient of `out`; `out` and `lse` are what attention(..., lse=True) returned for
    q, k, v and the same `causal`, `window` and `scale`. Tensors, options, stream and errors as there;
    the schedule is that of the backward pass, whose items are K/V tiles: `q_order` and `section` order
    these, `scan` the Q tiles that each of them visits. `dq`: atomic (the default) adds to dQ in any
    order, ordered in one order, so that a call gives the same bits every time.
    """
    tensors = dict(grad_out=grad_out, q=q, k=k, v=v, out=out, lse=lse)
    _check_devices(**tensors)
    options = _options(locals())
    handle = _handle(q, stream)
    torch = _torch_of(q)
    gradients: list[Any] = []
    if torch is not None:  # memory of its allocator
        with torch.no_grad():
            gradients = [torch.empty(t.shape, dtype=t.dtype, device=t.device) for t in (q, k, v)]
            tensors = {name: tensor.detach() for name, tensor in tensors.items()}
    status, message, made = _attention.backward(
        *(_capsule(name, tensor, handle) for name, tensor in tensors.items()),
        [_capsule("a gradient", gradient, handle) for gradient in gradients],
        options,
        handle,
    )
    _check_status(status, message)
    _keep_until_done([*tensors.values(), *gradients], handle)
    if not gradients:
        gradients = [_as_of(q, gradient) for gradient in made]
    return gradients[0], gradients[1], gradients[2]


def free_workspaces() -> None:
    """Frees the device memory that calls keep, once the work of its devices is done. Graphs of calls
    before must not run any more."""
    if _attention is not None:
        _attention.free_workspaces()


def require_kernels() -> None:
    """Raises DeviceError where this build has none."""
    if _attention is None:
        raise DeviceError(
            "this build has no kernels; install it with "
            "pip install . -C cmake.define.SAWTOOTH_CUDA=ON, which needs nvcc"
        )


def _options(given: dict[str, Any]) -> Any:
    scale = given["scale"]
    if scale is not None and not scale > 0:
        raise UsageError(f"scale is {scale}; allowed: above 0")
    require_kernels()
    options = _attention.Options()
    for name in _OPTIONS:
        if given.get(name) is not None:
            setattr(options, name, given[name])
    options.family = given["kernel"]
    return options


def _check_status(status: int, message: str) -> None:
    if status in (_attention.no_device, _attention.launch_failed):
        raise DeviceError(message)
    if status != 0:
        raise UsageError(message)


def _check_devices(**tensors: Any) -> None:
    for name, tensor in tensors.items():
        if not hasattr(tensor, "__dlpack__") or not hasattr(tensor, "__dlpack_device__"):
            kind = type(tensor).__name__
            raise UsageError(f"{name} is a {kind}; allowed: objects with __dlpack__")
        if int(tensor.__dlpack_device__()[0]) not in _CUDA_DEVICES:
            raise UsageError(f"{name} is not on a CUDA device; allowed: tensors on a CUDA device")


def _torch_of(tensor: Any) -> Any:
    torch = sys.modules.get("torch")
    return torch if torch is not None and isinstance(tensor, torch.Tensor) else None


def _handle(q: Any, stream: Any) -> int:
    if stream is None:
        torch, cupy = _torch_of(q), sys.modules.get("cupy")
        if torch is not None:
            stream = torch.cuda.current_stream(q.device)
        elif cupy is not None and isinstance(q, cupy.ndarray):
            stream = cupy.cuda.get_current_stream()
        else:
            return 0
    if hasattr(stream, "__cuda_stream__"):
        stream = stream.__cuda_stream__()[1]
    for name in ("cuda_stream", "ptr"):  # PyTorch's and CuPy's
        stream = getattr(stream, name, stream)
    if not isinstance(stream, int) or stream < 0:
        raise UsageError(f"stream is {stream!r}; allowed: a handle, or a stream of PyTorch or CuPy")
    return stream


def _capsule(name: str, tensor: Any, handle: int) -> Any:
    """Its memory; work on the stream comes after what its library has enqueued on it."""
    torch = _torch_of(tensor)
    if torch is not None and tensor.requires_grad:
        if torch.is_grad_enabled():
            raise UsageError(
                f"{name} requires a gradient, which is not tracked here; allowed: {name}.detach(), "
                "or any tensor under torch.no_grad()"
            )
        tensor = tensor.detach()
    stream = handle or _LEGACY_STREAM
    if torch is not None and torch.cuda.current_stream(tensor.device).cuda_stream == handle:
        stream = _SAME_STREAM  # PyTorch would enqueue an event and a wait for it
    try:
        return tensor.__dlpack__(stream=stream)
    except BufferError as error:
        raise UsageError(f"{name} cannot be handed over by DLPack: {error}") from None


def _keep_until_done(tensors: Iterable[Any], handle: int) -> None:
    """PyTorch's allocator knows a tensor's own stream alone."""
    for tensor in tensors:
        torch = _torch_of(tensor)
        if torch is not None and torch.cuda.current_stream(tensor.device).cuda_stream != handle:
            tensor.record_stream(torch.cuda.ExternalStream(handle, device=tensor.device))


def _as_of(q: Any, made: Any) -> Any:
    cupy = sys.modules.get("cupy")
    if cupy is not None and isinstance(q, cupy.ndarray):
        return cupy.from_dlpack(made)
    if hasattr(q, "__array_namespace__"):
        return q.__array_namespace__().from_dlpack(made)
    return made
