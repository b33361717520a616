# SPDX-License-Identifier: MIT
"""What a counter that misses its target says about the program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..facts.comparisons import Comparison

_LOADS = tuple(f"global_load_{what}" for what in ("bytes", "requests", "sectors"))
_STORES = tuple(f"global_store_{what}" for what in ("bytes", "requests", "sectors"))
_CONFLICTS = ("shared_load_conflicts", "shared_store_conflicts")
_ATOMICS = ("global_atomics", "global_atomic_requests", "shared_atomics", "shared_atomic_requests")
_LAUNCHES = ("launches", "host_launches")
_THREADS = ("threads", "blocks", "warps")
_BETWEEN = ("device_to_host_bytes", "host_to_device_bytes")
_REQUESTS = (
    "global_load_requests", "shared_load_requests", "local_load_requests",
    "global_store_requests", "shared_store_requests", "local_store_requests",
)  # fmt: skip
_MOVED = (*_LOADS, *_STORES, *_REQUESTS)

# What it means that there is more of a counter than there should be; the first row that names one.
_TOO_MUCH = (
    (_BETWEEN, "data is copied to or from the host on the way"),
    (("device_to_device_bytes",),
     "data is copied from one array of the device to another on the way"),
    (_CONFLICTS, "lanes of one warp use different words of one bank of shared memory"),
    (_ATOMICS, "more atomic updates than needed"),
    (("global_load_sectors", "global_store_sectors"),
     "neighbouring threads touch addresses that lie apart: not coalesced"),
    (("divergent_branches",),
     "lanes of one warp go different ways too often: let those that work lie side by side"),
    (("block_barriers",), "more barriers than needed"),
    (("local_load_requests", "local_store_requests"),
     "a local array whose index is known only at run time lies in local memory: name its elements "
     "one by one, or choose with a condition"),
    (("global_load_bytes",), "elements are loaded more often than needed"),
    (("global_store_bytes",), "elements are stored more often than needed"),
    (("global_load_requests", "shared_load_requests"),
     "warps ask more often than needed: elements are loaded again, in small pieces, or by few "
     "lanes at a time"),
    (("global_store_requests", "shared_store_requests"),
     "warps store more often than needed: elements again, in small pieces, or by few lanes at a "
     "time"),
    (("warp_syncs",),
     "more shuffles and votes of warps than needed: one vote tells each lane about all 32"),
    (_LAUNCHES, "more launches than needed"),
    (("double_instructions",),
     "double arithmetic in a computation in float: a literal without f, or a double on the way"),
    (("busiest_warp_instructions",),
     "one warp has too much to do: it works for others, or every warp does more than its share"),
    (("warp_instructions", "thread_instructions"),
     "more instructions than needed: few threads do the work of all, or something is done in vain"),
    (_THREADS, "more threads are launched than needed"),
)  # fmt: skip
# The same whether there is too much or too little.
_WRONG = (
    (("device_allocations", "device_frees", "driver_allocations", "driver_frees"),
     "memory is allocated in every call"),
    (("matrix_products",),
     "not all products are made by matrix instructions, or tiles that hold only zeros are "
     "multiplied"),
)  # fmt: skip
# What it means that a share or a mean is too small, by the name that the test gives it.
_TOO_SMALL = {
    "useful": "neighbouring threads touch addresses that lie apart: not coalesced",
    "active_lanes": "few lanes of a warp work at a time",
    "lanes_at_work": "lanes of one warp are idle while others work: give neighbours about the "
                     "same to do",
    "efficiency": "lanes of one warp wait while others work: a loop in the loop? The compiler may "
                  "also make one of a `continue` or `break`",
}  # fmt: skip
# What it means that there is less than there should be; the first row that names one.
_TOO_FEW = (
    (_LAUNCHES, "fewer launches than the work needs: is a part of it done on the host?"),
    (_STORES, "fewer plain stores than there are results: do atomics store them, or the host?"),
    (_LOADS, "less is loaded than there is data: is a part of it done on the host?"),
    (_ATOMICS, "no atomic of this kind is used, where threads meet on one address"),
    (_THREADS, "too few threads: most of the device stays idle"),
)
_BY_THE_HOST = "nothing of it runs on the device: the host does the work"

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


@dataclass(frozen=True)
class _Missed:
    """A check that failed, and what its case has counted."""

    check: Comparison
    details: list[dict[str, Any]]
    meant: dict[str, Any]  # the entry of which the check speaks

    @property
    def counts(self) -> dict[str, int]:
        return self.meant.get("count") or {}

    @property
    def lines(self) -> list[dict[str, Any]]:
        """What each source line had of it."""
        lines = self.meant.get("lines")
        return lines if isinstance(lines, list) else []

    @property
    def launched(self) -> bool:
        """Whether some kernel was launched meanwhile."""
        return any((entry.get("count") or {}).get("launches") for entry in self.details)


def _missed(check: Comparison, details: list[dict[str, Any]]) -> _Missed:
    """The check speaks of the counts that hold its number, else of the last ones."""
    counted = [entry for entry in details if isinstance(entry.get("count"), dict)]
    last: dict[str, Any] = counted[-1] if counted else {}
    ends = ("_sectors", "_bytes", "_requests", "_conflicts", "_waits")
    name = next((name for name in check.names if name.endswith(ends)), None)
    holds = (entry for entry in counted if name and entry["count"].get(name) == check.got)
    return _Missed(check, details, next(holds, last))


def _kind(check: Comparison, what: str) -> str:
    """`load` or `store`, of which global memory's sectors, bytes or requests are checked; or ''."""
    kinds = (kind for kind in ("load", "store") if check.about(f"global_{kind}_{what}"))
    return next(kinds, "")


