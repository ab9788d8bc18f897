"""L2 and DRAM counters of one launch by Nsight Compute, from outside the process."""

import csv
import os
import subprocess
import sys

# The columns of results.csv and their metrics on chips with a two-half L2 (cupti/metric_table.cpp
# has those of other chips).
METRICS = {
    "sm_read_sectors": "l1tex__m_xbar2l1tex_read_sectors.sum",
    "l2_read_sectors": "lts__t_sectors_srcunit_tex_op_read.sum",
    "l2_read_miss_sectors": "lts__t_sectors_srcunit_tex_op_read_lookup_miss.sum",
    "l2_write_sectors": "lts__t_sectors_srcunit_tex_op_write.sum",
    "fabric_read_sectors": "lts__t_sectors_srcunit_ltcfabric_op_read.sum",
    "fabric_read_miss_sectors": "lts__t_sectors_srcunit_ltcfabric_op_read_lookup_miss.sum",
    "dram_read_sectors": "dram__sectors_read.sum",
    "dram_write_sectors": "dram__sectors_write.sum",
}


def command(ncu, peer, shape):
    """Runs this folder's peers.py for one launch under ncu. The application is run again for every
    pass, so that the program itself puts L2 into its state; caches and clocks are left alone."""
    return [ncu, "--replay-mode", "application", "--cache-control", "none", "--clock-control",
            "none", "--profile-from-start", "off", "--csv", "--page", "raw", "--metrics",
            ",".join(METRICS.values()), sys.executable,
            os.path.join(os.path.dirname(os.path.abspath(__file__)), "peers.py"), "--launch-once",
            peer, "--batch", str(shape.batch), "--heads", str(shape.heads), "--seq",
            str(shape.seq), "--head-dim", str(shape.head_dim), "--mask", shape.mask, "--dtype",
            shape.dtype]


def totals(text):
    """Counters of ncu's raw CSV, summed over the kernels of the launch. A metric that ncu did not give
    is left out. Raises ValueError when there is no table."""
    lines = [line for line in text.splitlines() if line.startswith('"')]
    if len(lines) < 3:
        raise ValueError("ncu printed no table")
    kernels = list(csv.DictReader(lines))[1:]  # the first row has the units
    found = {}
    for column, metric in METRICS.items():
        values = [row[metric].replace(",", "") for row in kernels if row.get(metric)]
        if values:
            found[column] = sum(int(float(value)) for value in values)
    return found


def count(ncu, peer, shape, limit_s):
    """(counters, status); the status says why there are none."""
    try:
        done = subprocess.run(command(ncu, peer, shape), capture_output=True, text=True,
                              check=False, timeout=limit_s)
    except (OSError, subprocess.TimeoutExpired) as error:
        return {}, f"ncu: {type(error).__name__}"
    try:
        return totals(done.stdout), "ok"
    except ValueError as error:
        return {}, f"{error} (exit {done.returncode})"


def launch_once(torch, launch):
    """One launch in the profiler's range, after a warm one, with an L2 that holds none of it: 4 times
    its size is written, then read."""
    launch()
    l2_bytes = torch.cuda.get_device_properties(0).L2_cache_size
    other = torch.empty(l2_bytes, device="cuda", dtype=torch.int32)  # 4 bytes each
    other.fill_(1)
    other.sum()
    torch.cuda.synchronize()
    torch.cuda.profiler.start()
    launch()
    torch.cuda.synchronize()
    torch.cuda.profiler.stop()
