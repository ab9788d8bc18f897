#!/usr/bin/env python3
"""Folders include each other along the allowed arrows only, and never in a circle."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = "experiments/sawtooth"
SOURCES = (".cpp", ".hpp", ".cu", ".cuh")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)

# Top folders: who may include whom.
TOP_ARROWS = {
    "scheduler": set(),
    "sim": {"scheduler"},
    "kernels": {"scheduler"},
    "cupti": {"scheduler"},
    "experiments": {"scheduler", "sim", "kernels", "cupti"},
}

# The program: below and above its command folders.
FIRST = ("support", "inputs", "results")
LAST = "cli"


def edges(folder, names):
    """{(from, to): a file that includes}, between the `names` below `folder`."""
    found = {}
    base = ROOT / folder
    for name in names:
        for path in sorted((base / name).rglob("*")):
            if path.suffix not in SOURCES:
                continue
            for include in INCLUDE.findall(path.read_text(encoding="utf-8")):
                target = (ROOT / include) if (ROOT / include).exists() else path.parent / include
                try:
                    other = target.resolve().relative_to(base).parts[0]
                except ValueError:
                    continue
                if other in names and other != name:
                    found.setdefault((name, other), path.relative_to(ROOT).as_posix())
    return found


def circle(arrows):
    """Folders that include each other in a circle, or nothing."""
    graph = {}
    for begin, end in arrows:
        graph.setdefault(begin, set()).add(end)
    done = set()

    def visit(node, path):
        if node in path:
            return path[path.index(node) :] + [node]
        if node in done:
            return None
        for follower in sorted(graph.get(node, ())):
            found = visit(follower, path + [node])
            if found:
                return found
        done.add(node)
        return None

    for node in sorted(graph):
        found = visit(node, [])
        if found:
            return found
    return None


class Layers(unittest.TestCase):
    def test_top_folders_include_along_the_allowed_arrows(self):
        for (begin, end), path in edges(".", list(TOP_ARROWS)).items():
            self.assertIn(end, TOP_ARROWS[begin], f"{path} includes {end}/")

    def test_folders_of_the_program_form_no_circle(self):
        arrows = edges(PROGRAM, self.folders())
        found = circle(arrows)
        if found:
            self.fail(" -> ".join(found) + ": " + arrows[found[0], found[1]])

    def test_commands_lie_between_results_and_the_command_line(self):
        arrows = edges(PROGRAM, self.folders())
        for (begin, end), path in arrows.items():
            if begin in FIRST:
                self.assertIn(end, FIRST[: FIRST.index(begin)], f"{path} includes {end}/")
            self.assertNotEqual(end, LAST, f"{path} includes {end}/")

    def test_a_circle_is_found(self):
        self.assertEqual(circle({("a", "b"): "", ("b", "c"): "", ("c", "b"): ""}), ["b", "c", "b"])
        self.assertIsNone(circle({("a", "b"): "", ("a", "c"): "", ("b", "c"): ""}))

    def folders(self):
        return [p.name for p in (ROOT / PROGRAM).iterdir() if p.is_dir() and any(p.rglob("*.hpp"))]


if __name__ == "__main__":
    unittest.main()
