# SPDX-License-Identifier: MIT
"""The arrays that a check compared, whole, as common/harness/report/details.h wrote them down."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np

# What a byte pattern of 0xFF, with which outputs are filled, looks like: for floats a NaN that no
# computation makes, for integers -1 or the largest number.
_FLOAT_FILLING = {4: 0xFFFFFFFFE0000000, 8: 0xFFFFFFFFFFFFFFFF}


@dataclass(frozen=True)
class Launch:
    """One launch: blocks and threads in a block, each as (x, y, z)."""

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    serial: int = 0

    @property
    def threads_per_block(self) -> int:
        x, y, z = self.block
        return x * y * z

    @property
    def blocks(self) -> int:
        x, y, z = self.grid
        return x * y * z

    @property
    def threads(self) -> int:
        return self.blocks * self.threads_per_block


@dataclass(frozen=True)
class Writer:
    """The last writer of an element. `by`: nobody, kernel, host (a copy or memset) or library (a
    kernel of one).
    """

    by: str
    line: int = 0
    block: tuple[int, int, int] = (0, 0, 0)
    thread: tuple[int, int, int] = (0, 0, 0)
    kernel: str = ""
    launch: int = 0
    file: str = ""  # of a source that was compiled at run time; else it is the lesson's

    @property
    def on_device(self) -> bool:
        """Whether a kernel wrote it, the program's or a library's."""
        return self.by in ("kernel", "library")


@dataclass
class Compared:
    """One failed comparison. `got`, `want` and `bad` hold the first `kept` of `size` elements;
    `wrong` and `ranges` ([first, end) pairs, not always all of them) tell of the whole array.
    """

    what: str
    size: int
    columns: int
    wrong: int
    ranges: list[tuple[int, int]]
    got: np.ndarray
    want: np.ndarray
    bad: np.ndarray
    element_bytes: int = 4
    launches: list[Launch] = field(default_factory=list)
    writers: dict[int, Writer] = field(default_factory=dict)
    # Whether it is known to be a copy of a device array, which was filled before.
    downloaded: bool = True

    @property
    def kept(self) -> int:
        return len(self.got)

    @property
    def whole(self) -> bool:
        """Whether every element is here, so that a pattern over all of them can be seen."""
        return self.kept == self.size

    @property
    def is_float(self) -> bool:
        return self.got.dtype.kind == "f"

    @property
    def launch(self) -> Launch | None:
        """The launch that wrote the most of what is known, else the last one."""
        kernels = [w.kernel for w in self.writers.values() if w.by == "kernel"]
        if kernels:
            most = max(set(kernels), key=kernels.count)
            for launch in self.launches:
                if launch.kernel == most:
                    return launch
        return self.launches[0] if self.launches else None

    def filled(self) -> np.ndarray:
        """Where the output still holds its filling (0xFF bytes) and should not.

        A -1 that the host computed is no filling: integers must have come from the device.
        """
        if not self.is_float and not self.downloaded:
            return np.zeros(self.kept, bool)
        if self.is_float:
            filling = _FLOAT_FILLING.get(self.element_bytes, 0)
            mask = self.got.view(np.uint64) == np.uint64(filling)
        elif self.got.dtype.kind == "u":
            mask = self.got == np.uint64((1 << 8 * self.element_bytes) - 1)
        else:
            mask = self.got == -1
        return mask & self.bad

    def wants_filling(self, use: np.ndarray) -> bool:
        """Whether what is wanted in `use` is a filling itself: an output of another run."""
        filling = np.uint64(_FLOAT_FILLING.get(self.element_bytes, 0))
        return self.is_float and bool((self.want.view(np.uint64)[use] == filling).any())

    def untouched(self) -> np.ndarray:
        """Wrong elements that no kernel wrote: known from the writers, else from the filling."""
        mask = self.filled()
        for index, writer in self.writers.items():
            if index < self.kept and self.bad[index]:
                mask[index] = not writer.on_device
        return mask


_COLUMNS = re.compile(r"(?:^|[\s.,])(?:width|columns|cols) := (\d+)", re.MULTILINE)


def guess_columns(c: Compared, infos: list[str]) -> None:
    """Where a test captured the width of its matrix, the array has rows of that many elements."""
    if c.columns:
        return
    for match in _COLUMNS.finditer("\n".join(infos)):
        width = int(match.group(1))
        if 1 < width < c.size and c.size % width == 0:
            c.columns = width
            return


def compared(details: list[dict[str, Any]]) -> list[Compared]:
    """All comparisons of one test case, in order. What does not fit together is left out."""
    found = []
    for entry in details:
        array, raw = entry.get("array"), entry.get("raw")
        if not isinstance(array, dict) or not isinstance(raw, bytes):
            continue
        try:
            found.append(_one(array, raw))
        except (KeyError, TypeError, ValueError, IndexError):
            continue
    return found


def _one(array: dict[str, Any], raw: bytes) -> Compared:
    kept = int(array["kept"])
    if kept < 0 or len(raw) != kept * 17:
        raise ValueError("the bytes do not fit the header")
    kind = {"f8": "<f8", "i8": "<i8", "u8": "<u8"}[array["type"]]
    names = ("nobody", "kernel", "host", "library")
    writers = {
        int(w[0]): Writer(
            names[w[1]], int(w[2]), tuple(w[3]), tuple(w[4]), str(w[5]), int(w[6]), str(w[7])
        )
        for w in array.get("writers", [])
    }
    launches = [
        Launch(str(one["kernel"]), tuple(one["grid"]), tuple(one["block"]), int(one["serial"]))
        for one in array.get("launches", [])
    ]
    # Earlier launches worked on other arrays: only those that wrote this one, or else the last.
    wrote = {writer.launch for writer in writers.values() if writer.by == "kernel"}
    launches = [one for one in launches if one.serial in wrote] or launches[:1]
    return Compared(
        str(array["what"]), int(array["size"]), int(array["columns"]), int(array["wrong"]),
        [(int(a), int(b)) for a, b in array["ranges"]],
        np.frombuffer(raw, kind, kept).copy(),
        np.frombuffer(raw, kind, kept, 8 * kept).copy(),
        np.frombuffer(raw, np.uint8, kept, 16 * kept).astype(bool),
        int(array.get("element_bytes", 8)), launches, writers, bool(array.get("downloaded", True)),
    )  # fmt: skip
