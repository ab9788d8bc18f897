#!/usr/bin/env python3
"""Which kernel is ahead in a race of race.py, shape by shape: the tables of kernels/hopper/README.md.

    experiments/studies/peers/race_table.py race.csv [--peer sdpa-cudnn] [--ours sawtooth] [--shapes]

TFLOP/s of the best schedule and of the peer are medians. Their ratio is the median over rounds of the
peer's time over ours in the same round: the clock of a GPU falls while a shape is run, for all that
run in a round alike, so that two medians may stand on different sides of the fall. The best schedule
is the one with the greatest such ratio. --ours names another peer in its place: sawtooth, the calls
that name no schedule. --shapes prints one line a shape instead: the schedule, the
ratio with the 95 % interval of its median (paired.py), the ratio of the medians, and the rounds.
Exit 2 when no shape was run by both.
"""

import statistics
import sys

import lib_path  # noqa: F401  (makes plots/lib importable)
import race_rows
import table
from measures import geometric_mean, median_interval, short


class Contender:
    """Times and speed of one schedule, or of the peer."""

    def __init__(self, rows):
        self.times = {row["repetition"]: float(row["time_us"]) for row in rows}
        self.time_us = statistics.median(self.times.values())
        self.tflops = statistics.median(table.numbers(rows, "tflops"))

    def ratios(self, peer):
        """The peer's time over this one's, of every round that both have."""
        return [peer.times[turn] / time for turn, time in self.times.items() if turn in peer.times]

    def ratio(self, peer):
        return statistics.median(self.ratios(peer))


def places(rows, peer_name, our_name=""):
    """{(head_dim, mask): {seq_q: (schedule, ours, the peer)}} of shapes that both ran: our best schedule, or
    the peer `our_name`."""
    found = {}
    shapes = table.grouped(rows, "head_dim", "mask", "seq_q").items()
    for (head_dim, mask, length), of_shape in shapes:
        schedules = table.grouped(of_shape, *race_rows.SCHEDULE)
        contenders = {name: Contender(schedules[name]) for name in schedules}
        peer = next((c for name, c in contenders.items() if name[0] == peer_name), None)
        ours = {
            name: contender
            for name, contender in contenders.items()
            if (name[0] == our_name if our_name else schedules[name][0]["launch"])
            if peer and contender.ratios(peer)
        }
        if ours:
            best = max(ours, key=lambda name: ours[name].ratio(peer))
            found.setdefault((head_dim, mask), {})[int(length)] = (best, ours[best], peer)
    return found


def lines(found, peer_name):
    lengths = sorted({length for group in found.values() for length in group})
    titles = ["head dim, mask", "", *map(short, lengths), "geometric mean"]
    yield race_rows.markdown_head(titles)
    for (head_dim, mask), group in found.items():
        ratios = {length: ours.ratio(peer) for length, (_, ours, peer) in group.items()}
        ours = {length: f"{place[1].tflops:.0f}" for length, place in group.items()}
        peers = {length: f"{place[2].tflops:.0f}" for length, place in group.items()}
        shown = {length: f"{ratio:.2f}" for length, ratio in ratios.items()}
        mean = f"{geometric_mean(ratios.values()):.3f}"
        for title, name, cells, last in (
            (f"{head_dim} {mask}", "ours", ours, ""),
            ("", peer_name, peers, ""),
            ("", "ratio", shown, mean),
        ):
            yield race_rows.markdown([title, name, *(cells.get(n, "") for n in lengths), last])


def shape_lines(found):
    for (head_dim, mask), group in found.items():
        for length, (name, ours, peer) in sorted(group.items()):
            ratios = ours.ratios(peer)
            middle, low, high = median_interval(ratios)
            schedule = "{} {}x{} {} {}".format(*name)
            yield (
                f"{head_dim} {mask} {short(length)}: {schedule}: {middle:.3f} ({low:.3f} to "
                f"{high:.3f}), of the medians {peer.time_us / ours.time_us:.3f}, "
                f"{len(ratios)} rounds"
            )


def work(options):
    found = places(race_rows.timed(options.race), options.peer, options.ours)
    if not found:
        both = f"{options.peer} and by {options.ours or 'a schedule'} in the same round"
        raise table.TableError(f"{options.race}: no shape was run by {both}")
    print("\n".join(shape_lines(found) if options.shapes else lines(found, options.peer)))
    return 0


def main(arguments=None):
    parser = race_rows.parser(__doc__)
    parser.add_argument("--peer", default="sdpa-cudnn")
    parser.add_argument("--ours", default="")
    parser.add_argument("--shapes", action="store_true")
    return race_rows.run("race_table", work, parser.parse_args(arguments))


if __name__ == "__main__":
    sys.exit(main())
