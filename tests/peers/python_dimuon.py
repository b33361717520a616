# SPDX-License-Identifier: MIT
"""Lesson 40's analysis with arrays alone, for NumPy and CuPy: offsets and content, as Awkward Array
keeps lists of unequal length, and `ak.combinations` written out. Beside it one raw kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from python_peers import Bench, repeated

WORK = "finds the peaks of dimuon events"
BINS, LIMIT = 1200, 120.0
WINDOWS = ((26, 37), (88, 101), (811, 1012))
TRUE_BINS = (30, 94, 911)
PERIOD = 1_000_003  # events
Columns = tuple[Any, Any, Any, Any, Any]  # counts; pt, eta, phi, charge of each muon


def events(n: int) -> Columns:
    """Events whose pairs are background, J/psi, Upsilon or Z; a fifth have no pair."""
    random = np.random.default_rng(40)
    source = random.random(n)
    mass = 0.3 + random.exponential(25, n)
    mass = np.where(source < 0.12, random.normal(3.097, 0.035, n), mass)
    mass = np.where((source >= 0.12) & (source < 0.2), random.normal(9.46, 0.09, n), mass)
    z = np.abs(91.19 + 1.25 * np.tan(np.pi * (random.random(n) - 0.5)))
    mass = np.where((source >= 0.2) & (source < 0.45), z, mass)
    # As many muons as the lesson's own events have (tests/lessons/40_capstone_dimuon/reference.h).
    shares = [0.12, 0.1, 0.58, 0.05, 0.05, 0.05, 0.05]
    counts = random.choice(len(shares), n, p=shares).astype(np.int32)
    offsets = np.concatenate([[0], np.cumsum(counts)])
    muons = int(offsets[-1])
    pt = (0.3 + random.exponential(1, muons)).astype(np.float32)
    eta = random.uniform(-2.4, 2.4, muons).astype(np.float32)
    phi = random.uniform(-np.pi, np.pi, muons).astype(np.float32)
    charge = random.choice([-1, 1], muons).astype(np.int32)
    pair = np.flatnonzero(counts >= 2)  # the first two muons have the mass
    first, second = offsets[pair], offsets[pair] + 1
    turn = np.where(mass[pair] > 20, random.uniform(2.4, 3.8, pair.size), 0.45)
    deta = random.uniform(-0.5, 0.5, pair.size)
    eta[first] = random.uniform(-1.8, 1.8, pair.size)
    eta[second] = eta[first] + deta
    phi[second] = np.remainder(phi[first] + turn + np.pi, 2 * np.pi) - np.pi
    pt[first] = pt[second] = mass[pair] / np.sqrt(2 * (np.cosh(deta) - np.cos(turn)))
    charge[second] = -charge[first]
    return counts, pt, eta, phi, charge


def repeated_events(n: int, few: Columns, xp: Any) -> Columns:
    """n events that repeat a few."""
    counts, *muons = few
    number = n // counts.size * int(counts.sum()) + int(counts[: n % counts.size].sum())
    return (repeated(counts, n, xp), *(repeated(column, number, xp) for column in muons))


def heaviest(sample: Columns, xp: Any) -> tuple[Any, Any]:
    """For each event the largest mass of a pair of opposite charge, and whether there is one."""
    counts, pt, eta, phi, charge = sample
    offsets = xp.concatenate([xp.zeros(1, xp.int64), xp.cumsum(counts, dtype=xp.int64)])
    muon = xp.arange(pt.size)
    event = xp.searchsorted(offsets, muon, side="right") - 1
    partners = offsets[event + 1] - muon - 1  # muons after it in the same event
    pairs = xp.concatenate([xp.zeros(1, xp.int64), xp.cumsum(partners)])
    pair = xp.arange(int(pairs[-1]))  # the host must know how many: a wait
    first = xp.searchsorted(pairs, pair, side="right") - 1
    second = first + 1 + pair - pairs[first]
    opposite = charge[first] != charge[second]
    first, second = first[opposite], second[opposite]
    half = xp.float32(0.5)
    a = xp.sinh(half * (eta[first] - eta[second]))
    b = xp.sin(half * (phi[first] - phi[second]))
    mass = xp.float32(2) * xp.sqrt(pt[first] * pt[second] * (a * a + b * b))
    best = xp.full(counts.size, -xp.inf, xp.float32)
    xp.maximum.at(best, event[first], mass)
    return best, best >= 0


def peaks_of(counts: Any, xp: Any) -> Any:
    """The bin of each window's peak, as in lesson 40."""
    bins = []
    for first, last in WINDOWS:
        window = counts[first:last].astype(xp.int64)
        above = xp.maximum(window - xp.maximum(window[0], window[-1]), 0)
        total = xp.maximum(above.sum(), 1)
        bins.append(((above * xp.arange(first, last)).sum() + total // 2) // total)
    return xp.stack(bins)


def analyse(sample: Columns, xp: Any) -> tuple[Any, Any]:
    """The spectrum and the bins of its peaks."""
    best, valid = heaviest(sample, xp)
    kept = best[valid]
    index = (kept[kept < LIMIT] * xp.float32(10)).astype(xp.int64)
    counts = xp.bincount(index, minlength=BINS)
    return counts, peaks_of(counts, xp)


def check_of(n: int, few: Columns) -> Callable[[tuple[Any, Any]], str]:
    """Compares with NumPy on the few events: masses at an edge may round to the next bin."""
    once = analyse(few, np)[0] * (n / few[0].size)

    def check(got: tuple[Any, Any]) -> str:
        counts, bins = (np.asarray(part.get() if hasattr(part, "get") else part) for part in got)
        off = float(np.abs(counts - once).sum()) / n
        if off > 0.01:
            return f"{100 * off:.1f} of 100 events are in other bins than NumPy's"
        far = [int(b) for b, true in zip(bins, TRUE_BINS, strict=True) if abs(int(b) - true) > 1]
        return f"peaks in the bins {far}" if far and n >= 100_000 else ""

    return check


def bytes_each(few: Columns) -> float:
    """The inputs of an event."""
    return 4 * (1 + 4 * few[1].size / few[0].size)


def numpy_arrays(bench: Bench) -> None:
    """A million events on one core."""
    n = bench.size(1_000_000)
    few = events(n)
    bench(WORK, "NumPy, array operations", n, bytes_each(few), lambda: analyse(few, np),
          check_of(n, few))  # fmt: skip


KERNEL = r"""
extern "C" __global__ void fill(const int* counts, const long long* ends, const float* pt,
                                const float* eta, const float* phi, const int* charge,
                                long long events, unsigned* bins) {
    __shared__ unsigned own[1200];
    for (int b = threadIdx.x; b < 1200; b += blockDim.x) own[b] = 0;
    __syncthreads();
    for (long long e = blockIdx.x * (long long)blockDim.x + threadIdx.x; e < events;
         e += gridDim.x * (long long)blockDim.x) {
        float best = -1;
        for (long long i = ends[e] - counts[e]; i < ends[e]; ++i)
            for (long long j = i + 1; j < ends[e]; ++j) {
                if (charge[i] == charge[j]) continue;
                float a = sinhf(0.5f * (eta[i] - eta[j])), b = sinf(0.5f * (phi[i] - phi[j]));
                best = fmaxf(best, 2 * sqrtf(pt[i] * pt[j] * (a * a + b * b)));
            }
        if (best >= 0 && best < 120) atomicAdd(&own[int(best * 10)], 1u);
    }
    __syncthreads();
    for (int b = threadIdx.x; b < 1200; b += blockDim.x)
        if (own[b]) atomicAdd(&bins[b], own[b]);
}"""


def cupy_arrays(bench: Bench, cp: Any) -> None:
    """On a card: array operations alone, and a scan by CuPy with one kernel for the rest."""
    n = bench.size(100_000_000)
    few = events(min(n, PERIOD))
    sample = repeated_events(n, few, cp)
    check = check_of(n, few)
    bench(WORK, "CuPy, array operations", n, bytes_each(few), lambda: analyse(sample, cp), check)
    cp.get_default_memory_pool().free_all_blocks()
    kernel = cp.RawKernel(KERNEL, "fill")
    counts, pt, eta, phi, charge = sample

    def fused() -> tuple[Any, Any]:
        ends = cp.cumsum(counts, dtype=cp.int64)
        bins = cp.zeros(BINS, cp.uint32)
        arguments = (counts, ends, pt, eta, phi, charge, np.int64(n), bins)
        kernel((1024,), (256,), arguments)
        return bins, peaks_of(bins, cp)

    bench(WORK, "CuPy, scan and a raw kernel", n, bytes_each(few), fused, check)
