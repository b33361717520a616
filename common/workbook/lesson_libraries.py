# SPDX-License-Identifier: MIT
"""Libraries that single lessons call: installed and built when such a lesson is first built.

A lesson whose interface includes cublas_v2.h, cusolverDn.h or cufft.h is linked with stand-ins
(common/libraries), which need OpenBLAS, LAPACK and FFTW; on a card, with NVIDIA's own. The one for
nccl.h needs nothing else. One that includes mpi.h is linked with Open MPI, on either device
(common/cmake/WorkbookMpi.cmake).
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from . import files, install
from .install import Need
from .lock import only_one
from .phases import Phase
from .project import Lesson, WorkbookError, lessons

# By the header in the lesson's interface: NVIDIA's library, the beginning of the variables in which
# CMake has what its stand-in needs, and the package that has that.
_BY_HEADER = {
    "cublas_v2.h": (
        "cublas", "OPENBLAS",
        Need("libopenblas-dev", "computes in place of cuBLAS (105 MB)"),  # Debian
    ),
    "cusolverDn.h": (
        "cusolver", "LAPACKE",
        Need("liblapacke-dev", "computes in place of cuSOLVER (40 MB)"),  # Debian
    ),
    "cufft.h": (
        "cufft", "FFTW",
        Need("libfftw3-dev", "computes in place of cuFFT (25 MB)"),  # Debian
    ),
    "nccl.h": ("nccl", "", None),
    "mpi.h": (
        "mpi", "OPENMPI",
        Need("libopenmpi-dev", "Open MPI, with mpirun (55 MB)"),  # Debian
    ),
}  # fmt: skip
# No stand-in: the library itself, on a card as well.
_REAL = {"mpi.h"}
_PROPER = {"cublas": "cuBLAS", "cusolver": "cuSOLVER", "cufft": "cuFFT", "nccl": "NCCL",
           "mpi": "Open MPI"}  # fmt: skip


def _called_by(lesson: Lesson) -> list[str]:
    """The headers of `_BY_HEADER` that the lesson's interface includes."""
    try:
        text = files.read_text(lesson.folder / f"{lesson.slug}.h")
    except OSError:
        return []
    return [name for name in _BY_HEADER if f"#include <{name}>" in text]


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def require(folder: Path, targets: list[str]) -> list[str]:
    """Sees to the libraries of the lessons whose programs are to be built; returns the targets of
    stand-ins that have never been built, which come before the lesson's program.
    """
    numbers = {m.group(1) for t in targets if (m := re.search(r"(?:^|_)(\d\d)_", t))}
    unbuilt: list[str] = []
    for lesson in lessons() if numbers else []:
        if lesson.number not in numbers or not (headers := _called_by(lesson)):
            continue
        if not (folder / "lessons" / f"link_{lesson.id}.txt").is_file():
            _make_known(folder, lesson, headers)
        if _device_of(folder) == "emulator":
            names = [_BY_HEADER[header][0] for header in headers if header not in _REAL]
            unbuilt += [
                f"stand_in_{name}" for name in names
                if not (folder / "emulator" / f"lib{name}.so").exists()
            ]  # fmt: skip
    return list(dict.fromkeys(unbuilt))


def _cache(folder: Path) -> str:
    try:
        return (folder / "CMakeCache.txt").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _device_of(folder: Path) -> str:
    match = re.search(r"^DEVICE:\w+=(\w+)$", _cache(folder), re.MULTILINE)
    return match.group(1) if match else "emulator"


def _missing(folder: Path, headers: list[str]) -> list[Need]:
    """The packages of what CMake has not found. Headers prove nothing: several have cblas.h."""
    absent = re.findall(r"^([A-Z]+)_\w+:\w+=\w+-NOTFOUND$", _cache(folder), re.MULTILINE)
    # FFTW_LIBRARY and FFTWF_LIBRARY are of one package.
    found = [_BY_HEADER[header] for header in headers]
    return [need for _, name, need in found if need and any(one.startswith(name) for one in absent)]


def _configure(folder: Path, lesson: Lesson) -> tuple[bool, str]:
    """Whether CMake knows the lesson now, and what it has printed."""
    with only_one("configuring"), Phase("configure", "Configuring anew"):
        done = subprocess.run(["cmake", str(folder)], capture_output=True, text=True)
    known = (folder / "lessons" / f"link_{lesson.id}.txt").is_file()
    return known, done.stdout + done.stderr


def _make_known(folder: Path, lesson: Lesson, headers: list[str]) -> None:
    """Installs what is missing, and lets CMake look again: it has left this lesson out."""
    called = _listed([_PROPER[_BY_HEADER[header][0]] for header in headers])
    if _device_of(folder) == "gpu" and not _REAL.issuperset(headers):
        raise WorkbookError(
            f"lesson {lesson.number} calls {called}, which this CUDA toolkit does not include",
            "install NVIDIA's packages "
            + _listed([f"lib{_BY_HEADER[header][0]}-dev" for header in headers])
            + " of the toolkit's version; on the emulated device it works without them: make "
            + lesson.number,
        )
    known, said = _configure(folder, lesson)  # somebody may have installed them meanwhile
    if not known and (needs := _missing(folder, headers)):
        with only_one("setting up"):
            install.install_packages(
                needs,
                f"Lesson {lesson.number} calls {called}, which is missing here (sizes on disk):"
                if _REAL.issuperset(headers)
                else f"Lesson {lesson.number} calls {called}.\nOn the emulated device other "
                "libraries compute in their place, which are\nmissing here (sizes on disk):",
            )
        known, said = _configure(folder, lesson)
    if not known:
        print("\n".join(said.splitlines()[-15:]), flush=True)
        raise WorkbookError(
            f"CMake does not find the libraries of lesson {lesson.number} (its last lines are "
            "above): your file is not to blame, and was not graded",
            "sudo apt-get install --reinstall "
            + " ".join(need.package for header in headers if (need := _BY_HEADER[header][2]))
            + f"\n  then run make {lesson.number} again; the other lessons do not need them",
        )
