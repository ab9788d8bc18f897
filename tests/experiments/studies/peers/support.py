"""What the tests of experiments/studies/peers share: where it is, shapes, and tables of made-up rows."""

import contextlib
import csv
import io
import os
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "..")
PEERS = os.path.join(ROOT, "experiments", "studies", "peers")
sys.path.insert(0, PEERS)
import shapes as shaping  # noqa: E402  (the path above leads to it)

COLUMNS = (
    "kernel batch heads kv_heads seq_q seq_kv head_dim dtype mask tile_q tile_kv section q_order "
    "launch workers scan prefetch kv_split hints repetition l2_read_sectors dram_read_sectors "
    "time_us tflops status"
).split()


def shape(**changes):
    values = dict(batch=1, heads=2, seq=1024, head_dim=64, mask="none", dtype="bf16")
    return shaping.Shape(**dict(values, **changes))


def row(**cells):
    """A row of a table whose other cells are empty."""
    return {**dict.fromkeys(COLUMNS, ""), **{name: str(value) for name, value in cells.items()}}


def called(main, *arguments):
    """Exit code, standard output and standard error of a script's main()."""
    out, error = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        try:
            code = main(list(arguments))
        except SystemExit as stopped:
            code = stopped.code
    return code, out.getvalue(), error.getvalue()


@contextlib.contextmanager
def table(rows, columns=COLUMNS):
    """The path of a CSV of these rows."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "race.csv")
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, columns)
            writer.writeheader()
            writer.writerows(rows)
        yield path


def called_on(main, rows, *arguments):
    with table(rows) as path:
        return called(main, path, *arguments)


def called_on_something_else(main):
    with table([{"a": 1, "status": "ok"}], ["a", "status"]) as path:
        return called(main, path)
