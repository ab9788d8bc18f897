"""Statistics and formulas that figures, tables and studies share; standard library only."""

import math

CONFIDENCE = 0.95
OVER = 1.5  # of compare_report.hpp: above it the order of work decides


def quantile(values, share):
    """The smallest of `values` that at least `share` of them do not exceed (nearest rank)."""
    return sorted(values)[max(math.ceil(share * len(values)), 1) - 1]


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


def visible_pairs(row):
    """Pairs of a query and a key that it sees, as visible_pairs() of scheduler/mask.hpp has them."""
    queries, keys = int(row["seq_q"]), int(row["seq_kv"])
    if row["mask"] == "none":
        return queries * keys
    if row["mask"] != "causal" and not row["mask"].removeprefix("window:").isdigit():
        return float("nan")  # lists of tiles: the program alone has them
    fewest = max(keys - queries, 0) + 1  # keys that the first row with any sees, each next one more
    most = keys
    if row["mask"] != "causal":
        most = min(int(row["mask"].removeprefix("window:")), keys)
    growing = max(most - fewest + 1, 0)
    return growing * (fewest + most) // 2 + (min(queries, keys) - growing) * most


def flop(row):
    """Floating-point operations of attention forward: 4 B H D a visible pair, and of backward 2.5 times
    as many (five products instead of two). Under causal the last key that a row sees counts half, so
    that a square has S^2 / 2 pairs, as papers count."""
    factors = (int(row[name]) for name in ("batch", "heads", "head_dim"))
    pairs = visible_pairs(row)
    if row["mask"] == "causal":
        pairs -= min(int(row["seq_q"]), int(row["seq_kv"])) / 2
    return (10 if row.get("pass") == "backward" else 4) * math.prod(factors) * pairs


def tflops(operations, time_us):
    return operations / time_us / 1e6


def short(tokens):
    """128K of 131072."""
    return f"{int(tokens) // 1024}K" if int(tokens) % 1024 == 0 else str(int(tokens))


def scaled(value):
    """2.5 M of 2500000."""
    for unit, factor in (("G", 1e9), ("M", 1e6)):
        if abs(value) >= factor:
            return f"{value / factor:,.4g} {unit}"
    return f"{value:,.10g}"
