"""experiments/studies/peers without a GPU: arguments, rows, and how what is missing is said."""

import contextlib
import csv
import io
import os
import sys
import tempfile
import types
import unittest
from unittest import mock

from support import shape
import support
import bench as benches
import count as counting
import cutile
import kernels
import peers
import rows as results
import session
import shapes as shaping


def ran(*arguments):
    return support.called(peers.main, *arguments)


class Arguments(unittest.TestCase):
    def test_shapes_are_the_cross_product_and_k_means_1024(self):
        options = peers.parser().parse_args(["--seq", "16K,100", "--mask", "none,causal"])
        self.assertEqual(
            [(s.seq, s.mask) for s in shaping.shapes(options)],
            [(16384, "none"), (16384, "causal"), (100, "none"), (100, "causal")],
        )

    def test_a_mistake_is_named_and_exits_with_2(self):
        for arguments, named in (
            (("--seq", "0"), "'0' is not a whole number"),
            (("--mask", "window"), "'window' is none of none, causal"),
            (("--peers", "tritone"), "'tritone' is none of"),
            (("--sawtooth", "/no/program", "--dry-run"), "/no/program"),
            (("--dry-run", "--csv", "/no/folder/x.csv"), "/no/folder"),
        ):
            code, _, error = ran(*arguments)
            self.assertEqual(code, 2, arguments)
            self.assertIn(named, error)


class Rows(unittest.TestCase):
    def test_columns_stand_in_the_order_that_the_program_prints_and_others_behind(self):
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "sawtooth")
            with open(program, "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\n[ $1 = --csv-header ] && echo mask,kernel,launch\n")
            os.chmod(program, 0o755)
            path = os.path.join(folder, "rows.csv")
            results.write(path, [dict(kernel="k", extra=1, mask="none")], program)
            with open(path, encoding="utf-8") as file:
                self.assertEqual(file.read(), "mask,kernel,launch,extra\nnone,k,,1\n")

    def test_without_a_program_columns_are_those_of_the_rows(self):
        with mock.patch.object(results, "program", return_value=None):
            self.assertEqual(results.columns([dict(a=1), dict(b=2, a=3)]), ["a", "b"])

    def test_a_dry_run_writes_one_row_a_shape_and_peer_with_empty_results(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "dry.csv")
            code, _, _ = ran(
                "--dry-run", "--seq", "1K,2K", "--peers", "triton,sdpa-flash", "--csv", path
            )
            self.assertEqual(code, 0)
            self.assertEqual(os.listdir(folder), ["dry.csv"])  # no temporary file is left
            with open(path, newline="", encoding="utf-8") as file:
                rows = list(csv.DictReader(file))
        self.assertEqual(
            [(r["seq_q"], r["kernel"]) for r in rows],
            [
                ("1024", "triton"),
                ("1024", "sdpa-flash"),
                ("2048", "triton"),
                ("2048", "sdpa-flash"),
            ],
        )
        for row in rows:
            self.assertEqual(
                (row["time_us"], row["dram_read_sectors"], row["status"]), ("", "", "dry-run")
            )

    def test_tflops_are_half_the_pairs_when_causal(self):
        # 4 x 2 heads x 1024^2 x 64 = 536,870,912 FLOP; in 100 us that is 5.37 TFLOP/s.
        full = results.row(shape(), "k", "", "h200", time_us=100.0)
        half = results.row(shape(mask="causal"), "k", "", "h200", time_us=100.0)
        self.assertEqual((full["tflops"], half["tflops"]), ("5.37", "2.68"))


def ncu_table(*kernels):
    """ncu's raw page: a header, a row of units, then (name, DRAM sectors, L2 sectors) of kernels."""
    return (
        "\n".join(
            [
                "==PROF== Connected",
                '"ID","Kernel Name","dram__sectors_read.sum","lts__t_sectors_srcunit_tex_op_read.sum"',
                '"","","sector","sector"',
                *(f'"{i}","{name}","{dram}","{l2}"' for i, (name, dram, l2) in enumerate(kernels)),
            ]
        )
        + "\n"
    )


MARK = ("at::cuda::spin_kernel(long)", "0", "0")


