"""Two halves, a line at a time, where each half is one set: homes, copies, the fabric, write-backs.

Every line has a home half. Lines of a tile have theirs in turn, and the lowest bit of the mixed
number of the tile says which half begins; tiles are numbered tensor after tensor, head after head.
A reader looks in its own half first. A line that is not there crosses the fabric if the other half
is its home, is read from DRAM if that lacks it too, and is kept in both. What a prefetch reads from
DRAM is no miss of either half. A write goes to the home
half and allocates without a fill; the writer's half keeps a copy, and the other half drops its own.
A dirty line that leaves is written to DRAM.
"""

from collections import OrderedDict

from counters import COUNTERS as OF_ONE_BLOCK
from draws import mix
from layout import LINE, SECTOR, TENSORS
from schedule import Replay

COUNTERS = (*OF_ONE_BLOCK, "fabric_read_sectors", "fabric_read_miss_sectors", "dram_write_sectors")


class Half:
    """The least recently used of `ways` lines leaves."""

    def __init__(self, ways):
        self.ways, self.dirty = ways, OrderedDict()  # line -> whether it was written

    def touch(self, line, write):
        """Whether it was held, and the line that left dirty for it."""
        held = line in self.dirty
        self.dirty[line] = self.dirty.get(line, False) or write
        self.dirty.move_to_end(line)
        if len(self.dirty) <= self.ways:
            return held, None
        left, was_dirty = self.dirty.popitem(last=False)
        return held, left if was_dirty else None

    def drop(self, line):
        self.dirty.pop(line, None)


def first_numbers(layout):
    numbers, following = {}, 0
    for tensor in TENSORS:
        numbers[tensor] = following
        following += layout.shapes[tensor][0] * layout.tiles(tensor)
    return numbers


def number_of(layout, tensor, head, tile):
    """Among those of its tensor; of paged K and V, of its first run of keys among all such runs."""
    if tensor not in ("k", "v") or not layout.page_rows:
        return head * layout.tiles(tensor) + tile
    problem = layout.problem
    run_bytes = min(layout.page_rows, problem.kv_rows) * problem.row_bytes[tensor]
    return layout.page_address(tensor, head, tile * problem.kv_rows) // run_bytes


def count(point):
    """As counters.count, of visits that worker 0 or 1 makes to tiles of its own."""
    replay = Replay(point)
    visits = replay.run()
    layout, first = replay.layout, first_numbers(replay.layout)
    halves = [Half(point["l2_bytes"] // LINE // 2) for _ in range(2)]
    counts = {tensor: dict.fromkeys(COUNTERS, 0) for tensor in TENSORS}
    touched = set()
    for access, tensor, head, tile, begin, end in visits:
        of = counts[tensor]
        half = head if point["workers"] == 2 else 0
        second = mix(first[tensor] + number_of(layout, tensor, head, tile)) % 2
        for i in range(begin, end):
            line, home = (tensor, head, tile, i), (second + i) % 2
            sectors = min(LINE, layout.bytes(tensor, head, tile) - i * LINE) // SECTOR
            if access == "write":
                of["l2_write_sectors"] += sectors
                held, left = halves[home].touch(line, True)
                of["l2_write_miss_sectors"] += 0 if held else sectors
                leaving = [left]
                if half != home:
                    leaving.append(halves[half].touch(line, False)[1])
                else:
                    halves[1 - home].drop(line)
            else:
                of["l2_read_sectors"] += sectors
                of["sm_read_sectors"] += sectors * (access == "read")
                of["cold_read_sectors"] += 0 if line in touched else sectors
                held, left = halves[half].touch(line, False)
                leaving = [left]
                near_missed, crosses = not held, not held and home != half
                if crosses:
                    of["fabric_read_sectors"] += sectors
                    held, left = halves[home].touch(line, False)
                    leaving.append(left)
                    if access == "read":
                        of["fabric_read_miss_sectors"] += 0 if held else sectors
                if near_missed and (access == "read" or crosses):
                    of["l2_read_miss_sectors"] += sectors
                of["dram_read_sectors"] += 0 if held else sectors
            touched.add(line)
            for left in filter(None, leaving):
                written = layout.bytes(left[0], left[1], left[2]) - left[3] * LINE
                counts[left[0]]["dram_write_sectors"] += min(LINE, written) // SECTOR
    counts["other"] = dict.fromkeys(COUNTERS, 0) | {"l2_write_sectors": replay.words_written}
    return counts
