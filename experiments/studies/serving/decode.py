#!/usr/bin/env python3
"""Times decode of this project beside cuDNN and FlashAttention-2 (PyTorch's SDPA with enable_gqa),
FlashInfer where it is given, and a device copy, all in one run, on one GPU. 32 query and 8 K/V heads, head dim 128, one query.

In every round each contender runs a burst of launches, a graph that follows another launch, in an order
shuffled anew, over K and V that rotate through memory of at least four times L2. Times are medians of
rounds, a launch each.

    decode.py --library LIBRARY [--library NAME=LIBRARY ...] --csv decode.csv [--part shapes,pages,lengths]
      [--flashinfer libflashinfer_decode.so]     (flashinfer_decode.cu)
"""

import argparse
import csv
import functools
import random
import statistics

import decode_call
import flashinfer_call
import on_gpu

HEADS, KV_HEADS, DIM = 32, 8, 128
ROW_BYTES = KV_HEADS * DIM * 2  # of a key, of K or of V
SHAPES = [(1, 8), (1, 32), (1, 128), (2, 64), (4, 8), (4, 32), (8, 8), (8, 32), (16, 8), (4, 128)]
SHAPES += [(32, 8), (32, 16), (64, 8), (16, 32), (128, 8), (32, 32), (16, 128), (64, 32)]
COLUMNS = "part batch keys lengths page_rows page_order layout kernel options us gb_s error".split()


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--library", action="append", required=True)
    parser.add_argument("--csv", required=True)
    parser.add_argument("--part", default="shapes,pages,lengths")
    parser.add_argument(
        "--options", action="append", default=[], help="drawn_percent=20,family=mma"
    )
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument(
        "--launches", choices=["graph", "stream"], default="graph", help="how bursts are launched"
    )
    parser.add_argument(
        "--between", action="store_true", help="a small kernel of PyTorch before each launch"
    )
    parser.add_argument("--peers", default="cudnn,flash")
    parser.add_argument("--flashinfer", default="", help="compiled flashinfer_decode.cu")
    parser.add_argument("--shapes", default="", help="1x8,32x16: batch x keys / 1024")
    return parser.parse_args()


