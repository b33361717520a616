# SPDX-License-Identifier: MIT
"""Build folders: configured with CMake, with the emulated device in them, and removed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from ..base import disk, processor
from ..base.lock import only_one
from ..base.phases import Phase
from ..base.project import PASSED, ROOT, Lesson, WorkbookError, build_folder, devices_wanted
from ..setup import cards, headers, install, toolkit
from . import build, editors, self_test

_CONFIGURE_LINES = 30  # about what CMake prints in all


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
        build.say(f"{folder.name}/ was made for another place: making it anew.")
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
        disk.stop_if_full(text, *build.written(folder))
        if said := toolkit.misfit(nvcc):
            raise WorkbookError(
                f"{nvcc} does not work with this g++: {said}",
                "an older g++: apt-get install g++-12, then make CXX=g++-12; "
                "or a newer nvcc: make WORKBOOK_NVCC=wheels",
            )
        build.say("\n".join(text.splitlines()[-25:]))
        raise WorkbookError(
            f"CMake could not configure {folder.name}/ (its last lines are above)",
            "make doctor shows what was found; after mending it, run make again",
        )
    stamp.write_text(compilers, encoding="utf-8")


def _run_cmake(command: list[str], phase: Phase) -> tuple[int, str]:
    """Its exit code and output. It says nothing of how far it is: what it prints is counted."""
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
        env=build.environment(),
    )  # fmt: skip
    assert process.stdout is not None
    said = []
    with process:
        for line in process.stdout:
            said.append(line)
            phase.reached(len(said) / _CONFIGURE_LINES)
    return process.returncode, "".join(said)


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
        build.say(f"The device was built for a {built_for} processor; this one is {processor.name()}.")
        _choose_handlers_anew(folder)
    targets = ["emulator_cudart", "emulate", self_test.TARGET, *build.PROGRAM]
    if lesson:
        targets.append(f"lesson_test_{lesson.id}")
    with Phase("device", "Building the emulated device") as phase:
        built = build.build(folder, targets, reached=phase.reached)
    if not built.ok:
        disk.stop_if_full(built.text, *build.written(folder))
        build.say(build.first_failure(built.text))
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
            ["cmake", "-U", "EMULATOR_NATIVE_LEVEL", str(folder)], env=build.environment(), capture_output=True
        )


def prepare(device: str, lesson: Lesson | None = None) -> Path:
    """From a fresh clone to a folder that can build lessons, `lesson` first."""
    if device == "gpu" and not cards.present():
        raise WorkbookError(
            "DEVICE=gpu needs an NVIDIA card with its driver, and nvidia-smi lists none here",
            "without a card: make (the emulator is the default)",
        )
    return ensure_device(device, install.ensure(), lesson)


def prepare_all() -> int:
    """`make prepare`: the build folders of all devices that are wanted."""
    for device in devices_wanted():
        prepare(device)
    return PASSED


def clean() -> int:
    """`make clean`: removes what was built, and nothing of the student's."""
    with only_one("cleaning"):
        for device in ("emulator", "gpu"):
            shutil.rmtree(build_folder(device), ignore_errors=True)
        for path in (ROOT / ".workbook").glob("setup.json"):
            path.unlink()
    print("Removed what was built. Your progress, backups and lessons are kept.")
    return PASSED
