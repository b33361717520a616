# SPDX-License-Identifier: MIT
"""What a counter that misses its target says about the program."""

from __future__ import annotations

import re

# What it means when a counter misses its target, by what its name holds; the first that fits.
_BY_COUNTER = (
    (r"^efficiency\(", "lanes of one warp wait while others work: a loop in the loop? The compiler "
                       "may also make one of a `continue` or `break`"),
    (r"device_to_host|host_to_device", "data is copied to or from the host on the way"),
    (r"conflicts", "lanes of one warp use different words of one bank of shared memory"),
    (r"atomic", "more atomic updates than needed"),
    (r"sectors", "neighbouring threads touch addresses that lie apart: not coalesced"),
    (r"divergent", "lanes of one warp go different ways too often: let those that work lie "
                   "side by side"),
    (r"barriers", "more barriers than needed"),
    (r"local_", "a local array whose index is known only at run time lies in local memory: name "
                "its elements one by one, or choose with a condition"),
    (r"load_bytes", "elements are loaded more often than needed"),
    (r"store_bytes", "elements are stored more often than needed"),
    (r"load_requests", "warps ask more often than needed: elements are loaded again, or in small "
                       "pieces"),
    (r"store_requests", "warps store more often than needed: elements again, or in small pieces"),
    (r"launches", "more launches than needed"),
    (r"allocations|frees", "memory is allocated in every call"),
    (r"double_instructions", "double arithmetic in a computation in float: a literal without f, or "
                             "a double on the way"),
    (r"thread_instructions\)? */", "lanes of one warp are idle while others work: give neighbours "
                                   "about the same to do"),
    (r"instructions", "more instructions than needed: few threads do the work of all, or "
                      "something is done in vain"),
    (r"threads|blocks|warps", "more threads are launched than needed"),
)  # fmt: skip


def _too_few(expression: str, expansion: str, launched: bool | None) -> str:
    """A counter that is smaller than it should be, or ''."""
    # Catch2 adds the hexadecimal form of whole numbers above 255.
    plain = re.sub(r"\s*\(0x[0-9a-f]+\)", "", expansion)
    match = re.match(r"^(-?[\d.]+) (==|>=|>) (-?[\d.]+)$", " ".join(plain.split()))
    if not match or not float(match.group(1)) < float(match.group(3)):
        if not match or float(match.group(1)) != 0 or match.group(2) != ">":
            return ""
    if "bytes" in expression and "sectors" in expression:
        return ""  # a share of what travels, not an amount
    nothing = float(match.group(1)) == 0
    if re.search(r"launches", expression):
        return (
            "nothing of it runs on the device: the host does the work"
            if nothing
            else "fewer launches than the work needs: is a part of it done on the host?"
        )
    if nothing and launched and re.search(r"load|store", expression):
        return "nothing is loaded or stored that way: by atomics, or not at all?"
    if nothing and launched is False and re.search(r"bytes", expression):
        return "nothing of it runs on the device: the host does the work"
    if re.search(r"store_bytes|store_requests|store_sectors", expression):
        return "fewer plain stores than there are results: do atomics store them, or the host?"
    if re.search(r"load_bytes|load_requests|load_sectors", expression):
        return "less is loaded than there is data: is a part of it done on the host?"
    if re.search(r"atomic", expression):
        return "no atomic of this kind is used, where threads meet on one address"
    if re.search(r"instructions\)? */", expression):
        return ""
    if re.search(r"threads|blocks|warps", expression):
        return "too few threads: most of the device stays idle"
    return ""


def _meant(expression: str, expansion: str, counted: list[dict[str, int]]) -> dict[str, int]:
    """The counts of which the check speaks: those that hold its number, else the last ones."""
    shown = re.match(r"^(\d+)\b", expansion.strip())
    name = re.search(r"\b\w+_(?:sectors|bytes|requests)\b", expression)
    if shown and name:
        for counts in counted:
            if counts.get(name.group()) == int(shown.group(1)):
                return counts
    return counted[-1] if counted else {}


def _by_few(expression: str, expansion: str, counts: dict[str, int]) -> str:
    """A target that is missed because hardly a lane works, or the host does; or ''."""
    copied = counts.get("device_to_host_bytes", 0)
    nothing = re.match(r"^0(?:\.0)? (?:==|>=|>)", expansion.strip())
    if nothing and copied and re.search(r"(?:load|store)_(?:bytes|sectors|requests)", expression):
        return "nothing of it runs on the device: data is copied to the host, which does the work"
    for kind in ("load", "store"):
        requests = counts.get(f"global_{kind}_requests", 0)
        # Some 32 elements travel by each request of a warp; a thread alone asks for one.
        if f"global_{kind}_sectors" in expression and requests > 0:
            if counts.get(f"global_{kind}_bytes", 0) <= 8 * requests:
                return (
                    "warps work with a lane or two: does one thread do the work of many, one "
                    "element after the other?"
                )
    return ""


def of_counter(
    expression: str,
    expansion: str,
    launched: bool | None = None,
    counted: list[dict[str, int]] | None = None,
) -> str:
    """What a failed check of an [efficient] case says about the program, or ''.

    `launched`: whether some kernel was launched meanwhile; None: nobody knows. `counted`: all that
    the case has counted, time after time.
    """
    if words := _by_few(expression, expansion, _meant(expression, expansion, counted or [])):
        return words
    if words := _too_few(expression, expansion, launched):
        return words
    for pattern, words in _BY_COUNTER:
        if re.search(pattern, expression):
            return words
    return ""
