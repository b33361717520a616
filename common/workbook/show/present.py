# SPDX-License-Identifier: MIT
"""`make present`: one page for the projector. It shows a lesson's pictures and ladders, and the
verdict on a lesson's file each time it is saved, as `make watch` does.

The page is served to this machine only. Grading happens in the main thread; the page hears of it
by server-sent events.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import os
import queue
import re
import select
import threading
from collections.abc import Callable, Iterator
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from rich.console import Console

from ..base import options
from ..base.project import ROOT, USAGE, Lesson, WorkbookError, find_lesson, lessons
from ..build import folders
from ..judge import progress
from ..judge.grade import Grade
from ..lesson import index
from . import grade_screen, watch

_PAGE = Path(__file__).resolve().parent / "present_page"
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_FIGURE = re.compile(r"!\[([^\]]*)\]\((?:\.\./)+(plots/figures/(\w+\.svg))\)")
PORT = 8018
_COLUMNS = 72  # of the verdict: what a projector shows in large type
_POLL_SECONDS = 0.25
_KEEP_ALIVE_SECONDS = 10


def figures_of(lesson: Lesson) -> list[dict[str, str]]:
    """The figures on a lesson's page, in its order, with the words that describe them."""
    text = (lesson.folder / "README.md").read_text(encoding="utf-8")
    return [
        {"name": name, "text": text_of}
        for text_of, path, name in _FIGURE.findall(text)
        if (lesson.root / path).is_file()
    ]


def as_slides(known: list[Lesson], first: Lesson) -> dict[str, Any]:
    """What the page shows of every lesson."""
    return {
        "first": first.number,
        "lessons": [
            {
                "number": one.number,
                "title": one.title,
                "goal": re.sub(r"[`\\]", "", index.goal(one)),  # Markdown of a table
                "file": f"lessons/{one.id}/{one.slug}.cu",
                "figures": figures_of(one),
            }
            for one in known
        ],
    }


def as_event(result: Grade) -> dict[str, Any]:
    """A verdict as the page shows it: the student's own screen, in narrow lines."""
    out = io.StringIO()
    console = Console(file=out, width=_COLUMNS, highlight=False, emoji=False, markup=False)
    grade_screen.show_grade(result, console, advice=False)
    lines = [line.rstrip() for line in out.getvalue().splitlines()]
    return {
        "state": "graded",
        "lesson": result.lesson.number,
        "passed": result.passed,
        "grades": [
            ["correct", result.correct], ["safe", result.safe], ["efficient", result.efficient],
        ],
        "count": [result.cases_passed, len(result.results)],
        # Without the heading, which the page has itself.
        "lines": list(itertools.dropwhile(lambda line: not line.startswith(" "), lines)),
    }  # fmt: skip


