"""docs/reference/columns.md explains the columns that the program writes, in their order."""

import re
import subprocess
import sys
import unittest
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs/reference/columns.md"


def explained():
    """Names in bold at the head of the list's items, before the next chapter."""
    chapter = PAGE.read_text(encoding="utf-8").split("\n## ")[0]
    heads = re.findall(r"\*\*([^*]+)\*\*:", chapter)
    return [name for head in heads for name in re.split(r",\s+", head)]


class Columns(unittest.TestCase):
    def test_the_page_explains_every_column_in_order(self):
        header = subprocess.run(
            [program, "--csv-header"], check=True, capture_output=True, text=True
        )
        self.assertEqual(explained(), header.stdout.strip().split(","))


if __name__ == "__main__":
    program = sys.argv.pop()
    unittest.main(verbosity=2)
