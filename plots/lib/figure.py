"""The look of every figure, and how one is written.

Sizes are those of a two-column paper. Colours are the set of Okabe and Ito ("Color Universal
Design", 2008), which stays apart under the common kinds of colour blindness; every series also has
its own marker or line style, so that a grey print can be read. Fonts are embedded as TrueType
(pdf.fonttype 42), as publishers ask for.
"""

import math
import os
import textwrap

here = os.getcwd()  # where a matplotlibrc would count
os.chdir(os.path.dirname(os.path.abspath(__file__)))
import matplotlib  # noqa: E402

os.chdir(here)
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  (the backend must be chosen first)
from matplotlib import ticker  # noqa: E402
from measures import scaled, short  # noqa: E402
from output import opened  # noqa: E402

COLUMN_INCHES = 3.35  # one column of an ACM or IEEE page
PAGE_INCHES = 7.0  # both columns
CHARACTERS_AN_INCH = 21  # of a caption
RED, BLUE, GREEN, PINK = "#D55E00", "#0072B2", "#009E73", "#CC79A7"
ORANGE, SKY, BLACK, GREY, PALE = "#E69F00", "#56B4E9", "#000000", "#666666", "#DDDDDD"
SERIES = (RED, BLUE, PINK, GREEN, ORANGE, SKY, BLACK, GREY)

# scan -> (colour, line style, marker)
SCAN_LOOK = {
    "linear": (RED, "-", "o"),
    "sawtooth": (BLUE, "--", "s"),
    "reverse": (ORANGE, "-", "v"),
    "sawtooth-item": (SKY, "-.", "D"),
    "sawtooth-wave": (GREEN, ":", "^"),
    "attach": (PINK, "-", "P"),
    "shift": (BLACK, "--", "X"),
    "random": (GREY, ":", "x"),
}
REFERENCE = dict(color="black", linewidth=0.8, linestyle=":")  # a formula beside the data


def use_style():
    plt.rc("pdf", fonttype=42)
    plt.rc("ps", fonttype=42)
    plt.rc("font", family="DejaVu Sans", size=7.5)
    plt.rc("axes", labelsize=7.5, titlesize=8, linewidth=0.6, grid=True, axisbelow=True)
    plt.rc("axes.spines", top=False, right=False)
    plt.rc("grid", color=PALE, linewidth=0.5)
    plt.rc(("xtick", "ytick"), labelsize=7)
    plt.rc(("xtick.major", "ytick.major"), width=0.6)
    plt.rc("legend", fontsize=7, frameon=False)
    plt.rc("lines", linewidth=1.2, markersize=3.2)
    plt.rc("figure.constrained_layout", use=True)
    plt.rc("savefig", dpi=300)


def new_figure(width=COLUMN_INCHES, height=2.3, **subplots):
    use_style()
    return plt.subplots(figsize=(width, height), **subplots)


def plain_log(axis):
    """Makes the ticks of a logarithmic axis read 0.1, 1, 10; with 2 and 5 too over a short range.
    Call it when the range is final."""
    low, high = axis.get_view_interval()
    axis.set_major_locator(ticker.LogLocator(subs=(1,) if high > 50 * low else (1, 2, 5)))
    axis.set_major_formatter(lambda value, _: scaled(value))
    axis.set_minor_locator(ticker.NullLocator())


def doubling(axes, ticks, texts=None, **how):
    """A logarithmic x axis with these ticks alone, as token counts unless `texts` are given."""
    axes.set_xscale("log", base=2)
    axes.set_xticks(ticks, texts or [short(tick) for tick in ticks], **how)
    axes.minorticks_off()


def are_doublings(values):
    """Whether there are at least two powers of two among them, all within their range."""
    return len(powers_within(values)) > 1


def powers_within(values):
    return [value for value in set(values) if value >= 1 and math.log2(value).is_integer()]


def axis(of_axes, logarithmic):
    """A logarithmic axis with plain ticks, or a linear one from 0 where nothing is negative."""
    axes = of_axes.axes
    if logarithmic:
        (axes.set_xscale if of_axes is axes.xaxis else axes.set_yscale)("log")
        plain_log(of_axes)
        return
    of_axes.set_major_formatter(lambda value, _: scaled(value))
    together = axes.get_shared_y_axes().get_siblings(axes)  # each panel has data of its own
    if of_axes is axes.yaxis and min(one.dataLim.y0 for one in together) >= 0:
        # The margin is a part of the range, which grows: a mark at the top stays whole.
        axes.set_ylim(0, max(one.dataLim.y1 for one in together) * (1 + axes.margins()[1]) or None)


def on_top(axes, x, text):
    """Words above the panel at x."""
    place = dict(transform=axes.get_xaxis_transform(), ha="center", va="bottom", fontsize=6)
    axes.text(x, 1.01, text, color=GREY, **place)


def legend(axes, handles=None):
    """Right of the panel, where no data are."""
    axes.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.01, 1.02))


def caption(fig, *lines):
    """What holds for all of a figure, above it."""
    width = int(CHARACTERS_AN_INCH * fig.get_size_inches()[0])
    fig.said = [*lines, *getattr(fig, "said", ())]
    text = "\n".join(textwrap.fill(line, width) for line in fig.said if line)
    fig.suptitle(text, x=0.01, ha="left", fontsize=6, color=GREY)


def stacked(place, count):
    """Line width and marker size of one of several series: those below stick out."""
    below = (count - 1 - place) / max(count - 1, 1)
    return dict(linewidth=1 + 1.2 * below, markersize=2.6 + 2.4 * below)


def equality(axes, low, high, label=None):
    """Logarithmic axes from `low` to `high`, the line y = x and the band of +-10 %."""
    ends, band = [low, high], [0.9, 1.1]
    axes.plot(ends, ends, color="black", linewidth=0.8)
    sides = [[factor * end for end in ends] for factor in band]
    axes.fill_between(ends, *sides, color=PALE, zorder=0, label=label)
    axes.set(xscale="log", yscale="log", xlim=ends, ylim=ends)
    plain_log(axes.xaxis)
    plain_log(axes.yaxis)


ENDINGS = ("pdf", "png", "svg")
# Dates and programs left out: equal data gives equal bytes.
METADATA = {"pdf": {"CreationDate": None}, "png": {"Software": None}, "svg": {"Date": None}}


def save(figure, output, formats=()):
    """Writes OUTPUT in each of `formats`, or in that of its own ending, else as .pdf and .png; each
    whole or not at all. Returns the names of the files."""
    stem, ending = os.path.splitext(output)
    if not formats and ending[1:] in ENDINGS:
        formats = (ending[1:],)
    elif ending[1:] not in ENDINGS:
        stem = output
    os.makedirs(os.path.dirname(stem) or ".", exist_ok=True)
    written = []
    for ending in formats or ("pdf", "png"):
        with opened(f"{stem}.{ending}") as file:
            figure.savefig(file, format=ending, metadata=METADATA[ending])
        written.append(f"{stem}.{ending}")
    plt.close(figure)
    return written


def save_all(figures, folder):
    """Draws and writes {name: function} into a folder."""
    for name, draw in figures.items():
        save(draw(), os.path.join(folder, name))
        print(f"  {os.path.join(folder, name)}.pdf, .png")
