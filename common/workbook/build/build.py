# SPDX-License-Identifier: MIT
"""Configures and builds with CMake, and tells a student's compile error from a broken build."""

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
from ..base import disk, files, processor
from ..setup import headers, install, lesson_libraries, toolkit
from ..running import runner
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
_CONFIGURE_LINES = 30  # about what CMake prints in all
# What every lesson's program has beside its test.
PROGRAM = ("workbook_lesson_main", "workbook_catch_session")


def _say(text: str) -> None:
    print(text, flush=True)


def configured(folder: Path) -> bool:
    return (folder / "CMakeCache.txt").is_file() and any(
        (folder / name).is_file() for name in ("build.ninja", "Makefile")
    )


def moved(folder: Path) -> bool:
    """Whether this build folder was made for another place: CMake refuses such a one."""
    try:
        cache = (folder / "CMakeCache.txt").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    match = re.search(r"^CMAKE_HOME_DIRECTORY:INTERNAL=(.*)$", cache, re.MULTILINE)
    return bool(match) and match.group(1) != str(ROOT)


def _compiler_of(folder: Path) -> str:
    """The nvcc that CMake was given, or found by itself."""
    cache = (folder / "CMakeCache.txt").read_text(encoding="utf-8", errors="replace")
    match = re.search(r"^CMAKE_CUDA_COMPILER:\w+=(.*)$", cache, re.MULTILINE)
    return match.group(1) if match else ""


def configure(device: str, nvcc: Path) -> Path:
    """Runs CMake unless that was done; returns the build folder."""
    folder = build_folder(device)
    with only_one("configuring"):
        _configure(device, nvcc, folder)
    editors.write_commands(folder)
    return folder


def _configure(device: str, nvcc: Path, folder: Path) -> None:
    if moved(folder):
        _say(f"{folder.name}/ was made for another place: making it anew.")
        shutil.rmtree(folder)
    stamp = folder / "workbook-nvcc"
    compilers = "\n".join([str(nvcc), *filter(None, [os.environ.get("CXX")])])
    if configured(folder):
        # A folder that somebody has configured by hand is as good.
        by = stamp.read_text(encoding="utf-8") if stamp.is_file() else _compiler_of(folder)
        if by == compilers or (not stamp.is_file() and by == str(nvcc)):
            return
        (folder / "CMakeCache.txt").unlink()
        shutil.rmtree(folder / "CMakeFiles", ignore_errors=True)
    command = [
        "cmake",
        "-S",
        str(ROOT),
        "-B",
        str(folder),
        f"-DDEVICE={device}",
        f"-DCMAKE_CUDA_COMPILER={nvcc}",
        f"-DCUDAToolkit_ROOT={nvcc.resolve().parent.parent}",
    ]
    if cxx := os.environ.get("CXX"):
        command.append(f"-DCMAKE_CUDA_HOST_COMPILER={shutil.which(cxx) or cxx}")
    if device == "emulator":
        command.append(f"-DEMULATOR_CUDA_INCLUDE={headers.pinned(nvcc)}")
    if not any((folder / name).is_file() for name in ("build.ninja", "Makefile")):
        command += ["-G", "Ninja" if shutil.which("ninja") else "Unix Makefiles"]
    elif (folder / "build.ninja").is_file():
        command += ["-G", "Ninja"]
    folder.mkdir(parents=True, exist_ok=True)
    stamp.unlink(missing_ok=True)
    with Phase("configure", f"Configuring {folder.name}/") as phase:
        code, text = _run_cmake(command, phase)
    if code != 0:
        (folder / "CMakeCache.txt").unlink(missing_ok=True)
        disk.stop_if_full(text, *_written(folder))
        if said := toolkit.misfit(nvcc):
            raise WorkbookError(
                f"{nvcc} does not work with this g++: {said}",
                "an older g++: apt-get install g++-12, then make CXX=g++-12; "
                "or a newer nvcc: make WORKBOOK_NVCC=wheels",
            )
        _say("\n".join(text.splitlines()[-25:]))
        raise WorkbookError(
            f"CMake could not configure {folder.name}/ (its last lines are above)",
            "make doctor shows what was found; after mending it, run make again",
        )
    stamp.write_text(compilers, encoding="utf-8")


