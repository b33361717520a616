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
    name = str(finding.facts.get("array") or "")
    text = line_of(finding)
    # Through another pointer too: `int* own = all + 8 * t; ++own[key];`.
    named = bool(name) and re.search(rf"\b{re.escape(name)}\b", text)
    others = dict.fromkeys(re.findall(r"\b(\w+)\s*\[", text))
    for base in [name] if named else others if len(others) == 1 else ():
        elements = set(re.findall(rf"\b{re.escape(base)}\s*((?:\[[^\[\]]*\])+)", text))
        plain = len(re.findall(rf"\b{re.escape(base)}\b", text)) == 1
        if not base or len(elements) > 1 or (not elements and not plain):
            continue
        at = re.escape(next(iter(elements), ""))
        element = rf"\*?\b{re.escape(base)}\s*{at}"
        for updates in (
            rf"(?:\+\+|--)\s*{element}(?!\s*[\[\w])",
            rf"{element}\s*(?:\+\+|--|[-+*|&^]=(?!=))",
            rf"{element}\s*=\s*{element}\s*[-+*|&^]",
        ):
            if re.search(updates, text):
                return True
    return False


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
