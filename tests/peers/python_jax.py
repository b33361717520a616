# SPDX-License-Identifier: MIT
"""JAX, whose compiler fuses what is written as array operations."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from python_peers import (
    LOOK,
    STEPS,
    Bench,
    close,
    host_clock,
    picture_check,
    pixels,
    quadratic,
    random_floats,
    repeated,
    root,
    small_ints,
)  # fmt: skip

jax.config.update("jax_enable_x64", True)


def running_sums(bench: Bench, n: int) -> None:
    few = small_ints(n)
    ints = repeated(few, n, jnp)
    sums = jax.jit(lambda x: jnp.cumsum(x, dtype=jnp.int32))
    bench(
        "running sums", "JAX", n, 8, lambda: sums(ints),
        lambda got: close(got[:LOOK], np.cumsum(few)[:LOOK], 0),
    )  # fmt: skip


def run(bench: Bench) -> None:
    calls = 1 if bench.tiny else 10
    bench.clock = lambda call: host_clock(call, lambda last: jax.block_until_ready(last), calls)
    n = bench.size(1 << 28)
    few, more = random_floats(n, 1), random_floats(n, 2)
    a, b = repeated(few, n, jnp), repeated(more, n, jnp)
    add = jax.jit(lambda x, y: x + y)
    bench(
        "adds two vectors", "JAX", n, 12, lambda: add(a, b),
        lambda got: close(got[:LOOK], (few + more)[:LOOK], 0),
    )  # fmt: skip
    exact = float(few.astype(np.float64).sum()) * n / few.size
    total = jax.jit(jnp.sum)
    bench(
        "sums all elements", "JAX", n, 4, lambda: total(a),
        lambda got: "" if abs(float(got) - exact) < 1e-4 * n else f"the sum is {float(got)}",
    )  # fmt: skip
    running_sums(bench, n)
    key = jax.random.key(1)
    uniform = jax.jit(lambda k: jax.random.uniform(k, (n,), dtype=jnp.float32))
    bench(
        "uniform floats", "JAX", n, 4, lambda: uniform(key),
        lambda got: "" if abs(float(got.mean()) - 0.5) < 0.01 else "the mean is wrong",
    )  # fmt: skip
    n = bench.size(1 << 27)
    few = quadratic(min(n, 4_000_037))
    arrays = [repeated(one, n, jnp) for one in few]
    want = root(*(one[:LOOK] for one in few), np)
    solve = jax.jit(lambda x, y, z: root(x, y, z, jnp))
    bench(
        "roots of quadratic equations", "JAX", n, 32, lambda: solve(*arrays),
        lambda got: close(got[: want.size], want, 1e-12),
    )  # fmt: skip
    height, width = (4000, 6000) if not bench.tiny else (40, 60)
    real, imaginary = (jnp.asarray(values) for values in pixels(height, width))

    @jax.jit
    def picture(real, imaginary):
        c_r, c_i = real[None, :], imaginary[:, None]
        z_r, z_i = jnp.broadcast_to(c_r, (height, width)), jnp.broadcast_to(c_i, (height, width))
        out = jnp.full((height, width), STEPS, dtype=jnp.int32)
        for step in range(STEPS):
            z_r, z_i = z_r * z_r - z_i * z_i + c_r, 2 * z_r * z_i + c_i
            out = jnp.where((z_r * z_r + z_i * z_i > 4) & (out == STEPS), step, out)
        return out

    bench(
        "Mandelbrot set in double", "JAX", height * width, 4, lambda: picture(real, imaginary),
        picture_check(height, width),
    )  # fmt: skip
