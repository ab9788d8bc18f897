"""No file makes a command take more than a gigabyte or minutes, and no count is a wrong one: each input
here once did."""

import gzip
import os
import re
import resource
import time
import unittest

from in_folder import PROGRAM, InFolder, rows_of, run, write_table

# Twice what the slowest of these takes on one core of two that are busy, in a build without optimisation.
SECONDS = float(os.environ.get("SAWTOOTH_SECONDS", "60"))
GIGABYTE = 1 << 30


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (GIGABYTE, GIGABYTE))


class Limits(InFolder):
    def program(self, words, code=0):
        began = time.monotonic()
        ended = super().program(words, code=code, timeout=5 * SECONDS, preexec_fn=limited)
        if code == 2:
            self.assertEqual(ended.stderr.count("\n"), 1, ended.stderr)
        self.assertLess(time.monotonic() - began, SECONDS, words)
        return ended

    def rows(self, words):
        return rows_of(self.program(words + " --quiet --csv -").stdout)


class Memory(Limits):
    def megabytes(self, words):
        """What a program takes at most."""
        _, code, used = os.wait4(os.posix_spawn(words[0], words, os.environ), 0)
        self.assertEqual(code, 0, words)
        return used.ru_maxrss / 1024

    def test_a_wavefront_of_one_far_cell_is_refused(self):
        self.write("w.csv", "run_id,scan,step,worker,kv_tile\na,linear,30000,30000,0\n")
        self.program("simulate --gpu gb10 --seq 256 --quiet --csv results.csv")
        self.program("report . -o r.html", 2)

    def test_a_launch_that_lacks_a_cta_is_no_crash(self):
        columns = "run_id,head_dim,tile_q,tile_kv,mask,launch,workers,prefetch,kernel,scan,dtype\n"
        self.write("r.csv", columns + "a,64,128,128,none,static,132,0,mma,linear,bf16\n")
        header = "run_id,repetition,worker,start_ns,item,steps\n"
        for lost in (0, 5, 131):
            items = [
                f"a,0,{cta},{k * 2003300},{cta + 132 * k},1000\n"
                for cta in range(132)
                for k in range(4)
                if cta != lost
            ]
            self.write("i.csv", header + "".join(items))
            self.program("calibrate --gpu h200 --items r.csv i.csv --output o")
        for worker in ("4000000000", str(2**63 - 1)):
            self.write("i.csv", header + f"a,0,{worker},0,0,1000\n")
            self.program("calibrate --gpu h200 --items r.csv i.csv --output o", 2)
        launches = [f"a,{n},19999,0,0,1000\n" for n in range(20_000)]
        for items in ([], launches):  # each of which would have 20,000 CTAs
            self.write("i.csv", header + "".join(items))
            self.program("calibrate --gpu h200 --items r.csv i.csv --output o", 2)

    def test_files_without_an_end_are_refused(self):
        point = "simulate --gpu gb10 --seq 64 --quiet "
        for words in (
            "simulate --gpu gb10 --lengths file:/dev/zero",
            point + "--page-rows 64 --page-table file:/dev/zero",
            point + "--l2 sets --l2-hash xor --l2-bytes 4K --l2-hash-matrix /dev/zero",
            point + "--order-file /dev/zero",
            "simulate /dev/zero",
            "simulate --seq 64 --gpu /dev/zero",
        ):
            self.assertIn("/dev/zero", self.program(words, 2).stderr)

    def test_a_configuration_of_a_million_sections_is_refused(self):
        self.write("s.ini", "gpu = gb10\nseq = 64\n" + "[a]\n" * 1_000_000)
        self.assertIn("sections", self.program("simulate s.ini --quiet --csv r.csv", 2).stderr)

    def test_accesses_of_a_trace_are_kept_as_runs(self):
        if self.program("trace --help").returncode:
            self.skipTest("built without traces")
        rows = "cta,line\n" + "".join(f"0,{line}\n" for line in range(1000)) * 1500
        with gzip.open(self.folder / "t.gz", "wb", compresslevel=1) as file:
            file.write(rows.encode())
        read, table = (str(self.folder / name) for name in ("t.gz", "r.csv"))
        words = ["trace", "--read", read, "--l2-bytes", "64K", "--csv", table]
        # An access took 81 bytes, 122 MB for all of them.
        self.assertLess(self.megabytes([PROGRAM, *words]), 60)
        (row,) = rows_of(self.read("r.csv"))
        self.assertEqual(row["l2_read_sectors"], str(4 * 1000 * 1500))
        self.assertEqual(row["cold_read_sectors"], "4000")
        self.assertEqual(row["l2_read_miss_sectors"], row["l2_read_sectors"])

    def test_a_cell_of_a_trace_takes_no_memory(self):
        if self.program("trace --help").returncode:
            self.skipTest("built without traces")
        most, lru, lines = 1 << 24, "--l2-bytes 1M", "--unit lines --write t"
        sets = "--l2 sets --l2-ways 1 --l2-bytes 50M"
        turned = [
            f"{at * most},{most // 2},{tensor},{way}\n"
            for at, tensor in enumerate("qkv")
            for way in ("forwards", "backwards")
        ]
        for rows, words, code in (
            (["line,lines\n", f"0,{1 << 28}\n"], sets, 2),
            (["line,lines\n", f"0,{most - 1}\n"], sets, 0),
            (["line,lines\n", *(f"{at * most},{most - 1}\n" for at in range(9))], lines, 2),
            (["line,lines,tensor,direction\n", *turned], lru, 2),
            (["cta,address,size\n", *(f"{cta},0,1048576\n" for cta in range(10_000))], lru, 0),
        ):
            self.write("t.csv", "".join(rows))
            self.program(f"trace --read t.csv {words}", code)

    def test_a_dry_run_expects_the_memory_that_a_point_takes(self):
        own = self.megabytes([PROGRAM, "gpus"])  # of the program and its kernels
        for words in (
            "--gpu gb10 --seq 4K",
            "--gpu gb10 --batch 64 --seq-q 1 --seq-kv 16K --heads 32 --kv-heads 8",
            "--gpu gb10 --batch 512 --heads 32 --seq 128",
            "--gpu h200 --batch 8 --seq-q 1 --seq-kv 64K --heads 32 --timing lockstep --l2 sets",
            "--gpu h200 --heads 32 --kv-heads 8 --lengths 16K+127x512",
            "--gpu gb10 --heads 32 --kv-heads 8 --seq-q 1 --lengths 16K+127x512",
            "--gpu h200 --heads 64 --kv-heads 8 --pack-gqa on --seq-q 1 --lengths 128K+255x2K",
            "--gpu h200 --heads 32 --kv-heads 8 --seq-q 1 --batch 512 --seq-kv 2K "
            "--timing lockstep --l2 sets",
        ):
            point = ["simulate", *words.split(), "--threads", "1"]
            said = run(*point, "--dry-run")
            expected = int(re.search(r"expected memory: up to (\d+) MiB", said.stdout)[1])
            taken = self.megabytes([PROGRAM, *point, "--quiet", "--csv", "/dev/null"])
            self.assertLess((taken - own) / 3, expected, words)
            self.assertLess(expected, taken * 3, words)


