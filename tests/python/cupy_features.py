# SPDX-License-Identifier: MIT
"""What CuPy can do on a device, each result beside NumPy's."""

import cupy as cp
import numpy as np

random = np.random.default_rng(2)
failures = 0


def check(name, got, want, tolerance=0.0):
    """Prints what differs."""
    global failures
    if not np.allclose(cp.asnumpy(got), want, rtol=tolerance, atol=tolerance):
        failures += 1
        print(f"{name}: {got} instead of {want}")


def elementwise():
    x, y = random.random(300), random.random(300)
    a, b = cp.asarray(x), cp.asarray(y)
    check("arithmetic", cp.sqrt(a * a + b) - a / b, np.sqrt(x * x + y) - x / y, 1e-12)
    check("where", cp.where(a > b, a, b), np.maximum(x, y))
    kernel = cp.ElementwiseKernel("float64 x, float64 y", "float64 z", "z = x * y + 1", "fused_one")
    check("ElementwiseKernel", kernel(a, b), x * y + 1, 1e-14)

    @cp.fuse
    def polynomial(t):
        return t * t * 3 + t * 2 + 1

    check("fuse", polynomial(a), x * x * 3 + x * 2 + 1, 1e-14)


def reductions():
    x = random.random((40, 50))
    a = cp.asarray(x)
    check("sum", a.sum(), x.sum(), 1e-12)
    check("sum of rows", a.sum(axis=1), x.sum(axis=1), 1e-12)
    check("max", a.max(axis=0), x.max(axis=0))
    check("argmin", a.argmin(), x.argmin())
    check("mean, std", cp.stack([a.mean(), a.std()]), [x.mean(), x.std()], 1e-12)
    norm = cp.ReductionKernel(
        "float64 x", "float64 y", "x * x", "a + b", "y = sqrt(a)", "0", "norm"
    )
    check("ReductionKernel", norm(a), np.linalg.norm(x), 1e-12)


def sorting():
    x = random.random(1000)
    a = cp.asarray(x)
    check("sort", cp.sort(a), np.sort(x))
    check("argsort", cp.argsort(a), np.argsort(x))
    check("cumsum", cp.cumsum(a), np.cumsum(x), 1e-12)
    check("histogram", cp.histogram(a, 16)[0], np.histogram(x, 16)[0])
    check("unique", cp.unique(cp.asarray((x * 10).astype(int))), np.unique((x * 10).astype(int)))
    check(
        "bincount", cp.bincount(cp.asarray((x * 7).astype(int))), np.bincount((x * 7).astype(int))
    )


def indexing():
    x = random.random((20, 30))
    rows = random.integers(0, 20, 10)
    a = cp.asarray(x)
    check("slices", a[2:15:3, ::-1], x[2:15:3, ::-1])
    check("arrays of indexes", a[cp.asarray(rows)], x[rows])
    check("masks", a[a > 0.5], x[x > 0.5])
    check("take", cp.take(a, cp.asarray(rows), axis=0), np.take(x, rows, axis=0))
    check("transpose", cp.ascontiguousarray(a.T), x.T)


RAW = cp.RawKernel(
    r"""
extern "C" __global__
void z_mass(const float* energy, const float* momentum, float* mass, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) mass[i] = sqrtf(energy[i] * energy[i] - momentum[i] * momentum[i]);
}
""",
    "z_mass",
)
MODULE = cp.RawModule(
    code=r"""
template <class T> __global__ void scale(T* x, T by, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] *= by;
}
""",
    options=("-std=c++17",),
    name_expressions=("scale<double>",),
)


def raw_kernels():
    momentum = random.normal(0, 30, 500).astype(np.float32)
    energy = np.sqrt(np.float32(91.2) ** 2 + momentum**2)
    mass = cp.empty(500, cp.float32)
    RAW((4,), (128,), (cp.asarray(energy), cp.asarray(momentum), mass, 500))
    check("RawKernel", mass, np.full(500, 91.2), 1e-4)
    x = cp.arange(100, dtype=cp.float64)
    MODULE.get_function("scale<double>")((1,), (32,), (x, 2.5, 100))
    check("RawModule", x, np.arange(100) * 2.5)


def streams_and_memory():
    with cp.cuda.Stream() as stream:
        a = cp.arange(100)
        b = a * 2
        stream.synchronize()
    check("streams", b, np.arange(100) * 2)
    start, end = cp.cuda.Event(), cp.cuda.Event()
    start.record()
    end.record()
    end.synchronize()
    if cp.cuda.get_elapsed_time(start, end) < 0:
        raise ValueError("a negative time")


for test in (elementwise, reductions, sorting, indexing, raw_kernels, streams_and_memory):
    try:
        test()
    except Exception as error:  # the others are worth knowing
        failures += 1
        print(f"{test.__name__}: {type(error).__name__}: {error}")
print("all values equal NumPy's" if not failures else f"{failures} failed")
