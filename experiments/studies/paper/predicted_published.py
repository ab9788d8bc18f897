"""Predicted against published: every claim of claims.csv that has both numbers as sector counts."""

import figure
import table

LOOKS = {"paper": (figure.BLUE, "o"), "independent profile": (figure.GREEN, "s")}
CROWDED = 1.5  # neighbours nearer than this factor write to different sides


def annotate(axes, rows, middle):
    """Names every point: to the right in the lower half, to the left in the upper one."""
    rows = sorted(rows, key=lambda row: table.number(row, "published"))
    places = table.numbers(rows, "published")
    for row, place, after in zip(rows, places, [*places[1:], float("inf")]):
        right = place < middle or after < CROWDED * place
        side = dict(ha="left", xytext=(6, -6)) if right else dict(ha="right", xytext=(-6, 3))
        at = place, table.number(row, "predicted")
        text = axes.annotate(row["claim"], at, textcoords="offset points", fontsize=5.5, **side)
        text.set_in_layout(False)


def draw(path):
    rows = table.where(table.read(path), unit="sectors")
    rows = [row for row in rows if row["published"] and row["predicted"]]
    if not rows:
        raise table.TableError(f"{path}: no claim in sectors with both numbers")
    fig, axes = figure.new_figure(height=figure.COLUMN_INCHES * 0.8)
    for source, points in table.grouped(rows, "source").items():
        colour, marker = LOOKS.get(source, (figure.RED, "^"))
        both = table.numbers(points, "published"), table.numbers(points, "predicted")
        axes.scatter(*both, s=16, color=colour, marker=marker, label=source, zorder=3)
    numbers = table.numbers(rows, "published") + table.numbers(rows, "predicted")
    low, high = min(numbers) / 2, max(numbers) * 3
    figure.equality(axes, low, high, label="\N{PLUS-MINUS SIGN}10 %")
    annotate(axes, rows, middle=(low * high) ** 0.5)
    axes.set(xlabel="published (sectors)", ylabel="predicted (sectors)")
    axes.legend(loc="upper left")
    return fig
