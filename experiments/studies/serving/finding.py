#!/usr/bin/env python3
"""The figures of README.md, from the rows of this study; each part of the page has a file in figures/.

    finding.py [--check]     fills README.md, or says whether it is current
"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[2] / "plots" / "lib"))
sys.path.append(str(HERE))
import fill  # noqa: E402  (the paths above lead to them)
from figures.decode_speed import DecodeSpeed  # noqa: E402
from figures.drawn_points import DrawnPoints  # noqa: E402
from figures.packed import Packed  # noqa: E402
from figures.predicted import Predicted  # noqa: E402
from figures.ways import Ways  # noqa: E402

MEASURED = HERE.parents[1] / "data" / "h200" / "serving"
WAYS = HERE.parents[1] / "data" / "h100" / "serving"  # of the problems in two ways


class Page(Predicted, DrawnPoints, Ways, Packed, DecodeSpeed):
    """All that README.md names."""

    def __init__(self, folder, measured=MEASURED, ways=WAYS):
        super().__init__(folder, measured, ways)


if __name__ == "__main__":
    sys.exit(fill.study(HERE, Page(HERE / "results")))
