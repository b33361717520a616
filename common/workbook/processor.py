# SPDX-License-Identifier: MIT
"""Which processor this is, by the names of the x86-64 psABI. Standard library only."""

from __future__ import annotations

import platform
from pathlib import Path

# What each level adds to the one before, in the words of /proc/cpuinfo: pni is SSE3, abm is LZCNT.
_LEVELS = {
    "x86-64-v2": "cx16 lahf_lm popcnt pni sse4_1 sse4_2 ssse3",
    "x86-64-v3": "abm avx avx2 bmi1 bmi2 f16c fma movbe xsave",
    "x86-64-v4": "avx512bw avx512cd avx512dq avx512f avx512vl",
}
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
    for name, wanted in _LEVELS.items():
        if not set(wanted.split()) <= has:
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
        lacking = " ".join(sorted(set(_LEVELS[OLDEST].split()) - flags(_cpuinfo())))
        return f"this processor is below {OLDEST} (it lacks {lacking}), which the device needs"
    if found.startswith("x86-64") or found == "arm64":
        return ""
    return f"this is a {found} processor, and the device runs on x86-64 and arm64"
