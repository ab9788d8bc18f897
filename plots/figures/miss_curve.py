"""Misses at every L2 capacity of LRU, a panel a problem, with the capacities of the GPU that the table names: a
cyclic scan falls off a cliff, a reversed one slides down (Escalona, McKellips, Ding, "Symmetric Locality", arXiv
2407.19291). Rows of `--points` with l2 = opt at several capacities are Belady's."""

import points as row_points
import table
import xy

ROOM = 1.1  # to the right of the last step and of the largest capacity


def curve_rows(path, points):
    """Rows of the curves, each with the columns of its point where these are known."""
    known = row_points.rows_by_run(path, points)
    for name, rows in row_points.by_run(path, points, ("capacity_bytes", "miss_sectors")):
        rows = table.ascending(rows, "capacity_bytes")
        least = rows[-1]["miss_sectors"]
        if len(rows) > 1 and rows[0]["capacity_bytes"] == "0":
            rows = rows[1:]  # where every access misses, which would hide all else
        for row in rows:
            of = known.get(row.get("run_id"), {})
            new = dict(point=name, least=least, source="predicted")  # a table may have all columns
            own = {column: row[column] for column in ("capacity_bytes", "miss_sectors")}
            new = table.Row({**row, **of, **own, **new})
            new.path = path
            yield new


def belady(points, like):
    """The optimum's misses at the capacities of its rows."""
    for row in table.read(points) if points else ():
        if row["l2"] == "opt":
            counts = dict(capacity_bytes=row["l2_bytes"], miss_sectors=str(table.misses(row)))
            yield table.Row({**like, **row, **counts, "source": "predicted"})


def draw(path, points=None):
    rows = list(curve_rows(path, points))
    marks = sorted({mark for row in rows for mark in row_points.capacities(row)})
    last = max([*table.integers(rows, "capacity_bytes"), *(at for at, _ in marks)]) * ROOM
    for row in list(table.grouped(rows, "point").values()):
        rows.append(table.Row({**row[-1], "capacity_bytes": str(int(last))}))
    misses = table.integers(rows, "miss_sectors")
    hue, facet = "point", []
    if row_points.rows_by_run(path, points):  # what differs is known by columns
        problem = [c for c in row_points.POINT if c in rows[0] and c not in row_points.SCHEDULE]
        hue, facet = None, row_points.varying(rows, [], problem)
    elif {row["scan"] for row in rows} == {row["point"] for row in rows}:
        hue = "scan"
    return xy.draw_rows(
        rows + list(belady(points, rows[0])),
        *("capacity_mib", "miss_sectors", hue, ",".join(facet)),
        log="y" if max(misses) > xy.LOG_RANGE * max(min(misses), 1) else "none",
        marks=[(at / row_points.MIB, text) for at, text in marks],
        steps=True,
    )
