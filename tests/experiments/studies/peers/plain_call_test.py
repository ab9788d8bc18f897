"""experiments/studies/peers/plain_call.py: its struct is that of the C header."""

import os
import re
import unittest

import support
import plain_call


class Struct(unittest.TestCase):
    def test_fields_stand_in_the_order_of_the_header(self):
        path = os.path.join(support.ROOT, "kernels", "attention", "attention.h")
        with open(path, encoding="utf-8") as file:
            text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.DOTALL)
        body = re.search(r"typedef struct sawtooth_attention \{(.*?)\}", text, re.DOTALL).group(1)
        declared = [
            name.strip(" *").split()[-1].strip("*")
            for line in body.split(";")[:-1]
            for name in line.split(",")
        ]
        self.assertEqual([field[0] for field in plain_call.Attention._fields_], declared)

    def test_without_a_library_the_reason_names_the_variable(self):
        os.environ.pop(plain_call.LIBRARY, None)
        self.assertIn("SAWTOOTH_LIBRARY", plain_call.refusal(support.shape()))


if __name__ == "__main__":
    unittest.main()
