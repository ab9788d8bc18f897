"""What is in the machine code of the kernels of a library: registers, stack, and for Hopper counts
of the instructions that decide its speed. One row a kernel; exit 1 where one has a fault.

machine_code.py LIBRARY CSV              reads the device programs themselves, without CUDA's tools
machine_code.py LIBRARY CSV CUOBJDUMP    asks cuobjdump, which reads compressed programs too

A fault is a spill (LDL, STL or a stack frame; on Blackwell, where ptxas of CUDA 13.0 spills in
larger tiles, of variants of set covering alone), and in programs that are read themselves
  - no HGMMA, or an HMMA (a slower path to the tensor cores),
  - a wait after every HGMMA or two: ptxas serialises wgmma when it cannot prove that accumulators
    are left alone, and says so in a note that is no warning (C7510),
  - many WARPSYNC: the compiler no longer sees that all lanes go the same way, and moves descriptors
    from lane to lane before every product, which costs a tenth of the speed,
  - registers that products with B by rows (Q K^T) and by columns (P V) both read as A: nvcc 13.0 let
    probabilities overwrite Q (kernels/hopper/notes.md).

A device program is an ELF file inside the library, uncompressed where it was built with
-no-compress. Instructions of sm_90 have 16 bytes; the low 12 bits name the operation (read off
nvdisasm -hex). Attributes are those of .nv.info, documented by what cuobjdump prints of them.
"""

import os
import re
import struct
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.append(os.path.join(ROOT, "plots", "lib"))
import table  # noqa: E402  (the path above leads to it)

CUDA_MACHINE = 190  # EM_CUDA
WARPGROUP, WARPGROUP_WAIT_BIT = 0x9C5, 1 << 47  # WARPGROUP.DEPBAR, not WARPGROUP.ARRIVE
# The first of four registers of A, and whether B is transposed (.tnspB).
HGMMA_OF_REGISTERS, A_REGISTER_SHIFT, A_REGISTERS, B_TRANSPOSED_BIT = 0xDF0, 24, 4, 1 << 62
OPERATIONS = {
    HGMMA_OF_REGISTERS: "hgmma",
    0x9F0: "hgmma",  # A in shared memory
    0x23C: "hmma",
    0x983: "local_loads",  # LDL
    0x387: "local_stores",  # STL
    0x948: "warp_syncs",
}
COUNTS = ("hgmma", "waits", "hmma", "local_loads", "local_stores", "warp_syncs", "twofold_operands")
# At the ends of roles; a kernel that had lost its uniformity had 13.
MOST_WARP_SYNCS = 4
# .nv.info: attributes of format 4 (a size and that many bytes) that hold a symbol and a value.
SIZED_VALUE, FRAME_SIZE, REGISTER_COUNT = 4, 0x11, 0x2F
# Itanium ABI: the template arguments of a shape, type first.
HOPPER_SHAPE = re.compile(r"ShapeI(\d+)(\w+?)Li(\d+)ELi(\d+)ELi(\d+)ELi(\d+)ELNS\w+?OverlapE(\d)E")
# kernels/hopper/masked_short.cu, which fixes all else.
MASKED_SHAPE = re.compile(r"MaskedShapeI\d+(\w+?)EE")
HOPPER_BACKWARD_SHAPE = re.compile(r"hopper\w*?BackwardShapeI(\d+)(\w+?)((?:Li\d+E){5})Lb(\d)EE")
OVERLAPS = ("no overlap", "ping-pong")
MMA_SHAPE = re.compile(r"(Forward|Backward)ShapeI(\d*)(\w+?)((?:L[ib]\d+E){7,9})E")
# kernels/attention/variants.inc: variants that spill on no architecture.
COVERING = re.compile(
    r"^(BACKWARD_)?VARIANT\((\w+), (d\d+)_(\d+x\d+), +\w+, +(?:covering|both),", re.M
)
BLACKWELL = 100  # and later
TITLE = re.compile(r"sm_(\d+)\w* (\w+) (\S+) (backward )?(d\d+) (\d+x\d+) ")
ARCHITECTURE = re.compile(r"^arch = (sm_\w+)")
FUNCTION = re.compile(r"^\s*Function (\S+?):?$")
USAGE = re.compile(r"REG:(\d+) STACK:(\d+) SHARED:(\d+) LOCAL:(\d+)")


