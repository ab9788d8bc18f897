"""Sweeps that are killed, that meet each other or that find no room end in the table of one that
was left alone, byte for byte."""

import os
import random
import resource
import signal
import subprocess
import time
import unittest

from in_folder import PROGRAM, InFolder, run  # noqa: E402  (the path above leads to it)

KILLS = 50
POINTS = 24
SWEEP = ["simulate", "--gpu", "gb10", "--scan", "linear,sawtooth", "--mask", "none,causal"]
SWEEP += ["--seq", "1K,2K,3K,4K,5K,6K", "--heads", "4", "--quiet"]
ROWS = ["--csv", "r.csv"]


class KillTest(InFolder):
    def start(self, *options, **more):
        more = dict(stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, **more)
        return subprocess.Popen([PROGRAM, *SWEEP, *ROWS, *options], cwd=self.folder, **more)

    def run_to_end(self, *options, **more):
        process = self.start(*options, **more)
        return process, process.communicate(timeout=60)[1]

    def uninterrupted(self):
        process, message = self.run_to_end("--threads", "1")
        self.assertEqual(process.returncode, 0, message)
        whole = self.read("r.csv")
        self.assertEqual(whole.count("\n"), 1 + POINTS)
        os.remove(os.path.join(self.folder, "r.csv"))
        return whole

    def expect_only(self, whole):
        self.assertEqual(self.read("r.csv"), whole)
        self.assertEqual(os.listdir(self.folder), ["r.csv"])

    def test_killed_sweeps_end_in_the_same_bytes(self):
        began = time.monotonic()
        whole = self.uninterrupted()
        lasts = time.monotonic() - began
        chance = random.Random(20260118)
        signals = [signal.SIGKILL, signal.SIGTERM, signal.SIGINT]
        kills = 0
        while kills < KILLS:
            for number in range(KILLS):
                process = self.start("--resume", "--threads", str(1 + number % 3))
                try:
                    process.communicate(timeout=chance.uniform(0, lasts))
                    self.assertEqual(process.returncode, 0)
                    break  # there is nothing left to do
                except subprocess.TimeoutExpired:
                    process.send_signal(signals[kills % len(signals)])
                    process.communicate(timeout=60)
                    kills += 1
            process, message = self.run_to_end("--resume")
            self.assertEqual(process.returncode, 0, message)
            self.assertEqual(self.read("r.csv"), whole)
            # SIGKILL leaves its temporary files and its lock; the next sweep takes them away.
            self.assertEqual(os.listdir(self.folder), ["r.csv"])
            os.remove(os.path.join(self.folder, "r.csv"))

    def test_of_two_writers_one_is_refused_and_the_other_writes_all(self):
        whole = self.uninterrupted()
        for _ in range(5):
            pair = [self.start("--resume", "--threads", "1") for _ in range(2)]
            messages = [process.communicate(timeout=60)[1] for process in pair]
            codes = sorted(process.returncode for process in pair)
            # The second one may also come when the first has ended, and then finds all rows.
            self.assertIn(codes, ([0, 2], [0, 0]), messages)
            for process, message in zip(pair, messages):
                if process.returncode == 2:
                    self.assertIn("another process is writing it", message)
            self.expect_only(whole)
            os.remove(os.path.join(self.folder, "r.csv"))

    def test_a_full_disk_ends_with_a_message_and_loses_no_row(self):
        whole = self.uninterrupted()

        def room_for(size):
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # writing fails instead, as on a disk
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

        for part in range(1, 10):
            size = len(whole) * part // 10
            process, message = self.run_to_end("--resume", preexec_fn=lambda: room_for(size))
            self.assertEqual(process.returncode, 1, message)
            self.assertIn("is the disk full?", message)
            self.assertNotIn("r.csv", os.listdir(self.folder))
        process, message = self.run_to_end("--resume")
        self.assertEqual(process.returncode, 0, message)
        self.expect_only(whole)

    def test_a_device_without_room_is_named(self):
        process = run(*SWEEP, "--csv", "/dev/full")
        self.assertEqual(process.returncode, 1)
        self.assertIn("/dev/full: writing failed", process.stderr)


if __name__ == "__main__":
    unittest.main()
