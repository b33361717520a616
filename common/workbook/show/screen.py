# SPDX-License-Identifier: MIT
"""Puts grades, tables and pages on the screen: coloured on a terminal, plain in a pipe."""

from __future__ import annotations

import os
import re
import sys
import textwrap

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from ..base.phases import bar
from ..base.plain_output import is_plain
from ..base.project import PASSED, Lesson, lessons
from ..judge import progress as record

INDENT = " " * 6
GRADES = ("correct", "safe", "efficient")


def console() -> Console:
    """80 columns where the width is unknown, at most 110 where it is."""
    width = None if sys.stdout.isatty() else int(os.environ.get("COLUMNS") or 80)
    if is_plain():
        width = (width or 80) - 4  # symbols that are spelt out take more room
    made = Console(width=width, highlight=False, soft_wrap=False, emoji=False, markup=False)
    if made.width > 120:
        made.width = 120
    return made


def clear() -> None:
    """Empties a terminal's screen; in a pipe and in plain output a line between two results."""
    if sys.stdout.isatty() and not is_plain():
        print("\x1b[2J\x1b[H", end="", flush=True)
    else:
        print("-" * 40, flush=True)


class Status:
    """One line that is written over, on a terminal only; gone before anything else is printed."""

    def __init__(self, on: bool = True) -> None:
        self._on = on and sys.stdout.isatty() and not is_plain()

    def tell(self, text: str) -> None:
        if self._on:
            print(f"\r\x1b[K  {text}", end="", flush=True)

    def count(self, done: int, whole: int) -> None:
        """How many of the test cases have ended."""
        self.tell(f"{bar(done, whole)} {done} of {whole} tests")

    def clear(self) -> None:
        if self._on:
            print("\r\x1b[K", end="", flush=True)


def wrapped(out: Console, text: str, indent: str = INDENT, style: str = "") -> None:
    for line in text.splitlines() or [""]:
        for part in textwrap.wrap(line, out.width - len(indent), break_on_hyphens=False) or [""]:
            out.print(Text(indent + part, style=style))
            indent = " " * len(indent)


def two_sides(out: Console, left: str, right: str, indent: str = INDENT, style: str = "") -> None:
    """`left` with `right` at the right edge, on lines of their own where both do not fit."""
    if not right:
        wrapped(out, left, indent, style)
        return
    room = out.width - len(indent) - len(right) - 2
    lines = textwrap.wrap(left, max(room, 30), break_on_hyphens=False) or [""]
    gap = " " * max(2, out.width - len(indent) - len(lines[0]) - len(right))
    out.print(Text.assemble((indent + lines[0], style), gap, (right, "cyan")), no_wrap=True)
    for line in lines[1:]:
        out.print(Text(" " * len(indent) + line, style=style))


def mark(value: bool | None) -> str:
    return {True: "✓", False: "✗", None: "–"}[value]


def milliseconds(value: float) -> str:
    """A time in three digits: `12.3 us`, `0.747 ms`, `21.6 ms`."""
    if value < 0.1:
        return f"{value * 1000:.3g} us"
    return f"{value:.3g} ms"


def progress() -> int:
    """`make progress`."""
    show_progress(lessons())
    return PASSED


def show_progress(known: list[Lesson], out: Console | None = None) -> None:
    """The table of `make progress`."""
    out = out or console()
    data = record.load()
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("lesson", "", *GRADES, "best so far"):
        table.add_column(name, justify="center" if name in GRADES else "left", overflow="fold")
    count = 0
    for lesson in known:
        entry = data.get(lesson.id) or {}
        best = entry.get("best") or {}
        done = bool(best.get("passed"))
        count += done
        marks = [Text(mark(best.get(name)) if best else "·") for name in GRADES]
        for text in marks:
            text.stylize({"✓": "green", "✗": "red"}.get(text.plain, "dim"))
        if best:
            day = str(best.get("date", ""))[:10]
            when = f"{best.get('cases_passed', 0)} of {best.get('cases', 0)}, {day}"
        else:
            when = "not tried yet"
        style = "green" if done else ""
        table.add_row(lesson.number, Text(lesson.title, style), *marks, when)
    out.print(table)
    out.print(Text(f"{bar(count, len(known))} {count} of {len(known)} lessons solved"))


class _Heading(Heading):
    """Headings at the left edge; rich centres them."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        self.text.justify = "left"
        yield self.text


class _Code(CodeBlock):
    """Code with long lines wrapped: rich 13 loses characters where it breaks a line."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = options.max_width - 2  # a blank on either side
        lines = []
        for line in str(self.text).rstrip().splitlines():
            further = " " * (len(line) - len(line.lstrip()) + 4)
            lines += textwrap.wrap(
                line, width, subsequent_indent=further, break_on_hyphens=False
            ) or [""]
        yield Syntax("\n".join(lines), self.lexer_name, theme=self.theme, padding=1)


class _Page(Markdown):
    # rich parsed with commonmark before 12.6 and with markdown-it since: the names differ.
    elements = {
        **Markdown.elements,
        "heading": _Heading, "heading_open": _Heading, "code_block": _Code, "fence": _Code,
    }  # fmt: skip


def show_page(text: str, out: Console | None = None) -> None:
    """A Markdown page; in a pipe without the blanks that fill lines on a terminal."""
    out = out or console()
    page = _Page(text, code_theme="ansi_dark")
    if out.is_terminal:
        out.print(page)
        return
    with out.capture() as capture:
        out.print(page)
    text = re.sub(r"[ \t]+\n", "\n", capture.get())
    out.print(Text(re.sub(r"\n{3,}", "\n\n", text).strip("\n")), soft_wrap=True)