def programs(library):
    """Every ELF image for CUDA in `library`."""
    at = library.find(b"\x7fELF")
    while at >= 0:
        if struct.unpack_from("<H", library, at + 18)[0] == CUDA_MACHINE:
            yield memoryview(library)[at:]
        at = library.find(b"\x7fELF", at + 4)


def sections(image):
    """(name, bytes) of every section (System V ABI, "Section Header Table")."""
    (first,) = struct.unpack_from("<Q", image, 40)
    size, count, names = struct.unpack_from("<HHH", image, 58)
    headers = [struct.unpack_from("<IIQQQQIIQQ", image, first + i * size) for i in range(count)]
    strings = headers[names][4]
    for header in headers:
        name = (
            bytes(image[strings + header[0] : strings + header[0] + 1024]).split(b"\0")[0].decode()
        )
        no_bits = header[1] == 8
        yield name, b"" if no_bits else bytes(image[header[4] : header[4] + header[5]])


def symbol_names(found):
    symbols = next(data for name, data in found if name == ".symtab")
    strings = next(data for name, data in found if name == ".strtab")
    return [strings[at:].split(b"\0")[0].decode() for at, in struct.iter_unpack("<I20x", symbols)]


def attributes(info):
    """(attribute, symbol, value) of .nv.info."""
    at = 0
    while at + 4 <= len(info):
        form, attribute, size = struct.unpack_from("<BBH", info, at)
        at += 4
        if form == SIZED_VALUE:
            if size == 8:
                yield attribute, *struct.unpack_from("<II", info, at)
            at += size


def instruction_counts(code):
    counts = dict.fromkeys(COUNTS, 0)
    operands = {0: set(), B_TRANSPOSED_BIT: set()}
    for low, _ in struct.iter_unpack("<QQ", code):
        operation = low & 0xFFF
        if operation == HGMMA_OF_REGISTERS:
            first = low >> A_REGISTER_SHIFT & 0xFF
            operands[low & B_TRANSPOSED_BIT].update(range(first, first + A_REGISTERS))
        if operation == WARPGROUP:
            counts["waits"] += bool(low & WARPGROUP_WAIT_BIT)
        elif operation in OPERATIONS:
            counts[OPERATIONS[operation]] += 1
    counts["twofold_operands"] = len(operands[0] & operands[B_TRANSPOSED_BIT])
    return counts


def type_name(element):
    """Of a mangled type: f is float."""
    if element == "f":
        return "fp32"
    return "bf16" if "bfloat16" in element else "fp16"


def title(symbol):
    """The shape in a mangled name as text; the name itself when it has none."""
    if match := HOPPER_SHAPE.search(symbol):
        _, element, head_dim, consumers, kv_rows, stages, overlap = match.groups()
        shape = [f"d{head_dim}", f"{int(consumers) * 64}x{kv_rows}"]
        shape += [f"{stages} stages", OVERLAPS[int(overlap)]]
        shape = ["short"] * ("forward_short" in symbol) + shape
    elif match := MASKED_SHAPE.search(symbol):
        element = match[1]
        shape = ["short", "masked", "d128", "128x128"]
    elif match := HOPPER_BACKWARD_SHAPE.search(symbol):
        _, element, numbers, ordered = match.groups()
        head_dim, q_rows, kv_rows, stages, part_rows = re.findall(r"Li(\d+)E", numbers)
        shape = ["backward", f"d{head_dim}", f"{q_rows}x{kv_rows}", f"{stages} stages"]
        shape += [f"parts of {part_rows}"] + ["ordered"] * int(ordered)
    elif match := MMA_SHAPE.search(symbol):
        pass_name, _, element, numbers = match.groups()
        head_dim, q_rows, kv_rows, warps, stages, *_ = re.findall(r"L[ib](\d+)E", numbers)
        family = "mma-tma" if "forward_tma_kernel" in symbol else "mma"
        shape = [family] + ["backward"] * (pass_name == "Backward")
        shape += [f"d{head_dim}", f"{q_rows}x{kv_rows}", f"{warps} warps {stages} stages"]
    else:
        return symbol
    return " ".join([type_name(element), *shape])


