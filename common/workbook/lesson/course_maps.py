# SPDX-License-Identifier: MIT
"""Course maps for instructors, as a part of lessons/README.md: which lessons, when, and how.

What students solve takes the time that the lesson's own page states; what is shown takes
SHOW_MINUTES; breaks and the length of a course are stated here. The map of a term is made of all
lessons.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from ..base.project import Lesson, WorkbookError

SHOW_MINUTES = 10  # the figure, and the rungs that `make demo-NN` shows side by side
WEEK_MINUTES = 240  # of a term: class and homework
WEEKS = 16


@dataclass(frozen=True)
class Session:
    """A morning, an afternoon or a day without a long break: it has `minutes` at most.

    `parts`: "02" is solved, "show 10" is shown, "break 15" is a pause of so many minutes.
    """

    title: str
    minutes: int
    parts: str


@dataclass(frozen=True)
class Course:
    """A course of one length, and for whom it is."""

    title: str
    about: str
    sessions: tuple[Session, ...]


COURSES = (
    Course(
        "Three hours",
        "A first kernel, the guard, and what becomes of them: students solve three lessons, and "
        "see where the road leads.",
        (Session("Three hours", 180, "00, 01, break 10, 02, show 10, show 20, show 40"),),
    ),
    Course(
        "One day",
        "Kernels in the morning, threads that work together in the afternoon.",
        (
            Session("Morning", 180, "00, 01, break 15, 02, show 06, show 10, show 11"),
            Session("Afternoon", 240, "14, show 17, 18, break 15, 20, show 21, show 40"),
        ),
    ),
    Course(
        "Two days",
        "The first day is about maps and memory, the second about shared memory, histograms and "
        "random numbers.",
        (
            Session("First morning", 195, "00, 01, break 15, 02, 03, show 04"),
            Session("First afternoon", 240, "05, show 06, show 09, 10, break 15, 11, show 12"),
            Session("Second morning", 195, "14, show 15, show 16, break 15, show 17, 18, show 19"),
            Session("Second afternoon", 240, "20, 21, break 15, 23, show 25, show 26, show 40"),
        ),
    ),
)


@dataclass(frozen=True)
class Part:
    """One line of a map: a lesson, or a break where there is none."""

    minutes: int
    lesson: Lesson | None
    shown: bool = False


def stated_minutes(lesson: Lesson) -> int:
    """The time that the lesson's page states."""
    page = lesson.folder / "README.md"
    found = re.search(r"^\*\*Time\*\* (\d+) minutes", page.read_text(encoding="utf-8"), re.M)
    if not found:
        raise WorkbookError(f"lessons/{lesson.id}/README.md states no time: `**Time** 60 minutes`")
    return int(found.group(1))


def parts_of(session: Session, known: list[Lesson]) -> list[Part]:
    """The lines of a session. Raises WorkbookError for a lesson that does not exist, or where the
    parts take longer than the session."""
    by_number = {lesson.number: lesson for lesson in known}
    parts = []
    for word in session.parts.split(", "):
        kind, _, argument = word.rpartition(" ")
        if kind == "break":
            parts.append(Part(int(argument), None))
            continue
        if kind not in ("", "show") or argument not in by_number:
            raise WorkbookError(f"the course map `{session.title}` names `{word}`: no such lesson")
        lesson = by_number[argument]
        minutes = SHOW_MINUTES if kind else stated_minutes(lesson)
        parts.append(Part(minutes, lesson, bool(kind)))
    total = sum(part.minutes for part in parts)
    if total > session.minutes:
        raise WorkbookError(
            f"the course map `{session.title}` takes {total} minutes, and has {session.minutes}",
            "the times are those of the lessons' pages: leave a lesson out in course_maps.py",
        )
    return parts


def weeks_of(known: list[Lesson]) -> list[list[Part]]:
    """All lessons in order, at most WEEK_MINUTES of them in each week."""
    weeks: list[list[Part]] = [[]]
    for lesson in known:
        part = Part(stated_minutes(lesson), lesson)
        if sum(one.minutes for one in weeks[-1]) + part.minutes > WEEK_MINUTES:
            weeks.append([])
        weeks[-1].append(part)
    if len(weeks) > WEEKS:
        raise WorkbookError(f"the lessons fill {len(weeks)} weeks, and a term has {WEEKS}")
    return weeks


def figure_of(lesson: Lesson) -> Path:
    """The lesson's picture."""
    return lesson.root / "plots" / "figures" / f"{lesson.id}.svg"


def _row(first: str, part: Part) -> str:
    if not part.lesson:
        return f"| {first} | {part.minutes} | break | | |"
    lesson = part.lesson
    figure = f"[figure](../plots/figures/{figure_of(lesson).name})"
    do = "show" if part.shown else f"solve: `make {lesson.number}`"
    name = f"[{lesson.number} · {lesson.title}]({lesson.id}/README.md)"
    return f"| {first} | {part.minutes} | {name} | {do} | {figure}, `make demo-{lesson.number}` |"


def text(known: list[Lesson]) -> str:
    """The section of the page, with a table for each course."""
    lines = [
        "## Course maps",
        "",
        "For instructors. What students solve takes the time that the lesson's page states. What "
        f"you show takes {SHOW_MINUTES} minutes:",
        "the figure, then the demo, which grades all rungs of a solution side by side. Start a "
        "demo once before class: the first",
        "one builds. Times begin at 0:00 in each session.",
    ]
    for course in COURSES:
        lines += ["", f"### {course.title}", "", course.about]
        for session in course.sessions:
            parts = parts_of(session, known)
            total = sum(part.minutes for part in parts)
            lines += [
                "",
                f"**{session.title}**: {total} of {session.minutes} minutes.",
                "",
                "| at | minutes | lesson | what | show |",
                "|---|--:|---|---|---|",
            ]
            at = 0
            for part in parts:
                lines.append(_row(f"{at // 60}:{at % 60:02}", part))
                at += part.minutes
    weeks = weeks_of(known)
    lines += [
        "",
        "### A term",
        "",
        f"All lessons in {len(weeks)} weeks of at most {WEEK_MINUTES // 60} hours each, class and "
        "homework together. In class, begin with the",
        "figure and end with the demo.",
        "",
        "| week | minutes | lesson | what | show |",
        "|---|--:|---|---|---|",
    ]
    for number, week in enumerate(weeks, 1):
        lines += [_row(str(number) if part is week[0] else "", part) for part in week]
    return "\n".join([*lines, ""])
