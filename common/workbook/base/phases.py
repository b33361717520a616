# SPDX-License-Identifier: MIT
"""What setting up is doing, how far it is, and how long each part took. Standard library only."""

from __future__ import annotations

import json
import os
import shutil
import sys
import threading
import time
from types import TracebackType

from .plain_output import is_plain

_SURE_AFTER = 3.0  # seconds: before that, an estimate of the time left means nothing
_CARRIED = "WORKBOOK_PHASES"  # the times of a process that went on as another Python

_took: dict[str, float] = json.loads(os.environ.pop(_CARRIED, "{}"))


def bar(count: float, total: float, width: int = 20) -> str:
    """`█████░░░░░`, `width` wide."""
    filled = min(width, round(width * count / max(1, total)))
    return "█" * filled + "░" * (width - filled)


def seconds(value: float) -> str:
    """`8 s`, `1 min 20 s`."""
    minutes, rest = divmod(round(value), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


class Phase:
    """One part of setting up, as a context. On a terminal its line is written over, with a bar and
    the time left; in a pipe there is a line at the start and one for each fifth.

    Several phases of one name add up in `summary`.
    """

    def __init__(self, name: str, words: str) -> None:
        self._name, self._words = name, words
        self._moves = sys.stdout.isatty() and not is_plain()
        self._started = self._updated = time.monotonic()
        self._fraction = 0.0
        self._fifth = 0
        self._ended = threading.Event()

    def __enter__(self) -> Phase:
        if self._moves:
            self._ticker = threading.Thread(target=self._tick, daemon=True)
            self._ticker.start()
        else:
            print(f"{self._words} ...", flush=True)
        return self

    def reached(self, fraction: float) -> None:
        """How much is done, from 0 to 1."""
        self._updated = time.monotonic()
        self._fraction = min(1.0, max(self._fraction, fraction))
        fifth = int(self._fraction * 5)
        if not self._moves and fifth > self._fifth:
            self._fifth = fifth
            print(f"  {fifth * 20} %{self._left()}", flush=True)

    def _left(self) -> str:
        elapsed = self._updated - self._started
        if elapsed < _SURE_AFTER or not 0.02 < self._fraction < 1:
            return ""
        left = elapsed * (1 - self._fraction) / self._fraction
        left -= time.monotonic() - self._updated
        return f", about {seconds(max(left, 1))} left"

    def _tick(self) -> None:
        while True:
            drawn = f"{bar(self._fraction, 1)} {int(self._fraction * 100):3} %{self._left()}"
            line = f"{self._words}  {drawn}"[: shutil.get_terminal_size().columns - 1]
            print(f"\r\x1b[K{line}", end="", flush=True)
            if self._ended.wait(0.5):
                return

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        took = time.monotonic() - self._started
        _took[self._name] = _took.get(self._name, 0.0) + took
        if self._moves:
            self._ended.set()
            self._ticker.join()
            how = "stopped after" if kind else "done in"
            print(f"\r\x1b[K{self._words}: {how} {seconds(took)}", flush=True)


def add(name: str, took: float) -> None:
    """Time of a part that shows no progress of its own."""
    _took[name] = _took.get(name, 0.0) + took


def carry_over() -> None:
    """Lets the process that replaces this one (exec) continue to count."""
    os.environ[_CARRIED] = json.dumps(_took)


def summary() -> str:
    """`Set up in 2 min 5 s: packages 20 s, device 1 min 33 s, ...`; '' where nothing was set up."""
    if not {"device", "configure", "packages", "compiler"} & set(_took):
        return ""
    parts = ", ".join(f"{name} {seconds(took)}" for name, took in _took.items())
    return f"Set up in {seconds(sum(_took.values()))}: {parts}"
