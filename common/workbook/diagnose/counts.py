# SPDX-License-Identifier: MIT
"""What a counter that misses its target says about the program."""

from __future__ import annotations

import re
from typing import Any

from . import checks

# What it means when a counter misses its target, by what its name holds; the first that fits.
_BY_COUNTER = (
    (r"^efficiency\(", "lanes of one warp wait while others work: a loop in the loop? The compiler "
                       "may also make one of a `continue` or `break`"),
    (r"device_to_host|host_to_device", "data is copied to or from the host on the way"),
    (r"device_to_device", "data is copied from one array of the device to another on the way"),
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
    (r"load_requests", "warps ask more often than needed: elements are loaded again, in small "
                       "pieces, or by few lanes at a time"),
    (r"store_requests", "warps store more often than needed: elements again, in small pieces, or "
                        "by few lanes at a time"),
    (r"warp_syncs", "more shuffles and votes of warps than needed: one vote tells each lane about "
                    "all 32"),
    (r"launches", "more launches than needed"),
    (r"allocations|frees", "memory is allocated in every call"),
    (r"matrix_products", "not all products are made by matrix instructions, or tiles that hold "
                         "only zeros are multiplied"),
    (r"double_instructions", "double arithmetic in a computation in float: a literal without f, or "
                             "a double on the way"),
    (r"thread_instructions\)? */", "lanes of one warp are idle while others work: give neighbours "
                                   "about the same to do"),
    (r"instructions", "more instructions than needed: few threads do the work of all, or "
                      "something is done in vain"),
    # The three answers of check_shared_work in common/harness.
    (r"^enough_threads$", "too few threads: most of the device stays idle"),
    (r"^lanes_work_together$", "few lanes of a warp work at a time"),
    (r"^warps_share_the_work$", "one warp has too much to do: it works for others, or every warp "
                                "does more than its share"),
    (r"threads|blocks|warps", "more threads are launched than needed"),
)  # fmt: skip


_MOVED = re.compile(r"(?:load|store)_(?:bytes|sectors|requests)|launches")


def _numbers(expansion: str) -> tuple[float, float] | None:
    """Got and want of `4096 (0x1000) == 512`."""
    plain = re.sub(r"\s*\(0x[0-9a-f]+\)", "", " ".join(expansion.split()))
    number = r"(-?[\d.]+(?:e[-+]?\d+)?)f?"
    match = re.match(rf"^{number} (?:==|<=|>=|<|>) {number}$", plain)
    return (float(match.group(1)), float(match.group(2))) if match else None


def _by_shape(expression: str, expansion: str, counts: dict[str, int]) -> str:
    """What counts say together: how wide accesses are, and how often elements are visited."""
    numbers = _numbers(expansion)
    if not numbers or numbers[0] <= numbers[1] or numbers[1] <= 0:
        return ""
    got, want = numbers
    kind = next((k for k in ("load", "store") if f"global_{k}_" in expression), "")
    if not kind or counts.get("launches", 0) != 1:
        return ""
    requests = counts.get(f"global_{kind}_requests", 0)
    width = counts.get(f"global_{kind}_bytes", 0) / (32 * requests) if requests else 0
    times = got / want
    if f"global_{kind}_requests" in expression and got == requests:
        if width in (1, 2, 4, 8) and 1.9 <= times <= 16.1 and width * round(times) <= 16:
            return (
                f"warps {kind} {width:.0f} bytes a lane at a time, {requests} times: of 16 bytes, "
                "as a float4 has, they need fewer"
            )
    if f"global_{kind}_bytes" not in expression or got != counts.get(f"global_{kind}_bytes"):
        return ""
    blocks, threads = counts.get("blocks", 0), counts.get("threads", 0)
    per_block = threads // blocks if blocks else 0
    if blocks > 1 and times == blocks:
        return f"each of the {blocks} blocks {kind}s all of the data, not a share of it"
    if blocks > 1 and times < blocks and per_block > 1:
        # Thread t of block b visits b B + t, b B + t + B, ...: n G - B G (G - 1) / 2 visits.
        elements = per_block * blocks * (blocks - 1) / 2 / (blocks - times)
        n = round(elements)
        if n > threads and abs(elements - n) < 1e-6 * n and want % n == 0 and want // n <= 64:
            return (
                f"the step of the loop is blockDim.x, {per_block}, the threads of one block: "
                f"blocks visit the same elements. The grid has {threads} threads"
            )
    return ""


