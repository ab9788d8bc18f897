"""Every mistake ends within a second with exit code 2 and one line that names the key, or the file
and its line, and what is allowed; nothing is written."""

import os
import time
import unittest

from in_folder import InFolder  # noqa: E402  (the path above leads to it)

SECONDS = float(os.environ.get("SAWTOOTH_SECONDS", "20"))

GPU = "[gpu]\ndescription = a GPU\nsms = 4; assumed; n\nl2-bytes = 1MiB; assumed; n\n"
KERNEL = "[kernel]\ndescription = kernels\n[every]\n"
FILES = {
    "unknown_key.ini": "gpu = gb10\nseq = 64\nhead-dimm = 64\n",
    "wrong_value.ini": "gpu = gb10\nseq = sixty\n",
    "no_gpu.ini": "gpu = gb11\nseq = 64\n",
    "three_lengths.ini": "gpu = gb10\nseq = 64\nseq-q = 64\nseq-kv = 64\n",
    "twice.ini": "gpu = gb10\nseq = 64\nthreads = 1\nthreads = 2\n",
    "broken.csv": "a,b\n1\n",
    "other.csv": "a,b\n1,2\n",
    "twin.txt": "0 0 0\n0 0 0\n",
    "no_sms.ini": "[gpu]\ndescription = a GPU\nl2-bytes = 1MiB; assumed; n\n",
    "ways.ini": GPU + "l2-ways = 1; assumed; n\nl2-reserved-share = 0.01; assumed; n\n",
    "far.ini": GPU + "latency-near-ns = 200; assumed; n\nlatency-far-ns = 100; assumed; n\n",
    "layout.ini": GPU.replace("= 4", "= 8") + "gpc-sms = 3,5; assumed; n\n",
    "jitter.ini": KERNEL + "jitter = 1e9; assumed; n\n",
    "with_jitter.ini": GPU + "kernel-costs = ./x\n",
    "r.csv.partial": "experiment,source,\nrow\n",
}
FILES["with_jitter.ini"] = GPU.replace("a GPU", "a GPU\nkernel-costs = ./jitter.ini")

