"""experiments/studies/speed without a GPU: the list, rounds, rows and tables of a race and bursts."""

import contextlib
import io
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]
STUDY = ROOT / "experiments" / "studies" / "speed"
sys.path.append(str(STUDY))
import race  # noqa: E402  (the path above leads to it)
from race import contenders, measures  # noqa: E402

interval = measures.median_interval
US_A_CYCLE = 1e-3  # of the stand-in, 1 GHz


class StandInGpu:
    """A queue whose work begins when the one before ends and no earlier than it is queued."""

    def __init__(self, cpu_us, gpu_us):
        self.cpu_us_, self.gpu_us_ = cpu_us, gpu_us
        self.now, self.busy_until, self.cuda = 0.0, 0.0, self
        self.launches = 0

    synchronize = lambda self: None  # noqa: E731

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
            burst = contenders.Burst(gpu, gpu.launch, launches=10, behind_another=True)
            for _ in range(3):
                self.assertAlmostEqual(burst.time_us(), 90, msg=cpu_us)

    def test_a_launch_that_waits_for_the_gpu_is_an_error(self):
        gpu = StandInGpu(cpu_us=1, gpu_us=90)
        burst = contenders.Burst(gpu, gpu.waiting_launch, launches=1, behind_another=False)
        with self.assertRaises(contenders.NeverQueued):
            burst.time_us()


class Rounds:
    """A burst that says when it runs; the clock falls, for all that run in a round alike."""

    def __init__(self, name, us, log):
        self.name_, self.us_, self.log_ = name, us, log

    def time_us(self):
        self.log_.append(self.name_)
        return self.us_ * (1 + (len(self.log_) - 1) // 2)


class StandInTensor(int):
    float = clone = lambda self: self
    __sub__ = lambda self, other: StandInTensor(int(self) - int(other))
    norm = lambda self: abs(int(self))


class Races(unittest.TestCase):
    def test_a_shape_is_raced_against_the_first_peer_that_runs(self):
        gpu = StandInGpu(cpu_us=1, gpu_us=0)
        torch = unittest.mock.MagicMock(cuda=gpu)

        def kernel(us, result=1):
            return lambda *problem: lambda: gpu.queue_(us) or StandInTensor(result)

        theirs = {"sdpa-flash": kernel(400), "wrong": kernel(1, result=2)}
        shape = contenders.Shape("bf16", 2, 8, 2, 1024, 64, "causal")
        peers, ours = ["sdpa-cudnn", *theirs], {"forward": kernel(320)}
        forward = lambda torch, name, *problem: theirs[name]()  # noqa: E731
        with unittest.mock.patch.dict(contenders.THEIRS, forward=forward):
            rows = contenders.raced_rows(torch, "forward", shape, peers, ours, 5, interval)
        by_name = {row["contender"]: row for row in rows}
        self.assertEqual({(row["peer"], row["kv_heads"]) for row in rows}, {("sdpa-flash", 2)})
        self.assertEqual(by_name["sawtooth"]["ratio"], "1.2500")  # 400 / 320
        self.assertIn("KeyError", by_name["sdpa-cudnn"]["status"])
        self.assertIn("differs from the first peer's", by_name["wrong"]["status"])

    def test_the_list_has_shapes_of_one_pass_with_sequences_of_so_many_rows_together(self):
        shapes = race.listed(STUDY / "lists" / "race.ini", "forward", ["bf16"])
        for shape in (32, 16, 16, 512, 64, "none"), (1, 1, 1, 131072, 128, "causal"):
            self.assertIn((contenders.Shape("bf16", *shape), ["sdpa-cudnn", "sdpa-flash"]), shapes)
        self.assertEqual({shape.dtype for shape, _ in shapes}, {"bf16"})
        long = race.listed(STUDY / "lists" / "race.ini", "backward", ["bf16", "long"])
        self.assertEqual({shape.seq_kv for shape, _ in long}, {65536, 131072})

    def test_a_race_lists_its_shapes_with_the_peers_that_it_had(self):
        kind = dict.fromkeys(race.COLUMNS, "") | {"pass": "forward", "dtype": "bf16", "batch": "2"}
        kind |= {"heads": "8", "kv_heads": "1", "seq_kv": "512", "mask": "none"}
        rows = [
            dict(kind, head_dim=width, contender=name)
            for width, names in (
                ("64", "sdpa-cudnn sawtooth flash-attn-3"),
                ("192/128", "sawtooth"),
            )
            for name in names.split()
        ]
        rows.append(dict(rows[0], contender="sawtooth", **{"pass": "backward"}))
        with tempfile.TemporaryDirectory() as folder:
            race.table.write(f"{folder}/race.csv", rows, race.COLUMNS)
            found = race.listed(f"{folder}/race.csv", "forward")
        narrow, two = (contenders.Shape("bf16", 2, 8, 1, 512, w, "none") for w in (64, "192/128"))
        self.assertEqual(found, [(narrow, ["sdpa-cudnn", "flash-attn-3"]), (two, [])])

    def test_rows_of_two_widths_are_narrower_in_v_and_o(self):
        self.assertEqual([contenders.width(text) for text in ("128", " 192/128")], [128, "192/128"])
        torch, made = unittest.mock.MagicMock(), []
        torch.randn.side_effect = lambda size, **_: made.append(size)
        shape = contenders.Shape("bf16", 2, 4, 1, 512, "192/128", "none")
        contenders.launches_of(torch, "backward", shape, [], {})
        self.assertEqual(
            made, [(2, 4, 512, 192), (2, 1, 512, 192), (2, 1, 512, 128), (2, 4, 512, 128)]
        )

    def test_every_round_has_all_contenders_in_an_order_of_its_own(self):
        log = []
        bursts = {name: Rounds(name, us, log) for name, us in (("cudnn", 100), ("ours", 80))}
        times = contenders.raced(bursts, 16, "seed")
        rounds = [tuple(log[i : i + 2]) for i in range(0, 32, 2)]
        self.assertEqual({frozenset(names) for names in rounds}, {frozenset(("cudnn", "ours"))})
        self.assertEqual(len(set(rounds)), 2)
        known = dict(gpu="h200", head_dim=64)
        slow = {"slow": "RuntimeError: no"}
        rows = list(contenders.rows_of(times, slow, "cudnn", interval, **known))
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
        rows[0]["head_dim"] = "128"  # of another kind
        line = "| forward, h200 | sawtooth / sdpa-cudnn | 2 | 1.000 | 1 | 0.50 |"
        self.assertEqual(list(race.whole(rows))[2:], [line])

    def test_wrong_use_and_a_missing_gpu_have_exit_codes_of_their_own(self):
        with contextlib.redirect_stderr(io.StringIO()) as said:
            for words in (["table", "/nothing.csv"], ["table"]):
                self.assertEqual(race.table.exit_code(race.main, words, "race.py"), 2)
            try:
                import torch  # noqa: F401
            except ImportError:
                self.assertEqual(race.main(["run", "forward", "out.csv"]), 3)
                self.assertIn("PyTorch cannot be imported", said.getvalue())
        self.assertIn("/nothing.csv", said.getvalue())


if __name__ == "__main__":
    unittest.main()
