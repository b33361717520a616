# SPDX-License-Identifier: MIT
"""A cache of compiler outputs: an output is reused only while none of its inputs has changed.

A record beside each output lists the files that the compiler read (from `-MD`) and the compilers
themselves, each with its size and modification time.
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
_CLOCK_TICK = 20_000_000  # nanoseconds: how much older than the clock a new file's time may be


def compile_start() -> int:
    """The time to pass to `record`, taken before the compiler starts."""
    return time.time_ns() - _CLOCK_TICK


def command_key(command: list[str]) -> list[str]:
    """The command with everything except files that decides its output."""
    return [*command, *(os.environ.get(name, "") for name in _VARIABLES), *_compilers(command)[:2]]


def size_and_time(path: str) -> list[int]:
    """Size and modification time of a file; -1 for both where it does not exist."""
    try:
        found = os.stat(path)
    except OSError:
        return [-1, -1]
    return [found.st_size, found.st_mtime_ns]


def cached_output(made: Path, record_file: Path) -> str | None:
    """What the compiler printed when it wrote `made`; None unless it would write the same today."""
    try:
        noted = json.loads(record_file.read_text(encoding="utf-8"))
        unchanged = made.is_file() and all(size_and_time(p) == [a, b] for p, a, b in noted["read"])
        text = str(noted["said"]) if unchanged else None
    except (OSError, ValueError, KeyError, TypeError):
        return None
    mark_used(record_file)
    return text


def mark_used(path: Path) -> None:
    """Sets the file's time to now, so that remove_unused leaves it."""
    with contextlib.suppress(OSError):
        os.utime(path)


def remove_unused(folder: Path, since: float) -> None:
    """Removes what was neither written nor used since then, objects together with their records."""
    with contextlib.suppress(OSError):
        for path in list(folder.iterdir()):
            marks = [path, path.with_suffix(".json")] if path.suffix == ".o" else [path]
            if max(size_and_time(str(mark))[1] for mark in marks) < since * 1e9:
                path.unlink(missing_ok=True)


def record(
    record_file: Path,
    said: str,
    command: list[str],
    read: Iterable[str],
    started: int,
) -> None:
    """Notes what an output was made from; no record where one of `read` changed since `started`."""
    paths = [*read, *_compilers(command)]
    if any(size_and_time(path)[1] >= started for path in paths):
        record_file.unlink(missing_ok=True)
        return
    draft = record_file.with_name(f"{record_file.name}.{os.getpid()}-{time.monotonic_ns()}")
    noted = {"said": said, "read": [[path, *size_and_time(path)] for path in paths]}
    draft.write_text(json.dumps(noted), encoding="utf-8")
    os.replace(draft, record_file)


def compile_cached(command: list[str], made: Path) -> str:
    """Runs an nvcc command that writes `made`, unless it would write the same again.

    Returns '' on success; otherwise the compiler's errors, and `made` does not exist.
    """
    record_file, depends = made.with_name(f"{made.name}.record"), made.with_name(f"{made.name}.d")
    wanted = "\n".join(command_key(command))
    if cached_output(made, record_file) == wanted:
        return ""
    record_file.unlink(missing_ok=True)
    started = compile_start()
    done = subprocess.run(
        [*command, "-MD", "-MF", str(depends)], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        made.unlink(missing_ok=True)
        return done.stderr.strip() or f"{command[0]} ended with {done.returncode}"
    record(record_file, wanted, command, files_read(depends, Path.cwd()), started)
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
