# SPDX-License-Identifier: MIT
"""A page that scrolls above key lines that stay: what `make watch` shows on a terminal."""

from __future__ import annotations

import contextlib
import io
import shutil
import sys
import textwrap
from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from ..base.plain_output import is_plain

_UP, _DOWN = ("k", "\x1b[A", "\x1bOA"), ("j", "\x1b[B", "\x1bOB")
_PAGE_UP, _PAGE_DOWN = ("b", "\x1b[5~"), (" ", "\x1b[6~")


class _Captured(io.StringIO):
    """What is printed while a page is made; colours stay, as for the terminal that it is for."""

    def isatty(self) -> bool:
        return True


class Pager:
    """Without a terminal, and in plain output, everything is printed as it comes."""

    def __init__(self, keys: str, on: bool = True) -> None:
        self.on = on and sys.stdout.isatty() and not is_plain()
        self._keys = keys
        self._text, self._top = "", 0
        self._size = (0, 0)

    @contextlib.contextmanager
    def page(self, more: bool = False) -> Iterator[None]:
        """What is printed inside becomes the page, or its end with `more`, shown from its start."""
        if not self.on:
            yield
            return
        captured = _Captured()
        try:
            with contextlib.redirect_stdout(captured):
                yield
        finally:
            before = self._text.rstrip("\n") + "\n\n" if more and self._text else ""
            self._top = len(self._lines(before)) if before else 0
            self._text = before + captured.getvalue()
            self.draw()

    def key(self, pressed: str) -> bool:
        """Scrolls; False for a key that does not."""
        if not self.on:
            return False
        page = max(1, self._rows() - 1)
        for keys, by in ((_UP, -1), (_DOWN, 1), (_PAGE_UP, -page), (_PAGE_DOWN, page)):
            if pressed in keys:
                self._top += by
                self.draw()
                return True
        return False

    def resized(self) -> None:
        """Draws again where the terminal has another size."""
        if self.on and self._text and tuple(shutil.get_terminal_size()) != self._size:
            self.draw()

    def draw(self) -> None:
        self._size = (width, height) = tuple(shutil.get_terminal_size())
        lines, rows = self._lines(self._text), self._rows()
        self._top = max(0, min(self._top, len(lines) - rows))
        shown = lines[self._top : self._top + rows]
        out = "\x1b[H\x1b[2J" + "\r\n".join(shown)
        below = len(lines) - self._top - len(shown)
        for at, text in enumerate(self._key_lines(width, self._top, below)):
            out += f"\x1b[{rows + 1 + at};1H\x1b[7m{text:{width}}\x1b[0m"
        sys.stdout.write(out)
        sys.stdout.flush()

    def _rows(self) -> int:
        width, height = shutil.get_terminal_size()
        return max(1, height - len(self._key_lines(width, 1, 1)))

    def _key_lines(self, width: int, above: int, below: int) -> list[str]:
        keys = self._keys
        if above or below:
            keys += f" · ↑↓ scroll ({above} above, {below} below)"
        return textwrap.wrap(keys, width)

    def _lines(self, text: str) -> list[str]:
        """The text in lines of at most the terminal's width, with its colours."""
        width = shutil.get_terminal_size().columns
        console = Console(file=_Captured(), width=width, soft_wrap=False, highlight=False)
        found = []
        for line in text.split("\n"):
            parsed = Text.from_ansi(line)
            if parsed.cell_len <= width:
                found.append(line)
                continue
            with console.capture() as capture:
                console.print(parsed)
            found += capture.get().rstrip("\n").split("\n")
        while found and not found[-1]:
            found.pop()
        return found
