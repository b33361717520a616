# SPDX-License-Identifier: MIT
"""The book's pages: which there are, and what changes in them on the way into the book.

Every page keeps its path in the repository, so links between pages stay as they are. A link to a
file that is no page becomes plain text. Hints are folded into their lesson's page. Nothing of
solutions/ is read unless the book is asked for with solutions.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..base.project import ROOT, Lesson, WorkbookError, first_heading, lessons
from ..lesson import skeletons
from ..lesson.hints import read_hints

EXPLANATIONS = Path("common/emulator/checks/explain")
# Code, which is left alone, or a link or picture: its `!`, text and target.
_LINK = re.compile(
    r"(?P<code>^(?P<fence>[ \t]*(?:```+|~~~+)).*?^(?P=fence)[ \t]*$"
    r"|(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`))"
    r"|(?P<picture>!?)\[(?P<text>(?:[^\[\]`]|`[^`]*`|\[[^\[\]]*\])*)\]\((?P<target>[^()\s]+)\)",
    re.MULTILINE | re.DOTALL,
)
_COMMENT = re.compile(r"^<!-- (?:output: .*?|end) -->\n", re.MULTILINE)


@dataclass(frozen=True)
class Page:
    """A Markdown file of the repository."""

    path: Path  # from the repository's root
    lesson: Lesson | None = None
    root: Path = ROOT

    @property
    def source(self) -> Path:
        return self.root / self.path


def pages(root: Path, with_solutions: bool) -> dict[str, list[Page]]:
    """Every page by the part of the book that it belongs to, in the book's order."""
    known = lessons(root)
    explained = sorted((root / EXPLANATIONS).glob("*.md"))
    reference = [
        path
        for folder in ("emulator", "libraries")
        for path in sorted((root / "common" / folder).rglob("*.md"))
        if path not in explained
    ]
    teaching = [
        root / "CONTRIBUTING.md",
        root / "tests/lessons/README.md",
        *sorted((root / "common/workbook").rglob("*.md")),
    ]

    def of(paths: list[Path]) -> list[Page]:
        return [Page(path.relative_to(root), root=root) for path in paths]

    parts = {
        "Start": of([root / "README.md"]),
        "Lessons": [
            *of([root / "lessons" / "README.md"]),
            *[Page(Path("lessons", one.id, "README.md"), one, root) for one in known],
        ],
        "Findings": of(explained),
        "Measured": of([root / "plots" / "README.md"]),
        "Reference": of([root / "common" / "README.md", *reference]),
        "Teaching": of(teaching),
    }
    if with_solutions:
        parts["Solutions"] = [
            Page(Path("solutions", one.id, "NOTES.md"), one, root) for one in known
        ]
    return parts


def navigation(parts: Mapping[str, list[Page]]) -> list[dict[str, Any]]:
    """MkDocs' `nav`. A part of one page is that page."""
    made: list[dict[str, Any]] = []
    for name, part in parts.items():
        entries: list[Any] = [{_title(page): page.path.as_posix()} for page in part]
        if part[0].path.name == "README.md" and len(part) > 1:
            entries[0] = part[0].path.as_posix()  # the part's own page, opened by its name
        made.append({name: entries if len(part) > 1 else part[0].path.as_posix()})
    return made


def _title(page: Page) -> str:
    if page.lesson:
        return f"{page.lesson.number} · {page.lesson.title}"
    return first_heading(page.source) or page.path.stem


def copy(parts: Mapping[str, list[Page]], docs: Path) -> None:
    """The pages as they are, with the hints beside them."""
    for page in (page for part in parts.values() for page in part):
        _copy(page.source, docs / page.path)
        if page.lesson and page.path.parts[0] == "lessons":
            hints = page.path.with_name("HINTS.md")
            _copy(page.root / hints, docs / hints)


def _copy(source: Path, to: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, to)


def convert(
    parts: Mapping[str, list[Page]], docs: Path, views: Mapping[str, str], with_solutions: bool
) -> None:
    """Turns the copies into what MkDocs reads. `views`: a mark in a page, and what it becomes."""
    every = [page for part in parts.values() for page in part]
    paths = {page.path for page in every}
    for page in every:
        path = docs / page.path
        text = path.read_text(encoding="utf-8")
        if page.lesson and page.path.parts[0] == "lessons":
            hints = path.with_name("HINTS.md")
            text = with_hints(text, hints.read_text(encoding="utf-8"))
            hints.unlink()
        elif page.lesson and with_solutions:
            text = with_solution(text, page.lesson)
        text = _COMMENT.sub("", text)
        for mark, html in views.items():
            text = text.replace(mark, html)
        path.write_text(with_links(text, page, paths, docs), encoding="utf-8")


def with_links(text: str, page: Page, paths: set[Path], docs: Path) -> str:
    """`text` with links to what is in the book; pictures are copied into it."""

    def target_of(match: re.Match[str]) -> str:
        if match["code"]:
            return match[0]
        target, _, anchor = match["target"].partition("#")
        if not target or re.match(r"[a-z]+:", target):
            return match[0]
        path = Path(os.path.normpath(page.path.parent / target))
        if match["picture"] and (page.root / path).is_file():
            _copy(page.root / path, docs / path)
            return match[0]
        if path.name == "HINTS.md":
            path, target, anchor = path.with_name("README.md"), "README.md", "hints"
        if path in paths:
            return f"[{match['text']}]({target}{'#' + anchor if anchor else ''})"
        if not (page.root / path).exists():
            raise WorkbookError(
                f"{page.path.as_posix()} links to {match['target']}, which is not there",
                "mend the link",
            )
        return match["text"]

    return _LINK.sub(target_of, text)


def folded(kind: str, title: str, body: str) -> str:
    """A part of a page that opens on demand."""
    lines = [f"    {line}" if line else "" for line in body.strip("\n").splitlines()]
    return "\n".join([f'??? {kind} "{title}"', "", *lines, ""])


def with_hints(text: str, hints: str) -> str:
    """A lesson's page with its hints, folded, before the section that says how to run it.

    The search does not look into them: it would give hints away.
    """
    parts = ["## Hints { data-search-exclude }", ""]
    for task, rungs in read_hints(hints).items():
        parts += [f"**Task {task}**", ""]
        parts += [folded("question", title, body) for title, body in rungs]
    before, found, after = text.partition("\n## Run it")
    if not found:
        raise WorkbookError("a lesson's page has no section `Run it`", "see CONTRIBUTING.md")
    return f"{before}\n" + "\n".join(parts) + f"\n## Run it{after}"


def with_solution(notes: str, lesson: Lesson) -> str:
    """The notes on a solution, and below them the file."""
    source = skeletons.solved(lesson.solution_file.read_text(encoding="utf-8"))
    return f"{notes}\n## The file\n\n```cuda\n{source}```\n"