class Counting(unittest.TestCase):
    def test_counters_are_summed_over_the_kernels_between_two_separators(self):
        text = ncu_table(
            MARK, ("attention", "1,000", "20"), ("combine", "5", "7"), MARK, ("attention", "3", "4")
        )
        self.assertEqual(
            [counting.totals(launch) for launch in counting.launches(text)],
            [
                {"dram_read_sectors": 1005, "l2_read_sectors": 27},
                {"dram_read_sectors": 3, "l2_read_sectors": 4},
            ],
        )

    def test_an_output_without_a_table_is_an_error(self):
        with self.assertRaises(ValueError):
            counting.launches("==ERROR== ERR_NVGPUCTRPERM\n")

    def test_a_kernel_before_the_first_separator_is_an_error(self):
        with self.assertRaisesRegex(ValueError, "before the first"):
            counting.launches(ncu_table(("stray", "1", "1"), MARK))

    def counted(self, text):
        done = types.SimpleNamespace(stdout=text, returncode=0)
        with mock.patch.object(counting.subprocess, "run", return_value=done):
            return counting.count("ncu", [], [shape()], ["triton", "sdpa-flash"], 2)

    def test_launches_belong_to_the_peers_in_turn(self):
        found, status = self.counted(
            ncu_table(MARK, ("a", "1", "1"), MARK, ("b", "2", "2"), MARK, ("a", "3", "3"), MARK)
        )
        self.assertEqual(status, "ok")
        dram = {
            peer: [counting.totals(launch).get("dram_read_sectors") for launch in launches]
            for (_, peer), launches in found.items()
        }
        # The second launch of sdpa-flash has no kernel: it has no counter, not a zero.
        self.assertEqual(dram, {"triton": [1, 3], "sdpa-flash": [2, None]})

    def test_a_launch_too_few_leaves_no_counters_at_all(self):
        found, status = self.counted(ncu_table(MARK, ("a", "1", "1")))
        self.assertEqual((found, status), ({}, "ncu saw 1 launches instead of 4"))

    def test_the_profiled_process_marks_every_launch_and_runs_each_peer_once_before(self):
        events = []
        torch = types.SimpleNamespace(
            cuda=types.SimpleNamespace(
                _sleep=lambda cycles: events.append("mark"),
                synchronize=lambda: None,
                profiler=types.SimpleNamespace(
                    start=lambda: events.append("on"), stop=lambda: events.append("off")
                ),
            )
        )

        def prepare(_, peer):
            if peer == "broken":
                raise RuntimeError("no such head dim")
            return lambda: events.append(peer)

        with contextlib.redirect_stderr(io.StringIO()):
            counting.run_profiled(
                torch, lambda: events.append("cold"), prepare, [shape()], ["good", "broken"], 2
            )
        self.assertEqual(
            events,
            [
                "good",
                "cold",
                "on",
                "mark",
                "good",
                "off",
                "cold",
                "on",
                "mark",
                "off",
                "cold",
                "on",
                "mark",
                "good",
                "off",
                "cold",
                "on",
                "mark",
                "off",
            ],
        )

    def test_the_profiled_process_is_given_the_same_shapes(self):
        given = ["--seq", "16K,100", "--mask", "causal,none", "--head-dim", "128"]
        first = peers.parser().parse_args(given)
        again = peers.parser().parse_args(shaping.arguments(vars(first)))
        self.assertEqual(shaping.shapes(first), shaping.shapes(again))

    def test_every_counter_is_a_column(self):
        made = results.row(shape(), "k", "", "h200")
        self.assertLessEqual(set(counting.METRICS), set(made))


