"""attention() on a GPU: what it computes on tensors of PyTorch, CuPy and JAX, and on which stream."""

import importlib.util
import itertools
import math
import os
import threading
import unittest

# JAX would take most of the memory at its first array.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import sawtooth


def library(name):
    """The module where attention() has kernels and a GPU, and this library is there; else None."""
    if importlib.util.find_spec("sawtooth._attention") is None or not importlib.util.find_spec(
        name
    ):
        return None
    torch = __import__("torch") if importlib.util.find_spec("torch") else None
    if torch is None or not torch.cuda.is_available():
        return None
    return __import__(name)


torch, cupy, jax = (library(name) for name in ("torch", "cupy", "jax"))


def tolerance(dtype):
    """Of the relative error: P and O are rounded once each, to 8 or 11 bits; fp32 to 22."""
    return {torch.bfloat16: 5e-3, torch.float16: 1e-3, torch.float32: 1e-5}[dtype]


def seen(rows, keys, causal, window):
    """The mask, whose lower right corner stands at the last key."""
    i = torch.arange(rows, device="cuda")[:, None] + keys - rows
    j = torch.arange(keys, device="cuda")[None]
    mask = torch.ones(rows, keys, dtype=torch.bool, device="cuda")
    if causal or window:
        mask = j <= i
    return mask & (j > i - window) if window else mask


