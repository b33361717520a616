# SPDX-License-Identifier: MIT
"""Which processor this is, by the names of the x86-64 psABI. Standard library only."""

from __future__ import annotations

import functools
import platform
import re
from pathlib import Path

_FEATURES = Path(__file__).parents[2] / "emulator/machine/platform/processor_features.def"


@functools.cache
def levels() -> dict[str, set[str]]:
    """What each level adds to the one before, by the names of /proc/cpuinfo."""
    found: dict[str, set[str]] = {}
    text = _FEATURES.read_text(encoding="utf-8")
    for enumerator, feature in re.findall(r"^FEATURE\((\w+), \w+, \w+, (\w+)\)", text, re.M):
        found.setdefault(enumerator.lower().replace("_", "-"), set()).add(feature)
    return found


OLDEST = "x86-64-v2"


def flags(cpuinfo: str) -> set[str]:
    """The features that the first processor of /proc/cpuinfo has."""
    for line in cpuinfo.splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "flags":
            return set(value.split())
    return set()


def level(has: set[str]) -> str:
    """The highest level all of whose features are there, `x86-64` below the second."""
    reached = "x86-64"
    for name, wanted in levels().items():
        if not wanted <= has:
            break
        reached = name
    return reached


def _cpuinfo() -> str:
    try:
        return Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def name() -> str:
    """`x86-64-v3`, `arm64`, or what the system calls a processor that is neither."""
    machine = platform.machine().lower()
    if machine in ("aarch64", "arm64"):
        return "arm64"
    if machine not in ("x86_64", "amd64"):
        return machine
    return level(flags(_cpuinfo())) if _cpuinfo() else "x86-64, level unknown"


def objection() -> str:
    """Why the emulated device cannot run on this processor; '' where it can."""
    found = name()
    if found == "x86-64":
        lacking = " ".join(sorted(levels()[OLDEST] - flags(_cpuinfo())))
        return f"this processor is below {OLDEST} (it lacks {lacking}), which the device needs"
    if found.startswith("x86-64") or found == "arm64":
        return ""
    return f"this is a {found} processor, and the device runs on x86-64 and arm64"
