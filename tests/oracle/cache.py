"""L2, a line at a time: which accesses of a replay miss.

Lines have addresses: tensors in the order of TENSORS, each from a multiple of 2 MiB, inside one
head after head and tile after tile, or of paged K and V page after page. A miss fills its line. `misses` takes accesses (line, key of
the line's set, priority, number of the visit) and gives the places in the sequence that miss.
"""

from collections import OrderedDict
from heapq import heappop, heappush

from draws import permuted, stream
from layout import LINE, TENSORS

PAGE = 2 << 20
FIRST, NORMAL, LAST = 0, 1, 2
NEVER = 1 << 60


class Addresses:
    """Byte address of each line of a tile."""

    def __init__(self, layout):
        self.layout, self.heads = layout, {}
        address = 0
        for tensor in TENSORS:
            tiles = range(layout.tiles(tensor))
            heads = range(layout.shapes[tensor][0])
            if heads:
                address = -(-address // PAGE) * PAGE
            if self.is_paged(tensor):
                self.heads[tensor] = [address]
                address += layout.pool_bytes(tensor)
                continue
            self.heads[tensor] = []
            for head in heads:
                self.heads[tensor].append([])
                for tile in tiles:
                    self.heads[tensor][head].append(address)
                    address += layout.lines(tensor, head, tile) * LINE

    def is_paged(self, tensor):
        return tensor in ("k", "v") and self.layout.page_rows > 0

    def of(self, tensor, head, tile, line):
        if not self.is_paged(tensor):
            return self.heads[tensor][head][tile] + line * LINE
        row_bytes, kv_rows = self.layout.problem.row_bytes[tensor], self.layout.problem.kv_rows
        row, rest = divmod(line * LINE, row_bytes)
        key = tile * kv_rows + row
        return self.heads[tensor][0] + self.layout.page_address(tensor, head, key) + rest


class Lru:
    """`ways` lines; with priorities the lowest one held leaves, LAST holds at most `kept`."""

    def __init__(self, ways, kept, renews=True):
        self.ways, self.kept, self.renews = ways, kept, renews
        self.held = [OrderedDict() for _ in (FIRST, NORMAL, LAST)]  # the line to leave first

    def access(self, line, priority):
        for held in self.held:
            if line in held:
                if self.renews:
                    held.move_to_end(line)
                return True
        if priority == LAST and len(self.held[LAST]) >= self.kept:
            self.held[LAST].popitem(last=False)
        elif sum(map(len, self.held)) >= self.ways:
            next(filter(None, self.held)).popitem(last=False)
        self.held[priority][line] = None
        return False


class TreePlru:
    """Bits at the nodes of a binary tree over the ways point away from the last use."""

    def __init__(self, ways):
        self.ways, self.lines, self.right = ways, [None] * ways, [False] * (2 * ways)

    def use(self, way):
        node, half = 1, self.ways // 2
        while half:
            goes_right = bool(way & half)
            self.right[node] = not goes_right
            node, half = 2 * node + goes_right, half // 2

    def access(self, line, _):
        hit = line in self.lines
        if hit:
            way = self.lines.index(line)
        elif None in self.lines:
            way = self.lines.index(None)
        else:
            node, way, half = 1, 0, self.ways // 2
            while half:
                way += half * self.right[node]
                node, half = 2 * node + self.right[node], half // 2
        self.lines[way] = line
        self.use(way)
        return hit


def opt(lines, sets, ways):
    """Which accesses miss where the line of the set that is needed last leaves."""
    following, seen = [0] * len(lines), {}
    for i in range(len(lines) - 1, -1, -1):
        following[i] = seen.get(lines[i], NEVER)
        seen[lines[i]] = i
    held, queues, missed = {}, {}, []
    counts = {}
    for i, line in enumerate(lines):
        at = sets[i]
        queue = queues.setdefault(at, [])
        hit = line in held
        if not hit and counts.get(at, 0) >= ways:
            while True:
                needed, old = heappop(queue)
                if held.get(old) == -needed:
                    break
            del held[old]
            counts[at] -= 1
        if not hit:
            counts[at] = counts.get(at, 0) + 1
        held[line] = following[i]
        heappush(queue, (-following[i], line))
        missed.append(not hit)
    return missed


class Hash:
    def __init__(self, point, sets):
        self.kind, self.sets = point["l2_hash"], sets
        self.chunk = 1
        while self.chunk < 32 and sets % (2 * self.chunk) == 0:
            self.chunk *= 2

    def of(self, line):
        if self.kind == "modulo":
            return line % self.sets
        if self.kind == "xor":
            at = 0
            while self.sets > 1 and line:
                at ^= line % self.sets
                line //= self.sets
            return at
        groups = self.sets // self.chunk
        number = line // self.chunk
        group = permuted(number % groups, groups, stream(0, number // groups))
        return group * self.chunk + line % self.chunk


def priorities(point):
    given = {
        "none": {},
        "q-first": {"q": FIRST},
        "k-last-v-last": {"k": LAST, "v": LAST},
        "q-first-k-last-v-last": {"q": FIRST, "k": LAST, "v": LAST},
        "k-first-v-first": {"k": FIRST, "v": FIRST},
    }[point.get("hints", "none")]
    return {tensor: given.get(tensor, NORMAL) for tensor in TENSORS}


def misses(point, layout, visits):
    """Of every visit the sectors that miss."""
    sets_model = point["l2"] == "sets"
    line_bytes = point["l2_line_bytes"] if sets_model else LINE
    ways = point["l2_ways"] if sets_model else point["l2_bytes"] // LINE
    sets = point["l2_bytes"] // (ways * line_bytes) if sets_model else 1
    hashed = Hash(point, sets) if sets_model else None
    policy = point["l2_policy"] if sets_model else point["l2"]
    addresses, rank = Addresses(layout), priorities(point)
    kept = point["l2_bytes"] // 8 * 5 // (sets * line_bytes)
    if kept == 0:  # without a way to lie in, evict_last is normal
        rank = {tensor: min(priority, NORMAL) for tensor, priority in rank.items()}
    lines, where, numbers, sectors, classes = [], [], [], [], []
    set_of = {}
    for number, (_, tensor, head, tile, begin, end) in enumerate(visits):
        whole = layout.sectors(tensor, head, tile) * 32
        for i in range(begin, end):
            address = addresses.of(tensor, head, tile, i)
            used = min(LINE, whole - i * LINE)
            for offset in range(0, used, line_bytes):
                line = (address + offset) // line_bytes
                if line not in set_of:
                    set_of[line] = hashed.of(line) if hashed else 0
                lines.append(line)
                where.append(set_of[line])
                numbers.append(number)
                sectors.append(min(line_bytes, used - offset) // 32)
                classes.append(rank[tensor])
    if policy == "opt":
        missed = opt(lines, where, ways)
    else:
        make = {
            "lru": lambda: Lru(ways, kept),
            "fifo": lambda: Lru(ways, kept, renews=False),
            "plru": lambda: TreePlru(ways),
        }[policy]
        caches = {}
        missed = []
        for line, at, priority in zip(lines, where, classes):
            if at not in caches:
                caches[at] = make()
            missed.append(not caches[at].access(line, priority))
    counts = [0] * len(visits)
    for number, amount, miss in zip(numbers, sectors, missed):
        counts[number] += amount * miss
    return counts
