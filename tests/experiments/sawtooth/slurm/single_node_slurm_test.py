"""The job array under a Slurm of one node that this test starts; skipped by name where there is none.

munged, slurmctld and slurmd run from a temporary folder on ports of their own, as who runs the test.
"""

import getpass
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

PROGRAM = os.path.abspath(sys.argv.pop(1))
CONFIG = "l2-bytes = 1MiB\nworkers = 4\nseq = 64..640:64\nscan = linear, sawtooth\n"
DAEMONS = ("munged", "slurmctld", "slurmd", "sbatch")
CONFIGURATION = """ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
SlurmctldPort={controller}
SlurmdPort={node}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SchedulerParameters=sched_interval=1,bf_interval=1
MailProg=/bin/true
MpiDefault=none
NodeName={host} NodeAddr=127.0.0.1 CPUs=1 State=UNKNOWN
PartitionName=test Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def found(name):
    return shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin")


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class SingleNodeSlurm(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.log = open(self.folder / "daemons.log", "w", encoding="utf-8")
        self.addCleanup(self.log.close)
        self.environment = dict(os.environ, SLURM_CONF=str(self.folder / "slurm.conf"))
        for name in [n for n in os.environ if n.startswith("SLURM_")]:
            self.environment.pop(name)
        self.environment["SLURM_CONF"] = str(self.folder / "slurm.conf")
        host = socket.gethostname().split(".")[0]
        (self.folder / "slurm.conf").write_text(
            CONFIGURATION.format(
                host=host,
                user=getpass.getuser(),
                folder=self.folder,
                controller=free_port(),
                node=free_port(),
            ),
            encoding="utf-8",
        )
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o600)
        options = {"socket": "socket", "key-file": "key", "pid-file": "pid", "seed-file": "seed"}
        options["log-file"] = "log"
        words = [f"--{option}={self.folder}/munge.{end}" for option, end in options.items()]
        self.start("munged", "--foreground", "--force", *words)
        self.wait_for("munged", lambda: (self.folder / "munge.socket").exists())
        self.start("slurmctld", "-D", "-i")
        self.start("slurmd", "-D", "-N", host)
        self.wait_for("an idle node", lambda: "idle" in self.output("sinfo", "-h", "-o", "%T"))

    def start(self, daemon, *words):
        process = subprocess.Popen(
            [found(daemon), *words], env=self.environment, stdout=self.log, stderr=self.log
        )
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)

    def output(self, *words):
        return subprocess.run(
            words, env=self.environment, cwd=self.folder, capture_output=True, text=True, timeout=60
        ).stdout

    def wait_for(self, what, is_there, seconds=60):
        end = time.monotonic() + seconds
        while not is_there():
            if time.monotonic() > end:
                self.fail(f"no {what} after {seconds} s: {self.daemons_say()}")
            time.sleep(0.5)

    def daemons_say(self):
        self.log.flush()
        return (self.folder / "daemons.log").read_text(encoding="utf-8")[-2000:]

    def run_to_end(self, *words):
        ended = subprocess.run(
            words, env=self.environment, cwd=self.folder, capture_output=True, text=True, timeout=60
        )
        self.assertEqual(ended.returncode, 0, ended.stderr)
        return ended.stdout

    def test_an_array_with_a_killed_task_makes_the_table(self):
        (self.folder / "c.ini").write_text(CONFIG, encoding="utf-8")
        script = self.run_to_end(PROGRAM, "slurm", "c.ini", "--tasks", "3", "--csv", "t.csv")
        # Task 2 is killed before its first row, once.
        killed = self.folder / "killed"
        dies = f'if [ "${{SLURM_ARRAY_TASK_ID:-}}" = 2 ] && [ ! -e {killed} ]; then\n'
        dies += f"  touch {killed}; kill -9 $$\nfi\nparts=$table.parts\n"
        self.assertIn("parts=$table.parts\n", script)
        (self.folder / "s.sh").write_text(
            script.replace("parts=$table.parts\n", dies, 1), encoding="utf-8"
        )
        self.run_to_end("bash", "s.sh", "submit")
        self.wait_for(
            "merged table",
            lambda: (self.folder / "t.csv").exists() and not self.output("squeue", "-h"),
        )
        self.assertTrue(killed.exists())
        self.run_to_end(PROGRAM, "simulate", "c.ini", "--quiet", "--csv", "one.csv")
        self.assertEqual(
            (self.folder / "t.csv").read_bytes(), (self.folder / "one.csv").read_bytes()
        )


if __name__ == "__main__":
    missing = [name for name in DAEMONS if not found(name)]
    if missing:
        print(f"skipped: no {', '.join(missing)} here (Debian: slurm-wlm, munge)")
        sys.exit(77)
    unittest.main()
