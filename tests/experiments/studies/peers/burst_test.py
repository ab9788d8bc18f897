"""experiments/studies/peers/burst.py without a GPU: a stand-in for one that works off its queue in order."""

import unittest

import support  # noqa: F401  (makes the study importable)
import burst

US_A_CYCLE = 1e-3  # of the stand-in, 1 GHz


class StandInGpu:
    """A queue whose work begins when the one before ends and no earlier than it is queued."""

    def __init__(self, cpu_us, gpu_us):
        self.cpu_us_, self.gpu_us_ = cpu_us, gpu_us
        self.now, self.busy_until, self.cuda = 0.0, 0.0, self
        self.sleeps, self.launches = [], 0

    def _queue(self, gpu_us):
        self.busy_until = max(self.now, self.busy_until) + gpu_us

    def _sleep(self, cycles):
        self.sleeps.append(cycles)
        self._queue(cycles * US_A_CYCLE)

    def launch(self):
        self.now += self.cpu_us_
        self.launches += 1
        self._queue(self.gpu_us_)

    def Event(self, enable_timing):
        assert enable_timing
        return StandInEvent(self)


class StandInEvent:
    def __init__(self, gpu):
        self.gpu_, self.reached_us = gpu, None

    def record(self):
        self.reached_us = max(self.gpu_.now, self.gpu_.busy_until)

    def query(self):
        return self.gpu_.now >= self.reached_us

    def synchronize(self):
        self.gpu_.now = max(self.gpu_.now, self.reached_us)

    def elapsed_time(self, end):
        return (end.reached_us - self.reached_us) / 1000


class Burst(unittest.TestCase):
    def test_the_cpu_s_time_of_a_launch_does_not_count(self):
        for cpu_us in (1, 30, 100, 400):
            gpu = StandInGpu(cpu_us, gpu_us=90)
            one = burst.Burst(gpu, gpu.launch, launches=10, behind_another=True)
            for _ in range(3):
                self.assertAlmostEqual(one.time_us(), 90, msg=cpu_us)

    def test_one_that_begins_before_all_is_queued_is_repeated_behind_a_longer_sleep(self):
        # Eleven launches take the CPU 4.4 ms, sleeps 1, 2, 4 and 8 ms.
        gpu = StandInGpu(cpu_us=400, gpu_us=90)
        one = burst.Burst(gpu, gpu.launch, launches=10, behind_another=True)
        one.time_us()
        self.assertEqual(gpu.sleeps, [10**6, 2 * 10**6, 4 * 10**6, 8 * 10**6])
        self.assertEqual(gpu.launches, 4 * 11)
        one.time_us()  # knows by now how long
        self.assertEqual(gpu.sleeps[4:], [8 * 10**6])

    def test_a_launch_that_waits_for_the_gpu_is_refused(self):
        gpu = StandInGpu(cpu_us=1, gpu_us=90)

        def launch():
            gpu.launch()
            gpu.now = gpu.busy_until

        with self.assertRaises(burst.NeverQueued):
            burst.Burst(gpu, launch, launches=1, behind_another=False).time_us()


if __name__ == "__main__":
    unittest.main()
