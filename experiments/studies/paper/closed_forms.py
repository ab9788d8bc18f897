"""Sectors that reach L2 against their closed forms: the paper's, and the exact one.

The paper (arXiv 2601.16032): without a mask and with reads and writes, 2SDE/32 (1 + S/T) sectors,
E bytes an element. It lets S/T be a fraction; exact are ceil(S/T) passes over K and V, and in
causal mode each Q tile reads the keys up to its own last row.
Exit 1 when a predicted count is not the exact one, to the last digit.
"""

import csv
import os
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[3] / "plots" / "lib"))
import table  # noqa: E402  (the path above leads to it)

SECTOR_BYTES = 32
ELEMENT_BYTES = {"bf16": 2, "fp16": 2, "fp32": 4}
COLUMNS = ("mask", "tile", "seq", "predicted_read_sectors", "predicted_write_sectors",
           "exact_read_sectors", "exact_write_sectors", "paper_sectors", "paper_relative_error")


def row_sectors(row):
    return table.integer(row, "head_dim") * ELEMENT_BYTES[row["dtype"]] // SECTOR_BYTES


def exact(length, tile, mask, sectors):
    """(reads, writes) of one head: Q once, K and V for every Q tile, O once."""
    ends = [min(length, begin + tile) for begin in range(0, length, tile)]
    keys = sum(ends) if mask == "causal" else length * len(ends)
    return sectors * length + 2 * sectors * keys, sectors * length


def paper(length, tile, mask, sectors):
    """The paper's sum of reads and writes; causal with Q and O added (its own is K and V alone)."""
    passes = length / tile
    return 2 * sectors * length * (passes / 2 + 1.5 if mask == "causal" else passes + 1)


def rows_of(path):
    columns = ("mask", "tile_q", "seq_kv", "head_dim", "dtype", "l2_read_sectors",
               "l2_write_sectors")
    for row in table.read(path, columns):
        length, tile = table.integer(row, "seq_kv"), table.integer(row, "tile_q")
        reads, writes = exact(length, tile, row["mask"], row_sectors(row))
        formula = paper(length, tile, row["mask"], row_sectors(row))
        yield (row["mask"], tile, length, table.integer(row, "l2_read_sectors"),
               table.integer(row, "l2_write_sectors"), reads, writes, f"{formula:.0f}",
               f"{formula / (reads + writes) - 1:.6f}")


def main(output, *paths):
    rows = sorted(row for path in paths for row in rows_of(path))
    with open(output + ".tmp", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(rows)
    os.replace(output + ".tmp", output)
    wrong = [row for row in rows if row[3:5] != row[5:7]]
    for row in wrong:
        print(f"closed forms: mask {row[0]}, T {row[1]}, S {row[2]}: predicted {row[3:5]}, "
              f"exact {row[5:7]}", file=sys.stderr)
    print(f"{len(rows) - len(wrong)} of {len(rows)} sector counts equal the closed forms")
    return 1 if wrong else 0


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except table.TableError as error:
        print(f"closed_forms.py: {error}", file=sys.stderr)
        sys.exit(2)