def _few(missed: _Missed) -> str:
    """A target that is missed because hardly a lane works, or the host does; or ''."""
    check, counts = missed.check, missed.counts
    copied = counts.get("device_to_host_bytes", 0)
    within = counts.get("device_to_device_bytes", 0)
    if check.none and within >= max(copied, 1) and check.about(*_MOVED, *_LAUNCHES):
        return "no kernel does it: the data is copied on the device, as by cudaMemcpy"
    if check.none and copied and check.about(*_MOVED):
        return "nothing of it runs on the device: data is copied to the host, which does the work"
    kind = _kind(check, "sectors")
    requests = counts.get(f"global_{kind}_requests", 0)
    # Some 32 elements travel by each request of a warp; a thread alone asks for one.
    if requests > 0 and counts.get(f"global_{kind}_bytes", 0) <= 8 * requests:
        return (
            "warps work with a lane or two: does one thread do the work of many, one element "
            "after the other?"
        )
    return ""


def _worst(missed: _Missed) -> tuple[str, int, list[dict[str, Any]]] | None:
    """File and line on which most of what a check counted too much of was counted, and its rows;
    None where that is not known, or where many lines share it.
    """
    check = missed.check
    share = check.measure in _TOO_SMALL
    if (check.got < check.want) != share:
        return None
    names = [name for name in check.names if not share or name.endswith("_sectors")]
    total: dict[tuple[str, int], float] = {}
    for row in missed.lines:
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
    rows = [row for row in missed.lines if (row.get("file"), row.get("line")) == (file, line)]
    return file, line, rows


def line_of(check: Comparison, details: list[dict[str, Any]]) -> str:
    """`scan.cu:39`: where most of what a check counted too much of was counted; '' if unknown."""
    worst = _worst(_missed(check, details))
    return f"{worst[0]}:{worst[1]}" if worst else ""


def _lanes(missed: _Missed) -> str:
    """Whether the line that costs most runs with a lane or two of each warp."""
    worst = _worst(missed)
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


def _waits(missed: _Missed) -> str:
    """What the host waits for on the line where it waits most often."""
    if not missed.check.about("host_waits"):
        return ""
    worst = _worst(missed)
    if not worst:
        return _waiting_calls(missed)
    rows = worst[2]
    times = sum(row.get("host_waits", 0) for row in rows)
    what = next((str(row["waits_for"]) for row in rows if row.get("waits_for")), "the device")
    again = f", {times} times" if times > 1 else ""
    return f"the host waits for {what} on line {worst[1]}{again}"


def _waiting_calls(missed: _Missed) -> str:
    """The calls in which the host waits, where no line is known: all waits are theirs."""
    check = missed.check
    for entry in missed.details:
        waits = entry.get("waits")
        if isinstance(waits, dict) and check.got == sum(waits.values()) and check.got > check.want:
            return f"the host waits in {' and '.join(sorted(waits))}"
    return ""


