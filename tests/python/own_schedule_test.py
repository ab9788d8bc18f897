"""Scans and orders that are written in Python; a simulation lets other threads run, and ends when it is interrupted."""

import signal
import subprocess
import sys
import threading
import time
import unittest

import sawtooth

# Five waves of unequal items for 6 workers, with an L2 of a quarter of K and V.
POINT = {"seq": "2K", "heads": 1, "workers": 6, "l2_bytes": "128KiB"}
LABELS = ("experiment", "scan", "run_id", "q_order", "section", "head_order", "inputs")


def sawtooth_by_steps(tiles, step, items_before):
    return step if items_before % 2 == 0 else tiles - 1 - step


def sawtooth_as_list(tiles, items_before):
    return list(range(tiles)) if items_before % 2 == 0 else list(range(tiles - 1, -1, -1))


def attach(tiles, attach_position):
    return [(attach_position + step) % tiles for step in range(tiles)]


def results(table):
    return [{n: v for n, v in row.items() if n not in LABELS} for row in table]


def without_words(rows):
    """Rows without the counter that has the words of attach: a scan of one's own has no words."""
    return [{n: v for n, v in row.items() if n != "l2_write_sectors"} for row in rows]


class OwnScan(unittest.TestCase):
    def test_counts_as_the_same_scan_of_the_program(self):
        for options in (
            {"launch": ["static", "dynamic", "grid"], "mask": ["none", "causal", "window:512"]},
            {"launch": "balanced", "mask": "causal"},
            {"loop": "kv-outer", "heads": 8},
            {"l2": "opt", "mask": "causal"},
            {"gpu": "h200", "timing": "timed", "mask": "causal", "launch": ["dynamic", "grid"]},
        ):
            point = POINT | options
            if "gpu" in options:
                del point["workers"], point["l2_bytes"]
            for own, named in (
                (sawtooth_by_steps, "sawtooth"),
                (sawtooth_as_list, "sawtooth"),
                (attach, "attach"),
                (lambda tiles: range(tiles), "linear"),
            ):
                if named == "attach" and "loop" in options:
                    continue  # no attach word there
                with self.subTest(named, **options):
                    ours = results(sawtooth.simulate(**point, scan=own))
                    theirs = results(sawtooth.simulate(**point, scan=named))
                    if named == "attach":
                        for mine, words in zip(ours, theirs):
                            self.assertGreater(words["l2_write_sectors"], mine["l2_write_sectors"])
                        ours, theirs = without_words(ours), without_words(theirs)
                    self.assertEqual(ours, theirs)

    def test_is_a_value_of_the_axis_with_its_name(self):
        table = sawtooth.simulate(**POINT, scan=["linear", sawtooth_by_steps, "reverse"])
        self.assertEqual(table.column("scan"), ["linear", "python:sawtooth_by_steps", "reverse"])
        self.assertEqual(len(set(table.column("run_id"))), 3)

    def test_what_is_no_permutation_is_refused(self):
        for scan in (lambda tiles: [0] * tiles, lambda tiles, step: step + 1, lambda tiles: []):
            with self.assertRaisesRegex(
                sawtooth.UsageError, "^scan: .* each of 0 ... tiles - 1 once"
            ):
                sawtooth.simulate(**POINT, scan=scan)

    def test_what_is_no_whole_number_is_refused_by_what_it_is(self):
        for scan, named in (
            (lambda tiles, step: None, "'NoneType'"),
            (lambda tiles, step: step / 1, "'float'"),
            (lambda tiles: None, "'NoneType'"),
            (lambda tiles: ["0"] * tiles, "'str'"),
        ):
            message = f"^scan: the function: {named} .*; allowed: whole numbers"
            with self.assertRaisesRegex(sawtooth.UsageError, message):
                sawtooth.simulate(**POINT, scan=scan)

    def test_the_first_wrong_step_is_named_with_its_position(self):
        with self.assertRaisesRegex(sawtooth.UsageError, "step 1 is at 5000; allowed: each of 0"):
            sawtooth.simulate(**POINT, scan=lambda tiles, step: 5000 * step)

    def test_may_ask_for_what_a_scan_can_know_only(self):
        with self.assertRaisesRegex(sawtooth.UsageError, "'moon'; allowed: step, tiles, item,"):
            sawtooth.simulate(**POINT, scan=lambda moon: [0])

    def test_its_own_exception_comes_through(self):
        def broken(tiles):
            raise KeyError("mine")

        with self.assertRaisesRegex(KeyError, "mine"):
            sawtooth.simulate(**POINT, scan=broken)


class OwnOrder(unittest.TestCase):
    def test_counts_as_the_same_order_of_the_program(self):
        order = [(0, head, tile) for head in range(2) for tile in range(31, -1, -1)]
        point = POINT | {"heads": 2, "mask": "causal"}
        self.assertEqual(
            results(sawtooth.simulate(**point, order=order)),
            results(sawtooth.simulate(**point, q_order="descending")),
        )

    def test_items_are_checked_by_their_index(self):
        items = [(0, 0, tile) for tile in range(32)]
        for order, message in (
            (items[:-1], r"order\[31\]: the order ends after 31 of 32 items"),
            (items[:-1] + [(0, 0, 32)], r"order\[31\]: q_tile 32 does not exist"),
            (items[:-1] + [(0, 0, -1)], r"order\[31\]: q_tile -1 does not exist"),
            (items[:-1] + [(0, 0, 3)], r"order\[31\]: '0 0 3' is there twice"),
            (items[:-1] + [(0, 31)], r"order\[31\]: an item is"),
        ):
            with self.assertRaisesRegex(sawtooth.UsageError, message):
                sawtooth.simulate(**POINT, order=order)
        with self.assertRaisesRegex(sawtooth.UsageError, "^q_order: has no effect with order"):
            sawtooth.simulate(**POINT, order=items, q_order="descending")


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
