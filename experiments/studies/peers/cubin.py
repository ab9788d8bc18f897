"""Loads kernels that were compiled elsewhere and launches them through the CUDA driver, in torch's context."""

import ctypes


class DriverError(RuntimeError):
    """A call of the CUDA driver that failed; the text names it and the driver's code."""


def call(name, *arguments):
    code = getattr(ctypes.CDLL("libcuda.so.1"), name)(*arguments)
    if code != 0:
        raise DriverError(f"{name}: CUDA driver error {code}")


def load(path, symbol=""):
    """The kernel `symbol` of a cubin, or its first one, in the context that is current (torch's)."""
    with open(path, "rb") as file:
        image = file.read()
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    call("cuModuleLoadData", ctypes.byref(module), image)
    if symbol:
        call("cuModuleGetFunction", ctypes.byref(function), module, symbol.encode())
    else:
        call("cuModuleEnumerateFunctions", ctypes.byref(function), 1, module)
    return function


def allow_shared(function, dynamic_bytes):
    """A CTA may take more than 48 KiB of shared memory only after this."""
    max_dynamic_shared_size_bytes = 8  # CU_FUNC_ATTRIBUTE_...
    call("cuFuncSetAttribute", function, max_dynamic_shared_size_bytes, dynamic_bytes)


def launcher(function, grid, block, shared_bytes, parameters):
    """launch(stream), with ctypes values as the kernel's parameters."""
    addresses = (ctypes.c_void_p * len(parameters))(*map(ctypes.addressof, parameters))

    def launch(stream):
        launch.keep = parameters  # the driver reads them through `addresses`
        call(
            *("cuLaunchKernel", function, *grid, *block, shared_bytes),
            *(ctypes.c_void_p(stream), addresses, None),
        )

    return launch
