"""Parts of a sweep are joined: duplicates drop out, what differs is refused, what is missing named."""

import os
import subprocess
import time
import unittest

from in_folder import PROGRAM, InFolder, rows_of  # noqa: E402  (the path above leads to it)

CONFIG = "l2-bytes = 1MiB\nworkers = 4\nseq = 64..640:64\nscan = linear, sawtooth\n"


class Merge(InFolder):
    def setUp(self):
        super().setUp()
        self.write("c.ini", CONFIG)

    def program(self, *words, code=0):
        return super().program(*words, code=code)

    def parts(self, count):
        names = [f"part{i}.csv" for i in range(1, count + 1)]
        for i, name in enumerate(names, 1):
            shard = ["--shard", f"{i}/{count}"]
            self.program("simulate", "c.ini", "--quiet", "--csv", name, *shard)
        return names

    def edit(self, name, old, new, row=1):
        lines = self.read(name).splitlines(keepends=True)
        lines[row] = lines[row].replace(old, new)
        self.write(name, "".join(lines))

    def test_shards_become_the_table_of_one_process_in_its_order(self):
        self.program("simulate", "c.ini", "--quiet", "--csv", "whole.csv")
        parts = self.parts(3)
        self.program("merge", *reversed(parts), "--csv", "out.csv", "--config", "c.ini")
        self.assertEqual(self.read("out.csv"), self.read("whole.csv"))

    def test_identical_rows_stand_once_and_files_keep_their_order_without_a_configuration(self):
        self.program("simulate", "c.ini", "--quiet", "--csv", "whole.csv")
        ended = self.program("merge", "whole.csv", "whole.csv", "--csv", "out.csv")
        self.assertEqual(self.read("out.csv"), self.read("whole.csv"))
        self.assertIn("20 rows of 2 tables, 20 of them twice", ended.stderr)

    def test_rows_of_one_point_that_differ_are_refused_by_name(self):
        parts = self.parts(2)
        row = rows_of(self.read(parts[0]))[0]
        self.write("other.csv", self.read(parts[0]))
        reads = row["sm_read_sectors"]
        self.edit("other.csv", f",{reads},", ",7,")
        ended = self.program("merge", *parts, "other.csv", "--csv", "out.csv", code=2)
        for word in ("part1.csv and other.csv", row["run_id"], f"'{reads}' and '7'"):
            self.assertIn(word, ended.stderr)
        self.assertRegex(ended.stderr, r"differs in \w+_sectors:")
        self.assertEqual(ended.stderr.count("\n"), 1)
        self.assertFalse((self.folder / "out.csv").exists())

    def test_a_row_with_a_result_replaces_one_without(self):
        self.program("simulate", "c.ini", "--quiet", "--csv", "whole.csv")
        self.write("failed.csv", self.read("whole.csv"))
        self.edit("failed.csv", ",ok,", ",failed,")
        for order in (["whole.csv", "failed.csv"], ["failed.csv", "whole.csv"]):
            self.program("merge", *order, "--csv", "out.csv", "--config", "c.ini")
            self.assertEqual(self.read("out.csv"), self.read("whole.csv"))

    def test_points_without_a_row_are_named(self):
        parts = self.parts(3)
        rows = sum(self.read(part).count("\n") - 1 for part in parts[:2])
        ended = self.program("merge", *parts[:2], "--csv", "out.csv", "--config", "c.ini", code=1)
        self.assertIn(f"no row with a result ({20 - rows} points, the first: ", ended.stderr)
        self.assertEqual(self.read("out.csv").count("\n"), 1 + rows)

    def test_the_part_that_is_missing_is_named(self):
        parts = self.parts(4)
        ended = self.program(
            "merge", *parts[:2], parts[3], "--config", "c.ini", "--csv", "o", code=1
        )
        self.assertIn("missing: --shard 3/4\n", ended.stderr)
        ended = self.program("merge", *parts[:3], "--csv", "o")  # as the rows alone tell
        self.assertIn("missing: --shard 4/4\n", ended.stderr)
        self.assertNotIn("missing", self.program("merge", *parts, "--csv", "o").stderr)
        # A row that failed is no part.
        self.edit(parts[0], ",ok,", ",failed,")
        ended = self.program("merge", *parts, "--config", "c.ini", "--csv", "o", code=1)
        self.assertNotIn("--shard", ended.stderr)

    def test_a_table_of_another_kind_is_refused(self):
        self.write("t.csv", "a,b\n1,2\n")
        ended = self.program("merge", "t.csv", "--csv", "out.csv", code=2)
        self.assertIn("t.csv: its columns are not those of results.csv", ended.stderr)
        self.assertIn("name the tables", self.program("merge", code=2).stderr)

    def test_merging_takes_little_memory_and_time(self):
        for columns in (["seed", "run_id"], ["repetition"]):  # points, or repetitions of one
            with self.subTest(columns):
                self.merge_many(columns)

    def merge_many(self, columns):
        rows = 100_000
        self.program("simulate", "c.ini", "--quiet", "--csv", "whole.csv")
        header, row = self.read("whole.csv").splitlines()[:2]
        cells = row.split(",")
        places = [header.split(",").index(name) for name in columns]
        with open(self.folder / "many.csv", "w", encoding="utf-8") as file:
            file.write(header + "\n")
            for i in range(rows):
                for place, text in zip(places, (str(i), f"{i * 2654435761 % 2**48:012x}")):
                    cells[place] = text
                file.write(",".join(cells) + "\n")
        begin = time.monotonic()
        words = ["merge", "many.csv", "many.csv", "--csv", "out.csv"]
        merge = subprocess.Popen([PROGRAM, *words], cwd=self.folder, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(merge.pid, 0)
        merge.returncode = status
        self.assertEqual(status, 0)
        print(f"{2 * rows / (time.monotonic() - begin):.0f} rows/s, {usage.ru_maxrss} KiB")
        # 2 GiB for 10^6 rows; a row is read in some microseconds of processor time.
        self.assertLess(usage.ru_maxrss * 1024, 2**31 // 10)
        self.assertLess(usage.ru_utime + usage.ru_stime, 60)
        self.assertEqual(self.read("out.csv"), self.read("many.csv"))


if __name__ == "__main__":
    unittest.main()
