"""simulate(), compare(), gpus() and systems() of the Python package."""

import array
import csv
import importlib.util
import io
import os
import subprocess
import unittest

import sawtooth

GB10 = {"gpu": "gb10", "seq": "4K", "batch": 2, "l2": "lru"}


def program_rows(*words):
    """Rows of `sawtooth simulate WORDS`, without the column that names the caller."""
    command = [os.environ["SAWTOOTH_PROGRAM"], "simulate", *words, "--csv", "-", "--quiet"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [
        {name: cell for name, cell in row.items() if name != "experiment"}
        for row in csv.DictReader(io.StringIO(text))
    ]


def texts(table):
    """The cells as the program writes them: two digits after the point of a time."""

    def text(value):
        if value is None:
            return ""
        return f"{value:.2f}" if isinstance(value, float) else str(value)

    return [{n: text(v) for n, v in row.items() if n != "experiment"} for row in table]


class Simulate(unittest.TestCase):
    @unittest.skipUnless(os.environ.get("SAWTOOTH_PROGRAM"), "SAWTOOTH_PROGRAM names no program")
    def test_the_numbers_are_the_programs_to_the_digit(self):
        for options in (
            {
                "gpu": "gb10",
                "seq": "4K",
                "scan": ["linear", "sawtooth"],
                "mask": ["none", "causal"],
            },
            {"gpu": "h200", "seq": "4K", "heads": 4, "head_dim": 128, "scan": "sawtooth"},
            {"gpu": "h200", "seq": "2K", "timing": "timed", "l2": "halves", "mask": "causal"},
            {"gpu": "h200", "system": "flash-attention-3", "seq": "4K", "head_dim": 128},
        ):
            words = []
            for key, value in options.items():
                values = value if isinstance(value, list) else [value]
                words += ["--" + key.replace("_", "-"), ",".join(map(str, values))]
            self.assertEqual(texts(sawtooth.simulate(**options)), program_rows(*words), options)

    def test_lists_are_axes_in_the_programs_order(self):
        table = sawtooth.simulate(**GB10 | {"seq": [2048, "4K"]}, scan=("linear", "sawtooth"))
        self.assertEqual(
            [(row["seq_q"], row["scan"]) for row in table],
            [(2048, "linear"), (2048, "sawtooth"), (4096, "linear"), (4096, "sawtooth")],
        )

    def test_a_row_is_a_dict_with_numbers_texts_and_none(self):
        row = sawtooth.simulate(**GB10, lse=True)[0]
        # Q, K and V of two heads of 4,096 rows of 128 bytes.
        self.assertEqual(row["cold_read_sectors"], 3 * 2 * 4096 * 128 // 32)
        self.assertEqual((row["gpu"], row["lse"]), ("gb10", "on"))
        self.assertIsNone(row["profiled_time_us"])
        self.assertTrue(issubclass(sawtooth.UsageError, ValueError))

    def test_the_backward_pass_is_asked_for_by_pass_(self):
        row = sawtooth.simulate(**GB10, pass_="backward")[0]
        self.assertEqual((row["pass"], row["dq"]), ("backward", "atomic"))
        # 64 K/V tiles of two heads each add 4,096 rows of 64 floats.
        self.assertEqual(row["l2_reduction_sectors"], 64 * 2 * 4096 * 64 * 4 // 32)

    @unittest.skipUnless(importlib.util.find_spec("pandas"), "pandas is not installed")
    def test_pandas_takes_the_table(self):
        import pandas

        table = sawtooth.simulate(**GB10, scan=["linear", "sawtooth"])
        frame = pandas.DataFrame(table)
        self.assertEqual(list(frame.columns), table.columns)
        self.assertEqual(list(frame["l2_read_sectors"]), table.column("l2_read_sectors"))

    def test_the_miss_curve_has_the_rows_misses_at_its_capacity(self):
        table = sawtooth.simulate(gpu="gb10", seq="4K", l2="lru", l2_bytes="512KiB")
        curve = table.miss_curve(0)
        at = [i for i, size in enumerate(curve["capacity_bytes"]) if size <= 512 * 1024][-1]
        self.assertIsInstance(curve["capacity_bytes"], array.array)
        self.assertEqual(curve["read_miss_sectors"][at], table[0]["l2_read_miss_sectors"])
        self.assertEqual(curve["write_miss_sectors"][at], table[0]["l2_write_miss_sectors"])
        self.assertEqual(
            curve["miss_sectors"][-1], table[0]["cold_read_sectors"] + 4096 * 128 // 32
        )

    def test_the_histogram_holds_every_sector_once(self):
        table = sawtooth.simulate(**GB10)
        histogram = table.histogram(0)
        row = table[0]
        self.assertEqual(
            sum(histogram["sectors"]), row["l2_read_sectors"] + row["l2_write_sectors"]
        )
        first = [i for i, distance in enumerate(histogram["distance_lines"]) if distance < 0]
        self.assertEqual(
            sum(histogram["sectors"][i] for i in first if histogram["access"][i] == "read"),
            row["cold_read_sectors"],
        )

    def test_tensors_sum_to_the_row(self):
        table = sawtooth.simulate(**GB10)
        tensors = table.by_tensor(0)
        self.assertEqual(
            sum(row["l2_read_sectors"] or 0 for row in tensors), table[0]["l2_read_sectors"]
        )

    def test_a_configuration_is_overridden_by_options(self):
        folder = os.path.join(os.path.dirname(__file__), "../../experiments/studies/paper/lists")
        table = sawtooth.simulate(os.path.join(folder, "point.ini"), seq="2K", scan="linear")
        self.assertEqual(set(table.column("seq_q")), {2048})
        self.assertEqual(set(table.column("experiment")), {"point"})

    def test_mistakes_name_the_key_and_what_is_allowed(self):
        for options, message in (
            ({"head_dim": 0}, r"^head_dim: .*from 1 to"),
            ({"scan": "zigzag"}, r"^scan: .*linear"),
            ({"hed_dim": 64}, r"^hed_dim: unknown key"),
            ({"csv": "rows.csv"}, r"^csv: not an option"),
            ({"gpu": "gb11"}, r"^gpu: .*gb10"),
        ):
            with self.assertRaisesRegex(sawtooth.UsageError, message):
                sawtooth.simulate(**GB10 | options)
        with self.assertRaisesRegex(sawtooth.UsageError, "allowed: l2 = lru"):
            sawtooth.simulate(**GB10 | {"l2": "opt"}).miss_curve(0)


class Compare(unittest.TestCase):
    def test_the_error_is_relative_to_the_measurement(self):
        predicted = sawtooth.simulate(**GB10)
        count = predicted[0]["l2_read_sectors"]
        measured = [row | {"source": "measured", "l2_read_sectors": 2 * count} for row in predicted]
        comparison = sawtooth.compare(predicted, measured, ["l2_read_sectors"])
        (error,) = comparison.errors
        self.assertEqual((error["predicted"], error["measured"]), (count, 2 * count))
        self.assertAlmostEqual(error["relative_error"], -0.5)
        self.assertIn("l2_read_sectors", comparison.report)

    def test_mistakes_are_named(self):
        table = sawtooth.simulate(**GB10)
        with self.assertRaisesRegex(sawtooth.UsageError, "'reads' is no counter; allowed: .*time"):
            sawtooth.compare(table, table, ["reads"])
        with self.assertRaisesRegex(sawtooth.UsageError, "its rows are predicted"):
            sawtooth.compare(table, sawtooth.simulate(**GB10 | {"seq": "2K"}))


class Lists(unittest.TestCase):
    def test_gpus_say_what_their_profiles_say(self):
        gb10 = next(row for row in sawtooth.gpus() if row["gpu"] == "gb10")
        self.assertEqual((gb10["sms"], gb10["l2_bytes"]), (48, 24 * 1024**2))

    def test_systems_can_be_simulated(self):
        names = sawtooth.systems().column("system")
        self.assertIn("flash-attention-2", names)
        row = sawtooth.simulate(**GB10, system="flash-attention-2")[0]
        self.assertEqual(row["system"], "flash-attention-2")


if __name__ == "__main__":
    unittest.main()
