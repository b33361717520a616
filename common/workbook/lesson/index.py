# SPDX-License-Identifier: MIT
"""Generates lessons/README.md from the list of lessons and the course maps."""

from __future__ import annotations

import re

from ..base.project import ROOT, Lesson, lessons
from . import course_maps


def goal(lesson: Lesson) -> str:
    """The first sentence of the section `Goal` of the lesson's README."""
    try:
        text = (lesson.folder / "README.md").read_text(encoding="utf-8")
    except OSError:
        return ""
    match = re.search(r"^## Goal\s*\n+(.+?)(?:\n\s*\n|\n#|\Z)", text, re.MULTILINE | re.DOTALL)
    if not match:
        match = re.search(r"\*\*Goal\.?\*\*[:\s]*(.+?)(?:\n\s*\n|\n#|\Z)", text, re.DOTALL)
    if not match:
        return ""
    sentence = re.split(r"(?<=[.!?])\s", " ".join(match.group(1).split()), maxsplit=1)[0]
    return sentence.replace("|", "\\|")


def text() -> str:
    """The page's text."""
    known = lessons(ROOT)
    lines = [
        "# Lessons",
        "",
        "Generated from `CMakeLists.txt` in this folder and from the lessons' own first lines:",
        "`make skeletons` writes this page.",
        "",
        "| lesson | goal | check it |",
        "|---|---|---|",
    ]
    for lesson in known:
        lines.append(
            f"| [{lesson.number} · {lesson.title}]({lesson.id}/README.md) "
            f"| {goal(lesson)} | `make {lesson.number}` |"
        )
    lines += [
        "",
        "A lesson's folder holds `README.md` (read this first), `HINTS.md` (`make hint-NN` shows",
        "it in small steps), the interface (`.h`, finished) and the file that you edit (`.cu`).",
        "",
        course_maps.text(known),
    ]
    return "\n".join(lines)
