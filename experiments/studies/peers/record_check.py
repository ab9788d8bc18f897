#!/usr/bin/env python3
"""Does `sawtooth record` count what Nsight Compute counts, and what does it cost a program?

    record_check.py launch [SEED [places]]    launches kernels of other libraries; needs a GPU and PyTorch
    record_check.py work                      1,000 launches in 5 s, 10 of them to be counted; prints a hash
    record_check.py small                     100,000 launches that are over at once, none to be counted; prints a hash
    record_check.py hold SEED                 holds memory of the GPU until its standard input ends
    record_check.py measure FOLDER SAWTOOTH [GPU [STEP ...]]   runs them under record and ncu, and `bench` of SAWTOOTH
    record_check.py join FOLDER               the tables of all steps that FOLDER has, as measure does at its end
    record_check.py compare FOLDER            the tables of FOLDER against each other: no GPU

A STEP is overhead (work), small, peers-SEED or own-SEED, the launches on other memory pages for each SEED, or places, one launch that
depends on its pages on twenty of them: pages decide which lines share a set and which half of L2 is a line's home.
Without steps all of them run. The tables are record.csv, ncu.csv (rows of `sawtooth import-ncu`), own_record.csv,
own_ncu.csv, places_record.csv, places_ncu.csv, overhead.csv and small.csv.
compare prints a line a counter; exit code 1 where one that should agree does not: sectors that SMs read and L2 writes to
the sector where repetitions agree to the sector in both tables, DRAM reads, near misses and fabric reads within 1 %
where repetitions agree within 0.5 % in that counter in both tables, means over places within three standard errors,
and a pass of at most 1.3 times the program alone with the same results.
"""

import collections
import contextlib
import csv
import ctypes
import hashlib
import itertools
import math
import pathlib
import random
import re
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
ALL = [(*case, REPETITIONS) for case in itertools.product(SHAPES, (False, True), PEERS)]
PLACES = [((1, 1, 65536, 64), False, "sdpa-flash", 20)]  # its tensors nearly fill L2
OWN_LIST = HERE / "lists" / "record.ini"
OWN_NAMES = "forward"
EXACT = ("sm_read_sectors", "l2_write_sectors")
EXACTLY = 1e-5  # where some tens of sectors come and go from one repetition to the next; else equal
CLOSE = ("dram_read_sectors", "l2_read_miss_sectors", "fabric_read_sectors")
SHOWN = EXACT + CLOSE + ("l2_read_sectors", "dram_write_sectors")
KEPT = ("kernel_name", "grid", "block", "launch_index", *SHOWN, "time_us", "status")
REPEATS = 0.005  # where repetitions of a launch agree within this ...
AGREES = 0.01  # ... both tables do within this
MEANS_AGREE = 3  # standard errors
OVERHEAD_LAUNCHES, OVERHEAD_COUNTED, OVERHEAD_ROUNDS = 1000, 10, 3
OVERHEAD_ALLOWED = 1.3
OVERHEAD_TABLES = {"work": "overhead.csv", "small": "small.csv"}
SMALL_LAUNCHES = 100_000
OWN_REPETITIONS = 2  # the launches by which bench warms up
STEPS = ("overhead", "small", "peers-0", "own-0", "own-1", "own-2", "places")
MOST_HELD_MIB = 4096
METRICS = (
    "dram__sectors_read.sum,dram__sectors_write.sum,"
    "lts__t_sectors_srcunit_tex_op_read.sum,lts__t_sectors_srcunit_tex_op_read_lookup_miss.sum,"
    "lts__t_sectors_srcunit_ltcfabric_op_read.sum,lts__t_sectors_srcunit_ltcfabric_op_read_lookup_miss.sum,"
    "lts__t_sectors_srcunit_tex_op_write.sum,l1tex__m_xbar2l1tex_read_sectors.sum"
)


def launch(seed, wanted):
    """Every repetition on tensors of its own, in other pages."""
    import torch

    sys.path.insert(0, str(HERE))
    from kernels import PEERS as KNOWN

    torch.manual_seed(1)
    between = random.Random(seed)
    for (batch, heads, length, head_dim), causal, name, repetitions in wanted:
        kept = []
        for _ in range(repetitions):
            kept.append(
                torch.empty(between.randrange(1, 64) << 20, dtype=torch.uint8, device="cuda")
            )
            q, k, v = (
                torch.randn(batch, heads, length, head_dim, device="cuda", dtype=torch.bfloat16)
                for _ in range(3)
            )
            run = KNOWN[name].prepare(torch, q, k, v, causal)
            kept.append((run, run()))
        torch.cuda.synchronize()
        del kept, run, q, k, v
        torch.cuda.empty_cache()


