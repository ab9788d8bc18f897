#!/usr/bin/env python3
"""Does `sawtooth record` count what Nsight Compute counts, and what does it cost a program?

    record_check.py launch [REPETITIONS]      launches kernels of other libraries; needs a GPU and PyTorch
    record_check.py work                      1,000 launches in 5 s, 10 of them to be counted; prints a hash
    record_check.py measure FOLDER SAWTOOTH [GPU]   runs both under record and ncu (and `bench` of SAWTOOTH), needs a GPU
    record_check.py compare FOLDER            the tables of FOLDER against each other: no GPU

measure writes record.csv, ncu.csv (rows of `sawtooth import-ncu`), own_record.csv, own_ncu.csv and overhead.csv.
compare prints a line a counter; exit code 1 where one that should agree does not: sectors that SMs read and L2
writes within a millionth, DRAM reads, near misses and fabric reads within 1 %, over launches whose repetitions agree within
0.5 % in that counter in both tables.
"""

import csv
import hashlib
import pathlib
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
# Kernels that compute attention, and the column that says which launch of them it is.
NAMES = "flash_fwd|cudnn|attention_kernel|fprop"
SHAPES = (
    (1, 4, 16384, 64),
    (1, 2, 16384, 128),
    (1, 1, 65536, 64),
)  # batch, heads, length, head dim
PEERS = ("sdpa-flash", "sdpa-cudnn", "triton")
REPETITIONS = 5
OWN_LIST = HERE / "lists" / "record.ini"
OWN_NAMES = "forward"
EXACT = ("sm_read_sectors", "l2_write_sectors")  # but for some tens of sectors that come and go
EXACTLY = 1e-6
CLOSE = ("dram_read_sectors", "l2_read_miss_sectors", "fabric_read_sectors")
SHOWN = EXACT + CLOSE + ("l2_read_sectors", "dram_write_sectors")
REPEATS = 0.005  # where repetitions of a launch agree within this ...
AGREES = 0.01  # ... both tables do within this
OVERHEAD_LAUNCHES, OVERHEAD_COUNTED = 1000, 10
METRICS = (
    "dram__sectors_read.sum,dram__sectors_write.sum,"
    "lts__t_sectors_srcunit_tex_op_read.sum,lts__t_sectors_srcunit_tex_op_read_lookup_miss.sum,"
    "lts__t_sectors_srcunit_ltcfabric_op_read.sum,lts__t_sectors_srcunit_ltcfabric_op_read_lookup_miss.sum,"
    "lts__t_sectors_srcunit_tex_op_write.sum,l1tex__m_xbar2l1tex_read_sectors.sum"
)


def launch(repetitions):
    import torch

    sys.path.insert(0, str(HERE))
    from kernels import PEERS as KNOWN

    torch.manual_seed(1)
    for batch, heads, length, head_dim in SHAPES:
        q, k, v = (
            torch.randn(batch, heads, length, head_dim, device="cuda", dtype=torch.bfloat16)
            for _ in range(3)
        )
        for causal in (False, True):
            for name in PEERS:
                run = KNOWN[name].prepare(torch, q, k, v, causal)
                for _ in range(repetitions):
                    run()
    torch.cuda.synchronize()


def work():
    import torch

    torch.manual_seed(1)
    a = torch.randn(12288, 12288, device="cuda", dtype=torch.bfloat16)
    b = torch.empty_like(a)
    q, k, v = (torch.randn(1, 4, 8192, 64, device="cuda", dtype=torch.bfloat16) for _ in range(3))
    torch.mm(a, a, out=b)
    torch.cuda.synchronize()
    begin, every = time.perf_counter(), OVERHEAD_LAUNCHES // OVERHEAD_COUNTED
    for number in range(OVERHEAD_LAUNCHES):
        if number % every == 0:
            q = torch.nn.functional.scaled_dot_product_attention(q, k, v)
        else:
            torch.mm(a, a, out=b)
    torch.cuda.synchronize()
    seconds = time.perf_counter() - begin
    digest = hashlib.sha256()
    for tensor in (q, b[::64]):
        digest.update(tensor.float().cpu().numpy().tobytes())
    print(f"{seconds:.3f}", digest.hexdigest()[:16], flush=True)


def run(*words, **options):
    print("+", *words, file=sys.stderr, flush=True)
    return subprocess.run([str(word) for word in words], check=True, **options)


def ncu(folder, name, program, kernels, sawtooth, *more):
    report = folder / f"{name}.report.csv"
    with open(report, "w", encoding="utf-8") as file:
        run(
            *("ncu", "--cache-control", "all", "--clock-control", "none", "--csv", "--page", "raw"),
            *("--print-units", "base", "--metrics", METRICS, "-k", f"regex:{kernels}", *more),
            *program,
            stdout=file,
        )
    run(sawtooth, "import-ncu", report, "--csv", folder / f"{name}.csv")


