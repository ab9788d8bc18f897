#!/usr/bin/env python3
"""Line-level stack distances at all capacities beside libCacheSim's LRU at one, in turn.

    pip install libcachesim==0.3.5
    experiments/studies/speed/line_distances.py build/release/tests/benchmark/line_distances

Both read the same file of 10^8 accesses in libCacheSim's format oracleGeneral, both loops are
compiled, and times are processor times of a process each. libCacheSim's hash table has two places
a line of its capacity, which is faster here than its default. --record writes the table into
docs/reference/performance.md.
"""
import argparse
import csv
import io
import pathlib
import statistics
import subprocess
import sys
import tempfile

import table

CTAS = 48
BURST = 16  # lines of a CTA before the next one's turn
CHUNK = 10_000_000
# name -> (what it is, lines of a scan of each CTA, whether all scan the same)
STREAMS = {
    "shared": ("48 CTAs scan the same 64 Ki lines", 1 << 16, True),
    "private": ("48 CTAs scan 64 Ki lines each", 1 << 16, False),
    "large": ("48 CTAs scan 1 Mi lines each", 1 << 20, False),
}


def write_records(path, lines, scan_lines, shared):
    import numpy

    record = [("time", "<u4"), ("line", "<u8"), ("size", "<u4"), ("next", "<i8")]
    starts = numpy.random.default_rng(1).integers(0, 256, CTAS)
    with open(path, "wb") as file:
        for begin in range(0, lines, CHUNK):
            row = numpy.arange(begin, min(lines, begin + CHUNK))
            burst = row // BURST
            cta = burst % CTAS
            line = (starts[cta] + burst // CTAS * BURST + row % BURST) % scan_lines
            records = numpy.zeros(len(row), dtype=record)
            records["line"] = line if shared else line + cta * scan_lines
            records["size"] = 1
            records["next"] = -1
            records.tofile(file)


def theirs(path, capacity):
    """In a process of its own: seconds, and misses of all lines."""
    import time

    import libcachesim

    reader = libcachesim.TraceReader(path, libcachesim.TraceType.ORACLE_GENERAL_TRACE)
    cache = libcachesim.LRU(cache_size=capacity, hashpower=capacity.bit_length())
    begin = time.process_time()
    ratio, _ = cache.process_trace(reader)
    print(f"seconds,miss_ratio\n{time.process_time() - begin:.3f},{ratio:.17g}")


def row_of(command):
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return {key: float(value) for key, value in next(csv.DictReader(io.StringIO(text))).items()}


def measure(arguments, name, folder):
    what, scan_lines, shared = STREAMS[name]
    path = pathlib.Path(folder) / f"{name}.oracleGeneral"
    capacity = scan_lines // 2 if shared else scan_lines * CTAS // 2
    write_records(path, arguments.lines, scan_lines, shared)
    ours, others = [], []
    for _ in range(arguments.rounds):
        ours.append(row_of([arguments.binary, path, str(capacity)]))
        others.append(row_of([sys.executable, __file__, "--theirs", path, str(capacity)]))
    path.unlink()
    missed = round(others[0]["miss_ratio"] * arguments.lines)
    if missed != ours[0]["misses"]:
        raise SystemExit(f"{name}: {missed} misses by libCacheSim, {ours[0]['misses']:.0f} here")
    ratios = [b["seconds"] / a["seconds"] for a, b in zip(ours, others)]
    speed = lambda rows: arguments.lines / statistics.median(r["seconds"] for r in rows) / 1e6
    bytes_a_line = max(row["bytes_a_line"] for row in ours)
    return [
        what,
        f"{ours[0]['distinct_lines'] / 1e6:.2f} M",
        f"{speed(ours):.1f}",
        f"{speed(others):.1f}",
        f"{statistics.median(ratios):.2f} ({table.span(ratios, 2)})",
        f"{bytes_a_line:.0f}",
    ]


def main():
    if sys.argv[1:2] == ["--theirs"]:
        return theirs(sys.argv[2], int(sys.argv[3]))
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("binary", help="line_distances")
    parser.add_argument("--lines", type=lambda text: int(float(text)), default=10**8)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--streams", nargs="+", choices=STREAMS, default=list(STREAMS))
    parser.add_argument("--folder", help="for the files, of 24 bytes an access")
    parser.add_argument("--record", action="store_true", help="write the table into the page")
    arguments = parser.parse_args()
    try:
        import libcachesim  # noqa: F401
    except ImportError:
        raise SystemExit("libcachesim is missing; pip install libcachesim==0.3.5")
    header = ["stream", "distinct lines", "all capacities, M/s", "libCacheSim, M/s"]
    header += ["ratio within a round", "bytes a distinct line"]
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        rows = [measure(arguments, name, folder) for name in arguments.streams]
    text = table.table(header, rows)
    if arguments.record:
        table.write_into(table.PAGE, "lines", text)
    print(text)


if __name__ == "__main__":
    main()
