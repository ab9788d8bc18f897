"""L2 misses against the sequence length, linear and sawtooth, with the compulsory line."""

import lib_path  # noqa: F401  (makes plots/lib importable)
import figure
import table

MEGA = 1e6
PAPER_DEPARTURE = 80 * 1024  # tokens; arXiv 2601.16032: misses leave the cold line near 80K


def kv_bytes_per_token(row):
    return 2 * table.integer(row, "head_dim") * (4 if row["dtype"] == "fp32" else 2)


def mark(axes, length, text, colour, text_colour, style, **place):
    axes.axvline(length, color=colour, linewidth=0.8, linestyle=style)
    axes.text(s=text, color=text_colour, fontsize=6.5, **place)


def draw(path):
    rows = table.ascending(table.read(path), "seq_kv")
    fig, axes = figure.new_figure(height=2.5)
    for scan, line in table.grouped(rows, "scan").items():
        lengths = table.integers(line, "seq_kv")
        misses = [table.misses(row) / MEGA for row in line]
        axes.plot(lengths, misses, label=scan, **figure.look(scan))
    least = [table.compulsory(row) / MEGA for row in line]
    axes.plot(lengths, least, color="black", linewidth=0.8, label="compulsory")
    figure.doubling(axes, [length for length in lengths if length & (length - 1) == 0])
    axes.set_yscale("log")
    lowest, highest = axes.get_ylim()
    axes.set_ylim(lowest, highest * 2)
    figure.plain_log(axes.yaxis)
    capacity = table.integer(rows[0], "l2_bytes") / kv_bytes_per_token(rows[0])
    y = lowest * 1.15
    mark(axes, capacity, "K/V = L2", figure.GREY, figure.GREY, ":", x=capacity * 1.03, y=y)
    place = dict(x=PAPER_DEPARTURE / 1.04, y=y, ha="right")
    text = "paper's first\ndeparture"
    mark(axes, PAPER_DEPARTURE, text, figure.GREEN, "#007A5A", "-.", **place)
    axes.set_xlabel("sequence length (tokens)")
    axes.set_ylabel("L2 misses (million sectors)")
    axes.legend(loc="upper left")
    return fig


if __name__ == "__main__":
    figure.run(__doc__, draw, [("results", "results CSV of a sweep over seq and scan")])
