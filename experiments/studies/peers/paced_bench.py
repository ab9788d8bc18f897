"""`sawtooth bench --paced` as one more peer: it waits for a line before each of its rounds."""

import csv
import os
import subprocess
import tempfile


class BenchFailed(RuntimeError):
    """What the program said last."""


class PacedBench:
    """All contenders of `sawtooth bench` on one shape, in a process that is up and warm from the
    start, so that a round of it costs no more than its launches."""

    def __init__(self, options, shape):
        self.folder_ = tempfile.TemporaryDirectory()
        self.csv_ = os.path.join(self.folder_.name, "bench.csv")
        self.errors_ = tempfile.TemporaryFile("w+")
        self.process_ = subprocess.Popen(
            command(options, shape, self.csv_), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=self.errors_, text=True)
        try:
            self.expect_("ready")
        except BenchFailed:
            self.close()
            raise

    def round(self):
        self.process_.stdin.write("round\n")
        self.process_.stdin.flush()
        self.expect_("done")

    def rows(self):
        """Ends the rounds; the rows of all of them."""
        self.process_.stdin.close()
        self.process_.stdout.read()
        if self.process_.wait() != 0:
            self.fail_()
        with open(self.csv_, newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def close(self):
        if self.process_.poll() is None:
            self.process_.kill()
        self.process_.wait()
        for stream in (self.process_.stdin, self.process_.stdout, self.errors_):
            stream.close()
        self.folder_.cleanup()

    def expect_(self, word):
        if self.process_.stdout.readline().strip() != word:
            self.fail_()

    def fail_(self):
        code = self.process_.wait()
        self.errors_.seek(0)
        raise BenchFailed((self.errors_.read().strip() or f"exit {code}").splitlines()[-1])


def command(options, shape, path):
    """`sawtooth bench` of this shape; --contenders names the configuration, whose name may hold
    {head_dim} and {mask}."""
    configuration = options.contenders.format(head_dim=shape.head_dim, mask=shape.mask)
    return [options.sawtooth, "bench", configuration, "--paced", "--gpu", options.gpu, "--batch",
            str(shape.batch), "--heads", str(shape.heads), "--seq", str(shape.seq), "--head-dim",
            str(shape.head_dim), "--mask", shape.mask, "--dtype", shape.dtype, "--csv", path]
