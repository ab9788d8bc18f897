"""experiments/studies/speed without a GPU: the list, rounds, rows and tables of a race, bursts, and the C API's structs."""

import contextlib
import io
import os
import re
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]
STUDY = ROOT / "experiments" / "studies" / "speed"
sys.path.append(str(STUDY))
import backends  # noqa: E402  (the path above leads to it)
import plain_call  # noqa: E402
import race  # noqa: E402

US_A_CYCLE = 1e-3  # of the stand-in, 1 GHz


class StandInGpu:
    """A queue whose work begins when the one before ends and no earlier than it is queued."""

    def __init__(self, cpu_us, gpu_us):
        self.cpu_us_, self.gpu_us_ = cpu_us, gpu_us
        self.now, self.busy_until, self.cuda = 0.0, 0.0, self
        self.launches = 0

    def queue_(self, gpu_us):
        self.busy_until = max(self.now, self.busy_until) + gpu_us

    def _sleep(self, cycles):
        self.queue_(cycles * US_A_CYCLE)

    def launch(self):
        self.now += self.cpu_us_
        self.launches += 1
        self.queue_(self.gpu_us_)

    def waiting_launch(self):
        self.launch()
        self.now = max(self.now, self.busy_until)

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


class Bursts(unittest.TestCase):
    def test_the_time_that_the_cpu_takes_for_a_launch_does_not_count(self):
        for cpu_us in (1, 30, 100, 400):
            gpu = StandInGpu(cpu_us, gpu_us=90)
            burst = backends.Burst(gpu, gpu.launch, launches=10, behind_another=True)
            for _ in range(3):
                self.assertAlmostEqual(burst.time_us(), 90, msg=cpu_us)

    def test_a_launch_that_waits_for_the_gpu_is_an_error(self):
        gpu = StandInGpu(cpu_us=1, gpu_us=90)
        burst = backends.Burst(gpu, gpu.waiting_launch, launches=1, behind_another=False)
        with self.assertRaises(backends.NeverQueued):
            burst.time_us()


class Rounds:
    """A burst that says when it runs; the clock falls, for all that run in a round alike."""

    def __init__(self, name, us, log):
        self.name_, self.us_, self.log_ = name, us, log

    def time_us(self):
        self.log_.append(self.name_)
        return self.us_ * (1 + (len(self.log_) - 1) // 2)


class Races(unittest.TestCase):
    def test_the_list_has_shapes_of_one_pass_with_sequences_of_so_many_rows_together(self):
        shapes = race.listed(STUDY / "lists" / "race.ini", "forward", ["bf16"])
        self.assertIn(
            (race.Shape("bf16", 32, 16, 512, 64, "none"), ["sdpa-cudnn", "sdpa-flash"]), shapes
        )
        self.assertIn(
            (race.Shape("bf16", 1, 1, 131072, 128, "causal"), ["sdpa-cudnn", "sdpa-flash"]), shapes
        )
        self.assertEqual({shape.dtype for shape, _ in shapes}, {"bf16"})
        long = race.listed(STUDY / "lists" / "race.ini", "backward", ["bf16", "long"])
        self.assertEqual({shape.seq_kv for shape, _ in long}, {65536, 131072})

    def test_every_round_has_all_contenders_in_an_order_of_its_own(self):
        log = []
        bursts = {name: Rounds(name, us, log) for name, us in (("cudnn", 100), ("ours", 80))}
        times = race.raced(bursts, 16, "seed")
        rounds = [tuple(log[i : i + 2]) for i in range(0, 32, 2)]
        self.assertEqual({frozenset(names) for names in rounds}, {frozenset(("cudnn", "ours"))})
        self.assertEqual(len(set(rounds)), 2)
        known = dict(gpu="h200", head_dim=64)
        rows = list(race.rows_of(times, {"slow": "RuntimeError: no"}, "cudnn", **known))
        self.assertEqual([row["contender"] for row in rows], ["cudnn", "ours", "slow"])
        # Within a round cuDNN takes 100 / 80 of our time, whatever the clock.
        self.assertEqual((rows[1]["ratio"], rows[1]["ratio_low"]), ("1.2500", "1.2500"))
        self.assertEqual((rows[2]["status"], rows[2].get("ratio")), ("RuntimeError: no", None))

    def test_tables_have_the_geometric_mean_and_the_least(self):
        kind = dict(contender="sawtooth", peer="sdpa-cudnn", dtype="bf16", head_dim="64")
        kind.update({"mask": "none", "gpu": "h200", "pass": "forward"})
        rows = [dict(kind, seq_kv="1024", ratio="2"), dict(kind, seq_kv="2048", ratio="0.5")]
        rows.append(dict(kind, contender="sdpa-flash", seq_kv="1024", ratio="0.9"))
        found = list(race.summary(rows))
        self.assertEqual(found[0], "| peer's time / ours | forward, h200 |")
        name = "sawtooth / sdpa-cudnn, bf16, D = 64, none"
        self.assertEqual(found[2:], [f"| {name} | 1.000 (0.50) |"])
        self.assertEqual(list(race.by_length(rows))[-1], f"| {name} | 2.00 | 0.50 |")

    def test_wrong_use_and_a_missing_gpu_have_exit_codes_of_their_own(self):
        with contextlib.redirect_stderr(io.StringIO()) as said:
            self.assertEqual(race.main(["table", "/nothing.csv"]), 2)
            try:
                import torch  # noqa: F401
            except ImportError:
                self.assertEqual(race.main(["run", "forward", "out.csv"]), 3)
                self.assertIn("PyTorch cannot be imported", said.getvalue())
        self.assertIn("/nothing.csv", said.getvalue())


class Structs(unittest.TestCase):
    def test_fields_stand_in_the_order_of_the_header(self):
        text = (ROOT / "kernels" / "attention" / "attention.h").read_text(encoding="utf-8")
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
        structs = {"attention": plain_call.Attention, "gradients": plain_call.Gradients}
        for name, struct in structs.items():
            body = re.search(rf"typedef struct sawtooth_{name} \{{(.*?)\}}", text, re.DOTALL)[1]
            declared = [
                part.strip(" *").split()[-1].strip("*")
                for line in body.split(";")[:-1]
                for part in line.split(",")
            ]
            self.assertEqual([field[0] for field in struct._fields_], declared)

    def test_without_a_library_the_reason_names_the_variable(self):
        os.environ.pop(plain_call.LIBRARY, None)
        with self.assertRaisesRegex(RuntimeError, "SAWTOOTH_LIBRARY"):
            plain_call.Library()


if __name__ == "__main__":
    unittest.main()
