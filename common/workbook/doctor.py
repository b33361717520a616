# SPDX-License-Identifier: MIT
"""Lists what the workbook found on this machine, whether it fits together, and what to do.

Installs nothing, and uses the standard library only.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from . import build, install
from .project import NOT_ABLE, PASSED, ROOT, build_folder

_DISK_MIB = 1500  # what the emulator, the lessons and their tests need to build


@dataclass(frozen=True)
class Row:
    """One thing that was looked at. `good`: None where it is not needed."""

    good: bool | None
    what: str
    found: str
    to_do: str = ""

    def show(self) -> None:
        mark = {True: "ok     ", False: "MISSING", None: "-      "}[self.good]
        print(f"  {mark}  {self.what:14} {self.found}")
        if self.to_do:
            print(f"{'':11}{'':14} to do: {self.to_do}")


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version)) or "not found"


def _tools() -> list[Row]:
    cmake = install.first_version(install._output("cmake", "--version"))
    gxx = install._output(os.environ.get("CXX", "g++"), "-dumpfullversion", "-dumpversion").strip()
    make = install.first_version(install._output("make", "--version"))
    new_gxx = bool(gxx) and int(gxx.split(".")[0]) >= install.OLDEST_GXX
    ninja = install._output("ninja", "--version").strip()
    rows = []
    for name, fine, found, package in (
        ("make", make >= (4,), _dotted(make), "make"),
        ("Python", sys.version_info >= (3, 10), f"{platform.python_version()}, {sys.executable}",
         "python3"),
        ("g++", new_gxx, gxx or "not found", "g++"),
        ("CMake", cmake[:2] >= install.OLDEST_CMAKE, _dotted(cmake), "cmake"),
    ):  # fmt: skip
        oldest = {"g++": str(install.OLDEST_GXX), "CMake": _dotted(install.OLDEST_CMAKE),
                  "Python": "3.10", "make": "4"}[name]  # fmt: skip
        to_do = "" if fine else f"{oldest} or newer: sudo apt-get install {package}"
        rows.append(Row(fine, name, found, to_do))
    rows.append(Row(None, "ninja", ninja or "not found: make is used instead, a little slower",
                    "" if ninja else "sudo apt-get install ninja-build (optional)"))  # fmt: skip
    return rows


def _fits(nvcc: Path) -> str:
    """'' when nvcc accepts this g++, else what it says."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "empty.cu"
        source.write_text("__global__ void k() {}\n")
        command = [str(nvcc), "-ccbin", os.environ.get("CXX", "g++"), "-arch=compute_75", "-c"]
        try:
            done = subprocess.run(
                [*command, "-o", f"{folder}/empty.o", str(source)],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
    return "" if done.returncode == 0 else (done.stdout.strip().splitlines() or ["failed"])[0]


def _compilers() -> tuple[list[Row], tuple[int, ...]]:
    """The rows of all nvcc, and the version of the one that is used."""
    nvccs = [(path, install.nvcc_version(path)) for path in install.system_nvccs()]
    if root := install.local_toolkit():
        nvccs.append((root / "bin" / "nvcc", install.nvcc_version(root / "bin" / "nvcc")))
    fine = any(version[:2] >= install.OLDEST_NVCC for _, version in nvccs)
    rows = []
    for path, version in nvccs:
        good = version[:2] >= install.OLDEST_NVCC
        words = "" if good or fine else f"{_dotted(install.OLDEST_NVCC)} or newer: make fetches one"
        rows.append(Row(good or (None if fine else False), "nvcc", f"{_dotted(version)}, {path}",
                        words))  # fmt: skip
    if not nvccs:
        rows.append(Row(False, "nvcc", "not found",
                        "make fetches NVIDIA's own packages of it from PyPI"))  # fmt: skip
    used = next(((p, v) for p, v in nvccs if v[:2] >= install.OLDEST_NVCC), None)
    if used:
        said = _fits(used[0])
        rows.append(Row(not said, "nvcc with g++", said or "fit each other",
                        "" if not said else "another g++: make CXX=g++-12"))  # fmt: skip
    return rows, used[1] if used else ()


def _packages() -> list[Row]:
    rows = []
    for name in install._MODULES:
        if not importlib.util.find_spec(name):
            continue  # install.missing() lists it
        try:
            version = metadata.version(name)
        except metadata.PackageNotFoundError:
            version = "found"
        rows.append(Row(True, name, version))
    # Nothing can be said of headers without a compiler that looks for them.
    for need in install.missing():
        rows.append(Row(False, need.package, need.why, f"sudo apt-get install {need.package}"))
    return rows


def _gpu(nvcc: tuple[int, ...]) -> list[Row]:
    if not build.gpu_present():
        return [Row(None, "GPU", "none: not needed, the emulator takes its place")]
    query = install._output(
        "nvidia-smi", "--query-gpu=name,driver_version,compute_cap", "--format=csv,noheader"
    )
    rows = []
    for line in query.strip().splitlines():
        name, driver, capability = ([part.strip() for part in line.split(",")] + ["", ""])[:3]
        words = f"{name}, driver {driver}, compute capability {capability}"
        rows.append(Row(None, "GPU", words + ": DEVICE=gpu runs on it"))
    match = re.search(r"CUDA Version: *(\d+)\.(\d+)", install._output("nvidia-smi"))
    if match and nvcc:
        newest = (int(match.group(1)), int(match.group(2)))
        fine = newest[0] >= nvcc[0]
        words = f"runs CUDA up to {_dotted(newest)}, nvcc makes {_dotted(nvcc[:2])}"
        to_do = "" if fine else "a newer driver, or an nvcc of the driver's version (WORKBOOK_NVCC)"
        rows.append(Row(True if fine else None, "driver", words, to_do))
    sanitizer = shutil.which("compute-sanitizer")
    rows.append(Row(None, "sanitizer", sanitizer or "compute-sanitizer is not on PATH: only "
                    "make sanitize-NN needs it"))  # fmt: skip
    return rows


def _place() -> list[Row]:
    device = build_folder() / "emulator" / "emulate"
    writable = os.access(ROOT, os.W_OK)
    free = shutil.disk_usage(ROOT).free >> 20
    return [
        Row(None, "emulator", "built" if device.exists() else "not built yet: make builds it"),
        Row(writable, "this folder", "can be written" if writable else "is read-only",
            "" if writable else "copy the workbook to a folder of your own"),
        Row(free > _DISK_MIB, "disk", f"{free} MiB free",
            "" if free > _DISK_MIB else f"free some space: {_DISK_MIB} MiB are needed"),
    ]  # fmt: skip


def _not_watched() -> list[Row]:
    """What the emulated device cannot report on this machine's processor, as it says itself."""
    lines = install._output(str(build_folder() / "emulator" / "emulate"), "--platform").splitlines()
    label = "not watched here: "
    return [Row(None, "not reported", line[len(label) :]) for line in lines if label in line[:30]]


def report() -> int:
    """Prints the table; non-zero when something necessary is missing."""
    print(f"CUDA Workbook in {ROOT}")
    print(f"{platform.platform()}, {os.cpu_count()} cores")
    compilers, nvcc = _compilers()
    rows = [*_tools(), *compilers, *_packages(), *_gpu(nvcc), *_place(), *_not_watched()]
    for row in rows:
        row.show()
    good = all(row.good is not False for row in rows)
    print("All there." if good else "make installs what is missing, or says what to run.")
    return PASSED if good else NOT_ABLE
