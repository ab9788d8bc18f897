"""Forward over packed sequences, measured and predicted."""

import table
import varlen
from figures import amounts
from figures.rows import Rows


class Packed(Rows):
    """Of sequences of mixed lengths beside equal ones."""

    def packed_rate(self, family, layout, **case):
        """TFLOP/s over packed sequences of mixed or equal lengths, or of equal ones not packed."""
        rows = table.where(self._measured("varlen"), family=family, layout=layout, **case)
        return table.number(table.only(rows), "tflop_s")

    def packed_errors(self):
        """Predicted over measured quotients of the times of mixed and equal lengths, less 1, in
        percent, amounts."""
        errors = []
        for case in self.packed_cases():
            for family in ("hopper", "mma"):
                of = dict(kernel=family, mask=case["mask"], head_dim=case["head_dim"])
                rows = self._rows("varlen")
                at = [i for i, row in enumerate(rows) if self._is_case(row, of, case)]
                mixed, equal = (table.number(rows[i], "time_us") for i in (at[0], at[0] + 1))
                times = [
                    table.number(
                        table.only(self._measured("varlen"), family=family, layout=layout, **case),
                        "us",
                    )
                    for layout in ("mixed", "equal")
                ]
                errors.append(abs(100 * (mixed / equal * times[1] / times[0] - 1)))
        return errors

    @staticmethod
    def _is_case(row, of, case):
        return all(row[key] == value for key, value in of.items()) and (
            row["lengths"] == "+".join(map(str, varlen.lengths_of(case["lengths"])))
        )

    def packed_counted(self, column):
        """Amounts of errors of single launches over packed sequences, raw, in percent."""
        keys = ("kernel", "mask", "head_dim", "lengths")
        predicted = {table.cells(row, keys): row for row in self._rows("varlen")}
        return amounts.amounts(
            [(predicted[table.cells(row, keys)], row) for row in self._measured("varlen_counted")],
            column,
        )

    def packed_cases(self):
        keys = ("lengths", "mask", "head_dim")
        rows = table.where(self._measured("varlen"), family="hopper", layout="mixed")
        return [{key: row[key] for key in keys} for row in rows]

    def of_equal(self, family, layout="fixed"):
        """Speed a FLOP with mixed lengths over that with equal ones, of each case."""
        return [
            self.packed_rate(family, "mixed", **case) / self.packed_rate(family, layout, **case)
            for case in self.packed_cases()
        ]

    def packed_speeds(self):
        heads = ("lengths", "mask", "D", "hopper", "over equal", "mma", "over equal")
        heads += ("FlashAttention-2",)
        lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
        shares = zip(self.of_equal("hopper"), self.of_equal("mma"))
        for case, (hopper, mma) in zip(self.packed_cases(), shares):
            rates = [
                f"{self.packed_rate(family, 'mixed', **case):.0f}"
                for family in ("hopper", "mma", "flash")
            ]
            cells = [*case.values(), rates[0], f"{hopper:.3f}", rates[1], f"{mma:.3f}", rates[2]]
            lines.append("| " + " | ".join(cells) + " |")
        return "\n".join(lines)
