"""The peers: name, preset that describes how they order their work, and how to launch them."""

import dataclasses
import importlib
import shutil
import typing

import cutile


@dataclasses.dataclass(frozen=True)
class Peer:
    name: str
    system: str  # preset in experiments/profiles/systems
    prepare: typing.Callable  # (torch, q, k, v, causal) -> launch(), which returns the output
    refusal: typing.Callable = lambda shape: ""


def sdpa(backend):
    def prepare(torch, q, k, v, causal):
        from torch.nn.attention import SDPBackend, sdpa_kernel
        wanted = getattr(SDPBackend, backend)

        def launch():
            with sdpa_kernel(wanted):
                return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
        return launch
    return prepare


def prepare_triton(torch, q, k, v, causal):
    attention = importlib.import_module("triton_attention").attention
    o = torch.empty_like(q)
    lse = torch.empty(q.shape[:3], device="cuda", dtype=torch.float32)

    def launch():
        attention(q, k, v, o, lse, causal)
        return o
    return launch


def refuse_triton(shape):
    try:
        return importlib.import_module("triton_attention").refusal(shape)
    except ImportError as error:
        return f"Triton cannot be imported: {error}"


PEERS = {peer.name: peer for peer in (
    Peer("sdpa-flash", "flash-attention-2", sdpa("FLASH_ATTENTION")),
    Peer("sdpa-cudnn", "cudnn", sdpa("CUDNN_ATTENTION")),
    Peer("triton", "triton-tutorial", prepare_triton, refuse_triton),
    Peer("cutile", "cutile", cutile.prepare, cutile.refusal),
)}

# A kernel of this package would be a peer too; whether it runs is said.
TRIED = {"cutlass.cute": "CuteDSL"}


def tried_packages():
    """One sentence a package of TRIED: whether it can be imported here."""
    for module, title in TRIED.items():
        try:
            importlib.import_module(module)
            yield f"{title}: {module} can be imported; no kernel of it is among the peers"
        except Exception as error:  # a package may fail in many ways while it loads
            yield f"{title}: {module} cannot be imported ({type(error).__name__}: {error})"


class Missing(RuntimeError):
    """torch or a GPU is missing; the text says which."""


def exit_code(sawtooth, work, note):
    """What work() returns, or with one line to note(): 2 where `sawtooth` is given and no program,
    or a file cannot be used, 3 where torch or a GPU is missing."""
    if sawtooth and not shutil.which(sawtooth):
        note(f"--sawtooth: {sawtooth} is no program; build it first")
        return 2
    try:
        return work()
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
        raise Missing(f"PyTorch cannot be imported ({error}); install torch, or use --dry-run") from error
    if not torch.cuda.is_available():
        raise Missing("PyTorch sees no GPU; run this on a machine with one, or use --dry-run")
    return torch


def inputs(torch, shape):
    """Random Q, K and V of a fixed seed: zeros would be faster than anything real."""
    torch.manual_seed(1)
    dtype = torch.bfloat16 if shape.dtype == "bf16" else torch.float16
    size = (shape.batch, shape.heads, shape.seq, shape.head_dim)
    return [torch.randn(size, device="cuda", dtype=dtype) for _ in range(3)]
