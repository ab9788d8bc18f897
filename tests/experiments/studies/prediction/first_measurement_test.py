"""experiments/studies/prediction/first_measurement.sh: with a program that answers `calibrate`, `measure` and `teach`
with what was once recorded of an H200, and hands every other command on."""

import os
import shutil
import subprocess
import sys
import tarfile
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[3] / "support"))
from in_folder import PROGRAM, ROOT, InFolder  # noqa: E402  (the path above leads to it)

EXPERIMENTS = ROOT / "experiments"
SCRIPT = EXPERIMENTS / "studies" / "prediction" / "first_measurement.sh"

LIST = """gpu = h200
head-dim = 64
tile-q = 128
tile-kv = 128
seq = 32K, 64K
scan = linear, sawtooth
"""
RECORDED = """#!/usr/bin/env bash
set -eu
echo "$1" >>"{folder}/calls"
case $1 in
  calibrate)
    mkdir "$3"
    cp "{experiments}/profiles/gpus/h200.ini" "$3"
    [ ! -e "{folder}/breaks" ] || exit 3
    printf '[run]\\ncommand = calibrate\\n[gpu-before]\\nname = NVIDIA H200\\n' >"$3/provenance.ini" ;;
  measure)
    awk -F, 'NR == 1 || ($10 >= 32768 && $10 <= 65536)' \\
      "{experiments}/data/h200/orders/matching.csv" >"$5" ;;
  teach)
    ! cut -d, -f23 "$2" | grep sawtooth
    cp "{experiments}/profiles/kernels/mma-h200.ini" "$4" ;;
  *) exec "{program}" "$@" ;;
esac
"""


class FirstMeasurement(InFolder):
    def setUp(self):
        super().setUp()
        self.write("mine.ini", LIST)
        places = dict(folder=self.folder, experiments=EXPERIMENTS, program=PROGRAM)
        (self.folder / self.write("program", RECORDED.format(**places))).chmod(0o755)

    def script(self, *words):
        return subprocess.run(
            [SCRIPT, *words],
            cwd=self.folder,
            env={**os.environ, "SAWTOOTH": str(self.folder / "program")},
            capture_output=True,
            text=True,
            timeout=100,
        )

    def measured(self):
        done = self.script("measure", "mine.ini")
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.folder / "runs" / "first-mine.tar.gz"

    def calls(self):
        return self.read("calls").split()

    def test_all_that_was_measured_lies_in_one_archive_that_compare_reads(self):
        archive = self.measured()
        with tarfile.open(archive) as packed:
            names = {name.removeprefix("./") for name in packed.getnames()}
        self.assertLessEqual(
            {"list.ini", "results.csv", "kernel.ini", "SHA256SUMS"}
            | {"calibration/h200.ini", "calibration/provenance.ini"},
            names,
        )
        compared = self.script("compare", str(archive))
        self.assertEqual(compared.returncode, 0, compared.stderr)
        self.assertIn("name = NVIDIA H200", compared.stdout)
        before, after = compared.stdout.split("with costs taught from its linear scans:")
        for report in (before, after):
            self.assertRegex(report, r"dram_read_sectors +4 ")  # two lengths, two scans
            self.assertRegex(report, r"time_us +4 ")

    def test_a_second_call_goes_on_and_calibrates_again_only_where_that_broke_off(self):
        (self.folder / "breaks").touch()
        self.assertEqual(self.script("measure", "mine.ini").returncode, 3)
        (self.folder / "breaks").unlink()
        self.measured()
        self.measured()
        self.assertEqual(self.calls().count("calibrate"), 2)
        self.assertEqual(self.calls().count("measure"), 2)

    def test_an_archive_that_was_changed_is_refused(self):
        archive = self.measured()
        inside = self.folder / "inside"
        shutil.unpack_archive(archive, inside)
        with open(inside / "results.csv", "a", encoding="utf-8") as rows:
            rows.write("\n")
        changed = shutil.make_archive(self.folder / "changed", "gztar", inside)
        refused = self.script("compare", changed)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("not as it was packed", refused.stderr)

    def test_wrong_words_are_refused_in_a_line(self):
        for words, wanted in (
            ([], "usage: "),
            (["measure"], "usage: "),
            (["measure", "a999"], "no list 'a999'; allowed: a100 calibration"),
            (["compare", "none.tar.gz"], "none.tar.gz: no such file"),
            (["compare", "mine.ini"], "mine.ini: no archive"),
        ):
            with self.subTest(words=words):
                refused = self.script(*words)
                self.assertEqual(refused.returncode, 2)
                self.assertIn(wanted, refused.stderr)
                self.assertEqual(len(refused.stderr.splitlines()), 1)
        self.assertFalse((self.folder / "calls").exists())


if __name__ == "__main__":
    unittest.main()
