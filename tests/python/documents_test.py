"""The Python blocks of README and docs, and the cells of every notebook, run as they stand."""

import importlib.util
import json
import os
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "docs"))
import code_blocks_test as blocks


class Pages(unittest.TestCase):
    def test_every_python_block_runs(self):
        found = 0
        for path in blocks.pages():
            for block in blocks.BLOCK.finditer(path.read_text(encoding="utf-8")):
                language, text = block.groups()
                if language == "python":
                    found += 1
                    with self.subTest(path.name):
                        exec(compile(text, f"{path.name}, block {found}", "exec"), {})
        self.assertGreater(found, 0)


class Notebooks(unittest.TestCase):
    def test_every_cell_runs(self):
        if importlib.util.find_spec("matplotlib") is None:
            self.skipTest("matplotlib is not installed")
        os.environ["MPLBACKEND"] = "agg"
        notebooks = sorted(ROOT.glob("experiments/studies/*/*.ipynb"))
        self.assertTrue(notebooks)
        for path in notebooks:
            cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
            if path.name == "paper.ipynb":
                self.assertEqual([cell["cell_type"] for cell in cells].count("code"), 10)
            names = {}
            for number, cell in enumerate(cells):
                if cell["cell_type"] == "code":
                    self.assertTrue(cell["outputs"], f"{path.name}, cell {number}")
                    code = compile("".join(cell["source"]), f"{path.name}, cell {number}", "exec")
                    exec(code, names)  # an assertion or an error of a cell fails here


if __name__ == "__main__":
    unittest.main()
