"""L2 and DRAM counters of the peers' launches by Nsight Compute, from outside the process.

One process launches every peer on every shape, and Nsight Compute runs it once for each pass of its
counters (application replay), so that the program itself puts L2 into its state before each launch.
A kernel that does nothing, SEPARATOR, runs in front of every launch: what lies between two of them
in Nsight Compute's table is one launch, of however many kernels.
"""

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
# What tells how many CTAs an SM holds; no pass is needed for them.
LAUNCH_METRICS = (
    "launch__registers_per_thread",
    "launch__occupancy_limit_registers",
    "launch__occupancy_limit_shared_mem",
)
SEPARATOR = "spin_kernel"  # of torch.cuda._sleep: it touches no memory
LIMIT_S = 540


def profiler(ncu):
    """The command in front of a program; caches and clocks are left alone."""
    options = "--replay-mode application --cache-control none --clock-control none "
    options += "--profile-from-start off --csv --page raw --metrics"
    return [ncu, *options.split(), ",".join([*METRICS.values(), *LAUNCH_METRICS])]


def command(ncu, shape_arguments, peers, repetitions):
    """Runs this folder's peers.py --profiled under ncu."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peers.py")
    options = ["--profiled", "--peers", ",".join(peers), "--repetitions", str(repetitions)]
    return [*profiler(ncu), sys.executable, script, *options, *shape_arguments]


def table(text):
    """The rows of ncu's raw CSV, a kernel each. Raises ValueError when there is no table."""
    lines = [line for line in text.splitlines() if line.startswith('"')]
    if len(lines) < 3:
        raise ValueError("ncu printed no table")
    return list(csv.DictReader(lines))[1:]  # the first row has the units


def launches(text):
    """The kernels of every launch: lists of table()'s rows. Raises ValueError as table() does."""
    found = []
    for kernel in table(text):
        if SEPARATOR in kernel["Kernel Name"]:
            found.append([])
        elif not found:
            raise ValueError(f"a kernel before the first {SEPARATOR}: {kernel['Kernel Name']}")
        else:
            found[-1].append(kernel)
    return found


def totals(kernels):
    """Counters of one launch, summed over its kernels. A metric that ncu did not give is left out."""
    found = {}
    for column, metric in METRICS.items():
        values = [row[metric].replace(",", "") for row in kernels if row.get(metric)]
        if values:
            found[column] = sum(int(float(value)) for value in values)
    return found


def description(kernels):
    """Names, grids, blocks and limits of a launch's kernels: what tells tiles and persistence."""

    def words(row):
        yield row["Kernel Name"].split("(")[0][-60:]
        yield f"grid {row.get('Grid Size', '?')} block {row.get('Block Size', '?')}"
        for name in LAUNCH_METRICS:
            if row.get(name):
                yield f"{name.removeprefix('launch__')} {row[name]}"

    return "; ".join(" ".join(words(row)) for row in kernels)


def count(ncu, shape_arguments, shapes, peers, repetitions):
    """(launches by (shape, peer), status): for each a list of the kernels of its repetitions; the
    status says why there are none."""
    words = command(ncu, shape_arguments, peers, repetitions)
    how = dict(capture_output=True, text=True, check=False, timeout=LIMIT_S)
    try:
        done = subprocess.run(words, **how)
    except (OSError, subprocess.TimeoutExpired) as error:
        return {}, f"ncu: {type(error).__name__}"
    try:
        found = launches(done.stdout)
    except ValueError as error:
        return {}, f"{error} (exit {done.returncode})"
    wanted = order(shapes, peers, repetitions)
    if len(found) != len(wanted):
        return {}, f"ncu saw {len(found)} launches instead of {len(wanted)}"
    by_peer = {}
    for key, kernels in zip(wanted, found):
        by_peer.setdefault(key, []).append(kernels)
    return by_peer, "ok"


def order(shapes, peers, repetitions):
    """(shape, peer) of every launch: the peers take turns."""
    return [(shape, peer) for shape in shapes for _ in range(repetitions) for peer in peers]


def run_profiled(torch, cold_l2, prepare, shapes, peers, repetitions):
    """What ncu profiles. `prepare(shape, peer)` gives a launch; a peer that cannot run leaves its
    separator with nothing behind it. Each launch is preceded by an unprofiled one."""
    prepared = {}
    for shape, peer in order(shapes, peers, repetitions):
        if (shape, peer) not in prepared:
            if all(known != shape for known, _ in prepared):
                prepared.clear()  # the tensors of the shape before
            try:
                prepared[shape, peer] = prepare(shape, peer)
                prepared[shape, peer]()
            except Exception as error:  # back ends refuse with many kinds of error
                print(f"{shape.text()}: {peer}: {error}", file=sys.stderr)
                prepared[shape, peer] = None
        launch = prepared[shape, peer]
        cold_l2()
        torch.cuda.profiler.start()
        torch.cuda._sleep(1)
        if launch is not None:
            launch()
        torch.cuda.synchronize()
        torch.cuda.profiler.stop()


def l2_emptier(torch):
    """A function that leaves an L2 with nothing of ours: 4 times its size is written, then read."""
    l2_bytes = torch.cuda.get_device_properties(0).L2_cache_size
    other = torch.empty(l2_bytes, device="cuda", dtype=torch.int32)  # 4 bytes each

    def empty():
        other.fill_(1)
        other.sum()
        torch.cuda.synchronize()

    return empty
