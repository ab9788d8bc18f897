#!/usr/bin/env python3
"""Times and counts attention kernels of others beside this project's, in one run.

    experiments/studies/peers/peers.py --seq 16K,128K --head-dim 64,128 --mask none,causal --csv peers.csv \\
        --sawtooth build/release/sawtooth --count

Every shape runs in rounds: in each round every peer is launched in turn, then `sawtooth bench` does
its launches, so that clocks and heat are the same for all. Times are CUDA events around launches
without a profiler; --count reads counters with Nsight Compute afterwards, in processes of their own.
Rows have the columns of results.csv. Exit codes: 0 fine, 1 a check failed, 2 wrong usage, 3 PyTorch
or a GPU is missing.
"""

import argparse
import shlex
import shutil
import sys

import bench
import count as counting
import kernels
import lib_path  # noqa: F401  (makes plots/lib importable)
import rows as results
import session
import shapes as shaping
import table

BENCH_HELP = (
    "further options of `sawtooth bench`, such as '--launch dynamic --scan sawtooth --tile-q 128 "
    "--tile-kv 128'"
)


def parser():
    rounds = "timed launches of every peer; 0: counters only"
    dry_run = "write the rows that would be measured, without torch or a GPU"
    counted = "counted launches of every peer"
    return session.parser(
        __doc__,
        list(kernels.PEERS),
        rounds=dict(type=shaping.count_or_none, default=15, help=rounds),
        sawtooth=dict(help="the program; its `bench` joins every round"),
        bench_options=dict(default="", help=BENCH_HELP),
        count=dict(action="store_true", help="also read counters where ncu is"),
        repetitions=dict(type=shaping.count, default=3, help=counted),
        csv=dict(default="-", help="file, or - for standard output"),
        dry_run=dict(action="store_true", help=dry_run),
        profiled=dict(action="store_true", help=argparse.SUPPRESS),
    )


def cold_time_us(torch, cold_l2, launch):
    cold_l2()
    return session.time_us(torch, launch)


def measured_shape(torch, options, shape, note):
    """All rows of one shape, and whether every check passed."""
    launches, reasons = session.ready_launches(torch, shape, options.peers, note)
    times = {name: [] for name in launches}
    cold_l2 = counting.l2_emptier(torch)
    # The bench is a process of its own: it joins three times, not in every round.
    joins = {options.rounds * part // 3 for part in range(3)} if options.sawtooth else set()
    share = ["--repetitions", str(-(-options.rounds // max(len(joins), 1)))]
    bench_options = [*share, *shlex.split(options.bench_options)]
    ours, bench_fine = [], True
    for turn in range(options.rounds):
        for name, launch in launches.items():
            times[name].append(cold_time_us(torch, cold_l2, launch))
        if turn in joins and bench_fine:
            try:
                found = bench.rows(options.sawtooth, options.gpu, shape, bench_options)
                ours += [dict(row, repetition=len(ours) + i) for i, row in enumerate(found)]
            except bench.BenchFailed as error:
                bench_fine = False
                note(f"{shape.text()}: sawtooth bench: {error}")
    rows = [*ours, *session.peer_rows(options, shape, times, reasons, "cold", note)]
    return rows, session.all_correct(reasons) and bench_fine


def counted_rows(options, note):
    """Counters of all shapes and peers, a row a launch; and whether there are any."""
    given = shaping.arguments(vars(options)), shaping.shapes(options), options.peers
    found, status = counting.count(options.ncu, *given, options.repetitions)
    if not found:
        note(f"no counters: {status}")
    rows = []
    for (shape, name), launches in found.items():
        if not launches[0]:
            continue  # refused, as the row of its time says
        note(f"{shape.text()}: {name}: {counting.description(launches[0])}")
        for turn, launch in enumerate(launches):
            cells = dict(repetition=turn, counters=counting.totals(launch), state="cold")
            rows.append(session.row(shape, name, options.gpu, **cells))
    return rows, bool(found)


def emit(options, rows):
    if options.csv == "-":
        table.print_rows(sys.stdout, rows, results.columns(rows, options.sawtooth))
    else:
        results.write(options.csv, rows, options.sawtooth)


def measured(torch, options, note):
    options.ncu = shutil.which("ncu")
    if options.count and not options.ncu:
        note("ncu is not on the PATH: no counters")
    rows, correct = [], True
    for shape in shaping.shapes(options) if options.rounds else ():
        found, fine = measured_shape(torch, options, shape, note)
        rows += found
        correct = correct and fine
        if options.csv != "-":
            emit(options, rows)  # what is there stays, whatever comes next
    if options.count and options.ncu:
        counted, fine = counted_rows(options, note)
        rows += counted
        correct = correct and fine
    emit(options, rows)
    return 0 if correct else 1


def work(options, note):
    shapes = shaping.shapes(options)
    if options.dry_run:
        dry = dict(gpu=options.gpu, status="dry-run")
        emit(
            options, [session.row(shape, name, **dry) for shape in shapes for name in options.peers]
        )
        return 0
    torch = session.torch_with_gpu()
    if not options.profiled:
        return measured(torch, options, note)

    def prepare(shape, name):
        return session.prepared(torch, shape, name)

    cold_l2 = counting.l2_emptier(torch)
    counting.run_profiled(torch, cold_l2, prepare, shapes, options.peers, options.repetitions)
    return 0


def main(arguments=None):
    return session.run("peers", parser().parse_args(arguments), work)


if __name__ == "__main__":
    sys.exit(main())
