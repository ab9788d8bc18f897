"""Every notebook of the studies runs from its first cell to its last."""

import importlib.util
import json
import os
import pathlib
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


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
                    code = compile("".join(cell["source"]), f"{path.name}, cell {number}", "exec")
                    exec(code, names)  # an assertion or an error of a cell fails here


if __name__ == "__main__":
    unittest.main()
