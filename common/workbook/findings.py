# SPDX-License-Identifier: MIT
"""The emulator's findings: read from its JSON lines, merged over test cases, put into words."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class Finding:
    """One finding as the emulator wrote it, and the test cases in which it occurred."""

    data: dict[str, Any]
    cases: list[str] = field(default_factory=list)

    @property
    def code(self) -> str:
        return str(self.data.get("code", "unknown"))

    @property
    def severity(self) -> str:
        return str(self.data.get("severity", "error"))

    @property
    def line(self) -> int:
        return int(self.data.get("line") or 0)

    @property
    def file(self) -> str:
        return Path(str(self.data.get("file") or "")).name

    @property
    def place(self) -> str:
        if not self.file:
            return ""
        return f"{self.file}:{self.line}" if self.line else self.file

    @property
    def key(self) -> tuple[str, str, int, int]:
        """Equal for the same cause in different test cases."""
        other = self.data.get("other") or {}
        return self.code, self.file, self.line, int(other.get("line") or 0)

    @property
    def unsafe(self) -> bool:
        return self.severity in ("error", "warning")

    def who(self) -> str:
        """`24 threads did this, the first is (232,0,0) of block (3,0,0)`, or '' on the host."""
        thread, block = _xyz(self.data.get("thread")), _xyz(self.data.get("block"))
        if not thread or any("did this" in note for note in self.notes()):
            return ""
        of_block = f" of block {block}" if block else ""
        count = int(self.data.get("count") or 1)
        if count > 1:
            return f"{count} times, first by thread {thread}{of_block}"
        return f"by thread {thread}{of_block}"

    def other_party(self) -> str:
        """The second access of a race, in words."""
        if text := self.data.get("other_text"):
            return str(text)
        other = self.data.get("other") or {}
        thread, block = _xyz(other.get("thread")), _xyz(other.get("block"))
        if not other.get("line"):
            return ""
        who = (
            f"thread {thread}" + (f" of block {block}" if block else "") if thread else "the other"
        )
        return f"the other side: {who}, line {other['line']}"

    def notes(self) -> list[str]:
        notes = self.data.get("notes") or []
        return [str(note) for note in notes] if isinstance(notes, list) else [str(notes)]


def _xyz(value: Any) -> str:
    if isinstance(value, list) and len(value) == 3:
        return "(" + ",".join(str(part) for part in value) + ")"
    return ""


def read_report(path: Path) -> list[Finding]:
    """The findings in a report file; a line that was cut short is left out."""
    try:
        text = path.read_bytes()[: 16 << 20].decode("utf-8", "replace")
    except OSError:
        return []
    found = []
    for line in text.splitlines():
        try:
            data = json.loads(line)
        except ValueError:
            continue
        if isinstance(data, dict) and "code" in data:
            found.append(Finding(data))
    return found


def merge(per_case: list[tuple[str, list[Finding]]]) -> list[Finding]:
    """One entry for each cause, in order of first occurrence, with the cases it occurred in."""
    merged: dict[tuple[str, str, int, int], Finding] = {}
    for case, found in per_case:
        for finding in found:
            entry = merged.setdefault(finding.key, finding)
            if case not in entry.cases:
                entry.cases.append(case)
    return list(merged.values())
