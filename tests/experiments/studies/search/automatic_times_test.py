#!/usr/bin/env python3
"""The timing of calls without a GPU: what each call names, rounds, rows."""

import pathlib
import random
import sys
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.path.insert(0, str(ROOT / "experiments/studies/search"))
import automatic  # noqa: E402  (the path above leads to it)
import automatic_times  # noqa: E402
import plain_call  # noqa: E402
import table  # noqa: E402

KEY = ("h200", "2", "8", "4", "1024", "128", "causal")
SCHEDULE = ("hopper", "128", "176", "dynamic", "reverse", "descending", "16")
ROW = table.Row(zip((*automatic.SHAPE, *automatic.SCHEDULE), (*KEY, *SCHEDULE)))


class Contestant:
    def __init__(self, name, order):
        self.name_, self.order_, self.times = name, order, []

    def round(self):
        self.order_.append(self.name_)


class AutomaticTimes(unittest.TestCase):
    def test_what_calls_name_are_fields_of_the_struct(self):
        named = automatic_times.named_by(ROW)
        self.assertEqual(named["family"], "hopper")
        self.assertEqual((named["tile_kv"], named["section"]), (176, 16))
        fields = {name for name, *_ in plain_call.Attention._fields_}
        for call in (named, *automatic_times.ALWAYS.values()):
            self.assertLessEqual(call.keys(), fields)

    def test_the_former_kernel_is_the_first_of_the_head_dim_among_the_variants(self):
        text = (ROOT / "kernels/attention/variants.inc").read_text(encoding="utf-8")
        first = next(line for line in text.splitlines() if line.startswith("VARIANT(mma, d128_"))
        family, _, _, _, _, tile_q, tile_kv = first.removeprefix("VARIANT(").split(", ")[:7]
        former = automatic_times.FORMER_KERNEL
        self.assertEqual((family, int(tile_q), int(tile_kv)), tuple(former.values()))

    def test_a_shape_counts_the_query_heads_in_its_work(self):
        shape = automatic_times.shape_of(ROW)
        # 4 B H D S^2 / 2
        self.assertEqual(shape.flop(), 4 * 2 * 8 * 128 * 1024 * 1024 / 2)
        self.assertEqual(shape.cells()["kv_heads"], 4)

    def rounds(self, seconds_a_round, seconds):
        order, clock = [], mock.Mock(side_effect=(i * seconds_a_round for i in range(1000)))
        contestants = [Contestant(name, order) for name in "abc"]
        with mock.patch.object(automatic_times.time, "monotonic", clock):
            automatic_times.run_rounds(contestants, random.Random(1), seconds)
        return [tuple(order[i : i + 3]) for i in range(0, len(order), 3)]

    def test_rounds_have_every_call_once_in_shuffled_order_and_end_with_the_time(self):
        slow, fast = self.rounds(10, 5), self.rounds(0, 5)
        self.assertEqual((len(slow), len(fast)), (7, 25))
        self.assertEqual({tuple(sorted(turns)) for turns in fast}, {("a", "b", "c")})
        self.assertGreater(len(set(fast)), 1)

    def test_a_round_is_a_row_and_what_failed_is_one_with_its_reason(self):
        contestant = Contestant("search", [])
        contestant.times = [10.0, 20.0]
        shape = automatic_times.shape_of(ROW)
        calls = {"plain": {}, "search": automatic_times.named_by(ROW)}
        rows = list(
            automatic_times.rows_of(
                KEY, shape, calls, {"search": contestant}, {"plain": "no, none"}
            )
        )
        self.assertEqual([row["status"] for row in rows], ["no; none", "ok", "ok"])
        self.assertEqual([row.get("repetition") for row in rows], [None, 0, 1])
        self.assertEqual((rows[1]["kernel"], rows[1]["section"]), ("hopper", 16))
        self.assertEqual(rows[2]["time_us"], "20.00")
        for row in rows:
            self.assertLessEqual(row.keys(), set(automatic_times.COLUMNS))


if __name__ == "__main__":
    unittest.main()
