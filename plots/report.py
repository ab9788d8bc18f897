#!/usr/bin/env python3
"""One self-contained page of a run: `sawtooth report RUN -o report.html`.

RUN is a folder with tables of `sawtooth run` or `simulate`, or one table. Tables are known by their
columns: results.csv, compare --csv, --miss-curve, --wavefront. The page loads nothing; its data are
compressed JSON. Standard library only.
"""

import base64
import html
import json
import os
import sys
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
import answer  # noqa: E402  (the path above leads to it)
import measures  # noqa: E402
import output  # noqa: E402
import points  # noqa: E402
import quantities  # noqa: E402
import table  # noqa: E402
import words  # noqa: E402

MOST_BYTES = 5_000_000  # of a page: mail and browsers take it
CURVE_SHARE = 0.002  # of a curve's range: steps of less are left out, as the page says
# What tells the kinds of tables apart, the most particular first.
KINDS = {
    "compared": ("group", "counter", "predicted", "measured"),
    "curves": ("run_id", "capacity_bytes", "miss_sectors"),
    "waves": ("run_id", "step", "worker", "kv_tile"),
    "results": ("source", "scan", "dram_read_sectors"),
}
SHOWN = ("dram_read_sectors", "dram_over_compulsory", "misses", "time_us", "tflops")
INSTEAD = {"misses": "dram_read_sectors"}  # shown where no row has the other
# Tables of `sawtooth run` whose rows stand in results.csv, or name the points of its miss curves.
OF_A_RUN = ("predicted.csv", "measured.csv", "lockstep.csv")
# What predictions and measurements of one point may differ in.
OF_A_SOURCE = ("source", "experiment", "system", "kernel", *points.MODEL)


def kind_of(path):
    columns = set(table.header(path))
    return next((kind for kind, needed in KINDS.items() if set(needed) <= columns), None)


def tables_of(run):
    """{kind: paths}; results.csv of `sawtooth run` holds the rows of its other two tables."""
    if not os.path.exists(run):
        raise table.TableError(f"{run}: is not there")
    paths = [run]
    if os.path.isdir(run):
        names = sorted(name for name in os.listdir(run) if name.endswith(".csv"))
        if "results.csv" in names:
            names = [name for name in names if name not in OF_A_RUN]
        paths = [os.path.join(run, name) for name in names]
    found = {kind: [] for kind in KINDS}
    for path in paths:
        kind = kind_of(path)
        if kind:
            found[kind].append(path)
    if not found["results"]:
        needed = ", ".join(KINDS["results"])
        raise table.TableError(f"{run}: no table of results (columns {needed})")
    return found


def has(row, name):
    try:
        return quantities.is_there(row, name)
    except table.MissingColumn:
        return False


def number(rows, name):
    """[median, low, high] over repetitions, or what one row says, with its interval; None: nothing."""
    rows = [row for row in rows if has(row, name)]
    if len(rows) > 1:
        return list(measures.median_interval([quantities.of(row, name) for row in rows]))
    if not rows:
        return None
    ends = [row.get(f"{name}_{end}") for row in rows for end in ("low", "high")]
    return [quantities.of(rows[0], name), *(map(float, ends) if all(ends) else (None, None))]


def points_of(rows, columns):
    """[{source: rows}]: repetitions together, and beside a prediction the measurement of its point."""
    apart = [column for column in columns if column not in OF_A_SOURCE]
    found, predicted = [], {}
    groups = table.grouped(rows, "source", *columns).items()
    for (source, *_), group in sorted(groups, key=lambda each: each[0][0] != "predicted"):
        twins = predicted.setdefault(table.cells(group[0], apart), [])
        kernels = ("", group[0].get("kernel"))
        fitting = [p for p in twins if source not in p and p["row"].get("kernel", "") in kernels]
        if source == "predicted" or not fitting:
            fitting = [dict(row=group[0])]
            found += fitting
            twins += fitting if source == "predicted" else []
        for point in fitting:
            point[source] = group
    return found


def sweep(paths):
    """(columns that vary, what is the same in all, [(quantity, source)], points): a point has its
    rows by source, its words and its numbers."""
    rows = quantities.complete([row for path in paths for row in table.read(path)])
    known = points.POINT + points.MODEL + ["experiment"]
    columns = [column for column in known if all(column in row for row in rows)]
    found = points_of(rows, columns)
    firsts = [point["row"] for point in found]
    varying = points.varying(firsts, [], columns)
    usual = {} if firsts[0].get("system") else {"kernel": "mma"}  # of rows that name none
    same = [
        ("" if column in words.VALUES else f"{words.label(column)} ")
        + words.value(column, firsts[0][column] or usual[column])
        for column in columns[:-1]  # not the experiment
        if (firsts[0][column] or column in usual) and len({row[column] for row in firsts}) == 1
    ]
    sources = table.values(rows, "source")
    shown = [
        (name, source)
        for name in SHOWN
        for source in sources
        if any(number(point.get(source, []), name) for point in found)
    ]
    shown = [each for each in shown if (INSTEAD.get(each[0]), each[1]) not in shown]
    for place, point in enumerate(found):
        row = point["row"]
        point["id"] = row.get("run_id") or str(place)
        point["cells"] = [words.value(column, row[column]) for column in varying]
        point["numbers"] = [number(point.get(source, []), name) for name, source in shown]
    return varying, same, shown, found