def _by_sectors(expression: str, expansion: str, counts: dict[str, int]) -> str:
    """Too many sectors where nearly every byte of them is used: too much is moved, side by side."""
    numbers = _numbers(expansion)
    if not numbers or numbers[0] <= numbers[1]:
        return ""
    for kind, verb in (("load", "loaded"), ("store", "stored")):
        used = counts.get(f"global_{kind}_bytes", 0)
        sectors = counts.get(f"global_{kind}_sectors", 0)
        if f"global_{kind}_sectors" in expression and sectors and 32 * sectors <= 1.1 * used:
            return f"elements are {verb} more often than needed; they lie side by side"
    return ""


def _by_banks(expression: str, counts: dict[str, int]) -> str:
    """How many lanes meet in one bank, where that is the same at each request."""
    for kind in ("load", "store"):
        conflicts = counts.get(f"shared_{kind}_conflicts", 0)
        requests = counts.get(f"shared_{kind}_requests", 0)
        if f"shared_{kind}_conflicts" not in expression or not conflicts or conflicts % requests:
            continue
        lanes = conflicts // requests + 1
        if lanes in (2, 4, 8, 16, 32):
            return (
                f"{lanes} lanes of a warp meet in one bank at a time, as they do where the words "
                f"of neighbouring lanes lie {lanes} apart: at an odd distance each has a bank of "
                "its own"
            )
    return ""


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
    name = re.search(r"\b\w+_(?:sectors|bytes|requests|conflicts|waits)\b", expression)
    if shown and name:
        for counts in counted:
            if counts.get(name.group()) == int(shown.group(1)):
                return counts
    return counted[-1] if counted else {}


# What a line is asked for, by the counter that a check speaks of; two names: the first less the
# second, so that of two lines the one that wastes more is named.
_OF_A_LINE: dict[str, tuple[str, str, int]] = {
    "global_load_sectors": ("global_load_sectors", "global_load_bytes", 32),
    "global_store_sectors": ("global_store_sectors", "global_store_bytes", 32),
    "global_atomics": ("atomics", "", 1),
    "shared_atomics": ("atomics", "", 1),
    "divergent_branches": ("divergent_branches", "", 1),
}
_LINE_FIELDS = (
    "global_load_bytes", "global_store_bytes", "global_load_requests", "global_store_requests",
    "shared_load_conflicts", "shared_store_conflicts", "block_barriers", "branches",
    "host_waits",
)  # fmt: skip


def _worst(
    expression: str, expansion: str, details: list[dict[str, Any]]
) -> tuple[str, int, list[dict[str, Any]]] | None:
    """File and line on which most of what a check counted too much of was counted, and its rows;
    None where that is not known, or where many lines share it.
    """
    sides, values = checks.split(" ".join(expression.split())), checks.split(expansion.strip())
    if not sides or not values:
        return None
    names = checks.named(sides[0])
    share = sides[0].startswith("useful(")
    numbers = _numbers(expansion)
    if not names or not numbers or (numbers[0] < numbers[1]) != share:
        return None
    if share:
        names = [name for name in names if name.endswith("_sectors")]
    counted = [entry for entry in details if isinstance(entry.get("lines"), list)]
    meant = _meant(expression, expansion, [entry.get("count") or {} for entry in counted])
    lines = next((e["lines"] for e in counted if (e.get("count") or {}) is meant), [])
    total: dict[tuple[str, int], float] = {}
    for row in lines:
        place = str(row.get("file", "")), int(row.get("line", 0))
        for name in names:
            plus, minus, unit = _OF_A_LINE.get(name, (name if name in _LINE_FIELDS else "", "", 1))
            amount = row.get(plus, 0) - row.get(minus, 0) / unit
            if plus and amount > 0:
                total[place] = total.get(place, 0) + amount
    if not total:
        return None
    (file, line), most = max(total.items(), key=lambda item: item[1])
    if not file or not line or 3 * most < sum(total.values()):
        return None
    return file, line, [r for r in lines if (r.get("file"), r.get("line")) == (file, line)]


