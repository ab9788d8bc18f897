"""DRAM reads against the sequence length, predicted (lines) beside measured (marks), with the
compulsory line: one colour a schedule."""

import statistics

import lib_path  # noqa: F401  (makes plots/lib importable)
import figure
import table

MEGA = 1e6
# What tells one series from another; those that differ in the table make its name.
SERIES = (
    "batch heads head_dim mask tile_q tile_kv section q_order launch ctas_per_sm scan prefetch "
    "kv_split"
).split()
STYLES = ("-", "--", ":", "-.")


def read(path):
    rows = [row for row in table.read(path) if row["dram_read_sectors"]]
    if not rows:
        raise table.TableError(f"{path}: no DRAM reads")
    return table.ascending(rows, "seq_kv")


def has_lengths(rows):
    """Whether some schedule has two lengths or more: else there is no curve to draw."""
    schedules = table.grouped(rows, *SERIES).values()
    return any(len(table.values(found, "seq_kv")) > 1 for found in schedules)


def plot(axes, rows, **look):
    """Medians of the million sectors of each length."""
    reads = {
        int(length): statistics.median(table.numbers(found, "dram_read_sectors")) / MEGA
        for length, found in table.grouped(rows, "seq_kv").items()
    }
    if reads:
        axes.plot(*zip(*reads.items()), **look)


def draw(path):
    rows = read(path)
    varying = [name for name in SERIES if len(table.values(rows, name)) > 1]
    models = table.values(table.where(rows, source="predicted"), "timing")
    fig, axes = figure.new_figure(figure.PAGE_INCHES, 3.0)
    names = dict.fromkeys(table.cells(row, varying) for row in rows)
    for place, name in enumerate(names):
        colour = figure.SERIES[place % len(figure.SERIES)]
        series = table.where(rows, **dict(zip(varying, name)))
        for model, style in zip(models, STYLES):
            line = table.where(series, source="predicted", timing=model)
            plot(axes, line, color=colour, linestyle=style)
        plot(
            axes, table.where(series, source="measured"), color=colour, marker="o", linestyle="none"
        )
        axes.plot([], [], color=colour, label=" ".join(name) or "all")
    least = {
        int(row["seq_kv"]): table.number(row, "cold_read_sectors") / MEGA
        for row in table.where(rows, head_dim=rows[0]["head_dim"])
        if row["cold_read_sectors"]
    }
    axes.plot(*zip(*least.items()), color="black", linewidth=0.7, label="compulsory")
    figure.doubling(axes, sorted(set(table.integers(rows, "seq_kv"))))
    axes.set_yscale("log")
    figure.plain_log(axes.yaxis)
    axes.set_xlabel(
        f"sequence length (keys); lines predicted ({', '.join(models)}), marks measured"
    )
    axes.set_ylabel("DRAM reads (million sectors)")
    axes.legend(loc="upper left", title=" ".join(varying), title_fontsize=6.5)
    return fig


if __name__ == "__main__":
    figure.run(__doc__, draw, [("results", "results CSV of a sweep over seq")])