def hold(seed):
    cuda, context, memory = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p(), ctypes.c_uint64()
    mib = random.Random(seed).randrange(1, MOST_HELD_MIB)
    for code in (
        cuda.cuInit(0),
        cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0),
        cuda.cuCtxSetCurrent(context),
        cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(mib << 20)),
    ):
        if code != 0:
            sys.exit(f"record_check.py: hold: CUDA error {code}")
    print("held", mib, "MiB", flush=True)
    sys.stdin.read()


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
    say(seconds, q, b[::64])


def small():
    import torch

    a = torch.zeros(1, device="cuda")
    a.add_(1)
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(SMALL_LAUNCHES):
        a.add_(1)
    torch.cuda.synchronize()
    say(time.perf_counter() - begin, a)


def say(seconds, *results):
    digest = hashlib.sha256()
    for tensor in results:
        digest.update(tensor.float().cpu().numpy().tobytes())
    print(f"{seconds:.3f}", digest.hexdigest()[:16], flush=True)


def run(*words, **options):
    """What fails is said, and shows in the tables; the other steps go on."""
    words = [str(word) for word in words]
    print("+", *words, file=sys.stderr, flush=True)
    done = subprocess.run(words, check=False, **options)
    if done.returncode != 0:
        print(f"record_check.py: exit code {done.returncode}: {words[:4]}", file=sys.stderr)
    return done


def ncu(folder, name, program, kernels, sawtooth, *more, metrics=METRICS):
    report = folder / f"{name}.raw"
    with open(report, "w", encoding="utf-8") as file:
        run(
            *("ncu", "--cache-control", "all", "--clock-control", "none", "--csv", "--page", "raw"),
            *("--print-units", "base", "--metrics", metrics, "-k", f"regex:{kernels}", *more),
            *program,
            stdout=file,
        )
    run(sawtooth, "import-ncu", report, "--csv", folder / f"{name}.csv")


@contextlib.contextmanager
def held(seed):
    """Other processes get other pages meanwhile."""
    words = (*ME, "hold", str(seed))
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        holder.stdout.readline()
        yield
        holder.stdin.close()


ME = (sys.executable, str(pathlib.Path(__file__).resolve()))


def peers(folder, record, sawtooth, seed):
    program = (*ME, "launch", seed)
    with held(seed):
        run(*record, "--kernel", NAMES, "--csv", folder / f"record-{seed}.csv", "--", *program)
        ncu(folder, f"ncu-{seed}", program, NAMES, sawtooth)


def places(folder, record, sawtooth):
    program, one = (*ME, "launch", 0, "places"), "dram__sectors_read.sum"
    record = (*record, "--kernel", NAMES, "--metrics", one, "--csv", folder / "places_record-0.csv")
    run(*record, "--", *program)
    ncu(folder, "places_ncu-0", program, NAMES, sawtooth, metrics=one)


def own(folder, record, sawtooth, seed):
    """This project's kernels: the launches of each point by which bench warms up."""
    program = (sawtooth, "bench", OWN_LIST, "--repetitions", 1, "--overwrite", "--csv", "/dev/null")
    points = sum(line.startswith("[") for line in open(OWN_LIST, encoding="utf-8"))
    count = OWN_REPETITIONS * points
    limited = (*record, "--kernel", OWN_NAMES, "--count", count)
    with held(seed):
        run(*limited, "--csv", folder / f"own_record-{seed}.csv", "--", *program)
        ncu(folder, f"own_ncu-{seed}", program, OWN_NAMES, sawtooth, "--launch-count", count)


def in_turn(folder, sawtooth, gpu, program, rounds):
    """A program alone, timed and counted, round by round, into FOLDER/PROGRAM.csv."""
    recorded = (sawtooth, "record", "--gpu", gpu, "--kernel", "flash|cudnn|fprop", "--metrics")
    recorded += ("dram__sectors_read.sum", "--csv")
    rows = []
    for number in range(rounds):
        before = (*recorded, folder / f"{program}-{number}.csv", "--")
        for hows, before in ((("alone",), ()), (("timed", "counted"), before)):
            printed = run(*before, *ME, program, stdout=subprocess.PIPE, text=True).stdout
            lines = re.findall(r"^([\d.]+) ([0-9a-f]{16})$", printed, re.MULTILINE)
            rows += [(how, number, *line) for how, line in zip(hows, lines, strict=True)]
        write(folder / OVERHEAD_TABLES[program], ("how", "round", "seconds", "hash"), rows)


