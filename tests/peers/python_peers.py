# SPDX-License-Identifier: MIT
"""Python libraries on the work of the lessons: python3 python_peers.py cupy [--seconds 30] [--tiny]

Prints one JSON object a line, as workloads/bench_main.cpp does, with the library's version.
The sizes are those of the lessons' workloads, many times a card's L2 cache; each result is
compared with NumPy's on its first elements. A card's work is timed by events and finds a cold L2
cache, as in bench_main.cpp; a library without events is timed by the host's clock around ten calls.
"""

from __future__ import annotations

import argparse
import importlib
import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np

LOOK = 1 << 16  # elements that are compared
STEPS = 20  # of the Mandelbrot set
WARM_UPS, RUNS, FEWEST = 3, 25, 3
FLUSH_BYTES = 1 << 28  # several times the L2 cache of any card


def host_clock(call: Callable[[], Any], finish: Callable[[Any], Any], calls: int) -> float:
    """Milliseconds of one of `calls` calls, until the last is done."""
    begin = time.perf_counter()
    for _ in range(calls):
        result = call()
    finish(result)
    return 1e3 * (time.perf_counter() - begin) / calls


def event_clock(
    flush: Callable[[], Any], event: Callable[[], Any], elapsed: Callable[[Any, Any], float]
) -> Callable[[Callable[[], Any]], float]:
    """Milliseconds of one call on the card. `flush` writes FLUSH_BYTES there: the call finds a cold
    cache, and the host has put it into the queue before the card gets to it."""

    def clock(call: Callable[[], Any]) -> float:
        begin, end = event(), event()
        flush()
        begin.record()
        call()
        end.record()
        end.synchronize()
        return elapsed(begin, end)

    return clock


class Bench:
    """Times calls of one library and prints what came of them."""

    def __init__(self, module: str, seconds: float, tiny: bool, works: str = "") -> None:
        self.works = set(filter(None, works.split("|")))
        self.library = importlib.import_module(module).__version__
        self.end = time.monotonic() + seconds
        self.tiny = tiny
        self.clock: Callable[[Callable[[], Any]], float] = lambda call: host_clock(
            call, lambda _: None, 1
        )

    def size(self, elements: int) -> int:
        return min(elements, 1 << 14) if self.tiny else elements

    def __call__(
        self,
        workload: str,
        version: str,
        elements: int,
        bytes_each: float,
        call: Callable[[], Any],
        check: Callable[[Any], str],
    ) -> None:
        if time.monotonic() > self.end or (self.works and workload not in self.works):
            return
        try:
            for _ in range(1 if self.tiny else WARM_UPS):
                result = call()
            halves: list[list[float]] = [[], []]
            for half in halves:
                begin = time.monotonic()
                while len(half) < FEWEST or (len(half) < RUNS and time.monotonic() - begin < 0.3):
                    half.append(self.clock(call))
            wrong = check(result)
        except Exception as error:
            halves, wrong = [], f"{type(error).__name__}: {error}".splitlines()[0]
        times = sorted(sum(halves, [])) or [0.0]
        middles = [sorted(half)[len(half) // 2] for half in halves] or [0.0, 0.0]
        entry = {
            "name": workload, "elements": elements, "bytes": bytes_each * elements,
            "operations": 0, "wrong": wrong, "runs": len(times),
            "median_ms": times[len(times) // 2], "fastest_ms": times[0],
            "slowest_ms": times[-1], "halves_ms": middles,
        }  # fmt: skip
        print(json.dumps({"version": version, "library": self.library, "workload": entry}))


def close(got: Any, want: np.ndarray, tolerance: float) -> str:
    """ "" when the first elements agree."""
    got = np.asarray(got).reshape(-1)[: want.size].astype(np.float64)
    error = np.abs(got - want)
    bad = np.flatnonzero(~(error <= tolerance * np.abs(want) + 1e-30))
    return "" if bad.size == 0 else f"element {bad[0]}: got {got[bad[0]]}, want {want[bad[0]]}"


def pixels(height: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """The real part of each column and the imaginary part of each row, both ends included."""
    return np.linspace(-1.5, 0, width), np.linspace(-1, 0, height)


def escape_times(real: np.ndarray, imaginary: np.ndarray, xp: Any) -> Any:
    """The picture with array operations alone: every pixel takes all the steps."""
    c_r, c_i = real[None, :], imaginary[:, None]
    z_r = xp.broadcast_to(c_r, (c_i.shape[0], c_r.shape[1])) * 1.0
    z_i = xp.broadcast_to(c_i, z_r.shape) * 1.0
    out = xp.full(z_r.shape, STEPS, dtype=xp.int32)
    with np.errstate(all="ignore"):
        for step in range(STEPS):
            z_r, z_i = z_r * z_r - z_i * z_i + c_r, 2 * z_r * z_i + c_i
            away = z_r * z_r + z_i * z_i > 4
            out = xp.where(away & (out == STEPS), xp.int32(step), out)
    return out


def picture_check(height: int, width: int) -> Callable[[Any], str]:
    """Compares the first rows; where |z| grazes 2 the last bit decides."""
    real, imaginary = pixels(height, width)
    rows = max(1, min(height, LOOK // width))
    want = np.asarray(escape_times(real, imaginary[:rows], np))

    def check(got: Any) -> str:
        got = np.asarray(got).reshape(height, width)[:rows]
        wrong = int(np.count_nonzero(got != want))
        return "" if wrong <= want.size // 10000 + 1 else f"{wrong} of {want.size} pixels are wrong"

    return check


def quadratic(n: int) -> tuple[np.ndarray, ...]:
    random = np.random.default_rng(1)
    return random.uniform(1, 2, n), random.uniform(5, 9, n), random.uniform(1, 2, n)


def root(a: Any, b: Any, c: Any, xp: Any) -> Any:
    return (-b + xp.sqrt(b * b - 4 * a * c)) / (2 * a)


def repeated(values: np.ndarray, n: int, xp: Any) -> Any:
    """n elements on the card that repeat `values`: made in no time."""
    return xp.tile(xp.asarray(values), -(-n // values.size))[:n]


PERIOD = 4_000_037


def random_floats(n: int, seed: int, low: float = -1, high: float = 1) -> np.ndarray:
    values = np.random.default_rng(seed).random(min(n, PERIOD), dtype=np.float32)
    return (low + (high - low) * values).astype(np.float32)


def small_ints(n: int) -> np.ndarray:
    """One period of the numbers whose running sums are timed: -8 to 8."""
    return np.random.default_rng(1).integers(-8, 9, min(n, PERIOD), dtype=np.int32)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library", choices=["numpy", "numba", "cupy", "torch", "jax"])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument("--works", default="", help="only these works, with | between")
    chosen = parser.parse_args()
    module = importlib.import_module(f"python_{chosen.library}")
    module.run(Bench(chosen.library, chosen.seconds, chosen.tiny, chosen.works))


if __name__ == "__main__":
    main()
