#!/usr/bin/env python3
"""Draws the second list of problems of serving that can be run in two ways.

    draw_cascades.py COMMIT > lists/drawn_cascades.ini

As draw_ways.py, with more cascades, in every third of which sequences have as many keys of their own as they happen to.
The seed is the hash of the commit at which kernels and simulator were frozen.
"""

import draw_ways
import drawn

CASCADES, PACKS = 40, 20
LEAST_OWN_KEYS = 64


class Cascades(draw_ways.Ways):
    def cascade(self):
        points = super().cascade()
        if points is None or self.draw.random() >= 1 / 3:
            return points
        keys, shared = points[0]["seq-kv"], points[0]["prefix"]
        least, most = shared + LEAST_OWN_KEYS, 2 * keys - shared - LEAST_OWN_KEYS
        lengths = f"uniform:{least}..{most}:{self.draw.randint(0, 999)}"
        return [
            {key: value for key, value in point.items() if key != "seq-kv"} | {"lengths": lengths}
            for point in points
        ]


def main(commit):
    title = f"# Serving in two ways each, drawn by draw_cascades.py {commit}."
    draw_ways.print_list(title, Cascades(commit), CASCADES, PACKS)


if __name__ == "__main__":
    drawn.run(main, __doc__)
