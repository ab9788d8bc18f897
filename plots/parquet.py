#!/usr/bin/env python3
"""Writes tables of this program as one Parquet file: `sawtooth parquet TABLE.csv ... -o OUT.parquet`.

Counts are 64-bit integers, times and shares floats, all else text; an empty cell is null. Tables are
read in parts, so that they may be larger than memory.
"""

import argparse
import os
import sys

import pyarrow
import pyarrow.csv
import pyarrow.parquet

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
from output import write_file  # noqa: E402  (the path above leads to it)

COUNTS = """batch heads kv_heads seq_q seq_kv head_dim tile_q tile_kv section workers ctas_per_sm prefetch
    l2_ways launches seed repetition replay_passes sectors""".split()
COUNT_ENDS = ("_sectors", "_bytes", "_lines")
NUMBERS = ["tflops", "measured", "predicted", "error"]
NUMBER_ENDS = ("_us",)


def type_of(column):
    if column in COUNTS or column.endswith(COUNT_ENDS):
        return pyarrow.int64()
    if column in NUMBERS or column.endswith(NUMBER_ENDS):
        return pyarrow.float64()
    return pyarrow.string()


def header_of(path):
    with open(path, encoding="utf-8-sig") as file:
        return file.readline().rstrip("\r\n").split(",")


def batches_of(path):
    options = pyarrow.csv.ConvertOptions(
        column_types={column: type_of(column) for column in header_of(path)},
        null_values=[""],
        strings_can_be_null=True,
    )
    # A message may have line breaks.
    parsed = pyarrow.csv.ParseOptions(newlines_in_values=True)
    return pyarrow.csv.open_csv(path, parse_options=parsed, convert_options=options)


def main():
    parser = argparse.ArgumentParser(prog="sawtooth parquet", description=__doc__)
    parser.add_argument("tables", nargs="+", metavar="TABLE.csv")
    parser.add_argument("-o", required=True, metavar="OUT.parquet", dest="out")
    options = parser.parse_args()
    header = header_of(options.tables[0])
    for path in options.tables[1:]:
        if header_of(path) != header:
            sys.exit(f"{path}: its columns are not those of {options.tables[0]}")
    schema = pyarrow.schema([(column, type_of(column)) for column in header])

    def save(name):
        with pyarrow.parquet.ParquetWriter(name, schema, compression="zstd") as writer:
            for path in options.tables:
                for batch in batches_of(path):
                    writer.write_batch(batch)

    write_file(options.out, save)


if __name__ == "__main__":
    try:
        main()
    except (OSError, pyarrow.ArrowException) as error:
        print(f"sawtooth parquet: {error}", file=sys.stderr)
        sys.exit(2)
