"""The peers: name, preset that describes how they order their work, and how to launch them."""

import dataclasses
import importlib
import typing

import cutile
import flashinfer_prefill
import plain_call


@dataclasses.dataclass(frozen=True)
class Peer:
    name: str
    system: str  # preset in experiments/profiles/systems
    prepare: typing.Callable  # (torch, q, k, v, causal) -> launch(), which returns the output
    refusal: typing.Callable = lambda shape: ""  # why a shape cannot run, or an empty text
    prepare_backward: typing.Callable = None  # as prepare; the launch returns dQ, dK and dV


def sdpa(backend):
    def prepare(torch, q, k, v, causal):
        from torch.nn.attention import SDPBackend, sdpa_kernel

        wanted = getattr(SDPBackend, backend)

        def launch():
            with sdpa_kernel(wanted):
                return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)

        return launch

    return prepare


def sdpa_backward(backend):
    def prepare(torch, q, k, v, causal):
        inputs = [tensor.detach().requires_grad_() for tensor in (q, k, v)]
        output = sdpa(backend)(torch, *inputs, causal)()
        torch.manual_seed(2)
        gradient = torch.randn_like(output)

        def launch():
            return torch.autograd.grad(output, inputs, gradient, retain_graph=True)

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


PEERS = {
    peer.name: peer
    for peer in (
        Peer(
            "sdpa-flash",
            "flash-attention-2",
            sdpa("FLASH_ATTENTION"),
            prepare_backward=sdpa_backward("FLASH_ATTENTION"),
        ),
        Peer(
            "sdpa-cudnn",
            "cudnn",
            sdpa("CUDNN_ATTENTION"),
            prepare_backward=sdpa_backward("CUDNN_ATTENTION"),
        ),
        Peer(
            "sdpa-efficient",
            "",
            sdpa("EFFICIENT_ATTENTION"),
            prepare_backward=sdpa_backward("EFFICIENT_ATTENTION"),
        ),
        Peer("triton", "triton-tutorial", prepare_triton, refuse_triton),
        Peer("cutile", "cutile", cutile.prepare, cutile.refusal),
        Peer("flashinfer", "", flashinfer_prefill.prepare, flashinfer_prefill.refusal),
        Peer("sawtooth", "", plain_call.prepare, plain_call.refusal),
    )
}
