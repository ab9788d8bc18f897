"""Shards of a sweep have every point once, and a point's shard follows from the point alone."""

import unittest

from in_folder import rows, run  # noqa: E402  (the path above leads to it)

POINT = ["--l2-bytes", "1MiB", "--workers", "4", "--quiet", "--csv", "-"]


def simulated(*options):
    return rows("simulate", *POINT, *options)


def ids(*options):
    return [row["run_id"] for row in simulated(*options)]


class Shards(unittest.TestCase):
    SWEEP = ["--seq", "64..640:64", "--scan", "linear,reverse,sawtooth", "--seed", "1,2"]

    def test_shards_are_a_partition_for_any_number(self):
        whole = simulated(*self.SWEEP)
        self.assertEqual(len(whole), 60)
        for count in (1, 2, 3, 7, 64):
            shards = [f"{i}/{count}" for i in range(1, count + 1)]
            parts = [simulated(*self.SWEEP, "--shard", shard) for shard in shards]
            self.assertCountEqual(sum(parts, []), whole)
            for part in parts:  # each in the order of the sweep
                self.assertEqual(part, [row for row in whole if row in part])

    def test_a_point_stays_in_its_shard_whatever_else_the_list_has(self):
        backwards = ["--seq", ",".join(str(64 * i) for i in range(12, 0, -1))]
        backwards += ["--scan", "sawtooth,linear,reverse", "--seed", "2,1,3"]
        whole = set(ids(*self.SWEEP))
        for shard in ("1/3", "2/3", "3/3"):
            self.assertEqual(
                set(ids(*self.SWEEP, "--shard", shard)),
                whole & set(ids(*backwards, "--shard", shard)),
            )

    def test_shards_are_of_about_one_size(self):
        # 1,000 points in 8 shards: 125 in the mean, with a standard deviation of 10.5.
        for i in range(1, 9):
            size = len(simulated("--seq", "64", "--seed", "1..1000", "--shard", f"{i}/8"))
            self.assertLess(abs(size - 125), 5 * 10.5)

    def test_what_is_no_shard_is_named(self):
        for shard in ("0/3", "4/3", "1", "a/b", "1/0", "-1/3"):
            ended = run("simulate", *POINT, *self.SWEEP, "--shard", shard)
            self.assertEqual(ended.returncode, 2)
            self.assertIn(f"--shard: '{shard}' is not allowed; allowed: I/N", ended.stderr)


if __name__ == "__main__":
    unittest.main()
