"""Predicted against published: every claim of claims.csv that has both numbers as sector counts."""

import lib_path  # noqa: F401  (makes plots/lib importable)
import figure
import table

BAND = 0.10
LOOKS = {"paper": ("#0072B2", "o"), "independent profile": ("#009E73", "s")}
CROWDED = 1.5  # neighbours nearer than this factor write to different sides


def annotate(axes, rows, middle):
    """Names every point: to the right in the lower half, to the left in the upper one."""
    rows = sorted(rows, key=lambda row: table.number(row, "published"))
    places = [table.number(row, "published") for row in rows]
    for row, place, after in zip(rows, places, [*places[1:], float("inf")]):
        right = place < middle or after < CROWDED * place
        axes.annotate(row["claim"], (place, table.number(row, "predicted")),
                      xytext=(6, -6) if right else (-6, 3), textcoords="offset points",
                      ha="left" if right else "right", fontsize=5.5).set_in_layout(False)


def draw(path):
    rows = table.read(path, ("claim", "source", "unit", "published", "predicted"))
    rows = [row for row in table.where(rows, unit="sectors") if row["published"] and row["predicted"]]
    if not rows:
        raise table.TableError(f"{path}: no claim in sectors with both numbers")
    fig, axes = figure.new_figure(height=figure.COLUMN_INCHES * 0.8)
    for source in table.values(rows, "source"):
        points = table.where(rows, source=source)
        colour, marker = LOOKS.get(source, ("#D55E00", "^"))
        axes.scatter([table.number(row, "published") for row in points],
                     [table.number(row, "predicted") for row in points],
                     s=16, color=colour, marker=marker, label=source, zorder=3)
    numbers = [table.number(row, name) for row in rows for name in ("published", "predicted")]
    ends = [min(numbers) / 2, max(numbers) * 3]
    axes.plot(ends, ends, color="black", linewidth=0.8)
    axes.fill_between(ends, [(1 - BAND) * end for end in ends], [(1 + BAND) * end for end in ends],
                      color="#DDDDDD", label="\N{PLUS-MINUS SIGN}10 %", zorder=0)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(ends)
    axes.set_ylim(ends)
    annotate(axes, rows, middle=(ends[0] * ends[1]) ** 0.5)
    axes.set_xlabel("published (sectors)")
    axes.set_ylabel("predicted (sectors)")
    axes.legend(loc="upper left")
    return fig


if __name__ == "__main__":
    figure.run(__doc__, draw, [("claims", "claims.csv")])
