# SPDX-License-Identifier: MIT
"""The counters of a lesson: those that its [efficient] cases check, and their values."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..base import files
from ..base.project import ROOT, Lesson
from ..lesson.test_cases import TestCase, case_bodies, source_of
from . import timeline

_WORDS = {
    "launches": "kernel launches",
    "blocks": "blocks launched",
    "warps": "warps launched",
    "threads": "threads launched",
    "device_allocations": "allocations",
    "device_frees": "frees",
    "block_barriers": "barriers of a block",
    "warp_syncs": "warp operations",
    "branches": "conditional branches",
    "host_to_device_bytes": "bytes, host to device",
    "device_to_host_bytes": "bytes, device to host",
    "device_to_device_bytes": "bytes copied on the device",
    "model_microseconds": "time by the model, in µs",
    "busy_microseconds": "of which the device is busy",
    "host_waits": "waits of the host",
    "driver_allocations": "allocations by the driver",
    "driver_frees": "frees by the driver",
    "stream_waits": "waits of a stream for an event",
    "compilations": "compilations at run time",
    "module_loads": "modules loaded",
}
# What a timeline is measured by, in cases that need one.
OF_TIMELINE = ["model_microseconds", "busy_microseconds", "host_waits"]

# What tests derive from counters or count themselves (wb::measured in common/harness).
_MEASURED = {
    "active_lanes": "active lanes of a warp, on average",
    "lanes_at_work": "share of the lanes that work",
    "efficiency": "share of busy lanes",
    "instructions_inside": "instructions of a pixel inside",
    "written_by_kernels": "elements written by kernels",
    "written_by_busiest_warp": "elements written by one warp",
    "mpi_messages": "messages",
    "mpi_bytes": "bytes of all messages",
    "mpi_collectives": "collective calls",
    "timeline_kernels": "kernels launched",
    "timeline_overlap": "share of the time in which both kinds of work run",
    "timeline_ratio": "time by the model, to that of one piece",
    "timeline_returned": "time until the function returns, in ns",
    "timeline_total": "time by the model, in ns",
    "timeline_waits": "waits of the host",
    "timeline_devices": "devices with kernels",
}
# Counted by the tests and not by the emulator (common/harness/watches/host_calls.h, jit_calls.h).
_OF_HOST = (
    "host_launches", "graph_instantiations", "stream_captures", "host_waits",
    "driver_allocations", "driver_frees", "stream_waits", "model_microseconds",
    "compilations", "module_loads",
)  # fmt: skip


@functools.cache
def fields() -> tuple[str, ...]:
    """The counters by name: the emulator's, and those of the host's calls."""
    text = (ROOT / "common" / "emulator" / "checks" / "record" / "counter_fields.def").read_text(
        encoding="utf-8"
    )
    return (*re.findall(r"^COUNTER\((\w+)\)", text, re.MULTILINE), *_OF_HOST)


def measures() -> frozenset[str]:
    """What tests derive from counters, by name."""
    return frozenset((*_MEASURED, "useful"))


def of_timeline(name: str) -> bool:
    """Whether a test takes this from the model timeline."""
    return name in _MEASURED and name.startswith("timeline_")


def words(field: str, parts: Sequence[str] = ()) -> str:
    """A counter's name for people: `global_load_sectors` is `global load sectors`.

    `parts`: the counters that it is derived from.
    """
    if field == "useful":
        kind = "load" if "global_load_bytes" in parts else "store"
        return f"useful share of what global {kind}s move"
    return _WORDS.get(field) or _MEASURED.get(field) or field.replace("_", " ")


def looked_at(lesson: Lesson) -> dict[str, list[str]]:
    """For each [efficient] case the counters that its body names, in order.

    A case that names none itself (its checks stand in a function) has those of the whole lesson.
    """
    text = source_of(lesson)
    known = set(fields())

    def named(part: str) -> list[str]:
        found = re.findall(r"(?:->|\.)\s*(\w+)", part)
        return list(dict.fromkeys(name for name in found if name in known))

    everywhere = named(text)
    of_timeline = list(OF_TIMELINE) if "NEED_TIMELINE" in text else []
    columns = {}
    for case, body in case_bodies(text):
        if case.efficient:
            columns[case.name] = named(body) or everywhere or of_timeline
    return columns


def measured(details: list[dict[str, Any]]) -> dict[str, int]:
    """The sum of all measurements (wb::count) of one test case; empty when there was none."""
    total: dict[str, int] = {}
    for entry in details:
        for name, value in (entry.get("count") or {}).items():
            total[name] = total.get(name, 0) + int(value)
    shown = timeline.last(details)
    return total | (_of_timeline(shown) if shown else {})


def _of_timeline(shown: timeline.Timeline) -> dict[str, int]:
    """How long the work takes by the model, how long the device has some, and the host's waits."""
    spans = sorted((i["begin"], i["end"]) for i in shown.intervals if i["kind"] != "wait")
    busy = reached = 0
    for begin, end in spans:
        busy += max(0, end - max(begin, reached))
        reached = max(reached, end)
    waits = sum(i["kind"] == "wait" for i in shown.intervals)
    times = (round(max(reached, shown.returned) / 1000), round(busy / 1000), waits)
    return dict(zip(OF_TIMELINE, times, strict=True))


def read_details(path: Path) -> list[dict[str, Any]]:
    """The side file of one test case (common/harness/report/details.h). A damaged rest is left out.

    Arrays come with their bytes under `raw`.
    """
    try:
        data = files.read_bytes(path, 64 << 20, cut=True)
    except OSError:
        return []
    entries, at = [], 0
    while at < len(data):
        end = data.find(b"\n", at)
        if end < 0:
            break
        try:
            entry = json.loads(data[at:end])
        except (ValueError, RecursionError):
            break
        if not isinstance(entry, dict):
            break
        at = end + 1
        array = entry.get("array")
        if isinstance(array, dict):
            size = array.get("bytes")
            if not isinstance(size, int) or size < 0 or at + size > len(data):
                break
            entry["raw"] = data[at : at + size]
            at += size + 1
        entries.append(entry)
    return entries


def of_case(case: TestCase, columns: dict[str, list[str]]) -> list[str]:
    """The counters of one case."""
    return columns.get(case.name, [])
