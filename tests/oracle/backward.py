"""The backward pass of a point, a line at a time, from docs/models/backward.md: what is touched in lockstep, and
what an LRU of lines with dirty bits reads, fills and writes back. Shares no code with the simulator.
"""

from collections import OrderedDict
from itertools import product
from math import ceil

from layout import LINE
from problem import Problem, row_bytes
from schedule import Replay, Worker

SECTOR = 32
KEY_ROWS = ("k", "v", "dk", "dv", "partial_dk", "partial_dv")
OF_QUERIES = ("q", "lse", "d_o", "row_sum")
TENSORS = ("o", "dq_sum", "dq", "other") + KEY_ROWS + OF_QUERIES
COUNTERS = tuple(
    f"{name}_sectors"
    for name in "l2_read l2_read_miss l2_write l2_write_miss l2_reduction dram_read dram_write cold_read".split()
)


class Kernel:
    """Items in lockstep. `items` are (batch, head, own tile, part) in their order; `steps` gives those of one."""

    def __init__(self, point, items, steps, touch):
        self.point, self.items, self.steps, self.touch = point, items, steps, touch
        self.workers = [Worker(w) for w in range(min(point["workers"], len(items)))]
        self.words, self.ticket = {}, 0

    def run(self, loads, reads, adds, stores):
        self.loads, self.stores = loads, stores
        waits = self.point["timing"] == "lockstep-wave"
        self.wave(waits)
        while any(worker.item is not None for worker in self.workers):
            busy = [worker for worker in self.workers if worker.item is not None]
            for worker in busy:
                self.words[self.word_of(worker.item)] = worker.scan[worker.step][-1]
                if self.point["scan"] == "attach":
                    self.touch("word", "other", 0, 0, 0)
            for access, tensors in (("read", reads), ("reduce", adds)):
                for tensor in tensors:
                    for worker in busy:
                        self.touch(access, tensor, *worker.scan[worker.step])
            for worker in busy:
                worker.step += 1
                if worker.step == len(worker.scan):
                    self.end(worker.item)
                    worker.item = None
                    if not waits:
                        self.take(worker, waits)
            if waits and all(worker.item is None for worker in self.workers):
                self.wave(waits)

    def word_of(self, item):
        batch, head, *_ = item
        group = self.point["heads"] // self.point["kv_heads"]
        return (batch, head if self.steps.of_keys else head // group)

    def end(self, item):
        batch, head, tile, part = item
        for tensor in self.stores:
            parts = self.point["kv_split"] if tensor.startswith("partial") else 1
            self.touch("write", tensor, batch, head * parts + part, tile)

    def wave(self, waits):
        while True:
            taken = [self.take(worker, waits) for worker in self.workers]
            if not any(taken) or any(worker.item is not None for worker in self.workers):
                return

    def take(self, worker, waits):
        while True:
            if self.point["launch"] == "static":
                index = worker.number + worker.taken * self.point["workers"]
            else:
                index, self.ticket = self.ticket, self.ticket + 1
            if index >= len(self.items):
                return False
            grid = self.point["launch"] == "grid"
            counter = index // self.point["workers"] if grid else worker.taken
            worker.taken += 1
            item = self.items[index]
            scan = self.steps(index, item, counter, self.words.get(self.word_of(item), 0))
            if not scan:
                self.end(item)
                if waits:
                    return True
                continue
            worker.item, worker.step, worker.scan = item, 0, scan
            for tensor in self.loads:
                self.touch("read", tensor, *item[:3])
            return True


class Steps:
    """The tiles of the other side that an item visits, as (batch, head, tile)."""

    def __init__(self, point, of_keys):
        self.point, self.of_keys = point, of_keys
        self.group = point["heads"] // point["kv_heads"]
        self.forward = Replay({**point, "kv_split": 1})  # for its scans
        seen = Problem(point).seen_by()
        self.seen = seen
        if of_keys:
            tiles = range(ceil(point["seq_kv"] / point["tile_kv"]))
            self.seen = [[q for q, kv in enumerate(seen) if tile in kv] for tile in tiles]

    def __call__(self, index, item, counter, word):
        batch, head, tile, part = item
        tiles = self.seen[tile]
        if not tiles:
            return []
        place = type("Place", (), {"index": index})
        tiles = self.forward.scanned(tiles, place, counter, tile, word, self.point["seed"])
        if not self.of_keys:
            return [(batch, head // self.group, t) for t in tiles]
        own = self.group // self.point["kv_split"]
        heads = range(head * self.group + part * own, head * self.group + (part + 1) * own)
        return [(batch, query_head, t) for query_head in heads for t in tiles]


def items_of(point, heads, seq, tile, section, parts=1):
    """The order of items with `heads` heads of `seq` rows, as the forward pass orders Q tiles."""
    like = {**point, "heads": heads, "kv_heads": heads, "seq_q": seq, "seq_kv": seq, "mask": "none"}
    like.update(tile_q=tile, tile_kv=tile, section=section, kv_split=parts)
    return Replay(like).order


def visits(point):
    found = []

    def touch(access, tensor, batch, head, tile):
        found.append((access, tensor, batch, head, tile))

    def all_tiles(heads, rows, tile_rows):
        counts = (point["batch"], point[heads], ceil(point[rows] / point[tile_rows]))
        return list(product(*map(range, counts)))

    dealt = all_tiles("heads", "seq_q", "tile_q")
    around, separate = point["small_kernels"] == "on", point["dq"] == "separate"
    for item in dealt if around else ():
        touch("read", "o", *item)
        touch("read", "d_o", *item)
        touch("write", "row_sum", *item)
        if not separate:
            touch("write", "dq_sum", *item)
    parts = point["kv_split"]
    kv = (point["kv_heads"], point["seq_kv"], point["tile_kv"], point["section"], parts)
    main = Kernel(point, items_of(point, *kv), Steps(point, True), touch)
    results = ("dk", "dv") if parts == 1 else ("partial_dk", "partial_dv")
    main.run(("k", "v"), OF_QUERIES, () if separate else ("dq_sum",), results)
    if separate:
        section = point["section"] * (point["heads"] // point["kv_heads"] // parts)
        q = (point["heads"], point["seq_q"], point["tile_q"], section)
        of_dq = Kernel(point, items_of(point, *q), Steps(point, False), touch)
        of_dq.run(OF_QUERIES, ("k", "v"), (), ("dq",))
    summed = all_tiles("kv_heads", "seq_kv", "tile_kv") if around and parts > 1 else ()
    for batch, head, tile in summed:
        for part in range(parts):
            touch("read", "partial_dv", batch, head * parts + part, tile)
            touch("read", "partial_dk", batch, head * parts + part, tile)
        touch("write", "dk", batch, head, tile)
        touch("write", "dv", batch, head, tile)
    for item in dealt if around and not separate else ():
        touch("read", "dq_sum", *item)
        touch("write", "dq", *item)
    return found


def tile_bytes(point, tensor, tile):
    rows, tile_rows = point["seq_q"], point["tile_q"]
    if tensor in KEY_ROWS:
        rows, tile_rows = point["seq_kv"], point["tile_kv"]
    a_row = row_bytes(point) | {"lse": 4, "row_sum": 4, "dq_sum": 4 * point["head_dim"]}
    shaped_as = {"dq": "q", "dk": "k", "dv": "v", "d_o": "o", "partial_dk": "k", "partial_dv": "v"}
    own = min(rows, (tile + 1) * tile_rows) - tile * tile_rows
    return own * a_row[shaped_as.get(tensor, tensor)]


def count(point):
    """tensor -> counter -> sectors, of an LRU of lines."""
    counts = {tensor: dict.fromkeys(COUNTERS, 0) for tensor in TENSORS}
    held, touched = OrderedDict(), set()  # line -> (tensor, sectors, whether it is dirty)
    capacity = point["l2_bytes"] // LINE
    for access, tensor, batch, head, tile in visits(point):
        of = counts[tensor]
        if access == "word":
            of["l2_write_sectors"] += 1
            continue
        left = ceil(tile_bytes(point, tensor, tile) / SECTOR)
        number = 0
        while left > 0:
            line, sectors = (tensor, batch, head, tile, number), min(4, left)
            number, left = number + 1, left - 4
            hit = line in held
            dirty = hit and held.pop(line)[2]
            held[line] = (tensor, sectors, dirty or access != "read")
            of[f"l2_{'reduction' if access == 'reduce' else access}_sectors"] += sectors
            if access != "write":
                of["cold_read_sectors"] += sectors * (line not in touched)
                of["dram_read_sectors"] += sectors * (not hit)
            if access != "reduce":
                of[f"l2_{access}_miss_sectors"] += sectors * (not hit)
            touched.add(line)
            if len(held) > capacity:
                _, (owner, evicted, was_dirty) = held.popitem(last=False)
                counts[owner]["dram_write_sectors"] += evicted * was_dirty
    return counts
