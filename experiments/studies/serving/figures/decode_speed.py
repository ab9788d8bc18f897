"""Decode beside its peers and a copy, measured."""

import statistics

import table
from figures.rows import Rows

TRIED = (
    ("1 x 32K", 1, 32768),
    ("16 x 8K", 16, 8192),
    ("8 x 32K", 8, 32768),
    ("32 x 16K", 32, 16384),
)
TRIED += (("128 x 8K", 128, 8192),)
ONE = dict(ctas_per_sm=1)
BUILDS = (
    (
        "before: 64 keys, 6 stages, misses of 256 bytes",
        dict(ONE, kernel="mma-tma before", key_blocks=1, stages=6, miss_bytes=256),
    ),
    ("the same with misses of 128", dict(ONE, key_blocks=1, stages=6)),
    ("4 stages", dict(ONE, key_blocks=1, stages=4)),
    ("3 stages", dict(ONE, key_blocks=1, stages=3)),
    ("2 stages", dict(ONE, key_blocks=1, stages=2)),
    ("2 stages, two CTAs an SM", dict(key_blocks=1, stages=2, ctas_per_sm=2)),
    ("128 keys, 2 stages", dict(ONE, key_blocks=2, stages=2)),
    ("the same, evicted first", dict(ONE, key_blocks=2, stages=2, kv_eviction="first")),
)


def kv_of_shape(row):
    """Of 8 K/V heads and D = 128, in order of size, then of batches."""
    return table.integer(row, "batch") * table.integer(row, "keys"), table.integer(row, "batch")


def mib_of_shape(shape):
    """K and V of 8 heads of 128 elements of 2 bytes."""
    return int(shape[0]) * int(shape[1]) >> 8