def measure(folder, sawtooth, gpu):
    folder.mkdir(parents=True, exist_ok=True)
    me = (sys.executable, pathlib.Path(__file__).resolve())
    program = (*me, "launch", REPETITIONS)
    record = (sawtooth, "record", "--gpu", gpu, "--flush")
    run(*record, "--kernel", NAMES, "--csv", folder / "record.csv", "--", *program)
    ncu(folder, "ncu", program, NAMES, sawtooth)
    # This project's kernels: the two launches of each point by which bench warms up.
    own = (sawtooth, "bench", OWN_LIST, "--repetitions", 1, "--overwrite", "--csv")
    count = 2 * sum(line.startswith("[") for line in open(OWN_LIST, encoding="utf-8"))
    limited = (*record, "--kernel", OWN_NAMES, "--count", count)
    run(*limited, "--csv", folder / "own_record.csv", "--", *own, "/dev/null")
    ncu(folder, "own_ncu", (*own, "/dev/null"), OWN_NAMES, sawtooth, "--launch-count", count)
    rows = []
    counted = (
        *record[:2],
        "--gpu",
        gpu,
        "--kernel",
        "flash|cudnn|fprop",
        "--csv",
        folder / "work.csv",
        "--",
    )
    for how, before in (("alone", ()), ("recorded", counted)):
        printed = run(*before, *me, "work", stdout=subprocess.PIPE, text=True).stdout
        lines = [line.split() for line in printed.splitlines() if len(line.split()) == 2]
        rows += [(how, number, *line) for number, line in enumerate(lines)]
    with open(folder / "overhead.csv", "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("how", "pass", "seconds", "hash"), *rows])


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def number(row, counter):
    return float(row[counter]) if row.get(counter) else None


def launches(path, repetitions):
    """A list a launch of one kernel and shape: its repetitions, in the order of the program."""
    rows = read(path)
    return [rows[first : first + repetitions] for first in range(0, len(rows), repetitions)]


def spread(values):
    middle = statistics.median(values)
    return max(abs(value / middle - 1) for value in values) if middle else 0.0


def compare_tables(ours, theirs, repetitions):
    """Prints a line a counter; the number of counters that fail."""
    pairs = list(zip(launches(ours, repetitions), launches(theirs, repetitions), strict=True))
    failed = 0
    print(f"{ours.name}: {len(pairs)} launches, {repetitions} repetitions")
    for counter in SHOWN:
        differences, judged = [], []
        for mine, other in pairs:
            a = [number(row, counter) for row in mine]
            b = [number(row, counter) for row in other]
            if None in a or None in b or not statistics.median(b):
                continue
            difference = statistics.median(a) / statistics.median(b) - 1
            differences.append(abs(difference))
            if max(spread(a), spread(b)) <= REPEATS:
                judged.append(abs(difference))
        if not differences:
            print(f"  {counter}: no launch has it in both tables")
            failed += counter in EXACT + CLOSE
            continue
        allowed = EXACTLY if counter in EXACT else AGREES if counter in CLOSE else None
        over = differences if counter in EXACT else judged
        wrong = 0 if allowed is None else sum(value > allowed for value in over)
        failed += wrong > 0
        print(
            f"  {counter}: median {statistics.median(differences):.3%}, worst {max(differences):.3%}; where launches "
            f"repeat within {REPEATS:.1%} ({len(judged)}) worst {max(judged, default=0):.3%}"
            + (f"; {wrong} over {allowed:.2g}" if wrong else "")
        )
    return failed


def compare(folder):
    failed = compare_tables(folder / "record.csv", folder / "ncu.csv", REPETITIONS)
    failed += compare_tables(folder / "own_record.csv", folder / "own_ncu.csv", 2)
    if not (folder / "overhead.csv").exists():
        return failed
    rows = read(folder / "overhead.csv")
    seconds = {
        how: [float(row["seconds"]) for row in rows if row["how"] == how]
        for how in ("alone", "recorded")
    }
    ratio = max(seconds["recorded"]) / statistics.median(seconds["alone"])
    hashes = {row["hash"] for row in rows}
    print(
        f"overhead: a recorded pass takes at most {ratio:.2f} of the program alone; {len(hashes)} result(s)"
    )
    return failed + (ratio > 1.3) + (len(hashes) != 1)


def main(arguments):
    if arguments[:1] == ["launch"]:
        launch(int(arguments[1]) if len(arguments) > 1 else 1)
    elif arguments == ["work"]:
        work()
    elif arguments[:1] == ["measure"] and len(arguments) in (3, 4):
        folder, sawtooth = (pathlib.Path(path).resolve() for path in arguments[1:3])
        measure(folder, sawtooth, arguments[3] if len(arguments) > 3 else "h200")
    elif arguments[:1] == ["compare"] and len(arguments) == 2:
        return 1 if compare(pathlib.Path(arguments[1])) else 0
    else:
        sys.exit(__doc__)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
