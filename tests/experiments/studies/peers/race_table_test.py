"""experiments/studies/peers/race_table.py: ratios of rounds by hand, and what is left out."""

import unittest

import support
import race_table


def row(kernel, repetition, time_us, seq=1024, **changes):
    """2 x 10^9 FLOP a launch: 100 us are 20 TFLOP/s."""
    cells = dict(batch=1, heads=1, seq_q=seq, head_dim=64, mask="none", status="ok")
    if not kernel.startswith("sdpa"):
        cells.update(launch="static", tile_q=192, tile_kv=128, scan="linear")
    cells.update(kernel=kernel, repetition=repetition, time_us=time_us, tflops=2000 / time_us)
    return support.row(**{**cells, **changes})


def ran(rows, *arguments):
    return support.called_on(race_table.main, rows, *arguments)


def raced(ours, peers, **changes):
    return [row("hopper", i, t, **changes) for i, t in enumerate(ours)] + [
        row("sdpa-cudnn", i, t, seq=changes.get("seq", 1024)) for i, t in enumerate(peers)
    ]


class Ratio(unittest.TestCase):
    def test_a_clock_that_falls_between_two_medians_does_not_count(self):
        # The peer takes 1.1 times our time in every round; from the fourth round on (from the third, for
        # the peer) all takes twice as long. Medians: ours 100, the peer's 220.
        rows = raced([100, 100, 100, 200, 200], [110, 110, 220, 220, 220])
        code, out, _ = ran(rows, "--shapes")
        self.assertEqual(code, 0)
        # Ratios 1.1, 1.1, 2.2, 1.1, 1.1; five values: their extremes enclose the median.
        self.assertIn(
            "64 none 1K: hopper 192x128 static linear: 1.100 (1.100 to 2.200), of the "
            "medians 2.200, 5 rounds",
            out,
        )

    def test_the_best_schedule_is_the_one_ahead_in_most_rounds(self):
        # Static: ratios 1.0, 1.0, 4.0. Dynamic: 1.25 three times.
        rows = raced([100, 200, 50], [100, 200, 200]) + [
            row("hopper", i, t, launch="dynamic") for i, t in enumerate([80, 160, 160])
        ]
        _, out, _ = ran(rows, "--shapes")
        self.assertIn("dynamic linear: 1.250", out)
        self.assertEqual(out.count("\n"), 1)

    def test_rounds_without_both_do_not_count(self):
        _, out, _ = ran(raced([100, 100, 100], [150]), "--shapes")
        self.assertIn("1.500 (1.500 to 1.500), of the medians 1.500, 1 rounds", out)

    def test_another_peer_can_stand_for_our_schedules(self):
        # Plain calls take 80 us where the best schedule takes 50 and the peer 100.
        rows = raced([50], [100]) + [row("sawtooth", 0, 80, launch="", tile_q="", scan="")]
        _, out, _ = ran(rows, "--shapes", "--ours", "sawtooth")
        self.assertIn("1.250 (1.250 to 1.250)", out)
        self.assertEqual(out.count("\n"), 1)


class Table(unittest.TestCase):
    def test_lengths_stand_beside_each_other_with_their_geometric_mean(self):
        # Ratios 2 and 0.5, whose geometric mean is 1.
        code, out, _ = ran(raced([100], [200]) + raced([200], [100], seq=512))
        self.assertEqual(code, 0)
        self.assertEqual(
            out.splitlines(),
            [
                "| head dim, mask | | 512 | 1K | geometric mean |",
                "|---|---|---|---|---|",
                "| 64 none | ours | 10 | 20 | |",
                "| | sdpa-cudnn | 20 | 10 | |",
                "| | ratio | 0.50 | 2.00 | 1.000 |",
            ],
        )

    def test_failed_rows_and_other_peers_do_not_count(self):
        rows = raced([100], [200]) + [
            row("hopper", 0, 1, launch="dynamic", status="failed"),
            row("sdpa-flash", 0, 1),
        ]
        _, out, _ = ran(rows, "--shapes")
        self.assertIn("static linear: 2.000", out)


class WrongUse(unittest.TestCase):
    def test_a_peer_that_did_not_run_is_an_error(self):
        code, _, error = ran(raced([100], [200]), "--peer", "triton")
        self.assertEqual(code, 2)
        self.assertIn("no shape was run by triton", error)

    def test_a_table_of_something_else_is_an_error(self):
        code, _, error = support.called_on_something_else(race_table.main)
        self.assertEqual(code, 2)
        self.assertIn("no column", error)


if __name__ == "__main__":
    unittest.main()
