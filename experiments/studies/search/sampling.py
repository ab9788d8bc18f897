#!/usr/bin/env python3
"""The best schedules of sampled shapes on twice as many K/V heads, as a configuration.

    sampling.py LIST.ini BEST.ini > TWICE.ini

What doubling the sample changes, beside doubling the counts, is its error. Sections stay so many heads. A schedule with an order
of its own is of one problem alone and is left out.
"""

import configparser
import sys


def sections(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    parser = configparser.ConfigParser(default_section="base", strict=False)
    parser.read_string(text if text.lstrip().startswith("[") else "[before]\n" + text)
    return [(name, parser[name]) for name in parser.sections() if name != "before"]


def twice(name, best):
    keys = dict(best)
    if "sampled" not in name or "order-file" in keys:
        return None
    for key in ("kv-heads", "heads"):
        keys[key] = str(2 * int(keys[key]))
    return keys


def main():
    shapes, best = sections(sys.argv[1]), sections(sys.argv[2])
    if len(shapes) != len(best):
        sys.exit("sampling.py: a shape has no best schedule")
    print("# The best schedules of sampled shapes on twice the K/V heads")
    for (name, _), (_, schedule) in zip(shapes, best):
        keys = twice(name, schedule)
        if keys:
            print(f"\n[{name}]")
            print("\n".join(f"{key} = {value}" for key, value in keys.items()))


if __name__ == "__main__":
    main()
