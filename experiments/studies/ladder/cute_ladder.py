#!/usr/bin/env python3
"""The ladder's first four steps in CuteDSL (cute_levels.py) beside kernels/ladder.

    cute_ladder.py compile FOLDER                         a cubin a level for sm_90a; needs nvidia-cutlass-dsl, no GPU
    cute_ladder.py time CUBINS SEQ REPETITIONS [CSV]      checks and times them and PyTorch's SDPA; needs a GPU and PyTorch
    cute_ladder.py launch CUBINS SEQ                      a launch a level, for `sawtooth record`
    cute_ladder.py measure CUBINS SAWTOOTH LADDER FOLDER [SEQ [ROUNDS]]
                                                          times and counters of both ladders, in turn, into FOLDER
    cute_ladder.py table FOLDER                           level by level, and a published series beside it; no GPU

batch 2, 8 heads, head dim 128, fp16. A level whose output differs from PyTorch's by over 0.1 % ends the run with
exit code 1.
"""

import csv
import ctypes
import math
import os
import pathlib
import shutil
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "peers"))

LEVELS = {1: "naive", 2: "pipelined", 3: "swizzled", 4: "ldmatrix"}
BATCH, HEADS, HEAD_DIM, TILE, THREADS = 2, 8, 128, 64, 128
LENGTHS = (1024, 16384)
ROUNDS = 3  # of both programs in turn
ALLOWED_ERROR = 1e-3  # as kernels/ladder
METRICS = {
    "shared_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "bank_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
    "sm_read_sectors": "l1tex__m_xbar2l1tex_read_sectors.sum",
    "l2_read_sectors": "lts__t_sectors_srcunit_tex_op_read.sum",
    "dram_read_sectors": "dram__sectors_read.sum",
}
# TFLOP/s on an A10G, batch 2, 8 heads, 1,024 rows, head dim 128, fp16: the CuteDSL series that the ladder retraces.
PUBLISHED_LENGTH = 1024
PUBLISHED = {1: 20.6, 2: 24.4, 3: 27.9, 4: 32.0}


def cubin_name(level):
    return f"cute-{level}.cubin"


def compile_level(level, folder):
    """In this process: the DSL takes its settings from the environment when it is imported."""
    dump = folder / f"dump-{level}"
    dump.mkdir(parents=True, exist_ok=True)
    os.environ.update(CUTE_DSL_ARCH="sm_90a", CUTE_DSL_KEEP_CUBIN="1", CUTE_DSL_DUMP_DIR=str(dump))
    import cutlass
    import cutlass.cute as cute
    from cute_levels import LEVELS as known
    from cute_levels import Attention
    from cutlass.cute.runtime import make_ptr

    chosen = next(one for one in known if one.number == level)
    tensors = [
        make_ptr(cutlass.Float16, 0, cute.AddressSpace.gmem, assumed_align=16) for _ in range(4)
    ]
    try:
        cute.compile(Attention(chosen, cutlass.Float16), *tensors, 16, 1024, 1.0)
    except Exception as error:  # its last step asks for a driver; the cubin is there by then
        if not list(dump.glob("*.cubin")):
            raise
        print(f"note: level {level}: {type(error).__name__} after the cubin was written")
    (made,) = dump.glob("*.cubin")
    shutil.copyfile(made, folder / cubin_name(level))
    shutil.rmtree(dump)


