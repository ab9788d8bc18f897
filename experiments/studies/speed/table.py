#!/usr/bin/env python3
"""Runs stack_distance_benchmark and writes its tables into docs/reference/performance.md.

    experiments/studies/speed/table.py build/release/tests/benchmark/stack_distance_benchmark
    experiments/studies/speed/table.py --json RUN.json    # tables of a run made elsewhere

All engines run in random order in one process, several times; figures are medians of CPU time.
"""
import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs/reference/performance.md"
REPETITIONS = 5
ENGINES = ["lines", "scalar", "avx2", "avx512"]
TITLES = {"scalar": "scalar", "avx2": "AVX2", "avx512": "AVX-512"}
# Rows of sets_benchmark.cpp: one geometry of 16 ways.
GEOMETRIES = {
    "sets_xor_avx512": "XOR hash, AVX-512",
    "sets_xor_scalar": "XOR hash, scalar",
    "sets_balanced_avx512": "balanced hash, AVX-512",
}
# What must be reached: lines a tile -> kind of K/V -> ratio to the engine of lines.
GOALS = {128: {"shared": 100, "private": 300}, 16: {"shared": 15, "private": 40}}


def run(binary, repetitions):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "run.json"
        subprocess.run(
            [
                binary,
                f"--benchmark_repetitions={repetitions}",
                "--benchmark_enable_random_interleaving=true",
                f"--benchmark_out={out}",
                "--benchmark_out_format=json",
            ],
            check=True,
            stdout=sys.stderr,
        )
        return json.loads(out.read_text())


def medians(result):
    """(streams, points): medians of lines/s by (stream, engine), and of ms by (point, mode)."""
    streams, points = {}, {}
    for row in result["benchmarks"]:
        if row["run_type"] != "iteration" or row.get("error_occurred"):
            continue
        name = row["run_name"].split("/")
        if name[0] == "paper_point":
            points.setdefault((int(name[1]), name[2], name[3]), []).append(row["cpu_time"])
        else:
            ctas, kind, scan, lines, tile = (
                name[1].removesuffix("_ctas"),
                name[2],
                name[3],
                name[4].removesuffix("_lines"),
                name[5].split("_")[-1],
            )
            stream = (int(tile), kind, int(ctas), int(lines), scan)
            streams.setdefault((stream, name[0]), []).append(row["lines/s"])
    median = lambda rates: {key: statistics.median(rates[key]) for key in sorted(rates)}
    return median(streams), median(points)


def table(header, rows):
    return "\n".join(
        "| " + " | ".join(map(str, row)) + " |" for row in [header, ["---"] * len(header), *rows]
    )


def machine(result, repetitions):
    context = result["context"]
    caches = ", ".join(
        f"L{cache['level']} {cache['size'] // 1024} KiB"
        for cache in context["caches"]
        if cache["type"] != "Instruction"
    )
    return (
        f"{context.get('cpu', 'unknown CPU')} ({caches}), one core, "
        f"medians of {repetitions} runs in random order, {context['date'][:10]}."
    )


def engines_of(rates):
    return [engine for engine in ENGINES if any(key[1] == engine for key in rates)]


def span(values, digits=0):
    return f"{min(values):.{digits}f} to {max(values):.{digits}f}"


def by_tile_and_kind(streams):
    """Streams of each (lines a tile, kind of K/V)."""
    groups = {}
    for stream in streams:
        groups.setdefault(stream[:2], []).append(stream)
    return groups


def one_geometry(rates):
    """The streams that the set-associative engine ran too, against all capacities in one pass."""
    best = engines_of(rates)[-1]
    kinds = [kind for kind in GEOMETRIES if any(key[1] == kind for key in rates)]
    titles = [f"{GEOMETRIES[kind]}, M/s" for kind in kinds]
    header = ["lines a tile", "K/V", "all capacities, M/s", *titles, "ratio"]
    rows = []
    for group, streams in by_tile_and_kind(key[0] for key in rates if key[1] == kinds[0]).items():
        every = [rates[stream, best] for stream in streams]
        first = [rates[stream, kinds[0]] for stream in streams]
        speeds = [span([rates[stream, kind] / 1e6 for stream in streams]) for kind in kinds]
        ratios = [a / b for a, b in zip(first, every)]
        rows.append([*group, span([rate / 1e6 for rate in every]), *speeds, span(ratios, 1)])
    return table(header, rows)


def summary(rates):
    engines = engines_of(rates)
    best = engines[-1]
    header = ["lines a tile", "K/V", "by lines, M/s", f"tiles, {TITLES[best]}, M/s", "ratio"]
    header += ["ratio, scalar", "goal"]
    rows = []
    streams_of = by_tile_and_kind(key[0] for key in rates if key[1] == "lines")
    for tile, goals in GOALS.items():
        for kind, goal in goals.items():
            streams = streams_of[tile, kind]
            lines = [rates[stream, "lines"] for stream in streams]
            fast = [rates[stream, best] for stream in streams]
            scalar = [rates[stream, "scalar"] for stream in streams]
            speeds = [span([rate / 1e6 for rate in side]) for side in (lines, fast)]
            ratios = [span([a / b for a, b in zip(side, lines)]) for side in (fast, scalar)]
            rows.append([tile, kind, *speeds, *ratios, goal])
    return table(header, rows)


def paper_points(points):
    header = ["sequence", "scan", "multiplied, ms", "growth", "replayed, ms"]
    rows = []
    for seq, scan, mode in points:  # in ascending order
        if mode != "multiplied":
            continue
        time = points[seq, scan, mode]
        half = points.get((seq // 2, scan, mode))
        replayed = next(
            value
            for key, value in points.items()
            if key[:2] == (seq, scan) and key[2].startswith("replayed")
        )
        rows.append(
            [seq, scan, f"{time:.1f}", f"x {time / half:.2f}" if half else "", f"{replayed:.0f}"]
        )
    return table(header, rows)


def write_into(path, name, text):
    """Replaces what stands between the two markers of `name`."""
    page = path.read_text()
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    if begin not in page or end not in page:
        raise SystemExit(f"{path}: the markers of {name} are missing")
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.S)
    path.write_text(pattern.sub(lambda _: f"{begin}\n{text}\n{end}", page))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("binary", nargs="?", help="stack_distance_benchmark")
    parser.add_argument("--json", help="a run's --benchmark_out instead of a new run")
    parser.add_argument("--repetitions", type=int, default=REPETITIONS)
    parser.add_argument("--print", action="store_true", help="print the tables, write nothing")
    arguments = parser.parse_args()
    if bool(arguments.binary) == bool(arguments.json):
        parser.error("give the binary or --json")
    if arguments.json:
        result = json.loads(pathlib.Path(arguments.json).read_text())
    else:
        result = run(arguments.binary, arguments.repetitions)
    repetitions = 1 + max(row.get("repetition_index", 0) for row in result["benchmarks"])
    streams, points = medians(result)
    where = machine(result, repetitions)
    has = {engine for _, engine in streams}
    tables = []
    if has.issuperset({"lines", "scalar"}):
        tables.append(("streams", summary(streams)))
    if has & GEOMETRIES.keys():
        tables.append(("one geometry", one_geometry(streams)))
    if points:
        tables.append(("schedules", paper_points(points)))
    for name, text in tables:  # a filtered run leaves the other tables alone
        text = f"{where}\n\n{text}"
        if arguments.print:
            print(f"{name}:\n{text}\n")
        else:
            write_into(PAGE, name, text)


if __name__ == "__main__":
    main()
