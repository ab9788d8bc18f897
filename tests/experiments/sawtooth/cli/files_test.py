"""Files meet: an output never takes the place of what is read or of another output, follows no link that
was planted beside it, keeps its mode, and never waits. A name that is written stays on one line."""

import os
import shlex
import signal
import stat
import subprocess
import time
import unittest

from in_folder import PROGRAM, ROOT, InFolder, rows_of, write_table

PROFILES = ROOT / "experiments/profiles"
POINT = "simulate --gpu gb10 --seq 256 --quiet "
LONG = "simulate --gpu gb10 --seq 512K --heads 64 --threads 1 --quiet "
STAMPS = "cta,item,tile,sm,time_ns\n"
ENDINGS = (".sawtooth-tmp", ".partial", ".partial.sawtooth-tmp")
NCU = "ID,Kernel Name,Grid Size,Block Size,dram__sectors_read.sum,m\n0,k,1,1,5,5\n"


class Files(InFolder):
    def names(self):
        return sorted(os.listdir(self.folder))

    def refused(self, words, *says, **more):
        ended = self.program(words, code=2, **more)
        self.assertEqual(ended.stderr.count("\n"), 1, ended.stderr)
        for part in says:
            self.assertIn(part, ended.stderr)
        return ended

    def fine(self, words, **more):
        return self.program(words, code=0, **more)

    def assert_printable(self, ended):
        for byte in ("\x1b", "\x07", "\0", "\x9b"):
            self.assertNotIn(byte, ended.stdout + ended.stderr)


