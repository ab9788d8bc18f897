"""What the compiler made of the ladder's levels: HMMA in all of them, LDSM (ldmatrix) from level 4
on and not before, LDGSTS (cp.async) from level 2 on and not before, no local memory.

    sass_test.py CUOBJDUMP FILE        FILE holds the kernels (an object, library or program)
"""

import re
import subprocess
import sys

LEVELS = {"Naive": 1, "Pipelined": 2, "Swizzled": 3, "Ldmatrix": 4, "KvOuter": 5}
TYPES = ("__half", "__nv_bfloat16")


def instructions_by_kernel(listing):
    """Maps (level, type) to the set of opcodes of that kernel."""
    kernels = {}
    opcodes = None
    for line in listing.splitlines():
        function = re.search(r"Function : (\S+)", line)
        if function:
            name = function.group(1)
            level = next((n for word, n in LEVELS.items() if re.search(rf"\d+{word}I", name)), None)
            element = next((t for t in TYPES if t in name), None)
            opcodes = kernels.setdefault((level, element), set()) if level and element else None
            continue
        # "/*0000*/   @!P0 LDSM.16.M88.4 R4, [R2] ;"
        found = re.match(r"\s*/\*[0-9a-f]+\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9]*)", line)
        if found and opcodes is not None:
            opcodes.add(found.group(1))
    return kernels


def failures(kernels):
    expected = {(level, element) for level in LEVELS.values() for element in TYPES}
    for missing in sorted(expected - set(kernels)):
        yield f"level {missing[0]} for {missing[1]} is missing"
    for (level, element), opcodes in sorted(kernels.items()):
        wanted = dict(HMMA=True, LDSM=level >= 4, LDGSTS=level >= 2, LDL=False, STL=False)
        for opcode, present in wanted.items():
            if (opcode in opcodes) != present:
                yield (
                    f"level {level} for {element}: {opcode} "
                    f"{'is missing' if present else 'was not expected'}"
                )


def main():
    if len(sys.argv) != 3:
        print(__doc__)
        return 2
    listing = subprocess.run(
        [sys.argv[1], "--dump-sass", sys.argv[2]], check=True, capture_output=True, text=True
    ).stdout
    kernels = instructions_by_kernel(listing)
    found = list(failures(kernels))
    print(f"{len(kernels)} kernels looked at")
    for failure in found:
        print(failure)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
