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


def run(main, usage):
    """main(COMMIT) of the command line."""
    if len(sys.argv) != 2:
        sys.exit(usage.strip())
    main(sys.argv[1])
