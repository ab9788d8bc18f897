"""Shapes to run: the cross product of what the command line gives several values of."""

import argparse
import dataclasses
import itertools

SUFFIXES = {"K": 1 << 10, "M": 1 << 20}


@dataclasses.dataclass(frozen=True)
class Shape:
    batch: int
    heads: int
    seq: int
    head_dim: int
    mask: str
    dtype: str

    def text(self):
        return (f"B{self.batch} H{self.heads} S{self.seq} D{self.head_dim} {self.mask} "
                f"{self.dtype}")


def count(text):
    """A whole number from 1 on; K and M mean 1024 and 1024^2."""
    digits, factor = (text[:-1], SUFFIXES[text[-1]]) if text[-1:] in SUFFIXES else (text, 1)
    if not digits.isdigit() or int(digits) < 1:
        raise argparse.ArgumentTypeError(
            f"'{text}' is not a whole number from 1 on (K and M mean 1024 and 1024^2)")
    return int(digits) * factor


def count_or_none(text):
    """A whole number from 0 on."""
    return 0 if text == "0" else count(text)


def listed(kind):
    """A comma-separated list of `kind`."""
    def parse(text):
        return [kind(part.strip()) for part in text.split(",")]
    return parse


def one_of(*allowed):
    def parse(text):
        if text not in allowed:
            raise argparse.ArgumentTypeError(f"'{text}' is none of {', '.join(allowed)}")
        return text
    return parse


def add_options(parser):
    parser.add_argument("--batch", type=listed(count), default=[1])
    parser.add_argument("--heads", type=listed(count), default=[1])
    parser.add_argument("--seq", type=listed(count), default=[16384])
    parser.add_argument("--head-dim", type=listed(count), default=[64])
    parser.add_argument("--mask", type=listed(one_of("none", "causal")), default=["none"])
    parser.add_argument("--dtype", type=listed(one_of("bf16", "fp16")), default=["bf16"])


def shapes(options):
    return [Shape(*values) for values in itertools.product(
        options.batch, options.heads, options.seq, options.head_dim, options.mask, options.dtype)]


def arguments(options):
    """The options that give the same shapes again."""
    return [text for key in ("batch", "heads", "seq", "head_dim", "mask", "dtype")
            for text in ("--" + key.replace("_", "-"), ",".join(map(str, getattr(options, key))))]
