# SPDX-License-Identifier: MIT
"""Builds with CMake, and tells a student's compile error from a broken build."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from . import compile_commands, editors, refusals, self_test, stale_outputs
from ..base import disk, files, processes, processor
from ..setup import headers, install, lesson_libraries, toolkit
from .link_errors import in_words as link_errors
from ..base.lock import only_one
from ..base.phases import Phase
from ..base.project import ROOT, Lesson, WorkbookError, build_folder, cores


@dataclass
class Built:
    """A target's build: `text` holds the compiler's warnings, or its errors when `ok` is False."""

    ok: bool
    text: str = ""
    stage: str = ""  # compile, link or build: what failed; refused: what may not be graded


# What one process of the compiler may take, and a build of a lesson in all.
_COMPILER_SECONDS, _COMPILER_MEMORY = 120, 8 << 30
_BUILD_SECONDS = (
    600  # of a student's file: one that waits for a pipe takes no time of the processor
)
# What every lesson's program has beside its test.
PROGRAM = ("workbook_lesson_main", "workbook_catch_session")


def say(text: str) -> None:
    print(text, flush=True)


def written(folder: Path) -> tuple[Path, Path]:
    """Where a build writes: compilers put what one part says to the next beside it."""
    return folder, Path(tempfile.gettempdir())


def environment() -> dict[str, str]:
    """The variables of CMake and of what it starts."""
    env = dict(os.environ)
    # Inherited from make, and understood by the make that CMake starts.
    for name in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "DEVICE"):
        env.pop(name, None)
    env["CLICOLOR_FORCE"] = "0"
    env["NINJA_STATUS"] = "[%f/%t] "  # what _done reads
    return env


def build(
    folder: Path,
    targets: list[str],
    show: str = "",
    reached: Callable[[float], None] | None = None,
    student_file: Path | None = None,
    native: list[str] | None = None,
) -> Built:
    """Builds targets; output is captured. What to compile follows from the sources' contents.

    `show` names the phase that is seen meanwhile; `reached` is called with what is done, from 0 to
    1; `native` are options of make or ninja itself.
    """
    if show:
        with Phase("build", show) as phase:
            return build(folder, targets, reached=phase.reached)
    if stand_ins := lesson_libraries.require(folder, targets):
        build_own(folder, stand_ins, "Building stand-ins for the lesson's libraries")
    command = ["cmake", "--build", str(folder), "-j", str(cores()), "--target", *targets]
    command += ["--", *native] if native else []
    with only_one(f"building {targets[0]}"):
        sources = stale_outputs.Sources(folder, student_file)
        sources.remove_stale()
        if student_file:
            code, text = _run(_limited(command), reached, seconds=_BUILD_SECONDS)
        else:
            code, text = _run(command, reached)
        sources.forget_changed()
        return Built(code == 0, text, "build")


def build_own(folder: Path, targets: list[str], show: str) -> None:
    """Builds targets that hold none of a student's code, or raises."""
    built = build(folder, targets, show)
    if not built.ok:
        disk.stop_if_full(built.text, *written(folder))
        say(first_failure(built.text))
        raise WorkbookError(
            f"{', '.join(targets)} did not build (the first error is above)",
            "this is the workbook's own code: make clean, then make; if it stays, please report it",
        )


def _limited(command: list[str]) -> list[str]:
    """The command, where no process that it starts may take more than a compiler needs."""
    limits = f"ulimit -t {_COMPILER_SECONDS}; ulimit -v {_COMPILER_MEMORY >> 10}"
    return ["/bin/sh", "-c", f'{limits}; exec "$@"', "sh", *command]


def _run(
    command: list[str],
    reached: Callable[[float], None] | None = None,
    where: Path | None = None,
    seconds: float = 24 * 3600,
) -> tuple[int, str]:
    """Exit code and output; nothing that it started is left, however this ends."""
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, errors="replace", env=environment(), cwd=where, start_new_session=True,
    )  # fmt: skip
    assert process.stdout is not None
    said = []
    late = threading.Event()

    def stop() -> None:
        late.set()
        processes.kill_group(process.pid)

    timer = threading.Timer(seconds, stop)
    timer.daemon = True
    timer.start()
    try:
        with process:
            for line in process.stdout:
                said.append(line)
                done = _done(line) if reached else None
                if reached and done is not None:
                    reached(done)
    finally:
        timer.cancel()
        processes.kill_group(process.pid)
    if late.is_set():
        said.append(f"error: stopped after {seconds:g} s\n")
    return process.returncode, files.printable("".join(said))


