"""Where the tiles of all tensors lie, and how many bytes, lines and sectors they have."""

from math import ceil

from draws import permuted, stream
from problem import Prefix

LINE = 128
SECTOR = 32
TENSORS = ("q", "k", "v", "o", "lse", "partial_o", "partial_lse", "running_o")


def page_table(point, sequences, prefix):
    """The page of each run of page_rows keys of each sequence, counted through and shuffled."""
    rows = point["page_rows"]
    places, count = [], 0
    for batch, (_, keys) in enumerate(sequences):
        own = []
        for page in range(ceil(keys / rows)):
            owner = batch - batch % prefix.group if page * rows < prefix.keys else batch
            if owner == batch:
                own.append(count)
                count += 1
            else:
                own.append(places[owner][page])
        places.append(own)
    kind, _, seed = point["page_table"].partition(":")
    if kind == "shuffle":
        key = stream(int(seed), 0)
        places = [[permuted(place, count, key) for place in own] for own in places]
    return places


class Layout:
    """Bytes of the tiles: rows of a tile, of the last one what is left, past its sequence's end none."""

    def __init__(self, point, problem, cut, sequences, pieces=None):
        self.problem, self.cut, self.sequences = problem, cut, sequences
        self.prefix, self.pieces = Prefix(point), pieces
        self.page_rows = point.get("page_rows", 0)
        if self.page_rows:
            lengths = [(own.seq_q, own.seq_kv) for own in sequences]
            self.pages = page_table(point, lengths, self.prefix)
        q = (problem.seq_q, problem.q_rows)
        kv = (problem.seq_kv, problem.kv_rows)
        heads = problem.batch * problem.heads
        kv_heads = problem.batch * problem.kv_heads
        row = problem.row_bytes
        v_heads = kv_heads if "v" in problem.scanned else 0
        split = 1 if point["kv_split"] == "auto" else point["kv_split"]
        parts = heads * split if split > 1 else 0
        lse = heads if point["lse"] == "on" else 0
        self.shapes = {  # heads, rows of a head, rows of a tile, bytes of a row
            "q": (heads, *q, row["q"]),
            "k": (kv_heads, *kv, row["k"]),
            "v": (v_heads, *kv, row["v"]),
            "o": (heads, *q, row["o"]),
            "lse": (lse, *q, 4),
            "partial_o": (parts, *q, 4 * problem.v_dim),
            "partial_lse": (parts, *q, 4),
            "running_o": (heads if self.running_o(point) else 0, *q, 4 * problem.v_dim),
        }
        if cut is not None:  # a piece: always a full tile, eight floats a row beside O
            rows = problem.q_rows
            self.shapes["partial_o"] = (cut.most_pieces, rows, rows, 4 * (problem.v_dim + 8))
        if pieces is not None:  # its rows, and two floats a row; of a cascade those of a stack
            count, stack = pieces
            rows = min(problem.q_rows, problem.seq_q)
            self.shapes["partial_o"] = (count, stack * rows, rows, 4 * (problem.v_dim + 2))

    def running_o(self, point):
        """Whether O lies in fp32 between the K/V tiles of kv-outer."""
        problem = self.problem
        several = point["loop"] == "kv-outer" and problem.kv_tiles > 1
        return several and problem.row_bytes["o"] < 4 * problem.v_dim

    def tiles(self, tensor):
        _, rows, tile_rows, _ = self.shapes[tensor]
        return ceil(rows / tile_rows)

    def bytes(self, tensor, head, tile):
        heads, rows, tile_rows, row_bytes = self.shapes[tensor]
        if tensor in ("k", "v"):
            batch = head // self.problem.kv_heads
            if self.prefix.owner(batch, tile) != batch:
                return 0
        if tensor != "partial_o" or (self.cut is None and self.pieces is None):
            own = self.sequences[head // (heads // self.problem.batch)]
            rows = own.seq_kv if tensor in ("k", "v") else own.seq_q
        return max(0, min(rows, (tile + 1) * tile_rows) - tile * tile_rows) * row_bytes

    def lines(self, tensor, head, tile):
        return ceil(self.bytes(tensor, head, tile) / LINE)

    def page_address(self, tensor, head, key):
        """Bytes from the first page of K, or V, to a row of a K/V head."""
        batch, kv_head = divmod(head, self.problem.kv_heads)
        page = self.pages[batch][key // self.page_rows]
        row = (page * self.problem.kv_heads + kv_head) * self.page_rows + key % self.page_rows
        return row * self.problem.row_bytes[tensor]

    def pool_bytes(self, tensor):
        """From the first page to the end of the last one."""
        pages = 1 + max((page for own in self.pages for page in own), default=-1)
        return pages * self.problem.kv_heads * self.page_rows * self.problem.row_bytes[tensor]

    def sectors(self, tensor, head, tile):
        return ceil(self.bytes(tensor, head, tile) / SECTOR)