def _run_cmake(command: list[str], phase: Phase) -> tuple[int, str]:
    """Its exit code and output. It says nothing of how far it is: what it prints is counted."""
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
        env=_env(),
    )  # fmt: skip
    assert process.stdout is not None
    said = []
    with process:
        for line in process.stdout:
            said.append(line)
            phase.reached(len(said) / _CONFIGURE_LINES)
    return process.returncode, "".join(said)


def _written(folder: Path) -> tuple[Path, Path]:
    """Where a build writes: compilers put what one part says to the next beside it."""
    return folder, Path(tempfile.gettempdir())


def _env() -> dict[str, str]:
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
    with only_one("building"):
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
        disk.stop_if_full(built.text, *_written(folder))
        _say(first_failure(built.text))
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
        text=True, errors="replace", env=_env(), cwd=where, start_new_session=True,
    )  # fmt: skip
    assert process.stdout is not None
    said = []
    late = threading.Event()

    def stop() -> None:
        late.set()
        runner.kill_group(process.pid)

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
        runner.kill_group(process.pid)
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
    # Only now: a compiler's errors are told sooner, and without trying a home folder on a network.
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


def ensure_device(device: str, nvcc: Path, lesson: Lesson | None = None) -> Path:
    """The build folder with what every lesson needs: for the emulator, the device itself. The first
    time also the test of `lesson`, so that no core waits for another.
    """
    folder = configure(device, nvcc)
    if device != "emulator":
        return folder
    stamp = folder / "emulator" / "workbook-built"
    built_for = stamp.read_text(encoding="utf-8").strip() if stamp.exists() else ""
    if built_for == processor.name() and (folder / "emulator" / "emulate").exists():
        return folder  # a lesson's target rebuilds the device where its sources changed
    if built_for:
        _say(f"The device was built for a {built_for} processor; this one is {processor.name()}.")
        _choose_handlers_anew(folder)
    targets = ["emulator_cudart", "emulate", self_test.TARGET, *PROGRAM]
    if lesson:
        targets.append(f"lesson_test_{lesson.id}")
    with Phase("device", "Building the emulated device") as phase:
        built = build(folder, targets, reached=phase.reached)
    if not built.ok:
        disk.stop_if_full(built.text, *_written(folder))
        _say(first_failure(built.text))
        raise WorkbookError(
            "the emulated device did not build (the first error is above)",
            "this is the workbook's own code: make clean, then make; if it stays, please report it",
        )
    self_test.require(folder / "emulator")
    stamp.write_text(processor.name(), encoding="utf-8")
    return folder


def _choose_handlers_anew(folder: Path) -> None:
    """For a folder that has moved to another machine: CMake asks the processor again."""
    with only_one("configuring"):
        subprocess.run(
            ["cmake", "-U", "EMULATOR_NATIVE_LEVEL", str(folder)], env=_env(), capture_output=True
        )


def gpu_count() -> int:
    """How many cards the driver lists."""
    if not shutil.which("nvidia-smi"):
        return 0
    done = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True)
    return 0 if done.returncode else len(re.findall(r"^GPU \d+:", done.stdout, re.MULTILINE))


def gpu_present() -> bool:
    """Whether the driver lists a card."""
    return gpu_count() > 0


def prepare(device: str, lesson: Lesson | None = None) -> Path:
    """From a fresh clone to a folder that can build lessons, `lesson` first."""
    if device == "gpu" and not gpu_present():
        raise WorkbookError(
            "DEVICE=gpu needs an NVIDIA card with its driver, and nvidia-smi lists none here",
            "without a card: make (the emulator is the default)",
        )
    return ensure_device(device, install.ensure(), lesson)
