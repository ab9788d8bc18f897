"""`sawtooth bench` beside the peers: at once, or paced, one round at a time."""

import csv
import os
import subprocess
import tempfile


class BenchFailed(RuntimeError):
    """What the program said last."""


def last_words(text, code):
    return BenchFailed((text.strip() or f"exit {code}").splitlines()[-1])


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def command(program, gpu, shape, options, path):
    """Options may begin with a configuration. The path of the CSV stands last."""
    return [program, "bench", *options, "--gpu", gpu, *shape.arguments(), "--csv", path]


def rows(program, gpu, shape, options):
    """Rows of one run on this shape. Raises BenchFailed."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "bench.csv")
        words = command(program, gpu, shape, options, path)
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise last_words(done.stderr, done.returncode)
        return read(path)


class PacedBench:
    """All schedules of one configuration on one shape, in a process that is up and warm from the
    start and waits for a line before each round, so that a round costs no more than its launches.
    """

    def __init__(self, program, gpu, shape, configuration):
        self.folder_ = tempfile.TemporaryDirectory()
        self.csv_ = os.path.join(self.folder_.name, "bench.csv")
        self.errors_ = tempfile.TemporaryFile("w+")
        words = command(program, gpu, shape, [configuration, "--paced"], self.csv_)
        pipes = dict(stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors_)
        self.process_ = subprocess.Popen(words, text=True, **pipes)
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
        return read(self.csv_)

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
        raise last_words(self.errors_.read(), code)
