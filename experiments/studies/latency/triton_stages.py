#!/usr/bin/env python3
"""Times of one attention kernel whose K/V loop is pipelined to 1 to 4 stages, as rows of results.csv.

A persistent Triton kernel with this project's words: launch static, dynamic or grid; scan linear,
reverse or sawtooth; ascending Q tiles without a mask, descending with one. Lengths go from K/V inside
one half of L2 to four times beyond. Schedules of one kernel and length take turns.

    triton_stages.py ROWS.csv [--rounds 5]      times by CUDA events, medians; checks each kernel first
    triton_stages.py ROWS.csv --count [--ncu ncu]   counters of the static launches by Nsight Compute
    triton_stages.py ROWS.csv --held-out [--count]  the frozen list that judges (HELD_OUT), from a cold L2
"""

import argparse
import csv
import itertools
import math
import os
import statistics
import subprocess
import sys

import torch
import triton
import triton.language as tl

WORKERS = 132
TILES = {64: (128, 128), 128: (128, 64)}
LENGTHS_K = {64: (32, 64, 128, 192, 256), 128: (16, 32, 64, 96, 128)}
# What judges the timed model and `teach`: kernels and lengths that neither has seen. Head dim, rows of a
# Q and of a K/V tile, stages, warps, CTAs an SM, causal.
HELD_OUT = [
    (64, 128, 64, 1, 4, 1, False),
    (64, 128, 64, 2, 4, 1, False),
    (64, 128, 64, 3, 8, 1, False),
    (64, 64, 64, 1, 4, 1, False),
    (64, 64, 64, 2, 4, 1, False),
    (64, 64, 64, 3, 4, 1, False),
    (64, 64, 64, 2, 4, 2, False),
    (64, 64, 128, 1, 4, 1, False),
    (64, 64, 128, 2, 8, 1, False),
    (64, 128, 64, 2, 4, 1, True),
    (128, 128, 128, 1, 8, 1, False),
    (128, 128, 128, 2, 8, 1, False),
    (128, 64, 64, 1, 4, 1, False),
    (128, 64, 64, 2, 4, 1, False),
    (128, 64, 64, 3, 4, 1, False),
    (128, 64, 64, 2, 4, 2, False),
    (128, 64, 128, 1, 8, 1, False),
    (128, 128, 32, 2, 8, 1, False),
    (128, 64, 64, 2, 4, 1, True),
]
# Two lengths inside half of L2, four beyond. teach sees the linear rows of the first four, and the
# sawtooth row of the second.
HELD_OUT_LENGTHS_K = {64: (40, 80, 144, 176, 224, 288), 128: (20, 40, 72, 88, 112, 144)}
SCANS = ("linear", "reverse", "sawtooth")
LAUNCHES = ("static", "dynamic", "grid")
METRICS = {
    "dram_read_sectors": "dram__sectors_read.sum",
    "l2_read_miss_sectors": "lts__t_sectors_srcunit_tex_op_read_lookup_miss.sum",
    "fabric_read_miss_sectors": "lts__t_sectors_srcunit_ltcfabric_op_read_lookup_miss.sum",
    "sm_read_sectors": "l1tex__m_xbar2l1tex_read_sectors.sum",
}


