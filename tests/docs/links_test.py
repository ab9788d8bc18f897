"""Every relative link of the Markdown pages leads to a file of the project."""

import re
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


if __name__ == "__main__":
    unittest.main(verbosity=2)
