"""The program of the package: its command, commands as functions, and tables for notebooks."""

import importlib.util
import inspect
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import sawtooth

SMALL = {"gpu": "gb10", "seq": "1K"}


class Program(unittest.TestCase):
    def test_the_environment_has_the_command(self):
        command = Path(sys.executable).parent / "sawtooth"
        words = [command, "simulate", "--gpu", "gb10", "--seq", "1K", "--csv", "-", "--quiet"]
        self.assertEqual(subprocess.check_output(words).count(b"\n"), 2)

    def test_arguments_have_names_defaults_and_help(self):
        for function, name, default in (
            (sawtooth.simulate, "pass_", "forward"),
            (sawtooth.advise, "scan", "linear"),
            (sawtooth.search, "minimise", None),
        ):
            parameter = inspect.signature(function).parameters[name]
            self.assertEqual(parameter.kind, inspect.Parameter.KEYWORD_ONLY)
            self.assertIn(default, (None, parameter.default))
            self.assertIn(f"\n      {name}: ", function.__doc__)

    def test_search_gives_the_best_first_and_advise_a_row_an_order(self):
        self.assertEqual(sawtooth.search(**SMALL, mask="causal", budget="20")[0]["rank"], 1)
        advice = sawtooth.advise(gpu="h200", seq="1K", scan=["linear", "sawtooth"])
        self.assertEqual(advice.column("scan"), ["linear", "sawtooth"])

    def test_a_trace_is_written_and_read(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "visits.csv")
            sawtooth.trace(**SMALL, write=path, format="csv")
            tables = sawtooth.trace(read=path, gpu="gb10"), sawtooth.simulate(**SMALL)
            self.assertEqual(*(table.column("l2_read_sectors") for table in tables))

    @unittest.skipUnless(importlib.util.find_spec("matplotlib"), "matplotlib is not installed")
    def test_plot_draws_a_table(self):
        rows = sawtooth.simulate(gpu="gb10", seq=["1K", "2K"], scan=["linear", "sawtooth"])
        with tempfile.TemporaryDirectory() as folder:
            output = os.path.join(folder, "reads.png")
            self.assertEqual(sawtooth.plot("reads_by_length", rows, output=output), [output])
            self.assertTrue(Path(output).read_bytes().startswith(b"\x89PNG"))
            curve = sawtooth.simulate(**SMALL, timing="lockstep", l2="lru").miss_curve(0)
            self.assertEqual(sawtooth.plot("miss_curve", curve, output=output), [output])

    def test_mistakes_name_the_key(self):
        for function in (sawtooth.search, sawtooth.advise):
            with self.assertRaisesRegex(sawtooth.UsageError, "^head_dim: "):
                function(**SMALL, head_dim=0)

    def test_bench_names_a_wrong_argument_and_what_is_missing(self):
        with self.assertRaisesRegex(sawtooth.DeviceError, "PyTorch|GPU|no kernels"):
            sawtooth.bench(seq="1K")
        for name, value in (("mask", "window:8"), ("seq", "long"), ("heads", 0), ("pass_", "both")):
            with self.assertRaisesRegex(sawtooth.UsageError, f"^{name} is "):
                sawtooth.bench(**{name: value})


class Tables(unittest.TestCase):
    def test_a_notebook_shows_what_differs_and_what_a_row_is_read_for(self):
        table = sawtooth.simulate(gpu="gb10", seq="1K", scan=["linear", "sawtooth"])
        for text in ("<th>scan", "<td>sawtooth", "<th>dram_read_sectors", "<td>12,288"):
            self.assertIn(text + "</", page := table._repr_html_())
        with tempfile.TemporaryDirectory() as folder:  # no file is half a table at any time
            table.to_csv(path := folder + "/a")
            os.link(path, folder + "/b")
            self.assertRaises(FileExistsError, table.to_csv, path)
        self.assertNotIn("<th>head_dim</th>", page)  # the same in both

    @unittest.skipUnless(importlib.util.find_spec("pandas"), "pandas is not installed")
    def test_columns_go_to_pandas_and_the_nearest_is_offered(self):
        frame = (table := sawtooth.simulate(**SMALL)).to_pandas()
        self.assertEqual(frame["l2_read_sectors"].sum(), table[0]["l2_read_sectors"])
        with self.assertRaisesRegex(KeyError, "did you mean dram_read_sectors"):
            sawtooth.simulate(**SMALL).column("dram_reads_sectors")