class Meet(Files):
    def test_two_outputs_do_not_share_a_file_or_what_stands_beside_it(self):
        self.write("sub", "")
        os.symlink("c.csv", self.folder / "link")
        for other in [*"c.csv ./c.csv link".split(), *("c.csv" + end for end in ENDINGS)]:
            for option in ("by-tensor", "miss-curve", "histogram", "wavefront", "timeline"):
                self.refused(LONG + f"--csv c.csv --{option} {other}", other, "another output")
            self.refused(LONG + f"--by-tensor c.csv --histogram {other}", "another output")
        self.assertEqual(self.names(), ["link", "sub"])
        self.write("stamps.csv", STAMPS + "0,0,0,0,0\n0,0,1,0,9\n")
        self.refused("order stamps.csv --q-tiles 1 --order-file o --wavefront o", "another output")
        self.fine(POINT + "--csv d.csv --by-tensor d.csv.lock")
        self.assertIn("tensor", self.read("d.csv.lock"))
        self.assertIn("run_id", self.read("d.csv"))

    def test_no_output_takes_the_place_of_what_is_read(self):
        gpu = (PROFILES / "gpus/gb10.ini").read_text(encoding="utf-8")
        self.fine(POINT + "--csv p.csv")
        self.fine("trace --gpu gb10 --seq 256 --write t.bin")
        contents = {
            "g.ini": gpu,
            "s.ini": "gpu = ./g.ini\nseq = 256\n",
            "o.txt": "0 0 0\n",
            "stamps.csv": STAMPS + "0,0,0,0,0\n0,0,1,0,9\n",
            "ncu.csv": NCU,
            "lengths.txt": "64\n",
            "pages.txt": "0 1\n",
            "matrix.txt": "1\n",
            "p.csv": self.read("p.csv"),
        }
        for name, text in contents.items():
            self.write(name, text)
        os.symlink("s.ini", self.folder / "to_s")
        words = "simulate --gpu gb10 --quiet "
        pages, sets = "--seq 64 --page-rows 64", "--seq 64 --l2 sets --l2-hash xor --l2-bytes 4K"
        cases = [
            ("simulate s.ini --quiet --csv s.ini", "s.ini"),
            ("simulate s.ini --quiet --csv to_s", "to_s"),
            ("simulate s.ini --quiet --csv r.csv --by-tensor s.ini", "s.ini"),
            ("simulate to_s --quiet --csv s.ini", "s.ini"),
            ("simulate s.ini --quiet --csv g.ini", "g.ini"),
            ("simulate s.ini --quiet --csv r.csv --timeline ./g.ini", "g.ini"),
            (words + "--seq 64 --order-file o.txt --csv o.txt", "o.txt"),
            (words + "--lengths file:lengths.txt --csv lengths.txt", "lengths.txt"),
            (words + f"{pages} --page-table file:pages.txt --csv pages.txt", "pages.txt"),
            (words + f"{sets} --l2-hash-matrix matrix.txt --csv matrix.txt", "matrix.txt"),
            ("compare p.csv p.csv --csv p.csv", "p.csv"),
            ("compare p.csv p.csv --summary p.csv", "p.csv"),
            ("merge p.csv --csv p.csv", "p.csv"),
            ("search s.ini --quiet --budget 1 --best s.ini", "s.ini"),
            ("import-ncu ncu.csv --csv ncu.csv", "ncu.csv"),
            ("teach p.csv --output p.csv", "p.csv"),
            ("order stamps.csv --q-tiles 1 --order-file stamps.csv", "stamps.csv"),
            ("order stamps.csv --q-tiles 1 --wavefront stamps.csv", "stamps.csv"),
            ("trace --read t.bin --l2-bytes 1M --csv t.bin", "t.bin"),
            ("trace --read t.bin --write t.bin", "t.bin"),
            ("report p.csv -o p.csv", "p.csv"),
        ]
        trace = (self.folder / "t.bin").read_bytes()
        for words, name in cases:
            with self.subTest(words):
                ended = self.program(words)
                if "matplotlib" in ended.stderr or "without traces" in ended.stderr:
                    continue
                self.assertEqual(ended.returncode, 2, ended.stderr)
                self.assertIn(name, ended.stderr)
                self.assertNotIn("Traceback", ended.stderr)
        for name, text in contents.items():
            self.assertEqual(self.read(name), text, name)
        self.assertEqual((self.folder / "t.bin").read_bytes(), trace)
        self.assertEqual(self.names(), sorted([*contents, "to_s", "t.bin"]))

    def test_what_stands_beside_an_output_stays_where_it_is_read_or_not_ours(self):
        self.fine(POINT + "--csv p.csv")
        rows = self.read("p.csv")
        for words in ("merge {} --csv k", "teach {} --output k", "learn --rows {} --output k"):
            for name in ("k.tmp", "k.sawtooth-tmp"):
                self.write(name, rows)
                self.program(words.format(name))
                self.assertEqual(self.read(name), rows, words)
            self.refused(words.format(name), "read as well")
        self.write("r.csv.partial", "mine")
        for more in ("", "--overwrite", "--resume"):
            self.refused(POINT + f"--csv r.csv {more}", "r.csv.partial", "is in the way")
        self.assertEqual(self.read("r.csv.partial"), "mine")

    def test_of_two_runs_with_one_table_beside_the_second_is_refused(self):
        for words in ("--csv a.csv --by-tensor t", "--csv a.csv --timeline t --wavefront-steps 1"):
            first = subprocess.Popen([PROGRAM, *shlex.split(LONG + words)], cwd=self.folder)
            for _ in range(3000):
                if any("t.sawtooth-tmp" == name for name in self.names()):
                    break
                time.sleep(0.01)
            self.refused(
                POINT + words.replace("a.csv", "b.csv"), "t: another process is writing it"
            )
            first.send_signal(signal.SIGTERM)
            self.assertEqual(first.wait(60), 130)
            for name in self.names():
                os.remove(self.folder / name)


