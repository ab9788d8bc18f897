"""What each GPU of a ring counts forward, from docs/models/ring.md and the order of rows that
scheduler/ring.hpp gives: by rows of the whole sequence, whatever call a step makes of them. Counts that
follow from which rows meet, not from when a transfer crosses. Chunks are whole tiles."""

FLOAT, SECTOR = 4, 32
COUNTERS = ("sm_read_sectors", "l2_read_sectors", "l2_write_sectors")
SUMS = ("incoming_write_sectors", "outgoing_read_sectors", "cold_read_sectors")


def rows_of(point, rank):
    """The rows of the sequence that a GPU has, in their order there."""
    ranks, seq = point["ring"], point["seq"]
    if point["ring_order"] == "plain":
        part = seq // ranks
        return list(range(rank * part, (rank + 1) * part))
    part = seq // (2 * ranks)
    last = 2 * ranks - 1 - rank
    first = list(range(rank * part, (rank + 1) * part))
    return first + list(range(last * part, (last + 1) * part))


def tiles(rows, size):
    return [rows[begin : begin + size] for begin in range(0, len(rows), size)]


def sees(point, queries, keys):
    return point["mask"] == "none" or min(keys) <= max(queries)


class Rank:
    def __init__(self, point, rank):
        self.point, self.rank = point, rank
        self.queries = tiles(rows_of(point, rank), point["tile_q"])
        self.row = point["head_dim"] * 2
        self.group = point["heads"] // point["kv_heads"]

    def steps(self):
        """(step, Q tile, K/V tiles that it sees) of every pair of a step and a Q tile."""
        ranks = self.point["ring"]
        for step in range(ranks):
            keys = tiles(rows_of(self.point, (self.rank - step) % ranks), self.point["tile_kv"])
            for number, queries in enumerate(self.queries):
                yield step, number, [kv for kv in keys if sees(self.point, queries, kv)]

    def count(self):
        """Counters of every step, and their sums where only these are told."""
        point = self.point
        heads, kv_heads = point["batch"] * point["heads"], point["batch"] * point["kv_heads"]
        steps = [dict.fromkeys(COUNTERS, 0) for _ in range(point["ring"])]
        calls = {}  # of a Q tile
        for step, number, seen in self.steps():
            if seen:
                calls.setdefault(number, []).append(step)
        # A call writes O of all its rows where some of them meet no later keys.
        ends = {own[-1] for own in calls.values()}
        cold = 0
        for step, number, seen in self.steps():
            if not seen:
                continue
            own = len(self.queries[number])
            sums = heads * (own * point["head_dim"] * FLOAT + own * FLOAT) // SECTOR
            first, last = step == calls[number][0], step in ends
            reads = heads * own * self.row // SECTOR
            cold += reads * first
            reads += heads * sum(2 * len(keys) * self.row for keys in seen) // SECTOR
            reads += 0 if first else sums
            for counter in ("sm_read_sectors", "l2_read_sectors"):
                steps[step][counter] += reads
            steps[step]["l2_write_sectors"] += sums + last * heads * own * self.row // SECTOR
        keys = {(step, keys[0]): len(keys) for step, _, seen in self.steps() for keys in seen}
        cold += kv_heads * sum(2 * own * self.row // SECTOR for own in keys.values())
        moved = kv_heads * 2 * point["seq"] // point["ring"] * self.row // SECTOR
        moved *= point["ring"] - 1
        return steps, dict(zip(SUMS, (moved, moved, cold)))