def measure(folder, sawtooth, gpu, steps):
    folder.mkdir(parents=True, exist_ok=True)
    record = (sawtooth, "record", "--gpu", gpu, "--flush")
    for step in steps:
        name, _, seed = step.partition("-")
        if name == "overhead":
            in_turn(folder, sawtooth, gpu, "work", OVERHEAD_ROUNDS)
        elif name == "small":
            in_turn(folder, sawtooth, gpu, "small", 1)
        elif name == "places":
            places(folder, record, sawtooth)
        else:
            {"peers": peers, "own": own}[name](folder, record, sawtooth, int(seed))
    join(folder)


def join(folder):
    """Of every launch the repetitions of all seeds, one after the other."""
    for name, repetitions in (
        *((name, REPETITIONS) for name in ("record", "ncu")),
        *((name, OWN_REPETITIONS) for name in ("own_record", "own_ncu")),
        *((name, PLACES[0][-1]) for name in ("places_record", "places_ncu")),
    ):
        parts = [path for path in folder.iterdir() if re.fullmatch(rf"{name}-\d+\.csv", path.name)]
        parts.sort(key=lambda path: int(path.stem.split("-")[1]))
        tables = [launches(path, repetitions) for path in parts]
        rows = [
            {"pages": path.stem.split("-")[1], **{column: row[column] for column in KEPT}}
            for same in zip(*tables, strict=True)
            for path, launch_rows in zip(parts, same)
            for row in launch_rows
        ]
        if rows:
            write(folder / f"{name}.csv", rows[0].keys(), [row.values() for row in rows])


