# SPDX-License-Identifier: MIT
"""Plain output: words for symbols. Standard library only: setup prints before rich is here."""

from __future__ import annotations

import sys
from typing import TextIO

from . import options


def is_plain() -> bool:
    """No colours, no symbols, no moving about: for screen readers and logs (`--plain`, PLAIN=1)."""
    return options.flag("PLAIN")


class _PlainWords:
    """A stream that spells symbols out."""

    _WORDS = str.maketrans(
        {"✓": "ok", "✗": "NO", "–": "-", "·": "|", "█": "#", "░": ".", "…": "...", "→": "->"}
    )

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return self._stream.write(text.translate(self._WORDS))

    def flush(self) -> None:
        self._stream.flush()

    def isatty(self) -> bool:
        return False


def use_plain_words() -> None:
    """From now on everything that is printed is plain."""
    sys.stdout = _PlainWords(sys.stdout)  # type: ignore[assignment]
