# SPDX-License-Identifier: MIT
"""The emulator's findings: read from its JSON lines, merged over test cases, put into words."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..base import files
from ..lesson import own_lines


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
    def happened(self) -> tuple[str, int]:
        """File and line of the instruction, where own_lines has moved the finding to a call."""
        place = self.data.get("happened") or {"file": self.file, "line": self.line}
        return str(place["file"]), int(place["line"])

    @property
    def place(self) -> str:
        if not self.file:
            return ""
        return f"{self.file}:{self.line}" if self.line else self.file

    @property
    def compiled_line(self) -> str:
        """The text of the line, where it is of a source that was compiled at run time."""
        return str(self.data.get("compiled_line") or "").strip()

    @property
    def facts(self) -> dict[str, Any]:
        """What is known, by name (checks/report/report.h); the words of a message may change."""
        facts = self.data.get("facts")
        return facts if isinstance(facts, dict) else {}

    @property
    def key(self) -> tuple[Any, ...]:
        """Equal for one fault in different test cases: its lines, its arrays, what is done to them.

        The two sides of a race have no order.
        """
        facts, other = self.facts, self.data.get("other") or {}
        sides = [(self.line, str(facts.get("access", "")))]
        if other.get("line"):
            sides.append((int(other["line"]), str(facts.get("other_access", ""))))
        arrays = {str(facts.get("array", "")), *map(str, facts.get("other_arrays") or [])}
        before = any(int(facts.get(name) or 0) < 0 for name in ("index", "past_end"))
        clash = facts.get("clash")
        return (
            self.code, self.severity, self.file, tuple(sorted(sides)), tuple(sorted(arrays)),
            "before" if before else "", facts.get("reason"),
            # How far apart the threads are depends on the launch; the rest is another fault.
            facts.get("relation") if facts.get("relation") in ("host", "streams", "graph") else "",
            clash if clash in ("scope", "async-copy", "allocation") else "",
            "" if self.line else str(self.data.get("message")),
        )  # fmt: skip

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
    """The findings in a report file; a line that was cut short is left out.

    OSError where there is no such file.
    """
    text = files.read_bytes(path, files.REPORT_BYTES, cut=True).decode("utf-8", "replace")
    found = []
    for line in text.splitlines():
        try:
            data = json.loads(line)
        except ValueError:
            continue
        if isinstance(data, dict) and "code" in data:
            found.append(finding_of(printable(data)))
    return found


def finding_of(data: dict[str, Any]) -> Finding:
    """A record of the device, at a line of the student's own where one led there."""
    own_lines.point_to(data)
    return Finding(data)


def printable(data: Any) -> Any:
    """The same JSON with every text as a terminal may show it."""
    if isinstance(data, str):
        return files.printable(data)
    if isinstance(data, list):
        return [printable(one) for one in data]
    if isinstance(data, dict):
        return {key: printable(one) for key, one in data.items()}
    return data


def merge(per_case: list[tuple[str, list[Finding]]]) -> list[Finding]:
    """One entry for each cause, in order of first occurrence, with the cases it occurred in."""
    merged: dict[tuple[Any, ...], Finding] = {}
    for case, found in per_case:
        for finding in found:
            # Either side of a race may be the place.
            entry = merged.setdefault((finding.line, *finding.key), finding)
            if case not in entry.cases:
                entry.cases.append(case)
    return list(merged.values())