SIMULATE = "simulate --gpu gb10 --csv new.csv "
SETS = SIMULATE + "--seq 64 --l2 sets "
SEARCH = "search --gpu gb10 --seq 1K "
TIMED = "simulate --seq 1K --timing timed --csv new.csv --gpu "
# By how the line says what is allowed: keys, and of each a value that is not.
VALUES = {
    "a whole number": "head-dim 0, batch 2M, seed -1",
    "bytes from 1": "l2-bytes 0",
    "none, ": "mask window:0, mask diagonal",
    "one of lin": "scan zigzag",
    "one of asc": "q-order up",
    "one of kv-in": "loop inner",
    "one of bf16": "dtype int8",
    "one of auto": "tiles big",
    "one of q-fir": "hints loud",
    "one of mma": "kernel fast",
    "one of noth": "without it",
    "one of ": "launch soon, head-order x, timing soon, l2 l3",
    "on or off": "lse maybe, quiet loud",
    "": "tile-kv 1048577, tile-q 1e3, workers 0, heads half, kv-heads 0, ctas-per-sm 33, prefetch -1, "
    "kv-split 0, section none, section auto:, launches 1000, threads 0, wavefront-steps 0",
}
# Command line, and what its line says after "sawtooth: ".
MISTAKES = [
    (
        f"{SIMULATE}--seq 64 --{key} {value}",
        f"--{key}: '{value}' is not allowed; allowed: {allowed}",
    )
    for allowed, pairs in VALUES.items()
    for key, value in (pair.split(" ") for pair in pairs.split(", "))
] + [
    (SIMULATE + "--seq 64 --kernel scalar-fp32", "--kernel: 'scalar-fp32' was removed; use mma"),
    (SIMULATE + "--seq-q 64 --seq-kv 0", "--seq-kv: '0' is not allowed; allowed: "),
    (SIMULATE + "--seq 64 --l2-bytes '12 bananas'", "--l2-bytes: '12 bananas' is not allowed; "),
    (SIMULATE + "--seq 64 --sample 10%", "--sample: was removed; every tile is followed"),
    (SIMULATE + "--seq 64,", "--seq: '' is not allowed; allowed: "),
    (SIMULATE + "--seq -64", "--seq: '-64' is not allowed; allowed: "),
    (SIMULATE + "--seq 64 --state warm", "state: simulate starts from an empty L2; allowed: cold"),
    # Keys that are not there, twice, or of another command.
    (SIMULATE, "seq: not given; give seq, or seq-q and seq-kv"),
    (SIMULATE + "--seq-q 64", "seq: not given; give seq, or seq-q and seq-kv"),
    ("simulate --seq 64 --csv new.csv", "gpu: not given; name one of `sawtooth gpus`"),
    (SIMULATE + "--seq", "--seq: a value is missing"),
    (SIMULATE + "--seq 64 --seq-q 64 --seq-kv 64", "--seq: has no effect beside seq-q and seq-kv"),
    (SIMULATE + "--seq 64 --quiet --quiet", "--quiet: given twice; it takes one value"),
    (SIMULATE + "--seq 64 --colour red", "--colour: not an option of simulate"),
    (SIMULATE + "--seq 64 --tolerance 5%", "--tolerance: not an option of simulate"),
    (SIMULATE + "--seq 64 -q", "-q: options have two dashes"),
    (SIMULATE + "--seq 64 none.ini", "none.ini: cannot be read"),
    (SIMULATE + "--seq 64 no_gpu.ini second.ini", "'second.ini' is one operand too many"),
    # Combinations, of which a sweep has no other points.
    (SIMULATE + "--seq 640 --head-dim 40 --tile-kv 7", "--tile-kv: tiles of 7 rows x 80 bytes "),
    (SIMULATE + "--seq 128 --kv-split 2 --loop kv-outer", "--kv-split: has no effect with loop"),
    (SIMULATE + "--seq 128 --launch balanced --kv-split 2", "--launch: balanced cuts along K/V; a"),
    (SIMULATE + "--seq 64 --die d.ini", "--die: was removed; speeds of SMs are drawn by seed"),
    (SIMULATE + "--seq 64 --step-ns 900", "--step-ns: has no effect without timing = timed"),
    (SIMULATE + "--seq 64 --stages 3", "--stages: has no effect without timing = timed"),
    (SIMULATE + "--seq 64 --launches 3", "--launches: needs timing = timed; the other models are"),
    (SIMULATE + "--seq 64 --l2 lru --l2-ways 8", "--l2-ways: has no effect without l2 = sets"),
    (SETS + "--timing timed", "--l2: sets counts in lockstep only; allowed"),
    (SETS + "--l2-ways 0", "--l2-ways: '0' is not allowed; allowed: a whole number from 1"),
    (SETS + "--l2-ways 7", "l2-bytes: 25165824 is no whole number of sets of 7 lines of 128 by"),
    (SETS + "--l2-policy mru", "--l2-policy: 'mru' is not allowed; allowed: one of "),
    (SETS + "--l2-policy plru --l2-ways 12", "--l2-ways: 12 leaves the tree of l2-policy = plru r"),
    (SETS + "--l2-hash xor", "--l2-hash: xor needs a power of two of sets, and l2-bytes / (l2-way"),
    (SETS + "--l2-hash crc", "--l2-hash: 'crc' is not allowed; allowed: one of balanced"),
    (SETS + "--l2-hash-matrix m.txt", "--l2-hash-matrix: has no effect with l2-hash = balanced"),
    (SETS + "--l2-line-bytes 48", "--l2-line-bytes: 48 is not allowed"),
    (SETS + "--l2-set-aside 1MiB", "--l2-set-aside: has no effect without a tensor that hints "),
    (SETS + "--hints k-last-v-last --l2-set-aside 20MiB", "--l2-set-aside: 20971520 is not allow"),
    (SETS + "--l2-policy opt --hints q-first", "--hints: have no effect with l2-policy = opt"),
    (
        "simulate --gpu h200 --seq 1K --timing timed --miss-curve c.csv",
        "--miss-curve: timing = timed counts at one capacity; allowed: lockstep, lockstep-wave",
    ),
    (SETS + "--miss-curve c.csv", "--miss-curve: l2 = sets counts at one capacity; allowed: l2"),
    (TIMED + "gb10 --loop kv-outer", "timing = timed: loop = kv-outer is not modelled in time; al"),
    # Names and files.
    (SIMULATE + "--seq 64 --system nothing", "--system: 'nothing' is not known; allowed: "),
    ("simulate --gpu h2OO --seq 64", "--gpu: 'h2oo' is not known; allowed: "),
    ("simulate --gpu ./none.ini --seq 64", "./none.ini: cannot be read"),
    (TIMED + "with_jitter.ini", "./jitter.ini:4: jitter: '1e9' is not allowed; allowed: a number"),
    ("simulate --seq 64 --gpu no_sms.ini", "no_sms.ini: sms is missing"),
    ("simulate --seq 64 --gpu ways.ini", "ways.ini: l2-reserved-share: 0.01 leaves sets of 1 way"),
    ("simulate --seq 64 --gpu far.ini", "far.ini: latency-far-ns: 100 is not allowed; allowed: "),
    ("simulate --seq 64 --gpu layout.ini", "layout.ini: gpc-sms: '3' is not allowed; allowed: ev"),
    ("simulate --seq 64 --gpu broken.csv", "--gpu: 'broken.csv' is not known; allowed: "),
    (SIMULATE + "--seq 128 --order-file none.txt", "none.txt: cannot be read"),
    (SIMULATE + "--seq 128 --order-file twin.txt", "twin.txt:2: '0 0 0' is there twice"),
    (SETS + "--l2-bytes 16M --l2-hash xor --l2-hash-matrix no.txt", "no.txt: cannot be read"),
    ("simulate unknown_key.ini", "unknown_key.ini:3: head-dimm: unknown key"),
    ("simulate wrong_value.ini", "wrong_value.ini:2: seq: 'sixty' is not allowed; allowed: "),
    ("simulate no_gpu.ini", "no_gpu.ini:1: gpu: 'gb11' is not known; allowed: "),
    ("simulate three_lengths.ini", "three_lengths.ini:2: seq: has no effect beside seq-q and seq"),
    ("simulate twice.ini", "twice.ini:4: threads: given twice; it takes one value"),
    # Outputs.
    ("simulate --gpu gb10 --seq 64 --csv no/such/r.csv", "no/such/r.csv: cannot be written"),
    ("simulate --gpu gb10 --seq 64 --csv .", ".: is a folder; give a file name"),
    ("simulate --gpu gb10 --seq 64 --csv other.csv --resume", "other.csv: --resume: its columns "),
    ("simulate --gpu gb10 --seq 64 --csv r.csv", "r.csv.partial: has 1 row of a sweep that was in"),
    ("simulate --gpu gb10 --seq 64 --resume", "--resume: needs --csv FILE to go on with"),
    ("simulate --gpu gb10 --seq 64 --resume --csv -", "--resume: needs --csv FILE to go on with"),
    (SIMULATE + "--seq 64 --resume --overwrite", "--overwrite: has no effect beside --resume; lea"),
    (SIMULATE + "--seq 64 --by-tensor no/such/t.csv", "no/such/t.csv: cannot be written"),
    (SIMULATE + "--seq 64 --by-tensor -", "'-': only --csv can go to standard output"),
    (SEARCH + "--best no/such/b.ini", "no/such/b.ini: cannot be written"),
    (SIMULATE + "--seq 64 --wavefront no/such/w.csv", "no/such/w.csv: cannot be written"),
    (SIMULATE + "--seq 64 --timeline no/such/t.json", "no/such/t.json: cannot be written"),
    # Other commands.
    (SEARCH + "--budget lots", "--budget: 'lots' is not"),
    (SEARCH + "--minimise gpu", "--minimise: 'gpu' is no"),
    (SEARCH + "--subject-to time", "--subject-to: 'time' has"),
    (SEARCH + "--orders 8", "--orders: was removed; "),
    ("simulat", "'simulat' is no command; allowed: simulate"),
    ("run", "run: needs a configuration: sawtooth run CONFIG"),
    ("run none.ini", "none.ini: cannot be read"),
    ("compare other.csv", "two CSVs are needed; usage: sawtooth compare PREDICTED MEASURED"),
    ("compare broken.csv broken.csv", "broken.csv:2:1: 1 cells; the header has 2"),
    ("compare other.csv other.csv", "other.csv: has no column '"),
    ("compare none.csv other.csv", "none.csv: cannot be read"),
    ("compare other.csv other.csv --counters apples", "--counters: 'apples' is no counter; allow"),
    ("compare other.csv other.csv --tolerance lots", "--tolerance: 'lots' is not allowed; allowed"),
    ("compare other.csv other.csv --csv no/such/e.csv", "no/such/e.csv: cannot be written"),
    ("compare other.csv other.csv --baselines computed", "--baselines: was removed; give compare"),
    ("gpus h200 more", "'more' is one operand too many; usage: sawtooth gpus"),
    ("schedules --all", "--all: not an option of schedules"),
    ("counters", "usage: sawtooth counters list"),
    ("calibrate --from other.csv", "calibrate --from: --gpu is missing"),
    ("calibrate --from other.csv --gpu gb10", "calibrate --from: gpu gb10 is not known to have t"),
]


class WrongInvocations(InFolder):
    def test_there_are_a_hundred(self):
        self.assertGreaterEqual(len({line for line, _ in MISTAKES}), 100)

    def test_each_ends_with_two_and_one_line_and_writes_nothing(self):
        for name, text in FILES.items():
            self.write(name, text)
        for line, message in MISTAKES:
            with self.subTest(line):
                began = time.monotonic()
                ended = self.program(line, code=2)
                self.assertLess(time.monotonic() - began, SECONDS)
                self.assertEqual(ended.stdout, "")
                self.assertEqual(ended.stderr[: 10 + len(message)], "sawtooth: " + message)
                self.assertEqual(ended.stderr.count("\n"), 1, ended.stderr)
                self.assertEqual(sorted(os.listdir(self.folder)), sorted(FILES))


if __name__ == "__main__":
    unittest.main()