# fmt: off
@triton.jit
def attention(q, k, v, o, tickets, seq, heads, workers, scale_log2, scan, launch,
              HEAD_DIM: tl.constexpr, TILE_Q: tl.constexpr, TILE_KV: tl.constexpr,
              CAUSAL: tl.constexpr, STAGES: tl.constexpr):
    columns = tl.arange(0, HEAD_DIM)
    q_tiles = seq // TILE_Q
    item = tl.program_id(0)
    if launch == 1:
        item = tl.atomic_add(tickets, 1)
    turn = 0
    while item < q_tiles * heads:
        q_tile = item % q_tiles
        if CAUSAL:
            q_tile = q_tiles - 1 - q_tile
        base = (item // q_tiles).to(tl.int64) * seq * HEAD_DIM
        rows = q_tile * TILE_Q + tl.arange(0, TILE_Q)
        at = base + rows[:, None] * HEAD_DIM + columns[None, :]
        q_rows = tl.load(q + at)
        output = tl.zeros([TILE_Q, HEAD_DIM], tl.float32)
        largest = tl.full([TILE_Q], float("-inf"), tl.float32)
        total = tl.zeros([TILE_Q], tl.float32)
        steps = seq // TILE_KV
        if CAUSAL:
            steps = ((q_tile + 1) * TILE_Q + TILE_KV - 1) // TILE_KV
        parity = turn
        if launch == 2:
            parity = item // workers
        backward = 0
        if scan == 1:
            backward = 1
        if scan == 2:
            backward = parity % 2
        for step in tl.range(0, steps, num_stages=STAGES):
            tile = backward * (steps - 1) + (1 - 2 * backward) * step
            keys = tile * TILE_KV + tl.arange(0, TILE_KV)
            k_tile = tl.load(k + base + columns[:, None] + keys[None, :] * HEAD_DIM)
            scores = tl.dot(q_rows, k_tile) * scale_log2
            if CAUSAL:
                scores = tl.where(rows[:, None] >= keys[None, :], scores, -1e30)
            raised = tl.maximum(largest, tl.max(scores, 1))
            shrink = tl.exp2(largest - raised)
            weights = tl.exp2(scores - raised[:, None])
            total = total * shrink + tl.sum(weights, 1)
            v_tile = tl.load(v + base + keys[:, None] * HEAD_DIM + columns[None, :])
            output = tl.dot(weights.to(v_tile.dtype), v_tile, output * shrink[:, None])
            largest = raised
        tl.store(o + at, (output / total[:, None]).to(o.dtype.element_ty))
        turn += 1
        if launch == 0:
            item += workers
        elif launch == 1:
            item = tl.atomic_add(tickets, 1)
        else:
            item = q_tiles * heads
# fmt: on


class Case:
    """One kernel: stages, warps, head dim, mask, tiles and CTAs an SM."""

    def __init__(self, stages, warps, head_dim, causal, tiles=None, ctas=1):
        self.stages, self.warps, self.head_dim, self.causal = stages, warps, head_dim, causal
        self.tiles, self.ctas = tiles or TILES[head_dim], ctas
        self.workers = ctas * WORKERS

    def name(self):
        return f"triton-{self.stages}-stages-{self.warps}-warps"

    def launch(self, tensors, seq, scan, launch):
        """Launches; one head. Tickets are reset before, outside of what is timed."""
        q, k, v, o, tickets = tensors
        tile_q, tile_kv = self.tiles
        grid = (seq // tile_q if launch == "grid" else self.workers,)
        scale = math.log2(math.e) / math.sqrt(self.head_dim)
        how = (seq, 1, self.workers, scale, SCANS.index(scan), LAUNCHES.index(launch))
        attention[grid](
            *(q, k, v, o, tickets, *how),
            HEAD_DIM=self.head_dim,
            TILE_Q=tile_q,
            TILE_KV=tile_kv,
            CAUSAL=self.causal,
            STAGES=self.stages,
            num_warps=self.warps,
        )


def cases():
    for head_dim, warps, stages in itertools.product(TILES, (4, 8), (1, 2, 3, 4)):
        yield Case(stages, warps, head_dim, False)
        if warps == 8:
            yield Case(stages, warps, head_dim, True)


def held_out_cases():
    for head_dim, tile_q, tile_kv, stages, warps, ctas, causal in HELD_OUT:
        yield Case(stages, warps, head_dim, causal, (tile_q, tile_kv), ctas)


def tensors_of(head_dim, seq):
    torch.manual_seed(0)
    q, k, v = (torch.randn(seq, head_dim, device="cuda", dtype=torch.bfloat16) for _ in range(3))
    return q, k, v, torch.empty_like(q), torch.zeros(1, device="cuda", dtype=torch.int32)


def check(case):
    """Raises where a launch and scan give another result than PyTorch in fp32."""
    seq = 2048 + 128
    tensors = tensors_of(case.head_dim, seq)
    q, k, v = (tensor.float()[None, None] for tensor in tensors[:3])
    wanted = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=case.causal)[0, 0]
    for launch, scan in itertools.product(LAUNCHES, SCANS):
        tensors[3].fill_(float("nan"))
        tensors[4].zero_()
        case.launch(tensors, seq, scan, launch)
        error = (tensors[3].float() - wanted).norm() / wanted.norm()
        if not error < 1e-2:
            raise RuntimeError(f"{case.name()} {launch} {scan}: relative error {error}")


def row_of(case, seq, launch, scan, **cells):
    tile_q, tile_kv = case.tiles
    row = {"experiment": "triton_stages", "source": "measured", "gpu": "h200"}
    row.update({"kernel": case.name(), "pass": "forward", "batch": 1, "heads": 1, "kv_heads": 1})
    row.update(seq_q=seq, seq_kv=seq, head_dim=case.head_dim, dtype="bf16")
    row.update(mask="causal" if case.causal else "none", tile_q=tile_q, tile_kv=tile_kv, section=1)
    row.update(q_order="descending" if case.causal else "ascending", head_order="batch-major")
    row.update(launch=launch, workers=case.workers, ctas_per_sm=case.ctas, scan=scan)
    row["state"] = "as-is"
    return {**row, **cells, "status": "ok"}


def timed(case, seq, launches, rounds, scans=SCANS, cold=None):
    """A row a schedule, with the median of its rounds in microseconds. `cold`: a buffer larger than L2
    that is read before every launch."""
    tensors = tensors_of(case.head_dim, seq)
    schedules = list(itertools.product(launches, scans))
    times = {schedule: [] for schedule in schedules}
    for round_number in range(rounds + 1):  # the first one warms up
        for launch, scan in schedules:
            tensors[4].zero_()
            if cold is not None:
                cold.sum()
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            case.launch(tensors, seq, scan, launch)
            end.record()
            end.synchronize()
            if round_number > 0:
                times[launch, scan].append(1000 * begin.elapsed_time(end))
    flop = 4 * seq * seq * case.head_dim / (2 if case.causal else 1)
    for (launch, scan), found in times.items():
        time_us = statistics.median(found)
        made = {"time_us": f"{time_us:.2f}", "tflops": f"{flop / time_us / 1e6:.2f}"}
        made["state"] = "as-is" if cold is None else "cold"
        yield row_of(case, seq, launch, scan, **made)


def counted_launches(held_out):
    if held_out:
        for case in held_out_cases():
            for length_k in HELD_OUT_LENGTHS_K[case.head_dim][2:]:
                for scan in ("linear", "sawtooth"):
                    yield case, length_k * 1024, scan
        return
    for case in cases():
        for length_k in LENGTHS_K[case.head_dim][1:]:
            for scan in ("linear", "sawtooth"):
                yield case, length_k * 1024, scan


def run_profiled(held_out):
    """What Nsight Compute counts, one launch each, with an L2 that holds none of its tensors."""
    other = torch.empty(64 << 20, device="cuda", dtype=torch.int32)
    for case, seq, scan in counted_launches(held_out):
        tensors = tensors_of(case.head_dim, seq)
        other.fill_(1)
        other.sum()
        torch.cuda.synchronize()
        case.launch(tensors, seq, scan, "static")
        torch.cuda.synchronize()


def counted(ncu, held_out):
    command = [ncu, "--cache-control", "none", "--clock-control", "none", "--replay-mode"]
    command += ["application", "-k", "attention", "--csv", "--page", "raw", "--metrics"]
    command += [",".join(METRICS.values()), sys.executable, os.path.abspath(__file__), "--profiled"]
    command += ["--held-out"] if held_out else []
    done = subprocess.run([*command, "-"], capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith('"')]
    found = list(csv.DictReader(lines))[1:]  # the first row has the units
    wanted = list(counted_launches(held_out))
    if len(found) != len(wanted):
        sys.exit(f"ncu saw {len(found)} of {len(wanted)} launches\n{done.stdout[-2000:]}")
    for (case, seq, scan), kernel in zip(wanted, found):
        counts = {name: int(float(kernel[m].replace(",", ""))) for name, m in METRICS.items()}
        yield row_of(case, seq, "static", scan, **counts, **{"state": "cold"})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--count", action="store_true")
    parser.add_argument("--ncu", default="ncu")
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--profiled", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--compile", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    known = list(held_out_cases() if options.held_out else cases())
    if options.compile is not None:  # fills Triton's cache, a process a kernel
        return check(known[options.compile])
    if options.profiled:
        return run_profiled(options.held_out)
    if options.count:
        rows = list(counted(options.ncu, options.held_out))
    else:
        arguments = [sys.executable, os.path.abspath(__file__), "-"]
        arguments += ["--held-out"] if options.held_out else []
        running = [subprocess.Popen([*arguments, "--compile", str(i)]) for i in range(len(known))]
        if any([process.wait() for process in running]):
            sys.exit("triton_stages: a kernel is not right")
        rows = []
        for case in known if options.held_out else ():
            other = torch.ones(64 << 20, device="cuda", dtype=torch.int32)
            for length_k in HELD_OUT_LENGTHS_K[case.head_dim]:
                scans = ("linear", "sawtooth")
                rows += timed(case, length_k * 1024, LAUNCHES[:1], options.rounds, scans, other)
            print(case.name(), case.head_dim, case.tiles, file=sys.stderr)
        for case in () if options.held_out else known:
            launches = LAUNCHES if case.warps == 8 else LAUNCHES[:1]
            for length_k in LENGTHS_K[case.head_dim]:
                rows += timed(case, length_k * 1024, launches, options.rounds)
            print(case.name(), case.head_dim, "causal" if case.causal else "none", file=sys.stderr)
    with open(options.rows, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(dict.fromkeys(key for row in rows for key in row)))
        writer.writeheader()
        writer.writerows(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