class Session:
    def __init__(self, torch, options):
        self.torch = torch
        self.options = options
        self.libraries = {}
        for text in options.library:
            name, _, path = text.rpartition("=")
            self.libraries[name or "sawtooth"] = decode_call.Library(torch, path)
        self.variants = [
            {
                key: int(value) if value.lstrip("-").isdigit() else value
                for key, value in (pair.split("=") for pair in text.split(","))
            }
            for text in options.options
        ] or [{}]
        self.flashinfer = None
        if options.flashinfer:
            self.flashinfer = flashinfer_call.Library(torch, options.flashinfer)
        self.rows = []
        self.stream_bytes = 0
        self.small = torch.zeros(32, device="cuda")
        elements = 64 * 64 * 1024 * KV_HEADS * DIM
        self.pool = []
        for _ in "kv":
            part = torch.empty(elements, device="cuda", dtype=torch.bfloat16)
            for piece in part.split(1 << 30):
                piece.normal_()
            self.pool.append(part)

    def kv(self, shape, turn, permutation=(0, 1, 2, 3)):
        """K and V of `shape`, from a place of the pool that differs from turn to turn."""
        count = 1
        for size in shape:
            count *= size
        places = max(1, self.pool[0].numel() // count)
        first = turn % places * count
        return [part[first : first + count].view(shape).permute(permutation) for part in self.pool]

    def burst(self, kernel, launches, count):
        """`count` launches in turn, as one graph or one after the other. A copy in a graph is not by
        SMs and slower, so copies are never captured."""

        def in_turn():
            for i in range(count):
                if self.options.between:
                    self.small.add_(1)
                launches[i % len(launches)]()

        if self.options.launches == "stream" or kernel == "copy":
            return in_turn
        torch = self.torch
        for launch in launches:
            launch()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            in_turn()
        return graph.replay

    def burst_us(self, burst, first, count):
        """Of one launch of a burst that follows another launch."""
        torch = self.torch
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda._sleep(400_000)
        first()
        begin.record()
        burst()
        end.record()
        torch.cuda.synchronize()
        return begin.elapsed_time(end) * 1000 / count

    def race(self, contenders, moved_bytes):
        """{name: median us} of {name: launches}; bursts of about 2 ms."""
        count = max(3, min(40, int(2000 / max(20, moved_bytes / 4e6))))
        times = {name: [] for name in contenders}
        bursts = {
            name: self.burst(name[0], launches, count) for name, launches in contenders.items()
        }
        for turn in range(self.options.rounds + 2):
            names = list(contenders)
            random.shuffle(names)
            for name in names:
                us = self.burst_us(bursts[name], contenders[name][-1], count)
                if turn >= 2:
                    times[name].append(us)
        return {name: statistics.median(values) for name, values in times.items()}

    def add(self, times, moved_bytes, errors, **point):
        for name, us in times.items():
            kernel, options, *place = name
            size = self.stream_bytes if kernel == "copy" else moved_bytes
            row = dict(point, kernel=kernel, options=options, us=f"{us:.2f}")
            row.update(zip(("page_rows", "page_order", "layout"), place))
            row.update(gb_s=f"{size / us / 1000:.1f}", error=errors.get(name, ""))
            self.rows.append(row)
            shown = " ".join(f"{value}" for value in [*point.values(), *place])
            print(
                f"{shown:36} {kernel:10} {options:34} {us:9.2f} us {row['gb_s']:>7} GB/s",
                flush=True,
            )
        with open(self.options.csv, "w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, restval="")
            writer.writeheader()
            writer.writerows(self.rows)

    def copy(self):
        """1 GiB to 1 GiB, bytes read and written."""
        half = 1 << 29
        source, target = self.pool[0][:half], self.pool[1][-half:]
        self.stream_bytes = 2 * half * 2
        return [functools.partial(target.copy_, source)]

    def ours(self, q, o, kvs, **named):
        """Every library with every set of options."""
        launches = {}
        for name, library in self.libraries.items():
            for variant in self.variants:
                text = " ".join(f"{key}={value}" for key, value in variant.items())
                launches[name, text] = [
                    library.prepare(q, k, v, o, **named, **variant) for k, v in kvs
                ]
        return launches

    def of_flashinfer(self, q, o, kvs, table=None):
        """Of its kernel for one query, and of that for several."""
        if self.flashinfer is None:
            return {}
        return {
            ("flashinfer", f"tensor_cores={cores}"): [
                self.flashinfer.prepare(q, k, v, o, cores, table) for k, v in kvs
            ]
            for cores in (0, 1)
        }

    def sdpa(self, backend, q, k, v):
        from torch.nn.attention import SDPBackend, sdpa_kernel

        def launch():
            with sdpa_kernel(getattr(SDPBackend, backend)):
                return self.torch.nn.functional.scaled_dot_product_attention(
                    q, k, v, enable_gqa=True
                )

        return launch

    def difference(self, got, expected):
        difference = (got.float() - expected.float()).norm() / expected.float().norm()
        return f"{difference.item():.2e}"

    def shapes(self):
        torch = self.torch
        shapes = [
            tuple(map(int, text.split("x"))) for text in self.options.shapes.split(",") if text
        ]
        for batch, kilo in shapes or SHAPES:
            keys = kilo * 1024
            moved = 2 * batch * keys * ROW_BYTES
            l2 = torch.cuda.get_device_properties(0).L2_cache_size
            turns = max(1, -(-4 * l2 // moved))
            kvs = [self.kv((batch, KV_HEADS, keys, DIM), turn) for turn in range(max(2, turns))]
            q = torch.randn(batch, HEADS, 1, DIM, device="cuda", dtype=torch.bfloat16)
            o = torch.zeros_like(q)
            contenders, errors, expected = {("copy", ""): self.copy()}, {}, None
            for peer in filter(None, self.options.peers.split(",")):
                backend = {"cudnn": "CUDNN_ATTENTION", "flash": "FLASH_ATTENTION"}[peer]
                launches = [self.sdpa(backend, q, k, v) for k, v in kvs]
                try:
                    result = launches[0]()
                except RuntimeError as error:
                    print(f"{peer} refuses {batch} x {keys}: {str(error)[:100]}")
                    continue
                expected = result.clone() if expected is None else expected
                contenders[peer, ""] = launches
            made = self.ours(q, o, kvs) | self.of_flashinfer(q, o, kvs)
            for name, launches in made.items():
                o.fill_(float("nan"))
                launches[0]()
                errors[name] = self.difference(o, expected) if expected is not None else ""
                contenders[name] = launches
            self.add(
                self.race(contenders, moved), moved, errors, part="shapes", batch=batch, keys=keys
            )

    def pages(self):
        torch = self.torch
        batch, keys = 32, 16384
        moved = 2 * batch * keys * ROW_BYTES
        q = torch.randn(batch, HEADS, 1, DIM, device="cuda", dtype=torch.bfloat16)
        o = torch.zeros_like(q)
        contenders = {("copy", ""): self.copy()}
        kvs = [self.kv((batch, KV_HEADS, keys, DIM), turn) for turn in range(2)]
        for (name, options), launches in self.ours(q, o, kvs).items():
            contenders[name, options] = launches
        for rows in (16, 32, 64, 256):
            count = batch * keys // rows
            for order in ("identity", "shuffled"):
                numbers = torch.arange(count, dtype=torch.int32)
                if order == "shuffled":
                    numbers = numbers[torch.randperm(count)]
                table = numbers.view(batch, -1).cuda()
                layouts = {"heads-rows": ((count, KV_HEADS, rows, DIM), (0, 1, 2, 3))}
                if order == "shuffled":
                    layouts["rows-heads"] = ((count, rows, KV_HEADS, DIM), (0, 2, 1, 3))
                for layout, (shape, permutation) in layouts.items():
                    kvs = [self.kv(shape, turn, permutation) for turn in range(2)]
                    made = self.ours(q, o, kvs, table=table, keys=keys)
                    made |= self.of_flashinfer(q, o, kvs, table)
                    for (name, options), launches in made.items():
                        contenders[name, options, rows, order, layout] = launches
        times = self.race(contenders, moved)
        self.add(times, moved, {}, part="pages", batch=batch, keys=keys)

    def lengths(self):
        torch = self.torch
        batch, most = 64, 65536
        generator = torch.Generator().manual_seed(1)
        lengths = torch.randint(1024, most + 1, (batch,), generator=generator, dtype=torch.int32)
        moved = 2 * int(lengths.sum()) * ROW_BYTES
        q = torch.randn(batch, HEADS, 1, DIM, device="cuda", dtype=torch.bfloat16)
        o = torch.zeros_like(q)
        kvs = [self.kv((batch, KV_HEADS, most, DIM), 0)]
        contenders = {("copy", ""): self.copy()}
        contenders.update(self.ours(q, o, kvs, lengths=lengths.cuda()))
        times = self.race(contenders, moved)
        self.add(times, moved, {}, part="lengths", batch=batch, keys=most, lengths="1K..64K")


def main():
    options = arguments()
    torch = on_gpu.torch_of("decode.py")
    session = Session(torch, options)
    for part in options.part.split(","):
        getattr(session, part)()


if __name__ == "__main__":
    main()
