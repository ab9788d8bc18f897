"""The drawn lists of the study `backward`, and rows of what `sawtooth record` has counted of other libraries."""

import csv
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

STUDY = pathlib.Path(__file__).resolve().parents[4] / "experiments" / "studies" / "backward"
sys.path.insert(0, str(STUDY))
import peers_counters  # noqa: E402  (the path above leads to it)


def printed(script, *arguments):
    command = [sys.executable, STUDY / script, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


class Drawn(unittest.TestCase):
    LISTS = ("drawn", "drawn_families", "drawn_third", "drawn_fourth")

    def texts(self):
        for name in self.LISTS:
            with self.subTest(name):
                yield (STUDY / "lists" / f"{name}.ini").read_text(encoding="utf-8")

    def test_a_list_is_what_its_command_gives(self):
        for text in self.texts():
            command = re.search(r"draw_points\.py (.*?), before", text).group(1).split()
            self.assertEqual(printed("draw_points.py", *command), text)
            other = ["1" if word.isdigit() and len(word) > 9 else word for word in command]
            self.assertNotEqual(printed("draw_points.py", *other), text)

    def test_it_has_sixty_points_and_no_length_of_the_first_launches(self):
        for text in self.texts():
            points = re.findall(r"^\[\d+[abc]\]$", text, re.M)
            self.assertGreaterEqual(len(points), 60)
            self.assertEqual(len(set(points)), len(points))
            self.assertFalse({"8K", "24K", "48K"} & set(re.findall(r"^seq = (\S+)$", text, re.M)))

    def test_later_lists_take_families_in_turns_and_none_of_the_earlier_lengths(self):
        known = set()
        for name, text in zip(self.LISTS, list(self.texts())):
            lengths = set(re.findall(r"^seq = (\S+)$", text, re.M))
            self.assertFalse(lengths & known)
            known |= lengths
            if name == "drawn":
                continue
            kernels = re.findall(r"^kernel = (\w+)$", text, re.M)
            self.assertLessEqual(abs(kernels.count("mma") - kernels.count("hopper")), 3)


class Counted(unittest.TestCase):
    def rows(self, repetitions):
        return [
            {"kernel_name": f"a_{part}_kernel", "launch_index": str(index)}
            for index in range(repetitions)
            for _ in peers_counters.SHAPES
            for part in peers_counters.KERNELS
        ]

    def test_launches_come_in_the_order_of_the_shapes(self):
        found = peers_counters.launched(self.rows(3))
        self.assertEqual(len(found), len(peers_counters.SHAPES) * len(peers_counters.KERNELS))
        self.assertEqual({len(launches) for launches in found.values()}, {3})

    def test_another_number_of_launches_is_refused(self):
        with self.assertRaisesRegex(ValueError, "no multiple of"):
            peers_counters.launched(self.rows(1)[:-1])

    def test_rows_say_what_was_launched(self):
        with tempfile.TemporaryDirectory() as folder:
            recorded, made = pathlib.Path(folder, "recorded.csv"), pathlib.Path(folder, "made.csv")
            rows = self.rows(2)
            with open(recorded, "w", encoding="utf-8", newline="") as file:
                writer = csv.DictWriter(file, list(rows[0]))
                writer.writeheader()
                writer.writerows(rows)
            peers_counters.rows(recorded, made)
            with open(made, encoding="utf-8", newline="") as file:
                table = list(csv.DictReader(file))
        self.assertEqual(len(table), len(rows))
        shapes = {(row["heads"], row["seq_kv"], row["head_dim"], row["mask"]) for row in table}
        self.assertEqual(len(shapes), len(peers_counters.SHAPES))
        self.assertEqual(
            {row["system"] for row in table if "bprop" in row["kernel_name"]}, {"cudnn-backward"}
        )

    def test_the_list_is_that_of_the_shapes(self):
        text = (STUDY / "lists" / "peers.ini").read_text(encoding="utf-8")
        self.assertEqual(printed("peers_counters.py", "list"), text)


if __name__ == "__main__":
    unittest.main()
