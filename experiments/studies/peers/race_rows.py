"""What the tables of a race share: its timed rows, Markdown lines, and how wrong use is said."""

import argparse
import sys

import lib_path  # noqa: F401  (makes plots/lib importable)
import table

SCHEDULE = "kernel tile_q tile_kv launch scan section q_order prefetch kv_split hints dq".split()


def timed(path):
    """Rows with a time; older ones have no column dq. Raises TableError."""
    rows = table.where(table.read(path), status="ok")
    return [{"dq": "", **row} for row in rows if row["time_us"]]


def markdown(cells):
    return ("| " + " | ".join(map(str, cells)) + " |").replace("|  |", "| |")


def markdown_head(cells):
    return markdown(cells) + "\n|" + "---|" * len(cells)


def parser(description):
    form = argparse.RawDescriptionHelpFormatter
    made = argparse.ArgumentParser(description=description, formatter_class=form)
    made.add_argument("race")
    return made


def run(name, work, options):
    """Exit code of work(options); 2 with one line for a table that cannot be used."""
    try:
        return work(options)
    except table.TableError as error:
        print(f"{name}.py: {error}", file=sys.stderr)
        return 2
