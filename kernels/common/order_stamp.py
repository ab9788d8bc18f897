"""Stamps for Triton kernels of your own: which program is at which item and tile, on which SM and
when; `sawtooth order` finds the schedule behind them.

    records = torch.zeros((capacity, 5), dtype=torch.int64, device="cuda")
    count = torch.zeros(1, dtype=torch.int64, device="cuda")
    kernel[grid](..., records, count)   # in its K/V loop: stamp_order(records, count, item, tile)
    write_order_stamps(records, count, "stamps.csv")

item = head * Q tiles of a head + Q tile, with the heads of all batches counted on. `count` past the
capacity is not caught on the device: give a row for every step of the launch.
"""

import triton
import triton.language as tl


# A line a parameter would hide the functions.
# fmt: off
@triton.jit
def _global_timer():
    return tl.inline_asm_elementwise("mov.u64 $0, %globaltimer;", "=l", [], dtype=tl.int64,
                                     is_pure=False, pack=1)


@triton.jit
def _sm():
    return tl.inline_asm_elementwise("mov.u32 $0, %smid;", "=r", [], dtype=tl.int32,
                                     is_pure=False, pack=1)


@triton.jit
def stamp_order(records, count, item, tile):
    time_ns = _global_timer()
    program = ((tl.program_id(2) * tl.num_programs(1) + tl.program_id(1)) * tl.num_programs(0)
               + tl.program_id(0))
    row = records + tl.atomic_add(count, 1) * 5
    tl.store(row, program.to(tl.int64))
    tl.store(row + 1, item)
    tl.store(row + 2, tile)
    tl.store(row + 3, _sm().to(tl.int64))
    tl.store(row + 4, time_ns)
# fmt: on


def write_order_stamps(records, count, path):
    """A CSV for `sawtooth order`; raises ValueError where the launch had more steps than rows."""
    stamps = int(count.item())
    if stamps > records.shape[0]:
        raise ValueError(f"{stamps} stamps, but room for {records.shape[0]}")
    with open(path, "w", encoding="utf-8") as file:
        file.write("cta,item,tile,sm,time_ns\n")
        for row in records[:stamps].tolist():
            file.write(",".join(str(value) for value in row) + "\n")
