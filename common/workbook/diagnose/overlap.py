# SPDX-License-Identifier: MIT
"""Why nothing overlaps: what the model timeline of an answer shows, in words."""

from __future__ import annotations

from typing import Any

from ..facts import counters, timeline
from ..facts.comparisons import Comparison

_WORK = ("kernel", "up", "down", "on_device", "fill")
_COPIES = ("up", "down")
_OF_KIND = {"kernel": "kernel", "up": "upload", "down": "download", "on_device": "copy",
            "fill": "fill"}  # fmt: skip
_REPEATED = 3  # waits that come again and again are in a loop


def _line(one: dict[str, Any]) -> str:
    """` on line 57`, or ''."""
    return f" on line {one['line']}" if one.get("line") else ""


def _pageable(intervals: list[dict[str, Any]]) -> str:
    waiting = [one for one in intervals if one.get("pageable") and one.get("kind") in _COPIES]
    if not waiting:
        return ""
    first = waiting[0]
    copies = "copies" if len(waiting) > 1 else "copy"
    return (
        f"the {copies}{_line(first)}: the host's memory there is not pinned (pageable), so the "
        "host waits until each such copy is done, and queues nothing meanwhile"
    )


def _streams(work: list[dict[str, Any]]) -> str:
    used = {one["stream"] for one in work}
    if len(work) < 2:
        return ""
    if used == {0}:
        return (
            f"everything is in the default stream (the first{_line(work[0])}): work of one stream "
            "runs one after the other"
        )
    in_default = [one for one in work if one["stream"] == 0]
    if in_default:
        kinds = {_OF_KIND.get(one["kind"], "work") for one in in_default}
        # A launch may stand in a function of its own: its line would not say which call is meant.
        where = "" if kinds == {"kernel"} else _line(in_default[0])
        what = f"the {kinds.pop()}s{where} are" if len(kinds) == 1 else f"some work{where} is"
        return f"{what} in the default stream: it waits for the other streams, and they wait for it"
    chunks = sum(one["kind"] == "kernel" for one in work)
    if len(used) == 1 and chunks > 1:
        return (
            f"all {chunks} chunks are in one stream (the first{_line(work[0])}): work of one "
            "stream runs one after the other"
        )
    return ""


def _one_piece(work: list[dict[str, Any]]) -> str:
    counts = [sum(one["kind"] == kind for one in work) for kind in ("up", "kernel", "down")]
    if counts != [1, 1, 1]:
        return ""
    return "all data is one chunk: there is nothing that could run at the same time"


def _waits(intervals: list[dict[str, Any]]) -> str:
    """A wait after which the device has nothing left to do, although more is queued later."""
    idle: list[dict[str, Any]] = []
    end = 0
    later = max((i for i, one in enumerate(intervals) if one.get("kind") in _WORK), default=-1)
    for i, one in enumerate(intervals):
        if one.get("kind") in _WORK:
            end = max(end, one["end"])
        elif one.get("kind") == "wait" and i < later and one["end"] >= end and end > 0:
            idle.append(one)
    if not idle:
        return ""
    what = str(idle[0].get("name", ""))
    for_what = f" for {what}" if what else ""
    again = ", time and again" if len(idle) >= _REPEATED else ""
    return (
        f"the host waits{for_what}{_line(idle[0])}{again}: after that the device has nothing left "
        "to do, and only then is more work queued"
    )


def _two_streams(work: list[dict[str, Any]]) -> str:
    used = {one["stream"] for one in work}
    chunks = sum(one["kind"] == "kernel" for one in work)
    if len(used) != 2 or chunks < 3:
        return ""
    return (
        f"the {chunks} chunks are in two streams: an upload, a kernel and a download of three "
        "chunks can run at the same time, which takes three streams"
    )


def _by_steps(work: list[dict[str, Any]]) -> str:
    """All uploads are queued before the first kernel, and the streams have several chunks each."""
    kinds = [one["kind"] for one in work]
    chunks = kinds.count("kernel")
    if chunks < 3 or "up" not in kinds or len({one["stream"] for one in work}) >= chunks:
        return ""
    last_upload = len(kinds) - 1 - kinds[::-1].index("up")
    if kinds.index("kernel") < last_upload:
        return ""
    return (
        f"all uploads{_line(work[last_upload])} are queued before the first kernel: a stream keeps "
        "the order, so its kernels and downloads wait for the uploads of its later chunks"
    )


def _stream_after_stream(work: list[dict[str, Any]]) -> str:
    """All chunks of one stream are queued before those of the next."""
    streams = [one["stream"] for one in work]
    turns = [s for i, s in enumerate(streams) if i == 0 or streams[i - 1] != s]
    chunks = sum(one["kind"] == "kernel" for one in work)
    if len(turns) < 2 or len(set(turns)) < len(turns) or chunks < 2 * len(turns):
        return ""
    return (
        f"all chunks of one stream are queued before those of the next{_line(work[0])}: copies in "
        "one direction are made in the order in which they were queued, so the second stream waits "
        "for the first; let the chunks take the streams by turns"
    )


def _before_other_devices(intervals: list[dict[str, Any]]) -> str:
    """A wait of the host before another device has got its first work."""
    work = [(i, one) for i, one in enumerate(intervals) if one.get("kind") in _WORK]
    first: dict[int, int] = {}
    for i, one in work:
        first.setdefault(one.get("device", 0), i)
    for i, one in enumerate(intervals):
        late = sorted(device for device, at in first.items() if at > i)
        # A copy from or to pageable memory is itself the work after its wait.
        copy = intervals[i + 1] if i + 1 < len(intervals) else {}
        if copy.get("pageable") and copy.get("device", 0) in late:
            late.remove(copy.get("device", 0))
        if one.get("kind") != "wait" or not late or len(late) == len(first):
            continue
        what = str(one.get("name", ""))
        what = f"for the copy from or to {what}" if copy.get("pageable") else f"for {what}"
        where = _line(one) or _line(copy)
        if len(late) == 1:
            return f"the host waits {what}{where}, and device {late[0]} has no work yet: it is idle"
        devices = f"devices {', '.join(map(str, late[:-1]))} and {late[-1]}"
        return f"the host waits {what}{where}, and {devices} have no work yet: they are idle"
    return ""


def of_timeline(check: Comparison, details: list[dict[str, Any]]) -> str:
    """Why a check of the timeline fails, or ''."""
    if not any(map(counters.of_timeline, check.names)):
        return ""
    shown = timeline.last(details)
    intervals = shown.intervals if shown else []
    work = [one for one in intervals if one.get("kind") in _WORK]
    if check.about("timeline_returned"):
        return _waits_for_all(intervals)
    return (
        _before_other_devices(intervals) or _pageable(intervals) or _one_piece(work)
        or _streams(work) or _waits(intervals) or _by_steps(work) or _stream_after_stream(work)
        or _two_streams(work)
    )  # fmt: skip


def _waits_for_all(intervals: list[dict[str, Any]]) -> str:
    for one in intervals:
        if one.get("kind") == "wait" and one.get("name") == "all streams":
            return (
                f"the host waits for all streams of the device{_line(one)}, also for those of "
                "others: cudaDeviceSynchronize and cudaFree do"
            )
    for one in intervals:
        if one.get("kind") in _WORK and one.get("stream") == 0:
            return f"there is work{_line(one)} in the default stream"
    return ""