class Time(Limits):
    def test_predictions_of_many_seeds_are_compared_in_time(self):
        (row,) = self.rows("simulate --gpu gb10 --seq 256")
        seeds = range(16_000)
        for name, source in (("p.csv", "predicted"), ("m.csv", "measured")):
            table = [
                dict(row, source=source, seed=seed, repetition=seed, run_id=f"{seed:012x}")
                for seed in (seeds if name == "p.csv" else seeds[:1000])
            ]
            write_table(self.folder / name, table)
        self.program("compare p.csv m.csv --counters dram_read_sectors")

    def test_a_line_of_many_bytes_is_read_in_time(self):
        head = "-kernel name = k\nthread block = 0,0,0\nwarp = 0\ninsts = 1\n"
        for width in (1 << 20, 1 << 40):
            line = f"0 ffffffff 1 R1 LDG 1 R2 {width} 1 0x0 {1 << 20}\n"
            self.write("t.traceg", head + line)
            self.program("trace --read t.traceg --l2-bytes 64K --csv r.csv", 2)

    def test_many_workers_are_no_work(self):
        lines = "".join(f"{cta},{cta}\n" for cta in range(5000)) + "0,7\n" * 20_000
        self.write("t.csv", "cta,line\n" + lines)
        many, few = (
            self.rows(f"trace --read t.csv --l2-bytes 64K --workers {n}") for n in (1 << 20, 5000)
        )
        self.assertEqual([dict(many[0], workers="")], [dict(few[0], workers="")])


class Counts(Limits):
    def test_what_64_bits_do_not_hold_is_refused(self):
        words = "simulate --gpu gb10 --heads 8 --seq-q 1M --seq-kv 1G --tile-q 1 --head-dim 4096"
        self.assertIn("tile-q: ", self.program(words + " --dtype fp32 --dry-run", 1).stderr)


if __name__ == "__main__":
    unittest.main()
