"""What a sweep says in a sentence: the schedule to take, what it changes, and how sure that is."""

import math
from statistics import median

import points
import table
import words
from measures import scaled

LEAST = {"time": 0.01, "reads": 0.05}  # a change by less is none; `sawtooth advise` takes the same
MOST_JUDGED = 3  # points that are named by their error
SAME_TIME = 0.005  # of these the one with the fewest reads, as `sawtooth search` chooses
NOT_JUDGED = ("none", "borrowed")
MOST_NAMES = 12  # in the figure
SAID = {"dram_read_sectors": "DRAM reads", "misses": "L2 misses"}
COMPARED = ["system", "kernel", *points.SCHEDULE, "dq", "pack_gqa", "small_kernels", "lse"]
PROBLEM = [c for c in points.POINT if c not in COMPARED]
MODEL = [c for c in points.MODEL if c != "costs"]  # which come with a system or kernel
USUAL = {"scan": "linear", "q_order": "ascending"}  # of the first system and kernel
APART = ("gpu", "pass", "mask", "head_dim")  # whose changes have no common median


def change(to, of, judged):
    """(ratio, low, high), errors taken as independent; no ends where one has no interval, or has a range
    over models or kernels, which move both."""
    ratio = to[0] / of[0]
    if not (judged and all(low and high and low <= high for _, low, high in (to, of))):
        return ratio, None, None
    width = math.hypot(*(math.log(high / low) / 2 for _, low, high in (to, of)))
    return ratio, ratio * math.exp(-width), ratio * math.exp(width)


def percent(ratio, unit=" %"):
    value = round(100 * (ratio - 1), 1)
    sign = "\N{MINUS SIGN}" if value < 0 else "+" if value > 0 else ""
    return f"{sign}{abs(value):.1f}{unit}"


def side(key, low, high):
    """-1: all of it is less; 1: all of it is more."""
    return (low > 1 + LEAST[key]) - (high < 1 - LEAST[key])


def sure(line, key):
    return side(key, *line[key][1:]) if line[key] and line[key][1] is not None else 0


def seems(line, key):
    return side(key, line[key][0], line[key][0]) if line[key] else 0


def is_better(line):
    return not line["worse"] and seems(line, "time") < 1 and min(sure(line, k) for k in LEAST) < 0


def effect(line, noun):
    """Of a better schedule, in words: "fewer reads, the same time"."""
    said = {"time": ["the same time", "slower", "faster"]}
    said["reads"] = [f"the same {noun}", f"more {noun}", f"fewer {noun}"]  # at 0, 1 and -1
    known = sorted((key for key in said if line[key]), key=lambda key: sure(line, key))
    for key in known:
        if seems(line, key):
            said[key][0] = said[key][0].replace("the same", "no sure change of")
    return ", ".join(said[key][sure(line, key)] for key in known)


def said_of(name, key, line, over, doubt):
    """ "DRAM reads -40.0 % (-48.0 to -30.1 %)"; over several problems the median with its range."""
    ratio, *ends = line[key]
    low, high = line["ends"][key] if over else ends
    known = []
    if low is not None and percent(low) != percent(high):
        known = ["median; " * bool(over) + f"{percent(low, '')} to {percent(high)}{over}"]
    if ends[0] is None:
        known += ["no interval"] * (not doubt)
    elif seems(line, key) and not sure(line, key):
        known += ["not sure"]
    return f"{name} {percent(ratio)}" + (f" ({', '.join(known)})" if known else "")


def best_of(lines, measure):
    """Among the fastest, else among all, the one that reads least."""
    fast = [line for line in lines if measure(line, "time") < 0]
    least = min((line["time"][0] for line in fast), default=0) * (1 + SAME_TIME)
    near = [line for line in fast if line["time"][0] <= least] or lines
    return min(near, key=lambda line: line["reads"][0] if line["reads"] else math.inf)