class DecodeSpeed(Rows):
    """Speeds in bytes of K and V."""

    def rate(self, kernel, batch, keys, options=""):
        """GB of K and V a second."""
        shape = dict(part="shapes", kernel=kernel, options=options, batch=batch, keys=keys)
        return table.number(table.only(self._measured("decode_ahead"), **shape), "gb_s")

    def shapes(self):
        rows = table.where(self._measured("decode_ahead"), part="shapes", kernel="cudnn")
        return [(row["batch"], row["keys"]) for row in sorted(rows, key=kv_of_shape)]

    def of_cudnn(self, family="mma-tma"):
        """Speed over that of cuDNN, of each shape."""
        return [
            self.rate("sawtooth", *shape, f"family={family}") / self.rate("cudnn", *shape)
            for shape in self.shapes()
        ]

    def ahead(self, tiles, run="launch after launch", peer="cudnn", low=0, high=1 << 20):
        """Speed over a peer's of mma-tma whose CTAs ask for so many tiles ahead (None: as before that),
        at each shape with so many MiB of K and V."""
        rows = table.where(self._measured("ahead"), run=run, part="shapes")
        build = dict(build="before") if tiles is None else dict(build="after", tiles_ahead=tiles)
        shapes = table.grouped(rows, "batch", "keys")
        return [
            statistics.median(table.numbers(table.where(of, **build), "gb_s"))
            / table.number(table.only(of, kernel=peer), "gb_s")
            for shape, of in shapes.items()
            if low <= mib_of_shape(shape) <= high
        ]

    def of_copy(self, low, high=1 << 20):
        """Bytes of K and V a second over those of the copy, of shapes with so many MiB."""
        return [
            self.rate("sawtooth", *shape, "family=mma-tma") / self.rate("copy", *shape)
            for shape in self.shapes()
            if low <= mib_of_shape(shape) <= high
        ]

    def mixed_of_copy(self):
        rows = table.where(self._measured("decode_ahead"), part="lengths", kernel="copy")
        return self.mixed() / table.number(table.only(rows), "gb_s")

    def at_once(self):
        """Speed over cuDNN's in the second run of mma-tma that adds up all columns at once."""
        return self.of_build("all columns at once", first_ahead=0, tiles_ahead=3)

    def of_build(self, name, **shape):
        rows = table.where(
            self._measured("ahead"), run="launch after launch, second run", part="shapes"
        )
        own = dict(shape, build=name, options="family=mma-tma")
        return [
            table.number(table.only(of, **own), "gb_s")
            / table.number(table.only(of, kernel="cudnn"), "gb_s")
            for of in table.grouped(rows, "batch", "keys").values()
        ]

    def speeds(self):
        """A row a shape of 32 query and 8 K/V heads, D = 128."""
        heads = ("mma-tma", "mma", "cuDNN", "FlashAttention-2", "mma-tma / cuDNN")
        lines = ["| batch x keys | K and V | " + " | ".join(heads) + " |", "|---" * 7 + "|"]
        for shape in self.shapes():
            families = ("mma-tma", "mma")
            rates = [self.rate("sawtooth", *shape, f"family={name}") for name in families]
            rates += [self.rate(peer, *shape) for peer in ("cudnn", "flash")]
            cells = [f"{shape[0]} x {int(shape[1]) >> 10}K", f"{mib_of_shape(shape):,} MiB"]
            cells += [f"{rate:,.0f}" for rate in rates] + [f"{rates[0] / rates[2]:.3f}"]
            lines.append("| " + " | ".join(cells) + " |")
        return "\n".join(lines)

    def _beside_flashinfer(self, **of):
        """[(row of `of`, GB/s of contenders by name)] of the run with FlashInfer."""
        rows = table.where(table.read(str(self._ways / "flashinfer.csv")), **of)
        return [
            (
                same[0],
                {row["kernel"] + row["options"][-2:]: table.number(row, "gb_s") for row in same},
            )
            for same in table.grouped(rows, "batch", "keys").values()
        ]

    def flashinfer_speeds(self):
        """A row a shape, on an H100."""
        heads = (
            "mma-tma",
            "cuDNN",
            "FlashAttention-2",
            "FlashInfer",
            "its kernel for several queries",
        )
        lines = ["| batch x keys | K and V | " + " | ".join(heads) + " |", "|---" * 7 + "|"]
        made = self._beside_flashinfer(part="shapes")
        for row, rates in sorted(made, key=lambda of: kv_of_shape(of[0])):
            cells = [f"{row['batch']} x {int(row['keys']) >> 10}K"]
            cells += [f"{mib_of_shape((row['batch'], row['keys'])):,} MiB"]
            names = ("sawtoothma", "cudnn", "flash", "flashinfer=0", "flashinfer=1")
            cells += [f"{rates[name]:,.0f}" for name in names]
            lines.append("| " + " | ".join(cells) + " |")
        return "\n".join(lines)

    def of_flashinfer(self):
        """Speed of mma-tma over the faster of FlashInfer's kernels, of each shape."""
        return [
            rates["sawtoothma"] / max(rates["flashinfer=0"], rates["flashinfer=1"])
            for _, rates in self._beside_flashinfer(part="shapes")
        ]

    def paged_of_flashinfer(self):
        """The same in pages, of each number of rows, order and layout."""
        paged = table.where(table.read(str(self._ways / "flashinfer.csv")), part="pages")
        rates = table.grouped(paged, "page_rows", "page_order", "layout")
        quotients = []
        for (page_rows, _, _), rows in rates.items():
            if not page_rows:
                continue
            ours, theirs = (
                max(table.number(row, "gb_s") for row in rows if row["kernel"] == kernel)
                for kernel in ("sawtooth", "flashinfer")
            )
            quotients.append(ours / theirs)
        return quotients

    def paged(self, rows, family="mma-tma"):
        """Time with pages of so many rows over that without, less 1, in percent: least and most."""
        tried = table.where(
            self._measured("decode_ahead"),
            part="pages",
            kernel="sawtooth",
            options=f"family={family}",
        )
        (plain,) = table.numbers(table.where(tried, page_rows=""), "us")
        times = table.numbers(table.where(tried, page_rows=rows), "us")
        return [100 * (time / plain - 1) for time in (min(times), max(times))]

    def mixed(self):
        """GB of K and V a second with lengths of 1K to 64K."""
        rows = table.where(self._measured("decode_ahead"), part="lengths", options="family=mma-tma")
        return table.number(rows[0], "gb_s")

    def variant(self, batch, keys, **shape):
        """Speed of a build of mma-tma at head dim 128 over cuDNN's in the same run."""
        rows = table.where(self._measured("variants"), run=1, head_dim=128, batch=batch, keys=keys)
        plain = dict(miss_bytes=128, kv_eviction="normal", workers="", drawn_percent="")
        own = table.only(rows, **{"kernel": "mma-tma", **plain, **shape})
        return table.number(own, "gb_s") / table.number(table.only(rows, kernel="cudnn"), "gb_s")

    def variants(self):
        lines = ["| build | " + " | ".join(words for words, _, _ in TRIED) + " |"]
        lines.append("|---" * (len(TRIED) + 1) + "|")
        for words, shape in BUILDS:
            cells = [f"{self.variant(batch, keys, **shape):.3f}" for _, batch, keys in TRIED]
            lines.append(f"| {words} | " + " | ".join(cells) + " |")
        return "\n".join(lines)

    def reading(self, by, miss_bytes, stages):
        """GB a second of 132 SMs that read 1 GiB in two streams each."""
        wanted = dict(by=by, chunk_bytes=16384, stages=stages, ctas_per_sm=1, mib=1023)
        wanted.update(pattern="two shares in turn", kv_eviction="normal", miss_bytes=miss_bytes)
        return table.number(table.only(self._measured("reading"), **wanted), "gb_s")
