#!/usr/bin/env python3
"""Draws problems of serving that can be run in two ways, a point each, for naming the faster way.

    draw_ways.py COMMIT > lists/drawn_ways.ini

The seed is the hash of the commit at which kernels and simulator were frozen. Of two kinds:
  cascade  decode of sequences that share a prefix in pages: each reads it, or a stack of sequences reads it once
  pack     packed by the decode kernels, or not packed by the forward kernel (draw_reuse.py)
A point is a family's own kernel. The list names no GPU: the command line does.
"""

import draw_reuse
import drawn

CASCADES, PACKS = 20, 20


class Ways(draw_reuse.Drawing):
    def cascade(self):
        """Two points, or None where the drawn numbers fit no problem."""
        heads, kv_heads = self.draw.choice(((32, 8), (32, 4), (64, 8), (16, 16), (8, 1)))
        dim = self.draw.choice((64, 128))
        group = self.draw.choice((2, 4, 8, 16, 32, 64))
        batch = group * self.draw.choice((1, 1, 2, 4))
        positions = self.draw.choice((1, 1, 2))
        keys = self.keys_of(batch, kv_heads, dim, 256)
        if keys is None or batch > 128:
            return None
        shared = draw_reuse.rounded(keys * self.draw.uniform(0.1, 0.95), 256)
        if shared == 0 or shared >= keys:
            return None
        plain = self.packed(heads, kv_heads, positions, dim) | {
            "batch": batch,
            "seq-kv": keys,
            "prefix": shared,
            "prefix-group": group,
            "page-rows": self.draw.choice((64, 256)),
            "page-table": f"shuffle:{self.draw.randint(0, 999)}",
        }
        one_tile = heads // kv_heads * positions * group <= 16
        tile = {
            "tile-q": 16 if one_tile else 32,
            "ctas-per-sm": 2 if one_tile and plain["kernel"] == "mma" else 1,
        }
        return [plain, plain | tile | {"cascade": "on"}]


def print_list(title, ways, cascades, packs):
    print(title)
    print("experiment = serving-ways\ntiming = timed\nl2 = halves")
    drawn.print_points(ways.cascade, cascades, "cascade", "once")
    drawn.print_points(ways.pair, packs, "pack", "not packed")


def main(commit):
    title = f"# Serving in two ways each, drawn by draw_ways.py {commit}."
    print_list(title, Ways(commit), CASCADES, PACKS)


if __name__ == "__main__":
    drawn.run(main, __doc__)
