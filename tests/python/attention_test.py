"""attention(): what it refuses, with tensors that are descriptions only, and on a GPU what it computes."""

import ctypes
import importlib.util
import inspect
import math
import os
import subprocess
import sys
import unittest

import sawtooth

CPU, CUDA = 1, 2  # DLDeviceType of dlpack.h
FLOAT, BFLOAT = 2, 4  # DLDataTypeCode
NO_KERNELS = importlib.util.find_spec("sawtooth._attention") is None


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class DLManagedTensor(ctypes.Structure):
    _fields_ = [
        ("tensor", DLTensor),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    ]


def packed(shape):
    """Strides without gaps."""
    return [math.prod(shape[i + 1 :]) for i in range(len(shape))]


class Described:
    """A tensor by what DLPack says of it; nothing lies at its address."""

    def __init__(self, *shape, dtype=(BFLOAT, 16), device=(CUDA, 0), strides=None, address=1 << 20):
        self.device = device
        self.streams = []
        extents = (ctypes.c_int64 * len(shape))(*shape)
        steps = (ctypes.c_int64 * len(shape))(*(strides or packed(shape)))
        tensor = DLTensor(address, *device, len(shape), *dtype, 1, extents, steps, 0)
        self.managed = DLManagedTensor(tensor, None, None)

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, stream=None):
        self.streams.append(stream)
        make = ctypes.pythonapi.PyCapsule_New
        make.restype = ctypes.py_object
        make.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return make(ctypes.addressof(self.managed), b"dltensor", None)


def tensors(*shape, **more):
    return [Described(*shape, **more) for _ in range(3)]


class Arguments(unittest.TestCase):
    def test_stand_in_the_signature_with_their_types(self):
        signature = inspect.signature(sawtooth.attention)
        for name in ("causal", "scale", "scan", "launch", "out", "stream"):
            self.assertEqual(signature.parameters[name].kind, inspect.Parameter.KEYWORD_ONLY)
            self.assertIsNot(signature.parameters[name].annotation, inspect.Parameter.empty)
        for word in ("[batch, heads, length, head_dim]", "UsageError", "DeviceError"):
            self.assertIn(word, sawtooth.attention.__doc__)

    def test_must_be_tensors_on_a_cuda_device(self):
        q, k, v = tensors(1, 2, 128, 64)
        for name, call in (
            ("q", ([[1.0]], k, v)),
            ("k", (q, None, v)),
            ("v", (q, k, Described(1, 2, 128, 64, device=(CPU, 0)))),
        ):
            with self.assertRaisesRegex(sawtooth.UsageError, f"^{name} is .*; allowed: "):
                sawtooth.attention(*call)
        with self.assertRaisesRegex(sawtooth.UsageError, "^out is not on a CUDA device"):
            sawtooth.attention(q, k, v, out=Described(1, 2, 128, 64, device=(CPU, 0)))
        for scale in (0, -1.0, math.nan):
            with self.assertRaisesRegex(sawtooth.UsageError, "^scale is .*; allowed: above 0"):
                sawtooth.attention(q, k, v, scale=scale)

    @unittest.skipUnless(NO_KERNELS, "this build has kernels")
    def test_without_kernels_the_message_says_how_to_get_them(self):
        with self.assertRaisesRegex(sawtooth.DeviceError, "SAWTOOTH_CUDA=ON"):
            sawtooth.attention(*tensors(1, 2, 128, 64))