def line_of(expression: str, expansion: str, details: list[dict[str, Any]]) -> str:
    """`scan.cu:39`: where most of what a check counted too much of was counted; '' if unknown."""
    worst = _worst(expression, expansion, details)
    return f"{worst[0]}:{worst[1]}" if worst else ""


def _by_lanes(expression: str, expansion: str, details: list[dict[str, Any]]) -> str:
    """Whether the line that costs most runs with a lane or two of each warp."""
    worst = _worst(expression, expansion, details)
    if not worst:
        return ""
    warps = sum(row.get("warp_instructions", 0) for row in worst[2])
    lanes = sum(row.get("thread_instructions", 0) for row in worst[2])
    if warps < 32 or lanes > 2 * warps:
        return ""
    return (
        f"line {worst[1]} runs with a lane or two of each warp: one thread does there, one after "
        "the other, what the lanes of a warp could do together"
    )


def _waiting_calls(expansion: str, details: list[dict[str, Any]]) -> str:
    """The calls in which the host waits, where no line is known: all waits are theirs."""
    numbers = _numbers(expansion)
    for entry in details:
        waits = entry.get("waits")
        if isinstance(waits, dict) and numbers and numbers[0] == sum(waits.values()):
            if numbers[0] > numbers[1]:
                return f"the host waits in {' and '.join(sorted(waits))}"
    return ""


def _by_waits(expression: str, expansion: str, details: list[dict[str, Any]]) -> str:
    """What the host waits for on the line where it waits most often."""
    if "host_waits" not in expression:
        return ""
    worst = _worst(expression, expansion, details)
    if not worst:
        return _waiting_calls(expansion, details)
    rows = worst[2]
    times = sum(row.get("host_waits", 0) for row in rows)
    what = next((str(row["waits_for"]) for row in rows if row.get("waits_for")), "the device")
    again = f", {times} times" if times > 1 else ""
    return f"the host waits for {what} on line {worst[1]}{again}"


def _by_few(expression: str, expansion: str, counts: dict[str, int]) -> str:
    """A target that is missed because hardly a lane works, or the host does; or ''."""
    copied = counts.get("device_to_host_bytes", 0)
    nothing = re.match(r"^0(?:\.0)? (?:==|>=|>)", expansion.strip())
    within = counts.get("device_to_device_bytes", 0)
    if nothing and within >= max(copied, 1) and _MOVED.search(expression):
        return "no kernel does it: the data is copied on the device, as by cudaMemcpy"
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


def _moved(pattern: str, expression: str, counts: dict[str, int]) -> bool:
    """Whether the copies of a pattern were made, where a check adds up several kinds."""
    kinds = [f"{kind}_bytes" for kind in pattern.split("|") if f"{kind}_bytes" in expression]
    return not kinds or any(counts.get(kind, 1) for kind in kinds)


def of_counter(
    expression: str,
    expansion: str,
    launched: bool | None = None,
    counted: list[dict[str, int]] | None = None,
    details: list[dict[str, Any]] | None = None,
) -> str:
    """What a failed check of an [efficient] case says about the program, or ''.

    `launched`: whether some kernel was launched meanwhile; None: unknown. `counted`: all that
    the case has counted, time after time; `details`: the same with the source lines of each.
    """
    if words := _by_few(expression, expansion, _meant(expression, expansion, counted or [])):
        return words
    if words := _by_lanes(expression, expansion, details or []):
        return words
    if words := _by_waits(expression, expansion, details or []):
        return words
    if words := _by_shape(expression, expansion, _meant(expression, expansion, counted or [])):
        return words
    if words := _by_sectors(expression, expansion, _meant(expression, expansion, counted or [])):
        return words
    if words := _by_banks(expression, _meant(expression, expansion, counted or [])):
        return words
    if words := _too_few(expression, expansion, launched):
        return words
    counts = _meant(expression, expansion, counted or [])
    for pattern, words in _BY_COUNTER:
        if re.search(pattern, expression) and _moved(pattern, expression, counts):
            return words
    return ""
