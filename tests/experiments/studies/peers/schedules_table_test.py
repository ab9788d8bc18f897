"""experiments/studies/peers/schedules_table.py: order, ranks and what is left empty."""

import unittest

import support
import schedules_table as tables
import table


def row(scan, repetition, dram, tflops="", l2=""):
    cells = dict(batch=1, heads=1, seq_q=1024, head_dim=64, mask="none", scan=scan, status="ok")
    cells.update(repetition=repetition, tflops=tflops, dram_read_sectors=dram, l2_read_sectors=l2)
    return support.row(**cells)


class Table(unittest.TestCase):
    def lines(self, measured, predicted):
        with support.table(measured) as path:
            ((shape, found),) = tables.medians(table.read(path), tables.MEASURED).items()
        with support.table(predicted) as path:
            model = tables.medians(table.read(path), ("dram_read_sectors",))[shape]
        return list(tables.lines(shape, found, model))

    def test_the_fastest_stands_first_and_only_what_varies_is_a_column(self):
        measured = [
            row("linear", 0, "3000000", "500", "7000000"),
            row("linear", 1, "5000000", "520", "9000000"),
            row("sawtooth", 0, "1000000", "600", "8000000"),
        ]
        predicted = [row("linear", 0, "4500000"), row("sawtooth", 0, "900000")]
        title, head, first, second, _ = self.lines(measured, predicted)
        self.assertEqual(title, "### B1 H1 S1024 D64 none\n")
        self.assertTrue(head.startswith("| scan | TFLOP/s |"))
        self.assertEqual(first, "| sawtooth | 600 | 8.00 | 1.00* | 0.90 | 1 | 1 |")
        # The median of 3 and 5 M is 4 M, of 500 and 520 it is 510.
        self.assertEqual(second, "| linear | 510 | 8.00 | 4.00 | 4.50 | 2 | 2 |")

    def test_a_schedule_without_prediction_keeps_its_cells_empty(self):
        lines = self.lines([row("linear", 0, "1000000", "500")], [row("sawtooth", 0, "1000000")])
        self.assertEqual(lines[2], "| 500 | | 1.00* | | 1 | |")


if __name__ == "__main__":
    unittest.main()
