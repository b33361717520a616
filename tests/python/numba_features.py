# SPDX-License-Identifier: MIT
"""What Numba can do on a device, each result beside NumPy's."""

import math

import numpy as np
from numba import cuda, float32, float64, int32, vectorize
from numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float32

random = np.random.default_rng(1)
failures = 0


def check(name, got, want, tolerance=0.0):
    """Prints what differs."""
    global failures
    if not np.allclose(got, want, rtol=tolerance, atol=0):
        failures += 1
        print(f"{name}: {got} instead of {want}")


@cuda.jit(device=True)
def discriminant(a, b, c):
    return b * b - 4 * a * c


@cuda.jit
def larger_root(a, b, c, x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = (-b[i] + math.sqrt(discriminant(a[i], b[i], c[i]))) / (2 * a[i])


def one_dimension():
    a, b, c = random.uniform(1, 2, 1000), random.uniform(9, 10, 1000), random.uniform(1, 2, 1000)
    x = cuda.device_array(1000)
    larger_root[4, 256](cuda.to_device(a), cuda.to_device(b), cuda.to_device(c), x)
    check("1D", x.copy_to_host(), (-b + np.sqrt(b * b - 4 * a * c)) / (2 * a), 1e-12)


@cuda.jit
def transpose(source, target):
    tile = cuda.shared.array((16, 17), float32)
    x, y = cuda.grid(2)
    if y < source.shape[0] and x < source.shape[1]:
        tile[cuda.threadIdx.y, cuda.threadIdx.x] = source[y, x]
    cuda.syncthreads()
    x = cuda.blockIdx.y * 16 + cuda.threadIdx.x
    y = cuda.blockIdx.x * 16 + cuda.threadIdx.y
    if y < target.shape[0] and x < target.shape[1]:
        target[y, x] = tile[cuda.threadIdx.x, cuda.threadIdx.y]


def two_dimensions():
    source = random.random((50, 70), np.float32)
    target = cuda.device_array((70, 50), np.float32)
    transpose[(5, 4), (16, 16)](cuda.to_device(source), target)
    check("2D", target.copy_to_host(), source.T)


@cuda.jit
def count(values, bins):
    private = cuda.shared.array(16, int32)
    if cuda.threadIdx.x < 16:
        private[cuda.threadIdx.x] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), values.size, cuda.gridsize(1)):
        cuda.atomic.add(private, int(values[i] * 16), 1)
    cuda.syncthreads()
    if cuda.threadIdx.x < 16:
        cuda.atomic.add(bins, cuda.threadIdx.x, private[cuda.threadIdx.x])


def atomics():
    values = random.random(5000)
    bins = cuda.to_device(np.zeros(16, np.int32))
    count[8, 128](values, bins)
    check("atomics", bins.copy_to_host(), np.histogram(values, 16, (0, 1))[0])


@vectorize(["float64(float64, float64)"], target="cuda")
def hypotenuse(a, b):
    return math.sqrt(a * a + b * b)


@cuda.reduce
def total(a, b):
    return a + b


def whole_arrays():
    a, b = random.random(1000), random.random(1000)
    check("vectorize", hypotenuse(a, b), np.hypot(a, b), 1e-14)
    check("reduce", total(a), a.sum(), 1e-12)


@cuda.jit
def inside_circle(states, rounds, counts):
    i = cuda.grid(1)
    for _ in range(rounds):
        x = xoroshiro128p_uniform_float32(states, i)
        y = xoroshiro128p_uniform_float32(states, i)
        if x * x + y * y <= 1:
            counts[i] += 1


def generators():
    states = create_xoroshiro128p_states(256, seed=7)
    counts = cuda.to_device(np.zeros(256, np.int32))
    inside_circle[2, 128](states, 40, counts)
    check("xoroshiro128p", 4 * counts.copy_to_host().sum() / (256 * 40), math.pi, 0.02)


@cuda.jit
def double(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2


def memory():
    stream = cuda.stream()
    pinned = cuda.pinned_array(500)
    pinned[:] = np.arange(500)
    device = cuda.to_device(pinned, stream=stream)
    double[4, 128, stream](device)
    back = device.copy_to_host(stream=stream)
    stream.synchronize()
    check("streams", back, 2 * np.arange(500))
    managed = cuda.managed_array(500)
    managed[:] = np.arange(500)
    double[4, 128](managed)
    cuda.synchronize()
    check("managed", managed, 2 * np.arange(500))


@cuda.jit
def rounds_with_all_blocks(x):
    grid = cuda.cg.this_grid()
    i = cuda.grid(1)
    for _ in range(3):
        left = x[i - 1] if i > 0 else 0
        grid.sync()
        x[i] += left
        grid.sync()


def cooperative_groups():
    x = np.ones(256, np.int64)
    device = cuda.to_device(x)
    rounds_with_all_blocks[4, 64](device)
    for _ in range(3):
        x[1:] = x[1:] + x[:-1]
    check("cooperative groups", device.copy_to_host(), x)


@cuda.jit
def warp_sums(x, out):
    value = x[cuda.grid(1)]
    for offset in (16, 8, 4, 2, 1):
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, offset)
    if cuda.laneid == 0:
        out[cuda.grid(1) // 32] = value


def warps():
    x = random.random(256)
    out = cuda.device_array(8)
    warp_sums[2, 128](cuda.to_device(x), out)
    check("shuffles", out.copy_to_host(), x.reshape(8, 32).sum(axis=1), 1e-12)


@cuda.jit
def dynamic_shared(x):
    tile = cuda.shared.array(0, float64)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    x[t] = tile[cuda.blockDim.x - 1 - t]


def shared_memory_of_the_launch():
    x = np.arange(64.0)
    device = cuda.to_device(x)
    dynamic_shared[1, 64, 0, 64 * 8](device)
    check("dynamic shared memory", device.copy_to_host(), x[::-1])


@cuda.jit
def z_mass(energy, momentum, mass):
    i = cuda.grid(1)
    if i < mass.size:
        square = energy[i] * energy[i]
        for k in range(3):
            square -= momentum[i, k] * momentum[i, k]
        mass[i] = math.sqrt(max(square, 0.0))


def arrays_of_rows():
    momentum = random.normal(0, 30, (300, 3))
    energy = np.sqrt(91.2**2 + (momentum**2).sum(axis=1))
    mass = cuda.device_array(300)
    z_mass[3, 128](cuda.to_device(energy), cuda.to_device(momentum), mass)
    check("rows", mass.copy_to_host(), np.full(300, 91.2), 1e-12)


@cuda.jit
def twice_half(halves, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = halves[i] + halves[i]


def halves():
    values = np.arange(100, dtype=np.float16)
    out = cuda.device_array_like(values)
    twice_half[1, 128](cuda.to_device(values), out)  # links C++ that Numba compiles with NVRTC
    check("float16", out.copy_to_host(), 2 * values)


for test in (one_dimension, two_dimensions, atomics, whole_arrays, generators, memory,
             cooperative_groups, warps, shared_memory_of_the_launch, arrays_of_rows,
             halves):  # fmt: skip
    try:
        test()
    except Exception as error:  # the others are worth knowing
        failures += 1
        print(f"{test.__name__}: {type(error).__name__}: {error}")
print("all values equal NumPy's" if not failures else f"{failures} failed")
