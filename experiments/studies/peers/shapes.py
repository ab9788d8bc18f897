"""Shapes to run: the cross product of what the command line gives several values of."""

import argparse
import dataclasses
import itertools

import lib_path  # noqa: F401  (makes plots/lib importable)
import measures

SUFFIXES = {"K": 1 << 10, "M": 1 << 20}


@dataclasses.dataclass(frozen=True)
class Shape:
    batch: int
    heads: int
    seq: int
    head_dim: int
    mask: str
    dtype: str = "bf16"
    of_pass: str = "forward"

    def text(self):
        size = f"B{self.batch} H{self.heads} S{self.seq} D{self.head_dim}"
        return f"{size} {self.mask} {self.dtype}" + (" backward" if self.is_backward() else "")

    def is_backward(self):
        return self.of_pass == "backward"

    def cells(self):
        """Columns of results.csv."""
        lengths = dict(kv_heads=self.heads, seq_q=self.seq, seq_kv=self.seq)
        cells = {**dataclasses.asdict(self), **lengths, "pass": self.of_pass}
        del cells["seq"], cells["of_pass"]
        return cells

    def arguments(self):
        """Options of `sawtooth bench`: of a backward pass all its kernels."""
        of_pass = ["--pass", "backward", "--small-kernels", "on"] if self.is_backward() else []
        return [*arguments({key: [getattr(self, key)] for key in OPTIONS}), *of_pass]

    def flop(self):
        return measures.flop(self.cells())


def count(text):
    """A whole number from 1 on; K and M mean 1024 and 1024^2."""
    digits, factor = (text[:-1], SUFFIXES[text[-1]]) if text[-1:] in SUFFIXES else (text, 1)
    if not digits.isdigit() or int(digits) < 1:
        wanted = "a whole number from 1 on (K and M mean 1024 and 1024^2)"
        raise argparse.ArgumentTypeError(f"'{text}' is not {wanted}")
    return int(digits) * factor


def count_or_none(text):
    """A whole number from 0 on."""
    return 0 if text == "0" else count(text)


def listed(kind):
    """A comma-separated list of `kind`."""
    return lambda text: [kind(part.strip()) for part in text.split(",")]


def one_of(*allowed):
    def parse(text):
        if text not in allowed:
            raise argparse.ArgumentTypeError(f"'{text}' is none of {', '.join(allowed)}")
        return text

    return parse


mask = one_of("none", "causal")
OPTIONS = {
    "batch": (count, 1),
    "heads": (count, 1),
    "seq": (count, 16384),
    "head_dim": (count, 64),
    "mask": (mask, "none"),
    "dtype": (one_of("bf16", "fp16", "fp32"), "bf16"),
}


def add_options(parser):
    for key, (kind, default) in OPTIONS.items():
        parser.add_argument("--" + key.replace("_", "-"), type=listed(kind), default=[default])


def shapes(options):
    return [
        Shape(*values) for values in itertools.product(*(vars(options)[key] for key in OPTIONS))
    ]


def arguments(given):
    """The options that give the same shapes again, of {option: values}."""
    texts = {"--" + key.replace("_", "-"): ",".join(map(str, given[key])) for key in OPTIONS}
    return list(itertools.chain.from_iterable(texts.items()))