def _shape(missed: _Missed) -> str:
    """What counts say together: how wide accesses are, and how often elements are visited."""
    check, counts = missed.check, missed.counts
    if not check.got > check.want > 0 or counts.get("launches", 0) != 1:
        return ""
    times = check.got / check.want
    kind = _kind(check, "requests")
    if kind and check.got == _global(kind, "requests", counts):
        return _narrow(kind, times, counts)
    kind = _kind(check, "bytes")
    if kind and check.got == _global(kind, "bytes", counts):
        return _visited_again(kind, times, round(check.want), counts)
    return ""


def _global(kind: str, what: str, counts: dict[str, int]) -> int:
    return counts.get(f"global_{kind}_{what}", 0)


def _narrow(kind: str, times: float, counts: dict[str, int]) -> str:
    """Whether wider accesses would need just as many requests as are allowed."""
    requests = _global(kind, "requests", counts)
    width = _global(kind, "bytes", counts) / (32 * requests)
    if width not in (1, 2, 4, 8) or not 1.9 <= times <= 16.1 or width * round(times) > 16:
        return ""
    return (
        f"warps {kind} {width:.0f} bytes a lane at a time, {requests} times: of 16 bytes, as a "
        "float4 has, they need fewer"
    )


def _visited_again(kind: str, times: float, want: int, counts: dict[str, int]) -> str:
    """Whether all blocks visit all elements, or the step of a grid-stride loop is a block's."""
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


def _sectors(missed: _Missed) -> str:
    """Too many sectors where nearly every byte of them is used: too much is moved, side by side."""
    if missed.check.got <= missed.check.want:
        return ""
    for kind, verb in (("load", "loaded"), ("store", "stored")):
        used = _global(kind, "bytes", missed.counts)
        sectors = _global(kind, "sectors", missed.counts)
        if missed.check.about(f"global_{kind}_sectors") and 0 < 32 * sectors <= 1.1 * used:
            return f"elements are {verb} more often than needed; they lie side by side"
    return ""


def _banks(missed: _Missed) -> str:
    """How many lanes meet in one bank, where that is the same at each request."""
    for kind in ("load", "store"):
        conflicts = missed.counts.get(f"shared_{kind}_conflicts", 0)
        requests = missed.counts.get(f"shared_{kind}_requests", 0)
        named = missed.check.about(f"shared_{kind}_conflicts")
        if not named or not conflicts or not requests or conflicts % requests:
            continue
        lanes = conflicts // requests + 1
        if lanes in (2, 4, 8, 16, 32):
            return (
                f"{lanes} lanes of a warp meet in one bank at a time, as they do where the words "
                f"of neighbouring lanes lie {lanes} apart: at an odd distance each has a bank of "
                "its own"
            )
    return ""


def _row(table: tuple[tuple[tuple[str, ...], str], ...], missed: _Missed) -> str:
    """The words of the first row that names a counter of the check."""
    for names, words in table:
        if missed.check.about(*names) and not _not_copied(names, missed):
            return words
    return ""


def _not_copied(names: tuple[str, ...], missed: _Missed) -> bool:
    """Whether these count copies, and none was made: a check may add up several kinds."""
    copies = [name for name in names if name.endswith(("_host_bytes", "_device_bytes"))]
    checked = [name for name in copies if missed.check.about(name)]
    return bool(checked) and not any(missed.counts.get(name, 1) for name in checked)


def _too_few(missed: _Missed) -> str:
    """A counter that is smaller than it should be, or ''."""
    check = missed.check
    if check.none and check.about(*_LAUNCHES):
        return _BY_THE_HOST
    if check.none and missed.launched and check.about(*_LOADS, *_STORES):
        return "nothing is loaded or stored that way: by atomics, or not at all?"
    if check.none and not missed.launched and any(n.endswith("_bytes") for n in check.names):
        return _BY_THE_HOST
    return _row(_TOO_FEW, missed)


def _by_direction(missed: _Missed) -> str:
    """What there is too little of, or too much."""
    check = missed.check
    if check.measure:
        return _TOO_SMALL.get(check.measure, "") if check.too_few else ""
    words = _too_few(missed) if check.too_few else _row(_TOO_MUCH, missed)
    return words or _row(_WRONG, missed)


# In this order: the first that says something is right. What the counts say together is more
# than what one of them says alone.
_RULES = (_few, _lanes, _waits, _shape, _sectors, _banks, _by_direction)


def of_counter(check: Comparison, details: list[dict[str, Any]]) -> str:
    """What a failed check of an [efficient] case says about the program, or ''.

    `details`: all that the case has counted, time after time, with the source lines of each.
    """
    missed = _missed(check, details)
    return next((words for rule in _RULES if (words := rule(missed))), "")
