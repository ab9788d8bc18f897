#!/usr/bin/env python3
"""What tables of many rows cost: `long_tables.py PROGRAM [--rows N] [--schedules N] [--steps LIST]`.

Prints CSV: for each step the rows that it reads and writes, its time, rows a second, processor time and peak of
memory. Steps: simulate (points of some microseconds), resume (a table of which the last tenth is missing) and merge (two
overlapping tables, made from one simulated row: `--schedules` rows a problem).
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time

POINT = ["--gpu", "gb10", "--timing", "lockstep", "--quiet"]
SHORT = [*POINT, "--seq", "64"]
ROW = [*POINT, "--workers", "4", "--seq", "4K", "--heads", "4", "--csv", "-"]
COUNTERS = ("sm_read_sectors", "l2_read_sectors", "l2_read_miss_sectors", "l2_write_sectors")
COUNTERS += ("l2_write_miss_sectors", "fabric_read_sectors", "fabric_read_miss_sectors")
COUNTERS += ("dram_read_sectors", "dram_write_sectors", "cold_read_sectors", "time_us", "tflops")
STEPS = ("simulate", "resume", "merge")


def write_table(path, row, rows, options, source):
    """`options.schedules` rows a problem; `source` says whose counts they are."""
    chance = random.Random(source)
    cells = dict(row, source=source)
    with open(path, "w", encoding="utf-8") as file:
        file.write(",".join(cells) + "\n")
        for i in rows:
            problem, schedule = divmod(i, options.schedules)
            cells["batch"], cells["workers"] = str(1 + problem), str(1 + schedule)
            cells["run_id"] = f"{i * 2654435761 % 2**48:012x}"
            for place, name in enumerate(COUNTERS):
                true = 1000 + (7919 * (i + place)) % 100000
                cells[name] = str(int(true * chance.uniform(0.9, 1.1)))
            file.write(",".join(cells.values()) + "\n")


class Steps:
    def __init__(self, options, folder):
        self.options = options
        self.folder = folder
        self.program = os.path.abspath(options.program)

    def path(self, name):
        return os.path.join(self.folder, name)

    def table(self, name, rows, source):
        header, row = subprocess.run(
            [self.program, "simulate", *ROW], check=True, capture_output=True, text=True
        ).stdout.splitlines()
        cells = dict(zip(header.split(","), row.split(",")))
        if not os.path.exists(self.path(name)):
            write_table(self.path(name), cells, rows, self.options, source)
        return name

    def measure(self, step, rows, *words, codes=(0,)):
        begin = time.monotonic()
        with open(self.path("report.txt"), "w", encoding="utf-8") as report:
            process = subprocess.Popen(
                [self.program, *words], cwd=self.folder, stdout=report, stderr=report
            )
            _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in codes:
            with open(self.path("report.txt"), encoding="utf-8") as report:
                sys.exit(f"long_tables.py: {' '.join(words)}: {report.read()[:2000]}")
        seconds = time.monotonic() - begin
        cpu = usage.ru_utime + usage.ru_stime
        peak = usage.ru_maxrss >> 10
        figures = [f"{seconds:.1f}", f"{rows / seconds:.0f}", f"{cpu:.1f}", peak]
        print(step, rows, *figures, sep=",", flush=True)

    def run(self, step):
        rows = self.options.rows
        if step == "simulate":
            axis = ["--seed", f"1..{rows}", "--threads", "1"]
            self.measure(step, rows, "simulate", *SHORT, *axis, "--csv", "r.csv")
        elif step == "resume":
            if not os.path.exists(self.path("r.csv")):
                sys.exit("long_tables.py: resume comes after simulate")
            with open(self.path("r.csv"), encoding="utf-8") as whole:
                lines = whole.readlines()
            with open(self.path("r.csv"), "w", encoding="utf-8") as part:
                part.writelines(lines[: 1 + rows - rows // 10])
            axis = ["--seed", f"1..{rows}", "--threads", "1"]
            self.measure(step, rows, "simulate", *SHORT, *axis, "--csv", "r.csv", "--resume")
            with open(self.path("r.csv"), encoding="utf-8") as whole:
                if whole.readlines() != lines:
                    sys.exit("long_tables.py: a resumed table differs from that of one run")
        elif step == "merge":
            first = self.table("first.csv", range(rows * 6 // 10), "predicted")
            words = ["merge", first, first, "--csv", "merged.csv"]
            self.measure(step, 2 * (rows * 6 // 10), *words)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("program")
    parser.add_argument("--rows", type=int, default=1000000)
    parser.add_argument("--schedules", type=int, default=1000, help="rows a problem")
    parser.add_argument("--steps", default=",".join(STEPS))
    parser.add_argument("--folder", help="for the tables, which stay (default: a temporary one)")
    options = parser.parse_args()
    print("step,rows,seconds,rows_a_second,cpu_seconds,peak_mib")
    with tempfile.TemporaryDirectory() as folder:
        steps = Steps(options, options.folder or folder)
        for step in options.steps.split(","):
            steps.run(step)


if __name__ == "__main__":
    main()
