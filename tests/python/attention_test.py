"""attention() and attention_backward(): what they refuse, with tensors that are descriptions only."""

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
    _fields_ = [("tensor", DLTensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


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
        fp64, int16 = (FLOAT, 64), (0, 16)
        for dtype, name in ((fp64, "fp64"), (int16, "int16")):
            message = f"^q is {name}; allowed: bf16, fp16, fp32"
            self.refused(message, *tensors(1, 1, 128, 64, dtype=dtype))
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

    def test_of_lists(self):
        call, int32, int64 = tensors(1, 2, 300, 64), (0, 32), (0, 64)
        begin, entries = Described(4, dtype=int64), Described(7, dtype=int32)
        spans = Described(300, 4, dtype=int32)

        def refused(message, *lists, **options):
            self.refused(message, *call, lists=lists, **{"tile_q": 128, "tile_kv": 128} | options)

        refused("^lists: allowed: .*begin, entries", begin)
        refused("^lists: allowed: .*without causal", begin, entries, causal=True)
        refused(r"^lists\[1\] is not on a CUDA", begin, Described(7, dtype=int32, device=(CPU, 0)))
        refused(
            r"^begin of lists has the shape \[4\]; allowed here: \[6\]", begin, entries, tile_q=64
        )
        refused("^begin of lists is int32; allowed here: int64", Described(4, dtype=int32), entries)
        refused("^entries of lists has gaps", begin, Described(7, dtype=int32, strides=[2]))
        refused(r"^spans of lists .*\[300, 4\]", begin, entries, Described(300, 2, dtype=int32))
        rows = Described(301, dtype=int64)  # of tiles of one row
        refused("^tile is automatic; allowed with", rows, entries, spans, tile_q=0, tile_kv=0)

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


if __name__ == "__main__":
    unittest.main()
