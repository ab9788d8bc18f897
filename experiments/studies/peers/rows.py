"""Rows of results.csv (docs/results-csv.md) for kernels that are not this project's."""

import csv
import os
import tempfile

COLUMNS = (
    "experiment source gpu system kernel pass "
    "batch heads kv_heads seq_q seq_kv head_dim dtype mask "
    "tile_q tile_kv section q_order head_order launch workers ctas_per_sm scan prefetch kv_split "
    "loop lse hints state timing l2 l2_bytes model seed "
    "repetition sm_read_sectors l2_read_sectors l2_read_miss_sectors l2_write_sectors "
    "l2_write_miss_sectors fabric_read_sectors fabric_read_miss_sectors dram_read_sectors "
    "dram_write_sectors cold_read_sectors time_us profiled_time_us tflops replay_passes status "
    "run_id").split()


def flop(shape):
    """4 B H S^2 D, half of it when causal."""
    full = 4 * shape.batch * shape.heads * shape.seq ** 2 * shape.head_dim
    return full / 2 if shape.mask == "causal" else full


def row(shape, kernel, system, gpu, repetition="", time_us=None, counters=None, status="ok",
        state=""):
    """One row; cells that are not known stay empty, those of the schedule always."""
    cells = dict.fromkeys(COLUMNS, "")
    cells.update({"experiment": "peers", "source": "measured", "gpu": gpu, "system": system,
                  "kernel": kernel, "pass": "forward", "batch": shape.batch,
                  "heads": shape.heads, "kv_heads": shape.heads, "seq_q": shape.seq,
                  "seq_kv": shape.seq, "head_dim": shape.head_dim, "dtype": shape.dtype,
                  "mask": shape.mask, "repetition": repetition, "status": status, "state": state})
    cells.update(counters or {})
    if time_us is not None:
        cells["time_us"] = f"{time_us:.2f}"
        cells["tflops"] = f"{flop(shape) / time_us / 1e6:.2f}"
    return cells


def write(path, rows, columns=COLUMNS):
    """Writes the rows under a temporary name and renames it."""
    folder = os.path.dirname(os.path.abspath(path))
    with tempfile.NamedTemporaryFile("w", dir=folder, suffix=".tmp", delete=False, newline="",
                                     encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    os.replace(file.name, path)
