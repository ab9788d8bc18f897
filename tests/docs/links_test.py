"""Relative links of the Markdown pages lead to files of the project, its scripts can be run by their names, and
docs/reference/columns.md explains the columns that the program writes, in their order."""

import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def pages():
    """Markdown pages outside of build and run folders."""
    return [
        page
        for page in ROOT.rglob("*.md")
        if page.relative_to(ROOT).parts[0] not in ("build", "runs")
    ]


class Links(unittest.TestCase):
    def test_every_relative_link_leads_somewhere(self):
        self.assertIn(ROOT / "README.md", pages())
        for page in pages():
            for link in LINK.findall(page.read_text(encoding="utf-8")):
                if "://" in link:
                    continue
                with self.subTest(page=str(page.relative_to(ROOT)), link=link):
                    self.assertTrue((page.parent / link).exists())


class Scripts(unittest.TestCase):
    def test_every_script_that_names_its_interpreter_may_be_executed(self):
        listed = subprocess.run(
            ["git", "-C", ROOT, "ls-files"], capture_output=True, text=True, check=False
        ).stdout.split()
        if not listed:
            self.skipTest("no clone of the project: git lists no files")
        scripts = [path for path in listed if (ROOT / path).read_bytes()[:3] == b"#!/"]
        self.assertIn("experiments/reproduce.sh", scripts)
        for script in scripts:
            with self.subTest(script):
                self.assertTrue(os.access(ROOT / script, os.X_OK))


class Columns(unittest.TestCase):
    def test_the_page_explains_every_column_in_order(self):
        page = (ROOT / "docs/reference/columns.md").read_text(encoding="utf-8")
        # Names in bold at the head of the list's items, before the next chapter.
        heads = re.findall(r"\*\*([^*]+)\*\*:", page.split("\n## ")[0])
        explained = [name for head in heads for name in re.split(r",\s+", head)]
        header = subprocess.check_output([program, "--csv-header"], text=True)
        self.assertEqual(explained, header.strip().split(","))


if __name__ == "__main__":
    program = sys.argv.pop()
    unittest.main(verbosity=2)
