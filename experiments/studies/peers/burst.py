"""Bursts of launches whose time is the GPU's alone.

A launch of PyTorch's takes the CPU some tens of microseconds, as long as a short kernel runs: where the GPU
waits for it, a burst times the CPU, and more so the more other code has run since. So the GPU sleeps until
the whole burst is queued; one that began earlier is thrown away. The launch before the timed ones is of the
same kind, so that each contender finds L2 as it leaves it itself, whichever ran before.
"""

FIRST_SLEEP_CYCLES = 1_000_000  # 0.5 ms at 2 GHz
MOST_SLEEP_CYCLES = 1_000_000_000


class NeverQueued(RuntimeError):
    """A launch waits for the GPU, so that no sleep is long enough."""


class Burst:
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
        cuda._sleep(
            self.sleep_cycles_
        )  # pylint: disable=protected-access  (PyTorch's own tests do)
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
