# SPDX-License-Identifier: MIT
"""The line of the student's file that a finding is about, as text."""

from __future__ import annotations

import re
from pathlib import Path

from ..findings import Finding


def line_of(finding: Finding) -> str:
    """The line without its comment; '' where the file cannot be read."""
    try:
        lines = Path(str(finding.data.get("path") or "")).read_text(encoding="utf-8").splitlines()
        return lines[finding.line - 1].split("//")[0] if finding.line > 0 else ""
    except (OSError, UnicodeDecodeError, IndexError):
        return ""


def only_updates(finding: Finding) -> bool:
    """Whether the line raises or lowers the element that it stores to and reads no other of it.

    `++own[key]` and `sum += x` need an atomic; `tile[t] += tile[t + half]` may need a barrier.
    """
    name = re.match(r"`(\w+)", str(finding.data.get("message")))
    text = line_of(finding)
    if not name or len(re.findall(rf"\b{name.group(1)}\b", text)) != 1:
        return False
    element = rf"\*?\b{name.group(1)}\b(?:\s*\[[^\]]*\])*"
    return bool(
        re.search(rf"(?:\+\+|--)\s*{element}", text)
        or re.search(rf"{element}\s*(?:\+\+|--|[-+*|&^]=)", text)
    )


def returns_above(finding: Finding) -> bool:
    """Whether a `return` stands above the finding's line in the same function, or may.

    A function begins at the last line above that starts in the first column, but for its braces.
    """
    try:
        lines = Path(str(finding.data.get("path") or "")).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return True
    for line in reversed(lines[: max(finding.line - 1, 0)]):
        text = line.split("//")[0]
        if re.search(r"\breturn\b", text):
            return True
        if re.match(r"[A-Za-z_}]", text):
            return False
    return False
