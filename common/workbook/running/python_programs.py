# SPDX-License-Identifier: MIT
"""Python on the emulated device: `make python` installs the libraries and builds the stand-ins that
CuPy opens, `make python-05` runs the programs of a lesson's "In Python" section. With DEVICE=gpu
they run on this machine's card.

A lesson whose interface declares functions of C is built as a library, libslug.so, which its
programs load with ctypes.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from ..base import disk
from ..base.phases import Phase
from ..base.project import (
    NOT_PASSED,
    PASSED,
    Lesson,
    WorkbookError,
    devices_wanted,
    relative,
    state_folder,
)
from ..build import build, folders
from ..setup import lesson_libraries, pypi, toolkit

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
    "nvidia-curand==10.4.*",  # curand_kernel.h
    "numba==0.68.1",
    "numpy==2.4.*",
)
DOWNLOAD_MIB, DISK_MIB = 440, 1150
# Compiled here: PyPI has its source only.
PYCUDA = ("pycuda==2026.1", "mako==1.*")
_OLDEST = (3, 11)  # NumPy 2.4


def environment() -> Path:
    """Where the libraries are."""
    return state_folder() / "cuda-python"


def interpreter() -> Path | None:
    """The Python with the libraries; None before `make python`."""
    named = os.environ.get("WORKBOOK_CUDA_PYTHON")
    python = Path(named) if named else environment() / "bin" / "python"
    return python if python.exists() else None


def run(lesson: Lesson | None) -> int:
    """`make python` and `make python-NN`."""
    device = devices_wanted()[0]
    return run_lesson(lesson, device) if lesson else set_up(device)


def set_up(device: str) -> int:
    """Installs the libraries, unless they are there, and builds the stand-ins that they open."""
    oldest = ".".join(map(str, _OLDEST))
    new = pypi.ensure_optional(
        environment(),
        PACKAGES,
        f"Numba, CuPy and NVIDIA's compilers for them (which need Python {oldest} or newer) have",
        DOWNLOAD_MIB,
        DISK_MIB,
        "make python",
    )
    if not new:
        print(f"Numba and CuPy are in {relative(environment())}: {len(PACKAGES)} packages.")
    folder = folders.prepare(device)
    if device == "emulator":
        targets = lesson_libraries.require_for_python(folder)
        build.build_own(folder, targets, "Building stand-ins for CuPy's libraries")
    _add_pycuda(folder)
    print("Now: make python-01, or build/emulator/emulate .workbook/cuda-python/bin/python x.py")
    return PASSED


def _add_pycuda(folder: Path) -> None:
    """Compiles PyCUDA, once; the others work without it."""
    stamp = environment() / "pycuda.txt"
    wanted = "\n".join(PYCUDA) + "\n"
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        print(f"PyCUDA is there, too: {PYCUDA[0]}.")
        return
    print(
        f"PyCUDA is compiled for {relative(environment())}:\n"
        "  about 3 MB to download from PyPI, 25 MB on disk, a few minutes.\n  "
        + "\n  ".join(PYCUDA),
        flush=True,
    )
    more = {"LIBRARY_PATH": os.pathsep.join(_with_more("LIBRARY_PATH", folder / "emulator"))}
    if nvcc := toolkit.present_nvcc():
        more["PATH"] = os.pathsep.join(_with_more("PATH", nvcc.resolve().parent))
    with Phase("packages", "Compiling it"):
        problem = pypi.add(environment(), list(PYCUDA), more)
    if problem:
        disk.stop_if_full(problem)
        print(
            f"{problem}\nPyCUDA could not be compiled (pip's last lines are above): it needs g++, "
            "CUDA's headers and\nPython.h (apt-get install python3-dev). Numba and CuPy work "
            "without it."
        )
        return
    stamp.write_text(wanted, encoding="utf-8")


def _with_more(variable: str, folder: Path) -> list[str]:
    """A variable's folders after this one."""
    return [str(folder), *filter(None, [os.environ.get(variable)])]


def programs_of(readme: str) -> list[str]:
    """The Python programs in a README's section "In Python" that use a device."""
    section = re.search(r"^## In Python\n(.*?)(?=^## |\Z)", readme, re.MULTILINE | re.DOTALL)
    blocks = re.findall(r"^```python\n(.*?)^```", section.group(1) if section else "", re.M | re.S)
    return [
        block
        for block in blocks
        if re.search(r"^(import|from) (numba|cupy|cuda)|^\w+ = ctypes\.CDLL\(", block, re.M)
        and not re.search(r"^(import|from) mpi4py", block, re.M)  # a part of several processes
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
    # What the lesson's file may not define is compared with the names of its test.
    build.build_own(build_folder, [f"lesson_test_{lesson.id}"], "Building the lesson's test")
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
    folder = folders.prepare(device)
    if device == "emulator":  # what has changed since they were built
        targets = ["emulate", "emulator_cudart", *lesson_libraries.built_for_python(folder)]
        build.build_own(folder, targets, "Building the emulated device")
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
