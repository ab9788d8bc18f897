"""Pages whose figures are computed. In a Markdown page `<!-- expression | format -->text<!-- end -->`
holds what Python's `expression` over a page's own functions gives, printed by Python's format
specification; a table stands on lines of its own between the two. Standard library only.
"""

import os
import re
import sys

from output import lines, write_text

FIELD = re.compile(r"<!-- (?!end )(.+?) -->(\n?).*?<!-- end -->", re.DOTALL)
ALLOWED = {"dict": dict, "abs": abs, "max": max, "min": min, "round": round, "len": len}


def table(head, rows):
    """A Markdown table without spaces around cells, as a number is no word; `head` has | between them."""
    cells = (head.split("|"), ["---"] * (head.count("|") + 1), *rows)
    return "\n".join(f"|{'|'.join(map(str, row))}|" for row in cells)


def words_of(page):
    """The public methods and attributes of an object."""
    return {name: getattr(page, name) for name in dir(page) if not name.startswith("_")}


def filled(text, words):
    """`text` with every field computed anew."""

    def replace(match):
        expression, _, specification = match[1].rpartition(" | ")
        if not expression:
            expression, specification = match[1], ""
        value = eval(expression.strip(), {"__builtins__": ALLOWED}, words)
        shown = format(value, specification.strip())
        return f"<!-- {match[1]} -->{match[2]}{shown}{match[2]}<!-- end -->"

    return FIELD.sub(replace, text)


def write_or_check(path, page, check, command):
    """Fills the page at `path`, or with `check` says whether it is current; returns the exit code.
    `command` makes it current."""
    found = "".join(lines(path, replaced=True))
    text = filled(found, words_of(page))
    if text == found:
        return 0
    if check:
        print(
            f"{os.path.relpath(path)} is not what its tables give; run {command}", file=sys.stderr
        )
        return 1
    write_text(path, text)
    return 0


def study(folder, page):
    """For a study's script: fills README.md of its folder, or with --check says whether it is current; the
    exit code. Its run.sh makes it current."""
    command = os.path.join("experiments", "studies", os.path.basename(folder), "run.sh")
    path = os.path.join(folder, "README.md")
    return write_or_check(path, page, "--check" in sys.argv, command)