def sentence(usual, others, what, over, doubt, chosen):
    """(words before the name, name or "", words behind it); `chosen`: by `sawtooth search`."""
    better = [] if doubt else [line for line in others if is_better(line)]
    less = [line for line in others if min(seems(line, key) for key in LEAST) < 0]
    less = [line for line in less if seems(line, "time") < 1] or less
    best = chosen or best_of(better or less or others, sure if better else seems)
    named = (what, "reads"), ("time", "time")
    said = ", ".join(said_of(name, key, best, over, doubt) for name, key in named if best[key])
    if not (chosen or less):
        faster = " or is 1 % faster" * any(line["time"] for line in others)
        nothing = f"Nothing here reads 5 % less{faster} than {usual}"
        if over and any(side(k, low, low) < 0 for k, (low, _) in best["ends"].items()):
            return f"{nothing} in the median; at one ", best["name"], f" does: {said}{doubt}."
        return f"{nothing}{over and ' in the median' + over}{doubt}.", "", ""
    if best in better:
        effects = effect(best, what.replace("DRAM ", ""))
        return "Take ", best["name"], f" instead of {usual} ({effects}): {said}."
    if doubt or chosen:
        start = "`sawtooth search` chose " if chosen else "A hypothesis worth a measurement: "
        return start, best["name"], f" instead of {usual}: {said}{doubt}."
    start = "The nearest is " if seems(best, "time") < 1 else "Fewer reads, but slower, has "
    return f"Nothing here is surely better than {usual}. {start}", best["name"], f": {said}."


def doubt_of(rows):
    """Why the ends of these predictions are no errors; empty where all were judged."""
    judged = {row.get("judged") or "none" for row in rows}
    doubts = {text for text in judged if text.startswith(NOT_JUDGED)}
    if not doubts:
        return ""
    if "none" not in doubts:
        return " by a model that was not judged with this kernel there"
    known = any(row.get("dram_read_sectors_low") for row in rows)  # spans models: none was named
    which = "the default" if known else "this"
    return f" by {which} model; `--timing lockstep,timed` compares models"


def trust(found, source):
    """Where the numbers come from, and whether such numbers were judged."""
    rows = [row for point in found for row in point[source]]
    gpus = ", ".join(dict.fromkeys(row.get("gpu", "") for row in rows))
    if source != "predicted":
        most = max(len(point[source]) for point in found)
        launches = f", medians of {most} launches" if most > 1 else ""
        return f"{source.capitalize()} on {gpus}{launches}."
    models = dict.fromkeys(words.name(row, ("timing", "l2")) for row in rows)
    apart, named, said = points.varying(rows, [], columns_in(rows, PROBLEM + COMPARED)), {}, []
    for row in rows:
        named.setdefault(row.get("judged") or "none", []).append(words.name(row, apart))
    for judged, names in named.items():
        whose = " and ".join(names) if len(names) <= MOST_JUDGED else f"{len(names)} points"
        is_open = judged.startswith(NOT_JUDGED)
        text = f"{whose} " * (len(named) > 1) + (
            "not judged there; " if is_open else "judged there: "
        )
        how = judged.replace("costs of", "costs borrowed from").removeprefix("borrowed: ")
        said.append((text + how).removesuffix("; none"))
    by = " by " * any(models) + " or ".join(models)
    return f"Predicted for {gpus}{by}; {'; '.join(said)}."


def columns_in(rows, columns):
    return [column for column in columns if all(column in row for row in rows)]


def searched(rows):
    """What `sawtooth search` chose and calls the usual schedule; None: not its table."""
    chosen = next((row for row in rows if row.get("rank") == "1" and "evaluated_by" in row), None)
    if chosen is None:
        return None, None
    order = "ascending" if chosen["mask"] == "none" else "descending"
    usual = dict(launch="grid", scan="linear", section="1", q_order=order)
    fit = [row for row in rows if row["time_us"] and usual.items() <= row.items()]
    said = " ".join(row["why"] + " " for row in rows if "the usual schedule" in row["why"])
    marked = [row for row in rows if row["why"].startswith("the usual schedule")]
    marked += [row for row in fit if f"the usual schedule {row['time_us']} " in said]
    return chosen, next(iter(marked + fit), rows[0])