@unittest.skipIf(NO_KERNELS, "this build has no kernels")
class Refusals(unittest.TestCase):
    def refused(self, message, q, k, v, **options):
        with self.assertRaisesRegex(sawtooth.UsageError, message):
            sawtooth.attention(q, k, v, **options)

    def test_of_types(self):
        fp32, int16 = (FLOAT, 32), (0, 16)
        for dtype, name in ((fp32, "fp32"), (int16, "int16")):
            self.refused(f"^q is {name}; allowed: bf16, fp16", *tensors(1, 1, 128, 64, dtype=dtype))
        q, k, v = tensors(1, 1, 128, 64)
        v = Described(1, 1, 128, 64, dtype=(FLOAT, 16))
        self.refused("^v is fp16; allowed here: bf16", q, k, v)

    def test_of_shapes(self):
        q, k, v = tensors(2, 4, 128, 64)
        shaped = Described
        self.refused(r"^q has 3 dimensions; allowed: \[batch,", shaped(4, 128, 64), k, v)
        self.refused(r"^k has the shape \[1, 4, 128, 64\]", q, shaped(1, 4, 128, 64), v)
        self.refused(r"^k has .*; allowed here: \[2, 4, 128, 64\]", q, shaped(2, 4, 128, 32), v)
        self.refused(r"^v has the shape \[2, 2, 128, 64\]", q, k, shaped(2, 2, 128, 64))
        self.refused(r"^out has the shape", q, k, v, out=shaped(2, 4, 64, 64))
        three = [shaped(2, 3, 128, 64) for _ in range(2)]
        self.refused("^heads is 4, no multiple of kv_heads = 3", q, *three)
        self.refused("^head_dim is 72; allowed: .*64", *tensors(1, 1, 128, 72))

    def test_of_devices(self):
        q, k, v = tensors(1, 1, 128, 64)
        k = Described(1, 1, 128, 64, device=(CUDA, 1))
        self.refused("^k is on device 1, q on device 0", q, k, v)

    def test_of_layouts(self):
        q, k, v = tensors(1, 2, 128, 64)
        turned = Described(1, 2, 128, 64, strides=[16384, 8192, 1, 128])
        self.refused("^q has a stride of 128 between the elements of a row", turned, k, v)
        odd = Described(1, 2, 128, 64, strides=[16896, 8448, 66, 1])
        self.refused("^k has a stride of .* elements; allowed: multiples of 8", q, odd, v)
        shifted = Described(1, 2, 128, 64, address=(1 << 20) + 2)
        self.refused("^v is not aligned to 16 bytes", q, k, shifted)

    def test_of_schedules(self):
        call = tensors(1, 2, 128, 64)
        self.refused("^scan is 'zigzag'; allowed: .*sawtooth", *call, scan="zigzag")
        self.refused("^launch is 'fast'; allowed: .*static", *call, launch="fast")
        self.refused("^family is 'none'; allowed: mma", *call, kernel="none")
        self.refused("^tile 48x48 with head_dim 64", *call, tile_q=48, tile_kv=48)
        self.refused("^mask window is -1; allowed: 1 key", *call, window=-1)
        self.refused("^stream is 'mine'; allowed: ", *call, stream="mine")
        self.refused("^workers is -1; allowed: 1 to", *call, workers=-1)

    def test_a_valid_call_says_that_there_is_no_gpu(self):
        script = "import attention_test as t; t.sawtooth.attention(*t.tensors(1, 2, 128, 64))"
        hidden = {"CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": os.path.dirname(__file__)}
        hidden["PYTHONPATH"] += os.pathsep + os.environ.get("PYTHONPATH", "")
        done = subprocess.run(
            [sys.executable, "-c", script], env=os.environ | hidden, capture_output=True, text=True
        )
        self.assertEqual(done.returncode, 1)
        self.assertRegex(
            done.stderr.splitlines()[-1], "^sawtooth.DeviceError: looking for a device"
        )

    def test_the_stream_is_the_one_that_is_given(self):
        class CudaStream:
            def __cuda_stream__(self):
                return (0, 77)

        # In the array API's numbers 1 is the default stream.
        for stream, number in ((None, 1), (0, 1), (99, 99), (CudaStream(), 77)):
            call = tensors(1, 2, 128, 72)  # refused later
            self.refused("^head_dim is 72", *call, stream=stream)
            self.assertEqual([tensor.streams for tensor in call], [[number]] * 3)


@unittest.skipIf(NO_KERNELS, "this build has no kernels")
class BackwardRefusals(unittest.TestCase):
    def refused(self, message, options=None, **changed):
        tensors = {n: Described(1, 2, 128, 64) for n in ("grad_out", "q", "k", "v", "out")}
        tensors["lse"] = Described(1, 2, 128, dtype=(FLOAT, 32))
        with self.assertRaisesRegex(sawtooth.UsageError, message):
            sawtooth.attention_backward(**{**tensors, **changed}, **(options or {}))

    def test_of_tensors(self):
        self.refused("^grad_out has the shape", grad_out=Described(1, 2, 64, 64))
        self.refused("^out is fp32", out=Described(1, 2, 128, 64, dtype=(FLOAT, 32)))
        self.refused("^v is on device 1", v=Described(1, 2, 128, 64, device=(CUDA, 1)))
        self.refused("^lse is not on a CUDA device", lse=Described(1, 2, 128, device=(CPU, 0)))
        self.refused("^lse is bf16; allowed here: fp32", lse=Described(1, 2, 128))
        self.refused(r"^lse has the shape \[1, 2, 64\]", lse=Described(1, 2, 64, dtype=(FLOAT, 32)))
        gaps = Described(1, 2, 128, dtype=(FLOAT, 32), strides=[512, 256, 2])
        self.refused("^lse has gaps", lse=gaps)

    def test_of_options(self):
        self.refused("^dq_additions is 'sorted'; allowed: atomic, ordered", {"dq": "sorted"})
        self.refused("^scan is 'zigzag'; allowed: .*shift", {"scan": "zigzag"})
        self.refused("^scale is 0; allowed: above 0", {"scale": 0})


