# SPDX-License-Identifier: MIT
"""Removes objects whose sources have changed, whatever the files' times say.

Make and Ninja compare times only: a source that is older than its object counts as built, although
`cp -p`, unzip or a clock that was set back gave it other text. A record in the build folder holds a
digest of every source as it was last built; the objects of those that differ are removed.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import stat
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from . import build_cache
from ..base.project import ROOT

_FOLDERS = ("common", "lessons", "solutions", "tests")
_LARGEST = 16 << 20  # bytes: a larger file is no source; its size and time stand for its text
_CLOCK_SLACK = 2_000_000_000  # nanoseconds: how coarse times of files may be

State = list  # [size, time of modification, time of change, inode, digest]


class Sources:
    """The sources that a build folder was made from, and those that are there now."""

    def __init__(self, folder: Path, student_file: Path | None = None) -> None:
        self._folder = folder
        self._record = folder / "workbook" / "contents.json"
        self._student_file = student_file
        self._built, self._known = self._load()

    def _load(self) -> tuple[int, dict[str, State] | None]:
        try:
            noted = json.loads(self._record.read_text(encoding="utf-8"))
            return int(noted["built"]), dict(noted["files"])
        except (OSError, ValueError, KeyError, TypeError):
            return 0, None

    def _save(self) -> None:
        self._record.parent.mkdir(parents=True, exist_ok=True)
        fresh = self._record.with_suffix(f".{os.getpid()}")
        noted = {"built": time.time_ns(), "files": self._known}
        fresh.write_text(json.dumps(noted), encoding="utf-8")
        os.replace(fresh, self._record)

    def remove_stale(self) -> list[str]:
        """Removes every object made from other text than its sources hold now; returns them."""
        # A clock that was set back says nothing about what came first.
        jumped = self._undo_clock_jump()
        states = {path: _state(path, self._known or {}) for path in self._paths()}
        changed: dict[str, float] = {}  # when: an object that is younger was made from the new text
        new: dict[str, float] = {}  # by name: it may hide another file of that name
        for path, state in states.items():
            if not state:
                continue
            when = math.inf if jumped else state[2]
            if self._known is None:
                # Built by hand, so far: times are trusted, except for what a student edits.
                if self._is_students(path):
                    changed[path] = math.inf
            elif path not in self._known:
                name = os.path.basename(path)
                new[name] = max(when, new.get(name, 0))
            elif self._known[path][-1] != state[-1]:
                forgotten = not self._known[path][-1]
                changed[path] = math.inf if forgotten else when
        stale = _objects_from(changed, new, self._folder) if changed or new else []
        for name in stale:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name)
        self._known = {path: state for path, state in states.items() if state}
        self._save()
        return stale

    def _is_students(self, path: str) -> bool:
        return path == str(self._student_file) or path.startswith(str(ROOT / "lessons") + os.sep)

    def forget_changed(self) -> None:
        """Forgets what has changed since remove_stale: the compiler may have read either text."""
        assert self._known is not None
        for path, state in self._known.items():
            if _stat(path) != state[:-1]:
                self._known[path] = [*state[:-1], ""]
        self._save()

    def _paths(self) -> list[str]:
        found = []
        for top in _FOLDERS:
            for folder, folders, names in os.walk(ROOT / top):
                folders[:] = [name for name in folders if name != "__pycache__"]
                found += [os.path.join(folder, name) for name in names]
        if self._student_file and not self._student_file.is_relative_to(ROOT / "lessons"):
            with contextlib.suppress(OSError):
                beside = os.scandir(self._student_file.parent)
                found += [entry.path for entry in beside if entry.is_file()]
        return found

    def _undo_clock_jump(self) -> bool:
        """Gives outputs from the future the time of now: what is built next must be newer.

        Whether the clock was set back since the last build.
        """
        now = time.time_ns()
        if self._built <= now + _CLOCK_SLACK:
            return False
        for folder, _, names in os.walk(self._folder):
            for name in names:
                path = os.path.join(folder, name)
                with contextlib.suppress(OSError):
                    if os.lstat(path).st_mtime_ns > now:
                        os.utime(path, ns=(now, now), follow_symlinks=False)
        return True


def _stat(path: str) -> State | None:
    """Identifies a state of a regular file without reading it."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    return [found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino]


def _state(path: str, known: dict[str, State]) -> State | None:
    """Its state with a digest of its text; None for what is no regular file that can be read."""
    now = _stat(path)
    if now is None or (path in known and known[path][:-1] == now):
        return known[path] if now else None
    if now[0] > _LARGEST:
        return [*now, str(now)]
    try:
        return [*now, hashlib.sha256(Path(path).read_bytes()).hexdigest()]
    except OSError:
        return None


def _objects_from(changed: dict[str, float], new: dict[str, float], folder: Path) -> list[str]:
    """The objects made from a file before it changed, or before one of its name came to hide it."""
    found = []
    for made, read in (
        _ninja_lists(folder) if (folder / "build.ninja").is_file() else _lists(folder)
    ):
        when = max(
            max((changed.get(path, 0) for path in read), default=0),
            max((new.get(os.path.basename(path), 0) for path in read), default=0),
        )
        with contextlib.suppress(OSError):
            if when and when + _CLOCK_SLACK >= os.stat(made).st_mtime_ns:
                found.append(made)
    return found


def files_read_for(folder: Path, made: Path) -> set[str]:
    """The files that the compiler read for one object of a build folder; empty where unknown."""
    if (folder / "build.ninja").is_file():
        found = _ninja_lists(folder, os.path.relpath(made, folder))
        return next((read for _, read in found), set())
    with contextlib.suppress(OSError, IndexError):
        started_in = Path(str(made).partition("/CMakeFiles/")[0])
        return build_cache.files_read(Path(f"{made}.d"), started_in)
    return set()


def _lists(folder: Path) -> Iterator[tuple[str, set[str]]]:
    """Each object of a build folder of make's, and the files that its compiler read."""
    for depends in folder.rglob("*.o.d"):
        # Relative names are seen from where the compiler ran: where CMakeFiles lies.
        started_in = Path(str(depends).partition("/CMakeFiles/")[0])
        with contextlib.suppress(OSError, IndexError):  # a list that was cut short: no object
            yield str(depends)[: -len(".d")], build_cache.files_read(depends, started_in)


def _ninja_lists(folder: Path, *made_files: str) -> Iterator[tuple[str, set[str]]]:
    """The same of Ninja, which keeps the compilers' lists in a log of its own."""
    done = subprocess.run(
        ["ninja", "-C", str(folder), "-t", "deps", *made_files],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        errors="replace",
    )
    made, read = "", set()
    for line in done.stdout.splitlines():
        if line.startswith(" "):
            read.add(os.path.normpath(os.path.join(folder, line.strip())))
        elif made:
            yield made, read
            made = ""
        if ": #deps" in line:
            made, read = os.path.join(folder, line.partition(": #deps")[0]), set()
    if made:
        yield made, read
