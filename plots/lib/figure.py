"""The look of every figure, and how one is written.

Sizes are those of a two-column paper. Colours are the set of Okabe and Ito ("Color Universal
Design", 2008), which stays apart under the common kinds of colour blindness; every series also has
its own marker or line style, so that a grey print can be read. Fonts are embedded as TrueType
(pdf.fonttype 42), as publishers ask for.
"""

import argparse
import os
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  (the backend must be chosen first)
from matplotlib import ticker  # noqa: E402

from table import TableError

COLUMN_INCHES = 3.35  # one column of an ACM or IEEE page
PAGE_INCHES = 7.0  # both columns
GREY = "#666666"

# scan -> (colour, line style, marker)
SCAN_LOOK = {
    "linear": ("#D55E00", "-", "o"),
    "sawtooth": ("#0072B2", "--", "s"),
    "reverse": ("#E69F00", "-", "v"),
    "sawtooth-item": ("#56B4E9", "-.", "D"),
    "sawtooth-wave": ("#009E73", ":", "^"),
    "attach": ("#CC79A7", "-", "P"),
    "random": (GREY, ":", "x"),
}
OTHER_LOOK = ("#000000", "-", "*")


def look(scan):
    colour, line, marker = SCAN_LOOK.get(scan, OTHER_LOOK)
    return {"color": colour, "linestyle": line, "marker": marker}


def use_style():
    plt.rcParams.update(
        {
            "pdf.fonttype": 42,
            "ps.fonttype": 42,
            "font.family": "DejaVu Sans",
            "font.size": 7.5,
            "axes.labelsize": 7.5,
            "axes.titlesize": 8,
            "axes.linewidth": 0.6,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "axes.axisbelow": True,
            "grid.color": "#DDDDDD",
            "grid.linewidth": 0.5,
            "xtick.labelsize": 7,
            "ytick.labelsize": 7,
            "xtick.major.width": 0.6,
            "ytick.major.width": 0.6,
            "legend.fontsize": 7,
            "legend.frameon": False,
            "lines.linewidth": 1.2,
            "lines.markersize": 3.2,
            "figure.constrained_layout.use": True,
            "savefig.dpi": 300,
        }
    )


def new_figure(width=COLUMN_INCHES, height=2.3, **subplots):
    use_style()
    return plt.subplots(figsize=(width, height), **subplots)


def plain_log(axis):
    """Makes the ticks of a logarithmic axis read 0.1, 1, 10; with 2 and 5 too over a short range.
    Call it when the range is final."""
    low, high = axis.get_view_interval()
    axis.set_major_locator(ticker.LogLocator(subs=(1,) if high > 50 * low else (1, 2, 5)))
    axis.set_major_formatter(lambda value, _: f"{value:,g}")
    axis.set_minor_locator(ticker.NullLocator())


def save(figure, stem):
    """Writes STEM.pdf and STEM.png, each whole or not at all; equal data gives equal bytes."""
    folder = os.path.dirname(stem)
    if folder:
        os.makedirs(folder, exist_ok=True)
    for ending, metadata in (("pdf", {"CreationDate": None}), ("png", {"Software": None})):
        path = f"{stem}.{ending}"
        temporary = f"{stem}.tmp.{ending}"
        figure.savefig(temporary, metadata=metadata)
        os.replace(temporary, path)
    plt.close(figure)


def run(description, draw, inputs):
    """Command line of one figure: `inputs` are (name, help) of CSV files, then -o STEM; a name that
    ends in + takes one or more files.

    `draw(*paths)` returns the figure. Exit 2 with one line for a table that cannot be drawn.
    """
    parser = argparse.ArgumentParser(description=description)
    for name, text in inputs:
        parser.add_argument(name.rstrip("+"), help=text, nargs="+" if name.endswith("+") else None)
    parser.add_argument("-o", "--output", required=True, metavar="STEM",
                        help="writes STEM.pdf and STEM.png")
    options = vars(parser.parse_args())
    stem = options.pop("output")
    try:
        save(draw(*options.values()), stem)
    except TableError as error:
        print(f"{os.path.basename(sys.argv[0])}: {error}", file=sys.stderr)
        raise SystemExit(2) from None
