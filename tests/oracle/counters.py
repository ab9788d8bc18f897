"""The counters of a point by tensor, from its visits and what of them missed."""

from cache import misses
from layout import LINE, TENSORS
from schedule import Replay

COUNTERS = tuple(
    f"{name}_sectors"
    for name in "sm_read l2_read l2_read_miss l2_write l2_write_miss dram_read cold_read".split()
)


def count(point):
    """tensor -> counter -> sectors; `other` has the words of attach, a sector each."""
    replay = Replay(point)
    visits = replay.run()
    counts = {tensor: dict.fromkeys(COUNTERS, 0) for tensor in TENSORS}
    touched = set()
    missed = misses(point, replay.layout, visits)
    for (access, tensor, head, tile, begin, end), miss in zip(visits, missed):
        of = counts[tensor]
        all_sectors = replay.layout.sectors(tensor, head, tile)
        for line in range(begin, end):
            sectors = min(4, all_sectors - line * (LINE // 32))
            first = (tensor, head, tile, line) not in touched
            touched.add((tensor, head, tile, line))
            if access == "write":
                of["l2_write_sectors"] += sectors
                continue
            of["l2_read_sectors"] += sectors
            of["sm_read_sectors"] += sectors * (access == "read")
            of["cold_read_sectors"] += sectors * first
        if access == "write":
            of["l2_write_miss_sectors"] += miss
        else:
            of["l2_read_miss_sectors"] += miss
            of["dram_read_sectors"] += miss
    counts["other"] = dict.fromkeys(COUNTERS, 0) | {"l2_write_sectors": replay.words_written}
    return counts