def gpu_torch():
    if NO_KERNELS or importlib.util.find_spec("torch") is None:
        return None
    import torch

    return torch if torch.cuda.is_available() else None


@unittest.skipIf(gpu_torch() is None, "no GPU, no PyTorch or no kernels here")
class OnAGpu(unittest.TestCase):
    def setUp(self):
        self.torch = gpu_torch()
        self.torch.manual_seed(1)

    def inputs(self, *shape, dtype=None):
        dtype = dtype or self.torch.bfloat16
        return [self.torch.randn(*shape, device="cuda", dtype=dtype) for _ in range(3)]

    def reference(self, q, k, v, causal=False):
        """In double precision; the mask's lower right corner stands at the last key."""
        q, k, v = (tensor.double() for tensor in (q, k, v))
        k, v = (tensor.repeat_interleave(q.shape[1] // k.shape[1], 1) for tensor in (k, v))
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        if causal:
            rows, keys = scores.shape[-2:]
            seen = self.torch.ones(rows, keys, device="cuda").tril(keys - rows).bool()
            scores = scores.masked_fill(~seen, -math.inf)
        return scores.softmax(-1) @ v, scores.logsumexp(-1)

    def close(self, o, expected):
        # bf16 has 8 bits of a mantissa: P and O are rounded once each.
        self.assertLess((o.double() - expected).abs().max().item(), 2**-6)

    def test_is_softmax_of_scores_times_v(self):
        for causal in (False, True):
            for scan, launch in ((None, None), ("sawtooth", "static"), ("linear", "grid")):
                q, k, v = self.inputs(2, 4, 300, 64)
                o, lse = sawtooth.attention(
                    q, k, v, causal=causal, scan=scan, launch=launch, lse=True
                )
                expected, logarithms = self.reference(q, k, v, causal)
                self.close(o, expected)
                self.assertLess((lse.double() - logarithms).abs().max().item(), 1e-2)
                self.assertEqual((o.dtype, o.device), (q.dtype, q.device))

    def test_writes_into_out_and_takes_other_layouts(self):
        base = self.inputs(2, 256, 4, 64)
        q, k, v = (tensor.transpose(1, 2) for tensor in base)
        out = self.torch.empty_like(base[0]).transpose(1, 2)
        self.assertIs(sawtooth.attention(q, k, v, out=out), out)
        self.close(out, self.reference(q, k, v)[0])

    def test_runs_on_the_current_stream_behind_its_work(self):
        q, k, v = self.inputs(1, 2, 512, 64)
        expected = self.reference(q, k, v)[0]
        stream = self.torch.cuda.Stream()
        with self.torch.cuda.stream(stream):
            late = self.torch.empty_like(q)
            self.torch.cuda._sleep(10**7)
            late.copy_(q)
            o = sawtooth.attention(late, k, v)
        stream.synchronize()
        self.close(o, expected)

    def test_gradients_are_those_of_double_precision(self):
        for causal in (False, True):
            for options in ({}, {"dq": "ordered", "scan": "shift"}):
                q, k, v = self.inputs(2, 4, 300, 64)
                grad_out = self.torch.randn_like(q)
                o, lse = sawtooth.attention(q, k, v, causal=causal, lse=True)
                found = sawtooth.attention_backward(
                    grad_out, q, k, v, o, lse, causal=causal, **options
                )
                exact = [t.double().requires_grad_() for t in (q, k, v)]
                self.reference(*exact, causal)[0].backward(grad_out.double())
                for gradient, of in zip(found, exact):
                    error = (gradient.double() - of.grad).norm() / of.grad.norm()
                    self.assertLess(error.item(), 1e-2)

    def test_reuses_its_workspace(self):
        q, k, v = self.inputs(1, 2, 512, 64)
        for launch in ("dynamic", "static", "dynamic"):
            for kv_split in (1, 3):
                o = sawtooth.attention(q, k, v, launch=launch, kv_split=kv_split)
                self.close(o, self.reference(q, k, v)[0])
        sawtooth.free_workspaces()
        self.close(sawtooth.attention(q, k, v), self.reference(q, k, v)[0])


if __name__ == "__main__":
    unittest.main()
