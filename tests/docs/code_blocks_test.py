"""Every code block of README and docs does what the page says, on a machine without a GPU.

    code_blocks_test.py PROGRAM BUILD_FOLDER

A page is a folder of its own that shows the tree as a clone has it, with the built program on PATH and
under build/; its blocks run there in turn. A command with the comment `# needs a GPU`, or after a line
of its own that says so, must end with exit code 3 and one clear line here. What stands in INSTEAD is run in another form, or not at
all, for the reason given; what a page takes as given stands in GIVEN.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(\S*)\n(.*?)^```", re.M | re.S)
NEEDS_GPU = "# needs a GPU"
NO_CODE = ("text",)  # what a command prints
SECONDS = 300  # of a command
OWN_SCAN = "sawtooth-own-scan"  # the program with the scan of the tutorial, which the build makes

PRESETS = r"cmake --list-presets=all . | grep '\"\g<preset>\"' >/dev/null"
# (pattern of a command, what is run for it, why); no command: it is left out.
INSTEAD = (
    (r"git clone .*", ":", "the page's folder is the clone"),
    (
        r"cmake --preset \S+ -DSAWTOOTH_OWN_SCAN_HEADER=(?P<header>\S+) -DSAWTOOTH_OWN_SCAN=\S+",
        f'[ -f \\g<header> ] && ln -sf "$BUILD/{OWN_SCAN}" bin/sawtooth',
        "the build has made it",
    ),
    (
        r"cmake --preset (?P<preset>\S+)( && cmake --build --preset (?P=preset)( --parallel)?)?",
        PRESETS,
        "the build runs this test",
    ),
    (
        r"cmake --build --preset (?P<preset>\S+) --target sawtooth --parallel",
        PRESETS,
        "the build runs this test",
    ),
    (
        r"(?P<before>sawtooth search .*--seq) 64K(?P<after> .*)",
        r"\g<before> 4K\g<after> --budget 1",
        "the same search of a short problem",
    ),
    (r"\./experiments/reproduce.sh --quick", None, "a stage of .ci/run"),
    (r"\./tests/run.sh", None, "it runs this test"),
    (r"ctest (?P<options>.*)", r"ctest -N \g<options>", "the tests run beside this one"),
    (r"(?P<list>sawtooth counters list.*)", r"\g<list> || [ $? = 3 ]", "CUPTI may be missing"),
    (r"(grep|echo) .*RmProfiling.*|echo .*NVreg_.*", None, "a driver's settings"),
    (r"(sudo|docker) .*", None, "another user's rights"),
    (r"mpirun .*", None, "a test of its own, where MPI is"),
    (r"bash sweep.sh submit", "bash -n sweep.sh", "Slurm is not here"),
)
TABLES = """
sawtooth simulate --gpu gb10 --seq 4K --scan linear,sawtooth --csv predicted.csv
sed 's/,predicted,/,measured,/' predicted.csv > measured.csv
"""
GIVEN = {
    "docs/guide/tutorial.md": TABLES.replace("gb10 --seq 4K", "h200 --seq 128K"),
    "README.md": TABLES + "mkdir -p runs/NAME && cp predicted.csv runs/NAME/results.csv",
    "docs/guide/your-kernel.md": """printf 'gpu = h200\\nseq = 4K\\n' > list.ini
