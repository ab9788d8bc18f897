"""Items, and how those of launch = balanced and kv-split = auto are cut into pieces."""


class Item:
    def __init__(self, index, batch, head, q_tile, part):
        self.index, self.batch, self.head, self.q_tile, self.part = index, batch, head, q_tile, part
        self.tiles = []
        self.pieces = None  # (first, count, own) of a cut item
        self.sequences = [batch]  # whose rows it has


class LastWave:
    """launch = balanced: the items that are left fill no wave and are cut like one long row."""

    def __init__(self, items, tiles, workers):
        self.first_item = items // workers * workers
        self.left = items - self.first_item
        self.tiles = tiles
        self.workers = workers
        self.shares = min(workers, self.left * tiles)
        self.most_pieces = self.shares + self.left if self.left else 0
        self.numbers = {}  # share -> tiles of the row
        owner = {}
        for share in range(self.shares):
            begin = share * self.left * tiles // self.shares
            end = (share + 1) * self.left * tiles // self.shares
            self.numbers[share] = range(begin, end)
            for tile in range(begin, end):
                owner[tile] = share
        self.owner = owner

    def piece(self, place):
        """(number of the item in this wave, its tiles, (first, count, own)), or None: no work."""
        share, second = place % self.workers, place // self.workers
        if share >= self.shares:
            return None
        number = self.numbers[share].start // self.tiles + second
        row = range(number * self.tiles, (number + 1) * self.tiles)
        tiles = {tile - row.start for tile in self.numbers[share] if tile in row}
        if not tiles:
            return None
        first, last = self.owner[row.start] + number, self.owner[row.stop - 1] + number
        return number, tiles, (first, last - first + 1, share + number)


class Shares:
    """kv-split = auto: the tiles of all items in a row, an item without tiles takes one."""

    def __init__(self, weights, workers):
        self.owner, self.items_of = {}, []
        row = [(item, tile) for item, weight in enumerate(weights) for tile in range(weight)]
        self.count = min(workers, len(row))
        for share in range(self.count):
            begin = share * len(row) // self.count
            end = (share + 1) * len(row) // self.count
            tiles = {}  # item -> positions of its tiles
            for item, tile in row[begin:end]:
                tiles.setdefault(item, []).append(tile)
                self.owner.setdefault(item, [])
                if share not in self.owner[item]:
                    self.owner[item].append(share)
            before = 0
            for item, weight in enumerate(weights):  # void ones come with the next tile
                last = share == self.count - 1 and before == end
                if weight == 0 and (begin <= before < end or last):
                    tiles[item] = []
                before += weight
            self.items_of.append(sorted(tiles.items()))

    def pieces(self, item, share):
        """(first, count, own) of a cut item, or None."""
        shares = self.owner.get(item, [])
        if len(shares) < 2:
            return None
        return 2 * shares[0], len(shares), shares[0] + share
