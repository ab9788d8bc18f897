#!/usr/bin/env python3
"""What sawtooth changes in time, predicted from linear scans alone, against what was measured.

    gain.py --program SAWTOOTH --predict OUT.csv TIMES.csv [TIMES.csv ...]
    gain.py --report OUT.csv COUNTERS.csv [COUNTERS.csv ...] [--by kernel]
    gain.py --check OUT.csv COUNTERS.csv ... --page README.md [--by kernel]

--predict teaches each kernel of TIMES.csv (`sawtooth teach`) from its linear rows of the first four
lengths and the sawtooth row of the second, static launches, both medians over repetitions, and
predicts linear and sawtooth of every launch and length beyond L2 (`simulate --kernel-costs`).
OUT.csv has a row a launch: the point, what was measured, what is predicted, and what was taught.
--report prints errors over the rows of OUT.csv; DRAM reads are those of COUNTERS.csv. Its lines are
families of kernels, or with --by kernel the kernels, masks and launches.
--check: does README.md have the figures that --report prints?
"""

import argparse
import concurrent.futures
import csv
import pathlib
import statistics
import subprocess
import sys
import tempfile

KERNEL = ("kernel", "head_dim", "mask", "tile_q", "tile_kv")
POINT = (*KERNEL, "ctas_per_sm", "launch", "seq_kv")
TAUGHT_LAUNCH = "static"
TAUGHT_BEYOND = 2  # lengths beyond L2, of which at least one is left to be predicted
HALF_OF_L2 = 30 << 20
UNTAUGHT = "all, lengths not taught"
SHOWN = 5.0  # percent of time from which on the sign of a change counts
COLUMNS = (*POINT, "scan", "measured_us", "predicted_us", "predicted_dram_read_sectors", "taught")


def read(paths):
    rows = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            rows += [row for row in csv.DictReader(file) if row.get("status", "ok") in ("", "ok")]
    return rows


def key_of(row, columns):
    return tuple(row[column] for column in columns)


def kv_bytes(row):
    return 4 * int(row["seq_kv"]) * int(row["head_dim"])


def medians(rows, column):
    """One row a point and scan, with the median of `column`."""
    groups = {}
    for row in rows:
        if row.get(column):
            groups.setdefault(key_of(row, (*POINT, "scan")), []).append(row)
    return [
        {**group[0], column: str(statistics.median(float(row[column]) for row in group))}
        for group in groups.values()
    ]


def taught_beyond(lengths):
    """Those of a kernel's lengths beyond L2 that are taught."""
    return sorted(lengths)[: min(TAUGHT_BEYOND, max(1, len(lengths) - 1))]


def taught_rows(rows):
    """Linear rows of the first lengths, of which one at least is beyond L2, and one sawtooth row."""
    rows = [row for row in rows if row["launch"] == TAUGHT_LAUNCH]
    lengths = sorted({int(row["seq_kv"]) for row in rows})
    inside = [n for n in lengths if 4 * n * int(rows[0]["head_dim"]) <= HALF_OF_L2]
    learnt = inside + taught_beyond(set(lengths) - set(inside))
    found = [row for row in rows if row["scan"] == "linear" and int(row["seq_kv"]) in learnt]
    alone = min(row["ctas_per_sm"] for row in rows)
    found += [
        row
        for row in rows
        if row["scan"] == "sawtooth"
        and int(row["seq_kv"]) == lengths[1]
        and row["ctas_per_sm"] == alone
    ]
    return found


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{done.stderr}")
    return done.stdout


