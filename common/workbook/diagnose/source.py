# SPDX-License-Identifier: MIT
"""The line of the student's file that a finding is about, as text."""

from __future__ import annotations

import re
from pathlib import Path

from ..facts.findings import Finding


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
    if not named and len(others) != 1:
        # `++bins[digit(keys[i])]`: the one that is raised or lowered.
        updated = re.search(r"(?:\+\+|--)\s*\(?(\w+)\s*\[|\b(\w+)\s*\[[^=]*\]\s*(?:\+\+|--)", text)
        others = {next(filter(None, updated.groups())): None} if updated else {}
    for base in [name] if named else others:
        elements = _subscripts(text, base)
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


def _subscripts(text: str, base: str) -> set[str]:
    """What stands in brackets after a name, brackets within included: `[digit(keys[i])]`."""
    found = set()
    for match in re.finditer(rf"\b{re.escape(base)}\s*(?=\[)", text):
        start = at = match.end()
        while at < len(text) and text[at] == "[":
            depth = 0
            while at < len(text):
                depth += (text[at] == "[") - (text[at] == "]")
                at += 1
                if depth == 0:
                    break
        found.add(text[start:at])
    return found


def waits_for_another(finding: Finding) -> bool:
    """Whether the line reads the array in the condition of a loop, as one does that waits."""
    name = str(finding.facts.get("array") or "")
    return bool(name) and bool(re.search(rf"\bwhile\s*\(.*\b{re.escape(name)}\b", line_of(finding)))


def _between(finding: Finding, first: int, last: int) -> str:
    """The lines of the finding's file from one to another, without comments."""
    try:
        lines = Path(str(finding.data.get("path") or "")).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return ""
    return "\n".join(line.split("//")[0] for line in lines[first:last])


def syncwarp_between(finding: Finding) -> bool:
    """Whether a `__syncwarp`, and no barrier of the block, stands between the lines of a race."""
    other = (finding.data.get("other") or {}).get("line")
    if not other or not finding.line:
        return False
    first, last = sorted((int(other), finding.line))
    text = _between(finding, first - 1, last)
    return "__syncwarp" in text and "__syncthreads" not in text


def updates_one_number(finding: Finding) -> str:
    """The one element that all threads raise or lower on this line, as it is written there:
    `*count` or `count[0]`; or ''.
    """
    if not only_updates(finding):
        return ""
    name = re.escape(str(finding.facts.get("array") or "")) or r"\w+"
    one = re.search(rf"\*{name}\b(?!\s*\[)|\b{name}\s*\[\s*\d+\s*\]", line_of(finding))
    return one.group() if one else ""


def stores_the_result_of_a_block(finding: Finding) -> bool:
    """Whether every thread that comes to this line stores to the one element of its block."""
    if not re.search(r"\[\s*blockIdx\.x\s*\]\s*[-+*]?=(?!=)", line_of(finding)):
        return False
    above = _between(finding, max(finding.line - 2, 0), finding.line)
    return not re.search(r"\bif\b", above)


def is_loop(finding: Finding) -> bool:
    """Whether the line is a loop with its body."""
    return bool(re.search(r"\b(?:for|while)\s*\(.*\)[^)]*\w\s*\(.*\)\s*;", line_of(finding)))


def launch_swapped(finding: Finding) -> str:
    """The name in place of the number of blocks of a launch that means threads; or ''."""
    names = re.search(r"<<<\s*(\w+)\s*,\s*(\w+)\s*[,>]", line_of(finding))
    if not names or not re.search(r"thread|block_?size|block_?dim", names.group(1), re.IGNORECASE):
        return ""
    blocks = re.search(r"^(?:\w*_)?blocks|grid", names.group(2), re.IGNORECASE)
    return names.group(1) if blocks else ""


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
