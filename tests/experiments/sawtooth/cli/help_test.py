"""What people read: help and man pages with examples and every flag, 80 columns, names by their families,
the nearest name of a column, completion of figures and GPUs, and what is said about files."""

import os
import re
import subprocess
import unittest

from in_folder import PROGRAM, InFolder, run  # noqa: E402  (the path above leads to it)

COMMANDS = re.findall(r"sawtooth\\-([a-z\\-]+)\(1\)", run("--man").stdout)
COMMANDS = [name.replace("\\", "") for name in COMMANDS]
FLAGS = {
    "record": ["kernel", "nvtx", "skip", "count", "metrics", "flush", "device", "gpu", "csv"],
    "teach": ["output", "gpu", "threads", "quiet"],
    "order": ["q-tiles", "order-file", "wavefront", "wavefront-steps"],
    "import-ncu": ["kernel", "label", "map", "csv"],
}


class Faces(InFolder):
    def run_program(self, *words, code=0):
        """On no terminal, without $COLUMNS, and where no GPU is seen."""
        environment = {key: value for key, value in os.environ.items() if key != "COLUMNS"}
        environment["CUDA_VISIBLE_DEVICES"] = ""
        return self.program(*words, code=code, env=environment)

    def test_every_command_has_an_example_that_its_help_explains(self):
        self.assertIn("simulate", COMMANDS)
        for command in COMMANDS:
            with self.subTest(command):
                text = self.run_program(command, "--help").stdout
                found = re.search(
                    rf"[Ee]xample:?\n? +(sawtooth {command}[^\n]*(?:\n      [^\n]*)*)", text
                )
                self.assertTrue(found, text[-300:])
                example = " ".join(found[1].split())
                for option in re.findall(r" (--[a-z-]+) ", example.partition(" -- ")[0]):
                    self.assertIn(f"  {option}", text)
                page = self.run_program("--man", command).stdout.replace("\\", "")
                self.assertIn(f".SH EXAMPLE\nsawtooth {command}", page)
        self.assertIn(".SH EXAMPLE\nsawtooth simulate ", self.run_program("--man").stdout)

    def test_commands_about_other_programs_explain_each_flag(self):
        for command, flags in FLAGS.items():
            text = self.run_program(command, "--help").stdout
            page = self.run_program("--man", command).stdout.replace("\\", "")
            for flag in flags:
                with self.subTest(f"{command} --{flag}"):
                    self.assertRegex(text, rf"\n  --{flag}( [A-Z]+)? +[A-Za-z]")
                    self.assertRegex(page, rf"fB--{flag}( [A-Z]+)?fR\n[A-Za-z]")
        nearest = self.run_program("record", "--kernal", "x", "--", "true", code=2).stderr
        self.assertIn("did you mean kernel?", nearest)

    def test_help_is_80_columns_wide(self):
        for words in ([], *([command] for command in COMMANDS), ["plot", "--list"]):
            text = self.run_program(*words, *([] if "--list" in words else ["--help"])).stdout
            longest = max(text.splitlines(), key=len)
            self.assertLessEqual(len(longest), 80, f"{words}: {longest}")

    def test_a_gpu_is_named_by_its_family(self):
        both = self.run_program("gpus", "a100").stdout
        self.assertIn("a100-sxm-40gb", both)
        self.assertIn("a100-sxm-80gb", both)
        self.assertEqual(both.count("\n"), 2)
        refused = self.run_program("simulate", "--gpu", "A100", "--seq", "1K", code=2).stderr
        self.assertIn("a100-sxm-40gb, a100-sxm-80gb", refused)
        point = ["simulate", "--seq", "1K", "--quiet", "--csv", "-", "--gpu"]
        self.assertEqual(
            self.run_program(*point, "h100").stdout, self.run_program(*point, "h100-sxm").stdout
        )

    def test_the_a100_of_80_gb_has_the_faster_memory_and_all_else_of_the_other(self):
        # 2,039 GB/s: NVIDIA's data sheet of the A100 80GB SXM.
        said = [self.run_program("gpus", f"a100-sxm-{size}gb").stdout for size in (40, 80)]
        rate = [re.search(r"dram-gb-per-s +([0-9.]+)", text)[1] for text in said]
        self.assertEqual(rate, ["1555", "2039"])
        sms = [re.search(r"\n  sms +([0-9]+)", text)[1] for text in said]
        self.assertEqual(sms, ["108", "108"])

    def test_the_nearest_column_is_offered(self):
        self.run_program("simulate", "--gpu", "gb10", "--seq", "1K", "--csv", "p.csv", "--quiet")
        words = ["compare", "p.csv", "p.csv", "--counters", "dram_reads_sectors"]
        self.assertIn("did you mean dram_read_sectors?", self.run_program(*words, code=2).stderr)
        words[3:] = ["--tolerance", "dram_read_sector=5%"]
        self.assertIn("did you mean dram_read_sectors?", self.run_program(*words, code=2).stderr)
        drawn = ["plot", "xy", "p.csv", "--x", "seq_kw", "--y", "misses", "-o", "f"]
        if "matplotlib" not in run(*drawn).stderr:
            refused = self.run_program(*drawn, code=2).stderr
            self.assertIn("no column seq_kw; did you mean seq_kv?", refused)

    def test_completion_knows_commands_options_values_figures_gpus_and_flags(self):
        script = self.run_program("--completion", "bash").stdout
        (self.folder / "completion").write_text(script)

        def completed(*words):
            line = (
                f"PATH={os.path.dirname(PROGRAM)}:$PATH; source completion; COMP_WORDS=({' '.join(words)}); "
                "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _sawtooth; echo ${COMPREPLY[@]}"
            )
            done = subprocess.run(
                ["bash", "-c", line], capture_output=True, text=True, cwd=self.folder
            )
            return done.stdout.split()

        self.assertEqual(completed("sawtooth", "sim"), ["simulate"])
        self.assertEqual(completed("sawtooth", "simulate", "--miss"), ["--miss-curve"])
        self.assertEqual(completed("sawtooth", "simulate", "--scan", "att"), ["attach"])
        last_of_a_list = completed("sawtooth", "simulate", "--scan", "linear,att")
        self.assertEqual(last_of_a_list, ["linear,attach"])
        self.assertEqual(completed("sawtooth", "simulate", "--gpu", "gb1"), ["gb10"])
        self.assertEqual(completed("sawtooth", "plot", "miss_c"), ["miss_curve"])
        self.assertEqual(completed("sawtooth", "gpus", "a100"), ["a100-sxm-40gb", "a100-sxm-80gb"])
        self.assertEqual(completed("sawtooth", "record", "--ker"), ["--kernel"])
        self.assertIn("h200", completed("sawtooth", "teach", "--gpu", "h2"))
        for shell in ("zsh", "fish"):
            text = self.run_program("--completion", shell).stdout
            self.assertIn("plot --list", text)
            self.assertIn("a100-sxm-80gb", text)

    def test_a_timeline_of_several_points_says_so(self):
        said = self.run_program("simulate --gpu gb10 --seq 512,1K --csv r.csv --timeline t.json")
        self.assertIn("t.json: 2 points, a process each", said.stderr)

    def test_a_dry_run_of_measure_needs_no_kernels(self):
        words = ["measure", "--dry-run", "--gpu", "h200", "--seq", "4K", "--head-dim", "128"]
        said = self.run_program(*words, "--scan", "linear,sawtooth").stdout
        self.assertEqual(
            len(re.findall(r"point: seq 4096x4096, .* -> kernel \w+ \d+x\d+, ", said)), 2
        )
        self.assertIn("GH100", said)
        for keys, why in (
            ("--tile-q 48 --tile-kv 48", "48.* allowed[a-z ]*: .*128x64"),
            ("--dtype fp8", "fp8"),
            ("--loop kv-outer", "kv-outer.* kv-inner"),
            ("--gpu gb10 --tile-q 128 --tile-kv 64", "101376 bytes .* gb10.* 102400"),
        ):
            wrong = run(*words, *keys.split())
            self.assertIn(wrong.returncode, (1, 2))  # a build with kernels refuses the whole call
            self.assertRegex(wrong.stdout + wrong.stderr, why)

    def test_a_run_without_a_gpu_ends_well_with_a_page_and_says_what_is_missing(self):
        self.write("sweep.ini", "gpu = gb10\nseq = 1K, 2K\nscan = linear, sawtooth\n")
        said = self.run_program("run", "sweep.ini")
        self.assertIn("predicted alone: measured.csv and compare.csv are missing", said.stdout)
        run = self.folder / "runs" / "sweep"
        page = (run / "report.html").read_text()
        self.assertIn("part-curve", page)
        names = {path.name for path in run.iterdir()}
        self.assertLessEqual(
            {"results.csv", "miss_curve.csv", "wavefront.csv", "report.html"}, names
        )
        if "no figures" not in said.stderr:
            drawn = {path.name for path in (run / "plots").iterdir()}
            self.assertLessEqual({"miss_curve.png", "wavefront.png", "reads_by_length.png"}, drawn)


if __name__ == "__main__":
    unittest.main(verbosity=2)