class Planted(Files):
    def test_no_link_pipe_or_folder_beside_an_output_is_followed(self):
        self.write("victim", "mine")
        for ending in ENDINGS:
            planted = self.folder / ("r.csv" + ending)
            for plant in (
                lambda: os.symlink("victim", planted),
                lambda: os.symlink("none", planted),
                lambda: os.mkfifo(planted),
                lambda: os.mkdir(planted),
            ):
                plant()
                for more in ("", "--overwrite", "--resume"):
                    self.refused(POINT + f"--csv r.csv {more}", planted.name, "is in the way")
                (os.rmdir if planted.is_dir() and not planted.is_symlink() else os.remove)(planted)
        os.symlink("victim", self.folder / "r.csv.lock")
        self.fine(POINT + "--csv r.csv")
        self.assertEqual(self.read("victim"), "mine")
        self.assertEqual(self.names(), ["r.csv", "r.csv.lock", "victim"])

    def test_the_mode_and_the_owner_of_a_table_stay(self):
        owner = os.geteuid() or 65534  # whom root alone can give a file
        for mode in (0o600, 0o444, 0o640):
            for option in ("csv", "by-tensor"):
                self.write("t", "")
                os.chown(self.folder / "t", owner, -1)
                os.chmod(self.folder / "t", mode)
                self.fine(POINT + f"--{option} t" + (" --csv r.csv" if option != "csv" else ""))
                there = (self.folder / "t").stat()
                self.assertEqual((stat.S_IMODE(there.st_mode), there.st_uid), (mode, owner))
                self.assertIn("\n", self.read("t"))
                os.remove(self.folder / "t")

    def test_rows_of_a_private_table_are_private_while_they_come(self):
        self.write("r.csv", "")
        os.chmod(self.folder / "r.csv", 0o600)
        running = subprocess.Popen([PROGRAM, *shlex.split(LONG + "--csv r.csv")], cwd=self.folder)
        while "r.csv.partial" not in self.names():
            time.sleep(0.01)
        modes = {stat.S_IMODE((self.folder / name).stat().st_mode) for name in self.names()}
        running.kill()
        running.wait()
        self.assertEqual(modes, {0o600})

    def test_hard_links_are_not_parted(self):
        self.write("a", "old")
        os.link(self.folder / "a", self.folder / "b")
        self.refused(POINT + "--csv a", "a: has other hard links")
        self.assertEqual(os.stat(self.folder / "a").st_ino, os.stat(self.folder / "b").st_ino)
        self.assertEqual(self.read("b"), "old")


