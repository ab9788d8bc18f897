"""experiments/studies/peers/race.py without a GPU: turns, rounds, and the protocol of a paced bench."""

import os
import tempfile
import unittest
from unittest import mock

import support
import bench
import burst
import gpu_state
import race
import session

NEEDED = ("--sawtooth", "sawtooth", "--csv", "-")


class StandInBench:
    """`sawtooth bench --paced` without a program: `rows_of(rounds)` are its rows."""

    def __init__(self, order, rows_of):
        self.order_, self.rows_of_, self.rounds_ = order, rows_of, 0

    def round(self):
        self.order_.append("bench")
        self.rounds_ += 1

    def rows(self):
        return self.rows_of_(self.rounds_)

    def close(self):
        self.order_.append("closed")


def bench_row(**changes):
    return support.row(kernel="mma", time_us="100.00", tflops="1.00", **changes)


class Measuring(unittest.TestCase):
    def measured(self, rows_of):
        """Rows of one shape where launches and times are stand-ins, and the order of launches."""
        order = []
        options = race.parser().parse_args(
            [*NEEDED, "--peers", "sdpa-flash,sdpa-cudnn", "--rounds", "30"]
        )
        launches = {"sdpa-flash": lambda: order.append("flash")}

        def clock(_, launch):
            launch()
            return 100.0 + len(order)

        class StandInBurst:
            def __init__(self, torch, launch, launches, behind_another):
                self.time_us = lambda: clock(torch, launch)

        with mock.patch.object(
            session, "ready_launches", return_value=(launches, {"sdpa-cudnn": "refused"})
        ), mock.patch.object(session, "time_us", clock), mock.patch.object(
            burst, "Burst", StandInBurst
        ), mock.patch.object(
            bench, "PacedBench", lambda *_: StandInBench(order, rows_of)
        ):
            rows, correct = race.raced_shape(None, options, support.shape(), lambda text: None)
        return rows, correct, order

    def test_peers_and_bench_take_turns_in_shuffled_order(self):
        rows, correct, order = self.measured(
            lambda rounds: [bench_row(repetition=str(i)) for i in range(rounds)]
        )
        self.assertEqual(order[:2] + order[-1:], ["flash", "flash", "closed"])  # two warm up
        rounds = [order[i : i + 2] for i in range(2, 62, 2)]
        self.assertEqual([sorted(pair) for pair in rounds], [["bench", "flash"]] * 30)
        # Of 30 fair throws all alike has a chance of 2^-29; the shuffle has a fixed seed.
        self.assertEqual({pair[0] for pair in rounds}, {"bench", "flash"})
        self.assertTrue(correct)
        self.assertEqual(len([r for r in rows if r["kernel"] == "mma"]), 30)
        timed = [r for r in rows if r["kernel"] == "sdpa-flash"]
        # The stand-in clock gives 100 plus the place of the launch in the order.
        places = [i + 1 for i, name in enumerate(order) if name == "flash"][2:]
        self.assertEqual([r["time_us"] for r in timed], [f"{100 + i}.00" for i in places])
        # What is not measured stays empty: how a library orders its work.
        self.assertEqual({(r.get("scan", ""), r["state"]) for r in timed}, {("", "as-is")})

    def test_large_shapes_run_a_third_of_the_rounds(self):
        options = race.parser().parse_args([*NEEDED, "--rounds", "7"])
        # 4 x 2 x 1024^2 x 64 is below 1e13 FLOP, 4 x 16 x (2^17)^2 x 128 = 1.4e14 is above.
        self.assertEqual(race.rounds_of(options, support.shape()), 7)
        self.assertEqual(
            race.rounds_of(options, support.shape(heads=16, seq=1 << 17, head_dim=128)), 3
        )

    def test_a_peer_that_cannot_run_is_a_row_with_its_reason(self):
        rows, _, _ = self.measured(lambda count: [])
        refused = [r for r in rows if r["kernel"] == "sdpa-cudnn"]
        self.assertEqual([(r["status"], r["time_us"]) for r in refused], [("refused", "")])

    def test_a_bench_that_fails_fails_the_run_with_its_last_words(self):
        def failing(_rounds):
            raise bench.BenchFailed("no such option")

        rows, correct, order = self.measured(failing)
        self.assertFalse(correct)
        self.assertEqual(order[-1], "closed")
        self.assertEqual(rows, [])


class Paced(unittest.TestCase):
    """The protocol of `sawtooth bench --paced` against a program of a few lines."""

    def program(self, folder, text):
        path = os.path.join(folder, "program")
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n" + text)
        os.chmod(path, 0o755)
        return path

    def test_a_line_starts_a_round_and_the_end_of_input_the_rows(self):
        with tempfile.TemporaryDirectory() as folder:
            program = self.program(
                folder,
                """
for last; do :; done
echo ready
while read line; do echo done; rounds="$rounds$line,"; done
printf 'configuration,rounds\\n%s,"%s"\\n' "$2" "$rounds" > "$last"
""",
            )
            paced = bench.PacedBench(program, "h200", support.shape(), "d64-none.ini")
            paced.round()
            paced.round()
            self.assertEqual(
                paced.rows(), [{"configuration": "d64-none.ini", "rounds": "round,round,"}]
            )
            paced.close()

    def test_a_program_that_refuses_is_quoted(self):
        with tempfile.TemporaryDirectory() as folder:
            program = self.program(folder, "echo first >&2; echo 'tile-q: wrong' >&2; exit 2\n")
            with self.assertRaisesRegex(bench.BenchFailed, "tile-q: wrong"):
                bench.PacedBench(program, "h200", support.shape(), "d64-none.ini")


class Contenders(unittest.TestCase):
    def test_every_head_dim_and_mask_of_the_race_has_a_configuration(self):
        for pattern in race.CONTENDERS.values():
            for head_dim in (64, 128):
                for mask in ("none", "causal"):
                    path = pattern.format(head_dim=head_dim, mask=mask)
                    self.assertTrue(os.path.isfile(path), path)

    def test_of_a_backward_pass_all_kernels_are_timed(self):
        options = race.parser().parse_args([*NEEDED, "--pass", "backward"])
        (shape,) = race.shapes(options)
        words = " ".join(shape.arguments())
        self.assertIn("--pass backward --small-kernels on", words)
        # Five products where forward has two.
        self.assertEqual(shape.flop(), 2.5 * support.shape(heads=1, seq=16384).flop())
        self.assertEqual(shape.cells()["pass"], "backward")

    def test_a_peer_without_a_backward_pass_says_so(self):
        shape = support.shape(of_pass="backward")
        self.assertIn("no backward pass", session.refusal(shape, "triton"))
        self.assertEqual(session.refusal(shape, "sdpa-cudnn"), "")


class State(unittest.TestCase):
    def test_a_line_is_medians_and_extremes_of_whole_samples(self):
        text = "1980, 650.5, 60\n1755, 702.0, 64\n1800, 690.0, 62\n17"
        line = gpu_state.summary("s", list(gpu_state.readings(text)))
        self.assertEqual(
            line, dict(zip(gpu_state.COLUMNS, ("s", 3, "1800", "1755", "690", "702", "62")))
        )


class Tokens(unittest.TestCase):
    def test_as_many_sequences_as_have_the_rows_and_at_least_one(self):
        options = race.parser().parse_args([*NEEDED, "--tokens", "16K", "--seq", "512,16K,128K"])
        self.assertEqual([s.batch for s in race.shapes(options)], [32, 1, 1])


if __name__ == "__main__":
    unittest.main()
