"""experiments/studies/peers/calls.py without a GPU: what a file of calls says, and what a run makes of them."""

import os
import tempfile
import unittest
from unittest import mock

import support
import calls
import plain_call
import session

CALLS = """
[short, balanced]
only = head_dim=64,128 mask=none
family = hopper-short
launch = balanced
section = 4

[other build]
library = other.so
"""


def read(text):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "calls.ini")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        with mock.patch.dict(os.environ, {plain_call.LIBRARY: "this.so"}):
            return calls.read_calls(path)


class Calls(unittest.TestCase):
    def test_a_section_is_a_call_with_its_library_and_fields(self):
        (first, only, library, fields), (second, anywhere, other, none) = read(CALLS)
        self.assertEqual((first, library), ("short, balanced", "this.so"))
        self.assertEqual(fields, {"family": "hopper-short", "launch": "balanced", "section": 4})
        self.assertEqual((second, anywhere, other, none), ("other build", {}, "other.so", {}))
        self.assertEqual(only, {"head_dim": "64,128", "mask": "none"})

    def test_one_is_meant_where_all_of_its_conditions_hold(self):
        only = read(CALLS)[0][1]
        for head_dim, mask, meant in (
            (64, "none", True),
            (64, "causal", False),
            (256, "none", False),
        ):
            shape = support.shape(head_dim=head_dim, mask=mask)
            self.assertEqual(calls.is_meant(shape, only), meant, shape.text())
        self.assertTrue(calls.is_meant(support.shape(), {}))


class Rows(unittest.TestCase):
    def test_a_ratio_is_of_rounds_and_not_of_medians(self):
        # Rounds of 100, 200 and 400 us for the peer: 0.5, 2 and 1 times the call's.
        row = calls.row(support.shape(), "a, b", [200.0, 100.0, 400.0], [100.0, 200.0, 400.0])
        self.assertEqual(row["peer_ratio"], "1.0000")
        self.assertEqual((row["call"], row["median_us"]), ("a; b", "200.00"))
        self.assertEqual(row["times_us"], "200.00 100.00 400.00")
        self.assertEqual(list(row), calls.COLUMNS)


class Launches(unittest.TestCase):
    def made(self, difference, dtype="bf16", refused=""):
        def prepare(*_, **fields):
            if refused:
                raise RuntimeError(refused)
            return lambda: fields

        torch, notes = mock.Mock(), []
        with mock.patch.object(session, "inputs", return_value=["q", "k", "v"]), mock.patch.object(
            session, "prepared", return_value=lambda: "expected"
        ), mock.patch.object(session, "difference", return_value=difference), mock.patch.object(
            plain_call, "prepare", prepare
        ), mock.patch.dict(
            os.environ
        ):
            shape = support.shape(dtype=dtype)
            launches, bad = calls.launches_of(
                torch, shape, "peer", [("ours", {}, "a.so", {"launch": "grid"})], notes.append
            )
        return list(launches), bad, notes

    def test_the_peer_comes_first_and_a_call_that_agrees_is_timed(self):
        self.assertEqual(self.made(1e-3), (["peer", "ours"], [], []))

    def test_a_wrong_or_refused_call_is_named_and_not_timed(self):
        launches, bad, notes = self.made(0.5)
        self.assertEqual((launches, bad), (["peer"], ["ours"]))
        self.assertIn("differs", notes[0])
        launches, bad, notes = self.made(0, refused="section is odd")
        self.assertEqual((launches, bad), (["peer"], ["ours"]))
        self.assertIn("section is odd", notes[0])

    def test_fp32_must_agree_more_closely(self):
        self.assertEqual(self.made(1e-3, dtype="fp32")[1], ["ours"])


class Usage(unittest.TestCase):
    def test_without_a_gpu_the_exit_code_is_3(self):
        with mock.patch.object(session, "torch_with_gpu", side_effect=session.Missing("no GPU")):
            self.assertEqual(calls.main(["--calls", "none.ini", "--csv", "-"]), 3)


if __name__ == "__main__":
    unittest.main()
