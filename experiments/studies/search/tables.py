#!/usr/bin/env python3
"""A row a shape from the tables of `sawtooth search`: the usual schedule, the best named one, the best
found, and what no schedule can beat.

    tables.py FOLDER RESULTS     FOLDER/GPU.csv -> RESULTS/shapes.csv, and a summary on standard output
"""

import re
import statistics
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[3] / "plots" / "lib"))
import table  # noqa: E402  (the path above leads to it)

SHAPE = ("gpu", "batch", "heads", "kv_heads", "seq_q", "head_dim", "mask")
SCHEDULE = ("launch", "scan", "q_order", "section")
COLUMNS = (
    SHAPE
    + ("shape",)
    + tuple(
        f"{which}_{what}"
        for which in ("usual", "named", "found")
        for what in SCHEDULE + ("time_us", "dram_read_sectors")
    )
    + ("dram_bound_sectors", "time_bound_us", "sampling_time_error", "sampling_dram_error")
)
LISTS = Path(__file__).resolve().parent / "lists"


def is_usual(row):
    order = "ascending" if row["mask"] == "none" else "descending"
    return (row["launch"], row["scan"], row["q_order"], row["section"]) == (
        "grid",
        "linear",
        order,
        "1",
    )


def is_search(path):
    return re.fullmatch(r"[^.]+\.csv", path.name) is not None


def names_of(gpu):
    text = (LISTS / f"{gpu}.ini").read_text(encoding="utf-8")
    return re.findall(r"^\[(.*)\]$", text, re.MULTILINE)


def errors_of(folder, gpu, best):
    """Of the sampled shapes: {name: (time, DRAM reads) of twice the sample over twice, less 1}."""
    path = folder / f"{gpu}.twice.csv"
    if not path.exists():
        return {}
    found = {}
    for row in table.read(path):
        for name, single in best.items():
            same = all(row[key] == single[key] for key in ("seq_q", "mask", "batch"))
            if same and int(row["kv_heads"]) == 2 * int(single["kv_heads"]):
                found[name] = tuple(
                    float(row[column]) / (2 * float(single[column])) - 1
                    for column in ("time_us", "dram_read_sectors")
                )
    return found


def shape_rows(folder, path):
    gpu = path.name.removesuffix(".csv")
    rows = [row for row in table.read(path) if row["time_us"]]
    shapes = table.grouped(rows, *SHAPE)
    best = {}
    for name, found in zip(names_of(gpu), shapes.values()):
        best[name] = next(row for row in found if row["rank"] == "1")
    errors = errors_of(folder, gpu, best)
    for name, found in zip(names_of(gpu), shapes.values()):
        usual = next(row for row in found if is_usual(row))
        named = next(row for row in found if row["rank"] and not row["q_order"].startswith("file"))
        line = {key: found[0][key] for key in SHAPE}
        line["shape"] = name
        for which, row in (("usual", usual), ("named", named), ("found", best[name])):
            for what in SCHEDULE + ("time_us", "dram_read_sectors"):
                is_file = what == "q_order" and row[what].startswith("file")
                line[f"{which}_{what}"] = "file" if is_file else row[what]
        line["dram_bound_sectors"] = found[0]["dram_bound_sectors"]
        line["time_bound_us"] = found[0]["time_bound_us"]
        time_error, dram_error = errors.get(name, ("", ""))
        line["sampling_time_error"], line["sampling_dram_error"] = (
            f"{error:.4f}" if error != "" else "" for error in (time_error, dram_error)
        )
        yield line


def summary(rows):
    def ratios(over, under):
        return [float(row[over]) / float(row[under]) for row in rows]

    for text, over, under in (
        ("usual / best named, time", "usual_time_us", "named_time_us"),
        ("usual / best named, DRAM reads", "usual_dram_read_sectors", "named_dram_read_sectors"),
        ("best named / best found, time", "named_time_us", "found_time_us"),
        ("best found / bound, time", "found_time_us", "time_bound_us"),
        ("best found / bound, DRAM reads", "found_dram_read_sectors", "dram_bound_sectors"),
    ):
        values = ratios(over, under)
        print(f"{text}: median {statistics.median(values):.3f}, most {max(values):.3f}")


def pruned(folder):
    """How often screening pruned the best named schedule, by tables that decided all of them."""
    lost = []
    for path in sorted(folder.glob("*.all.csv")):
        everything = [row for row in table.read(path) if row["rank"]]
        staged = table.read(folder / path.name.replace(".all", ""))
        ranked = [row for row in staged if row["rank"] and not row["q_order"].startswith("file")]
        chosen = table.grouped(ranked, *SHAPE)
        screened = {table.cells(row, SHAPE) for row in staged if " on seq " in row["evaluated_by"]}
        for shape, rows in table.grouped(everything, *SHAPE).items():
            if shape not in screened:
                continue
            best = min(float(row["time_us"]) for row in rows)
            lost.append(min(float(row["time_us"]) for row in chosen[shape]) / best - 1)
    if lost:
        print(
            f"screening pruned the best of {sum(loss > 0 for loss in lost)} of {len(lost)} shapes, "
            f"which cost {max(lost):.2%} at most"
        )


def traffic(folder):
    """What a hundredth of the time buys in DRAM reads, among the schedules that were decided."""
    shares, gaps = [], []
    for path in sorted(folder.glob("*.csv")):
        if not is_search(path):
            continue
        rows = [row for row in table.read(path) if row["time_us"]]
        for found in table.grouped(rows, *SHAPE).values():
            fastest = min(found, key=lambda row: float(row["time_us"]))
            limit = 1.01 * float(fastest["time_us"])
            least = min(
                float(row["dram_read_sectors"]) for row in found if float(row["time_us"]) <= limit
            )
            shares.append(least / float(fastest["dram_read_sectors"]))
            gaps.append(least / float(fastest["dram_bound_sectors"]) - 1)
    print(
        f"within 1 % of the least time DRAM reads are {min(shares):.2f} to {max(shares):.2f} of the "
        f"fastest's, and above their bound by {statistics.median(gaps):.1%} in the median, "
        f"{max(gaps):.1%} at most; the same as the fastest's in "
        f"{sum(share == 1 for share in shares)} of {len(shares)} shapes"
    )


def main():
    folder, results = Path(sys.argv[1]), Path(sys.argv[2])
    results.mkdir(exist_ok=True)
    rows = []
    for path in sorted(folder.glob("*.csv")):
        if is_search(path):
            rows += shape_rows(folder, path)
    table.write(results / "shapes.csv", rows, COLUMNS)
    print(f"{len(rows)} shapes")
    summary(rows)
    pruned(folder)
    traffic(folder)


if __name__ == "__main__":
    main()