def predicted(program, rows):
    """Rows of OUT.csv for one kernel."""
    with tempfile.TemporaryDirectory() as folder:
        learnt, costs = pathlib.Path(folder, "rows.csv"), pathlib.Path(folder, "taught.ini")
        with open(learnt, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(taught_rows(rows))
        said = run([program, "teach", learnt, "--output", costs, "--threads", "1"])
        made = []
        for row in rows:
            if kv_bytes(row) <= HALF_OF_L2 or row["scan"] not in ("linear", "sawtooth"):
                continue
            names = (*KERNEL[1:], "ctas_per_sm", "launch", "scan", "workers", "seq_q", "seq_kv")
            options = [f"--{n.replace('_', '-')}={row[n]}" for n in (*names, "q_order")]
            lse = "on" if row.get("lse") == "on" else "off"
            options += [f"--lse={lse}", "--gpu=h200", f"--kernel-costs={costs}", "--threads=1"]
            options += ["--timing=timed", "--l2=halves", "--quiet", "--csv=-"]
            table = run([program, "simulate", *options]).splitlines()
            found = next(csv.DictReader(table))
            made.append(
                {
                    **{column: row[column] for column in (*POINT, "scan")},
                    "measured_us": row["time_us"],
                    "predicted_us": found["time_us"],
                    "predicted_dram_read_sectors": found["dram_read_sectors"],
                    "taught": said.strip().splitlines()[-1],
                }
            )
    return made


def predict(program, paths, out, jobs):
    kernels = {}
    for row in medians(read(paths), "time_us"):
        kernels.setdefault(key_of(row, KERNEL), []).append(row)
        if row["ctas_per_sm"] == "":
            row["ctas_per_sm"] = "1"
    # Triton kernels of one name with one and with two CTAs an SM are compiled apart.
    apart = {}
    for key, rows in kernels.items():
        for row in rows:
            own = row["kernel"].startswith("triton")
            apart.setdefault((*key, row["ctas_per_sm"] if own else ""), []).append(row)
    made = []
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        running = {pool.submit(predicted, program, rows): key for key, rows in apart.items()}
        for job in concurrent.futures.as_completed(running):
            try:
                made += job.result()
                print(*running[job], made[-1]["taught"] if made else "", file=sys.stderr)
            except RuntimeError as error:
                print(*running[job], "refused:", error, file=sys.stderr)
            made.sort(key=lambda row: [row[c].zfill(8) for c in (*POINT, "scan")])
            with open(out, "w", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, COLUMNS)
                writer.writeheader()
                writer.writerows(made)


def share(values, part):
    """The value that so much of `values` does not exceed; of an even number's middle, their mean."""
    values = sorted(values)
    if not values:
        return float("nan")
    if part == 0.5:
        return statistics.median(values)
    return values[min(len(values) - 1, int(part * len(values)))]


def lines_of(row, is_taught, by_kernel):
    """Names of the table's lines that a pair with this row counts in."""
    names = ["all"]
    if not by_kernel:
        names.append("triton" if row["kernel"].startswith("triton") else "own")
    elif row["mask"] != "none":
        names.append(f"{row['kernel']}, {row['mask']}")
    elif row["launch"] != TAUGHT_LAUNCH:
        names.append(f"{row['kernel']}, {row['launch']}")
    else:
        names.append(row["kernel"])
    return names if is_taught else [*names, UNTAUGHT]


def report(out, counters, by_kernel=False):
    """Lines of a Markdown table: figures over all rows, and over the groups of lines_of."""
    counted = {
        key_of(row, (*POINT, "scan")): float(row["dram_read_sectors"])
        for row in medians(read(counters), "dram_read_sectors")
    }
    pairs = {}
    for row in read([out]):
        pairs.setdefault(key_of(row, POINT), {})[row["scan"]] = row
    lengths = {}
    for pair in pairs.values():
        for row in pair.values():
            if row["launch"] == TAUGHT_LAUNCH:
                lengths.setdefault(key_of(row, KERNEL), set()).add(int(row["seq_kv"]))
    families = {}
    for pair in pairs.values():
        if len(pair) == 2:
            row = pair["linear"]
            is_taught = int(row["seq_kv"]) in taught_beyond(lengths.get(key_of(row, KERNEL), ()))
            for name in lines_of(row, is_taught, by_kernel):
                families.setdefault(name, []).append(pair)
    # Triton stands before this project's own kernels.
    order = sorted(
        families, key=lambda name: (name != "all", name == UNTAUGHT, name == "own", name)
    )
    lines = [
        "| kernels | pairs | of them by over 5 % | time: median, 90 % | change, points: median, 90 % "
        "| sign right | DRAM reads: median, 90 % |",
        "|---|---|---|---|---|---|---|",
    ]
    for family in order:
        found = families[family]
        times, changes, reads, signs = [], [], [], []
        for pair in found:
            for scan in ("linear", "sawtooth"):
                row = pair[scan]
                times.append(100 * abs(float(row["predicted_us"]) / float(row["measured_us"]) - 1))
                key = key_of(row, (*POINT, "scan"))
                if key in counted:
                    wanted = float(row["predicted_dram_read_sectors"])
                    reads.append(100 * abs(wanted / counted[key] - 1))
            real, made = (
                100 * (float(pair["sawtooth"][column]) / float(pair["linear"][column]) - 1)
                for column in ("measured_us", "predicted_us")
            )
            changes.append(abs(made - real))
            if abs(real) > SHOWN:
                signs.append(made * real > 0)
        cells = [family, len(found), len(signs)]
        cells += [f"{share(v, 0.5):.1f}, {share(v, 0.9):.1f} %" for v in (times,)]
        cells += [f"{share(changes, 0.5):.1f}, {share(changes, 0.9):.1f}"]
        cells += [f"{sum(signs)} of {len(signs)}"]
        cells += [f"{share(reads, 0.5):.1f}, {share(reads, 0.9):.1f} %" if reads else "not counted"]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="build/release/sawtooth")
    parser.add_argument("--predict", metavar="OUT.csv")
    parser.add_argument("--report", metavar="OUT.csv")
    parser.add_argument("--check", metavar="OUT.csv")
    parser.add_argument("--page")
    parser.add_argument("--by", choices=("family", "kernel"), default="family")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("tables", nargs="+")
    options = parser.parse_args()
    if options.predict:
        predict(options.program, options.tables, options.predict, options.jobs)
        return 0
    lines = report(options.report or options.check, options.tables, options.by == "kernel")
    if options.report:
        print("\n".join(lines))
        return 0
    page = pathlib.Path(options.page).read_text(encoding="utf-8")
    missing = [line for line in lines if line not in page]
    for line in missing:
        print(f"gain.py: {options.page} lacks: {line}", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