class Names(Files):
    def test_long_names_work_or_are_refused_in_a_line(self):
        for length in (200, 243, 244, 248, 249, 251, 252, 255, 256, 300):
            name = "r" * length
            for words in (f"--csv {name}", f"--csv s.csv --by-tensor {name}"):
                ended = self.program(POINT + words)
                self.assertIn(ended.returncode, (0, 2), ended.stderr)
                if ended.returncode == 2:
                    self.assertEqual(ended.stderr.count("\n"), 1)
                    self.assertIn("too long", ended.stderr)
                    self.assertNotIn(name, self.names())
                else:
                    self.assertLess(length, 252)
        self.assertFalse([name for name in self.names() if name.endswith(("tmp", "partial"))])

    def test_a_full_standard_output_is_said(self):
        with open("/dev/full", "w") as full:
            for words in ("gpus", "--version", "--csv-header", "simulate --help", POINT):
                ended = self.program(
                    words, capture_output=False, stdout=full, stderr=subprocess.PIPE
                )
                self.assertEqual(ended.returncode, 1, words)
                self.assertIn("standard output cannot be written", ended.stderr)

    def test_a_closed_stream_does_not_go_into_a_table(self):
        self.fine(POINT + "--csv p.csv")
        for closed in ("2>&-", ">&- 0<&-", "0<&- >&- 2>&-"):
            words = ["sh", "-c", f"'{PROGRAM}' merge p.csv p.csv --csv m.csv {closed}"]
            self.assertEqual(subprocess.run(words, cwd=self.folder).returncode, 0)
            self.assertEqual(self.read("m.csv"), self.read("p.csv"), closed)

    def test_messages_have_no_control_characters(self):
        sent = "\x1b]0;x\x07\x9b31m"
        self.write("n.ini", f"gpu = gb10\nseq{sent}\0 = 64\nseq = 64{sent}\0\n")
        names = [f"{sent}.ini", f"--gpu={sent}", f"--{sent}", f"--experiment={sent}\n[x]"]
        for words in (*(["simulate", name] for name in names), ["simulate", "n.ini"], [sent]):
            self.assert_printable(self.program(words))
        self.fine(POINT + "--csv p.csv")
        (row,) = rows_of(self.read("p.csv"))
        for mask in ("none", "causal"):  # they join, or not
            row |= dict.fromkeys(("kernel", "without", "gpu"), f"a{sent}")
            row |= {"time_us": "1", "mask": mask}
            write_table(self.folder / "p.csv", [row | {"source": "predicted"}])
            write_table(self.folder / "m.csv", [row | {"source": "measured", "mask": "none"}])
            self.assert_printable(self.program("compare p.csv m.csv"))
            self.assert_printable(self.program("compare p.csv --no-worse-than m.csv"))
        self.assert_printable(self.fine("report p.csv -o r.html"))
        gpu = (PROFILES / "gpus/gb10.ini").read_text(encoding="utf-8")
        self.write("g.ini", gpu.replace("description = ", f"description = {sent}"))
        self.assert_printable(self.fine("gpus ./g.ini"))

    def test_run_stays_in_its_folder(self):
        for name in ("../../evil", "..", ".", "a/b", "/tmp/evil"):
            self.write("c.ini", f"experiment = {name}\ngpu = gb10\nseq = 64\n")
            self.refused("run c.ini", "experiment", name)
            self.refused("slurm c.ini --tasks 2", "experiment", name)
        self.assertEqual(self.names(), ["c.ini"])

    def test_run_writes_over_no_file_of_its_own(self):
        first = "experiment = e\ngpu = gb10\nseq = 64\n"
        self.write("c.ini", first + "by-tensor = runs/e/t.csv\ntiming = timed\nl2 = lru\n")
        self.assertIn(self.program("run c.ini").returncode, (0, 3))
        self.fine("simulate c.ini --quiet --csv s.csv --by-tensor t.csv")
        self.assertEqual(self.read("runs/e/t.csv"), self.read("t.csv"))
        measured = self.read("runs/e/predicted.csv").replace(",predicted,", ",measured,")
        for name in ("results.csv", "report.html", "config.ini"):
            self.write("d.ini", first + f"by-tensor = ./runs/e/{name}\n")
            self.refused("run d.ini", "d.ini:4: by-tensor", name)
        self.write("runs/e/measured.csv", measured)
        ended = self.program("run c.ini")
        if "nothing was measured" in ended.stdout:  # no GPU here
            self.assertEqual(self.read("runs/e/measured.csv"), measured)

    def test_run_repeats_the_configuration_that_it_kept(self):
        self.write("c.ini", "experiment = e\ngpu = h200\nseq = 1K\nring = 2\nhead-dim = 128\n")
        self.assertIn(self.program("run c.ini").returncode, (0, 3))
        before = self.read("runs/e/predicted.csv")
        self.assertIn(self.program("run runs/e/config.ini").returncode, (0, 3))
        self.assertEqual(self.read("runs/e/predicted.csv"), before)


