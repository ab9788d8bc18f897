#!/usr/bin/env python3
"""Draws a figure from tables: `sawtooth plot FIGURE TABLE.csv ... -o OUT`.

Without an ending OUT gets .pdf and .png. A figure takes what it says (capacity,
GPU, compulsory line) from its tables and refuses a table that it cannot draw:
one line, exit code 2.

Example: sawtooth plot reads_by_length rows.csv -o reads
"""

import difflib
import importlib
import os
import sys
import typing

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "lib"), os.path.join(HERE, "figures")]
import table  # noqa: E402  (the path above leads to it)

RESULTS = "results.csv of a sweep"
COMPARED = "CSV of `sawtooth compare --csv`"
LINES = "--x --y --hue --facet --where --log --kind".split()


class Figure(typing.NamedTuple):
    tables: str  # what is read
    says: str
    module: str
    defaults: dict = {}  # of a preset of the generic figure
    options: tuple = ()
    several: bool = False  # tables


def preset(says, **defaults):
    return Figure(RESULTS, says, "xy", defaults, tuple(LINES), several=True)


FIGURES = {
    "xy": preset("any column against any other: --x COLUMN --y COLUMN"),
    "misses_by_length": preset("L2 misses against the length", x="seq_kv", y="misses"),
    "reads_by_length": preset("DRAM reads against the length", x="seq_kv", y="dram_read_sectors"),
    "time_by_length": preset("time against the length", x="seq_kv", y="time_us"),
    "speed_by_length": preset("TFLOP/s against the length", x="seq_kv", y="tflops"),
    "hit_rate": preset(
        "L2 hit rate against CTAs, with 1 - 1/n: one misses",
        **dict(x="workers", y="hit_rate", log="x"),
        curve=("1 \N{MINUS SIGN} 1/n", lambda n: 100 * (1 - 1 / n)),
    ),
    "scans": preset("misses of every scan", x="scan", y="misses_over_compulsory", facet="mask"),
    "miss_curve": Figure(
        "CSV of simulate --miss-curve",
        "misses at every capacity; Belady's from --points",
        *("miss_curve", {}, ("--points",)),
    ),
    "reuse_histogram": Figure(
        "CSV of simulate --histogram",
        "reuse distances, scan by scan",
        *("reuse_histogram", {}, ("--points",)),
    ),
    "wavefront": Figure(
        "[NAME=]CSV of simulate or measure --wavefront",
        "which K/V tile each CTA visits at each step, a panel a point",
        *("wavefront", {}, ("--points",), True),
    ),
    "validation": Figure(COMPARED, "predicted against measured, every point", "validation"),
    "calibration": preset(
        "second passes of calibration streams, and a model's",
        **dict(x="n_mib", y="dram_share", hue="pattern", facet="map", log="none"),
        where=["kind=ld", "range=p2"],
    ),
    "run": Figure("folder of `sawtooth run`; OUT is a folder too", "all that a run allows", "run"),
}

OPTIONS = {
    "--x": dict(metavar="COLUMN", help="what the x axis shows"),
    "--y": dict(metavar="COLUMN", help="a column, misses, hit_rate or dram_over_compulsory"),
    "--hue": dict(metavar="COLUMNS", help="a colour each (default: whatever varies)"),
    "--facet": dict(metavar="COLUMNS", help="a panel each"),
    "--where": dict(metavar="COLUMN=VALUE", action="append", help="keep these rows"),
    "--log": dict(choices=("x", "y", "xy", "none"), help="logarithmic axes (default: by range)"),
    "--kind": dict(choices=("lines", "points"), help="default: lines over numbers"),
    "--points": dict(metavar="RESULTS", help="results.csv of the same sweep, for names"),
}


def size_of(text):
    try:
        width, height = (float(part) for part in text.split("x"))
    except ValueError:
        width = height = 0
    if not (1 <= width <= 100 and 1 <= height <= 100):
        raise table.TableError(f"--size {text}: wanted WIDTHxHEIGHT in inches, such as 7x3")
    return width, height


def formats_of(text):
    formats = text.split(",") if text else []
    for name in formats:
        if name not in ("pdf", "png", "svg"):
            raise table.TableError(f"--format {name}: allowed: pdf, png, svg")
    return formats


def parsed(name, words):
    entry = FIGURES[name]
    parser = table.Parser(
        prog=f"sawtooth plot {name}", description=entry.says, add_help=True, allow_abbrev=False
    )
    parser.add_argument("tables", metavar="TABLE", nargs="+", help=entry.tables)
    parser.add_argument("-o", "--output", required=True, metavar="OUT", help="file or stem")
    parser.add_argument("--title", help="above the figure")
    parser.add_argument("--size", metavar="WxH", help="inches")
    parser.add_argument("--format", help="pdf, png, svg or several (default: pdf,png)")
    for option in entry.options:
        given = entry.defaults.get(option[2:], OPTIONS[option].get("default"))
        parser.add_argument(option, **{**OPTIONS[option], "default": given})
    options = vars(parser.parse_intermixed_args(words))
    for needed in {"--x", "--y"} & set(entry.options):
        if options[needed[2:]] is None and name == "xy":
            raise table.TableError(f"xy: needs {needed} COLUMN; see sawtooth plot xy --help")
    if len(options["tables"]) > 1 and not entry.several:
        raise table.TableError(f"{name}: takes one table: {entry.tables}")
    return entry, options


def draw(name, words):
    entry, options = parsed(name, words)
    output, title = options.pop("output"), options.pop("title")
    size, formats = options.pop("size"), formats_of(options.pop("format"))
    inches = size and size_of(size)
    tables = options.pop("tables")
    if "curve" in entry.defaults:
        options["curve"] = entry.defaults["curve"]
    module = importlib.import_module(entry.module)
    if hasattr(module, "figures"):  # several, each with a name
        importlib.import_module("figure").save_all(module.figures(tables[0]), output)
        return
    made = module.draw(tables if entry.several else tables[0], **options)
    if inches:
        made.set_size_inches(inches)
    if title:
        importlib.import_module("figure").caption(made, title)
    print("written: " + ", ".join(importlib.import_module("figure").save(made, output, formats)))


def listed():
    width = max(map(len, FIGURES))
    return "".join(f"  {name:{width}}  {entry.says}\n" for name, entry in FIGURES.items())


def main(words):
    if not words or words[0] in ("--help", "-h", "--list"):
        print(f"{__doc__}\n{listed()}", end="")
        return 0 if words else 2
    if words[0] not in FIGURES:
        near = difflib.get_close_matches(words[0], FIGURES, 1)
        nearest = f"; did you mean {near[0]}?" if near else ""
        allowed = ", ".join(FIGURES)
        raise table.TableError(f"'{words[0]}' is no figure{nearest}; allowed: {allowed}")
    draw(words[0], words[1:])
    return 0


def exit_code(words):
    figure = f" {words[0]}: cannot be drawn" if words else ""
    return table.exit_code(main, words, "sawtooth plot", figure)


if __name__ == "__main__":
    sys.exit(exit_code(sys.argv[1:]))
