#!/usr/bin/env python3
"""Times calls of the C API that name some of their fields beside a peer: kernels and schedules that are candidates.

    experiments/studies/peers/calls.py --calls lists/calls-short.ini --tokens 16K --heads 16 \\
        --seq 512,1K,2K,4K --head-dim 64,128 --mask none,causal --csv calls.csv

A section of --calls is a call: fields of sawtooth_attention (kernels/attention/attention.h) by their names, and
`library`, the path of its libsawtooth_kernels.so (default: $SAWTOOTH_LIBRARY), so that builds of two sources run
side by side. `only` keeps a call to some shapes: conditions on seq, head_dim and mask that hold together, such as
`only = head_dim=128 mask=none seq=2048,4096`. Every round launches each of them and the first of --peers in a burst
of about a millisecond, in an order shuffled anew. Outputs are compared with the peer's.

A row is a call on a shape: median_us, peer_ratio (the median over rounds of the peer's time over its own), and the
times of all rounds. Exit codes: 0 fine, 1 a check failed, 2 wrong usage, 3 PyTorch or a GPU is missing.
"""

import configparser
import os
import random
import statistics
import sys

import lib_path  # noqa: F401  (makes plots/lib importable)
import plain_call
import race
import session
import shapes as shaping
import table

COLUMNS = "seq head_dim mask batch heads call median_us peer_ratio times_us".split()


def parser():
    made = session.parser(
        __doc__,
        ["sdpa-cudnn"],
        tokens=dict(type=shaping.count, help="as many sequences as have so many rows together"),
        rounds=dict(type=shaping.count, default=15, help="bursts of every call"),
        calls=dict(required=True, help="INI file, a section a call"),
        csv=dict(required=True),
    )
    made.set_defaults(sawtooth=None, **{"pass": "forward"})
    return made


def read_calls(path):
    """[(name, only, library, {field: value})] of the file's sections."""
    reader = configparser.ConfigParser(delimiters=["="])
    with open(path, encoding="utf-8") as file:
        reader.read_file(file)
    calls = []
    for name in reader.sections():
        fields = {key: int(text) if text.isdigit() else text for key, text in reader.items(name)}
        only = dict(condition.split("=") for condition in str(fields.pop("only", "")).split())
        calls.append(
            (name, only, fields.pop("library", os.environ.get(plain_call.LIBRARY, "")), fields)
        )
    return calls


def is_meant(shape, only):
    return all(str(getattr(shape, key)) in values.split(",") for key, values in only.items())


def launches_of(torch, shape, peer, calls, note):
    """{name: launch}, the peer's first, and the names of calls that are refused or wrong."""
    tensors = session.inputs(torch, shape)
    launches = {peer: session.prepared(torch, shape, peer, tensors)}
    expected, bad = launches[peer](), []
    fp32 = shape.dtype == "fp32"
    allowed = session.LARGEST_FP32_DIFFERENCE if fp32 else session.LARGEST_DIFFERENCE
    for name, only, library, fields in calls:
        if not is_meant(shape, only):
            continue
        os.environ[plain_call.LIBRARY] = library
        try:
            launch = plain_call.prepare(torch, *tensors, shape.mask == "causal", **fields)
            off = session.difference(launch(), expected)
            torch.cuda.synchronize()
        except (RuntimeError, OSError) as error:
            note(f"{shape.text()}: {name}: {error}")
            bad.append(name)
            continue
        if off <= allowed:
            launches[name] = launch
        else:
            note(f"{shape.text()}: {name}: output differs from the peer's by {off:.1e}")
            bad.append(name)
    return launches, bad


def times_of(torch, launches, rounds, seed):
    contestants = {name: race.Contestant(torch, launch) for name, launch in launches.items()}
    turns, shuffled = list(contestants.values()), random.Random(seed)
    for _ in range(rounds):
        shuffled.shuffle(turns)
        for contestant in turns:
            contestant.round()
    return {name: contestant.times for name, contestant in contestants.items()}


def row(shape, name, times, peer_times):
    ratios = [other / own for other, own in zip(peer_times, times)]
    return dict(
        {key: getattr(shape, key) for key in ("seq", "head_dim", "mask", "batch", "heads")},
        call=name.replace(",", ";"),
        median_us=f"{statistics.median(times):.2f}",
        peer_ratio=f"{statistics.median(ratios):.4f}",
        times_us=" ".join(f"{time:.2f}" for time in times),
    )


def work(options, note):
    torch = session.torch_with_gpu()
    calls, peer, rows, correct = read_calls(options.calls), options.peers[0], [], True
    for shape in race.shapes(options):
        launches, bad = launches_of(torch, shape, peer, calls, note)
        times = times_of(torch, launches, race.rounds_of(options, shape), shape.text())
        of_shape = [row(shape, name, own, times[peer]) for name, own in times.items()]
        for one in of_shape:
            note(f"{shape.text()}: {one['peer_ratio']} {one['median_us']} us {one['call']}")
        rows += of_shape
        correct = correct and not bad
        table.write(options.csv, rows, COLUMNS)  # stays, whatever comes next
    return 0 if correct else 1


def main(arguments=None):
    return session.run("calls", parser().parse_args(arguments), work)


if __name__ == "__main__":
    sys.exit(main())
