"""What every worker reads and writes, and in which order, as docs/ and scheduler/'s pages say it.

A point is a dict of option names and values. `visits(point)` gives (access, tensor, head, tile,
first line, end line) in the order in which L2 sees them, all lines of a visit one after another.
Nothing here is clever: every rule is a line or two, so that a difference to the simulator is a
question about one of the two texts.
"""

from draws import permuted, stream
from items import Item, LastWave, Shares
from layout import LINE, Layout
from problem import Prefix, Problem, sequences_of


class Replay:
    def __init__(self, point):
        self.point = point
        self.problem = problem = Problem(point)
        self.outer = point["loop"] == "kv-outer"
        self.shared = point["kv_split"] == "auto"
        self.split = 1 if self.shared else point["kv_split"]
        self.prefix = Prefix(point)
        self.cascade = point.get("cascade") == "on"
        self.workers = point["workers"]
        self.sequences = [Problem(point, lengths) for lengths in sequences_of(point)]
        self.seen = [own.seen_by() for own in self.sequences]
        by_length = range(problem.batch)
        if point.get("sequence_order") == "longest":
            pairs = [own.seq_q * own.seq_kv for own in self.sequences]
            by_length = sorted(by_length, key=lambda batch: -pairs[batch])
        self.batch_order = list(by_length)
        self.heads = problem.batch * problem.heads
        self.ranks = 1 if self.outer else problem.q_tiles
        self.whole_items = self.heads * self.split * self.ranks
        self.cut = None
        if point["launch"] == "balanced" and not self.outer and self.split == 1:
            self.cut = LastWave(self.whole_items, problem.kv_tiles, self.workers)
        self.places = self.whole_items
        if self.cut is not None and self.cut.left:
            self.places = self.cut.first_item + 2 * self.workers
        self.order = self.item_order()
        pieces, self.shares, self.stack = None, None, 1
        if self.cascade:
            rows = problem.seq_q
            self.stack = min(self.prefix.group, max(1, problem.q_rows // rows))
            self.prefix_items = self.stacks()
            self.places += len(self.prefix_items)
        if self.shared:
            weights = []
            for index in range(self.places):
                item = self.item(index)
                void = item.q_tile >= self.sequences[item.batch].q_tiles
                weights.append(0 if void else max(1, len(item.tiles)))
            self.shares = Shares(weights, self.workers)
        if self.cascade or self.shared:
            cuts = 2 * self.shares.count if self.shared else 0
            pieces = (cuts + (self.places if self.cascade else 0), self.stack)
            self.first_whole = cuts
        self.layout = Layout(point, problem, self.cut, self.sequences, pieces)
        self.words = {}  # attach: of a K/V head, the tile that a worker last started on
        self.words_written = 0
        self.come = {}  # pieces of an item that have ended
        self.visits = []

    # ---- order of the items

    def item_order(self):
        """(batch, head, q_tile, part) of every whole item."""
        if "order" in self.point:
            return self.point["order"]
        tiles = self.ranks
        rank_to_tile = list(range(tiles))
        if self.point["q_order"] == "descending":
            rank_to_tile.reverse()
        elif self.point["q_order"] == "fold":
            rank_to_tile = [r // 2 if r % 2 == 0 else tiles - 1 - r // 2 for r in range(tiles)]
        heads = []  # the parts of a head count as heads
        for h in range(self.heads):
            if self.point["head_order"] == "batch-major":
                batch, head = h // self.problem.heads, h % self.problem.heads
            else:
                batch, head = h % self.problem.batch, h // self.problem.batch
            heads += [(self.batch_order[batch], head, part) for part in range(self.split)]
        order = []
        section = self.point["section"]
        for first in range(0, len(heads), section):
            for rank in range(tiles):
                for batch, head, part in heads[first : first + section]:
                    order.append((batch, head, rank_to_tile[rank], part))
        return order

    def stacks(self):
        """(sequences, head) of the items of a cascade that scan prefixes."""
        items = []
        for first in range(0, self.problem.batch, self.prefix.group):
            group = list(range(first, min(first + self.prefix.group, self.problem.batch)))
            for head in range(self.problem.heads):
                for at in range(0, len(group), self.stack):
                    items.append((group[at : at + self.stack], head))
        return items

    def item(self, index):
        if not self.cascade:
            return self.own_item(index)
        if index < len(self.prefix_items):
            sequences, head = self.prefix_items[index]
            item = Item(index, sequences[0], head, 0, 0)
            item.sequences, item.tiles = sequences, list(range(self.prefix.tiles))
            return item
        item = self.own_item(index - len(self.prefix_items))
        item.index = index
        item.tiles = [tile for tile in item.tiles if tile >= self.prefix.tiles]
        return item

    def own_item(self, index):
        pieces = None
        whole, tiles = index, None
        if self.cut is not None and index >= self.cut.first_item:
            piece = self.cut.piece(index - self.cut.first_item)
            if piece is None:
                item = Item(index, 0, 0, 0, 0)
                item.pieces = (0, 0, 0)
                return item
            number, tiles, pieces = piece
            whole = self.cut.first_item + number
        item = Item(index, *self.order[whole])
        item.pieces = pieces
        own = self.sequences[item.batch]
        count = own.kv_tiles
        if item.q_tile >= own.q_tiles:  # void
            return item
        if self.outer:
            item.tiles = list(range(count))
            return item
        of_part = range(item.part * count // self.split, (item.part + 1) * count // self.split)
        item.tiles = [t for t in self.seen[item.batch][item.q_tile] if t in of_part]
        if tiles is not None:
            item.tiles = [t for t in item.tiles if t in tiles]
        return item

    # ---- scans

    def scanned(self, tiles, item, counter, q_tile, word, seed):
        """`tiles`, ascending, in the order in which they are visited."""
        scan, n = self.point["scan"], len(tiles)
        backwards = {
            "linear": False,
            "reverse": True,
            "sawtooth": counter % 2 == 1,
            "sawtooth-item": q_tile % 2 == 1,
            "sawtooth-wave": item.index // self.workers % 2 == 1,
        }
        if scan in backwards:
            return tiles[::-1] if backwards[scan] else list(tiles)
        if scan == "attach":
            at = min(max(word, tiles[0]), tiles[-1])
            return [t for t in tiles if t >= at] + [t for t in tiles if t < at]
        if scan == "shift":
            at = item.index % n
            return tiles[at:] + tiles[:at]
        return [tiles[permuted(step, n, stream(seed, item.index))] for step in range(n)]

    # ---- what is touched

    def touch(self, access, tensor, head, tile, lines=None):
        begin, end = lines or (0, self.layout.lines(tensor, head, tile))
        if begin < end:
            self.visits.append((access, tensor, head, tile, begin, end))

    def q_head(self, item):
        return item.batch * self.problem.heads + item.head

    def key_head(self, item, tile):
        """The K/V head in whose memory the tile lies."""
        away = item.batch - self.prefix.owner(item.batch, tile)
        return self.kv_head(item) - away * self.problem.kv_heads

    def kv_head(self, item):
        group = self.problem.heads // self.problem.kv_heads
        return item.batch * self.problem.kv_heads + item.head // group

    def rows(self, access, head, tile, o="o"):
        self.touch(access, o, head, tile)
        if self.point["lse"] == "on":
            self.touch(access, "lse", head, tile)

    def results(self, item):
        head = self.q_head(item)
        if self.cascade:
            self.cascade_results(item)
            return
        if item.q_tile >= self.sequences[item.batch].q_tiles:
            return
        if self.outer:
            for tile in range(self.problem.q_tiles):
                if not self.seen[item.batch][tile]:
                    self.rows("write", head, tile)
        elif self.split > 1:
            self.touch("write", "partial_o", head * self.split + item.part, item.q_tile)
            self.touch("write", "partial_lse", head * self.split + item.part, item.q_tile)
        elif item.pieces is None or item.pieces[1] == 1:
            self.rows("write", head, item.q_tile)
        elif item.pieces[1] > 1:
            first, count, own = item.pieces
            self.touch("write", "partial_o", own, 0)
            self.come[first] = self.come.get(first, 0) + 1
            if self.come[first] == count:
                for piece in range(first, first + count):
                    self.touch("read", "partial_o", piece, 0)
                self.rows("write", head, item.q_tile)

    def pieces_of(self, index):
        """All pieces of an item of a cascade: its cuts, or the one of its own."""
        cut = self.shares.pieces(index, 0) if self.shared else None
        if cut:
            return list(range(cut[0], cut[0] + cut[1]))
        return [self.first_whole + index]

    def cascade_results(self, item):
        own = item.pieces[2] if item.pieces else self.first_whole + item.index
        for place, batch in enumerate(item.sequences):
            self.touch("write", "partial_o", own, place)
            needs = []
            for index in range(self.places):
                other = self.item(index)
                if other.head == item.head and batch in other.sequences:
                    at = other.sequences.index(batch)
                    needs += [(piece, at) for piece in self.pieces_of(index)]
            key = (batch, item.head)
            self.come[key] = self.come.get(key, 0) + 1
            if self.come[key] == len(needs):
                for piece, at in needs:
                    self.touch("read", "partial_o", piece, at)
                self.rows("write", batch * self.problem.heads + item.head, 0)

    def combine(self):
        if self.split == 1:
            return
        for head in range(self.heads):
            for tile in range(self.sequences[head // self.problem.heads].q_tiles):
                for part in range(self.split):
                    self.touch("read", "partial_lse", head * self.split + part, tile)
                    self.touch("read", "partial_o", head * self.split + part, tile)
                self.rows("write", head, tile)

    # ---- prefetch

    def prefetched(self, tensor, item, tile):
        """[begin, end) of the lines of `tile` of K or V that this item's worker fetches."""
        rank, sharers = 0, 1
        cut = self.cut is not None and item.index >= self.cut.first_item
        if "order" not in self.point and not cut:
            wave = item.index // self.workers * self.workers
            same = [
                i
                for i in range(wave, min(wave + self.workers, self.whole_items))
                if (self.order[i][0], self.order[i][1], self.order[i][3])
                == (item.batch, item.head, item.part)
            ]
            rank, sharers = same.index(item.index), len(same)
        full = self.problem.kv_rows * self.problem.row_bytes[tensor] // LINE
        lines = self.layout.lines(tensor, self.kv_head(item), tile)
        return min(rank * full // sharers, lines), min((rank + 1) * full // sharers, lines)

    # ---- time

    def run(self):
        waits = self.point["timing"] == "lockstep-wave"
        count = self.shares.count if self.shared else min(self.workers, self.places)
        workers = [Worker(w) for w in range(count)]
        self.ticket = 0
        self.wave(workers, waits)
        while any(worker.item for worker in workers):
            busy = [worker for worker in workers if worker.item]
            if self.outer:
                self.outer_step(busy)
            else:
                self.inner_step(busy)
            for worker in busy:
                worker.step += 1
                if worker.step < len(worker.scan):
                    continue
                self.results(worker.item)
                worker.item = None
                if not waits:
                    self.take(worker, waits)
            if waits and not any(worker.item for worker in workers):
                self.wave(workers, waits)
        self.combine()
        return self.visits

    def wave(self, workers, waits):
        while True:
            taken = [self.take(worker, waits) for worker in workers]
            if not any(taken) or any(worker.item for worker in workers):
                return

    def take(self, worker, waits):
        """The next item, or those until one has work; False when none is left."""
        while True:
            positions = None
            if self.shared:
                own = self.shares.items_of[worker.number]
                if worker.taken >= len(own):
                    return False
                index, positions = own[worker.taken]
            elif self.point["launch"] in ("static", "balanced"):
                index = worker.number + worker.taken * self.workers
            else:
                index = self.ticket
                self.ticket += 1
            if index >= self.places:
                return False
            item = self.item(index)
            if self.shared:
                item.pieces = self.shares.pieces(index, worker.number)
                item.tiles = [t for at, t in enumerate(item.tiles) if at in positions]
            counter = worker.taken
            if self.point["launch"] == "grid":
                counter = index // self.workers
            worker.taken += 1
            if not item.tiles or self.outer and not self.outer_scan(item):
                self.results(item)
                if waits:
                    return True
                continue
            worker.item, worker.step = item, 0
            if self.outer:
                worker.scan = self.outer_scan(item)
            else:
                word = self.words.get(self.kv_head(item), 0)
                seed = self.point["seed"]
                worker.scan = self.scanned(item.tiles, item, counter, item.q_tile, word, seed)
                for batch in item.sequences:
                    head = batch * self.problem.heads + item.head
                    self.touch("read", "q", head, item.q_tile)
            return True

    def inner_step(self, busy):
        for worker in busy:
            self.words[self.kv_head(worker.item)] = worker.scan[worker.step]
            self.words_written += self.point["scan"] == "attach"
        for tensor in self.problem.scanned:
            for worker in busy:
                tile = worker.scan[worker.step]
                self.touch("read", tensor, self.key_head(worker.item, tile), tile)
        distance = self.point["prefetch"]
        if distance == 0:
            return
        for tensor in self.problem.scanned:
            for worker in busy:
                if worker.step + distance < len(worker.scan):
                    tile = worker.scan[worker.step + distance]
                    lines = self.prefetched(tensor, worker.item, tile)
                    self.touch("prefetch", tensor, self.kv_head(worker.item), tile, lines)

    def outer_scan(self, item):
        """(K/V tile, whether it has just begun, Q tile): K/V tiles ascend, Q tiles are scanned."""
        steps = []
        for tile in range(self.problem.kv_tiles):
            seen = self.seen[item.batch]
            seeing = [q for q in range(self.problem.q_tiles) if tile in seen[q]]
            if not seeing:
                continue
            seed = stream(self.point["seed"], tile)
            for number, q in enumerate(self.scanned(seeing, item, tile, tile, seeing[0], seed)):
                steps.append((tile, number == 0, q))
        return steps

    def outer_step(self, busy):
        for tensor in self.problem.scanned:
            for worker in busy:
                tile, begins, _ = worker.scan[worker.step]
                if begins:
                    self.touch("read", tensor, self.key_head(worker.item, tile), tile)
        for worker in busy:
            tile, _, q_tile = worker.scan[worker.step]
            head = self.q_head(worker.item)
            self.touch("read", "q", head, q_tile)
            seen = self.seen[worker.item.batch][q_tile]
            so_far = "running_o" if self.layout.running_o(self.point) else "o"
            if tile != seen[0]:
                self.rows("read", head, q_tile, so_far)
            self.rows("write", head, q_tile, "o" if tile == seen[-1] else so_far)


class Worker:
    def __init__(self, number):
        self.number, self.taken, self.item = number, 0, None
