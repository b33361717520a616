# SPDX-License-Identifier: MIT
"""Reads a trace as common/emulator/checks/record/trace.h describes it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SECTOR = 32  # bytes: what a card moves at least
BANKS, WORD = 32, 4


@dataclass(frozen=True)
class Line:
    """A line of the student's source."""

    file: str
    number: int


@dataclass(frozen=True)
class Array:
    """A global array; offsets are bytes from its first element."""

    name: str
    element_bytes: int
    bytes: int

    @property
    def elements(self) -> int:
        return self.bytes // max(1, self.element_bytes)


@dataclass(frozen=True)
class Shared:
    """A shared variable of the kernel."""

    name: str
    offset: int
    bytes: int


@dataclass
class Access:
    """One instruction of one warp. `lanes` and `offsets` go together; `bad`: out of bounds."""

    at: int  # its place in the launch, in the order of execution here
    block: int
    warp: int
    line: Line
    space: str
    kind: str
    bytes: int
    lanes: list[int]
    offsets: list[int]
    bad: set[int]
    array: int

    def threads(self) -> list[int]:
        return [32 * self.warp + lane for lane in self.lanes]

    def good_offsets(self) -> list[int]:
        """Where the lanes are that stay within bounds."""
        pairs = zip(self.lanes, self.offsets, strict=True)
        return [offset for lane, offset in pairs if lane not in self.bad]

    def sectors(self) -> dict[int, set[int]]:
        """Sector number -> the bytes of it that are asked for."""
        found: dict[int, set[int]] = {}
        for lane, offset in zip(self.lanes, self.offsets, strict=True):
            for byte in range(offset, offset + self.bytes):
                if lane not in self.bad:
                    found.setdefault(byte // SECTOR, set()).add(byte % SECTOR)
        return found

    def wavefronts(self) -> int:
        """Passes over the banks: the most different words that one bank must serve."""
        words = self.words_by_bank()
        return max((len(found) for found in words.values()), default=0)

    def words_by_bank(self) -> dict[int, dict[int, list[int]]]:
        """Bank -> word number -> lanes; for accesses of at most one word a lane."""
        found: dict[int, dict[int, list[int]]] = {}
        for lane, offset in zip(self.lanes, self.offsets, strict=True):
            if lane in self.bad:
                continue
            for word in range(offset // WORD, (offset + max(self.bytes, 1) - 1) // WORD + 1):
                found.setdefault(word % BANKS, {}).setdefault(word, []).append(lane)
        return found


@dataclass
class Barrier:
    """A completed barrier of a block."""

    at: int
    block: int
    arrivals: list[tuple[int, int, Line]]  # warp, mask, line


@dataclass
class Launch:
    """One launch with its events in order."""

    serial: int
    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: list[Shared]
    arrays: dict[int, Array] = field(default_factory=dict)
    accesses: list[Access] = field(default_factory=list)
    barriers: list[Barrier] = field(default_factory=list)
    whole: bool = False  # its end was reached before the file was cut

    @property
    def threads(self) -> int:
        x, y, z = self.block
        return x * y * z

    @property
    def blocks(self) -> int:
        x, y, z = self.grid
        return x * y * z

    def title(self) -> str:
        def size(triple: tuple[int, int, int]) -> str:
            kept = [triple[0], *(n for n in triple[1:] if n > 1)]
            return " × ".join(map(str, kept))

        return f"{self.kernel}<<<{size(self.grid)}, {size(self.block)}>>>"

    def name_of(self, access: Access) -> str:
        """The array's name as the student spells it."""
        if access.space == "shared":
            if 0 <= access.array < len(self.shared):
                return self.shared[access.array].name
            return "shared memory"
        array = self.arrays.get(access.array)
        return (array.name or "an array") if array else "an array"

    def thread_index(self, linear: int) -> tuple[int, int, int]:
        x, y, _ = self.block
        return linear % x, linear // x % y, linear // (x * y)


@dataclass
class Trace:
    """All launches of a run. `cut`: the file reached its limit."""

    launches: list[Launch]
    cut: bool = False


def _lanes(mask: int) -> list[int]:
    return [lane for lane in range(32) if mask >> lane & 1]


def read(path: Path) -> Trace:
    """Reads a trace; a line that was cut short ends it."""
    trace = Trace([])
    lines: dict[int, Line] = {}
    at = 0
    with path.open(encoding="utf-8", errors="replace") as file:
        for text in file:
            try:
                entry = json.loads(text)
            except ValueError:
                break
            at += 1
            if isinstance(entry, dict):
                _object(entry, trace, lines)
            elif entry and trace.launches:
                _event(entry, trace.launches[-1], lines, at)
    return trace


def _object(entry: dict[str, Any], trace: Trace, lines: dict[int, Line]) -> None:
    if one := entry.get("launch"):
        shared = [Shared(v["name"], v["offset"], v["bytes"]) for v in one["shared"]]
        trace.launches.append(
            Launch(one["serial"], one["kernel"], tuple(one["grid"]), tuple(one["block"]), shared)
        )
    elif one := entry.get("line"):
        lines[one["id"]] = Line(Path(one["file"]).name, one["line"])
    elif (one := entry.get("array")) and trace.launches:
        trace.launches[-1].arrays[one["id"]] = Array(
            one["name"] or one["subject"], one["element_bytes"], one["bytes"]
        )
    elif "end" in entry and trace.launches:
        trace.launches[-1].whole = True
    elif "cut" in entry:
        trace.cut = True


def _event(entry: list[Any], launch: Launch, lines: dict[int, Line], at: int) -> None:
    unknown = Line("", 0)
    if entry[0] == "access":
        _, block, warp, line, space, kind, size, mask, bad, array, offsets = entry
        lanes = _lanes(mask)
        if len(lanes) == len(offsets):
            launch.accesses.append(
                Access(
                    at, block, warp, lines.get(line, unknown), space, kind, size, lanes, offsets,
                    set(_lanes(bad)), array,
                )
            )  # fmt: skip
    elif entry[0] == "barrier":
        _, block, _, arrivals = entry
        made = [(warp, mask, lines.get(line, unknown)) for warp, mask, line in arrivals]
        launch.barriers.append(Barrier(at, block, made))
