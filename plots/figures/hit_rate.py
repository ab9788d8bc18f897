"""L2 hit rate against the number of CTAs, with 1 - 1/n: one CTA misses, the others hit."""

import lib_path  # noqa: F401  (makes plots/lib importable)
import figure
import table


def hit_rate(row):
    reads = table.integer(row, "l2_read_sectors")
    return 1 - table.integer(row, "l2_read_miss_sectors") / reads


def draw(path):
    rows = table.read(path, ("workers", "scan", "l2_read_sectors", "l2_read_miss_sectors"))
    fig, axes = figure.new_figure(height=2.2)
    for scan in table.values(rows, "scan"):
        line = sorted(table.where(rows, scan=scan), key=lambda row: table.integer(row, "workers"))
        axes.plot([table.integer(row, "workers") for row in line],
                  [100 * hit_rate(row) for row in line], label=scan, **figure.look(scan))
    counts = sorted({table.integer(row, "workers") for row in rows})
    workers = [counts[-1] ** (i / 200) for i in range(201)]
    axes.plot(workers, [100 * (1 - 1 / n) for n in workers], color="black", linewidth=0.8,
              label="1 \N{MINUS SIGN} 1/n", zorder=1)
    axes.set_xscale("log", base=2)
    axes.set_xticks(counts, counts)
    axes.minorticks_off()
    axes.set_xlabel("CTAs in step, n")
    axes.set_ylabel("L2 hit rate of reads (%)")
    axes.set_ylim(-3, 103)
    axes.legend(loc="lower right")
    return fig


if __name__ == "__main__":
    figure.run(__doc__, draw, [("results", "results CSV of a sweep over workers and scan")])
