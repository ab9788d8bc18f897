"""L2 hit rate against the number of CTAs, with 1 - 1/n: one CTA misses, the others hit."""

import lib_path  # noqa: F401  (makes plots/lib importable)
import figure
import table


def hit_percent(row):
    reads = table.integer(row, "l2_read_sectors")
    return 100 * (1 - table.integer(row, "l2_read_miss_sectors") / reads)


def draw(path):
    rows = table.ascending(table.read(path), "workers")
    fig, axes = figure.new_figure(height=2.2)
    for scan, line in table.grouped(rows, "scan").items():
        rates = [hit_percent(row) for row in line]
        axes.plot(table.integers(line, "workers"), rates, label=scan, **figure.look(scan))
    counts = sorted(set(table.integers(rows, "workers")))
    workers = [counts[-1] ** (i / 200) for i in range(201)]
    ideal = [100 * (1 - 1 / n) for n in workers]
    label = "1 \N{MINUS SIGN} 1/n"
    axes.plot(workers, ideal, color="black", linewidth=0.8, label=label, zorder=1)
    figure.doubling(axes, counts, counts)
    axes.set(xlabel="CTAs in step, n", ylabel="L2 hit rate of reads (%)", ylim=(-3, 103))
    axes.legend(loc="lower right")
    return fig


if __name__ == "__main__":
    figure.run(__doc__, draw, [("results", "results CSV of a sweep over workers and scan")])
