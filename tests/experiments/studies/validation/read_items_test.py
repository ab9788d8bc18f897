"""experiments/studies/validation/read_items.py: launches made from known speeds, found again."""

import contextlib
import csv
import io
import os
import re
import sys
import tempfile
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "..")
sys.path.insert(0, os.path.join(ROOT, "experiments", "studies", "validation"))
import read_items  # noqa: E402

STEP_NS = 2000
POINT = {
    "run_id": "a",
    "head_dim": "64",
    "mask": "none",
    "tile_q": "128",
    "tile_kv": "128",
    "launch": "static",
    "workers": "132",
    "prefetch": "0",
}


def slow(cta):
    """GPC of CTAs 32 to 47 by 0.2 %, the first SM of a TPC by 0.05 % more than the second."""
    return 1 + (0.002 if 32 <= cta < 48 else 0) + (0.00025 if cta % 2 == 0 else -0.00025)


def items_of(run_id, ctas, pace, steps=1000, items=4, ticket=None):
    rows = []
    for cta in range(ctas):
        for k in range(items):
            rows.append(
                {
                    "run_id": run_id,
                    "repetition": 0,
                    "worker": cta,
                    "items_before": k,
                    "item": (ticket(cta) if ticket else cta) + k * ctas,
                    "steps": steps,
                    "start_ns": round(k * (steps * pace(cta) + read_items.ITEM_NS)),
                }
            )
    return rows


