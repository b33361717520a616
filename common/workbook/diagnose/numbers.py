# SPDX-License-Identifier: MIT
"""A wrong number as its reader can take it in: six digits where they suffice, bit patterns in
hexadecimal, and a name for what the emulated device puts into memory that nothing has written.
"""

from __future__ import annotations

import numpy as np

from .arrays import Compared

# Of every byte of device memory that was allocated and not written (machine/memory.h, kPoison).
_UNWRITTEN = 0xCD


def _unwritten(c: Compared) -> float | int | None:
    """The number that unwritten memory holds, read as an element."""
    size = c.element_bytes
    if c.is_float:
        kind = {2: "<f2", 4: "<f4", 8: "<f8"}.get(size)
        return float(np.frombuffer(bytes([_UNWRITTEN]) * size, kind)[0]) if kind else None
    signed = c.got.dtype.kind == "i"
    return int.from_bytes(bytes([_UNWRITTEN]) * size, "little", signed=signed)


def _are_bits(c: Compared) -> bool:
    """Whether the elements are bit patterns, such as packed keys, and no amounts: unsigned, and
    most of those that are wanted use the highest bits.
    """
    if c.got.dtype.kind != "u" or c.element_bytes not in (4, 8) or not c.kept:
        return False
    wide = c.want >= np.uint64(1 << (8 * c.element_bytes - 6))
    if c.element_bytes == 8:
        low = np.uint64(0xFFFFFFFF)
        wide |= (c.want > low) & ((c.want & low) != 0) & ((c.want >> np.uint64(32)) != 0)
    return bool(wide.mean() > 0.5) and len(np.unique(c.want)) > 1


def _short(text: str) -> str:
    try:
        return f"{float(text):.6g}"
    except ValueError:
        return text


def shown(got: str, want: str, c: Compared | None, index: int) -> tuple[str, str]:
    """Both numbers as they are shown; they stay different."""
    if any("." in text or "e" in text.lower().replace("false", "") for text in (got, want)):
        short = _short(got), _short(want)
        if short[0] != short[1]:
            got, want = short
    if c is None or not 0 <= index < c.kept:
        return got, want
    if _are_bits(c):
        digits = 2 * c.element_bytes
        got, want = (f"0x{int(values[index]):0{digits}x}" for values in (c.got, c.want))
    if c.element_bytes >= 4 and c.downloaded and c.got[index] == _unwritten(c):
        got += " (memory that nothing has written)"
    return got, want