def build_all(folder: Path, targets: list[str], show: str) -> None:
    """Builds what can be built of these; the next build of one that cannot says why."""
    keep_going = "-k0" if (folder / "build.ninja").is_file() else "-k"
    with Phase("build", show) as phase:
        build(folder, targets, reached=phase.reached, native=[keep_going])


def _done(line: str) -> float | None:
    """How far ninja (`[3/40]`) or make (`[ 7%]`) says it is."""
    if match := re.match(r"\[(\d+)/(\d+)\]", line):
        return int(match.group(1)) / max(1, int(match.group(2)))
    match = re.match(r"\[ *(\d+)%\]", line)
    return int(match.group(1)) / 100 if match else None


def warnings_about(text: str, source: Path) -> list[str]:
    """The compiler's warnings about one file in a build's output, each once: nvcc compiles a file
    twice, for host and device. Advice on how to silence warnings is left out.
    """
    blocks: list[list[str]] = []
    keep = False
    for line in text.splitlines():
        if str(source) in line or f"{source.parent.name}/{source.name}" in line:
            keep = " warning" in line
            if keep:
                blocks.append([])
        elif re.match(r"^\[\d+/\d+\]|^(ninja|make|gmake|cmake)\b", line):
            keep = False
        if keep and line.strip() and not line.startswith("Remark: The warnings can be suppressed"):
            blocks[-1].append(tidy(line))
    told: list[list[str]] = []
    for block in blocks:
        if block not in told:
            told.append(block)
    return [line for block in told for line in block]


def tidy(text: str) -> str:
    """Paths relative to the repository, so that a line is short and names the student's file."""
    return text.replace(str(ROOT) + os.sep, "")


def build_student_file(
    folder: Path, target: str, source: Path, reached: Callable[[float], None] | None = None
) -> Built:
    """Builds one lesson's program. A failure says whether the file does not compile, does not link,
    or holds what no lesson's file may.
    """
    if reasons := refusals.of_names_in_source(source):
        return Built(False, "\n".join(reasons), "refused")
    built = build(folder, [target], reached=reached, student_file=source)
    if built.ok:
        if reasons := refusals.of_target(folder, target, source):
            return Built(False, "\n".join(reasons), "refused")
        return Built(True, "\n".join(warnings_about(built.text, source)))
    disk.stop_if_full("", Path(tempfile.gettempdir()))
    found = compile_commands.of(folder, source, target)
    if found:
        command, where = found
        code, text = _run(_limited(_to_null_output(command)), where=where, seconds=_BUILD_SECONDS)
        if code != 0:
            return Built(False, tidy(text).strip() + _stopped(text), "compile")
    # Checked last: trying for room takes a while on a network's home folder, and errors come first.
    disk.stop_if_full(built.text, folder)
    if found and (reasons := refusals.of_target(folder, target, source)):
        return Built(False, "\n".join(reasons), "refused")
    if lines := link_errors(built.text, source):
        return Built(False, "\n".join(lines), "link")
    return Built(False, tidy(built.text).strip(), "build")


def _stopped(text: str) -> str:
    """A sentence where the compiler did not end by itself."""
    if not re.search(r"died due to signal|memory exhausted|out of memory|bad_alloc|Killed", text):
        return ""
    return (
        f"\nthe compiler was stopped: it may take {_COMPILER_SECONDS} s and "
        f"{_COMPILER_MEMORY >> 30} GiB for one file"
    )


def first_failure(text: str, lines: int = 30) -> str:
    """The part of a build's output that says what went wrong first."""
    kept = tidy(text).splitlines()
    start = next(
        (n for n, line in enumerate(kept) if line.startswith("FAILED") or "rror:" in line), None
    )
    chosen = kept[-lines:] if start is None else kept[start : start + lines]
    return "\n".join(line for line in chosen if not re.match(r"^\[\d+/\d+\]", line))


def _to_null_output(command: list[str]) -> list[str]:
    out = list(command)
    for at, word in enumerate(out[:-1]):
        if word == "-o":
            out[at + 1] = "/dev/null"
        if word in ("-MF", "-MT"):
            out[at + 1] = "/dev/null"
    return out