def compile_all(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for level in LEVELS:
        subprocess.run([sys.executable, __file__, "compile", folder, str(level)], check=True)


def shared_bytes(level):
    return (1 + 2 * min(level, 2)) * TILE * HEAD_DIM * 2


def launchers(torch, cubins, q, k, v, o):
    """level -> launch()"""
    import cubin

    length, heads = q.shape[2], q.shape[0] * q.shape[1]
    made = {}
    for level in LEVELS:
        function = cubin.load(cubins / cubin_name(level))
        cubin.allow_shared(function, shared_bytes(level))
        scale_log2 = math.log2(math.e) / math.sqrt(HEAD_DIM)
        parameters = [ctypes.c_void_p(tensor.data_ptr()) for tensor in (q, k, v, o)]
        parameters += [ctypes.c_int32(length), ctypes.c_float(scale_log2)]
        run = cubin.launcher(
            *(function, (length // TILE, heads, 1), (THREADS, 1, 1), shared_bytes(level)),
            parameters,
        )
        made[level] = lambda run=run: run(torch.cuda.current_stream().cuda_stream)
    return made


def prepared(cubins, length):
    import torch

    torch.manual_seed(1)
    q, k, v = (
        torch.randn(BATCH, HEADS, length, HEAD_DIM, device="cuda", dtype=torch.float16)
        for _ in range(3)
    )
    o = torch.empty_like(q)
    return torch, q, k, v, o, launchers(torch, cubins, q, k, v, o)


def time_levels(cubins, length, repetitions, path):
    torch, q, k, v, o, levels = prepared(cubins, length)
    attention = torch.nn.functional.scaled_dot_product_attention
    from torch.nn.attention import SDPBackend, sdpa_kernel

    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        expected = attention(q, k, v).float()
        errors = {}
        for level, launch in levels.items():
            o.fill_(float("nan"))
            launch()
            errors[level] = ((o.float() - expected).norm() / expected.norm()).item()
        runs = {**levels, "sdpa": lambda: attention(q, k, v)}
        times = {name: [] for name in runs}
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        for turn in range(repetitions + 1):  # the first one warms up
            for name, launch in runs.items():
                begin.record()
                launch()
                end.record()
                end.synchronize()
                if turn:
                    times[name].append(1000 * begin.elapsed_time(end))
    rows = []
    for name in runs:
        rows.append(
            {
                "kernel": f"cute-{name}" if name in LEVELS else "flash-attention-2",
                "name": LEVELS.get(name, name),
                "seq": length,
                "output_error": errors.get(name, ""),
                "time_us": statistics.median(times[name]),
            }
        )
    write(path, rows)
    wrong = [level for level, error in errors.items() if not error <= ALLOWED_ERROR]
    for level in wrong:
        print(f"level {level} is off by {errors[level]:.3g}", file=sys.stderr)
    return 1 if wrong else 0


def write(path, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def run(*words):
    print("+", *words, file=sys.stderr, flush=True)
    return subprocess.run([str(word) for word in words], check=False).returncode


def measure(cubins, sawtooth, ladder, folder, lengths, rounds):
    """times.csv: a row a round, level and length; counters.csv: a row a level and length."""
    folder.mkdir(parents=True, exist_ok=True)
    me, part = (sys.executable, HERE / "cute_ladder.py"), folder / "part.csv"
    rows, failed = [], 0
    for length in lengths:
        repetitions = "20" if length <= 1024 else "5"
        ours = (ladder, "1", "2", "3", "4", "--no-counters", "--seq", length, "--repetitions")
        for turn in range(rounds):
            failed |= run(*me, "time", cubins, length, repetitions, part)
            rows += [{"round": turn, **row} for row in read(part)]
            failed |= run(*ours, repetitions, "--csv", part)
            rows += [{key: {"round": turn, **row}[key] for key in rows[0]} for row in read(part)]
    write(folder / "times.csv", rows)
    rows = []
    for length in lengths:
        record = (sawtooth, "record", "--gpu", "h200", "--metrics", ",".join(METRICS.values()))
        record += ("--kernel", "cute_levels|ladder::", "--csv", part, "--")
        failed |= run(*record, *me, "launch", cubins, length)
        rows += counter_rows("cute", length, read(part))
        failed |= run(
            *(*record, ladder, "1", "2", "3", "4", "--no-counters", "--seq", length),
            *("--repetitions", "1", "--check-tiles", "1"),
        )
        rows += counter_rows("ladder", length, read(part))
    write(folder / "counters.csv", rows)
    part.unlink()
    return failed


def counter_rows(family, length, launches):
    """The last launch of each level; levels are launched in ascending order."""
    last = launches[-len(LEVELS) :]
    for level, row in zip(LEVELS, last, strict=True):
        values = {column: row.get(column) or row.get(metric) for column, metric in METRICS.items()}
        yield {"kernel": f"{family}-{level}", "name": LEVELS[level], "seq": length, **values}


def table(folder):
    times, counters = read(folder / "times.csv"), read(folder / "counters.csv")

    def timed(kernel, length):
        return [
            float(row["time_us"])
            for row in times
            if (row["kernel"], row["seq"]) == (kernel, str(length))
        ]

    def tflops(kernel, length):
        found = timed(kernel, length)
        return 4 * BATCH * HEADS * length**2 * HEAD_DIM / statistics.median(found) / 1e6

    def counter(kernel, length, column):
        (row,) = (row for row in counters if (row["kernel"], row["seq"]) == (kernel, str(length)))
        return float(row[column])

    lengths = [length for length in LENGTHS if any(row["seq"] == str(length) for row in counters)]
    for length in lengths:
        print(f"\nS = {length}, batch {BATCH}, {HEADS} heads, head dim {HEAD_DIM}, fp16\n")
        print(
            "| level | TFLOP/s: raw CUDA | CuteDSL | conflicts: raw CUDA | CuteDSL | SM reads, CuteDSL / raw CUDA "
            "| L2 reads | DRAM reads, MiB: raw CUDA | CuteDSL |"
        )
        print("|---" * 9 + "|")
        for level, name in LEVELS.items():
            pair = [f"{family}-{level}" for family in ("ladder", "cute")]
            conflicts = [
                100
                * counter(one, length, "bank_conflicts")
                / counter(one, length, "shared_wavefronts")
                for one in pair
            ]
            ratios = [
                counter(pair[1], length, column) / counter(pair[0], length, column)
                for column in ("sm_read_sectors", "l2_read_sectors")
            ]
            dram = [counter(one, length, "dram_read_sectors") * 32 / 2**20 for one in pair]
            print(
                f"| {level} {name} | {tflops(pair[0], length):.0f} | {tflops(pair[1], length):.0f} "
                f"| {conflicts[0]:.2f} % | {conflicts[1]:.2f} % | {ratios[0]:.3f} | {ratios[1]:.3f} "
                f"| {dram[0]:.0f} | {dram[1]:.0f} |"
            )
        if timed("flash-attention-2", length):
            print(
                f"\nFlashAttention-2 (PyTorch): {tflops('flash-attention-2', length):.0f} TFLOP/s"
            )
    if not timed("cute-1", PUBLISHED_LENGTH):
        return
    print(
        "\nSpeed over level 1, S = 1024\n\n| level | series, A10G | CuteDSL, H200 | raw CUDA, H200 |\n|---|---|---|---|"
    )
    for level, name in LEVELS.items():
        ratios = [
            tflops(f"{family}-{level}", PUBLISHED_LENGTH) / tflops(f"{family}-1", PUBLISHED_LENGTH)
            for family in ("cute", "ladder")
        ]
        print(
            f"| {level} {name} | {PUBLISHED[level] / PUBLISHED[1]:.2f} | {ratios[0]:.2f} | {ratios[1]:.2f} |"
        )


def main(arguments):
    command, rest = arguments[:1], [pathlib.Path(word) for word in arguments[1:]]
    if command == ["compile"] and len(rest) == 1:
        compile_all(rest[0])
    elif command == ["compile"] and len(rest) == 2:
        compile_level(int(arguments[2]), rest[0])
    elif command == ["time"] and len(rest) in (3, 4):
        return time_levels(
            rest[0], int(arguments[2]), int(arguments[3]), (rest[3:] or ["/dev/stdout"])[0]
        )
    elif command == ["launch"] and len(rest) == 2:
        torch, *_, levels = prepared(rest[0], int(arguments[2]))
        for _ in range(2):  # the second launch of each is the one that is taken
            for launch in levels.values():
                launch()
        torch.cuda.synchronize()
    elif command == ["measure"] and len(rest) in (4, 5, 6):
        lengths = [int(word) for word in arguments[5:6]] or LENGTHS
        return measure(*rest[:4], lengths, int((arguments[6:] or [ROUNDS])[0]))
    elif command == ["table"] and len(rest) == 1:
        table(rest[0])
    else:
        sys.exit(__doc__)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
