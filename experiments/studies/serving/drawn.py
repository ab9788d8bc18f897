"""What the scripts share that draw lists of serving (draw_list.py, draw_reuse.py)."""

import hashlib
import random
import sys


def generator(commit):
    """Random numbers whose seed is the hash of the commit at which the simulator was frozen."""
    return random.Random(hashlib.sha256(commit.encode()).hexdigest())


def print_point(name, point):
    print(f"\n[{name}]")
    for key, value in point.items():
        print(f"{key} = {value}")


def print_points(draw, wanted, name, second=""):
    """So many draws that gave points: one each, or two, of which the second has a name."""
    number = 0
    while number < wanted:
        points = draw()
        if points is None:
            continue
        for point, which in zip(points, ("", f", {second}")):
            print_point(f"{name} {number}{which}", point)
        number += 1


def run(main, usage):
    """main(COMMIT) of the command line."""
    if len(sys.argv) != 2:
        sys.exit(usage.strip())
    main(sys.argv[1])
