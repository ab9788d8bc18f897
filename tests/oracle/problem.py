"""What is computed: lengths of the sequences, which rows see which keys, shared prefixes."""

from math import ceil

from draws import stream

ELEMENT_BYTES = {"bf16": 2, "fp16": 2, "fp32": 4, "fp8": 1, "int8": 1}


def row_bytes(point):
    """Of Q, K, V and O; O of fp8 has 16 bits."""
    wide, narrow = point["head_dim"], point.get("head_dim_v", point["head_dim"])
    of_q = ELEMENT_BYTES[point["dtype"]]
    of_kv = ELEMENT_BYTES[point.get("kv_dtype", point["dtype"])]
    of_o = 2 if point["dtype"] == "fp8" else of_q
    return {"q": wide * of_q, "k": wide * of_kv, "v": narrow * of_kv, "o": narrow * of_o}


def lengths_of(text, batch):
    """`3x5+7` is 5 5 5 7; `uniform:LOW..HIGH:SEED` draws one for each sequence."""
    if text.startswith("uniform:"):
        low, high, seed = (int(n) for n in text[8:].replace("..", ":").split(":"))
        return [low + stream(seed, i) % (high - low + 1) for i in range(batch)]
    lengths = []
    for run in text.split("+"):
        sequences, _, length = run.rpartition("x")
        lengths += [int(length)] * int(sequences or 1)
    return lengths


def sequences_of(point):
    """(queries, keys) of every sequence."""
    batch = point["batch"]
    keys = lengths_of(point.get("lengths", f"{batch}x{point['seq_kv']}"), batch)
    queries = lengths_of(point.get("q_lengths", f"{batch}x{point['seq_q']}"), batch)
    return list(zip(queries, keys))


class Prefix:
    """The first tiles of K and V of neighbouring sequences are those of the first of each group."""

    def __init__(self, point):
        self.keys = point.get("prefix", 0)
        self.group = point.get("prefix_group", point["batch"])
        self.tiles = self.keys // point["tile_kv"]

    def owner(self, batch, tile):
        return batch - batch % self.group if tile < self.tiles else batch


class Problem:
    """That of the longest sequences, or of one with these lengths."""

    def __init__(self, point, lengths=None):
        for name in ("batch", "heads", "kv_heads", "seq_q", "seq_kv", "head_dim"):
            setattr(self, name, point[name])
        if lengths is not None:
            self.seq_q, self.seq_kv = lengths
        self.rows_a_position = 1
        if point.get("pack_gqa") == "on":  # the rows of a group's heads are those of one head
            self.rows_a_position = self.heads // self.kv_heads
            self.heads, self.seq_q = self.kv_heads, self.seq_q * self.rows_a_position
        self.q_rows, self.kv_rows = point["tile_q"], point["tile_kv"]
        self.q_tiles = ceil(self.seq_q / self.q_rows)
        self.kv_tiles = ceil(self.seq_kv / self.kv_rows)
        self.v_dim = point.get("head_dim_v", self.head_dim)
        self.row_bytes = row_bytes(point)
        # Columns of K that are V: a step reads them once.
        self.scanned = ("k",) if point.get("kv_latent") == "on" else ("k", "v")
        self.mask, _, width = point["mask"].partition(":")
        width, _, sink = width.partition("+sink:")
        self.sink = int(sink or 0)
        self.window = int(width) if self.mask == "window" else 0
        self.prefix = int(width) if self.mask == "prefix-lm" else 0
        self.share = width.split(":")[1:] if self.mask == "blocks" else ()
        # The document of every position.
        self.document = []
        if self.mask == "document":
            for number, length in enumerate(lengths_of(width, 0)):
                self.document += [number] * length

    def last_key(self, row):
        """That a causal row sees."""
        positions = self.seq_q // self.rows_a_position
        return row // self.rows_a_position + self.seq_kv - positions

    def sees(self, row, key):
        last = self.last_key(row)
        if self.mask == "none":
            return True
        if self.mask == "blocks":
            share, seed = self.share
            block = row // self.rows_a_position // 128 * ceil(self.seq_kv / 128) + key // 128
            return (stream(int(seed), block) >> 11) * 2**-53 < float(share)
        if self.mask == "window" and key <= last - self.window and key >= self.sink:
            return False
        if self.document and self.document[row // self.rows_a_position] != self.document[key]:
            return False
        return key <= last or key < self.prefix

    def seen_by(self):
        """Of every Q tile, the K/V tiles with a pair of valid rows that see each other."""
        tiles = [set() for _ in range(self.q_tiles)]
        listed = self.sink or self.mask in ("document", "prefix-lm", "blocks")
        for row in range(self.seq_q):
            for tile in range(self.kv_tiles):
                end = min((tile + 1) * self.kv_rows, self.seq_kv)
                # The keys of a row are neighbours, so one of the tile's ends or one of the row's
                # own ends is seen where any key is.
                last = self.last_key(row)
                first = max(0, last - self.window + 1) if self.mask == "window" else 0
                every = range(tile * self.kv_rows, end)
                for key in every if listed else (tile * self.kv_rows, end - 1, first, last):
                    if tile * self.kv_rows <= key < end and self.sees(row, key):
                        tiles[row // self.q_rows].add(tile)
        return [sorted(tile) for tile in tiles]