class News:
    """The last event, and waiting for the next one."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._number = 0
        self._event: dict[str, Any] = {"state": "waiting"}

    def tell(self, event: dict[str, Any]) -> None:
        with self._changed:
            self._number += 1
            self._event = event
            self._changed.notify_all()

    def after(self, number: int, seconds: float) -> tuple[int, dict[str, Any]]:
        """The last event and its number, once that is another than `number`, or time is up."""
        with self._changed:
            self._changed.wait_for(lambda: self._number != number, seconds)
            return self._number, self._event


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, port: int, slides: dict[str, Any], news: News) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.slides, self.news = slides, news
        self.wanted: queue.Queue[str] = queue.Queue()  # numbers of lessons to grade
        self.figures = {one["name"] for lesson in slides["lessons"] for one in lesson["figures"]}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nothing: a page that was closed in the middle of an answer is no trouble."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def _from_here(self) -> bool:
        """Whether the page asks, and not another site through a name that leads here."""
        port = self.server.server_port
        hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        origin = self.headers.get("Origin")
        return self.headers.get("Host") in hosts and (
            origin is None or origin.removeprefix("http://") in hosts
        )

    def do_GET(self) -> None:
        path = self.path.partition("?")[0].lstrip("/") or "index.html"
        if not self._from_here():
            self._answer(HTTPStatus.FORBIDDEN)
        elif path == "slides.json":
            self._answer(HTTPStatus.OK, json.dumps(self.server.slides).encode(), "application/json")
        elif path == "events":
            self._events()
        elif path in ("index.html", "present.css", "present.js", "icon.svg"):
            self._file(_PAGE / path)
        elif path.startswith("figures/") and path.removeprefix("figures/") in self.server.figures:
            self._file(ROOT / "plots" / path)
        else:
            self._answer(HTTPStatus.NOT_FOUND)

    def do_POST(self) -> None:
        """/grade/18: grade that lesson's file now. Only by a script of the page itself."""
        match = re.fullmatch(r"/grade/(\d\d)", self.path)
        if not self._from_here() or self.headers.get("X-Present") != "1":
            self._answer(HTTPStatus.FORBIDDEN)
        elif match:
            self.server.wanted.put(match.group(1))
            self._answer(HTTPStatus.NO_CONTENT)
        else:
            self._answer(HTTPStatus.NOT_FOUND)

    def _file(self, path: Path) -> None:
        self._answer(HTTPStatus.OK, path.read_bytes(), _TYPES[path.suffix])

    def _answer(self, status: HTTPStatus, body: bytes = b"", kind: str = "text/plain") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        if status != HTTPStatus.NO_CONTENT:
            self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        # A figure has styles of its own in it.
        self.send_header("Content-Security-Policy",
                         "default-src 'self'; style-src 'self' 'unsafe-inline'")  # fmt: skip
        self.end_headers()
        self.wfile.write(body)

    def _events(self) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Connection", "close")
        self.end_headers()
        number = -1
        with contextlib.suppress(OSError):  # the page has been closed
            while True:
                before = number
                number, event = self.server.news.after(number, _KEEP_ALIVE_SECONDS)
                told = {**event, "old": before == -1}  # reported before this page listened
                text = ": still here\n\n" if number == before else f"data: {json.dumps(told)}\n\n"
                self.wfile.write(text.encode())
                self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the terminal is for what happens."""


def _wanted_port() -> int | None:
    named = options.text("PORT")
    if not named:
        return None
    if not named.isdigit() or not 1 <= int(named) <= 65535:
        raise WorkbookError(f"PORT={named} is no port", f"make present PORT={PORT}", USAGE)
    return int(named)


@contextlib.contextmanager
def serving(slides: dict[str, Any], news: News) -> Iterator[_Server]:
    """The server, in a thread: on PORT, else on its usual port, else on any that is free."""
    port = _wanted_port()
    try:
        server = _Server(port or PORT, slides, news)
    except OSError as error:
        if port:
            raise WorkbookError(
                f"port {port} is not free ({error.strerror})", "choose another: PORT=8019"
            ) from error
        server = _Server(0, slides, news)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def present(grade: Callable[[Lesson], Grade]) -> int:
    """Serves until Ctrl-C."""
    known = [one for one in lessons() if one.student_file.is_file()]
    if not known:
        raise WorkbookError("there is no lesson's file to watch", "make skeletons writes them")
    data = progress.load()
    named = options.text("LESSON")
    unsolved = (one for one in known if not progress.solved(one, data))
    first = find_lesson(named) if named else next(unsolved, known[0])
    files, news = watch.Files(known), News()

    def run(lesson: Lesson) -> None:
        news.tell({"state": "grading", "lesson": lesson.number})
        print(f"lesson {lesson.number}: ", end="", flush=True)
        try:
            result = grade(lesson)
        except WorkbookError as error:
            print(error)
            if error.log:
                print(error.log)
            lines = f"  error: {error}\n  to do: {error.to_do}".splitlines()
            news.tell({"state": "failed", "lesson": lesson.number, "lines": lines})
            return
        progress.remember(result)
        print("passes" if result.passed else "does not pass yet", flush=True)
        news.tell(as_event(result))

    with serving(as_slides(known, first), news) as server, watch.events(known) as saved:
        print(f"{server.url}  (this machine only; Ctrl-C ends it)")
        print(
            "Open it in a browser; ? shows the keys. Saving a lesson's file grades it.", flush=True
        )
        while True:
            if select.select([saved], [], [], _POLL_SECONDS)[0]:
                with contextlib.suppress(OSError):
                    os.read(saved, 4096)
            if lesson := files.changed():
                run(lesson)
            with contextlib.suppress(queue.Empty):
                run(find_lesson(server.wanted.get_nowait()))


def run() -> int:
    """The command."""
    from ..judge import grade as grader

    folder = folders.prepare("emulator")
    return present(lambda one: grader.grade_lesson(one, "emulator", folder))
