# SPDX-License-Identifier: MIT
"""The access patterns of the counter sweep: which byte each lane of one warp touches, and how.

patterns.py FILE writes one line for each launch: id kind width mask offset0 ... offset31. A pattern
has a name, so that the results need not repeat 32 numbers.
"""

from __future__ import annotations

import dataclasses
import itertools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "values"))
from splitmix import SplitMix, hash_of  # noqa: E402

LANES = range(32)
ALL = 0xFFFFFFFF
SPAN = 40 * 1024  # bytes that a pattern may touch: the sweep's shared array
PLAIN = ("ld.global", "st.global", "ld.shared", "st.shared")
WIDTHS = (1, 2, 4, 8, 16)
ATOMICS = {
    "red.shared.add.u32": 4,
    "atom.shared.add.u32": 4,
    "atom.shared.cas.b32": 4,
    "atom.shared.exch.b32": 4,
    "atom.shared.add.u64": 8,
    "atom.shared.add.f32": 4,
    "red.global.add.u32": 4,
    "red.global.add.f32": 4,
    "red.global.add.u64": 8,
    "atom.global.add.u32": 4,
    "atom.global.cas.b32": 4,
    "atom.global.exch.b64": 8,
}


@dataclasses.dataclass(frozen=True)
class Pattern:
    """One warp instruction."""

    kind: str
    width: int
    name: str
    mask: int
    offsets: tuple[int, ...]

    def line(self, number: int) -> str:
        return f"{number} {self.kind} {self.width} {self.mask} {' '.join(map(str, self.offsets))}"


def _make(
    kind: str, width: int, name: str, index: Callable[[int], int], shift: int = 0, mask: int = ALL
) -> Pattern:
    """index(lane): in elements of `width` bytes; `shift` too."""
    offsets = tuple((shift + index(lane)) * width for lane in LANES)
    assert max(offsets) + width <= SPAN, (kind, width, name)
    return Pattern(kind, width, name, mask, offsets)


def _plain() -> Iterator[Pattern]:
    for kind, width in itertools.product(PLAIN, WIDTHS):
        load = kind.startswith("ld")
        every = (*range(9), 12, 15, 16, 17, 24, 31, 32, 33, 48, 63, 64)
        for stride in range(65) if load or width == 4 else every:
            yield _make(kind, width, f"stride={stride}", lambda i, s=stride: i * s)
        for stride, shift in itertools.product((1, 2), (1, 2, 3, 4, 7, 8, 16)):
            name = f"stride={stride} offset={shift}"
            yield _make(kind, width, name, lambda i, s=stride: i * s, shift)
        for modulo, stride in itertools.product((2, 4, 8, 16), (1, 3)):
            name = f"lane%{modulo} stride={stride}"
            yield _make(kind, width, name, lambda i, m=modulo, s=stride: i % m * s)
        for share, stride in itertools.product((2, 4, 8, 16), (1, 9)):
            name = f"lane/{share} stride={stride}"
            yield _make(kind, width, name, lambda i, m=share, s=stride: i // m * s)
        yield _make(kind, width, "lane^31", lambda i: i ^ 31)
        # Columns of a tile of 32 x 32 and of one padded to 33, by rows of a warp.
        for rows, pitch in itertools.product((4, 8), (32, 33)):
            name = f"tile rows={rows} pitch={pitch}"
            yield _make(kind, width, name, lambda i, r=rows, p=pitch: i % r * p + i // r)
        for mask, stride in itertools.product((0x1, 0xFF, 0x55555555, 0xF0F0F0F0), (1, 32)):
            name = f"stride={stride} mask={mask:#x}"
            yield _make(kind, width, name, lambda i, s=stride: i * s, 0, mask)
        for span, n in itertools.product((16, 64, 512), range(3)):
            random = SplitMix(hash_of(f"{kind}{width}{span}{n}"))
            places = [random.below(span) for _ in LANES]
            mask = ALL if n < 2 else random.bits() & ALL | 1
            name = f"random span={span} n={n}"
            yield _make(kind, width, name, lambda i, p=places: p[i], 0, mask)


def _pairs() -> Iterator[Pattern]:
    """Wide shared accesses of which some lanes share an address: which passes merge?"""
    for kind, width in itertools.product(("ld.shared", "st.shared"), (8, 16)):
        for distance in (1, 2, 4, 8, 16):
            for upto in (8, 16, 32):
                name = f"lanes below {upto} like lane&~{distance}"
                yield _make(kind, width, name, lambda i, d=distance, u=upto: i & ~d if i < u else i)
        for n in range(20):
            random = SplitMix(hash_of(f"pairs{kind}{width}{n}"))
            places = [random.below(24) for _ in range(16)]
            distance = (1, 2, 4, 16)[n % 4]
            index = [places[(i & ~distance) % 16] for i in LANES]
            mask = ALL if n < 12 else random.bits() & ALL | 1
            name = f"random pairs distance={distance} n={n}"
            yield _make(kind, width, name, lambda i, x=index: x[i], 0, mask)


def _atomic() -> Iterator[Pattern]:
    for kind, width in ATOMICS.items():
        for stride in (0, 1, 2, 3, 8, 32, 33):
            yield _make(kind, width, f"stride={stride}", lambda i, s=stride: i * s)
        for modulo in (2, 4, 8, 16):
            yield _make(kind, width, f"lane%{modulo} stride=1", lambda i, m=modulo: i % m)
            yield _make(kind, width, f"lane/{modulo} stride=1", lambda i, m=modulo: i // m)
        for mask in (0x1, 0xFF, 0x55555555):
            for stride in (0, 1):
                name = f"stride={stride} mask={mask:#x}"
                yield _make(kind, width, name, lambda i, s=stride: i * s, 0, mask)
        for span, n in itertools.product((8, 64), range(3)):
            random = SplitMix(hash_of(f"{kind}{span}{n}"))
            places = [random.below(span) for _ in LANES]
            yield _make(kind, width, f"random span={span} n={n}", lambda i, p=places: p[i])


def patterns() -> list[Pattern]:
    """Every launch of the sweep, in order."""
    return [*_plain(), *_pairs(), *_atomic()]


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: patterns.py FILE")
    lines = [pattern.line(i) for i, pattern in enumerate(patterns())]
    Path(sys.argv[1]).write_text("\n".join(lines) + "\n")
    print(len(lines), "patterns")
