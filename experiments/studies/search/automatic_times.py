#!/usr/bin/env python3
"""Times calls that name no schedule beside named ones, all through the C API in this process.

    SAWTOOTH_LIBRARY=libsawtooth_kernels.so automatic_times.py results/automatic_schedules.csv --csv TIMES.csv

The library is of a build with -DBUILD_SHARED_LIBS=ON; the schedules are what `automatic.py draw` wrote. Every shape
runs in rounds, in each of which every call has a burst of about a millisecond, in an order shuffled anew. L2 is as the
launch before left it; inputs are random, and all calls write the same output. An output that differs from the plain
call's is a row with its reason. Clocks a shape, and GPU, driver, date, commit and library go to files beside the rows.
Exit codes: 0 fine, 1 a call failed, 2 wrong usage, 3 PyTorch or a GPU is missing.
"""

import argparse
import dataclasses
import datetime
import hashlib
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import automatic  # first: it makes plots/lib importable
import measures
import table

ROOT = Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT / "experiments" / "studies" / "peers"))
import gpu_state  # noqa: E402  (the path above leads to it)
import plain_call  # noqa: E402
import race  # noqa: E402
import session  # noqa: E402
import shapes as shaping  # noqa: E402

# What sawtooth_attention_defaults gave before 97e95bc brought automatic schedules, and the kernel that such a call
# got: the first of head dim 128 in kernels/attention/variants.inc.
FORMER_SCHEDULE = {"launch": "grid", "scan": "linear", "q_order": "ascending", "section": 1}
FORMER_KERNEL = {"family": "mma", "tile_q": 128, "tile_kv": 64}
ALWAYS = {
    automatic.PLAIN: {},
    automatic.AGAIN: {},
    automatic.FORMER: FORMER_KERNEL | FORMER_SCHEDULE,
    automatic.FORMER_SCHEDULE: FORMER_SCHEDULE,
}
FIELDS = {"kernel": "family"}  # columns that the C API calls otherwise
COUNTS = ("tile_q", "tile_kv", "section")
COLUMNS = automatic.SHAPE + ("entry", *automatic.SCHEDULE, "state", "repetition")
COLUMNS += ("time_us", "tflops", "status")
LEAST_ROUNDS, MOST_ROUNDS = 7, 25


@dataclasses.dataclass(frozen=True)
class GroupedShape(shaping.Shape):
    kv_heads: int = 1

    def text(self):
        return f"{super().text()} KV{self.kv_heads}"

    def cells(self):
        return {**super().cells(), "kv_heads": self.kv_heads}


def shape_of(row):
    numbers = {
        name: table.integer(row, name) for name in ("batch", "heads", "head_dim", "kv_heads")
    }
    return GroupedShape(seq=table.integer(row, "seq_kv"), mask=row["mask"], **numbers)


def named_by(row):
    """Fields of the C API's struct that a row of schedules names."""
    return {
        FIELDS.get(name, name): int(row[name]) if name in COUNTS else row[name]
        for name in automatic.SCHEDULE
    }


def inputs(torch, shape):
    """Random Q, K and V of a fixed seed."""
    torch.manual_seed(1)
    return [
        torch.randn(
            (shape.batch, heads, shape.seq, shape.head_dim), device="cuda", dtype=torch.bfloat16
        )
        for heads in (shape.heads, shape.kv_heads, shape.kv_heads)
    ]


def ready(torch, shape, calls):
    """({entry: launches and their times}, {entry: reason why it was not timed})."""
    q, k, v = inputs(torch, shape)
    output, expected = torch.empty_like(q), None
    contestants, reasons = {}, {}
    for entry, named in calls.items():
        try:
            launch = plain_call.prepare(torch, q, k, v, shape.mask == "causal", output, **named)
            output.zero_()
            launch()
            torch.cuda.synchronize()
        except RuntimeError as error:
            reasons[entry] = str(error).splitlines()[0]
            continue
        expected = output.clone() if expected is None else expected
        off = session.difference(output, expected)
        if off <= session.LARGEST_DIFFERENCE:
            contestants[entry] = race.Contestant(torch, launch)
        else:
            reasons[entry] = f"output differs from the plain call's by {off:.1e}"
    return contestants, reasons


