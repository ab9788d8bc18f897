#!/usr/bin/env python3
"""Draws points of serving where K and V are read more than once, so that L2 decides what DRAM reads.

    draw_reuse.py COMMIT > lists/drawn_reuse.ini

The seed is the hash of the commit at which the simulator was frozen. Of three kinds:
  tokens   decode of several queries, whose packed rows fill 2 to 8 tiles, of few sequences: each tile reads K and V again
  prefix   decode of sequences that share a prefix in pages
  pairs    one problem packed and not packed, for naming the better of the two: decode beside the forward kernel, whose
           kv-split is the least that gives every SM two items
K and V are 16 MiB to 1 GiB. Packed points are of the families mma and mma-tma, the others mma's tile of 64 x 64.
"""

import drawn

TOKENS, PREFIXES, PAIRS = 24, 16, 16
SMS = 132


def rounded(keys, to):
    return int(keys) // to * to


class Drawing:
    def __init__(self, commit):
        self.draw = drawn.generator(commit)

    def keys_of(self, batch, kv_heads, dim, to):
        kv_bytes = 2 ** self.draw.uniform(24, 30)
        keys = rounded(kv_bytes / (batch * kv_heads * dim * 4), to)
        return keys if 512 <= keys <= 1 << 19 else None

    def packed(self, heads, kv_heads, positions, dim):
        """The kernel's own keys, of the tile that holds the rows or of the largest."""
        family = self.draw.choice(("mma", "mma-tma"))
        few = heads // kv_heads * positions <= 16
        return {
            "kernel": family,
            "kernel-costs": f"{family}-decode-h200",
            "pack-gqa": "on",
            "kv-split": "auto",
            "launch": "static",
            "tile-q": 16 if few else 32,
            "tile-kv": 64 if family == "mma" else 128,
            "ctas-per-sm": 2 if few and family == "mma" else 1,
            "heads": heads,
            "kv-heads": kv_heads,
            "seq-q": positions,
            "head-dim": dim,
            "mask": "causal" if positions > 1 else "none",
        }

    def tokens(self):
        heads, kv_heads = self.draw.choice(((32, 8), (32, 4), (64, 8), (16, 1)))
        positions = self.draw.choice((4, 8, 12, 16, 24, 32))
        if not 32 < heads // kv_heads * positions <= 256:
            return None
        dim = self.draw.choice((64, 128))
        batch = self.draw.choice((1, 2, 3, 4, 6, 8))
        keys = self.keys_of(batch, kv_heads, dim, 64)
        if keys is None:
            return None
        point = self.packed(heads, kv_heads, positions, dim) | {"batch": batch, "seq-kv": keys}
        page_rows = self.draw.choice((0, 0, 64, 256))
        if page_rows:
            point |= {"page-rows": page_rows, "page-table": f"shuffle:{self.draw.randint(0, 999)}"}
        return [point]

    def prefix(self):
        heads, kv_heads = self.draw.choice(((32, 8), (32, 4), (16, 16), (8, 1)))
        dim = self.draw.choice((64, 128))
        group = self.draw.choice((2, 4, 8, 16, 32))
        batch = group * self.draw.choice((1, 1, 2, 4))
        keys = self.keys_of(batch, kv_heads, dim, 256)
        if keys is None:
            return None
        shared = rounded(keys * self.draw.uniform(0.2, 0.9), 256)
        if shared == 0:
            return None
        return [
            self.packed(heads, kv_heads, self.draw.choice((1, 1, 2)), dim)
            | {
                "batch": batch,
                "seq-kv": keys,
                "prefix": shared,
                "prefix-group": group,
                "page-rows": self.draw.choice((64, 256)),
                "page-table": f"shuffle:{self.draw.randint(0, 999)}",
            }
        ]

    def pair(self):
        heads, kv_heads = self.draw.choice(((32, 8), (32, 4), (16, 8), (16, 1)))
        positions = self.draw.choice((1, 4, 16, 32, 64))
        dim = self.draw.choice((64, 128))
        batch = self.draw.choice((1, 2, 4, 8, 16))
        keys = self.keys_of(batch, kv_heads, dim, 64)
        if keys is None or heads // kv_heads * positions > 512:
            return None
        problem = {"batch": batch, "seq-kv": keys}
        alone = {
            "kernel": "mma",
            "kv-split": max(1, min(keys // 64, -(-2 * SMS // (batch * heads)))),
            "launch": "grid",
            "tile-q": 64,
            "tile-kv": 64,
            "ctas-per-sm": 2 if dim == 128 else 3,
        }
        packed = self.packed(heads, kv_heads, positions, dim) | problem
        same = {key: packed[key] for key in ("heads", "kv-heads", "seq-q", "head-dim", "mask")}
        return [packed, alone | same | problem]


def main(commit):
    drawing = Drawing(commit)
    print(f"# Serving with K and V read again, drawn by draw_reuse.py {commit}.")
    print("experiment = serving-reuse\ngpu = h200\ntiming = timed\nl2 = halves")
    for name, kind, wanted in (
        ("tokens", drawing.tokens, TOKENS),
        ("prefix", drawing.prefix, PREFIXES),
        ("pair", drawing.pair, PAIRS),
    ):
        drawn.print_points(kind, wanted, name, "not packed")


if __name__ == "__main__":
    drawn.run(main, __doc__)
