"""Points of a sweep are told apart by the contents of their files; one that cannot be run is a row
that says why, and the others run."""

import os
import re
import resource
import signal
import subprocess
import time
import unittest

from in_folder import PROGRAM, ROOT, InFolder, rows_of  # noqa: E402  (the path above leads to it)

PROFILES = ROOT / "experiments/profiles"


class Sweep(InFolder):
    def simulate(self, *options, **more):
        return self.program("simulate", "--quiet", "--csv", "r.csv", *options, **more)

    def rows(self, name="r.csv"):
        return rows_of(self.read(name))

    def column(self, name):
        return [row[name] for row in self.rows()]

    def profile(self, name, ways):
        text = (PROFILES / "gpus/gb10.ini").read_text(encoding="utf-8")
        return self.write(name, re.sub("l2-ways = [0-9]+", f"l2-ways = {ways}", text))


class Identity(Sweep):
    def test_two_profiles_of_one_name_are_two_points(self):
        one, two = self.profile("a/my.ini", 16), self.profile("b/my.ini", 8)
        ended = self.simulate("--gpu", f"{one},{two}", "--seq", "2K")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertEqual(self.column("gpu"), ["my", "my"])
        self.assertEqual(len(set(self.column("run_id"))), 2)

    def test_the_run_id_has_no_path_and_no_order_of_points(self):
        one, two = self.profile("a/my.ini", 16), self.profile("b/my.ini", 16)
        self.simulate("--gpu", one, "--seq", "1K,2K", "--threads", "2")
        ids = self.column("run_id")
        self.simulate("--gpu", str(self.folder / two), "--seq", "2K,1K", "--threads", "1")
        self.assertEqual(sorted(self.column("run_id")), sorted(ids))
        self.simulate("--gpu", f"{one},{two}", "--seq", "1K,2K")
        self.assertEqual(self.column("run_id"), ids)

    def test_a_note_or_a_comment_changes_nothing(self):
        name = self.profile("my.ini", 16)
        self.simulate("--gpu", "./my.ini", "--seq", "1K")
        before = self.column("run_id")
        text = self.read(name)
        self.write(name, text.replace("; datasheet;", "; published;") + "# a comment\n")
        self.simulate("--gpu", "./my.ini", "--seq", "1K")
        self.assertEqual(self.column("run_id"), before)

    def change(self, kind, *options, file, text):
        """--resume refuses rows made before `file` had `text`, and names its kind."""
        self.assertEqual(self.simulate(*options).returncode, 0)
        table = self.read("r.csv")
        self.assertEqual(self.simulate(*options, "--resume").returncode, 0)
        self.assertEqual(self.read("r.csv"), table)
        before = self.column("run_id")
        self.write(file, text)
        ended = self.simulate(*options, "--resume")
        self.assertEqual(ended.returncode, 2, ended.stderr)
        self.assertIn(f"was made with another {kind};", ended.stderr)
        self.assertEqual(ended.stderr.count("\n"), 1)
        self.assertEqual(self.read("r.csv"), table)
        self.assertEqual(self.simulate(*options).returncode, 0)
        self.assertNotEqual(self.column("run_id"), before)

    def test_resume_names_a_changed_gpu(self):
        self.profile("my.ini", 16)
        text = self.read("my.ini").replace("= 16", "= 8")
        self.change("gpu", "--gpu", "my.ini", "--seq", "1K", "--l2=lru", file="my.ini", text=text)

    def test_resume_names_changed_costs_of_kernels(self):
        costs = "[kernel]\ndescription = mine\n[every]\nexposed-ns = {}; assumed; test\n"
        self.write("costs.ini", costs.replace("{}", "100"))
        gpu = (PROFILES / "gpus/h200.ini").read_text(encoding="utf-8")
        gpu = re.sub(r"\[pace\]\n(.+\n)+", "", gpu)
        self.write("my.ini", gpu.replace("= mma-h200", "= ./costs.ini"))
        options = ["--gpu", "my.ini", "--seq", "1K", "--timing", "timed"]
        self.change("kernel-costs", *options, file="costs.ini", text=costs.replace("{}", "200"))

    def test_resume_names_a_changed_order(self):
        self.write("order.txt", "0 0 0\n0 0 1\n")
        options = ["--gpu", "gb10", "--seq", "128", "--order-file", "order.txt"]
        self.change("order", *options, file="order.txt", text="0 0 1\n0 0 0\n")

    def test_resume_names_a_changed_matrix(self):
        rows = [1 << bit for bit in range(13)]
        self.write("m.txt", "\n".join(map(str, rows)))
        options = ["--gpu", "gb10", "--seq", "1K", "--l2", "sets", "--l2-bytes", "16MiB"]
        options += ["--l2-hash", "xor", "--l2-hash-matrix", "m.txt"]
        text = "\n".join(map(str, [3] + rows[1:]))
        self.change("l2-hash-matrix", *options, file="m.txt", text=text)

    def test_resume_names_a_changed_system(self):
        system = "launch = grid\nstages = {}\n[system]\ndescription = mine\n"
        self.write("mine.ini", system.replace("{}", "2"))
        options = ["--gpu", "h200", "--seq", "1K", "--timing", "timed", "--system", "mine.ini"]
        self.change("system", *options, file="mine.ini", text=system.replace("{}", "3"))


