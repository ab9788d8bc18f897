"""DRAM reads against the sequence length, predicted (lines) beside measured (marks), with the
compulsory line: one colour a schedule."""

import statistics

import lib_path  # noqa: F401  (makes plots/lib importable)
import figure
import table

MEGA = 1e6
# What tells one series from another; those that differ in the table make its name.
SERIES = ("batch", "heads", "head_dim", "mask", "tile_q", "tile_kv", "section", "q_order", "launch",
          "ctas_per_sm", "scan", "prefetch", "kv_split")
COLOURS = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", figure.GREY)
STYLES = ("-", "--", ":", "-.")


def read(path):
    rows = table.read(path, ("source", "seq_kv", "timing", "l2", "l2_bytes", "cold_read_sectors",
                             "dram_read_sectors", *SERIES))
    rows = [row for row in rows if row["dram_read_sectors"]]
    if not rows:
        raise table.TableError(f"{path}: no DRAM reads")
    return rows


def has_lengths(rows):
    """Whether some schedule has two lengths or more: else there is no curve to draw."""
    lengths = {}
    for row in rows:
        lengths.setdefault(tuple(row[name] for name in SERIES), set()).add(row["seq_kv"])
    return any(len(found) > 1 for found in lengths.values())


def medians(rows):
    """(lengths, million sectors), sorted by length."""
    by_length = {}
    for row in rows:
        by_length.setdefault(table.integer(row, "seq_kv"), []).append(
            table.number(row, "dram_read_sectors") / MEGA)
    return zip(*((length, statistics.median(by_length[length])) for length in sorted(by_length)))


def draw(path):
    rows = read(path)
    varying = [name for name in SERIES if len(table.values(rows, name)) > 1]
    names = list(dict.fromkeys(tuple(row[name] for name in varying) for row in rows))
    models = table.values(table.where(rows, source="predicted"), "timing")
    fig, axes = figure.new_figure(figure.PAGE_INCHES, 3.0)
    for place, name in enumerate(names):
        colour = COLOURS[place % len(COLOURS)]
        series = table.where(rows, **dict(zip(varying, name)))
        for model, style in zip(models, STYLES):
            line = table.where(series, source="predicted", timing=model)
            if line:
                axes.plot(*medians(line), color=colour, linestyle=style)
        measured = table.where(series, source="measured")
        if measured:
            axes.plot(*medians(measured), color=colour, marker="o", linestyle="none")
        axes.plot([], [], color=colour, label=" ".join(name) or "all")
    least = {}
    for row in rows:
        if row["cold_read_sectors"] and row["head_dim"] == rows[0]["head_dim"]:
            least[table.integer(row, "seq_kv")] = table.number(row, "cold_read_sectors") / MEGA
    axes.plot(sorted(least), [least[length] for length in sorted(least)], color="black",
              linewidth=0.7, label="compulsory")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    figure.plain_log(axes.yaxis)
    lengths = sorted({table.integer(row, "seq_kv") for row in rows})
    axes.set_xticks(lengths, [f"{length / 1024:g}K" for length in lengths])
    axes.minorticks_off()
    axes.set_xlabel("sequence length (keys); lines predicted "
                    f"({', '.join(models)}), marks measured")
    axes.set_ylabel("DRAM reads (million sectors)")
    axes.legend(loc="upper left", title=" ".join(varying), title_fontsize=6.5)
    return fig


if __name__ == "__main__":
    figure.run(__doc__, draw, [("results", "results CSV of a sweep over seq")])
