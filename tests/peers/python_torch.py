# SPDX-License-Identifier: MIT
"""PyTorch, without its compiler."""

from __future__ import annotations

import numpy as np
import torch
from python_peers import (
    FLUSH_BYTES,
    LOOK,
    Bench,
    close,
    event_clock,
    quadratic,
    random_floats,
    root,
    small_ints,
)


def repeated(values: np.ndarray, n: int) -> torch.Tensor:
    few = torch.from_numpy(values).cuda()
    return few.repeat(-(-n // values.size))[:n].contiguous()


def running_sums(bench: Bench, n: int) -> None:
    few = small_ints(n)
    ints, out = repeated(few, n), torch.empty(n, dtype=torch.int32, device="cuda")
    bench(
        "running sums", "PyTorch", n, 8,
        lambda: torch.cumsum(ints, 0, dtype=torch.int32, out=out),
        lambda got: close(got[:LOOK].cpu(), np.cumsum(few)[:LOOK], 0),
    )  # fmt: skip


def sorts(bench: Bench, n: int) -> None:
    keys = 2 * torch.rand(n, device="cuda") - 1
    total = float(keys.sum(dtype=torch.float64))

    def check(got: torch.Tensor) -> str:
        same = abs(float(got.sum(dtype=torch.float64)) - total) < 1e-6 * n
        return "" if same and bool((got[:-1] <= got[1:]).all()) else "not in order"

    bench("sorts floats", "PyTorch", n, 8, lambda: torch.sort(keys).values, check)


def run(bench: Bench) -> None:
    other = torch.empty(FLUSH_BYTES, dtype=torch.uint8, device="cuda")
    bench.clock = event_clock(
        other.zero_,
        lambda: torch.cuda.Event(enable_timing=True),
        lambda begin, end: begin.elapsed_time(end),
    )
    n = bench.size(1 << 28)
    few, more = random_floats(n, 1), random_floats(n, 2)
    a, b = repeated(few, n), repeated(more, n)
    out = torch.empty_like(a)
    bench(
        "adds two vectors", "PyTorch", n, 12, lambda: torch.add(a, b, out=out),
        lambda got: close(got[:LOOK].cpu(), (few + more)[:LOOK], 0),
    )  # fmt: skip
    exact = float(few.astype(np.float64).sum()) * n / few.size
    bench(
        "sums all elements", "PyTorch", n, 4, lambda: a.sum(),
        lambda got: "" if abs(float(got) - exact) < 1e-4 * n else f"the sum is {float(got)}",
    )  # fmt: skip
    running_sums(bench, n)
    sorts(bench, bench.size(1 << 27))
    side = int(n**0.5)
    square = a[: side * side].view(side, side)
    bench(
        "transposes through a tile", "PyTorch", side * side, 8, lambda: square.t().contiguous(),
        lambda got: close(got[0, :LOOK].cpu(), square[:LOOK, 0].cpu().numpy(), 0),
    )  # fmt: skip
    bench(
        "uniform floats", "PyTorch", n, 4, lambda: out.uniform_(),
        lambda got: "" if abs(float(got.mean()) - 0.5) < 0.01 else "the mean is wrong",
    )  # fmt: skip
    unit = random_floats(n, 1, 0, 1)
    values = repeated(unit, n)
    for bins in (64, 256, 4096):

        def check(got, bins=bins):
            spread = np.bincount((unit * bins).astype(int), minlength=bins) * (n / unit.size)
            near = np.abs(got.cpu().numpy() - spread) < 0.01 * n / bins + 100
            return "" if np.all(near) else "wrong"

        bench(
            f"{bins} bins of floats", "PyTorch", n, 4,
            lambda bins=bins: torch.histc(values, bins=bins, min=0, max=1), check,
        )  # fmt: skip
    n = bench.size(1 << 27)
    few = quadratic(min(n, 4_000_037))
    arrays = [repeated(one, n) for one in few]
    want = root(*(one[:LOOK] for one in few), np)
    bench(
        "roots of quadratic equations", "PyTorch", n, 32, lambda: root(*arrays, torch),
        lambda got: close(got[: want.size].cpu(), want, 1e-12),
    )  # fmt: skip
