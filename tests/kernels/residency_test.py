"""CTAs an SM of kernels/mma: the variant table and the simulator's kernel costs say the same."""

import os
import re
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TABLE = os.path.join(ROOT, "kernels", "attention", "variants.inc")
COSTS = os.path.join(ROOT, "experiments", "profiles", "kernels", "mma.ini")
# family, name, types, set, head dim, Q rows, K/V rows, CTAs an SM
ROW = re.compile(r"^VARIANT\(mma, *(\w+), *\w+, *\w+, *\d+, *\d+, *\d+, *(\d+),", re.M)
SECTION = re.compile(r"^\[(d\d+-\d+x\d+)\]$(.*?)(?=^\[|\Z)", re.M | re.S)


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class Residency(unittest.TestCase):
    def test_the_table_and_the_kernel_costs_agree(self):
        table = {name.replace("_", "-"): int(ctas) for name, ctas in ROW.findall(text_of(TABLE))}
        costs = {
            name: int(re.search(r"^resident-ctas = (\d+)", section, re.M).group(1))
            for name, section in SECTION.findall(text_of(COSTS))
        }
        self.assertGreater(len(table), 0)
        self.assertEqual(costs, table)


if __name__ == "__main__":
    if not os.path.exists(COSTS):
        print(f"{COSTS} is not there")
        sys.exit(77)
    unittest.main()
