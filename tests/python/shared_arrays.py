# SPDX-License-Identifier: MIT
"""Arrays that CuPy, Numba and cuda.core share: both protocols, the same addresses, no copies."""

import cupy as cp
import numpy as np
from cuda.core.utils import StridedMemoryView
from numba import cuda


@cuda.jit
def add_one(values):
    i, j = cuda.grid(2)
    if i < values.shape[0] and j < values.shape[1]:
        values[i, j] += 1


def address(array):
    return array.__cuda_array_interface__["data"][0]


def expect(what, got, want):
    assert got.dtype == want.dtype and np.array_equal(got, want), (what, got, want)


def views(array):
    return {
        "whole": array,
        "rows": array[2:5],
        "slice": array[1:5:2, 2:7:3],
        "transposed": array.T,
        "one column": array[:, 3:4],
        "empty": array[2:2],
    }


# CuPy to Numba: the CUDA Array Interface.
for kind in (np.float32, np.float64, np.int32, np.int64, np.uint8):
    for name in views(np.zeros((6, 8))):
        array = cp.arange(48).reshape(6, 8).astype(kind)
        want = np.arange(48).reshape(6, 8).astype(kind)
        view = views(array)[name]
        shared = cuda.as_cuda_array(view)
        assert address(shared) == address(view), name
        assert shared.shape == view.shape and shared.strides == view.strides, name
        if view.size:
            add_one[(1, 1), (8, 8)](shared)
            views(want)[name][...] += 1
        cuda.synchronize()
        expect(f"CuPy to Numba, {name}", array.get(), want)

# Numba to CuPy, by the same. (Numba's `.T` is a copy.)
for part in (np.s_[:], np.s_[2:5], np.s_[1:5, 2:7], np.s_[:, 3:4], np.s_[2:2]):
    want = np.arange(48.0).reshape(6, 8)
    array = cuda.to_device(want)
    view = array[part]
    shared = cp.asarray(view)
    assert shared.size == 0 or address(shared) == address(view), part
    shared *= 2
    want[part] *= 2
    expect(f"Numba to CuPy, {part}", array.copy_to_host(), want)
del array, view
shared += 1  # Numba's array is gone, and its memory is not

# From a stream that does not wait for the default stream: the interface names it, Numba waits.
stream = cp.cuda.Stream(non_blocking=True)
with stream:
    array = cp.arange(48.0).reshape(6, 8)
    array *= 3
    shared = cuda.as_cuda_array(array)
add_one[(1, 1), (8, 8)](shared)
cuda.synchronize()
expect("streams", array.get(), np.arange(48.0).reshape(6, 8) * 3 + 1)

# DLPack: CuPy from CuPy in another stream, and cuda.core's view of CuPy's arrays.
for name, view in views(array).items():
    shared = cp.from_dlpack(view)
    assert shared.shape == view.shape, name
    assert shared.size == 0 or (address(shared), shared.strides) == (address(view), view.strides)
    for protocol in ("dlpack", "cuda_array_interface"):
        make = getattr(StridedMemoryView, f"from_{protocol}")
        seen = make(view, stream_ptr=-1)
        assert seen.shape == view.shape, (protocol, name)
        if view.size:
            assert seen.ptr == address(view), (protocol, name)
            if seen.strides is not None:
                steps = tuple(step // 8 for step in view.strides)
                assert tuple(seen.strides) == steps, (protocol, name, seen.strides, steps)
with stream:
    array += 1
    done = stream.record()
with cp.cuda.Stream(non_blocking=True) as other:
    other.wait_event(done)  # CuPy's arrays do not remember the stream of their values
    shared = cp.from_dlpack(array)
    shared *= 2
    other.synchronize()
expect("DLPack in streams", array.get(), (np.arange(48.0).reshape(6, 8) * 3 + 2) * 2)
print("all values equal NumPy's")