def reference(q, k, v, causal=False, window=0, scale=None):
    """O and lse in double precision; a row that sees nothing is 0 and -inf."""
    q, k, v = (tensor.double() for tensor in (q, k, v))
    k, v = (tensor.repeat_interleave(q.shape[1] // k.shape[1], 1) for tensor in (k, v))
    scores = q @ k.transpose(-1, -2) * (scale or 1 / math.sqrt(q.shape[-1]))
    mask = seen(q.shape[2], k.shape[2], causal, window)
    scores = scores.masked_fill(~mask, -math.inf)
    return scores.softmax(-1).nan_to_num(0) @ v, scores.logsumexp(-1)


class OnGpu(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)

    def inputs(self, *shape, kv=None, dtype=None):
        shapes = (shape, kv or shape, kv or shape)
        return [torch.randn(*s, device="cuda").to(dtype or torch.bfloat16) for s in shapes]

    def close(self, o, expected, dtype=None):
        error = (o.double() - expected).norm() / expected.norm()
        self.assertLess(error.item(), tolerance(dtype or o.dtype))


@unittest.skipIf(torch is None, "no GPU, no PyTorch or no kernels here")
class TensorsOfPyTorch(OnGpu):
    def test_give_softmax_of_scores_times_v(self):
        for dtype in (torch.bfloat16, torch.float16, torch.float32):
            for dim in (64, 128):
                for q_rows, keys in ((300, 300), (1000, 700), (17, 900)):
                    for mask in ({}, {"causal": True}, {"window": 130}):
                        shape = (2, 8, q_rows, dim)
                        q, k, v = self.inputs(*shape, kv=(2, 2, keys, dim), dtype=dtype)
                        with self.subTest(dtype=dtype, dim=dim, rows=q_rows, keys=keys, mask=mask):
                            o, lse = sawtooth.attention(q, k, v, lse=True, **mask)
                            expected, sums = reference(q, k, v, **mask)
                            self.close(o, expected)
                            finite = sums.isfinite()
                            self.assertTrue(torch.equal(finite, lse.isfinite()))
                            difference = (lse - sums)[finite].abs().max().item()
                            self.assertLess(difference, 2e-3)
                            self.assertEqual((o.dtype, o.device), (q.dtype, q.device))
                            self.assertEqual((lse.dtype, lse.shape), (torch.float32, q.shape[:3]))

    def test_give_what_pytorch_gives_in_fp32(self):
        sdpa = torch.nn.functional.scaled_dot_product_attention
        for causal in (False, True):
            q, k, v = self.inputs(1, 4, 2048, 128)
            expected = sdpa(*(tensor.float() for tensor in (q, k, v)), is_causal=causal)
            self.close(sawtooth.attention(q, k, v, causal=causal), expected.double())

    def test_under_lists_of_tiles_see_what_these_say(self):
        rows, keys, tile_q = 500, 700, 128
        for dim, kernel, tile in ((64, "mma", 128), (128, "mma", 64), (128, None, 128)):
            if kernel is None and torch.cuda.get_device_capability() != (9, 0):
                continue
            q, k, v = self.inputs(1, 4, rows, dim, kv=(1, 2, keys, dim))
            # Row i sees the first 10 keys and those from i to i + 150.
            i = torch.arange(rows, dtype=torch.int32, device="cuda")
            spans = torch.stack([0 * i, 0 * i + 10, i, (i + 150).clamp(max=keys)], 1)
            tiles = [
                [0, *range(max(1, first // tile), (min(first + tile_q, rows) + 148) // tile + 1)]
                for first in range(0, rows, tile_q)
            ]
            begin = torch.tensor([sum(map(len, tiles[:t])) for t in range(len(tiles) + 1)])
            entries = torch.tensor([2 * t + 1 for t in sum(tiles, [])], dtype=torch.int32)
            lists = (begin.cuda(), entries.cuda(), spans)
            o = sawtooth.attention(q, k, v, lists=lists, tile_q=tile_q, tile_kv=tile, kernel=kernel)
            j = torch.arange(keys, device="cuda")[None]
            mask = (j < 10) | ((j >= i[:, None]) & (j < i[:, None] + 150))
            scores = q.double() @ k.repeat_interleave(2, 1).double().transpose(-1, -2) / dim**0.5
            weights = scores.masked_fill(~mask, -math.inf).softmax(-1)
            self.close(o, weights @ v.repeat_interleave(2, 1).double())

    def test_give_the_same_under_every_schedule_and_kernel(self):
        q, k, v = self.inputs(1, 4, 500, 64, kv=(1, 2, 700, 64))
        expected = reference(q, k, v, causal=True)[0]
        for kernel in ("mma", "mma-tma", "hopper"):
            if kernel == "hopper" and torch.cuda.get_device_capability() != (9, 0):
                continue
            for launch in ("grid", "static", "dynamic"):
                for scan in ("linear", "sawtooth", "attach"):
                    for kv_split in (1, 3):
                        with self.subTest(kernel=kernel, launch=launch, scan=scan, split=kv_split):
                            schedule = {"launch": launch, "scan": scan, "kv_split": kv_split}
                            o = sawtooth.attention(q, k, v, causal=True, kernel=kernel, **schedule)
                            self.close(o, expected)

    def test_take_a_scale(self):
        q, k, v = self.inputs(1, 2, 300, 64)
        self.close(sawtooth.attention(q, k, v, scale=0.3), reference(q, k, v, scale=0.3)[0])

    def test_may_have_any_layout_whose_rows_have_neighbouring_elements(self):
        turned = [tensor.transpose(1, 2) for tensor in self.inputs(2, 256, 4, 64)]
        packed = torch.randn(2, 256, 3, 4, 64, device="cuda").bfloat16()
        parts = [packed[:, :, i].transpose(1, 2) for i in range(3)]
        wide = [tensor[:, :, 3:259, 8:72] for tensor in self.inputs(2, 4, 300, 128)]
        q, one_k, one_v = self.inputs(2, 4, 256, 64, kv=(2, 1, 256, 64))
        repeated = [q, one_k.expand(2, 4, 256, 64), one_v.expand(2, 4, 256, 64)]
        for name, (q, k, v) in (
            ("turned", turned),
            ("packed", parts),
            ("wide", wide),
            ("repeated", repeated),
        ):
            with self.subTest(name):
                self.close(sawtooth.attention(q, k, v), reference(q, k, v)[0])

    def test_out_is_written_in_its_layout_and_nothing_else(self):
        q, k, v = self.inputs(2, 4, 256, 64)
        memory = torch.full((2, 256, 4, 72), math.nan, device="cuda", dtype=torch.bfloat16)
        out = memory[..., :64].transpose(1, 2)
        self.assertIs(sawtooth.attention(q, k, v, out=out), out)
        self.close(out, reference(q, k, v)[0])
        self.assertTrue(memory[..., 64:].isnan().all().item())

    def test_gradients_are_those_of_double_precision(self):
        every = itertools.product(
            (False, True),
            ({}, {"dq": "ordered", "scan": "shift"}),
            ((torch.bfloat16, 1e-2), (torch.float32, 1e-4)),
        )
        for causal, options, (dtype, bound) in every:
            with self.subTest(causal=causal, options=options, dtype=dtype):
                q, k, v = self.inputs(2, 4, 300, 64, dtype=dtype)
                grad_out = torch.randn_like(q)
                o, lse = sawtooth.attention(q, k, v, causal=causal, lse=True)
                found = sawtooth.attention_backward(
                    grad_out, q, k, v, o, lse, causal=causal, **options
                )
                exact = [t.double().requires_grad_() for t in (q, k, v)]
                reference(*exact, causal)[0].backward(grad_out.double())
                for gradient, of in zip(found, exact):
                    error = (gradient.double() - of.grad).norm() / of.grad.norm()
                    self.assertLess(error.item(), bound)

    def test_empty_ones_are_no_mistake(self):
        for shape in ((0, 2, 128, 64), (1, 2, 0, 64)):
            q, k, v = self.inputs(*shape, kv=(shape[0], 2, 128, 64))
            self.assertEqual(sawtooth.attention(q, k, v).shape, q.shape)

    def test_that_require_a_gradient_are_refused_where_one_would_be_lost(self):
        q, k, v = self.inputs(1, 2, 256, 64)
        q.requires_grad_()
        with self.assertRaisesRegex(sawtooth.UsageError, "^q requires a gradient"):
            sawtooth.attention(q, k, v)
        with torch.no_grad():
            self.close(sawtooth.attention(q, k, v), reference(q, k, v)[0])

    def test_that_do_not_fit_are_refused_and_nothing_is_written(self):
        q, k, v = self.inputs(1, 2, 256, 64)
        out = torch.full_like(q, 7)
        odd = torch.empty(1, 2, 256, 68, device="cuda", dtype=q.dtype)[..., :64]
        for message, change in (
            ("^q is not on a CUDA device", {"q": q.cpu()}),
            ("^q is fp64; allowed: bf16, fp16, fp32", {"q": q.double()}),
            ("^k is fp16; allowed here: bf16", {"k": k.half()}),
            ("^v has the shape", {"v": v[:, :, :100]}),
            ("^k has a stride of 256 between the elements", {"k": k.mT.contiguous().mT}),
            ("^k has a stride of 68 ", {"k": odd}),
            ("^scan is 'zigzag'", {"scan": "zigzag"}),
        ):
            with self.assertRaisesRegex(sawtooth.UsageError, message):
                sawtooth.attention(**({"q": q, "k": k, "v": v, "out": out} | change))
        torch.cuda.synchronize()
        self.assertTrue((out == 7).all().item())
        self.close(sawtooth.attention(q, k, v), reference(q, k, v)[0])


@unittest.skipIf(torch is None, "no GPU, no PyTorch or no kernels here")
class Streams(OnGpu):
    long = 10**7  # cycles: milliseconds

    def test_the_current_one_is_taken_behind_its_work(self):
        q, k, v = self.inputs(1, 2, 512, 64)
        expected = reference(q, k, v)[0]
        stream, reader = torch.cuda.Stream(), torch.cuda.Stream()
        late = torch.zeros_like(q)
        torch.cuda.synchronize()
        with torch.cuda.stream(stream):
            torch.cuda._sleep(self.long)
            late.copy_(q)
            o = sawtooth.attention(late, k, v)
            done = stream.record_event()
        self.assertFalse(done.query())  # the call has not waited
        with torch.cuda.stream(reader):
            reader.wait_event(done)
            copy = o.clone()
        reader.synchronize()
        self.close(copy, expected)

    def test_one_that_is_named_comes_behind_the_current_one(self):
        q, k, v = self.inputs(1, 2, 512, 64)
        expected = reference(q, k, v)[0]
        for named in (lambda s: s, lambda s: s.cuda_stream):
            stream = torch.cuda.Stream()
            late = torch.zeros_like(q)
            torch.cuda._sleep(self.long)
            late.copy_(q)
            o = sawtooth.attention(late, k, v, stream=named(stream))
            stream.synchronize()
            self.close(o, expected)

    def test_tensors_may_be_dropped_before_the_kernel_has_run(self):
        stream = torch.cuda.Stream()
        q, k, v = self.inputs(4, 8, 512, 64)
        expected = reference(q, k, v)[0]
        torch.cuda.synchronize()
        with torch.cuda.stream(stream):
            torch.cuda._sleep(self.long)
        o = sawtooth.attention(q, k, v, stream=stream)
        shape = q.shape
        del q, k, v
        for _ in range(3):  # would be the memory of q, k and v
            torch.full(shape, math.nan, device="cuda", dtype=torch.bfloat16)
        stream.synchronize()
        self.close(o, expected)

    def test_of_two_threads_do_not_disturb_each_other(self):
        calls = [self.inputs(1, 4, 300 + 64 * i, 64) for i in range(2)]
        expected = [sawtooth.attention(*call, launch="dynamic", scan="linear") for call in calls]
        torch.cuda.synchronize()
        wrong = [0, 0]

        def run(i):
            stream = torch.cuda.Stream()
            with torch.cuda.stream(stream):
                for _ in range(200):
                    o = sawtooth.attention(*calls[i], launch="dynamic", scan="linear")
                    wrong[i] += (o != expected[i]).any().item()

        threads = [threading.Thread(target=run, args=(i,)) for i in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [0, 0])

    def test_a_workspace_serves_calls_of_any_kind_and_can_be_freed(self):
        q, k, v = self.inputs(1, 2, 512, 64)
        expected = reference(q, k, v)[0]
        for launch in ("dynamic", "static", "dynamic"):
            for kv_split in (1, 3):
                self.close(sawtooth.attention(q, k, v, launch=launch, kv_split=kv_split), expected)
        sawtooth.free_workspaces()
        self.close(sawtooth.attention(q, k, v, launch="dynamic"), expected)

    def test_calls_can_be_captured_and_replayed_beside_others(self):
        q, k, v = self.inputs(1, 4, 700, 64)
        others = self.inputs(1, 8, 900, 64)
        expected_of_others = sawtooth.attention(
            *others, launch="dynamic", scan="linear", kv_split=2
        )
        sawtooth.free_workspaces()  # the capture itself has to find memory
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            o = sawtooth.attention(q, k, v, causal=True, launch="dynamic")
            split = sawtooth.attention(q, k, v, causal=True, launch="dynamic", kv_split=3)
        stream = torch.cuda.Stream()
        torch.cuda.synchronize()
        for _ in range(20):
            for tensor in (q, k, v):
                tensor.normal_()
            expected = reference(q, k, v, causal=True)[0]
            torch.cuda.synchronize()
            graph.replay()
            with torch.cuda.stream(stream):  # larger ones beside it
                beside = sawtooth.attention(*others, launch="dynamic", scan="linear", kv_split=2)
            torch.cuda.synchronize()
            self.close(o, expected)
            self.close(split, expected)
            self.assertTrue(torch.equal(beside, expected_of_others))


@unittest.skipIf(torch is None or cupy is None, "no GPU, no CuPy or no kernels here")
class ArraysOfCuPy(OnGpu):
    def arrays(self, *shape):
        return [cupy.from_dlpack(t) for t in self.inputs(*shape, dtype=torch.float16)]

    def check(self, o, q, k, v):
        self.close(*(torch.from_dlpack(o), reference(*map(torch.from_dlpack, (q, k, v)))[0]))

    def test_give_an_array_that_is_complete(self):
        torch.cuda.synchronize()
        q, k, v = self.arrays(2, 4, 300, 64)
        o, lse = sawtooth.attention(q, k, v, lse=True)
        self.assertIsInstance(o, cupy.ndarray)
        self.assertEqual((o.dtype, o.shape), (q.dtype, q.shape))
        self.assertIsInstance(lse, cupy.ndarray)
        self.check(o, q, k, v)

    def test_run_on_the_current_stream_behind_its_work(self):
        q, k, v = self.arrays(1, 2, 512, 64)
        expected = reference(*map(torch.from_dlpack, (q, k, v)))[0]
        late, out = cupy.zeros_like(q), cupy.empty_like(q)
        torch.cuda.synchronize()
        stream = cupy.cuda.Stream(non_blocking=True)
        with stream:
            with torch.cuda.stream(torch.cuda.ExternalStream(stream.ptr)):
                torch.cuda._sleep(Streams.long)
            late[...] = q
            self.assertIs(sawtooth.attention(late, k, v, out=out), out)
        stream.synchronize()
        self.close(torch.from_dlpack(out), expected)

    def test_workspaces_of_streams_that_are_gone_can_be_freed(self):
        q, k, v = self.arrays(1, 2, 512, 64)
        for _ in range(3):
            with cupy.cuda.Stream(non_blocking=True) as stream:
                sawtooth.attention(q, k, v, launch="dynamic")
            del stream
        sawtooth.free_workspaces()
        self.check(sawtooth.attention(q, k, v, launch="dynamic"), q, k, v)


@unittest.skipIf(torch is None or jax is None, "no GPU, no JAX or no kernels here")
class ArraysOfJax(OnGpu):
    def test_give_an_array_that_is_complete(self):
        if jax.default_backend() != "gpu":
            self.skipTest("JAX has no GPU here")
        for dtype in (jax.numpy.bfloat16, jax.numpy.float16):
            keys = jax.random.split(jax.random.key(3), 3)
            q, k, v = (jax.random.normal(key, (2, 4, 300, 64), dtype) for key in keys)
            o, lse = sawtooth.attention(q, k, v, causal=True, lse=True)
            self.assertIsInstance(o, jax.Array)
            self.assertEqual((o.dtype, o.shape), (q.dtype, q.shape))
            expected, sums = reference(*map(torch.from_dlpack, (q, k, v)), causal=True)
            self.close(torch.from_dlpack(o), expected)
            self.assertLess((torch.from_dlpack(lse) - sums).abs().max().item(), 2e-3)

    def test_are_not_written(self):
        q = jax.numpy.zeros((1, 1, 64, 64), jax.numpy.bfloat16)
        with self.assertRaisesRegex(sawtooth.UsageError, "^out is an array of JAX"):
            sawtooth.attention(*[torch.zeros(1, 1, 64, 64, device="cuda").bfloat16()] * 3, out=q)


if __name__ == "__main__":
    unittest.main()