def answer(found, shown, source):
    """The answer over points whose changes have a common median, by one source."""
    rows = [point["row"] for point in found]
    problem = columns_in(rows, PROBLEM + MODEL * (source == "predicted"))
    schedule = points.varying(rows, problem, columns_in(rows, COMPARED))
    places = {n: at for at, (n, of) in enumerate(shown) if of == source}
    reads = "dram_read_sectors" if "dram_read_sectors" in places else "misses"
    places, what = {"reads": places.get(reads), "time": places.get("time_us")}, SAID[reads]

    def name_of(row):
        return words.name(row, schedule) or "the one without a name"

    def numbers_of(point):
        return {key: None if at is None else point["numbers"][at] for key, at in places.items()}

    there = [point for point in found if any(numbers_of(point).values())]
    doubt = doubt_of([point["row"] for point in there]) if source == "predicted" else ""
    problems = {}
    for point in there:
        key = table.cells(point["row"], problem)
        problems.setdefault(key, {})[name_of(point["row"])] = numbers_of(point)
    chosen, marked = searched(rows)
    cells = USUAL | {column: rows[0].get(column) for column in COMPARED[:2]}
    plain = (row for row in rows if all(row.get(c, v) == v for c, v in cells.items()))
    usual = name_of(marked or next(plain, rows[0]))
    both = [of for of in problems.values() if usual in of and len(of) > 1]

    def line_of(name):
        line = dict(name=name, ends={}, worse=False, reads=None, time=None)
        line["times"] = sum(name in of for of in both)
        for key in places:
            pairs = [(of[name][key], of[usual][key]) for of in both if name in of]
            pairs = [pair for pair in pairs if all(pair) and min(pair[0][0], pair[1][0]) > 0]
            if changes := [change(*pair, not doubt and name != usual) for pair in pairs]:
                line[key] = [None if None in ends else median(ends) for ends in zip(*changes)]
                line["ends"][key] = [end(each[0] for each in changes) for end in (min, max)]
                line["worse"] = any(side(key, each[1] or 0, math.inf) > 0 for each in changes)
        return line

    lines = [line_of(name) for name in dict.fromkeys(name for of in both for name in of)]
    if len(lines) > 1:
        lengths = set(points.varying(rows, [], problem)) <= {"seq_q", "seq_kv"}
        most = max(each["times"] for each in lines if each["name"] != usual)
        others = [each for each in lines if each["name"] != usual and each["times"] == most]
        over = f" over {most} {'lengths' if lengths else 'problems'}" * (most > 1)
        best = next((each for each in others if chosen and each["name"] == name_of(chosen)), None)
        lead, best, text = sentence(usual, others, what, over, doubt, best)
        if chosen and name_of(chosen) == usual:
            lead, best, text = "`sawtooth search` chose the usual schedule, ", usual, "."
        about = [p for p in there if name_of(p["row"]) in (best, usual)] if best else there
        known = dict(lead=lead, best=best, text=text, usual=usual, sure=trust(about, source))
        return known | dict(what=what, lines=shortened(lines, best, usual))
    apart = points.varying(rows, [], columns_in(rows, (*PROBLEM, *points.MODEL, *COMPARED)))
    names = [words.name(point["row"], apart) or "the point" for point in there]
    lines = [dict(name=name) | numbers_of(point) for name, point in zip(names, there)]
    said = []
    for key, name, unit in (("reads", what, "sectors"), ("time", "time", "\N{MICRO SIGN}s")):
        values = [line[key][0] for line in lines if line[key]]
        if values:
            span = " to ".join(dict.fromkeys(scaled(end) for end in (min(values), max(values))))
            said.append(f"{name} {span} {unit}")
    one = "No two schedules of a problem" if {*apart} & {*COMPARED} else "One schedule"
    one += f", {len(lines)} point{'s' * (len(lines) > 1)}: {'; '.join(said)}."
    known = dict(lead=one, best="", text="", usual="", sure=trust(there or found, source))
    return known | dict(what=what, lines=lines[:MOST_NAMES])


def shortened(lines, *kept):
    """The first, with those that must be there."""
    left = [line["name"] for line in lines if line["name"] not in kept][: MOST_NAMES - len(kept)]
    return [line for line in lines if line["name"] in (*kept, *left)]


def parted(found, key):
    groups = {}
    for point in found:
        groups.setdefault(key(point["row"]), []).append(point)
    return groups.values()


def answers(found, shown):
    """One a GPU, mask, head dim and, of predictions, model, of `sawtooth search` one a problem: of
    measurements where they compare schedules, else of predictions."""
    rows = [point["row"] for point in found]
    apart = columns_in(rows, PROBLEM if "evaluated_by" in rows[0] else APART)
    differ = points.varying(rows, [], [column for column in apart if column != "gpu"])
    for of_group in parted(found, lambda row: table.cells(row, apart)):
        each = []
        for source in ("measured", "predicted", "published"):
            there = [point for point in of_group if source in point]
            model = ("timing", "l2") if source == "predicted" else ()
            parts = parted(there, lambda row: words.name(row, model))
            each += [[answer(part, shown, source) for part in parts]] if there else []
        label = words.name(of_group[0]["row"], ["gpu", *differ])
        for one in next((some for some in each if any(a["usual"] for a in some)), each[0]):
            yield one | dict(gpu=label)
