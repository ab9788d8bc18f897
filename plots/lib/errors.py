"""Rows of `sawtooth compare --csv`: a point, a counter and a group (model or baseline) each."""

BASELINE = "baseline: "
OVER = 1.5  # of compare_statistics.hpp: above it the order of work decides
BAND = 0.10


def mask_of(row):
    return row["mask"].split(":")[0]


def is_over(row):
    return row["over_compulsory"] != "" and float(row["over_compulsory"]) > OVER
