# SPDX-License-Identifier: MIT
"""What a lesson's HINTS.md says: three rungs for each task."""

from __future__ import annotations

import re


def read_hints(text: str) -> dict[int, list[tuple[str, str]]]:
    """Rungs by task from HINTS.md: `## Task k`, below it `### 1 A question` and so on."""
    hints: dict[int, list[tuple[str, str]]] = {}
    for part in re.split(r"^## +", text, flags=re.MULTILINE)[1:]:
        match = re.match(r"Task (\d+)[^\n]*\n", part)
        if not match:
            continue
        rungs = []
        for rung in re.split(r"^### +", part[match.end() :], flags=re.MULTILINE)[1:]:
            title, _, body = rung.partition("\n")
            rungs.append((title.strip(), body.strip("\n").rstrip()))
        hints[int(match.group(1))] = rungs
    return hints