def thinned(rows):
    """([bytes], [misses]): steps of a curve, small ones left out; the last always stays."""
    rows = table.ascending(rows, "capacity_bytes")
    steps = [(table.integer(r, "capacity_bytes"), table.integer(r, "miss_sectors")) for r in rows]
    if len(steps) > 1 and steps[0][0] == 0:
        steps = steps[1:]  # no cache at all
    least = CURVE_SHARE * (steps[0][1] - steps[-1][1])
    kept = [steps[0]]
    for step in steps[1:]:
        if kept[-1][1] - step[1] >= least or step is steps[-1]:
            kept.append(step)
    return [at for at, _ in kept], [misses for _, misses in kept]


def curves(paths, names):
    for path in paths:
        ids = {row.get("run_id") for row in table.read(path)}
        for name, rows in points.by_run(path, names=names if ids & set(names) else None):
            at, misses = thinned(rows)
            marks = points.capacities(rows[0])
            yield dict(id=rows[0]["run_id"], name=name, at=at, misses=misses, marks=marks)


def wave(name, rows):
    """Rows of tiles by CTA, a step each; -1 where a CTA has nothing to do."""
    columns, (workers, steps) = table.wavefront(rows)
    tiles = [[-1] * steps for _ in range(workers)]
    for worker, step, tile in zip(*columns):
        tiles[worker][step] = tile
    return dict(id=rows[0]["run_id"], name=name, tiles=tiles)


def waves(paths, names):
    for path in paths:
        prefix = "measured: " if "measured" in os.path.basename(path) else ""
        for name, rows in points.by_run(path, names=names):
            yield wave(prefix + name, rows)


def compared(paths):
    rows = [row for path in paths for row in table.read(path)]
    if not rows:
        return []
    columns = points.varying(rows, [], points.POINT)

    def entry(row):
        numbers = [float(row[c]) for c in ("predicted", "measured")]
        return [row["group"], row["counter"], words.name(row, columns), *numbers]

    positive = [r for r in rows if quantities.is_there(r, "predicted")]
    positive = [r for r in positive if quantities.is_there(r, "measured")]
    return [entry(row) for row in positive]


def payload(run):
    found = tables_of(run)
    varying, same, shown, rows = sweep(found["results"])
    names = {row["id"]: ", ".join(filter(None, row["cells"])) for row in rows}
    pairs = compared(found["compared"])
    several = len({source for _, source in shown}) > 1
    return dict(
        title=os.path.basename(os.path.abspath(run)),
        answers=list(answer.answers(rows, shown)),
        columns=[words.label(column) for column in varying],
        keys=varying,
        same=same,
        quantities=[words.label(n) + (f", {source}" if several else "") for n, source in shown],
        rows=[{key: row[key] for key in ("id", "cells", "numbers")} for row in rows],
        curves=list(curves(found["curves"], names)),
        curve_share=CURVE_SHARE,
        waves=list(waves(found["waves"], names)),
        compared=pairs,
        counters={name: words.label(name) for name in dict.fromkeys(row[1] for row in pairs)},
    )


def page(data):
    with open(os.path.join(HERE, "report.html"), encoding="utf-8") as file:
        template = file.read()
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    packed = base64.b64encode(zlib.compress(text.encode(), 9)).decode()
    answers = html.escape(" ".join(in_words(data)))
    return template.replace("ANSWERS_IN_WORDS", answers).replace("DATA_OF_THE_RUN", packed)


def in_words(data):
    """A line an answer, for a terminal and for who has no JavaScript."""
    said = "{gpu}: {lead}{best}{text} {sure}"
    return [table.one_line(said.format_map(each)) for each in data["answers"]]


def main(arguments):
    example = "Example: sawtooth report runs/sweep -o sweep.html"
    parser = table.Parser(
        prog="sawtooth report", description=__doc__.splitlines()[0], epilog=example
    )
    parser.add_argument("run", metavar="RUN", help="folder of `sawtooth run`, or a table")
    parser.add_argument("-o", "--output", required=True, metavar="FILE.html")
    options = parser.parse_args(arguments)
    data = payload(options.run)
    text = page(data)
    if len(text) > MOST_BYTES:
        raise table.TableError(
            f"{options.run}: a page of {len(text) / 1e6:.1f} MB; at most {MOST_BYTES / 1e6:g}: "
            "leave out tables (of wavefronts) or points"
        )
    try:
        output.write_text(options.output, text)
    except OSError as error:
        raise table.TableError(f"{options.output}: cannot be written: {error}") from None
    for line in in_words(data):
        print(line)
    print(f"written: {options.output} ({len(text) / 1e6:.2f} MB)")
    return 0


if __name__ == "__main__":
    sys.exit(table.exit_code(main, sys.argv[1:], "sawtooth report", ": cannot be made"))
