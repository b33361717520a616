# SPDX-License-Identifier: MIT
"""What was reached so far: .workbook/progress.json, one entry for each lesson."""

from __future__ import annotations

import datetime
import json
import os
from typing import Any

from ..base import files
from ..base.project import ROOT, Lesson, state_folder
from .grade import Grade

_GRADES = ("correct", "safe", "efficient")


def load() -> dict[str, Any]:
    """All entries by lesson id; an unreadable file counts as empty."""
    try:
        data = json.loads(files.read_text(ROOT / ".workbook" / "progress.json"))
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}


def save(data: dict[str, Any]) -> None:
    """Replaces the file in one step, so that an interrupted run leaves the old one."""
    path = state_folder() / "progress.json"
    fresh = path.with_suffix(".new")
    fresh.write_text(json.dumps(data, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    os.replace(fresh, path)


def _rank(entry: dict[str, Any]) -> tuple[int, int]:
    return sum(bool(entry.get(name)) for name in _GRADES), int(entry.get("cases_passed") or 0)


def remember(grade: Grade) -> None:
    """Keeps the best result of a lesson with its date, and the last one."""
    if grade.device != "emulator":
        return
    data = load()
    entry = data.setdefault(grade.lesson.id, {})
    now = {
        "correct": grade.correct,  # None where that is not known, as on the screen
        "safe": grade.safe,
        "efficient": grade.efficient,
        "passed": grade.passed,
        "cases_passed": grade.cases_passed,
        "cases": len(grade.results),
        "date": datetime.datetime.now().isoformat(timespec="seconds"),
    }
    entry["last"] = now
    failing = [
        r.case.task for r in grade.results if not r.passed and r.case.task.startswith("task")
    ]
    entry["last"]["failing_tasks"] = sorted({int(task.split()[1]) for task in failing})
    best = entry.get("best")
    if not isinstance(best, dict) or _rank(now) > _rank(best):
        entry["best"] = dict(now)
    save(data)


def solved(lesson: Lesson, data: dict[str, Any] | None = None) -> bool:
    """Whether the lesson has passed all three grades at some time."""
    entry = (load() if data is None else data).get(lesson.id)
    best = entry.get("best") if isinstance(entry, dict) else None
    return isinstance(best, dict) and bool(best.get("passed"))
