"""Ranks of mpirun write the table of one process; one that is killed loses no finished row."""

import os
import shutil
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

from in_folder import PROGRAM, InFolder  # noqa: E402  (the path above leads to it)

SWEEP = ["simulate", "--gpu", "gb10", "--scan", "linear,sawtooth", "--mask", "none,causal"]
SWEEP += ["--seq", "1K..12K:1K", "--heads", "4", "--quiet"]
# Of minutes in all, none of them longer than a second or so.
LONG = ["simulate", "--gpu", "h200", "--timing", "timed", "--seq", "8K", "--head-dim", "128"]
LONG += ["--tiles", "kernel", "--heads", "2", "--seed", "1..1000", "--quiet"]
MPIRUN = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n"]


def ranks_of(pid):
    """Processes of this program below `pid`."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            stat = Path(f"/proc/{name}/stat").read_text(encoding="ascii").rsplit(") ", 1)[1]
            if int(stat.split()[1]) != pid or os.readlink(f"/proc/{name}/exe") != PROGRAM:
                continue
            words = Path(f"/proc/{name}/environ").read_bytes().split(b"\0")
            rank = [w for w in words if w.startswith(b"OMPI_COMM_WORLD_RANK=")]
            found.append((int(rank[0].split(b"=")[1]), int(name)))
        except (OSError, IndexError):
            continue
    return dict(found)


class Mpirun(InFolder):
    def setUp(self):
        super().setUp()
        self.environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1")
        self.environment["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"

    def start(self, ranks, *words):
        launcher = [*MPIRUN, str(ranks)] if ranks else []
        streams = dict(stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        place = dict(cwd=self.folder, env=self.environment)
        return subprocess.Popen([*launcher, PROGRAM, *words], **place, **streams)

    def run_to_end(self, ranks, *words, code=0):
        process = self.start(ranks, *words)
        out, error = process.communicate(timeout=100)
        self.assertEqual(process.returncode, code, error)
        return out, error

    def test_three_ranks_write_the_rows_of_one_process(self):
        tables = ["--by-tensor", "t.csv", "--miss-curve", "m.csv"]
        for options in (tables, []):
            self.run_to_end(0, *SWEEP, *options, "--csv", "one.csv")
            expected = [self.read(name) for name in ["one.csv", *options[1::2]]]
            self.run_to_end(3, *SWEEP, *options, "--csv", "three.csv")
            written = [self.read(name) for name in ["three.csv", *options[1::2]]]
            self.assertEqual(written, expected)
        self.assertEqual(self.run_to_end(3, *SWEEP, "--csv", "-")[0], expected[0])
        self.assertEqual(len(os.listdir(self.folder)), 4)

    def test_refused_points_and_mistakes_are_those_of_one_process(self):
        refused = [*SWEEP, "--l2", "lru,sets", "--l2-ways", "7", "--csv"]
        self.run_to_end(0, *refused, "one.csv", code=1)
        self.run_to_end(3, *refused, "three.csv", code=1)
        self.assertEqual(self.read("three.csv"), self.read("one.csv"))
        _, error = self.run_to_end(3, *SWEEP, "--kv-heads", "x", "--csv", "-", code=2)
        self.assertEqual(error.count("--kv-heads: 'x' is not allowed"), 1, error)
        _, error = self.run_to_end(3, *SWEEP, "--threads", "2", "--csv", "-", code=2)
        self.assertIn("--threads: each process of a job simulates one point", error)

    def interrupted(self, kill):
        """Starts a long sweep, lets `kill` end it, and goes on with a part of it."""
        process = self.start(3, *LONG, "--csv", "r.csv")
        partial = self.folder / "r.csv.partial"
        deadline = time.monotonic() + 60
        while not partial.exists() or partial.read_bytes().count(b"\n") < 8:
            self.assertIsNone(process.poll())
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)
        before = partial.read_bytes()
        before = before[: before.rfind(b"\n") + 1]
        kill(process)
        process.communicate(timeout=60)
        self.assertNotEqual(process.returncode, 0)
        self.assertTrue(partial.read_bytes().startswith(before), "a finished row was lost")
        self.assertFalse((self.folder / "r.csv").exists())
        seeds = [line.split(b",") for line in before.splitlines()]
        column = seeds[0].index(b"seed")
        done = sorted(int(cells[column]) for cells in seeds[1:])
        rest = ["--seed", f"1..{max(done) + 2}"]
        self.run_to_end(3, *LONG, *rest, "--csv", "r.csv", "--resume")
        self.run_to_end(0, *LONG, *rest, "--csv", "one.csv")
        whole = self.read("one.csv").splitlines()
        resumed = self.read("r.csv").splitlines()
        # Rows of seeds beyond the part stand in front, as those of another sweep.
        self.assertEqual(resumed[0], whole[0])
        self.assertEqual(resumed[-len(whole) + 1 :], whole[1:])

    def test_a_rank_that_is_killed_loses_no_finished_row(self):
        def kill(process):
            ranks = ranks_of(process.pid)
            self.assertEqual(sorted(ranks), [0, 1, 2])
            os.kill(ranks[2], signal.SIGKILL)

        self.interrupted(kill)

    def test_a_job_that_is_killed_loses_no_finished_row(self):
        def kill(process):
            ranks = ranks_of(process.pid)
            process.kill()
            for rank in ranks.values():
                os.kill(rank, signal.SIGKILL)
            # Until it has ended, rank 0 holds the lock of the table.
            deadline = time.monotonic() + 30
            while any(os.path.exists(f"/proc/{rank}/fd/0") for rank in ranks.values()):
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.01)

        self.interrupted(kill)

    def test_an_interrupted_job_leaves_its_rows(self):
        self.interrupted(lambda process: process.send_signal(signal.SIGINT))

    def test_a_build_without_mpi_says_so(self):
        alone = shutil.copy(PROGRAM, self.folder / "sawtooth")
        environment = dict(self.environment, OMPI_COMM_WORLD_SIZE="3")
        ended = subprocess.run(
            [alone, *SWEEP], env=environment, capture_output=True, text=True, timeout=60
        )
        self.assertEqual(ended.returncode, 2)
        self.assertIn("but this build has no MPI", ended.stderr)
        environment["OMPI_COMM_WORLD_SIZE"] = "1"
        environment["SAWTOOTH_EXPERIMENTS"] = str(Path(__file__).parents[4] / "experiments")
        ended = subprocess.run(
            [alone, *SWEEP], env=environment, capture_output=True, text=True, timeout=60
        )
        self.assertEqual(ended.returncode, 0, ended.stderr)


if __name__ == "__main__":
    if shutil.which("mpirun") is None or not Path(PROGRAM).with_name("libsawtooth_mpi.so").exists():
        print("skipped: no mpirun, or a build without MPI")
        sys.exit(77)
    unittest.main()
