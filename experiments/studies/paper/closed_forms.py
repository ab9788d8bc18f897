"""Sectors that reach L2 against their closed forms: the paper's, and the exact one.

The paper (arXiv 2601.16032): without a mask and with reads and writes, 2SDE/32 (1 + S/T) sectors,
E bytes an element. It lets S/T be a fraction; exact are ceil(S/T) passes over K and V, and in
causal mode each Q tile reads the keys up to its own last row.
Exit 1 when a predicted count is not the exact one, to the last digit.
"""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[3] / "plots" / "lib"))
import table  # noqa: E402  (the path above leads to it)

SECTOR_BYTES = 32
ELEMENT_BYTES = {"bf16": 2, "fp16": 2, "fp32": 4}


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


def checked(row):
    """A row of closed_forms.csv for one of results.csv."""
    point = dict(mask=row["mask"], tile=table.integer(row, "tile_q"))
    point["seq"] = table.integer(row, "seq_kv")
    problem = (point["seq"], point["tile"], row["mask"], row_sectors(row))
    reads, writes = exact(*problem)
    formula = paper(*problem)
    return dict(
        point,
        predicted_read_sectors=table.integer(row, "l2_read_sectors"),
        predicted_write_sectors=table.integer(row, "l2_write_sectors"),
        exact_read_sectors=reads,
        exact_write_sectors=writes,
        paper_sectors=f"{formula:.0f}",
        paper_relative_error=f"{formula / (reads + writes) - 1:.6f}",
    )


def counts(row, kind):
    return row[f"{kind}_read_sectors"], row[f"{kind}_write_sectors"]


def main(words):
    output, *paths = words
    rows = [checked(row) for path in paths for row in table.read(path)]
    rows.sort(key=lambda row: (row["mask"], row["tile"], row["seq"]))
    table.write(output, rows)
    wrong = [row for row in rows if counts(row, "predicted") != counts(row, "exact")]
    for row in wrong:
        point = f"mask {row['mask']}, T {row['tile']}, S {row['seq']}"
        both = f"predicted {counts(row, 'predicted')}, exact {counts(row, 'exact')}"
        print(f"closed forms: {point}: {both}", file=sys.stderr)
    print(f"{len(rows) - len(wrong)} of {len(rows)} sector counts equal the closed forms")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(table.exit_code(main, sys.argv[1:], "closed_forms.py"))
