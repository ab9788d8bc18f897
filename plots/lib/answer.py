"""What a sweep says in a sentence: the schedule to take, what it changes, and how sure that is."""

import math

import points
import words
from measures import quantile, scaled

LEAST = 0.01  # a change of time by less is none; `sawtooth advise` takes the same
MOST_NAMES = 12  # in the figure
SAID = {"dram_read_sectors": "DRAM reads", "misses": "L2 misses", "time_us": "time"}


def log_width(value, low, high):
    return math.log(high / low) / 2 if low and high and low <= high else math.inf


def change(to, of):
    """(ratio, low, high), errors taken as independent; 0 to infinity where one has no interval."""
    width = math.hypot(log_width(*to), log_width(*of))
    ratio = to[0] / of[0]
    return ratio, ratio * math.exp(-width), ratio * math.exp(width)


def median_change(changes):
    """Of several problems: the medians of ratios and of their ends; None: no interval."""
    ratio, low, high = (quantile(values, 0.5) for values in zip(*changes))
    return (ratio, low, high) if high < math.inf else (ratio, None, None)


def percent(ratio, unit=" %"):
    value = round(100 * (ratio - 1), 1)
    sign = "\N{MINUS SIGN}" if value < 0 else "+" if value > 0 else ""
    return f"{sign}{abs(value):.1f}{unit}"


def is_less(changed):
    """Surely, with the whole interval."""
    return changed is not None and changed[2] is not None and changed[2] < 1 - LEAST


def is_more(changed):
    return changed is not None and changed[1] is not None and changed[1] > 1 + LEAST


def is_usual(row):
    return row.get("scan", "linear") == "linear" and row.get("q_order", "ascending") == "ascending"


def said_of(what, changed):
    ratio, low, high = changed
    sure = "" if is_less(changed) or is_more(changed) else ", not sure"
    span = f"{percent(low, '')} to {percent(high)}{sure}" if high else "no interval"
    return f"{what} {percent(ratio)} ({span})"


def sentence(usual, others, what, problems):
    """(name, whether surely better, words): surely the fastest, else not surely slower, least reads."""
    fitting = [each for each in others if not is_more(each["time"])] or others
    faster = [each for each in fitting if is_less(each["time"])]
    key = "time" if faster or not any(each["reads"] for each in fitting) else "reads"
    best = min(faster or fitting, key=lambda each: each[key][0] if each[key] else math.inf)
    parts = [(what, best["reads"]), ("time", best["time"])]
    said = ", ".join(said_of(name, changed) for name, changed in parts if changed)
    many = f", medians of {problems} problems" if problems > 1 else ""
    sure = bool(faster) or (is_less(best["reads"]) and not is_more(best["time"]))
    return best["name"], sure, f"{said}{many}."


def trust(found, source):
    """Where the numbers come from, and whether such numbers were judged."""
    rows = [row for point in found for row in point[source]]
    gpus = ", ".join(dict.fromkeys(row.get("gpu", "") for row in rows))
    if source != "predicted":
        most = max(len(point[source]) for point in found)
        return f"{source.capitalize()} on {gpus}" + (
            f", medians of {most} launches." if most > 1 else "."
        )
    models = dict.fromkeys(words.name(row, ("timing", "l2")) for row in rows)
    judged = dict.fromkeys(row.get("judged", "") or "none" for row in rows)
    known = "; or ".join(judged)
    error = "not judged there" if known == "none" else f"judged there: {known}"
    return f"Predicted for {gpus} by {' or '.join(models)}; {error}."


def place_of(shown, source, names):
    return next((i for i, each in enumerate(shown) if each in [(n, source) for n in names]), None)


def answer(found, shown, source):
    """The answer over points of one GPU by one source."""
    rows = [point["row"] for point in found]
    schedule = points.varying(rows, [], [c for c in points.SCHEDULE if c in rows[0]])
    problem = [c for c in points.POINT + points.MODEL if c not in points.SCHEDULE]
    columns = {"reads": ("dram_read_sectors", "misses"), "time": ("time_us",)}
    places = {key: place_of(shown, source, names) for key, names in columns.items()}
    what = SAID[shown[places["reads"]][0]] if places["reads"] is not None else "reads"
    problems, usual = {}, None
    for point in found:
        name = words.name(point["row"], schedule)
        usual = name if usual is None and is_usual(point["row"]) else usual
        key = tuple(point["row"].get(column, "") for column in problem)
        problems.setdefault(key, {})[name] = point["numbers"]
    usual = usual if usual is not None else words.name(rows[0], schedule)
    both = [of for of in problems.values() if usual in of and len(of) > 1]

    def changes(name, place):
        there = [] if place is None else [of for of in both if name in of]
        pairs = [(of[name][place], of[usual][place]) for of in there]
        pairs = [pair for pair in pairs if all(pair) and pair[1][0] > 0]
        return median_change([change(*pair) for pair in pairs]) if pairs else None

    names = list(dict.fromkeys(name for of in both for name in of))
    lines = [{"name": n, **{k: changes(n, place) for k, place in places.items()}} for n in names]
    result = dict(sure=trust(found, source), what=what)
    if len(lines) > 1:
        others = [each for each in lines if each["name"] != usual]
        best, sure, text = sentence(usual, others, what, len(both))
        known = dict(best=best, surely=sure, text=text, usual=usual)
        return result | known | dict(lines=shortened(lines, best, usual))
    lines = [
        {"name": ", ".join(filter(None, point["cells"])) or "the point"}
        | {key: None if place is None else point["numbers"][place] for key, place in places.items()}
        for point in found
    ]
    said = []
    for key, name, unit in (("reads", what, "sectors"), ("time", "time", "\N{MICRO SIGN}s")):
        values = [line[key][0] for line in lines if line[key]]
        if values:
            span = " to ".join(dict.fromkeys(scaled(end) for end in (min(values), max(values))))
            said.append(f"{name} {span} {unit}")
    text = f"One schedule, {len(lines)} point{'s' * (len(lines) > 1)}: {'; '.join(said)}."
    return result | dict(best="", text=text, usual="", lines=lines[:MOST_NAMES])


def shortened(lines, *kept):
    """The first, with those that must be there."""
    left = [line for line in lines if line["name"] not in kept][: MOST_NAMES - len(kept)]
    return [line for line in lines if line["name"] in kept or line in left]


def in_words(found):
    """The sentence of an answer."""
    best, usual = found["best"], found["usual"]
    if not best:
        return found["text"]
    if found["surely"]:
        return f"Take {best} instead of {usual}: {found['text']}"
    return f"Nothing here is surely better than {usual}. The nearest is {best}: {found['text']}"


def answers(found, shown):
    """One a GPU: of measurements where they compare schedules, else of predictions."""
    for gpu in dict.fromkeys(point["row"].get("gpu", "") for point in found):
        of_gpu = [point for point in found if point["row"].get("gpu", "") == gpu]
        sources = [s for s in ("measured", "predicted", "published") if any(s in p for p in of_gpu)]
        each = [answer([p for p in of_gpu if s in p], shown, s) for s in sources]
        yield next((a for a in each if a["usual"]), each[0]) | dict(gpu=gpu)