def write(path, header, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def number(row, counter):
    return float(row[counter]) if row.get(counter) else None


def launches(path, repetitions):
    """A list a launch of one kernel and shape: its repetitions, in the order of the program."""
    rows = read(path)
    return [rows[first : first + repetitions] for first in range(0, len(rows), repetitions)]


def repetitions_of(path, of_a_seed):
    """How many rows a launch has in a table of several seeds."""
    return of_a_seed * max(1, len({row.get("pages") for row in read(path)}))


def spread(values):
    middle = statistics.median(values)
    return max(abs(value / middle - 1) for value in values) if middle else 0.0


def errors_apart(a, b):
    """By how many standard errors the means of two samples differ (Welch's t)."""
    error = math.sqrt(sum(statistics.variance(values) / len(values) for values in (a, b)))
    difference = abs(statistics.mean(a) - statistics.mean(b))
    return difference / error if error else (math.inf if difference else 0.0)


def in_both(pairs, counter):
    """Of each launch that has a counter in both tables: its repetitions in the one and in the other."""
    for pair in pairs:
        a, b = ([number(row, counter) for row in rows] for rows in pair)
        if None not in a + b and statistics.median(b):
            yield a, b


def apart(a, b):
    return abs(statistics.median(a) / statistics.median(b) - 1)


def compare_exact(values):
    """How many launches are not equal, and what is to be said."""
    repeat = [(a[0], b[0]) for a, b in values if len(set(a)) == len(set(b)) == 1]
    equal = sum(a == b for a, b in repeat)
    worst = max(apart(a, b) for a, b in values)
    wrong = len(repeat) - equal + (worst > EXACTLY)
    return wrong, (
        f"equal to the sector in {equal} of {len(repeat)} launches that repeat to the sector; worst of all {worst:.2g}"
    )


def compare_close(values):
    """How many launches are too far apart, and what is to be said."""
    differences = [apart(a, b) for a, b in values]
    repeat = [max(spread(a), spread(b)) <= REPEATS for a, b in values]
    judged = [one for one, repeats in zip(differences, repeat) if repeats]
    errors = [errors_apart(a, b) for (a, b), repeats in zip(values, repeat) if not repeats]
    said = (
        f"median {statistics.median(differences):.3%}, worst {max(differences):.3%}; where launches repeat within "
        f"{REPEATS:.1%} ({len(judged)}) worst {max(judged, default=0):.3%}"
    )
    if errors:
        said += f"; means of the others up to {max(errors):.1f} standard errors"
    return sum(one > AGREES for one in judged), said


def compare_tables(ours, theirs, repetitions):
    """Prints a line a counter; the number of counters that fail."""
    pairs = list(zip(launches(ours, repetitions), launches(theirs, repetitions), strict=True))
    failed = 0
    print(f"{ours.name}: {len(pairs)} launches, {repetitions} repetitions")
    for counter in SHOWN:
        values = list(in_both(pairs, counter))
        if not values:
            print(f"  {counter}: no launch has it in both tables")
            failed += counter in EXACT + CLOSE
            continue
        wrong, said = (compare_exact if counter in EXACT else compare_close)(values)
        wrong = wrong if counter in EXACT + CLOSE else 0
        failed += wrong > 0
        print(f"  {counter}: {said}" + (f"; {wrong} WRONG" if wrong else ""))
    return failed


def compare(folder):
    failed = 0
    for name, of_a_seed in (("", REPETITIONS), ("own_", OWN_REPETITIONS)):
        ours, theirs = folder / f"{name}record.csv", folder / f"{name}ncu.csv"
        failed += compare_tables(ours, theirs, repetitions_of(ours, of_a_seed))
    for name, judge in (("places_record", compare_places), ("overhead", compare_times)):
        failed += folder.joinpath(f"{name}.csv").exists() and judge(folder)
    if folder.joinpath("small.csv").exists():
        each = {
            row["how"]: 1e6 * float(row["seconds"]) / SMALL_LAUNCHES
            for row in read(folder / "small.csv")
        }
        print(
            "us a launch that does not match:",
            ", ".join(f"{how} {us:.2f}" for how, us in each.items()),
        )
    return failed


def compare_places(folder):
    ours, theirs = (
        [number(row, "dram_read_sectors") for row in read(folder / f"places_{name}.csv")]
        for name in ("record", "ncu")
    )
    for name, values in (("record", ours), ("ncu", theirs)):
        print(
            f"one launch on {len(values)} places, {name}: DRAM reads {min(values):.0f} to {max(values):.0f}, "
            f"mean {statistics.mean(values):.0f}"
        )
    errors = errors_apart(ours, theirs)
    print(f"  means differ by {errors:.1f} standard errors")
    return errors > MEANS_AGREE


def compare_times(folder):
    rows = read(folder / "overhead.csv")
    seconds = collections.defaultdict(list)
    for row in rows:
        seconds[row["how"]].append(float(row["seconds"]))
    alone = statistics.median(seconds["alone"])
    ratios = {how: [value / alone for value in seconds[how]] for how in ("timed", "counted")}
    hashes = {row["hash"] for row in rows}
    print(f"the program alone takes {min(seconds['alone']):.2f} to {max(seconds['alone']):.2f} s")
    for how, values in ratios.items():
        print(
            f"  {how}: {min(values):.3f} to {max(values):.3f} of its median, {len(values)} passes"
        )
    print(f"  {len(hashes)} result(s)")
    return max(max(values) for values in ratios.values()) > OVERHEAD_ALLOWED or len(hashes) != 1


def main(arguments):
    if arguments[:1] == ["launch"] and arguments[2:] in ([], ["places"]):
        launch(int((arguments[1:] or [0])[0]), PLACES if arguments[2:] else ALL)
    elif arguments[:1] == ["hold"] and len(arguments) == 2:
        hold(int(arguments[1]))
    elif arguments in (["work"], ["small"]):
        {"work": work, "small": small}[arguments[0]]()
    elif arguments[:1] == ["measure"] and len(arguments) >= 3:
        folder, sawtooth = (pathlib.Path(path).resolve() for path in arguments[1:3])
        gpu, steps = (arguments[3:] or ["h200"])[0], arguments[4:] or STEPS
        if unknown := [
            one for one in steps if not re.fullmatch(r"overhead|small|places|(peers|own)-\d+", one)
        ]:
            sys.exit(
                f"record_check.py: '{unknown[0]}' is no step: overhead, small, peers-SEED, own-SEED or places"
            )
        measure(folder, sawtooth, gpu, steps)
    elif arguments[:1] == ["join"] and len(arguments) == 2:
        join(pathlib.Path(arguments[1]))
    elif arguments[:1] == ["compare"] and len(arguments) == 2:
        return 1 if compare(pathlib.Path(arguments[1])) else 0
    else:
        sys.exit(__doc__)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
