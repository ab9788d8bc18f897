#!/usr/bin/env python3
"""What GPUs that share heads exchange, by NCCL: `exchanges.py [--gpus N] [--seq LIST] [--rounds N]` on a host with N GPUs.

Prints CSV: for each length and exchange (ulysses: Q, K, V and O, each all to all; megatron: the all-reduce behind the
output projection) the bytes that a GPU sends, and the median and least time of the rounds on the slowest GPU. The
problem is that of the presets `ulysses` and `tensor-parallel` at batch 1: 64 heads on 8 K/V heads, head dim 128, bf16.
`sawtooth simulate --head-shards N --exchange NAME` predicts the same as transfer_us.
"""

import argparse
import os
import statistics

HEADS, KV_HEADS, HEAD_DIM, BYTES = 64, 8, 128, 2
WARM_UP = 3


def rows_of(size):
    return 1024 * int(size[:-1]) if size.endswith("K") else int(size)


def exchanges(torch, dist, seq, gpus, device):
    """{name: (bytes that a GPU sends, [(function, arguments)])}."""

    def tensor(heads):
        return torch.randn(seq * heads * HEAD_DIM // gpus, dtype=torch.bfloat16, device=device)

    # K and V heads of which there are fewer than GPUs go to several: here there are enough.
    parts = [tensor(heads) for heads in (HEADS, KV_HEADS, KV_HEADS, HEADS)]
    moves = [(dist.all_to_all_single, (torch.empty_like(part), part)) for part in parts]
    sent = sum(part.numel() for part in parts) * BYTES // gpus * (gpus - 1)
    whole = torch.randn(seq * HEADS * HEAD_DIM, dtype=torch.bfloat16, device=device)
    reduced = 2 * whole.numel() * BYTES // gpus * (gpus - 1)
    return {"ulysses": (sent, moves), "megatron": (reduced, [(dist.all_reduce, (whole,))])}


def run(rank, options):
    import torch
    import torch.distributed as dist

    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=options.gpus)
    device = torch.device("cuda", rank)
    if rank == 0:
        print("gpus,exchange,seq,sent_bytes,time_us,least_us,gb_per_s", flush=True)
    for seq in options.seq.split(","):
        for name, (sent, calls) in exchanges(
            torch, dist, rows_of(seq), options.gpus, device
        ).items():
            times = []
            for turn in range(WARM_UP + options.rounds):
                begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
                dist.barrier()
                torch.cuda.synchronize()
                begin.record()
                for call, arguments in calls:
                    call(*arguments)
                end.record()
                torch.cuda.synchronize()
                time_us = torch.tensor([begin.elapsed_time(end) * 1000], device=device)
                dist.all_reduce(time_us, op=dist.ReduceOp.MAX)
                if turn >= WARM_UP:
                    times.append(float(time_us))
            if rank == 0:
                middle = statistics.median(times)
                print(
                    f"{options.gpus},{name},{rows_of(seq)},{sent},{middle:.1f},{min(times):.1f},{sent / middle / 1000:.1f}",
                    flush=True,
                )
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--gpus", type=int, default=2)
    parser.add_argument("--seq", default="8K,32K,128K")
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    import torch.multiprocessing as processes

    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29517")
    os.environ.setdefault("NCCL_NVLS_ENABLE", "0")  # no NVLink multicast
    processes.spawn(run, args=(options,), nprocs=options.gpus)


if __name__ == "__main__":
    main()
