#!/usr/bin/env python3
"""Times decode of this project beside cuDNN and FlashAttention-2 (PyTorch's SDPA with enable_gqa) and a device
copy, all in one run, on one GPU. 32 query and 8 K/V heads, head dim 128, one query.

In every round each contender runs a burst of launches, a graph that follows another launch, in an order
shuffled anew, over K and V that rotate through memory of at least four times L2. Times are medians of
rounds, a launch each.

    decode.py --library libsawtooth_kernels.so --csv decode.csv   (a build with -DBUILD_SHARED_LIBS=ON)
"""

import argparse
import csv
import ctypes
import functools
import random
import statistics
import sys

HEADS, KV_HEADS, DIM = 32, 8, 128
ROW_BYTES = KV_HEADS * DIM * 2  # of a key, of K or of V
SHAPES = [(1, 8), (1, 32), (1, 128), (2, 64), (4, 8), (4, 32), (8, 8), (8, 32), (16, 8), (4, 128)]
SHAPES += [(16, 32), (32, 16), (64, 8), (128, 8)]  # batch, keys / 1024
FAMILIES = ("mma-tma", "mma")
PEERS = {"cudnn": "CUDNN_ATTENTION", "flash": "FLASH_ATTENTION"}
BF16 = 0  # sawtooth_dtype
COLUMNS = "part batch keys lengths page_rows page_order layout kernel options us gb_s error".split()


class Decode(ctypes.Structure):
    """sawtooth_decode of kernels/attention/attention.h."""

    _fields_ = (
        [("struct_size", ctypes.c_uint32), ("version", ctypes.c_uint32)]
        + [(n, ctypes.c_int64) for n in "batch heads kv_heads seq_q seq_kv head_dim".split()]
        + [("dtype", ctypes.c_int), ("mask", ctypes.c_int)]
        + [(name, ctypes.c_void_p) for name in "q k v o lse".split()]
        + [(f"{name}_strides", ctypes.c_int64 * 3) for name in "qkvo"]
        + [("lengths", ctypes.c_void_p), ("page_table", ctypes.c_void_p)]
        + [(name, ctypes.c_int64) for name in "table_stride page_rows page_count".split()]
        + [("scale", ctypes.c_float), ("workspace_starts_zero", ctypes.c_int32)]
        + [("family", ctypes.c_char_p), ("workers", ctypes.c_int64)]
    )


class Library:
    """The calls of one libsawtooth_kernels.so on PyTorch's tensors."""

    def __init__(self, torch, path):
        self.torch = torch
        self.library = ctypes.CDLL(path)
        self.library.sawtooth_last_message.restype = ctypes.c_char_p
        self.library.sawtooth_decode_plan_run.argtypes = [ctypes.c_void_p, ctypes.c_void_p]

    def require(self, status):
        if status != 0:
            raise RuntimeError(self.library.sawtooth_last_message().decode())

    def prepare(self, family, q, k, v, o, lengths=None, table=None, keys=None):
        """A launch. q, o: [batch, heads, positions, dim]; k, v: [batch, kv_heads, keys, dim], or
        with a table [sequence, page] [pages, kv_heads, page rows, dim]; by their strides."""
        library, torch = self.library, self.torch
        call, size, plan = Decode(), ctypes.c_size_t(), ctypes.c_void_p()
        library.sawtooth_decode_init(ctypes.byref(call), ctypes.c_size_t(ctypes.sizeof(call)))
        call.batch, call.heads, call.seq_q, call.head_dim = q.shape
        call.kv_heads = k.shape[1]
        call.dtype = BF16
        call.workspace_starts_zero = 1
        call.seq_kv = keys or k.shape[2]
        for name, tensor in zip("qkvo", (q, k, v, o)):
            setattr(call, name, tensor.data_ptr())
            setattr(call, f"{name}_strides", (ctypes.c_int64 * 3)(*tensor.stride()[:3]))
        if lengths is not None:
            call.lengths = lengths.data_ptr()
        if table is not None:
            call.page_table, call.table_stride = table.data_ptr(), table.stride(0)
            call.page_count, call.page_rows = k.shape[0], k.shape[2]
        call.family = family.encode()
        self.require(
            library.sawtooth_decode_workspace_bytes(ctypes.byref(call), ctypes.byref(size))
        )
        workspace = torch.zeros(size.value, device="cuda", dtype=torch.uint8)
        torch.cuda.synchronize()
        place = ctypes.c_void_p(workspace.data_ptr())
        self.require(
            library.sawtooth_decode_plan_create(ctypes.byref(call), place, size, ctypes.byref(plan))
        )

        def launch(kept=(q, k, v, o, lengths, table, workspace)):  # the plan has their addresses
            self.require(
                library.sawtooth_decode_plan_run(plan, torch.cuda.current_stream().cuda_stream)
            )

        return launch


class Session:
    def __init__(self, torch, options):
        self.torch = torch
        self.options = options
        self.library = Library(torch, options.library)
        self.rows = []
        self.stream_bytes = 0
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
        """`count` launches in turn, as one graph. A copy in a graph is not by SMs and slower, so copies are
        never captured."""

        def in_turn():
            for i in range(count):
                launches[i % len(launches)]()

        if kernel == "copy":
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
        """Launches of every family."""
        return {
            ("sawtooth", f"family={family}"): [
                self.library.prepare(family, q, k, v, o, **named) for k, v in kvs
            ]
            for family in FAMILIES
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
        for batch, kilo in SHAPES:
            keys = kilo * 1024
            moved = 2 * batch * keys * ROW_BYTES
            l2 = torch.cuda.get_device_properties(0).L2_cache_size
            turns = max(1, -(-4 * l2 // moved))
            kvs = [self.kv((batch, KV_HEADS, keys, DIM), turn) for turn in range(max(2, turns))]
            q = torch.randn(batch, HEADS, 1, DIM, device="cuda", dtype=torch.bfloat16)
            o = torch.zeros_like(q)
            contenders, errors, expected = {("copy", ""): self.copy()}, {}, None
            for peer, backend in PEERS.items():
                launches = [self.sdpa(backend, q, k, v) for k, v in kvs]
                try:
                    result = launches[0]()
                except RuntimeError as error:
                    print(f"{peer} refuses {batch} x {keys}: {str(error)[:100]}")
                    continue
                expected = result.clone() if expected is None else expected
                contenders[peer, ""] = launches
            for name, launches in self.ours(q, o, kvs).items():
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
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--library", required=True)
    parser.add_argument("--csv", required=True)
    parser.add_argument("--part", default="shapes,pages,lengths")
    parser.add_argument("--rounds", type=int, default=11)
    options = parser.parse_args()
    try:
        import torch
    except ImportError:
        sys.exit("decode.py: PyTorch is missing")
    if not torch.cuda.is_available():
        print("decode.py: no GPU", file=sys.stderr)
        sys.exit(3)
    torch.manual_seed(1)
    random.seed(1)
    session = Session(torch, options)
    for part in options.part.split(","):
        getattr(session, part)()


if __name__ == "__main__":
    main()
