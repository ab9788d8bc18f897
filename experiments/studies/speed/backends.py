"""PyTorch's back ends of scaled_dot_product_attention as launches, and bursts that time them."""

PEERS = {
    "sdpa-flash": "FLASH_ATTENTION",  # FlashAttention-2
    "sdpa-cudnn": "CUDNN_ATTENTION",
    "sdpa-efficient": "EFFICIENT_ATTENTION",  # the one that takes fp32
}
FIRST_SLEEP_CYCLES = 1_000_000  # 0.5 ms at 2 GHz
MOST_SLEEP_CYCLES = 1_000_000_000


def forward(torch, name, q, k, v, mask):
    """A launch that returns its output."""
    from torch.nn.attention import SDPBackend, sdpa_kernel

    wanted, causal = getattr(SDPBackend, PEERS[name]), mask == "causal"

    def launch():
        with sdpa_kernel(wanted):
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)

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
