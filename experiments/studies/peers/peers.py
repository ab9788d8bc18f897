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
import csv
import os
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import count as counting  # noqa: E402
import kernels  # noqa: E402
import rows as results  # noqa: E402
import shapes as shaping  # noqa: E402

LARGEST_DIFFERENCE = 1e-2  # of two outputs in 16 bits, relative, as a norm


def parser():
    made = argparse.ArgumentParser(description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    shaping.add_options(made)
    made.add_argument("--peers", type=shaping.listed(shaping.one_of(*kernels.PEERS)),
                      default=list(kernels.PEERS), help=f"default: {','.join(kernels.PEERS)}")
    made.add_argument("--rounds", type=shaping.count_or_none, default=15,
                      help="timed launches of every peer; 0: counters only")
    made.add_argument("--sawtooth", help="the program; its `bench` joins every round")
    made.add_argument("--bench-options", default="", help="further options of `sawtooth bench`, "
                      "such as '--launch dynamic --scan sawtooth --tile-q 128 --tile-kv 128'")
    made.add_argument("--gpu", default="h200", help="name of the gpu column and of the presets")
    made.add_argument("--count", action="store_true", help="also read counters where ncu is")
    made.add_argument("--repetitions", type=shaping.count, default=3,
                      help="counted launches of every peer")
    made.add_argument("--csv", default="-", help="file, or - for standard output")
    made.add_argument("--dry-run", action="store_true",
                      help="write the rows that would be measured, without torch or a GPU")
    made.add_argument("--profiled", action="store_true", help=argparse.SUPPRESS)
    return made


def difference(torch, a, b):
    return float((a.float() - b.float()).norm() / b.float().norm())


def time_us(torch, cold_l2, launch):
    cold_l2()
    begin = torch.cuda.Event(enable_timing=True)
    end = torch.cuda.Event(enable_timing=True)
    begin.record()
    launch()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1000


def bench_rows(options, shape, launches):
    """Rows of one `sawtooth bench` of this shape; a text when it failed."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "bench.csv")
        command = [options.sawtooth, "bench", "--gpu", options.gpu, "--batch", str(shape.batch),
                   "--heads", str(shape.heads), "--seq", str(shape.seq), "--head-dim",
                   str(shape.head_dim), "--mask", shape.mask, "--dtype", shape.dtype,
                   "--repetitions", str(launches), "--csv", path,
                   *shlex.split(options.bench_options)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return (done.stderr.strip() or f"exit {done.returncode}").splitlines()[-1]
        with open(path, newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))


def ready_launches(torch, shape, names, note):
    """Peers that run this shape: name -> launch. The first that runs is the yardstick of the others'
    outputs; `failed` names those that differ."""
    q, k, v = kernels.inputs(torch, shape)
    launches, reasons, yardstick = {}, {}, None
    for name in names:
        peer = kernels.PEERS[name]
        reason = peer.refusal(shape)
        try:
            if not reason:
                launch = peer.prepare(torch, q, k, v, shape.mask == "causal")
                output = launch()
                torch.cuda.synchronize()
        except Exception as error:  # back ends refuse with many kinds of error
            reason = f"{type(error).__name__}: {str(error).splitlines()[0]}"
        if not reason and yardstick is not None:
            off = difference(torch, output, yardstick)
            if not off <= LARGEST_DIFFERENCE:
                reason = f"output differs from the first peer's by {off:.1e}"
        if reason:
            note(f"{shape.text()}: {name}: {reason}")
            reasons[name] = reason.replace(",", ";")
            continue
        yardstick = output if yardstick is None else yardstick
        launches[name] = launch
    return launches, reasons


def measured_shape(torch, options, shape, note):
    """All rows of one shape, and whether every check passed."""
    launches, reasons = ready_launches(torch, shape, options.peers, note)
    times = {name: [] for name in launches}
    cold_l2 = counting.l2_emptier(torch)
    bench, bench_failed = [], ""
    # The bench is a process of its own: it joins three times, not in every round.
    joins = {options.rounds * part // 3 for part in range(3)} if options.sawtooth else set()
    for turn in range(options.rounds):
        for name, launch in launches.items():
            times[name].append(time_us(torch, cold_l2, launch))
        if turn in joins and not bench_failed:
            found = bench_rows(options, shape, -(-options.rounds // len(joins)))
            if isinstance(found, str):
                bench_failed = found
                note(f"{shape.text()}: sawtooth bench: {found}")
            else:
                bench += [dict(row, repetition=len(bench) + i) for i, row in enumerate(found)]
    rows = list(bench)
    for name in options.peers:
        common = dict(kernel=name, system=kernels.PEERS[name].system, gpu=options.gpu)
        if name in reasons:
            rows.append(results.row(shape, status=reasons[name], **common))
            continue
        for turn, value in enumerate(times[name]):
            rows.append(results.row(shape, repetition=turn, time_us=value, state="cold", **common))
        middle = statistics.median(times[name])
        note(f"{shape.text()}: {name}: {middle:.1f} us, {results.flop(shape) / middle / 1e6:.1f} "
             "TFLOP/s")
    correct = not any("differs" in reason for reason in reasons.values())
    return rows, correct and not bench_failed


def counted_rows(options, note):
    """Counters of all shapes and peers, a row a launch; and whether there are any."""
    shapes = shaping.shapes(options)
    found, status = counting.count(options.ncu, shaping.arguments(options), shapes, options.peers,
                                   options.repetitions)
    if not found:
        note(f"no counters: {status}")
    rows = []
    for (shape, name), launches in found.items():
        if not launches[0]:
            continue  # refused, as the row of its time says
        note(f"{shape.text()}: {name}: {counting.description(launches[0])}")
        rows += [results.row(shape, repetition=turn, counters=counting.totals(launch),
                             kernel=name, system=kernels.PEERS[name].system, gpu=options.gpu,
                             state="cold")
                 for turn, launch in enumerate(launches)]
    return rows, bool(found)


def dry_rows(options):
    return [results.row(shape, kernel=name, system=kernels.PEERS[name].system, gpu=options.gpu,
                        status="dry-run")
            for shape in shaping.shapes(options) for name in options.peers]


def emit(path, rows):
    if path != "-":
        results.write(path, rows)
        return
    writer = csv.DictWriter(sys.stdout, results.COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)


def run(options, note):
    torch = kernels.torch_with_gpu()
    if options.profiled:
        def prepare(shape, name):
            q, k, v = kernels.inputs(torch, shape)
            return kernels.PEERS[name].prepare(torch, q, k, v, shape.mask == "causal")
        counting.run_profiled(torch, counting.l2_emptier(torch), prepare, shaping.shapes(options),
                              options.peers, options.repetitions)
        return 0
    for sentence in kernels.tried_packages():
        note(sentence)
    options.ncu = shutil.which("ncu")
    if options.count and not options.ncu:
        note("ncu is not on the PATH: no counters")
    rows, correct = [], True
    for shape in shaping.shapes(options) if options.rounds else ():
        found, fine = measured_shape(torch, options, shape, note)
        rows += found
        correct = correct and fine
        if options.csv != "-":
            results.write(options.csv, rows)  # what is there stays, whatever comes next
    if options.count and options.ncu:
        counted, fine = counted_rows(options, note)
        rows += counted
        correct = correct and fine
    emit(options.csv, rows)
    return 0 if correct else 1


def main(arguments=None):
    options = parser().parse_args(arguments)

    def note(text):
        print(f"peers: {text}", file=sys.stderr, flush=True)

    def work():
        if options.dry_run:
            emit(options.csv, dry_rows(options))
            return 0
        return run(options, note)

    return kernels.exit_code(options.sawtooth, work, note)


if __name__ == "__main__":
    sys.exit(main())
