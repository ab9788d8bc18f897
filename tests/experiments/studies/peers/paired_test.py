"""experiments/studies/peers/paired.py: intervals by hand, pairs by round."""

import unittest

import support
import measures
import paired


def row(scan, repetition, time_us, **changes):
    cells = dict(kernel="hopper", batch=1, heads=1, seq_q=1024, head_dim=64, mask="none")
    cells.update(launch="static", scan=scan, repetition=repetition, time_us=time_us, status="ok")
    return support.row(**cells, **changes)


class Interval(unittest.TestCase):
    def test_ten_values_are_covered_by_the_second_and_the_ninth(self):
        # Binomial(10, 1/2): at most 1 below has (1 + 10) / 1024 = 0.0107, twice that is 0.0215;
        # at most 2 would be 2 x 56 / 1024 = 0.109. So the 2nd and the 9th value enclose the median.
        self.assertEqual(measures.median_interval([10, 1, 9, 2, 8, 3, 7, 4, 6, 5]), (5.5, 2, 9))

    def test_six_values_need_their_extremes(self):
        # 2 / 64 = 0.03 lies outside of the extremes; with the next ones it would be 14 / 64.
        self.assertEqual(measures.median_interval([1, 2, 3, 4, 5, 6]), (3.5, 1, 6))

    def test_too_few_values_give_their_extremes(self):
        self.assertEqual(measures.median_interval([3, 1]), (2, 1, 3))


class Pairs(unittest.TestCase):
    def test_only_rounds_with_both_count_and_settings_stay_apart(self):
        rows = [
            row("linear", 0, 100),
            row("sawtooth", 0, 101),
            row("linear", 1, 200),
            row("sawtooth", 1, 199),
            row("linear", 2, 100),
            row("linear", 0, 50, tile_kv="176"),
            row("sawtooth", 0, 55, tile_kv="176"),
        ]
        found = paired.pairs(rows, {"scan": "linear"}, {"scan": "sawtooth"})
        by_tile = {dict(key)["tile_kv"]: values for key, values in found.items()}
        self.assertEqual(sorted(by_tile), ["", "176"])
        for value, expected in zip(by_tile[""], (1.0, -0.5)):
            self.assertAlmostEqual(value, expected)
        self.assertAlmostEqual(by_tile["176"][0], 10.0)


class Program(unittest.TestCase):
    def code(self, rows, *options):
        sides = ("--first", "scan=linear", "--second", "scan=sawtooth")
        return support.called_on(paired.main, rows, *sides, *options)[0]

    def test_an_interval_that_reaches_beyond_the_limit_fails(self):
        # Changes of 0 to 9 %: the interval of ten values ends at the ninth, 8 %.
        slower = [
            r for i in range(10) for r in (row("linear", i, 100), row("sawtooth", i, 100 + i))
        ]
        self.assertEqual(self.code(slower, "--limit", "7.9%"), 1)
        self.assertEqual(self.code(slower, "--limit", "8.1%"), 0)

    def test_nothing_to_pair_is_wrong_usage(self):
        self.assertEqual(self.code([row("linear", 0, 100)]), 2)


if __name__ == "__main__":
    unittest.main()
