"""What an axis can show: a column that holds numbers, or what follows from several."""

import table


def hit_rate(row):
    reads = table.integer(row, "l2_read_sectors")
    return 100 * (1 - table.integer(row, "l2_read_miss_sectors") / reads)


def over(column):
    return lambda row: of(row, column) / COMPULSORY[column](row)


SECTORS_PER_MIB = 2**20 / 32


def dram_share(row):
    """Of a calibration stream: sectors from DRAM over those of its buffer."""
    return table.integer(row, "dram_read") / (table.number(row, "n_mib") * SECTORS_PER_MIB)


DERIVED = {
    "dram_share": dram_share,
    "capacity_mib": lambda row: table.integer(row, "capacity_bytes") / 2**20,
    "misses": table.misses,
    "hit_rate": hit_rate,
    "misses_over_compulsory": over("misses"),
    "dram_over_compulsory": over("dram_read_sectors"),
}
# The fewest that any schedule needs.
COMPULSORY = {
    "miss_sectors": lambda row: table.integer(row, "least"),
    "misses": table.compulsory,
    "dram_read_sectors": lambda row: table.integer(row, "cold_read_sectors"),
    "l2_read_miss_sectors": lambda row: table.integer(row, "cold_read_sectors"),
    "misses_over_compulsory": lambda row: 1,
    "dram_over_compulsory": lambda row: 1,
}


def complete(rows):
    """Measured rows have no count of first touches: they get that of a prediction of their
    problem, where there is one."""
    problem = "batch heads kv_heads seq_q seq_kv head_dim dtype".split()
    known = {}
    for row in rows:
        if row.get("cold_read_sectors"):
            known.setdefault(tuple(row.get(c, "") for c in problem), row)
    for row in rows:
        twin = known.get(tuple(row.get(c, "") for c in problem))
        if twin and not row.get("cold_read_sectors"):
            row["cold_read_sectors"] = twin["cold_read_sectors"]
    return rows


def of(row, name):
    """The number that `name` means in a row."""
    return DERIVED[name](row) if name in DERIVED else table.number(row, name)


def is_there(row, name):
    """Whether the row has it: an empty cell is not measured, not 0."""
    try:
        of(row, name)
    except table.MissingColumn:
        raise
    except table.TableError:
        return False
    return True


def compulsory(row, name):
    """The least that `name` can be, or None where that is not known."""
    try:
        return COMPULSORY[name](row) if name in COMPULSORY else None
    except table.TableError:
        return None
