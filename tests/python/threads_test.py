"""A simulation lets other threads run, and ends when it is interrupted."""

import signal
import subprocess
import sys
import threading
import time
import unittest

import sawtooth

# Two billion pairs of tiles in one point, and few tiles to set up.
LONG = {"gpu": "h200", "seq": "4M", "mask": "causal"}


class Interrupt(unittest.TestCase):
    def test_ends_one_long_point(self):
        for model in ({"l2": "lru"}, {"timing": "timed", "l2": "halves"}):
            script = (
                # A shell's background jobs ignore the signal, and so would Python.
                "import sawtooth, signal\n"
                "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
                "print('ready', flush=True)\n"
                f"sawtooth.simulate(**{LONG | model | {'threads': 1}!r})"
            )
            with subprocess.Popen(
                [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE
            ) as process:
                try:
                    self.assertEqual(process.stdout.readline(), b"ready\n")
                    time.sleep(2)
                    self.assertIsNone(process.poll(), model)
                    process.send_signal(signal.SIGINT)
                    _, errors = process.communicate(timeout=60)
                finally:
                    process.kill()
            self.assertIn(b"KeyboardInterrupt", errors)


class Threads(unittest.TestCase):
    def test_the_interpreter_runs_on(self):
        point = {"gpu": "h200", "heads": 8, "seq": "32K", "timing": "timed", "mask": "causal"}
        rows = []
        worker = threading.Thread(target=lambda: rows.extend(sawtooth.simulate(**point)))
        worker.start()
        turns = 0
        while worker.is_alive():
            time.sleep(0.001)
            turns += 1
        self.assertEqual(len(rows), 1)
        # A simulation that kept the interpreter's lock would leave a turn before and one after it.
        self.assertGreater(turns, 5)


if __name__ == "__main__":
    unittest.main()
