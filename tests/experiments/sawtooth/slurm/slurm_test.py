"""The job array does a sweep with a stand-in for sbatch, and starts what has died once more."""

import os
import stat
import subprocess
import unittest

from in_folder import PROGRAM, InFolder  # noqa: E402  (the path above leads to it)

CONFIG = "l2-bytes = 1MiB\nworkers = 4\nseq = 64..640:64\nscan = linear, sawtooth\n"
# Runs the tasks of an array at once; the first one of each job in $DIE dies in its midst. What waits
# for a job's end (--wrap) runs then.
SBATCH = """#!/bin/bash
echo "$@" >>"$LOG"
n=$(wc -l <"$LOG")
echo "$n"
for ((i = 1; i <= $#; ++i)); do
  case ${!i} in
    --array=*) list=${!i#--array=} ;;
    --wrap) next=$((i + 1)); bash -c "${!next}" >&2; exit ;;
  esac
done
for id in ${list//,/ }; do
  if [ -n "$DIE" ] && [ ! -e "$DIE.$id" ]; then touch "$DIE.$id"; continue; fi
  SLURM_ARRAY_TASK_ID=$id bash "${!#}" >&2
done
exit 0
"""


class Slurm(InFolder):
    suffix = " it's"

    def setUp(self):
        super().setUp()
        self.write("c.ini", CONFIG)
        sbatch = self.folder / self.write("bin/sbatch", SBATCH)
        sbatch.chmod(sbatch.stat().st_mode | stat.S_IXUSR)
        self.environment = dict(os.environ, LOG=str(self.folder / "log"), DIE="")
        self.environment["PATH"] = f"{sbatch.parent}:{os.environ['PATH']}"
        self.environment.pop("SLURM_ARRAY_TASK_ID", None)

    def run_to_end(self, *words, code=0, **more):
        more = dict(cwd=self.folder, env=dict(self.environment, **more), timeout=100)
        ended = subprocess.run(words, capture_output=True, text=True, **more)
        self.assertEqual(ended.returncode, code, ended.stderr)
        return ended

    def script(self, *options):
        text = self.run_to_end(PROGRAM, "slurm", "c.ini", *options).stdout
        self.write("s.sh", text)
        self.run_to_end("bash", "-n", "s.sh")
        return text

    def expect_the_table_of_one_process(self, name="c.csv"):
        self.run_to_end(PROGRAM, "simulate", "c.ini", "--quiet", "--csv", "one.csv")
        self.assertEqual(self.read(name), self.read("one.csv"))

    def test_tasks_one_after_the_other_make_the_table(self):
        text = self.script("--tasks", "3", "--sbatch", "--time=1:00:00 --mem=1G", "--csv", "t.csv")
        self.assertIn("#SBATCH --array=1-3\n", text)
        self.assertIn("#SBATCH --time=1:00:00 --mem=1G\n", text)
        for task in ("1", "2"):
            self.run_to_end("bash", "s.sh", SLURM_ARRAY_TASK_ID=task)
        self.assertEqual(self.run_to_end("bash", "s.sh", "missing").stdout, "3\n")
        self.run_to_end("bash", "s.sh", SLURM_ARRAY_TASK_ID="3")
        self.assertEqual(self.run_to_end("bash", "s.sh", "missing").stdout, "\n")
        self.run_to_end("bash", "s.sh", "merge")
        self.expect_the_table_of_one_process("t.csv")

    def test_submit_starts_what_has_died_again_and_merges(self):
        self.script("--tasks", "4")
        self.run_to_end("bash", "s.sh", "submit", DIE=str(self.folder / "died"))
        submitted = self.read("log").splitlines()
        arrays = [line for line in submitted if "--array" in line]
        self.assertEqual(len(arrays), 2, submitted)
        self.assertIn("--array=1,2,3,4", arrays[1])
        self.expect_the_table_of_one_process()

    def test_submit_gives_up_and_says_what_is_missing(self):
        self.script("--tasks", "2")
        self.run_to_end("bash", "s.sh", SLURM_ARRAY_TASK_ID="1")
        ended = self.run_to_end("bash", "s.sh", "submit", "0", code=1)
        self.assertIn("without a complete table: tasks 2", ended.stderr)

    def test_mistakes_are_named(self):
        self.script("--tasks", "2")
        self.assertIn("usage", self.run_to_end("bash", "s.sh", code=2).stderr)
        self.assertIn("x: no command", self.run_to_end("bash", "s.sh", "x", code=2).stderr)
        ended = self.run_to_end(PROGRAM, "slurm", "c.ini", code=2)
        self.assertIn("--tasks: not given; how many tasks the array has, of 20", ended.stderr)
        self.assertIn(
            "needs a conf", self.run_to_end(PROGRAM, "slurm", "--tasks", "2", code=2).stderr
        )


if __name__ == "__main__":
    unittest.main()