def usage_rows(text):
    """Rows of the attention kernels in what cuobjdump -res-usage prints."""
    architecture = symbol = ""
    for line in text.splitlines():
        if match := ARCHITECTURE.match(line.strip()):
            architecture = match.group(1)
        elif match := FUNCTION.match(line):
            symbol = match.group(1)
        elif (match := USAGE.search(line)) and title(symbol) != symbol:
            registers, stack, _, local = map(int, match.groups())
            kernel = f"{architecture} {title(symbol)}"
            yield {"kernel": kernel, "registers": registers, "stack_bytes": stack + local}


def kernels(library):
    for image in programs(library):
        found = list(sections(image))
        symbols = symbol_names(found)
        values = {
            (attribute, symbols[symbol]): value
            for name, data in found
            if name == ".nv.info"
            for attribute, symbol, value in attributes(data)
        }
        for name, code in found:
            if not name.startswith(".text."):
                continue
            symbol = name[len(".text.") :]
            yield {
                "kernel": title(symbol),
                "registers": values.get((REGISTER_COUNT, symbol), ""),
                "stack_bytes": values.get((FRAME_SIZE, symbol), 0),
                **instruction_counts(code),
            }


def covering_variants():
    """(family, whether of the backward pass, head dim, tiling) as a title has them."""
    with open(os.path.join(ROOT, "kernels", "attention", "variants.inc"), encoding="utf-8") as file:
        rows = COVERING.findall(file.read())
    return {(family.replace("_", "-"), bool(b), dim, tiles) for b, family, dim, tiles in rows}


def may_spill(kernel, covering):
    match = TITLE.match(kernel)
    if not match:
        return False
    architecture, element, family, backward, head_dim, tiles = match.groups()
    family += "-fp32" if element == "fp32" else ""
    named = (family, bool(backward), head_dim, tiles)
    return int(architecture) >= BLACKWELL and named not in covering


def faults(row, covering=frozenset()):
    if any(row.get(name) for name in ("stack_bytes", "local_loads", "local_stores")):
        if not may_spill(row["kernel"], covering):
            yield f"spills: {row['stack_bytes']} bytes of stack"
    if "hgmma" not in row:
        return
    if row["hmma"] or not row["hgmma"]:
        yield f"{row['hgmma']} HGMMA and {row['hmma']} HMMA"
    if 2 * row["waits"] > row["hgmma"]:
        yield f"{row['waits']} waits for {row['hgmma']} HGMMA: serialised"
    if row["warp_syncs"] > MOST_WARP_SYNCS:
        yield f"{row['warp_syncs']} WARPSYNC: control flow is no longer seen as uniform"
    if row["twofold_operands"]:
        yield f"{row['twofold_operands']} registers are A of both products: one overwrites the other"


def main():
    library, path, *tool = sys.argv[1:]
    if tool:
        command = [*tool, "-res-usage", library]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        rows = list(usage_rows(text))
    else:
        with open(library, "rb") as file:
            rows = list(kernels(file.read()))
    if not rows:
        sys.exit(f"machine_code.py: no attention kernel in {library} (built without -no-compress?)")
    rows.sort(key=lambda row: row["kernel"])
    table.write(path, rows, list(rows[0]))
    covering = covering_variants()
    wrong = [(row["kernel"], fault) for row in rows for fault in faults(row, covering)]
    for kernel, fault in wrong:
        print(f"machine_code.py: {kernel}: {fault}", file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
