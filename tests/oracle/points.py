"""Random points, each a dict of option names and values; the seed of a point is its number."""

from random import Random

from problem import lengths_of, row_bytes

VALUES = {
    "launch": ("static", "dynamic", "grid", "balanced"),
    "scan": (
        *("linear", "reverse", "sawtooth", "sawtooth-item", "sawtooth-wave", "attach", "shift"),
        "random",
    ),
    "q_order": ("ascending", "descending", "fold"),
    "head_order": ("batch-major", "head-major"),
    "loop": ("kv-inner", "kv-outer"),
    "prefetch": (0, 1, 2, 3),
    "kv_split": (1, 2, 3, "auto"),
    "cascade": ("off", "on"),
    "lse": ("off", "on"),
    "pack_gqa": ("off", "on"),
    "kv_latent": ("on",),
    "kv_dtype": ("fp8", "int8"),
    "timing": ("lockstep", "lockstep-wave"),
    "l2": ("lru", "sets", "opt"),
    "sequence_order": ("given", "longest"),
    "l2_policy": ("lru", "plru", "fifo", "opt"),
    "l2_hash": ("balanced", "modulo", "xor"),
}
MOST_LINES = 60_000  # that a point may touch: what a point costs


def any_point(number):
    """Point `number`: of every option each value, and small enough to replay a line at a time."""
    random = Random(number)
    while True:
        point = drawn(random, number)
        if touched_lines(point) <= MOST_LINES:
            return point


