#!/usr/bin/env python3
"""The figures of experiments/studies/serving: derived by hand from rows, and the page has them."""

import csv
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]
STUDY = ROOT / "experiments" / "studies" / "serving"
sys.path.append(str(STUDY))
import finding  # noqa: E402  (the path above leads to them)
import varlen  # noqa: E402
from figures import drawn_points  # noqa: E402

POINT = dict(batch=16, kv_heads=8, seq_kv=512, head_dim=128, timing="lockstep", launch="grid")
OFF = dict(POINT, pack_gqa="", lengths="a", sequence_order="given", dram_read_sectors=600)
ON = dict(POINT, pack_gqa="on", lengths="a", sequence_order="longest", dram_read_sectors=150)


def write(folder, name, rows):
    with open(folder / f"{name}.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


class Finding(unittest.TestCase):
    def test_figures_are_quotients_of_the_counters(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write(folder, "decode", [OFF, ON])
            other = [dict(row, lengths="b") for row in (OFF, OFF)]
            other[1].update(sequence_order="longest", dram_read_sectors=660)
            write(folder, "lengths", [OFF, ON, *other])
            page = finding.Page(folder)
            # 16 x 8 x 512 rows of 128 elements, of K and of V: 2^16 x 128 x 4 bytes.
            self.assertEqual(page.gain(32, "dram_read_sectors"), 4)
            low, middle, high = page.longest("dram_read_sectors", "grid")
            self.assertAlmostEqual(low, -75)
            self.assertAlmostEqual(middle, -32.5)
            self.assertAlmostEqual(high, 10)

    def test_the_better_way_is_named_where_ways_differ(self):
        with tempfile.TemporaryDirectory() as name:
            folder, data = Path(name) / "results", Path(name) / "data"
            folder.mkdir()
            data.mkdir()
            blank = dict.fromkeys(
                "heads kv_heads seq_q seq_kv head_dim mask prefix_group lengths page_table".split(),
                "",
            )
            plain = dict(blank, prefix=64, pack_gqa="on", cascade="")
            once = dict(plain, cascade="on")
            packed = dict(blank, prefix="", pack_gqa="on", cascade="")
            alone = dict(packed, pack_gqa="")
            # Named rightly, wrongly, and too close to tell; packing named rightly.
            measured = ((plain, once, 100, 50), (plain, once, 50, 100), (plain, once, 100, 104))
            measured += ((packed, alone, 100, 120),)
            predicted = ((90, 60), (90, 60), (90, 60), (70, 90))
            rows, launches = [], []
            for batch, (first, second, *us) in enumerate(measured):
                for way, own, named in zip((first, second), us, predicted[batch]):
                    launches.append(dict(way, batch=batch, time_us=own))
                    rows.append(dict(way, batch=batch, time_us=named))
            write(folder, "drawn_ways", rows)
            write(data, "drawn_ways", launches)
            page = finding.Page(folder, ways=data)
            self.assertEqual(page.named("cascade"), (2, 1))
            self.assertEqual(page.named("pack"), (1, 1))
            self.assertEqual(page.gained("cascade"), (0.5, 100 / 104, 2))

    def test_cascades_merged_at_once_are_compared_problem_by_problem(self):
        with tempfile.TemporaryDirectory() as name:
            folder, data = Path(name) / "results", Path(name) / "data"
            folder.mkdir()
            data.mkdir()
            problem = "heads kv_heads seq_q seq_kv head_dim mask prefix_group lengths page_table"
            blank = dict.fromkeys(problem.split(), "")
            plain = dict(blank, prefix=64, pack_gqa="on", cascade="")
            alone = dict(blank, prefix="", pack_gqa="", cascade="", head_dim="128")
            before, after, predicted = [], [], []
            for batch, (one, other) in enumerate(((60, 40), (90, 90), (80, 100))):
                for rows, us in ((before, one), (after, other)):
                    rows.append(dict(plain, batch=batch, time_us=50))
                    rows.append(dict(plain, cascade="on", batch=batch, time_us=us))
                predicted += [dict(row, time_us=1) for row in before[-2:]]
            for guess, us in ((110, 100), (100, 100), (80, 100)):
                of = dict(alone, batch=us + guess)
                pair = dict(of, pack_gqa="on")
                before += [dict(pair, time_us=1), dict(of, time_us=us)]
                predicted += [dict(pair, time_us=1), dict(of, time_us=guess)]
            write(folder, "drawn_cascades", predicted)
            write(folder, "drawn_cascades_at_once", predicted[:6])
            write(data, "drawn_cascades", before)
            write(data, "drawn_cascades_at_once", after)
            page = finding.Page(folder, ways=data)
            self.assertEqual(page.merged_at_once(), (0.8, 1, 1.5))
            middle, worst = page.not_packed_errors("128")
            self.assertAlmostEqual(middle, 10)
            self.assertAlmostEqual(worst, 20)

    def test_speeds_are_quotients_of_the_same_shape(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            shape = dict(part="shapes", batch=2, keys=8192, options="")
            ours = dict(shape, kernel="sawtooth")
            write(
                folder,
                "decode_ahead",
                [
                    dict(shape, kernel="cudnn", gb_s=3000),
                    dict(shape, kernel="copy", gb_s=4000),
                    dict(shape, kernel="flash", gb_s=2500),
                    dict(ours, options="family=mma-tma", gb_s=3600),
                    dict(ours, options="family=mma", gb_s=1000),
                ],
            )
            page = finding.Page(folder, folder)
            # 2 x 8192 keys of 8 heads of 128 elements of 2 bytes, of K and of V: 64 MiB.
            row = "| 2 x 8K | 64 MiB | 3,600 | 1,000 | 3,000 | 2,500 | 1.200 |"
            self.assertEqual(page.speeds().split("\n")[-1], row)
            self.assertEqual(page.of_cudnn(), [1.2])
            self.assertEqual(page.of_copy(64), [0.9])
            self.assertEqual(page.of_copy(128), [])

    def test_flashinfer_is_judged_by_the_faster_of_its_kernels(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            blank = dict.fromkeys("options page_rows page_order layout".split(), "")
            shape = dict(blank, part="shapes", batch=2, keys=8192)
            paged = dict(blank, part="pages", batch=2, keys=8192)
            in_pages = dict(paged, page_rows=16, page_order="shuffled", layout="heads-rows")
            rows = []
            for of, ours, theirs in ((shape, 3000, (2500, 2000)), (in_pages, 2900, (2000, 2900))):
                rows.append(dict(of, kernel="sawtooth", options="family=mma-tma", gb_s=ours))
                for cores, speed in enumerate(theirs):
                    options = f"tensor_cores={cores}"
                    rows.append(dict(of, kernel="flashinfer", options=options, gb_s=speed))
            for kernel in ("cudnn", "flash"):
                rows.append(dict(shape, kernel=kernel, gb_s=2800))
            rows.append(dict(paged, kernel="sawtooth", options="family=mma-tma", gb_s=3100))
            write(folder, "flashinfer", rows)
            page = finding.Page(folder, ways=folder)
            self.assertEqual(page.of_flashinfer(), [1.2])
            self.assertEqual(page.paged_of_flashinfer(), [1])
            row = "| 2 x 8K | 64 MiB | 3,000 | 2,800 | 2,800 | 2,500 | 2,000 |"
            self.assertEqual(page.flashinfer_speeds().split("\n")[-1], row)

    def test_tiles_ahead_are_judged_over_the_peer_of_the_same_run_and_shape(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            # 1 x 8192 keys: 32 MiB; 4 x 8192: 128 MiB.
            rows = []
            for batch, cudnn, before, after in ((1, 2000, 1900, 2100), (4, 4000, 4000, 4400)):
                shape = dict(run="launch after launch", part="shapes", batch=batch, keys=8192)
                shape.update(build="", tiles_ahead="")
                own = dict(shape, kernel="sawtooth")
                rows += [
                    dict(shape, kernel="cudnn", gb_s=cudnn),
                    dict(own, build="before", gb_s=before),
                    dict(own, build="after", tiles_ahead="3", gb_s=after),
                ]
            write(folder, "ahead", rows)
            page = finding.Page(folder, folder)
            self.assertEqual(page.ahead(3), [1.05, 1.1])
            self.assertEqual(page.ahead(None), [0.95, 1])
            self.assertEqual(page.ahead(3, low=128), [1.1])

    def test_the_better_of_two_ways_is_named_where_they_differ(self):
        with tempfile.TemporaryDirectory() as name:
            results, data = Path(name) / "results", Path(name) / "data"
            results.mkdir()
            data.mkdir()
            point = dict.fromkeys(drawn_points.PROBLEM + drawn_points.WAY, "")
            predicted, measured = [], []
            # Named rightly, wrongly, and 4 % apart.
            for keys, guess, truth in (
                (1, (9, 20), (10, 20)),
                (2, (9, 8), (10, 20)),
                (3, (9, 8), (100, 104)),
            ):
                for pack, a, b in zip(("on", ""), guess, truth):
                    row = dict(point, seq_kv=keys, pack_gqa=pack)
                    predicted.append(dict(row, time_us=a, dram_read_sectors=1))
                    measured.append(dict(row, time_us=b, dram_read_sectors=1))
            for more in (dict(seq_kv=8), dict(seq_kv=9, prefix="4096", prefix_group="2")):
                row = dict(point, pack_gqa="on", **more)
                predicted.append(dict(row, time_us=11, dram_read_sectors=102))
                measured.append(dict(row, time_us=10, dram_read_sectors=100))
            write(results, "drawn_reuse", predicted)
            write(data, "drawn_reuse", measured)
            page = finding.Page(results, data)
            self.assertEqual(page.better(), (2, 1))
            row = "| prefix | 1 | 2.0 % | 2.0 % | 2.0 % | 10.0 % | 10.0 % | 10.0 % |"
            self.assertIn(row, page.reuse_errors())

    def test_packed_sequences_are_judged_over_equal_ones_of_the_same_case(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            case = {"lengths": "uniform 256..8K", "mask": "none", "head_dim": "64"}
            rows = [
                dict(case, family=family, layout=layout, tflop_s=speed, us=us)
                for family, layout, speed, us in (
                    ("hopper", "mixed", 475, 120),
                    ("hopper", "equal", 480, 100),
                    ("hopper", "fixed", 500, 100),
                    ("mma", "mixed", 300, 220),
                    ("mma", "equal", 310, 200),
                    ("mma", "fixed", 300, 200),
                    ("flash", "mixed", 280, 300),
                )
            ]
            write(folder, "varlen", rows)
            lengths = "+".join(map(str, varlen.lengths_of("uniform 256..8K")))
            predicted = [
                dict(kernel=kernel, mask="none", head_dim="64", lengths=of, time_us=us)
                for kernel in ("hopper", "mma")
                for of, us in ((lengths, 132), ("equal", 100))
            ]
            results = folder / "results"
            results.mkdir()
            write(results, "varlen", predicted)
            page = finding.Page(results, folder)
            self.assertEqual(page.of_equal("hopper"), [0.95])
            self.assertEqual(page.of_equal("mma"), [1])
            row = "| uniform 256..8K | none | 64 | 475 | 0.950 | 300 | 1.000 | 280 |"
            self.assertEqual(page.packed_speeds().split("\n")[-1], row)
            # 1.32 over 1.2 and over 1.1.
            for error, expected in zip(page.packed_errors(), (10, 20)):
                self.assertAlmostEqual(error, expected)

    def test_drawn_points_are_judged_one_by_one(self):
        with tempfile.TemporaryDirectory() as name:
            results, data = Path(name) / "results", Path(name) / "data"
            results.mkdir()
            data.mkdir()
            point = dict.fromkeys(drawn_points.POINT, "")
            launches = [dict(point, seq_kv=n, dram_read_sectors=100, time_us=10) for n in range(10)]
            write(data, "drawn", launches)
            for file, step in (("drawn", 1), ("drawn_costs", 0), ("drawn_pages", 0)):
                rows = [
                    dict(launch, dram_read_sectors=100 + n, time_us=10 - step * n)
                    for n, launch in enumerate(launches)
                ]
                write(results, file, rows)
            page = finding.Page(results, data)
            self.assertAlmostEqual(page.judged("drawn", "dram_read_sectors")[3], 3)
            # 0 to 9 %: the median is 4.5, the ninth of ten 8.
            words = "4.50 % | 8.00 % | 9.00 % | 45.00 % | 80.00 % | 90.00 % |"
            self.assertIn(words, page.drawn())

    def test_the_page_is_current(self):
        done = subprocess.run([STUDY / "run.sh", "--check"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
