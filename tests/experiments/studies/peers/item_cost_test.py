"""experiments/studies/peers/item_cost.py: items and tiles by hand, costs found again in times made from them."""

import unittest

import support
import item_cost


def row(seq, time_us, **changes):
    cells = dict(kernel="hopper", batch=2, heads=3, head_dim=64, mask="causal", tile_q=192)
    cells.update(tile_kv=128, launch="dynamic", scan="linear", status="ok")
    return support.row(**cells, seq_q=seq, time_us=time_us, **changes)


def ran(rows, *arguments):
    return support.called_on(item_cost.main, rows, *arguments)


class Items(unittest.TestCase):
    def test_causal_items_have_the_tiles_up_to_their_last_row(self):
        # Rows 192, 384, 512: keys 192 = 2 tiles, 384 = 3, 512 = 4.
        self.assertEqual(item_cost.tiles_of_items(row(512, 1), (192, 128)), ([2, 3, 4], 6))

    def test_without_a_mask_every_item_has_all_tiles(self):
        tiles, _ = item_cost.tiles_of_items(dict(row(512, 1), mask="none"), (192, 128))
        self.assertEqual(tiles, [4, 4, 4])


class Makespan(unittest.TestCase):
    def test_the_last_wave_stands_alone(self):
        # 133 items of 1 + 2 x 3 us: one SM has two of them, on average 133 x 7 / 132.
        last, mean = item_cost.makespan([3], 133, 1, 2)
        self.assertEqual(last, 14)
        self.assertAlmostEqual(mean, 133 * 7 / 132)

    def test_the_longest_goes_first(self):
        # 131 SMs take a long one each (1 + 4 us); the last SM is free first and gets all three short
        # ones: 3 x (1 + 1) us. Short ones first would end at 2 + 5.
        last, _ = item_cost.makespan([4] * 131 + [1] * 3, 1, 1, 1)
        self.assertEqual(last, 6)


class Costs(unittest.TestCase):
    LENGTHS = (512, 1024, 2048, 4096, 8192)

    def made(self, fixed_us, item_us, tile_us, **changes):
        def time_us(seq):
            tiles, heads = item_cost.tiles_of_items(
                dict(row(seq, 1, **changes), heads="100"), (192, 128)
            )
            return fixed_us + item_cost.makespan(tiles, heads, item_us, tile_us)[0]

        return [dict(row(seq, time_us(seq), **changes), heads="100") for seq in self.LENGTHS]

    def test_costs_that_made_the_times_are_found_again(self):
        code, out, _ = ran(self.made(3.5, 2.25, 1.5))
        self.assertEqual(code, 0)
        self.assertIn("| 64 causal | hopper | 192x128 | 2.25 | 1.50 | 0.0 % |", out)

    def test_the_fixed_time_is_an_option(self):
        _, out, _ = ran(self.made(5, 2.25, 1.5), "--fixed-us", "5")
        self.assertIn("| 2.25 | 1.50 | 0.0 % |", out)

    def test_launches_that_cut_items_and_failed_rows_do_not_count(self):
        worse = [dict(r, time_us="1", launch="balanced") for r in self.made(3.5, 2.25, 1.5)]
        worse += [dict(r, time_us="1", status="failed") for r in self.made(3.5, 2.25, 1.5)]
        _, out, _ = ran(self.made(3.5, 2.25, 1.5) + worse)
        self.assertIn("| 2.25 | 1.50 | 0.0 % |", out)

    def test_too_few_lengths_are_an_error(self):
        code, _, error = ran(self.made(3.5, 2.25, 1.5)[:3])
        self.assertEqual(code, 2)
        self.assertIn("times of 4 lengths", error)

    def test_a_table_of_something_else_is_an_error(self):
        code, _, error = support.called_on_something_else(item_cost.main)
        self.assertEqual(code, 2)
        self.assertIn("no column", error)


if __name__ == "__main__":
    unittest.main()