def run_rounds(contestants, chance, seconds):
    """At least LEAST_ROUNDS, and further ones until `seconds` are over."""
    turns, begin = list(contestants), time.monotonic()
    for number in range(MOST_ROUNDS):
        if number >= LEAST_ROUNDS and time.monotonic() - begin > seconds:
            return
        chance.shuffle(turns)
        for contestant in turns:
            contestant.round()


def rows_of(key, shape, calls, contestants, reasons):
    columns = {field: column for column, field in FIELDS.items()}
    for entry, named in calls.items():
        row = dict(zip(automatic.SHAPE, key)) | {"entry": entry, "state": "as-is"}
        row |= {columns.get(field, field): value for field, value in named.items()}
        if entry in reasons:
            yield row | {"status": reasons[entry].replace(",", ";")}
            continue
        for turn, value in enumerate(contestants[entry].times):
            speed = measures.tflops(shape.flop(), value)
            result = {"time_us": f"{value:.2f}", "tflops": f"{speed:.1f}", "status": "ok"}
            yield row | {"repetition": turn, **result}


def said_by(*command):
    """The first line that a program prints; empty without it."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.partition("\n")[0].strip()


def provenance(torch):
    library = Path(os.environ[plain_call.LIBRARY]).read_bytes()
    found = {
        "utc": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "gpu": torch.cuda.get_device_name(),
        "driver": said_by("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"),
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "commit": said_by("git", "describe", "--always", "--dirty", "--abbrev=12"),
        "library_sha256": hashlib.sha256(library).hexdigest(),
    }
    return [{"key": key, "value": value} for key, value in found.items()]


def measure(options, note):
    torch = session.torch_with_gpu()
    beside = os.path.splitext(options.csv)[0]
    table.write(f"{beside}_run.csv", provenance(torch))
    shapes = table.grouped(table.read(options.schedules), *automatic.SHAPE)
    rows, state, fine = [], gpu_state.GpuState(), True
    for key, scheduled in shapes.items():
        shape = shape_of(scheduled[0])
        if shape.flop() > options.most_flop:
            note(f"{shape.text()}: left out, {shape.flop():.1e} FLOP")
            continue
        calls = ALWAYS | {row["entry"]: named_by(row) for row in scheduled}
        contestants, reasons = ready(torch, shape, calls)
        state.begin()
        chance = random.Random(shape.text())
        run_rounds(contestants.values(), chance, options.seconds / len(shapes))
        state.end(shape.text())
        for entry, reason in reasons.items():
            note(f"{shape.text()}: {entry}: {reason}")
        fine = fine and not reasons
        rows += rows_of(key, shape, calls, contestants, reasons)
        table.write(options.csv, rows, COLUMNS)  # stays, whatever comes next
        table.write(f"{beside}_gpu_state.csv", state.lines, gpu_state.COLUMNS)
    return 0 if fine else 1


def main(arguments=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("schedules")
    parser.add_argument("--csv", required=True)
    parser.add_argument("--seconds", type=float, default=100, help="of rounds, of all shapes")
    parser.add_argument(
        "--most-flop", type=float, default=float("inf"), help="shapes of more are left out"
    )
    options = parser.parse_args(arguments)

    def note(text):
        print(f"automatic_times: {text}", file=sys.stderr, flush=True)

    if refusal := plain_call.refusal(None):
        note(refusal)
        return 2
    try:
        return measure(options, note)
    except table.TableError as error:
        note(str(error))
        return 2
    except session.Missing as error:
        note(str(error))
        return 3


if __name__ == "__main__":
    sys.exit(main())
