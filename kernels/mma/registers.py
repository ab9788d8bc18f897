"""Table of registers, stack and shared memory of every attention kernel in a library.

registers.py CUOBJDUMP LIBRARY CSV: reads the resource usage that ptxas left in the cubins, so the
table is of what ships. Spilled registers live in a kernel's local memory: exit 1 when a forward
kernel has any.
"""

import os
import re
import subprocess
import sys

SHAPE_FIELDS = ["kernel", "head_dim", "tile_q", "tile_kv", "warps", "stages", "score_columns",
                "q_in_registers", "ctas_per_sm"]
ARCHITECTURE = re.compile(r"^arch = (sm_\w+)")
FUNCTION = re.compile(r"^\s*Function (\S+?):?$")
USAGE = re.compile(r"REG:(\d+) STACK:(\d+) SHARED:(\d+) LOCAL:(\d+)")
# Itanium ABI: the template arguments of ForwardShape, type first, then ints and a bool.
SHAPE = re.compile(r"ForwardShapeI(\d+)(\w+?)((?:L[ib]\d+E){8})E")


def shape_of(symbol):
    """Element type, family and shape of a forward kernel's mangled name, or None for others."""
    match = SHAPE.search(symbol)
    if match is None:
        return None
    element = "bf16" if "bfloat16" in match.group(2) else "fp16"
    family = "mma-tma" if "forward_tma_kernel" in symbol else "mma"
    return [element, family] + re.findall(r"L[ib](\d+)E", match.group(3))


def rows_of(text):
    architecture = symbol = None
    for line in text.splitlines():
        if match := ARCHITECTURE.match(line.strip()):
            architecture = match.group(1)
        elif match := FUNCTION.match(line):
            symbol = match.group(1)
        elif (match := USAGE.search(line)) and symbol and (shape := shape_of(symbol)):
            yield [architecture, *shape, match.group(1), match.group(2), match.group(4)]


def main():
    tool, library, path = sys.argv[1:]
    output = subprocess.run([tool, "-res-usage", library], capture_output=True, text=True,
                            check=True).stdout
    rows = sorted(rows_of(output), key=lambda row: [(len(cell), cell) for cell in row])
    if not rows:
        sys.exit(f"registers.py: no forward kernel found in {library}")
    header = ["architecture", "dtype", *SHAPE_FIELDS, "registers", "stack_bytes", "local_bytes"]
    temporary = path + ".tmp"
    with open(temporary, "w", encoding="utf-8") as table:
        for row in [header, *rows]:
            table.write(",".join(row) + "\n")
    os.replace(temporary, path)
    spilled = [row for row in rows if row[-2] != "0" or row[-1] != "0"]
    for row in spilled:
        print("registers.py: spills: " + " ".join(row), file=sys.stderr)
    sys.exit(1 if spilled else 0)


if __name__ == "__main__":
    main()
