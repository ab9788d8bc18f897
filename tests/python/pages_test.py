"""The Python blocks of README and docs run as they stand."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "docs"))
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


if __name__ == "__main__":
    unittest.main()
