"""FlashInfer's decode by flashinfer_decode.cu, for decode.py. The path of what it is compiled to is given."""

import ctypes

PAGE_ROWS = 64  # in which K and V without a table are given


class Library:
    """Its two kernels on PyTorch's tensors."""

    def __init__(self, torch, path):
        self.torch = torch
        self.library = ctypes.CDLL(path)
        self.library.flashinfer_last_message.restype = ctypes.c_char_p
        self.library.flashinfer_decode_run.argtypes = [ctypes.c_void_p, ctypes.c_void_p]

    def require(self, status):
        if status != 0:
            raise RuntimeError(self.library.flashinfer_last_message().decode())

    def prepare(self, q, k, v, o, tensor_cores, table=None):
        """A launch. q, o: [batch, heads, 1, dim]; k, v: [batch, kv_heads, keys, dim], or with a
        table [sequence, page] [pages, kv_heads, page rows, dim]; by their strides."""
        batch, heads, _, dim = q.shape
        if table is None:
            rows = PAGE_ROWS
            in_sequence = k.shape[2] // rows
            page_stride = rows * k.stride(2)
            first = k.stride(0) // page_stride  # pages of all heads of a sequence
            numbers = [b * first + page for b in range(batch) for page in range(in_sequence)]
        else:
            rows, in_sequence, page_stride = k.shape[2], table.shape[1], k.stride(0)
            numbers = table.flatten().tolist()
        strides = (ctypes.c_int64 * 3)(page_stride, k.stride(1), k.stride(2))
        firsts = (ctypes.c_int32 * (batch + 1))(*(b * in_sequence for b in range(batch + 1)))
        pages = (ctypes.c_int32 * len(numbers))(*numbers)
        plan = ctypes.c_void_p()
        pointers = [ctypes.c_void_p(tensor.data_ptr()) for tensor in (q, k, v, o)]
        sizes = [ctypes.c_int64(size) for size in (batch, heads, k.shape[1])]
        self.require(
            self.library.flashinfer_decode_plan(
                *pointers,
                *sizes,
                strides,
                ctypes.c_int64(rows),
                firsts,
                pages,
                ctypes.c_int(tensor_cores),
                ctypes.c_float(dim**-0.5),
                ctypes.byref(plan),
            )
        )

        def launch(kept=(q, k, v, o)):  # the plan has their addresses
            self.require(
                self.library.flashinfer_decode_run(
                    plan, self.torch.cuda.current_stream().cuda_stream
                )
            )

        return launch
