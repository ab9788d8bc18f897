"""Statistics and formulas that figures, tables and studies share; standard library only."""

import math
import statistics

CONFIDENCE = 0.95
OVER = 1.5  # of compare_report.hpp: above it the order of work decides


def quantile(values, share):
    """The smallest of `values` that at least `share` of them do not exceed (nearest rank)."""
    return sorted(values)[max(math.ceil(share * len(values)), 1) - 1]


def middle_and_ninety(shares, between="/"):
    """Median and 90 % in percent."""
    return f"{100 * statistics.median(shares):.1f}{between}{100 * quantile(shares, 0.9):.1f}"


def is_over(row):
    """Of a row of `sawtooth compare --csv`."""
    return row["over_compulsory"] != "" and float(row["over_compulsory"]) > OVER


def geometric_mean(values):
    logarithms = [math.log(value) for value in values]
    return math.exp(math.fsum(logarithms) / len(logarithms))


def median_interval(values, confidence=CONFIDENCE):
    """(median, low, high): the narrowest pair of order statistics that covers the true median with
    at least `confidence` (binomial with p = 1/2); the extremes when there are too few values."""
    ordered = sorted(values)
    count = len(ordered)
    middle = (ordered[(count - 1) // 2] + ordered[count // 2]) / 2
    cut, outside = 0, 0.0
    while cut < count // 2:
        outside += 2 * math.comb(count, cut) / 2**count  # below place cut, and above its mirror
        if outside > 1 - confidence:
            break
        cut += 1
    low = max(cut - 1, 0)
    return middle, ordered[low], ordered[count - 1 - low]


def short(tokens):
    """128K of 131072."""
    return f"{int(tokens) // 1024}K" if int(tokens) % 1024 == 0 else str(int(tokens))


def scaled(value):
    """2.5 M of 2500000."""
    for unit, factor in (("G", 1e9), ("M", 1e6)):
        if abs(value) >= factor:
            return f"{value / factor:,.4g} {unit}"
    return f"{value:,.10g}"
