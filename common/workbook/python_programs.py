# SPDX-License-Identifier: MIT
"""Python on the emulated device: `make python` installs the libraries, `make python-05` runs the
programs of a lesson's "In Python" section. With DEVICE=gpu they run on this machine's card.

A lesson whose interface declares functions of C is built as a library, libslug.so, which its
programs load with ctypes.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from . import build, pypi
from .phases import Phase
from .project import NOT_PASSED, PASSED, Lesson, WorkbookError, relative, state_folder

# Tested releases, which tests/python runs; PYTHON.md of the emulator states them, too.
PACKAGES = (
    "numba-cuda==0.30.4",
    "cupy-cuda13x==14.2.0",
    "cuda-core==1.2.2",
    "cuda-bindings==13.5.0",
    "nvidia-cuda-nvrtc==13.5.*",
    "nvidia-nvvm==13.5.*",
    "nvidia-nvjitlink==13.5.*",
    "nvidia-cuda-cccl==13.*",
    "nvidia-cuda-runtime==13.5.*",
    "numba==0.68.1",
    "numpy==2.4.*",
)
DOWNLOAD_MIB, DISK_MIB = 365, 1100
_OLDEST = (3, 11)  # NumPy 2.4


def environment() -> Path:
    """Where the libraries are."""
    return state_folder() / "cuda-python"


def interpreter() -> Path | None:
    """The Python with the libraries; None before `make python`."""
    named = os.environ.get("WORKBOOK_CUDA_PYTHON")
    python = Path(named) if named else environment() / "bin" / "python"
    return python if python.exists() else None


def set_up() -> int:
    """Installs the libraries, unless they are there."""
    folder = environment()
    stamp = folder / "packages.txt"
    wanted = "\n".join(PACKAGES) + "\n"
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        print(f"Numba and CuPy are in {relative(folder)}: {len(PACKAGES)} packages as wanted.")
        return PASSED
    print(
        f"Numba, CuPy and NVIDIA's compilers for them go to {relative(folder)}:\n"
        f"  about {DOWNLOAD_MIB} MB to download from PyPI, {DISK_MIB} MB on disk.\n"
        f"  `rm -r {relative(folder)}` removes them.\n  " + "\n  ".join(PACKAGES)
    )
    with Phase("python", "installing Numba and CuPy") as phase:
        problem = pypi.install(folder, list(PACKAGES), phase)
    if problem:
        pypi.stop_on_full_disk(problem)
        raise WorkbookError(
            f"the libraries could not be installed:\n{problem}",
            f"they need Python {'.'.join(map(str, _OLDEST))} or newer and a way to pypi.org; "
            "then make python again",
        )
    stamp.write_text(wanted, encoding="utf-8")
    print("Now: make python-01, or build/emulator/emulate .workbook/cuda-python/bin/python x.py")
    return PASSED


def programs_of(readme: str) -> list[str]:
    """The Python programs in a README's section "In Python" that use a device."""
    section = re.search(r"^## In Python\n(.*?)(?=^## |\Z)", readme, re.MULTILINE | re.DOTALL)
    blocks = re.findall(r"^```python\n(.*?)^```", section.group(1) if section else "", re.M | re.S)
    return [
        block
        for block in blocks
        if re.search(r"^(import|from) (numba|cupy|cuda)|^\w+ = ctypes\.CDLL\(", block, re.M)
    ]


def write_programs(lesson: Lesson) -> list[Path]:
    """The programs of a lesson as files, which findings can quote."""
    folder = state_folder() / "in_python"
    folder.mkdir(exist_ok=True)
    paths = []
    readme = (lesson.folder / "README.md").read_text(encoding="utf-8")
    for number, text in enumerate(programs_of(readme), 1):
        path = folder / (f"{lesson.id}.py" if number == 1 else f"{lesson.id}_{number}.py")
        path.write_text(text, encoding="utf-8")
        paths.append(path)
    return paths


def has_library(lesson: Lesson) -> bool:
    """Whether the lesson's interface declares functions of C, for other languages."""
    text = (lesson.folder / f"{lesson.slug}.h").read_text(encoding="utf-8")
    return re.search(r'^extern "C"', text, re.MULTILINE) is not None


def library_of(lesson: Lesson, build_folder: Path, kind: str = "lesson") -> Path:
    """The library that is built of the student's file, or of the solution (`kind`)."""
    return build_folder / "shared" / kind / f"lib{lesson.slug}.so"


def with_library(library: Path) -> dict[str, str]:
    """The environment in which ctypes finds the library by its name."""
    others = os.environ.get("LD_LIBRARY_PATH")
    path = f"{library.parent}:{others}" if others else str(library.parent)
    return {**os.environ, "LD_LIBRARY_PATH": path}


def build_library(lesson: Lesson, build_folder: Path) -> Path:
    """The library of the student's file as it is now."""
    library = library_of(lesson, build_folder)
    target = f"shared_lesson_{lesson.id}"
    with Phase("build", f"Building {library.name} from {relative(lesson.student_file)}"):
        built = build.build_student_file(build_folder, target, lesson.student_file)
    if not built.ok:
        print(built.text)
        raise WorkbookError(
            f"{library.name} was not built (see above)",
            f"make {lesson.number} says more about the file",
            NOT_PASSED,
        )
    return library


def run_lesson(lesson: Lesson, device: str) -> int:
    """Runs a lesson's programs on a device; the exit status of the first that fails."""
    paths = write_programs(lesson)
    if not paths:
        print(f"Lesson {lesson.number} has no Python program that uses a device.")
        return PASSED
    python = interpreter()
    if not python:
        raise WorkbookError("Numba and CuPy are not installed", "make python")
    folder = build.prepare(device)
    env = dict(os.environ)
    if has_library(lesson):
        env = with_library(build_library(lesson, folder))
    emulate = [str(folder / "emulator" / "emulate")] if device == "emulator" else []
    for path in paths:
        shown = f"{'emulate ' if emulate else ''}python {relative(path)}"
        print(f"$ {shown}", flush=True)
        code = subprocess.run([*emulate, python, path.name], cwd=path.parent, env=env).returncode
        if code:
            return code
    return PASSED