class Lines(Files):
    def test_a_job_script_runs_nothing_of_a_name(self):
        evil = "a\ntouch evil\n#.ini"
        self.write(evil, "gpu = gb10\nseq = 64\n")
        script = self.fine(["slurm", evil, "--tasks", "2"]).stdout
        self.assertIn("#SBATCH --job-name=a-touch-evil--\n", script)
        subprocess.run(["bash", "-c", script], cwd=self.folder, capture_output=True)
        self.assertNotIn("evil", self.names())
        self.write("c.ini", "gpu = gb10\nseq = 64\n")
        self.refused(["slurm", "c.ini", "--tasks", "2", "--sbatch", "x\ntouch evil"], "--sbatch")

    def test_provenance_has_one_line_an_argument(self):
        evil = "e\nkey = 1.ini"
        self.write(evil, "experiment = e\ngpu = gb10\nseq = 64\n")
        self.assertIn(self.program(["run", evil]).returncode, (0, 3))
        lines = self.read("runs/e/provenance.ini").splitlines()
        self.assertNotIn("key = 1.ini", lines)
        self.assertIn("arguments = e key = 1.ini", lines)

    def test_what_is_printed_in_lines_stays_in_its_line(self):
        evil, sent = "st\nsystem = evil.ini\n#", "\x1b]0;x\x07"
        self.write(evil, STAMPS + "0,0,0,0,0\n")
        said = self.fine(["order", evil, "--q-tiles", "1"]).stdout
        self.assertNotIn("system = evil.ini", said.splitlines())
        self.write(evil, "gpu = gb10\nseq = 64\n")
        if "without traces" not in self.program(["trace", evil, "--write", "t.bin"]).stderr:
            row = rows_of(self.fine("trace --read t.bin --csv -").stdout)[0]
            self.assertEqual((row["experiment"], row["system"]), ("st system = evil", ""))
        self.write(f"{sent}.ini", f"gpu = gb10\nseq = 64\ntasks = 2\n[{sent}]\n")
        for words in (["simulate", f"{sent}.ini", "--print-config"], ["systems", f"./{sent}.ini"]):
            self.assert_printable(self.fine(words))

    def test_a_printed_configuration_means_the_same(self):
        point = "simulate --gpu gb10 --seq 64 --experiment".split()
        cases = [[*point, name] for name in ("a # b", " padded ", '"quoted"', 'x"y', "#")]
        cases.append("simulate --gpu h200 --seq 1K --tile-q 64".split())  # costs are borrowed
        lists = "--seq 1K,2K --mask none,causal --head-dim 128"
        cases.append(f"simulate --gpu h200 --system flash-attention-3 {lists}".split())
        sets = "--l2 sets --l2-ways 8 --l2-policy fifo,random --seed 5"
        cases.append(f"simulate --gpu gb10 --seq 2K --l2-bytes 256KiB {sets}".split())
        for words in cases:
            printed = self.fine([*words, "--print-config"]).stdout
            self.write("printed.ini", printed)
            self.assertEqual(self.fine("simulate printed.ini --print-config").stdout, printed)
            again = self.fine("simulate printed.ini --quiet --csv -").stdout
            self.assertEqual(self.fine([*words, "--quiet", "--csv", "-"]).stdout, again)

    def test_a_folder_here_is_no_module_of_python(self):
        for name in ("matplotlib", "csv"):
            self.write(f"{name}/__init__.py", "raise SystemExit('taken from here')")
        python = self.folder / "python"  # one without matplotlib, but for this folder
        python.write_text('#!/bin/sh\necho asked >> asked\nexec python3 -S "$@"\n')
        python.chmod(0o755)
        self.fine(POINT + "--csv r.csv")
        ended = self.program(
            "plot scans r.csv -o s",
            env={**os.environ, "SAWTOOTH_PYTHON": str(python), "PATH": str(self.folder)},
        )
        self.assertNotIn("taken from here", ended.stderr)
        self.assertNotIn("No module named", ended.stderr)
        self.fine("report r.csv -o r.html", env={**os.environ, "PYTHONPATH": ":"})

    def test_what_cannot_be_written_is_refused_before_the_work(self):
        for words in ("import-ncu {} none", "record {} -- none", "advise {} " + LONG[9:]):
            self.refused(words.format("--csv no/r.csv"), "no/r.csv: cannot be written")

    def test_no_file_of_a_folder_that_cannot_be_written_costs_the_work(self):
        self.write("c.ini", "experiment = e\ngpu = gb10\nseq = 64\n")
        os.makedirs(self.folder / "runs/e/provenance.ini")
        self.refused("run c.ini", "runs/e/provenance.ini: is a folder")
        self.assertEqual(os.listdir(self.folder / "runs/e"), ["provenance.ini"])
        streams = ROOT / "experiments/data/h200/streams/stream_counters.csv"
        for name in ("fit.csv", "halves.ini"):
            os.makedirs(self.folder / "o" / name)
            words = f"calibrate --from {streams} --gpu h200 --output o"
            ended = self.refused(words, f"o/{name}: is a folder")
            self.assertEqual(ended.stdout, "")
            os.rmdir(self.folder / "o" / name)

    def test_rows_of_a_report_go_to_standard_output(self):
        self.write("ncu.csv", NCU)
        ended = self.fine("import-ncu ncu.csv --csv -")
        self.assertIn("launch_index", ended.stdout.splitlines()[0])
        self.assertEqual(self.names(), ["ncu.csv"])


if __name__ == "__main__":
    unittest.main()