class Refused(Sweep):
    # 7 lines are no whole number of sets, so that l2 = sets is refused beside lru and opt.
    options = ["--gpu", "gb10", "--seq", "1K", "--l2", "lru,sets,opt", "--l2-ways", "7"]

    def test_a_point_that_a_combination_forbids_is_a_row(self):
        ended = self.simulate(*self.options)
        self.assertEqual(ended.returncode, 1)
        self.assertEqual(self.column("status"), ["ok", "refused", "ok"])
        message = self.rows()[1]["message"]
        self.assertTrue(message.startswith("l2-bytes: 25165824 is no whole number of sets"))
        self.assertIn(message, ended.stderr)
        self.assertIn("l2 sets", ended.stderr)
        self.assertEqual(self.rows()[1]["dram_read_sectors"], "")

    def test_resume_gets_past_it_to_the_same_bytes(self):
        self.simulate(*self.options)
        table = self.read("r.csv")
        self.assertEqual(self.simulate(*self.options, "--resume").returncode, 1)
        self.assertEqual(self.read("r.csv"), table)
        lines = table.splitlines(keepends=True)
        (self.folder / "r.csv").unlink()
        self.write("r.csv.partial", "".join(lines[:3]))
        self.assertEqual(self.simulate(*self.options, "--resume").returncode, 1)
        self.assertEqual(self.read("r.csv"), table)

    def test_what_only_the_model_can_tell_is_a_row_too(self):
        ended = self.simulate(
            "--gpu", "h200", "--seq", "1K", "--timing", "timed", "--loop", "kv-outer,kv-inner"
        )
        self.assertEqual(ended.returncode, 1)
        self.assertEqual(sorted(self.column("status")), ["ok", "refused"])
        self.assertIn("kv-outer is not modelled in time", ended.stderr)

    def test_side_tables_have_the_points_that_ran(self):
        ended = self.simulate(*self.options, "--by-tensor", "t.csv", "--wavefront", "w.csv")
        self.assertEqual(ended.returncode, 1)
        ran = {row["run_id"] for row in self.rows() if row["status"] == "ok"}
        self.assertEqual({row["run_id"] for row in self.rows("t.csv")}, ran)
        self.assertEqual({row["run_id"] for row in self.rows("w.csv")}, ran)

    def test_too_little_memory_fails_its_point_and_no_other(self):
        limit = 80 << 20

        def limited():
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

        if self.program("--version", preexec_fn=limited).returncode != 0:
            self.skipTest("this build needs more address space, as those with sanitizers do")
        # 256K sequences in two parts, whose results are kept to the end: some 400 bytes a sequence.
        options = ["--gpu", "h200", "--seq", "128", "--tile-q", "128", "--tile-kv", "64"]
        options += ["--timing", "lockstep", "--l2", "lru", "--kv-split", "2", "--batch", "1,256K"]
        ended = self.simulate(*options, "--threads", "1", preexec_fn=limited)
        self.assertEqual(ended.returncode, 1)
        self.assertEqual(self.column("status"), ["ok", "failed"])
        self.assertEqual(self.rows()[1]["message"], "the memory is too small")
        self.assertIn("the memory is too small", ended.stderr)
        self.assertIn("batch 262144", ended.stderr)
        self.assertEqual(self.simulate(*options, "--resume").returncode, 0)
        self.assertEqual(self.column("status"), ["ok", "ok"])


class NothingLost(Sweep):
    def test_a_note_says_where_a_wavefront_is_cut(self):
        point = ["simulate", "--gpu", "gb10", "--csv", "r.csv", "--wavefront", "w.csv"]
        self.assertNotIn("cut", self.program(*point, "--seq", "4K").stderr)
        self.assertIn("cut after two waves", self.program(*point, "--seq", "16K").stderr)
        # Two waves of 48 items, each of 256 K/V tiles of 64 rows.
        self.assertEqual(len(self.rows("w.csv")), 2 * 48 * 256)
        point += ["--wavefront-steps", "3"]
        self.assertIn("cut after 3 steps", self.program(*point, "--seq", "4K").stderr)
        self.assertEqual(len(self.rows("w.csv")), 3 * 48)

    def test_a_signal_takes_the_unfinished_trace_away(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            words = ["trace", "--gpu", "gb10", "--seq", "512K", "--unit", "lines", "--write", "t"]
            writer = subprocess.Popen([PROGRAM, *words], cwd=self.folder, stderr=subprocess.PIPE)
            for _ in range(1000):
                if writer.poll() is not None or os.listdir(self.folder):
                    break
                time.sleep(0.01)
            if writer.poll() == 2:
                writer.communicate()
                self.skipTest("built without traces")
            self.assertEqual(os.listdir(self.folder), ["t.sawtooth-tmp"])
            writer.send_signal(number)
            writer.communicate(timeout=60)
            self.assertEqual(writer.returncode, 130)
            self.assertEqual(os.listdir(self.folder), [])

    def test_an_output_that_cannot_be_written_ends_before_the_work(self):
        # The point would take minutes.
        point = ["--gpu", "gb10", "--seq", "1M", "--heads", "64"]
        for option in ("--wavefront", "--timeline", "--by-tensor", "--histogram", "--miss-curve"):
            began = time.monotonic()
            ended = self.simulate(*point, option, "no/such/file")
            self.assertEqual(ended.returncode, 2)
            self.assertIn("no/such/file: cannot be written", ended.stderr)
            self.assertLess(time.monotonic() - began, 10)
        self.assertEqual(os.listdir(self.folder), [])


if __name__ == "__main__":
    unittest.main()
