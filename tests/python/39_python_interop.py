# SPDX-License-Identifier: MIT
"""Lesson 39: the solution's functions of C, called by ctypes with arrays of CuPy and Numba."""

import ctypes
import gc
import importlib.util

import numpy as np

library = ctypes.CDLL("libpython_interop.so")
Dims = ctypes.c_int64 * 8


class Interface(ctypes.Structure):
    """CudaArrayInterface of python_interop.h."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("read_only", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("shape", Dims),
        ("strides", Dims),
        ("has_strides", ctypes.c_int32),
        ("typestr", ctypes.c_char * 8),
        ("stream", ctypes.c_int64),
    ]


real, whole, address = ctypes.c_double, ctypes.c_int64, ctypes.c_void_p
library.interop_error.restype = ctypes.c_char_p
library.interop_scale.argtypes = [ctypes.POINTER(Interface), real]
library.interop_ramp.argtypes = [real, real, whole, whole, whole, ctypes.POINTER(address)]
library.interop_new_ramp.argtypes = [
    *(real, real, whole, whole, whole),
    *(ctypes.POINTER(Interface), ctypes.POINTER(address)),
]
library.interop_delete.argtypes = [address]
library.interop_delete.restype = None
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.argtypes, new_capsule.restype = [address, ctypes.c_char_p, address], ctypes.py_object


def check(status):
    if status:
        raise RuntimeError(library.interop_error().decode())


def scale(array, factor):
    """Multiplies in place, in the stream that the array's interface names."""
    cai = array.__cuda_array_interface__
    (pointer, read_only), strides, stream = cai["data"], cai.get("strides"), cai.get("stream")
    interface = Interface(
        pointer,
        read_only,
        len(cai["shape"]),
        Dims(*cai["shape"]),
        Dims(*(strides or ())),
        strides is not None,
        cai["typestr"].encode(),
        -1 if stream is None else stream,
    )
    check(library.interop_scale(interface, factor))


class Ramp:
    """A producer with DLPack: each consumer gets an array of its own."""

    def __init__(self, *arguments):
        self.arguments = arguments
        self.addresses = []

    def __dlpack_device__(self):
        return 2, 0

    def __dlpack__(self, *, stream=None, **_):
        tensor = address()
        number = 1 if stream in (None, -1) else stream
        check(library.interop_ramp(*self.arguments, number, ctypes.byref(tensor)))
        self.addresses.append(address.from_address(tensor.value).value)  # the field `data`
        return new_capsule(tensor, b"dltensor", None)


class OwnedRamp:
    """A producer with the CUDA Array Interface: the memory lives as long as this object."""

    deleted = 0

    def __init__(self, *arguments, stream=1):
        array, self.owner = Interface(), address()
        check(library.interop_new_ramp(*arguments, stream, array, ctypes.byref(self.owner)))
        self.__cuda_array_interface__ = {
            "version": 3,
            "shape": tuple(array.shape[: array.ndim]),
            "strides": tuple(array.strides[: array.ndim]) if array.has_strides else None,
            "typestr": array.typestr.decode(),
            "data": (array.data or 0, bool(array.read_only)),
            "stream": None if array.stream == -1 else array.stream,
        }

    def __del__(self):
        library.interop_delete(self.owner)
        OwnedRamp.deleted += 1


def expect(what, got, want):
    assert got.dtype == want.dtype and np.array_equal(got, want), (what, got, want)


def refuses(word, call):
    try:
        call()
    except RuntimeError as error:
        assert word in str(error), error
    else:
        raise AssertionError(f"not refused: {word}")


def views(array):
    """Views of a matrix of 6 by 8, none of which has an element twice."""
    return {
        "whole": array,
        "slice": array[1:5:2, 2:7],
        "transposed": array.T,
        "transposed slice": array[::3, ::2].T,
        "one column": array[:, 3],
        "empty": array[2:2],
        "one element": array[4, 5:6],
    }


def with_cupy():
    import cupy as cp

    for kind in (np.float32, np.float64, np.int32, np.int64):
        for name in views(np.zeros((6, 8))):
            array, want = cp.arange(48).reshape(6, 8).astype(kind), np.arange(48).reshape(6, 8)
            want = want.astype(kind)
            scale(views(array)[name], 3)
            views(want)[name][...] *= 3
            expect(f"CuPy, {name}", array.get(), want)
    backwards, point = cp.arange(9.0), cp.array(21.0)
    scale(backwards[::-2], 2)
    expect("CuPy, reversed", backwards.get(), np.arange(9.0) * np.tile([2, 1], 5)[:9])
    scale(point, 2)
    expect("CuPy, no dimension", point.get(), np.array(42.0))

    ramp = Ramp(1, 0.5, 40, 30)
    want = 1 + 0.5 * np.arange(1200.0).reshape(40, 30)
    array = cp.from_dlpack(ramp)
    assert array.data.ptr == ramp.addresses[0], "DLPack: the same address"
    expect("DLPack, to CuPy", array.get(), want)
    scale(array, 2)
    expect("DLPack, and back by the interface", array.get(), 2 * want)
    owned = OwnedRamp(1, 0.5, 40, 30)
    array = cp.asarray(owned)
    assert array.data.ptr == owned.__cuda_array_interface__["data"][0], "the same address"
    before = OwnedRamp.deleted
    del owned
    gc.collect()
    assert OwnedRamp.deleted == before, "the producer is deleted while CuPy uses its memory"
    expect("the interface, to CuPy", array.get(), want)
    del array
    gc.collect()
    assert OwnedRamp.deleted == before + 1, "the producer is not deleted"

    # Streams that do not wait for the default stream, and a host that does not wait for them.
    first, second = cp.cuda.Stream(non_blocking=True), cp.cuda.Stream(non_blocking=True)
    with first:
        array = cp.from_dlpack(ramp)
        scale(array, 2)
        array += 1
    second.wait_event(first.record())  # CuPy's arrays do not remember the stream of their values
    with second:
        array = cp.from_dlpack(array)
        scale(array, 10)
    second.synchronize()
    expect("CuPy, two streams", array.get(), (2 * want + 1) * 10)
    refuses("not supported", lambda: scale(cp.zeros(3, cp.complex64), 2))
    refuses("no kernel", lambda: scale(cp.zeros(3, cp.uint8), 2))


def with_numba():
    from numba import cuda

    @cuda.jit
    def add_one(values):
        i, j = cuda.grid(2)
        if i < values.shape[0] and j < values.shape[1]:
            values[i, j] += 1

    want = np.arange(48.0).reshape(6, 8)
    array = cuda.to_device(want)
    scale(array[1:5], 3)
    want[1:5] *= 3
    expect("Numba, rows", array.copy_to_host(), want)
    scale(array[:, 2:7], -1)
    want[:, 2:7] *= -1
    expect("Numba, columns", array.copy_to_host(), want)

    owned = OwnedRamp(1, 0.5, 6, 8)
    array = cuda.as_cuda_array(owned)
    want = 1 + 0.5 * np.arange(48.0).reshape(6, 8)
    add_one[(1, 1), (8, 8)](array)
    scale(array, 2)
    expect("the interface, to Numba", array.copy_to_host(), (want + 1) * 2)


for name, test in (("cupy", with_cupy), ("numba", with_numba)):
    if importlib.util.find_spec(name):
        test()
    else:
        print(f"skipped: {name} is not installed")
print("all values equal NumPy's")
