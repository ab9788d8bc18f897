"""How wide intervals of predictions are: the lines of [intervals] in a GPU's profile (prediction.py --intervals).

90 % of the points are measured within predicted x exp(-h) to predicted x exp(h). Of one launch, h is the
90 % mark of |ln(measured / predicted)| over the points of a kind (inputs/profiles.hpp), for durations by how long they are;
where CTAs stand apart or drift, over those points whose measured launches differ by 5 %. Of several launches h is factor x hypot(s, floor), with s the standard
deviation of the logarithm over launches: factor is the 90 % mark of |ln(measured / predicted)| / hypot(s,
floor) over pairs of seeds, and floor the one that makes the median of h the least. Counters have one width for all kernels,
durations one for each family. GPUs of one name differ in speed from card to card: with `widest_list` h of a duration is
the largest mark of a list, of those with ten points of the kind. No list that judges may be given here. Standard library only.
"""

import itertools
import math
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "plots" / "lib"))
import measures  # noqa: E402  (the path above leads to it)
import table  # noqa: E402

COLUMNS = """l2_read_sectors l2_read_miss_sectors fabric_read_sectors fabric_read_miss_sectors
    dram_read_sectors dram_write_sectors time_us""".split()
POINT = """kernel batch heads kv_heads seq_q seq_kv head_dim dtype mask tile_q tile_kv section q_order
    launch ctas_per_sm scan prefetch""".split()
PROBLEM = POINT[:9] + ["list"]
CHOSEN = "dram_read_sectors"  # the launch that is the median of several is that of this column
DURATION = "time_us"
USUAL = "mma"  # the family of rows that name none
COVERED = 0.9
AGREE = 0.05
KINDS = ("within", "in_step", "apart", "drifting")
DURATIONS = ("brief", "usual", "sustained", "limited")
DURATION_BEGINS_US = (200, 10_000, 30_000)  # of all but the first
APART = ("apart", "drifting")  # whose widths are those of points whose launches disagree
OVER = 1.5  # x compulsory
FEWEST = 10  # points of a kind in a list that has a mark of its own
LEAST_EFFECT = 0.01  # as advise has it
DIFFERENT = 0.03  # from which on two schedules should get a verdict
FLOORS = (0.001, 0.002, 0.003, 0.005, 0.007, 0.01, 0.015, 0.02, 0.03, 0.05)


def points(rows):
    """{point: rows}; rows that name no family get the usual one's name."""
    for row in rows:
        row["kernel"] = row["kernel"] or USUAL
    return table.grouped(rows, *POINT)


def kind_of(row):
    """As kind_of() of experiments/sawtooth/results/result_row.cpp has it, of a predicted row."""
    if float(row[CHOSEN]) <= OVER * float(row["cold_read_sectors"]):
        return "within"
    masked = row["mask"] != "none"
    if masked and row["q_order"] == "ascending":
        return "drifting"
    return "apart" if masked or row["section"] != "1" else "in_step"


def duration_kind_of(row):
    return DURATIONS[sum(float(row[DURATION]) >= begin for begin in DURATION_BEGINS_US)]


def launches_agree(rows):
    values = sorted(float(row[CHOSEN]) for row in rows if row[CHOSEN])
    low, high = (measures.quantile(values, share) for share in (AGREE, 1 - AGREE))
    return high - low < AGREE * statistics.median(values)


