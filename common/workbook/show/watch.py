# SPDX-License-Identifier: MIT
"""`make watch`: grades the lesson whose file was saved, shows it, and listens to single keys.

File events (watchdog) only wake the loop up early; what has changed is always read from the files
themselves twice a second, so that it also works where no events arrive: network file systems,
containers, some virtual machines.
"""

from __future__ import annotations

import contextlib
import os
import re
import select
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from ..base.project import PASSED, Lesson, WorkbookError, devices_wanted, lessons
from ..build import folders
from ..judge import progress
from ..judge.grade import Grade, grade_lesson
from ..pictures import picture
from . import explain, grade_screen, hints, problems, screen
from .pager import Pager

_POLL_SECONDS = 0.5
_KEY = re.compile(
    r"\x1b[\[O][0-9;]*[A-Za-z~]|.", re.DOTALL
)  # one key: an arrow is several characters
_KEYS = "h hint · p picture · e explain · s solution · r run again · l lessons · q quit"


@dataclass
class Files:
    """The students' files as they were last seen."""

    known: list[Lesson]
    seen: dict[str, tuple[int, int, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for lesson in self.known:
            self.seen[lesson.id] = self._state(lesson)

    @staticmethod
    def _state(lesson: Lesson) -> tuple[int, int, int]:
        try:
            stat = lesson.student_file.stat()
        except OSError:
            return (0, 0, 0)  # an editor that writes anew: the file will be back
        return stat.st_mtime_ns, stat.st_size, stat.st_ino

    def changed(self) -> Lesson | None:
        """The lesson saved since the last call, the latest of several."""
        found = None
        for lesson in self.known:
            state = self._state(lesson)
            if state != self.seen[lesson.id] and state != (0, 0, 0):
                self.seen[lesson.id] = state
                if found is None or state[0] > self._state(found)[0]:
                    found = lesson
        return found


class Session:
    """What watch knows and does; the terminal is elsewhere, so that a test can drive it."""

    def __init__(self, known: list[Lesson], grade: Callable[[Lesson], Grade]) -> None:
        self.known = known
        self.grade = grade
        self.lesson = self.next_unsolved() or known[0]
        self.result: Grade | None = None
        self.pager = Pager(_KEYS, on=not problems.wanted())  # editors read every line

    def next_unsolved(self) -> Lesson | None:
        data = progress.load()
        return next((one for one in self.known if not progress.solved(one, data)), None)

    def run(self, lesson: Lesson | None = None) -> None:
        """Grades and shows; after a pass the next unsolved lesson is the current one."""
        self.lesson = lesson or self.lesson
        screen.clear()
        print(f"Lesson {self.lesson.number}: building and running ...", flush=True)
        try:
            result = self.grade(self.lesson)
        except WorkbookError as error:
            with self.pager.page():
                _show_error(error)
                self.footer()
            return
        self.result = result
        progress.remember(result)
        if not self.pager.on:
            screen.clear()
        with self.pager.page():
            self._show(result)

    def _show(self, result: Grade) -> None:
        grade_screen.show_grade(result, advice=False)
        if result.passed:
            following = self.next_unsolved()
            if following is None:
                print("\nThat was the last one: every lesson is solved.")
            elif following.id != self.lesson.id:
                print(f"\nSolved. Next: lessons/{following.id}/README.md")
                print(f"Save lessons/{following.id}/{following.slug}.cu, or press r, to go on.")
                self.lesson = following
        self.footer()

    def footer(self) -> None:
        data = progress.load()
        count = sum(progress.solved(one, data) for one in self.known)
        out = screen.console()
        print()
        print(screen.bar(count, len(self.known)) + f" {count} of {len(self.known)} lessons solved")
        lesson = f"lessons/{self.lesson.id}/{self.lesson.slug}.cu"
        screen.wrapped(out, f"watching; save {lesson} to grade it", "")
        if not self.pager.on:
            print(_KEYS if out.width >= len(_KEYS) else _KEYS.replace(" · ", "\n"), flush=True)

    def key(self, pressed: str) -> bool:
        """Acts on one key; False ends the session."""
        if self.pager.key(pressed):
            return True
        pressed = pressed.lower()
        if pressed in ("q", "\x04", "\x03"):
            return False
        if pressed == "r":
            self.run()
            return True
        if pressed in ("h", "p", "e", "s", "l", "?"):
            with self.pager.page(more=True):
                self._answer(pressed)
        return True

    def _answer(self, pressed: str) -> None:
        graded = self.result.lesson if self.result else self.lesson
        if not self.pager.on:
            print()
        try:
            if pressed == "h":
                hints.show_hint(graded)
            elif pressed == "p":
                picture.make(graded)
            elif pressed == "e":
                found = self.result.merged_findings() if self.result else []
                if found:
                    explain.show(found[0].code)
                else:
                    print("There is no finding to explain: nothing unsafe was seen.")
            elif pressed == "s":
                hints.solution(graded)
            elif pressed == "l":
                screen.show_progress(self.known)
            else:
                print(_KEYS)
        except WorkbookError as error:
            _show_error(error)
        sys.stdout.flush()


def _show_error(error: WorkbookError) -> None:
    if error.log:
        print(error.log)
    print(f"error: {error}" + (f"\n  to do: {error.to_do}" if error.to_do else ""))


@contextlib.contextmanager
def _single_keys() -> Iterator[bool]:
    """Keys come at once and unseen while inside; yields whether there is a keyboard at all."""
    try:
        import termios
        import tty

        descriptor = sys.stdin.fileno()
        before = termios.tcgetattr(descriptor)
    except Exception:  # no terminal: a pipe, /dev/null, a closed stream
        yield False
        return
    try:
        tty.setcbreak(descriptor)
        yield True
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


@contextlib.contextmanager
def events(known: list[Lesson]) -> Iterator[int]:
    """A descriptor that becomes readable soon after a file was saved, where this is supported."""
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    os.set_blocking(writer, False)
    observer = None
    with contextlib.suppress(Exception):  # without events the loop still looks twice a second
        from watchdog.events import FileSystemEventHandler
        from watchdog.observers import Observer

        class Wake(FileSystemEventHandler):
            def on_any_event(self, event: object) -> None:
                with contextlib.suppress(OSError):
                    os.write(writer, b".")

        observer = Observer()
        for lesson in known:
            observer.schedule(Wake(), str(lesson.folder))
        observer.start()
    try:
        yield reader
    finally:
        if observer is not None:
            with contextlib.suppress(Exception):
                observer.stop()
                observer.join(timeout=2)
        os.close(reader)
        os.close(writer)


def watch(grade: Callable[[Lesson], Grade]) -> int:
    """The loop, until q, Ctrl-C, or the end of a keyboard that was there at first."""
    known = [lesson for lesson in lessons() if lesson.student_file.is_file()]
    if not known:
        raise WorkbookError("there is no lesson's file to watch", "make skeletons writes them")
    files = Files(known)
    session = Session(known, grade)
    with _single_keys() as keyboard, events(known) as saves:
        session.run()
        if not keyboard:
            print("(no keyboard here: Ctrl-C ends it)", flush=True)
        while True:
            descriptors = [saves] + ([sys.stdin.fileno()] if keyboard else [])
            ready, _, _ = select.select(descriptors, [], [], _POLL_SECONDS)
            if saves in ready:
                with contextlib.suppress(OSError):
                    os.read(saves, 4096)
            if keyboard and sys.stdin.fileno() in ready:
                pressed = os.read(sys.stdin.fileno(), 64).decode("utf-8", "replace")
                if not pressed or not all(session.key(one) for one in _KEY.findall(pressed)):
                    print()
                    return PASSED
            session.pager.resized()
            if saved := files.changed():
                session.run(saved)


def run() -> int:
    """`make watch`."""
    device = devices_wanted()[0]
    folder = folders.prepare(device)
    return watch(lambda one: grade_lesson(one, device, folder, screen.Status()))