class Measuring(unittest.TestCase):
    def measured(self, bench):
        """Rows of one shape where launches and times are stand-ins, and the order of launches."""
        order = []
        options = peers.parser().parse_args(["--peers", "sdpa-flash,sdpa-cudnn", "--rounds", "3"])
        options.sawtooth, options.ncu = "sawtooth", None
        launches = {"sdpa-flash": lambda: order.append("flash")}

        def clock(_torch, _cold_l2, launch):
            launch()
            return 100.0 + len(order)

        def stand_in(_program, _gpu, _shape, options):
            order.append("bench")
            return bench(int(options[options.index("--repetitions") + 1]))

        with mock.patch.object(
            session, "ready_launches", return_value=(launches, {"sdpa-cudnn": "refused"})
        ), mock.patch.object(peers, "cold_time_us", clock), mock.patch.object(
            counting, "l2_emptier", return_value=None
        ), mock.patch.object(
            benches, "rows", stand_in
        ):
            rows, correct = peers.measured_shape(None, options, shape(), lambda text: None)
        return rows, correct, order

    def test_peers_and_bench_take_turns(self):
        rows, correct, order = self.measured(
            lambda count: [{"kernel": "mma", "repetition": "0"}] * count
        )
        self.assertEqual(order, ["flash", "bench"] * 3)
        self.assertTrue(correct)
        self.assertEqual([r["repetition"] for r in rows if r["kernel"] == "mma"], [0, 1, 2])
        timed = [r for r in rows if r["kernel"] == "sdpa-flash"]
        # The stand-in clock gives 100 plus the number of launches so far: 1, 3, 5.
        self.assertEqual([r["time_us"] for r in timed], ["101.00", "103.00", "105.00"])
        # What is not measured stays empty: how a library orders its work.
        self.assertEqual(
            {(r.get("scan", ""), r.get("launch", ""), r["state"]) for r in timed},
            {("", "", "cold")},
        )

    def test_a_peer_that_cannot_run_is_a_row_with_its_reason(self):
        rows, _, _ = self.measured(lambda count: [])
        refused = [r for r in rows if r["kernel"] == "sdpa-cudnn"]
        self.assertEqual([(r["status"], r["time_us"]) for r in refused], [("refused", "")])

    def test_a_bench_that_fails_is_not_tried_again_and_fails_the_run(self):
        def failing(_count):
            raise benches.BenchFailed("no such option")

        _, correct, order = self.measured(failing)
        self.assertFalse(correct)
        self.assertEqual(order.count("bench"), 1)

    def test_without_rounds_nothing_is_timed(self):
        torch = types.SimpleNamespace(cuda=types.SimpleNamespace(is_available=lambda: True))
        counted = [
            results.row(
                shape(),
                "triton",
                "triton-tutorial",
                "h200",
                counters={"dram_read_sectors": 7},
                state="cold",
            )
        ]
        with mock.patch.dict(sys.modules, {"torch": torch}), mock.patch.object(
            peers.shutil, "which", side_effect={"ncu": "/usr/bin/ncu"}.get
        ), mock.patch.object(
            peers, "counted_rows", return_value=(counted, True)
        ), mock.patch.object(
            peers, "measured_shape", side_effect=AssertionError("nothing is to be timed")
        ):
            code, out, _ = ran("--rounds", "0", "--count")
        self.assertEqual(code, 0)
        self.assertEqual(
            [
                (row["dram_read_sectors"], row["time_us"])
                for row in csv.DictReader(io.StringIO(out))
            ],
            [("7", "")],
        )


class Missing(unittest.TestCase):
    def test_without_torch_the_exit_code_is_3_and_the_message_says_so(self):
        with mock.patch.dict(sys.modules, {"torch": None}):
            code, out, error = ran("--seq", "1K")
        self.assertEqual((code, out), (3, ""))
        self.assertIn("PyTorch cannot be imported", error)

    def test_without_a_gpu_the_exit_code_is_3_and_the_message_says_so(self):
        torch = types.SimpleNamespace(cuda=types.SimpleNamespace(is_available=lambda: False))
        with mock.patch.dict(sys.modules, {"torch": torch}):
            code, _, error = ran()
        self.assertEqual(code, 3)
        self.assertIn("no GPU", error)


class Cutile(unittest.TestCase):
    """What the peer of ahead-of-time cubins refuses, by name, before anything is launched."""

    def refusal(self, folder, **changes):
        with mock.patch.dict(os.environ, {cutile.FOLDER: folder} if folder else {}, clear=True):
            return cutile.refusal(shape(**changes))

    def test_without_a_folder_of_cubins_it_says_how_to_make_one(self):
        self.assertIn("SAWTOOTH_CUTILE does not name a folder", self.refusal(None))

    def test_other_types_and_lengths_are_refused(self):
        self.assertIn("bf16", self.refusal("/cubins", dtype="fp16"))
        self.assertIn("multiples of 128", self.refusal("/cubins", seq=1000))

    def test_a_missing_cubin_is_named_and_a_present_one_is_taken(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertIn("cutile_d64_none.cubin is missing", self.refusal(folder))
            open(os.path.join(folder, "cutile_d64_none.cubin"), "wb").close()
            self.assertEqual(self.refusal(folder), "")

    def test_parameters_are_address_shape_and_strides_of_all_heads_as_one(self):
        flat = types.SimpleNamespace(
            data_ptr=lambda: 4096, shape=(6, 128, 64), stride=lambda: (8192, 64, 1)
        )
        tensor = types.SimpleNamespace(shape=(2, 3, 128, 64), view=lambda *sizes: flat)
        self.assertEqual(
            [p.value for p in cutile.array_parameters(tensor)], [4096, 6, 128, 64, 8192, 64, 1]
        )


if __name__ == "__main__":
    unittest.main()
