"""Pages whose numbers are computed: every {{ expression | format }} of a template is Python over a
page's own functions, printed by Python's format specification. A library; standard library only.
"""

import os
import re
import sys

FIELD = re.compile(r"\{\{(.+?)\}\}", re.DOTALL)
ALLOWED = {"dict": dict, "abs": abs, "max": max, "min": min, "round": round, "len": len}


def words_of(page):
    """The public methods and attributes of an object."""
    return {name: getattr(page, name) for name in dir(page) if not name.startswith("_")}


def filled(template, words):
    def replace(match):
        expression, _, specification = match.group(1).rpartition("|") \
            if "|" in match.group(1) else (match.group(1), "", "")
        value = eval(expression.strip(), {"__builtins__": ALLOWED}, words)
        return format(value, specification.strip())

    return FIELD.sub(replace, template)


def write_or_check(path, text, check, command):
    """Writes the page, or with `check` says whether it is current; returns the exit code. `command`
    makes it current."""
    if check:
        with open(path, encoding="utf-8") as file:
            if file.read() == text:
                return 0
        print(f"{os.path.relpath(path)} is not what its tables and template give; run {command}",
              file=sys.stderr)
        return 1
    with open(f"{path}.tmp", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(f"{path}.tmp", path)
    return 0