def read(points, rows):
    """Standard output and the die file, or the message of what was refused."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, name) for name in ("points.csv", "items.csv", "die.ini")]
        for path, table in zip(paths, (points, rows)):
            with open(path, "w", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, table[0].keys())
                writer.writeheader()
                writer.writerows(table)
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            read_items.main([paths[0], paths[1], "--die", paths[2]])
        with open(paths[2], encoding="utf-8") as file:
            return out.getvalue(), file.read()


class Speeds(unittest.TestCase):
    def test_a_slow_gpc_is_found_and_tpcs_do_not_blur_it(self):
        out, die = read([POINT], items_of("a", 132, lambda cta: STEP_NS * slow(cta)))
        values = [
            float(v) for v in re.search(r"\[sm-slowness\]\nvalue = (\S+)", die).group(1).split(",")
        ]
        self.assertEqual(len(values), 132)
        for cta, value in enumerate(values):
            self.assertAlmostEqual(value, 0.002 if 32 <= cta < 48 else 0, delta=3e-6)
        self.assertIn("those of a TPC by 0.050 %", out)
        self.assertIn("\n[sm-slowness d64-128x128]\n", die)
        self.assertNotIn("half", die)

    def test_a_tpc_that_is_apart_from_its_gpc_keeps_its_own_speed_alone_and_with_two_ctas(self):
        def pace(cta):
            return STEP_NS * (1.03 if cta in (52, 53) else 1)

        def shared(cta):  # SM 52 has CTAs 52 and 184
            return STEP_NS * {52: 1.02, 53: 1.02, 184: 0.99, 185: 0.99}.get(cta, 1)

        _, die = read(
            [POINT, dict(POINT, run_id="b", workers="264")],
            items_of("a", 132, pace) + items_of("b", 264, shared),
        )
        for key, slow_by in (
            ("sm-slowness", 0.03),
            ("sm-slowness d64-128x128", 0.03),
            ("sm-slowness-older d64-128x128", 0.02),
            ("sm-slowness-younger d64-128x128", -0.01),
        ):
            values = [
                float(v) for v in re.search(rf"\[{key}\]\nvalue = (\S+)", die).group(1).split(",")
            ]
            for cta, value in enumerate(values):
                self.assertAlmostEqual(
                    value, slow_by if cta in (52, 53) else 0, delta=1e-5, msg=f"{key} {cta}"
                )


class Items(unittest.TestCase):
    def test_what_an_item_takes_beyond_its_steps_and_how_late_the_last_tpcs_are(self):
        rows = []
        for cta in range(132):
            start = 0
            for k in range(8):
                steps = 1000 - 100 * k - cta % 16
                rows.append(
                    {
                        "run_id": "b",
                        "repetition": 0,
                        "worker": cta,
                        "items_before": k,
                        "item": cta + 132 * k,
                        "steps": steps,
                        "start_ns": round(start),
                    }
                )
                start += steps * STEP_NS + 5000 + 400 * read_items.turn(cta)
        out, _ = read(
            [POINT, dict(POINT, run_id="b", mask="causal")],
            items_of("a", 132, lambda cta: STEP_NS) + rows,
        )
        found = re.search(
            r"an item takes (\d+) ns beyond its steps, (\d+) more in the last TPC", out
        )
        self.assertAlmostEqual(int(found[1]), 5200, delta=30)
        self.assertAlmostEqual(int(found[2]), 400, delta=30)

    def test_what_prefetch_costs_ctas_with_lines_and_without(self):
        def pace(cta):  # of 132 CTAs 0, 33, 66 and 99 have none of 128 lines
            return STEP_NS + 50 + (0 if cta % 33 == 0 else 90)

        out, _ = read(
            [POINT, dict(POINT, run_id="b", prefetch="2")],
            items_of("a", 132, lambda cta: STEP_NS) + items_of("b", 132, pace),
        )
        self.assertIn("a step takes 50.0 ns more, with lines of its own another 90.0", out)

    def test_gpcs_that_draw_first_sit_at_the_half_of_the_tickets(self):
        near = [*range(16, 48), *range(80, 96), *range(114, 132)]
        order = near + [cta for cta in range(132) if cta not in near]
        tickets = dict(POINT, run_id="b", launch="dynamic", mask="causal")
        late = items_of("b", 132, lambda cta: STEP_NS, ticket=order.index)
        for row in late:
            row["start_ns"] += 0 if row["worker"] in near else 120
        out, die = read([POINT, tickets], items_of("a", 132, lambda cta: STEP_NS) + late)
        halves = re.search(r"\[cta-half\]\nvalue = (\S+)", die).group(1).split(",")
        self.assertEqual([cta for cta, half in enumerate(halves) if half == "1"], near)
        self.assertIn("[ticket-half]\nvalue = 1\n", die)
        self.assertIn("first tickets near and far 32 and 98, far ones 120 ns later", out)
        self.assertIn("ticket-hop-ns 120", out)

    def test_tickets_that_do_not_tell_the_halves_apart_are_refused(self):
        tickets = dict(POINT, run_id="b", launch="dynamic")
        with self.assertRaisesRegex(SystemExit, "do not tell the halves of L2 apart"):
            read(
                [POINT, tickets],
                items_of("a", 132, lambda cta: STEP_NS)
                + items_of("b", 132, lambda cta: STEP_NS, ticket=lambda cta: cta),
            )


class TwoCtas(unittest.TestCase):
    def test_the_older_one_is_found_by_stride_and_under_grid(self):
        older, younger = STEP_NS * 0.95, STEP_NS * 1.05
        by_stride = items_of(
            "b", 264, lambda cta: younger if cta in read_items.SECOND_CTAS else older
        )
        # 1000 steps: the older CTAs end after 1000 * older, the younger ones, alone with a new one,
        # do the rest at the older one's pace.
        ends = 1000 * older, 1000 * older + 1000 * (1 - older / younger) * older
        grid = [
            {
                "run_id": "c",
                "repetition": 0,
                "worker": cta,
                "items_before": 0,
                "item": cta,
                "steps": 1000,
                "start_ns": 0 if cta < 264 else round(ends[cta >= 396]),
            }
            for cta in range(528)
        ]
        out, _ = read(
            [
                POINT,
                dict(POINT, run_id="b", workers="264"),
                dict(POINT, run_id="c", workers="264", launch="grid"),
            ],
            items_of("a", 132, lambda cta: STEP_NS) + by_stride + grid,
        )
        self.assertEqual(out.count("older CTA preferred by 5.00 %"), 2, out)


class TwoCtasThatPrefetch(unittest.TestCase):
    def test_costs_are_those_that_their_paces_were_made_from(self):
        def has_lines(cta):  # 128 lines for 264 CTAs
            return cta * 128 // 264 < (cta + 1) * 128 // 264

        partner = dict(read_items.SHARERS) | {b: a for a, b in read_items.SHARERS}

        def pace(cta):
            own, other = has_lines(cta), has_lines(partner[cta])
            return (STEP_NS + 40 + 30 * (own + other)) * (1 + 0.05 * (own - other))

        out, _ = read(
            [
                POINT,
                dict(POINT, run_id="b", workers="264"),
                dict(POINT, run_id="c", workers="264", prefetch="2"),
            ],
            items_of("a", 132, lambda cta: STEP_NS)
            + items_of("b", 264, lambda cta: STEP_NS)
            + items_of("c", 264, pace),
        )
        self.assertIn(
            "two CTAs: a step takes 40.0 ns more, with lines of both another 60.0; "
            "with lines beside a CTA without 5.0 % longer",
            out,
        )


class StepCosts(unittest.TestCase):
    def test_are_those_that_the_paces_of_all_kernels_were_made_from(self):
        tensor_ns, exp_ns = 1000, 400  # of 128 x 128 x 64 and of 128 x 128
        made = {
            ("64", "128"): (1, 1, 10, 450),
            ("64", "64"): (0.5, 0.5, 60, 400),
            ("128", "64"): (1, 0.5, 35, 425),
            ("128", "128"): (2, 1, 35, 600),
        }
        points, rows = [], []
        for (head_dim, tile_kv), (products, exps, fixed_ns, exposed_ns) in made.items():
            pipe_ns = products * tensor_ns + exps * exp_ns + fixed_ns
            for ctas, pace in ((1, pipe_ns + exposed_ns), (2, 2 * pipe_ns)):
                if ctas == 2 and (head_dim, tile_kv) == ("128", "128"):
                    continue
                run_id = f"{head_dim}{tile_kv}{ctas}"
                points.append(
                    dict(
                        POINT,
                        run_id=run_id,
                        head_dim=head_dim,
                        tile_kv=tile_kv,
                        workers=str(132 * ctas),
                    )
                )
                rows += items_of(run_id, 132 * ctas, lambda cta, pace=pace: pace)
        out, _ = read(points, rows)
        self.assertIn(
            f"step-tensor-tflops {128 * 128 * 64 * 4 * 132 / 1000 / 1000:.1f}, "
            f"step-exp-tera-per-s {128 * 128 * 132 / 400 / 1000:.2f}",
            out,
        )
        for (head_dim, tile_kv), (_, _, fixed_ns, exposed_ns) in made.items():
            self.assertIn(
                f"step-fixed-ns d{head_dim}-128x{tile_kv} {fixed_ns}, "
                f"step-exposed-ns d{head_dim}-128x{tile_kv} {exposed_ns}\n",
                out,
            )


class Refusals(unittest.TestCase):
    def test_items_of_another_table_are_named(self):
        with self.assertRaisesRegex(SystemExit, "run_id b"):
            read([POINT], items_of("b", 132, lambda cta: STEP_NS))

    def test_short_items_say_nothing_of_speeds(self):
        with self.assertRaisesRegex(SystemExit, "at least 500 steps"):
            read([POINT], items_of("a", 132, lambda cta: STEP_NS, steps=100))


if __name__ == "__main__":
    unittest.main()
