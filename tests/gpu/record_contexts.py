#!/usr/bin/env python3
"""Does `sawtooth record` count each launch of a program of several contexts and processes?

    record_contexts.py check SAWTOOTH    records the program below; a line a launch; exit code 1 if one is wrong
    record_contexts.py program [child]   contexts one after the other and in turn, then a child process beside it

Launch N of a process writes N x 64 KiB, so what L2 must be given is known to the sector. Needs a GPU whose chip is
GH100, and no package.
"""

import csv
import ctypes
import pathlib
import subprocess
import sys
import tempfile

WRITES = "lts__t_sectors_srcunit_tex_op_write.sum"
SECTOR, THREADS, CTAS = 32, 256, 64  # a launch of 64 x 256 threads writes 64 KiB
MAY_DIFFER = 64  # sectors: some tens come and go from launch to launch
PTX = b"""
.version 7.0
.target sm_75
.address_size 64
.visible .entry written(.param .u64 data)
{
  .reg .b32 %cta, %size, %lane, %i;
  .reg .b64 %data, %at;
  ld.param.u64 %data, [data];
  cvta.to.global.u64 %data, %data;
  mov.u32 %cta, %ctaid.x;
  mov.u32 %size, %ntid.x;
  mov.u32 %lane, %tid.x;
  mad.lo.u32 %i, %cta, %size, %lane;
  mul.wide.u32 %at, %i, 4;
  add.u64 %at, %data, %at;
  st.global.u32 [%at], %i;
  ret;
}
"""


class Gpu:
    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        self.launches = 0
        self("cuInit", 0)

    def __call__(self, name, *arguments):
        code = getattr(self.cuda, name)(*arguments)
        if code != 0:
            sys.exit(f"record_contexts.py: {name}: CUDA error {code}")

    def context(self):
        context, module, kernel = (ctypes.c_void_p() for _ in range(3))
        self("cuCtxCreate_v2", ctypes.byref(context), 0, 0)
        self("cuModuleLoadData", ctypes.byref(module), PTX)
        self("cuModuleGetFunction", ctypes.byref(kernel), module, b"written")
        data = ctypes.c_uint64()
        self("cuMemAlloc_v2", ctypes.byref(data), ctypes.c_size_t(64 << 20))
        return context, kernel, data

    def launch(self, context, kernel, data):
        self.launches += 1
        self("cuCtxSetCurrent", context)
        arguments = (ctypes.c_void_p * 1)(ctypes.addressof(data))
        sizes = (CTAS * self.launches, 1, 1, THREADS, 1, 1, 0)
        self("cuLaunchKernel", kernel, *sizes, None, arguments, None)
        self("cuCtxSynchronize")


def program(is_child):
    gpu = Gpu()
    first = gpu.context()
    gpu.launch(*first)
    gpu.launch(*first)
    if is_child:
        return
    gpu("cuCtxDestroy_v2", first[0])
    second, third = gpu.context(), gpu.context()
    for context in (second, second, third, second, third):
        gpu.launch(*context)
    subprocess.run([sys.executable, __file__, "program", "child"], check=True)
    gpu.launch(*third)


def check(sawtooth):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "rows.csv"
        words = (sawtooth, "record", "--kernel", "written", "--metrics", WRITES, "--csv", path)
        subprocess.run([*words, "--", sys.executable, __file__, "program"], check=False)
        if not path.exists():
            return 1
        with open(path, encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    expected = [("0", number + 1) for number in range(8)] + [("1", 1), ("1", 2)]
    wrong = len(rows) != len(expected)
    for row, (process, number) in zip(rows, expected):
        sectors = number * CTAS * THREADS * 4 // SECTOR
        value = row.get(WRITES) or row.get("l2_write_sectors") or "nan"
        good = row["process"] == process and row["status"] == "ok"
        good = good and abs(float(value) - sectors) <= MAY_DIFFER
        wrong += not good
        print(
            *("PASS" if good else "FAIL", "process", row["process"], "context", row["context"]),
            *("grid", row["grid"], row["status"], value, "of", sectors),
        )
    return 1 if wrong else 0


def main(arguments):
    if len(arguments) == 2 and arguments[0] == "check":
        return check(arguments[1])
    if arguments in (["program"], ["program", "child"]):
        program(len(arguments) == 2)
        return 0
    sys.exit(__doc__)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
