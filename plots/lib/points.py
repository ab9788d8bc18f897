"""What varies in rows of results.csv: which columns tell series apart, so that no figure mixes points.
"""

import configparser
import os
from pathlib import Path

import table
import words

# How a prediction was made; a line style each, where the other columns have colours.
MODEL = (
    "timing l2 l2_bytes l2_ways l2_line_bytes l2_hash l2_hash_matrix l2_policy l2_set_aside "
    "without launches costs seed"
).split()
# What a point is, in the order in which words are wanted for it.
POINT = (
    "gpu system kernel pass mask batch heads kv_heads seq_kv seq_q head_dim dtype scan q_order "
    "launch section prefetch kv_split ctas_per_sm workers tile_q tile_kv head_order loop lse hints "
    "state dq small_kernels pack_gqa"
).split()
# What of it a schedule is.
SCHEDULE = (
    "scan q_order launch section prefetch kv_split ctas_per_sm workers tile_q tile_kv head_order "
    "loop hints"
).split()
MIB = 1 << 20
CAPTION = "gpu pass mask batch heads kv_heads seq_kv head_dim tile_q tile_kv timing l2".split()


def varying(rows, known, candidates):
    """Those of `candidates` that still differ among rows that agree in `known`, none of them
    determined by those before it."""
    chosen = []
    groups = list(table.grouped(rows, *known).values()) if known else [rows]
    for column in candidates:
        parted = [table.grouped(group, column) if column in rows[0] else {} for group in groups]
        if any(len(parts) > 1 for parts in parted):
            chosen.append(column)
            groups = [part for parts in parted for part in parts.values()]
    return chosen


def caption(rows):
    """What all of them are, in words."""
    rows = [row for row in rows if row.get("source") != "measured"] or rows
    same = [c for c in CAPTION if rows and len({row.get(c, "") for row in rows}) == 1]
    return (
        words.name(rows[0], [c for c in same if rows[0].get(c, "forward") != "forward"])
        if rows
        else ""
    )


def rows_by_run(path, points=None):
    """{run_id: row} of the points of a table beside results.csv: of `points`, else of a table in its
    folder that has them."""
    folder = os.path.dirname(path) or "."
    beside = [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
    ids = {row.get("run_id") for row in table.read(path)}
    for place in [points] if points else [name for name in beside if name.endswith(".csv")]:
        if points or {"source", "run_id", "scan"} <= set(table.header(place)):
            found = {row["run_id"]: row for row in table.read(place) if row["run_id"] in ids}
            if found:
                return found
    return {}


def by_run(path, points=None, columns=(), names=None):
    """(name, rows) of every point of a table beside results.csv. Names come from `names` or from
    rows_by_run(), else they are the scan, numbered where points share one."""
    rows = table.read(path, ("scan", *columns))
    if names is None:
        known = list(rows_by_run(path, points).values())
        apart = varying(known, [], POINT + MODEL) if known else []
        names = {row["run_id"]: words.name(row, apart) for row in known}
    groups = {}
    for row in rows:
        groups.setdefault((row["scan"], row.get("run_id", "")), []).append(row)
    scans = [scan for scan, _ in groups]
    for number, ((scan, run), found) in enumerate(groups.items()):
        name = scan if scans.count(scan) == 1 else f"{scan}, point {number + 1}"
        yield names.get(run) or name, found


PROFILES = Path(os.environ.get("SAWTOOTH_EXPERIMENTS") or Path(__file__).parents[2] / "experiments")


def profile(gpu):
    """{key: text} of a GPU's profile without sources and notes; empty for an unknown one."""
    parser = configparser.ConfigParser(delimiters=("=",), interpolation=None, strict=False)
    path = PROFILES / "profiles" / "gpus" / f"{gpu}.ini"
    if "/" in gpu or not path.exists():
        return {}
    parser.read(path, encoding="utf-8")
    return {key: text.split(";")[0].strip() for key, text in parser["gpu"].items()}


def capacities(row):
    """[(bytes, words)] of the L2 that a row was predicted with: a half of it first, where each half
    keeps a copy of what both read."""
    if not row.get("l2_bytes"):
        return []
    whole = table.integer(row, "l2_bytes")
    known = profile(row.get("gpu", ""))
    if known.get("l2-bytes") != words.size(whole).replace(" ", ""):
        return [(whole, f"L2 of {words.size(whole)}")]
    half = [(whole // 2, "half of L2")] if known.get("l2-halves") == "2" else []
    return [*half, (whole, f"L2 of {row['gpu'].upper()}")]
