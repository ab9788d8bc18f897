"""What is in the machine code of the Hopper kernels, read from the library without CUDA's tools.

machine_code.py LIBRARY CSV: one row a kernel with its registers, stack, and counts of the
instructions that decide its speed. Exit 1 when a kernel
  - keeps anything in local memory (a spill: LDL, STL or a stack frame),
  - has no HGMMA, or an HMMA (a slower path to the tensor cores),
  - waits after every HGMMA or two: ptxas serialises wgmma when it cannot prove that accumulators
    are left alone, and says so in a note that is no warning (C7510),
  - gathers its warps again and again (WARPSYNC): the compiler no longer sees that all lanes go the
    same way, and moves descriptors from lane to lane before every product, which costs a tenth of the speed.

A device program is an ELF file inside the library, uncompressed because the library is built with
-no-compress. Instructions of sm_90 have 16 bytes; the low 12 bits name the operation (read off
nvdisasm -hex). Attributes are those of .nv.info, documented by what cuobjdump prints of them.
"""

import csv
import os
import re
import struct
import sys

CUDA_MACHINE = 190  # EM_CUDA
INSTRUCTION_BYTES = 16
LDL, STL, HMMA, WARPGROUP, WARPSYNC = 0x983, 0x387, 0x23C, 0x9C5, 0x948
HGMMA = (0xDF0, 0x9F0)  # A in registers, A in shared memory
OTHERS = {HMMA: "hmma", LDL: "local_loads", STL: "local_stores", WARPSYNC: "warp_syncs"}
# At the ends of roles; a kernel that had lost its uniformity had 13.
MOST_WARP_SYNCS = 4
WARPGROUP_WAIT_BIT = 1 << 47  # WARPGROUP.DEPBAR, not WARPGROUP.ARRIVE
# .nv.info: attributes of format 4 (a size and that many bytes) that hold a symbol and a value.
SIZED_VALUE, FRAME_SIZE, REGISTER_COUNT = 4, 0x11, 0x2F
COLUMNS = ("kernel", "registers", "stack_bytes", "hgmma", "waits", "hmma", "local_loads",
           "local_stores", "warp_syncs")
SHAPE = re.compile(r"ShapeI(\d+)(\w+?)Li(\d+)ELi(\d+)ELi(\d+)ELi(\d+)ELNS\w+?OverlapE(\d)E"
                   r"LNS\w+?RescaleE(\d)ELi(\d+)E")
OVERLAPS = ("no overlap", "own products", "ping-pong")


def programs(library):
    """Every ELF image for CUDA in `library`."""
    at = library.find(b"\x7fELF")
    while at >= 0:
        if struct.unpack_from("<H", library, at + 18)[0] == CUDA_MACHINE:
            yield memoryview(library)[at:]
        at = library.find(b"\x7fELF", at + 4)


def sections(image):
    """(name, bytes) of every section (System V ABI, "Section Header Table")."""
    table, = struct.unpack_from("<Q", image, 40)
    size, count, names = struct.unpack_from("<HHH", image, 58)
    headers = [struct.unpack_from("<IIQQQQIIQQ", image, table + i * size) for i in range(count)]
    strings = headers[names][4]
    for header in headers:
        name = bytes(image[strings + header[0]:strings + header[0] + 1024]).split(b"\0")[0].decode()
        no_bits = header[1] == 8
        yield name, b"" if no_bits else bytes(image[header[4]:header[4] + header[5]]), header


def symbol_names(found):
    table = next(data for name, data, _ in found if name == ".symtab")
    strings = next(data for name, data, _ in found if name == ".strtab")
    return [strings[at:].split(b"\0")[0].decode()
            for at, in struct.iter_unpack("<I20x", table)]


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
    counts = dict.fromkeys(("hgmma", "waits", "hmma", "local_loads", "local_stores", "warp_syncs"),
                           0)
    for low, _ in struct.iter_unpack("<QQ", code):
        operation = low & 0xFFF
        if operation == WARPGROUP:
            counts["waits"] += bool(low & WARPGROUP_WAIT_BIT)
        elif operation in HGMMA:
            counts["hgmma"] += 1
        elif operation in OTHERS:
            counts[OTHERS[operation]] += 1
    return counts


def title(symbol):
    """The shape in a mangled name as text; the name itself when it has none."""
    match = SHAPE.search(symbol)
    if not match:
        return symbol
    _, element, head_dim, consumers, kv_rows, stages, overlap, lazy, cluster = match.groups()
    return " ".join((
        "bf16" if "bfloat16" in element else "fp16", f"d{head_dim}",
        f"{int(cluster) * int(consumers) * 64}x{kv_rows}", f"{stages} stages",
        OVERLAPS[int(overlap)], *(["lazy"] if lazy == "1" else []),
        *([f"cluster of {cluster}"] if cluster != "1" else [])))


def kernels(library):
    for image in programs(library):
        found = list(sections(image))
        symbols = symbol_names(found)
        values = {(attribute, symbols[symbol]): value
                  for name, data, _ in found if name == ".nv.info"
                  for attribute, symbol, value in attributes(data)}
        for name, code, _ in found:
            if not name.startswith(".text."):
                continue
            symbol = name[len(".text."):]
            yield {"kernel": title(symbol),
                   "registers": values.get((REGISTER_COUNT, symbol), ""),
                   "stack_bytes": values.get((FRAME_SIZE, symbol), 0),
                   **instruction_counts(code)}


def faults(row):
    if row["stack_bytes"] or row["local_loads"] or row["local_stores"]:
        yield f"spills: {row['stack_bytes']} bytes of stack"
    if row["hmma"] or not row["hgmma"]:
        yield f"{row['hgmma']} HGMMA and {row['hmma']} HMMA"
    if 2 * row["waits"] > row["hgmma"]:
        yield f"{row['waits']} waits for {row['hgmma']} HGMMA: serialised"
    if row["warp_syncs"] > MOST_WARP_SYNCS:
        yield f"{row['warp_syncs']} WARPSYNC: control flow is no longer seen as uniform"


def main():
    library, path = sys.argv[1:]
    with open(library, "rb") as file:
        rows = sorted(kernels(file.read()), key=lambda row: row["kernel"])
    if not rows:
        sys.exit(f"machine_code.py: no device program in {library} (built without -no-compress?)")
    with open(path + ".tmp", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    os.replace(path + ".tmp", path)
    wrong = [(row["kernel"], fault) for row in rows for fault in faults(row)]
    for kernel, fault in wrong:
        print(f"machine_code.py: {kernel}: {fault}", file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
