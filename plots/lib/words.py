"""Plain words for columns and their values, for legends, titles and axes."""

from measures import short

LABELS = {
    "misses": "L2 misses of reads and writes (sectors)",
    "misses_over_compulsory": "L2 misses (x compulsory)",
    "dram_over_compulsory": "DRAM reads (x compulsory)",
    "dram_read_sectors": "DRAM reads (sectors)",
    "l2_read_sectors": "L2 reads (sectors)",
    "l2_read_miss_sectors": "near misses (sectors)",
    "fabric_read_sectors": "fabric reads (sectors)",
    "hit_rate": "L2 hit rate of reads (%)",
    "time_us": "time (\N{MICRO SIGN}s)",
    "tflops": "TFLOP/s",
    "dram_share": "DRAM share of the second pass",
    "n_mib": "buffer (MiB)",
    "capacity_mib": "L2 capacity (MiB)",
    "miss_sectors": "L2 misses (sectors)",
    "ratio": "peer time / our time",
    "seq_kv": "sequence length (keys)",
    "seq_q": "sequence length (queries)",
    "l2_bytes": "L2 capacity",
    "workers": "CTAs in flight",
}
# column -> words around its value; a dictionary for single values.
VALUES = {
    "map": {"same": "each line from the same SM", "all": "every SM reads every line"},
    "pattern": {"linear": "linear again", "sawtooth": "reversed"},
    "mask": {"none": "no mask"},
    "without": "without {}",
    "batch": "batch {}",
    "heads": {"1": "1 head", None: "{} heads"},
    "kv_heads": {"1": "1 K/V head", None: "{} K/V heads"},
    "head_dim": "D={}",
    "seq_q": "{} queries",
    "seq_kv": "S={}",
    "tile_q": "Q tile {}",
    "tile_kv": "K/V tile {}",
    "section": "sections of {}",
    "workers": "{} workers",
    "ctas_per_sm": "{} CTAs an SM",
    "prefetch": {"0": "no prefetch", "": "", None: "prefetch {}"},
    "kv_split": {"1": "whole K/V", "": "", None: "K/V in {} parts"},
    "lse": {"on": "with log-sum-exp", "off": "without log-sum-exp"},
    "hints": {"": "no hints"},
    "l2": {"lru": "LRU", "opt": "Belady", "": ""},
    "l2_bytes": "L2 of {}",
    "l2_ways": "{} ways",
    "launches": "{} launches",
    "costs": "costs of {}",
    "seed": "seed {}",
}
TOKENS = ("seq_q", "seq_kv")


def label(column):
    return LABELS.get(column, column.replace("_", " "))


def size(value):
    """24 MiB of 25165824."""
    number = int(value)
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if number >= factor:
            return f"{number / factor:.4g} {unit}"
    return f"{number} B"


def value(column, text):
    """A cell in plain words: "no mask", "D=64", "without stalls"; empty for an empty cell."""
    known = VALUES.get(column, "{}")
    if isinstance(known, dict):
        known = known.get(text, known.get(None, "{}"))
    elif text == "":
        return "whole model" if column == "without" else ""
    if column in TOKENS and text.isdigit():
        text = short(text)
    if column.endswith("_bytes") and text.isdigit():
        text = size(text)
    return known.format(text)


def name(row, columns):
    """What tells a row from others, in words."""
    return ", ".join(filter(None, (value(column, row.get(column, "")) for column in columns)))
