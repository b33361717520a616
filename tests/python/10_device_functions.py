# SPDX-License-Identifier: MIT
"""Lesson 10: a device function with a loop (integer powers), and the mass of Z candidates from
pairs of muons, in Numba, as a CuPy RawKernel and as an ElementwiseKernel.
"""

import math

import cupy as cp
import numpy as np
from numba import cuda

random = np.random.default_rng(10)
N = 500


@cuda.jit(device=True)
def intpow(base, exponent):
    result = 1.0
    while exponent:
        if exponent & 1:
            result *= base
        base *= base
        exponent >>= 1
    return result


@cuda.jit
def powers(bases, exponents, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = intpow(bases[i], exponents[i])


bases, exponents = random.uniform(-2, 2, N), random.integers(0, 20, N)
out = cuda.device_array(N)
powers[4, 128](cuda.to_device(bases), cuda.to_device(exponents), out)
assert np.allclose(out.copy_to_host(), bases**exponents, rtol=1e-12), "intpow in Numba"
raw = cp.RawKernel(
    r"""
__device__ double intpow(double base, int exponent) {
    double result = 1;
    for (; exponent; exponent >>= 1, base *= base)
        if (exponent & 1) result *= base;
    return result;
}
extern "C" __global__ void powers(const double* bases, const long long* exponents, double* out,
                                  int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = intpow(bases[i], exponents[i]);
}
""",
    "powers",
)
result = cp.empty(N)
raw((4,), (128,), (cp.asarray(bases), cp.asarray(exponents), result, N))
assert np.allclose(result.get(), bases**exponents, rtol=1e-12), "intpow as a RawKernel"

pt1, pt2 = random.exponential(30, (2, N))
eta1, eta2 = random.uniform(-2.4, 2.4, (2, N))
phi1, phi2 = random.uniform(-np.pi, np.pi, (2, N))
columns = (pt1, pt2, eta1, eta2, phi1, phi2)
want = np.sqrt(2 * pt1 * pt2 * (np.cosh(eta1 - eta2) - np.cos(phi1 - phi2)))


@cuda.jit(device=True)
def pair_mass(pt1, pt2, deta, dphi):
    return math.sqrt(2 * pt1 * pt2 * (math.cosh(deta) - math.cos(dphi)))


@cuda.jit
def masses(pt1, pt2, eta1, eta2, phi1, phi2, mass):
    i = cuda.grid(1)
    if i < mass.size:
        mass[i] = pair_mass(pt1[i], pt2[i], eta1[i] - eta2[i], phi1[i] - phi2[i])


mass = cuda.device_array(N)
masses[4, 128](*map(cuda.to_device, columns), mass)
assert np.allclose(mass.copy_to_host(), want, rtol=1e-9), "masses in Numba"
fused = cp.ElementwiseKernel(
    "float64 p, float64 q, float64 e, float64 f, float64 a, float64 b",
    "float64 mass",
    "mass = sqrt(2 * p * q * (cosh(e - f) - cos(a - b)))",
    "z_mass",
)
assert np.allclose(fused(*map(cp.asarray, columns)).get(), want, rtol=1e-9), "ElementwiseKernel"
print("all values equal NumPy's")