def forecasts(column, measured, files):
    """(kind, whether measured launches agree, ln(measured median / predicted median), spread of the logarithm, row) of
    each point that has values, with the launches of `files`, tables of one row a point."""
    for point, rows in files[0].items():
        if point not in measured or not all(point in file for file in files):
            continue
        launches = [rows[0], *(file[point][0] for file in files[1:])]
        values = [row[column] for row in measured[point] if row[column]]
        if not values or not all(row[column] and float(row[column]) > 0 for row in launches):
            continue
        middle = statistics.median(map(float, values))
        if middle <= 0:
            continue
        launches.sort(key=lambda row: float(row[CHOSEN]))
        chosen = launches[(len(launches) - 1) // 2]
        logarithms = [math.log(float(row[column])) for row in launches]
        spread = statistics.stdev(logarithms) if len(launches) > 1 else 0
        error = math.log(middle / float(chosen[column]))
        kind = duration_kind_of(chosen) if column == DURATION else kind_of(chosen)
        yield kind, launches_agree(measured[point]), error, spread, chosen


def widths_of(column, measured, files, widest_list=False):
    """{kind: h of one launch}."""
    errors, of_lists = {}, {}
    for kind, agree, error, _, row in (
        one for file in files for one in forecasts(column, measured, [file])
    ):
        if kind not in APART or not agree:
            errors.setdefault(kind, []).append(abs(error))
            of_lists.setdefault((kind, row.get("list")), []).append(abs(error))
    marks = {kind: measures.quantile(found, COVERED) for kind, found in errors.items()}
    for (kind, _), found in of_lists.items():
        if widest_list and column == DURATION and len(found) >= FEWEST * len(files):
            marks[kind] = max(marks[kind], measures.quantile(found, COVERED))
    return {kind: marks.get(kind, 0) for kind in (DURATIONS if column == DURATION else KINDS)}


def width_of(column, measured, files, widest_list=False):
    """(h of one launch of each kind, floor, factor) of one column."""
    pairs = zip(files, files[1:] + files[:1])
    found = [one for pair in pairs for one in forecasts(column, measured, list(pair))]
    choices = []
    for floor in FLOORS:
        scales = [math.hypot(spread, floor) for *_, spread, _ in found]
        ratios = [abs(error) / scale for (_, _, error, *_), scale in zip(found, scales)]
        factor = measures.quantile(ratios, COVERED)
        choices.append((factor * statistics.median(scales), floor, factor))
    _, floor, factor = min(choices)
    return list(widths_of(column, measured, files, widest_list).values()), floor, factor


def change_errors(rows, problem):
    """Relative errors of how times of two schedules of one problem differ, with both rows: their errors go together.
    Rows have `measured` and `predicted`."""
    for found in table.grouped(rows, *problem).values():
        for one, other in itertools.combinations(found, 2):
            told, real = (float(other[k]) / float(one[k]) for k in ("predicted", "measured"))
            yield told / real - 1, told, real


def held_out(name, widest_list, measured, file):
    """A line for one list of `file`, with widths from the others: which share of its points they hold, and of its pairs
    of schedules whose times differ by over 3 % how many get a verdict from `advise`, and how many the right one.
    """
    line = {"list": name, "pairs": 0, "verdicts": 0, "right": 0}
    for column in (CHOSEN, DURATION):
        held = []
        for family in sorted({point[0] for point in file}) if column == DURATION else [""]:
            of = {p: rows for p, rows in file.items() if family in ("", p[0])}
            own, others = (
                {p: rows for p, rows in of.items() if (rows[0]["list"] == name) == is_own}
                for is_own in (True, False)
            )
            widths = widths_of(column, measured, [others], widest_list)
            made = [list(forecasts(column, measured, [points])) for points in (own, others)]
            held += [abs(error) <= widths[kind] for kind, _, error, *_ in made[0]]
            if column == DURATION:
                its, theirs = (
                    list(change_errors(map(both_times, found), PROBLEM)) for found in made
                )
                count_verdicts(line, its, measures.quantile([abs(e) for e, *_ in theirs], COVERED))
        line[column] = f"{sum(held) / len(held):.4f}"
    return line


def both_times(forecast):
    *_, error, _, row = forecast
    return {**row, "predicted": row[DURATION], "measured": float(row[DURATION]) * math.exp(error)}


def count_verdicts(line, changes, error):
    """What change_of() of experiments/sawtooth/advise/advice.cpp says of one launch, of the pairs that differ."""
    for _, told, real in changes:
        low, high = (told * (1 + end) - 1 for end in (-error, error))
        beyond = high < -LEAST_EFFECT or low > LEAST_EFFECT
        within = -LEAST_EFFECT < low and high < LEAST_EFFECT
        if abs(math.log(real)) > math.log(1 + DIFFERENT):
            line["pairs"] += 1
            line["verdicts"] += beyond or within
            line["right"] += beyond and (told < 1) == (real < 1)


def of_family(found, family):
    return {point: rows for point, rows in found.items() if point[0] == family}


def print_widths(measured, files, widest_list, columns=COLUMNS):
    """The lines of a profile, from measured points and tables of predictions, a seed each."""
    families = sorted({point[0] for point in files[0]}, key=lambda name: name != USUAL)
    for family in families:
        print("[intervals]" if family == USUAL else f"\n[intervals-{family}]")
        own = [of_family(file, family) for file in files]
        for column in columns:
            of = own if column == DURATION else files
            widths, floor, factor = width_of(column, measured, of, widest_list)
            told = ", ".join(f"{h:.3f}" for h in widths)
            print(f"{column} = {told}, {floor:g}, {factor:.2f}")
