"""Rows of `sawtooth compare --csv`: a point, a counter and a group (model or baseline) each."""

import table

BASELINE = "baseline: "
OVER = (
    1.5  # experiments/sawtooth/compare/compare_statistics.hpp: above it the order of work decides
)
BAND = 0.10
NAMES = {
    "dram_read_sectors": "DRAM reads (sectors)",
    "time_us": "time (us)",
    "l2_read_miss_sectors": "near misses (sectors)",
    "fabric_read_sectors": "fabric reads (sectors)",
    "l2_read_sectors": "L2 reads (sectors)",
}


def read(path, counter=None):
    """Rows of one table; with `counter` of that counter alone, at least one."""
    rows = table.read(path, ("group", "counter", "predicted", "measured"))
    if counter:
        rows = table.where(rows, counter=counter)
    if not rows:
        raise table.TableError(f"{path}: no rows of {counter}")
    return rows


def models(rows):
    """Groups that are no baselines."""
    return [group for group in table.values(rows, "group") if not group.startswith(BASELINE)]


def models_of(rows, path):
    """The same, at least one."""
    if not models(rows):
        raise table.TableError(f"{path}: no model but baselines")
    return models(rows)


def mask_of(row):
    return row["mask"].split(":")[0]


def is_positive(row):
    return min(table.number(row, "predicted"), table.number(row, "measured")) > 0


def is_over(row):
    return row["over_compulsory"] != "" and float(row["over_compulsory"]) > OVER


def regime(row):
    """What a point is about, in a few words: (mask, order, launch)."""
    mask = mask_of(row)
    order = "" if mask == "none" else row["q_order"]
    return f"{mask} {order} {row['launch']}".replace("  ", " ")


def title(counter):
    return NAMES.get(counter, counter.replace("_", " "))
