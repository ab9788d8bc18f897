"""claims.csv: what the paper prints, what the simulator predicts, and the difference.

Reads the CSVs of experiments/studies/paper/run.sh from the folder given, writes claims.csv there and
prints it. The three linear throughputs are inputs: each sets the one free cost of a kernel. The three
of sawtooth are predicted with them, as an interval over what is not known of kernel and GPU, from
throughput.csv, which throughput.py writes.
"""

import os
import statistics
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[2] / "plots" / "lib"))
import table  # noqa: E402  (the path above leads to it)

PAPER = "paper"
PROFILE = "independent profile"
ORDERS = ("linear", "sawtooth")


def claim(name, unit, published, predicted, note="", source=PAPER):
    row = dict(claim=name, source=source, unit=unit, published=published)
    row.update(predicted="", low="", high="", difference="", relative_difference="", note=note)
    if predicted is not None:
        difference = predicted - published
        show = str if isinstance(difference, int) else "{:.4f}".format
        row.update(predicted=show(predicted), difference=show(difference))
        row["relative_difference"] = f"{difference / published:.6f}"
    return row


def saving(linear, sawtooth, compulsory=0):
    return 1 - (sawtooth - compulsory) / (linear - compulsory)


def by_scan(rows, **point):
    return [table.misses(table.only(rows, scan=scan, **point)) for scan in ORDERS]


def accesses(row):
    return table.integer(row, "l2_read_sectors") + table.integer(row, "l2_write_sectors")


def main_point(rows):
    linear, sawtooth = by_scan(rows)
    note = "reads and writes of O; printed with two digits"
    yield claim("misses, linear, no mask", "sectors", 370_000_000, linear, note)
    yield claim("misses, sawtooth, no mask", "sectors", 120_000_000, sawtooth, note)
    yield claim("misses removed, no mask", "share", 1 - 120 / 370, saving(linear, sawtooth))


def causal(rows):
    for timing in table.values(rows, "timing"):
        for launch in table.values(rows, "launch"):
            for order in table.values(rows, "q_order"):
                point = dict(timing=timing, launch=launch, q_order=order)
                linear, sawtooth = by_scan(rows, **point)
                note = f"printed as about; batch {rows[0]['batch']}, misses "
                note += f"{linear / 1e6:.1f} M to {sawtooth / 1e6:.1f} M"
                name = f"misses removed, causal, {launch}, {timing}, {order}"
                yield claim(name, "share", 0.67, saving(linear, sawtooth), note)


def hit_rate(rows):
    row = table.only(rows, scan="linear", workers=48)
    rate = 1 - table.integer(row, "l2_read_miss_sectors") / table.integer(row, "l2_read_sectors")
    yield claim("hit rate, 48 CTAs", "share", 0.98, rate, "printed as 1 - 1/n, about 98 %")


def raw_cuda(rows):
    requests = accesses(table.only(rows, seq_kv=32768, scan="linear"))
    note = "requests of the SMs; L1 serves next to none of them"
    yield claim("sectors, S = 32K, T = 80", "sectors", 107_729_467, requests, note)
    linear, sawtooth = by_scan(rows, seq_kv=131072)
    least = table.compulsory(table.only(rows, seq_kv=131072, scan="linear"))
    removed = saving(linear, sawtooth, least)
    note = "printed as 50 % or more; here at S = 128K"
    yield claim("non-compulsory misses removed, T = 80", "share", 0.5, removed, note)


def profile(rows):
    for mask, sectors in (("none", 34_078_720), ("causal", 17_563_648)):
        name = f"sectors, 8 heads, S = 4096, D = 128, mask {mask}"
        predicted = accesses(table.only(rows, mask=mask))
        yield claim(name, "sectors", sectors, predicted, source=PROFILE)


def departure(rows):
    linear = table.where(rows, scan="linear")
    cold = [row for row in linear if table.misses(row) == table.compulsory(row)]
    longest = max(table.integers(cold, "seq_kv"))
    note = (
        "the paper's first departure is near 80K; the model has no hash conflicts and a sharp edge"
    )
    name = "longest sequence on the compulsory line"
    yield claim(name, "tokens", 80 * 1024, longest, f"{note} (experiments/studies/paper/README.md)")


def throughput(rows):
    """Medians over the cases of throughput.py that reach the linear throughput, with their range."""
    kernels = {"raw CUDA, no mask": ("raw-cuda-gb10", "none")}
    kernels |= {"CuTile, no mask": ("cutile-gb10", "none")}
    kernels |= {"CuTile, causal": ("cutile-gb10", "causal")}
    for name, (kernel, mask) in kernels.items():
        cases = table.where(rows, kernel=kernel, mask=mask)
        published = {key: table.numbers(cases, f"published_{key}")[0] for key in ORDERS}
        note = "input: sets the step's length"
        yield claim(f"throughput, {name}, linear", "TFLOP/s", published["linear"], None, note)
        reached = [row for row in cases if row["sawtooth"]]
        predicted = sorted(table.numbers(reached, "sawtooth"))
        note = f"{len(reached)} of {len(cases)} leads, waits and latencies reach the linear one"
        middle, name = statistics.median(predicted), f"throughput, {name}, sawtooth"
        row = claim(name, "TFLOP/s", published["sawtooth"], middle, note)
        row.update(low=f"{predicted[0]:.4g}", high=f"{predicted[-1]:.4g}")
        yield row


TABLES = dict(point=main_point, causal=causal, ctas=hit_rate)
TABLES |= dict(raw_cuda=raw_cuda, profile=profile, misses=departure)


def shown(row):
    published, predicted = row["published"], row["predicted"]
    relative = row["relative_difference"]
    sectors = row["unit"] == "sectors"
    printed = f"{published:,}" if sectors else f"{float(published):,.4g}"
    ours = f"{float(predicted):,.6g}" if predicted and not sectors else predicted
    percent = f"{100 * float(relative):+.2f} %" if relative else "an input"
    if row["low"]:
        percent += f" ({row['low']} to {row['high']})"
    return f"{row['claim']:58} {printed:>13} {ours:>13} {row['unit']:8} {percent:>13}"


def main(folder):
    paths = {name: os.path.join(folder, f"{name}.csv") for name in TABLES}
    claims = [row for name, derive in TABLES.items() for row in derive(table.read(paths[name]))]
    claims += throughput(table.read(HERE / "throughput.csv"))
    table.write(os.path.join(folder, "claims.csv"), claims)
    print("\n".join(map(shown, claims)))


if __name__ == "__main__":
    sys.exit(table.exit_code(main, sys.argv[1], "claims.py"))
