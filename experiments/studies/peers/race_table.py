#!/usr/bin/env python3
"""Who is ahead in a race of race.py, shape by shape: the tables of kernels/hopper/README.md.

    experiments/studies/peers/race_table.py race.csv [--peer sdpa-cudnn] [--shapes]

TFLOP/s of the best schedule and of the peer are medians. Their ratio is the median over rounds of the
peer's time over ours in the same round: the clock of a GPU falls while a shape is run, for all that
run in a round alike, so that two medians may stand on different sides of the fall. The best schedule
is the one with the greatest such ratio. --shapes prints one line a shape instead: the schedule, the
ratio with the 95 % interval of its median (paired.py), the ratio of the medians, and the rounds.
Exit 2 when no shape was run by both.
"""

import argparse
import math
import os
import statistics
import sys

import paired

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "plots", "lib"))
import table as csv_table  # noqa: E402  (the path above leads to it)

SCHEDULE = ("kernel", "tile_q", "tile_kv", "launch", "scan", "section", "q_order", "prefetch",
            "kv_split", "hints")
COLUMNS = (*SCHEDULE, "batch", "heads", "seq_q", "head_dim", "mask", "repetition", "time_us",
           "tflops", "status")


class Contender:
    """Times and speeds of one schedule, or of the peer, by round."""

    def __init__(self):
        self.times, self.speeds = {}, []

    def add(self, row):
        self.times[row["repetition"]] = float(row["time_us"])
        self.speeds.append(float(row["tflops"]))

    def tflops(self):
        return statistics.median(self.speeds)

    def time_us(self):
        return statistics.median(self.times.values())

    def ratios(self, peer):
        """The peer's time over this one's, of every round that both have."""
        return [peer.times[turn] / time for turn, time in self.times.items() if turn in peer.times]


def places(rows, peer_name):
    """{(head_dim, mask): {seq_q: (schedule, our best, the peer)}} of shapes that both ran."""
    shapes = {}
    for row in rows:
        if row["status"] != "ok" or not row["time_us"]:
            continue
        name = tuple(row[column] for column in SCHEDULE)
        if row["kernel"] != peer_name and not row["launch"]:
            continue  # another peer
        shape = ((int(row["head_dim"]), row["mask"]), int(row["seq_q"]))
        shapes.setdefault(shape, {}).setdefault(name, Contender()).add(row)
    found = {}
    for (group, length), contenders in shapes.items():
        peer = next((c for name, c in contenders.items() if name[0] == peer_name), None)
        ours = {name: c for name, c in contenders.items()
                if name[0] != peer_name and peer and c.ratios(peer)}
        if ours:
            best = max(ours, key=lambda name: statistics.median(ours[name].ratios(peer)))
            found.setdefault(group, {})[length] = (best, ours[best], peer)
    return found


def short(length):
    return f"{length // 1024}K" if length % 1024 == 0 else str(length)


def geometric_mean(values):
    return math.exp(statistics.fmean(map(math.log, values)))


def table(found, peer_name):
    lengths = sorted({length for group in found.values() for length in group})
    yield "| head dim, mask | | " + " | ".join(map(short, lengths)) + " | geometric mean |"
    yield "|" + "---|" * (len(lengths) + 3)
    for (head_dim, mask), group in found.items():
        ratios = {length: statistics.median(ours.ratios(peer))
                  for length, (_, ours, peer) in group.items()}
        ours = {length: f"{place[1].tflops():.0f}" for length, place in group.items()}
        peers = {length: f"{place[2].tflops():.0f}" for length, place in group.items()}
        shown_ratios = {length: f"{ratio:.2f}" for length, ratio in ratios.items()}
        mean = f"{geometric_mean(ratios.values()):.3f}"
        for title, name, cells, mean in ((f"{head_dim} {mask}", "ours", ours, ""),
                                         ("", peer_name, peers, ""),
                                         ("", "ratio", shown_ratios, mean)):
            shown = [title, name, *(cells.get(length, "") for length in lengths), mean]
            yield ("| " + " | ".join(shown) + " |").replace("|  |", "| |")


def shape_lines(found):
    for (head_dim, mask), group in found.items():
        for length, (name, ours, peer) in sorted(group.items()):
            ratios = ours.ratios(peer)
            middle, low, high = paired.median_interval(ratios)
            kernel, tile_q, tile_kv, launch, scan = name[:5]
            yield (f"{head_dim} {mask} {short(length)}: {kernel} {tile_q}x{tile_kv} {launch} {scan}: "
                   f"{middle:.3f} ({low:.3f} to {high:.3f}), of the medians "
                   f"{peer.time_us() / ours.time_us():.3f}, {len(ratios)} rounds")


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("race")
    parser.add_argument("--peer", default="sdpa-cudnn")
    parser.add_argument("--shapes", action="store_true")
    options = parser.parse_args(arguments)
    try:
        rows = csv_table.read(options.race, COLUMNS)
    except csv_table.TableError as error:
        print(f"race_table.py: {error}", file=sys.stderr)
        return 2
    found = places(rows, options.peer)
    if not found:
        print(f"race_table.py: {options.race}: no shape was run by {options.peer} and by a schedule "
              "in the same round", file=sys.stderr)
        return 2
    print("\n".join(shape_lines(found) if options.shapes else table(found, options.peer)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
