# SPDX-License-Identifier: MIT
"""Libraries that single lessons call: installed and built when such a lesson is first built.

A lesson whose interface includes cublas_v2.h, cusolverDn.h or cufft.h is linked with stand-ins
(common/libraries), which need OpenBLAS, LAPACK and FFTW; on a card, with NVIDIA's own.
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

# By the header in the lesson's interface: NVIDIA's library, the header that its stand-in includes,
# and the package that has it.
_BY_HEADER = {
    "cublas_v2.h": (
        "cublas", "cblas.h",
        Need("libopenblas-dev", "computes in place of cuBLAS (105 MB)"),  # Debian
    ),
    "cusolverDn.h": (
        "cusolver", "lapacke.h",
        Need("liblapacke-dev", "computes in place of cuSOLVER (40 MB)"),  # Debian
    ),
    "cufft.h": (
        "cufft", "fftw3.h",
        Need("libfftw3-dev", "computes in place of cuFFT (25 MB)"),  # Debian
    ),
}  # fmt: skip
_PROPER = {"cublas": "cuBLAS", "cusolver": "cuSOLVER", "cufft": "cuFFT"}


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
            names = [_BY_HEADER[header][0] for header in headers]
            unbuilt += [
                f"stand_in_{name}" for name in names
                if not (folder / "emulator" / f"lib{name}.so").exists()
            ]  # fmt: skip
    return list(dict.fromkeys(unbuilt))


def _device_of(folder: Path) -> str:
    try:
        cache = (folder / "CMakeCache.txt").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return "emulator"
    match = re.search(r"^DEVICE:\w+=(\w+)$", cache, re.MULTILINE)
    return match.group(1) if match else "emulator"


def _make_known(folder: Path, lesson: Lesson, headers: list[str]) -> None:
    """Installs what is missing, and lets CMake look again: it has left this lesson out."""
    called = _listed([_PROPER[_BY_HEADER[header][0]] for header in headers])
    if _device_of(folder) == "gpu":
        raise WorkbookError(
            f"lesson {lesson.number} calls {called}, which this CUDA toolkit does not include",
            "install NVIDIA's packages libcublas-dev, libcusolver-dev and libcufft-dev of the "
            "toolkit's version; on the emulated device it works without them: make "
            + lesson.number,
        )
    with only_one("setting up"):
        absent = install.missing_headers([_BY_HEADER[header][1] for header in headers])
        needs = [need for _, file, need in map(_BY_HEADER.__getitem__, headers) if file in absent]
        if needs:
            install.install_packages(
                needs,
                f"Lesson {lesson.number} calls {called}. On the emulated device others compute in "
                "their place,\nand these are missing here (sizes on disk):",
            )
    with only_one("configuring"), Phase("configure", "Configuring anew"):
        done = subprocess.run(["cmake", str(folder)], capture_output=True, text=True)
    if not (folder / "lessons" / f"link_{lesson.id}.txt").is_file():
        print("\n".join((done.stdout + done.stderr).splitlines()[-15:]))
        raise WorkbookError(
            f"CMake does not find the libraries of lesson {lesson.number} (its last lines are "
            "above): your file is not to blame, and was not graded",
            "sudo apt-get install --reinstall "
            + " ".join(_BY_HEADER[header][2].package for header in headers)
            + f"\n  then run make {lesson.number} again; the other lessons do not need them",
        )
