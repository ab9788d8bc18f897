"""L2 misses against the sequence length, linear and sawtooth, with the compulsory line."""

import lib_path  # noqa: F401  (makes plots/lib importable)
import figure
import table

MEGA = 1e6
PAPER_DEPARTURE = 80 * 1024  # tokens; arXiv 2601.16032: misses leave the cold line near 80K


def cold(row):
    """Compulsory sectors: every byte that is read or written, once."""
    return table.integer(row, "cold_read_sectors") + table.integer(row, "l2_write_sectors")


def kv_bytes_per_token(row):
    element = 4 if row["dtype"] == "fp32" else 2
    return 2 * table.integer(row, "head_dim") * element


def draw(path):
    rows = table.read(path, ("seq_kv", "scan", "l2_bytes", "head_dim", "dtype", "cold_read_sectors",
                             "l2_write_sectors", *table.MISSES))
    fig, axes = figure.new_figure(height=2.5)
    for scan in table.values(rows, "scan"):
        line = sorted(table.where(rows, scan=scan), key=lambda row: table.integer(row, "seq_kv"))
        axes.plot([table.integer(row, "seq_kv") for row in line],
                  [table.misses(row) / MEGA for row in line], label=scan, **figure.look(scan))
    line = sorted(table.where(rows, scan=rows[0]["scan"]),
                  key=lambda row: table.integer(row, "seq_kv"))
    lengths = [table.integer(row, "seq_kv") for row in line]
    axes.plot(lengths, [cold(row) / MEGA for row in line], color="black", linewidth=0.8,
              label="compulsory")

    capacity = table.integer(rows[0], "l2_bytes") / kv_bytes_per_token(rows[0])
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    lowest, highest = axes.get_ylim()
    axes.set_ylim(lowest, highest * 2)
    figure.plain_log(axes.yaxis)
    axes.axvline(capacity, color=figure.GREY, linewidth=0.8, linestyle=":")
    axes.text(capacity * 1.03, lowest * 1.15, "K/V = L2", color=figure.GREY, fontsize=6.5)
    axes.axvline(PAPER_DEPARTURE, color="#009E73", linewidth=0.8, linestyle="-.")
    axes.text(PAPER_DEPARTURE / 1.04, lowest * 1.15, "paper's first\ndeparture", color="#007A5A",
              fontsize=6.5, ha="right")
    ticks = [length for length in lengths if length & (length - 1) == 0]
    axes.set_xticks(ticks, [f"{tick // 1024}K" for tick in ticks])
    axes.minorticks_off()
    axes.set_xlabel("sequence length (tokens)")
    axes.set_ylabel("L2 misses (million sectors)")
    axes.legend(loc="upper left")
    return fig


if __name__ == "__main__":
    figure.run(__doc__, draw, [("results", "results CSV of a sweep over seq and scan")])
