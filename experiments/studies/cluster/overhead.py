#!/usr/bin/env python3
"""What handing out 10,000 points costs: `overhead.py PROGRAM [--ranks 1,2] [--rounds N]`.

Prints CSV: for each round, length and number of ranks (1 is a process without mpirun) the time of the
sweep, which share of it workers were simulating, by the program's own note, and the processor time of
all processes. Points of the first length take no time of their own to speak of, so that what they
cost is what handing out costs.
"""

import argparse
import os
import re
import resource
import subprocess
import tempfile

POINT = ["--gpu", "gb10", "--timing", "lockstep", "--heads", "4", "--seed"]
MPIRUN = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n"]
BUSY = re.compile(r"simulating ([0-9.]+) % of ([0-9.]+) s")


def cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("program")
    parser.add_argument("--points", type=int, default=10000)
    parser.add_argument("--ranks", default="1,2")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seq", default="64,32K", help="lengths, which say how long a point takes")
    options = parser.parse_args()
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    print("round,seq,ranks,points,seconds,busy_percent,cpu_seconds")
    with tempfile.TemporaryDirectory() as folder:
        for number in range(options.rounds):
            for seq in options.seq.split(","):
                for ranks in options.ranks.split(","):
                    launcher = [] if ranks == "1" else [*MPIRUN, ranks]
                    words = [*launcher, os.path.abspath(options.program), "simulate", *POINT]
                    words += [f"1..{options.points}", "--seq", seq, "--csv", "r.csv"]
                    words += ["--threads", "1"] if ranks == "1" else []
                    before = cpu_seconds()
                    ended = subprocess.run(
                        words,
                        cwd=folder,
                        env=environment,
                        check=True,
                        capture_output=True,
                        text=True,
                    )
                    share, seconds = BUSY.search(ended.stderr).groups()
                    row = [number, seq, ranks, options.points, seconds, share]
                    print(*row, f"{cpu_seconds() - before:.2f}", sep=",", flush=True)


if __name__ == "__main__":
    main()