sawtooth simulate --gpu h200 --seq 1K,2K --csv recorded.csv
printf 'seq_q,seq_kv,head_dim\\n1024,1024,64\\n1024,1024,64\\n' > launches.csv
""",
    "docs/reference/compare.md": TABLES + "printf 'gpu = gb10\\nseq = 4K\\n' > attention.ini",
    "docs/reference/options.md": "printf 'gpu = gb10\\nseq = 1K, 2K\\n' > sweep.ini",
    "docs/reference/formats.md": "printf 'line\\n0\\n1\\n2\\n1\\n' > theirs.csv",
}


def pages():
    return sorted(ROOT.glob("README*.md")) + sorted(ROOT.glob("docs/**/*.md"))


def has_matplotlib():
    """As `sawtooth plot` looks for it."""
    return any(
        subprocess.run([python, "-c", "import matplotlib"], capture_output=True).returncode == 0
        for python in ("python3", "/usr/bin/python3")
        if shutil.which(python)
    )


def commands_of(text):
    """Logical lines without comments, and whether each needs a GPU."""
    all_need_gpu = False
    for line in re.sub(r"\\\n\s*|(?<=\|)\n\s*", " ", text).splitlines():
        all_need_gpu = all_need_gpu or line.strip().startswith(NEEDS_GPU)
        command = re.sub(r"(^|\s)#.*", "", line).strip()
        if command:
            yield re.sub(r"\s+", " ", command), all_need_gpu or NEEDS_GPU in line


class Page:
    """A folder as a clone, and what its blocks said."""

    def __init__(self, path, folder, program, build, count):
        self.name = path.relative_to(ROOT).as_posix()
        self.text = path.read_text(encoding="utf-8")
        self.folder = pathlib.Path(folder)
        self.count = count
        for entry in ROOT.iterdir():
            if entry.name not in ("build", "runs", ".git"):
                (self.folder / entry.name).symlink_to(entry)
        (self.folder / "bin").mkdir()
        (self.folder / "bin" / "sawtooth").symlink_to(program)
        (self.folder / "build").mkdir()
        for preset in ("cpu", "release"):
            (self.folder / "build" / preset).symlink_to(build)
        self.environment = os.environ | {
            "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
            "BUILD": str(build),
            "CUDA_VISIBLE_DEVICES": "",  # no page may need one unless it says so
            "SAWTOOTH_EXPERIMENTS": str(ROOT / "experiments"),
        }
        self.has_own_scan = (build / OWN_SCAN).exists()

    def run(self, command):
        # Each block is a shell of its own: aliases of a build stand for the program on PATH.
        place = dict(cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL)
        words = ["bash", "-c", "set -o pipefail\n" + command]
        return subprocess.run(words, **place, capture_output=True, text=True, timeout=SECONDS)

    def blocks(self):
        for block in BLOCK.finditer(self.text):
            line = self.text.count("\n", 0, block.start()) + 1
            yield f"{self.name}:{line}", block.group(1), block.group(2), self.text[: block.start()]

    def check(self, test):
        if self.name in GIVEN:
            given = self.run("set -e\n" + GIVEN[self.name])
            test.assertEqual(given.returncode, 0, given.stderr)
        for place, language, text, before in self.blocks():
            if language in NO_CODE:
                continue
            rule = getattr(self, "check_" + language, None)
            with test.subTest(place):
                test.assertIsNotNone(rule, f"{place}: no rule runs a block of '{language}'")
                rule(test, place, text, before)

    def check_sh(self, test, place, text, before):
        for command, needs_gpu in commands_of(text):
            self.count["commands"] += 1
            if needs_gpu:
                self.check_needs_gpu(test, place, command)
                continue
            for pattern, instead, reason in INSTEAD:
                match = re.fullmatch(pattern, command)
                if match is None:
                    continue
                self.count[f"other: {reason}" if instead else f"left out: {reason}"] += 1
                command = match.expand(instead) if instead else None
                break
            if command is None:
                continue
            if command.startswith("sawtooth plot ") and not has_matplotlib():
                self.count["left out: no Python here has matplotlib"] += 1
                continue
            if OWN_SCAN in command and not self.has_own_scan:
                self.count[f"left out: no {OWN_SCAN} in this build"] += 1
                return
            done = self.run(command)
            test.assertEqual(done.returncode, 0, f"{place}: {command}\n{done.stderr[-2000:]}")

    check_bash = check_sh

    def check_needs_gpu(self, test, place, command):
        self.count["end with 3 without a GPU"] += 1
        done = self.run(command)
        said = f"{place}: {command}\n{done.stdout[-1000:]}{done.stderr[-1000:]}"
        test.assertEqual(done.returncode, 3, said)
        reasons = [line for line in done.stderr.splitlines() if not line.startswith("note:")]
        test.assertEqual(len(reasons), 1, said)

    def check_ini(self, test, place, text, before):
        """A file that the program reads: as the text before it, or its first line, names it."""
        self.count["files"] += 1
        named = re.findall(r"`(\w+\.ini)`", before[-300:]) + re.findall(
            r"^# (\w+\.ini)$", text, re.M
        )
        name = named[-1] if named else "block.ini"
        (self.folder / name).write_text(text, encoding="utf-8")
        option = next((f"--{kind} ./" for kind in ("gpu", "system") if f"[{kind}]" in text), "")
        point = "" if not option else " --seq 1K" + (" --gpu gb10" if "system" in option else "")
        done = self.run(f"sawtooth simulate {option}{name}{point} --print-config")
        test.assertEqual(done.returncode, 0, f"{place}: {done.stderr}")

    def check_cpp(self, test, place, text, before):
        self.count["compiled"] += 1
        compiler = [os.environ.get("CXX", "c++"), "-std=c++20", "-fsyntax-only", "-x", "c++", "-"]
        done = subprocess.run(
            [*compiler, f"-I{ROOT}"],
            input=text.replace("#pragma once\n", ""),
            capture_output=True,
            text=True,
        )
        test.assertEqual(done.returncode, 0, f"{place}: {done.stderr}")

    def check_python(self, test, place, text, before):
        self.count["Python blocks, run with the package by tests/python/documents_test.py"] += 1


class Count(dict):
    def __missing__(self, key):
        return 0


class CodeBlocks(unittest.TestCase):
    program = build = None

    def test_every_block_does_what_its_page_says(self):
        self.assertIn(ROOT / "README.md", pages())
        count = Count()
        for path in pages():
            with tempfile.TemporaryDirectory() as folder:
                Page(path, folder, self.program, self.build, count).check(self)
        for name, number in sorted(count.items()):
            print(f"{number:4} {name}")
        self.assertGreater(count["commands"], 20)
        self.assertGreater(count["end with 3 without a GPU"], 3)


if __name__ == "__main__":
    CodeBlocks.program, CodeBlocks.build = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
