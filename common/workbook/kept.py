# SPDX-License-Identifier: MIT
"""Whether what a compiler made may be used again: only while nothing that went into it has changed.

A record beside the output lists every file that the compiler read, by its own list (`-MD`), and the
compilers themselves, each with size and time.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path

# Variables that change what nvcc or g++ makes of the same command.
_VARIABLES = (
    "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "NVCC_CCBIN", "CPATH", "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH", "GCC_EXEC_PREFIX", "COMPILER_PATH",
)  # fmt: skip
_CLOCK_TICK = 20_000_000  # nanoseconds: a file's time may lag behind the clock by so much


def now() -> int:
    """The time to give to `write`, taken before the compiler starts."""
    return time.time_ns() - _CLOCK_TICK


def words(command: list[str]) -> list[str]:
    """The command with all that decides, beside files, what becomes of it."""
    return [*command, *(os.environ.get(name, "") for name in _VARIABLES), *_compilers(command)[:2]]


def stamp(path: str) -> list[int]:
    """Size and time of a file; no file has those of one that is gone."""
    try:
        found = os.stat(path)
    except OSError:
        return [-1, -1]
    return [found.st_size, found.st_mtime_ns]


def said(made: Path, record: Path) -> str | None:
    """The text that was noted when this file was made, if it would be made the same today."""
    try:
        noted = json.loads(record.read_text(encoding="utf-8"))
        unchanged = made.is_file() and all(stamp(p) == [a, b] for p, a, b in noted["read"])
        text = str(noted["said"]) if unchanged else None
    except (OSError, ValueError, KeyError, TypeError):
        return None
    mark_used(record)
    return text


def mark_used(path: Path) -> None:
    """Gives a kept file the time of now, so that remove_unused knows it."""
    with contextlib.suppress(OSError):
        os.utime(path)


def remove_unused(folder: Path, since: float) -> None:
    """Removes what was neither made nor used since that time; objects go with their records."""
    with contextlib.suppress(OSError):
        for path in list(folder.iterdir()):
            marks = [path, path.with_suffix(".json")] if path.suffix == ".o" else [path]
            if max(stamp(str(mark))[1] for mark in marks) < since * 1e9:
                path.unlink(missing_ok=True)


def write(
    record: Path,
    said: str,
    command: list[str],
    read: Iterable[str],
    started: int,
) -> None:
    """Notes what was made of the files `read`; nothing where one changed since `started`."""
    paths = [*read, *_compilers(command)]
    if any(stamp(path)[1] >= started for path in paths):
        record.unlink(missing_ok=True)
        return
    draft = record.with_name(f"{record.name}.{os.getpid()}-{time.monotonic_ns()}")
    noted = {"said": said, "read": [[path, *stamp(path)] for path in paths]}
    draft.write_text(json.dumps(noted), encoding="utf-8")
    os.replace(draft, record)


def compile_unless_kept(command: list[str], made: Path) -> str:
    """Runs an nvcc command that makes the file `made`, unless it would make the same again.

    '' when it is there; else what the compiler said, and then `made` is not there.
    """
    record, depends = made.with_name(f"{made.name}.record"), made.with_name(f"{made.name}.d")
    wanted = "\n".join(words(command))
    if said(made, record) == wanted:
        return ""
    record.unlink(missing_ok=True)
    started = now()
    done = subprocess.run(
        [*command, "-MD", "-MF", str(depends)], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        made.unlink(missing_ok=True)
        return done.stderr.strip() or f"{command[0]} ended with {done.returncode}"
    write(record, wanted, command, files_read(depends, Path.cwd()), started)
    return ""


def files_read(depends: Path, folder: Path) -> set[str]:
    """The files of a dependency list as make understands it; relative ones lie in `folder`."""
    text = depends.read_text(encoding="utf-8").replace("\\\n", " ").split(": ", 1)[1]
    names = [re.sub(r"\\(.)", r"\1", name) for name in re.findall(r"(?:\\.|\S)+", text)]
    return {os.path.normpath(folder / name) for name in names}


def _compilers(command: list[str]) -> list[str]:
    """nvcc and the host compiler that it starts, then what these two consist of."""
    # `command` may begin with the name of a compiler cache.
    named = next((word for word in command if os.path.basename(word).startswith("nvcc")), "nvcc")
    chosen = [w.split("=", 1)[1] for w in command if re.match("--?(ccbin|compiler-b.*)=", w)]
    host = [*chosen, os.environ.get("NVCC_CCBIN"), "gcc"]
    return _parts_of(shutil.which(named) or named, next(filter(None, host)))


@functools.cache
def _parts_of(nvcc: str, host: str) -> list[str]:
    found = shutil.which(host) or shutil.which("gcc", path=host) or host
    inner = subprocess.run([found, "-print-prog-name=cc1plus"], capture_output=True, text=True)
    folder = Path(nvcc).resolve().parent
    parts = [folder / name for name in ("nvcc", "nvcc.profile", "cudafe++", "fatbinary", "ptxas")]
    parts.append(folder.parent / "nvvm" / "bin" / "cicc")
    return [nvcc, os.path.realpath(found), *map(str, parts), inner.stdout.strip()]