def touched_lines(point):
    """A bound: each Q tile of each head reads all K/V tiles."""
    row = max(row_bytes(point).values()) / 128
    q_tiles = -(-point["seq_q"] // point["tile_q"])
    heads = point["batch"] * point["heads"]
    per_tile = 2 * point["seq_kv"] * (2 if point["prefetch"] else 1)
    if point["loop"] == "kv-outer":
        per_tile = 4 * point["seq_q"]
        q_tiles = -(-point["seq_kv"] // point["tile_kv"])
    split = 2 if point["kv_split"] == "auto" else point["kv_split"]
    return heads * (q_tiles * per_tile + 3 * point["seq_q"] * (1 + split)) * row


def drawn(random, number):
    pick = random.choice
    kv_heads = pick((1, 1, 2))
    point = {
        "batch": pick((1, 1, 2, 3)),
        "heads": kv_heads * pick((1, 1, 2, 3)),
        "kv_heads": kv_heads,
        "head_dim": pick((32, 64, 64, 96, 128)),
        "dtype": pick(("bf16", "bf16", "fp32", "fp8")),
        "tile_q": pick((16, 32, 64)),
        "tile_kv": pick((16, 32, 64)),
        "seq_q": random.randint(1, 400),
        "seq_kv": random.randint(1, 400),
        "mask": pick(("none", "causal", f"window:{random.randint(1, 200)}")),
        "q_order": pick(VALUES["q_order"]),
        "head_order": pick(VALUES["head_order"]),
        "launch": pick(VALUES["launch"]),
        "workers": random.randint(1, 12),
        "scan": pick(VALUES["scan"]),
        "loop": pick(("kv-inner",) * 5 + ("kv-outer",)),
        "prefetch": pick((0, 0, 0, 1, 2, 3)),
        "kv_split": pick((1, 1, 1, 2, 3)),
        "cascade": "off",
        "lse": pick(VALUES["lse"]),
        "timing": pick(VALUES["timing"]),
        "l2": pick(("lru", "lru", "sets", "opt")),
        "seed": number,
    }
    choose_widths(random, point)
    if random.random() < 0.2:
        point["seq_q"] = point["seq_kv"]
    point["pack_gqa"] = pick(VALUES["pack_gqa"])
    if random.random() < 0.3:
        choose_lengths(random, point)
    elif random.random() < 0.3:
        choose_listed_mask(random, point)
    if point["launch"] == "balanced":  # what the program allows
        point["kv_split"], point["loop"] = 1, "kv-inner"
    if point["loop"] == "kv-outer":
        point["kv_split"], point["prefetch"] = 1, 0
    kv_tiles = -(-point["seq_kv"] // point["tile_kv"])
    point["kv_split"] = min(point["kv_split"], kv_tiles)
    choose_serving(random, point)
    split = 1 if point["kv_split"] == "auto" else point["kv_split"]
    point["section"] = random.randint(1, point["batch"] * point["heads"] * split)
    if random.random() < 0.2 and point["cascade"] == "off":
        point["order"] = any_order(random, point)
        for replaced in ("section", "q_order", "head_order", "sequence_order"):
            point.pop(replaced, None)
    choose_l2(random, point)
    return point


def choose_widths(random, point):
    """V and O of another width, V in the rows of K, K and V of another type."""
    if random.random() < 0.35:
        point["head_dim_v"] = random.choice((32, 64, 96, 128, 192))
    if point.get("head_dim_v", 0) <= point["head_dim"] and random.random() < 0.3:
        point["kv_latent"] = "on"
    if random.random() < 0.2:
        point["kv_dtype"] = random.choice(VALUES["kv_dtype"])


def choose_listed_mask(random, point):
    """A mask whose tiles are no range."""
    draw = random.randint
    kind = random.choice(("document", "prefix-lm", "sink", "blocks"))
    if kind == "document":
        lengths = [draw(1, 150) for _ in range(draw(1, 5))]
        point["seq_q"] = point["seq_kv"] = sum(lengths)
        point["mask"] = "document:" + "+".join(map(str, lengths))
    elif kind == "prefix-lm":
        point["mask"] = f"prefix-lm:{draw(0, 450)}"
    elif kind == "sink":
        point["mask"] = f"window:{draw(1, 200)}+sink:{draw(1, 100)}"
    else:
        point["mask"] = f"blocks:random:{random.choice((0.2, 0.5, 0.8))}:{draw(0, 99)}"


def is_listed(point):
    return "sink" in point["mask"] or not point["mask"].startswith(("none", "causal", "window"))


def choose_serving(random, point):
    """Prefixes, pages, cascades and equal shares, where the point may have them."""
    if point["loop"] == "kv-outer" or point["prefetch"] or random.random() < 0.35:
        return
    tile, rows = point["tile_kv"], row_bytes(point)
    keys = lengths_of(point.get("lengths", f"{point['batch']}x{point['seq_kv']}"), point["batch"])
    pages = random.choice((0, 0, 16, 32, 64, 128))
    if (pages % tile and tile % pages if pages else True) or any(
        pages * rows[tensor] % 128 for tensor in "kv"
    ):
        pages = 0
    unit = max(tile, pages)
    most = min(keys) // unit
    if most > 0 and random.random() < 0.6 and not is_listed(point):
        point["prefix"] = unit * random.randint(1, most)
        point["prefix_group"] = random.randint(1, point["batch"])
        if "cascade" in point:
            may_cascade(random, point, keys)
    if pages:
        point["page_rows"] = pages
        point["page_table"] = random.choice(("identity", f"shuffle:{random.randint(0, 99)}"))
    if random.random() < 0.5:
        point["kv_split"], point["launch"] = "auto", "static"


def may_cascade(random, point, keys):
    group = point["heads"] // point["kv_heads"] if point["pack_gqa"] == "on" else 1
    positions = random.randint(1, 3)
    if random.random() < 0.2 or point["mask"].startswith("window") or "q_lengths" in point:
        return
    if group * positions > point["tile_q"] or point["scan"] == "attach":
        return
    if point["launch"] == "balanced":
        return
    causal = point["mask"] == "causal"
    if causal and min(keys) - positions + 1 < point["prefix"]:
        return
    point.update(cascade="on", seq_q=positions, kv_split=1)
    if "lengths" in point:
        point["q_lengths"] = f"{point['batch']}x{positions}"


def choose_lengths(random, point):
    """Lengths of keys, or of queries, or of both; seq_q and seq_kv become the longest."""
    batch = random.randint(1, 4)
    point.update(batch=batch, loop="kv-inner", prefetch=0)
    point["launch"] = random.choice(("static", "dynamic", "grid"))
    point["sequence_order"] = random.choice(VALUES["sequence_order"])

    def lengths():
        if random.random() < 0.3:
            low = random.randint(1, 100)
            return f"uniform:{low}..{low + random.randint(0, 200)}:{random.randint(0, 99)}"
        runs = [f"{random.choice((0, 1, 7, 64, random.randint(1, 300)))}" for _ in range(batch)]
        return "+".join(runs[:-1] + [str(random.randint(1, 300))])

    kind = random.choice(("lengths", "q_lengths", "both", "keys as queries"))
    if kind != "q_lengths":
        point["lengths"] = lengths()
        point["seq_kv"] = max(lengths_of(point["lengths"], batch))
    if kind != "lengths":
        point["q_lengths"] = point["lengths"] if kind == "keys as queries" else lengths()
        point["seq_q"] = max(lengths_of(point["q_lengths"], batch))


def any_order(random, point):
    heads, rows = point["heads"], point["seq_q"]
    if point["pack_gqa"] == "on":
        heads, rows = point["kv_heads"], rows * (heads // point["kv_heads"])
    q_tiles = 1 if point["loop"] == "kv-outer" else -(-rows // point["tile_q"])
    items = [
        (batch, head, q_tile, part)
        for batch in range(point["batch"])
        for head in range(heads)
        for q_tile in range(q_tiles)
        for part in range(1 if point["kv_split"] == "auto" else point["kv_split"])
    ]
    random.shuffle(items)
    return items


def choose_l2(random, point):
    """From a line or two to all that there is; the sets a power of two where the hash wants it."""
    row = row_bytes(point)["k"]
    kv_bytes = 2 * point["seq_kv"] * row * point["batch"] * point["kv_heads"]
    lines = max(1, int(kv_bytes * random.uniform(0.01, 1.5)) // 128)
    if point["l2"] != "sets":
        point["l2_bytes"] = lines * 128
        return
    point["l2_policy"] = random.choice(("lru", *VALUES["l2_policy"]))
    point["l2_hash"] = random.choice(VALUES["l2_hash"])
    point["l2_ways"] = random.choice(
        (1, 2, 4, 16) if point["l2_policy"] == "plru" else (1, 3, 8, 16)
    )
    point["l2_line_bytes"] = random.choice((128, 128, 64, 32))
    if point["l2_policy"] in ("lru", "fifo"):
        hints = random.choice((None, "q-first", "k-last-v-last", "k-first-v-first"))
        if hints is not None:
            point["hints"] = hints
    sets = max(1, lines * 128 // (point["l2_ways"] * point["l2_line_bytes"]))
    if point["l2_hash"] == "xor":
        sets = 1 << (sets.bit_length() - 1)
    point["l2_bytes"] = sets * point["l2_ways"] * point["l2_line_bytes"]
