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
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from ..base import disk, options, processor
from ..base.project import NOT_ABLE, PASSED, ROOT, build_folder, relative
from ..build import folders, self_test
from ..running import sandbox
from ..setup import cards, install, pypi, toolkit
from ..setup.toolkit import output

_DISK_BUILT_MIB = 200  # where everything is set up: lessons' programs, reports, figures


@dataclass(frozen=True)
class Row:
    """One thing that was looked at. `good`: None where it is not needed."""

    good: bool | None
    what: str
    found: str
    to_do: str = ""

    def show(self) -> None:
        bad = "BROKEN " if self.what == "device" else "MISSING"
        mark = {True: "ok     ", False: bad, None: "-      "}[self.good]
        print(f"  {mark}  {self.what:14} {self.found}")
        if self.to_do:
            print(f"{'':11}{'':14} to do: {self.to_do}")


def _dotted(version: tuple[int, ...]) -> str:
    return toolkit.dotted(version) or "not found"


def _processor() -> Row:
    objection = processor.objection()
    to_do = "make DEVICE=gpu needs no emulated device" if objection else ""
    return Row(not objection, "processor", objection or processor.name(), to_do)


def _tools() -> list[Row]:
    cmake = install.cmake_version()
    gxx = output(os.environ.get("CXX", "g++"), "-dumpfullversion", "-dumpversion").strip()
    make = install.first_version(output("make", "--version"))
    new_gxx = bool(gxx) and int(gxx.split(".")[0]) >= install.OLDEST_GXX
    apt = "sudo apt-get install "
    rows = []
    for name, fine, found, oldest, to_do in (
        ("make", make >= (4,), _dotted(make), "4", apt + "make"),
        ("Python", sys.version_info >= (3, 10), f"{platform.python_version()}, {sys.executable}",
         "3.10", apt + "python3"),
        ("g++", new_gxx, gxx or "not found", str(install.OLDEST_GXX), apt + "g++"),
        ("CMake", cmake[:2] >= install.OLDEST_CMAKE, _place_of("cmake", cmake),
         _dotted(install.OLDEST_CMAKE), "make fetches one from PyPI"),
    ):  # fmt: skip
        rows.append(Row(fine, name, found, "" if fine else f"{oldest} or newer: {to_do}"))
    ninja = install.first_version(output("ninja", "--version"))
    rows.append(Row(None, "ninja", _place_of("ninja", ninja) if ninja else
                    "not found: make is used instead, a little slower"))  # fmt: skip
    return rows


def _place_of(program: str, version: tuple[int, ...]) -> str:
    return (
        f"{_dotted(version)}, {relative(shutil.which(program) or '')}" if version else "not found"
    )


def _compilers() -> tuple[list[Row], tuple[int, ...]]:
    """The rows of all nvcc, and the version of the one that is used."""
    nvccs = [(path, toolkit.nvcc_version(path)) for path in toolkit.system_nvccs()]
    wanted = options.text("WORKBOOK_NVCC")
    if wanted == "wheels":
        nvccs = []
    elif wanted:
        nvccs = [(Path(wanted), toolkit.nvcc_version(wanted))]
    if root := toolkit.local_toolkit():
        nvccs.append((root / "bin" / "nvcc", toolkit.nvcc_version(root / "bin" / "nvcc")))
    used = next(((p, v) for p, v in nvccs if v[:2] >= toolkit.OLDEST_NVCC), None)
    rows = []
    for path, version in nvccs:
        if used and path != used[0]:
            continue
        good = version[:2] >= toolkit.OLDEST_NVCC
        words = "" if good else f"{_dotted(toolkit.OLDEST_NVCC)} or newer: make fetches one"
        rows.append(Row(good, "nvcc", f"{_dotted(version)}, {relative(path)}", words))
    if not nvccs:
        rows.append(Row(False, "nvcc", "not found",
                        "make fetches NVIDIA's own packages of it from PyPI"))  # fmt: skip
    if used:
        said = toolkit.misfit(used[0])
        rows.append(Row(not said, "nvcc with g++", said or "fit each other",
                        "" if not said else "another g++: make CXX=g++-12"))  # fmt: skip
        if untested := toolkit.not_tested(used[1]):
            rows.append(Row(None, "toolkit", untested))
    return rows, used[1] if used else ()


def _packages() -> list[Row]:
    rows = []
    absent = install.missing_modules()
    for need in install.MODULES:
        if need in absent:
            good = None if need.optional else False
            words = f"{need.why}: not found"
            rows.append(Row(good, need.package, words, "make fetches it from PyPI"))
            continue
        try:
            version = metadata.version(need.package)
        except metadata.PackageNotFoundError:
            version = "found"
        place = importlib.util.find_spec(need.package)
        folder = Path(place.origin).parents[1] if place and place.origin else ""
        rows.append(Row(True, need.package, f"{version}, {relative(folder)}"))
    # Without a compiler that searches for them, nothing is known about headers.
    for need in install.missing():
        rows.append(Row(False, need.package, need.why, f"sudo apt-get install {need.package}"))
    return rows


def _gpu(nvcc: tuple[int, ...]) -> list[Row]:
    if not cards.present():
        return [Row(None, "GPU", "none: not needed, the emulator takes its place")]
    query = output(
        "nvidia-smi", "--query-gpu=name,driver_version,compute_cap", "--format=csv,noheader"
    )
    rows = []
    for line in query.strip().splitlines():
        name, driver, capability = ([part.strip() for part in line.split(",")] + ["", ""])[:3]
        words = f"{name}, driver {driver}, compute capability {capability}"
        rows.append(Row(None, "GPU", words + ": DEVICE=gpu runs on it"))
    match = re.search(r"CUDA Version: *(\d+)\.(\d+)", output("nvidia-smi"))
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


def _device() -> Row:
    """Whether the emulated device is built, and works: `good` is None before it is built."""
    folder = build_folder()
    if not (folder / "emulator" / "workbook-built").exists():
        return Row(None, "device", "not built yet: make builds it")
    if folders.moved(folder):
        return Row(
            None, "device", f"{folder.name}/ was made for another place: make builds it anew"
        )
    if wrong := self_test.problems(folder / "emulator"):
        to_do = "make clean, then make; if it stays, please report it with this page"
        return Row(False, "device", f"broken on this machine: {'; '.join(wrong)}", to_do)
    return Row(True, "device", "built, and its self-test passes")


def _sandbox() -> Row:
    """Only make grade-class and make autograde-NN need it."""
    if why := sandbox.missing():
        words = f"{why}: only make grade-class needs it"
        return Row(None, "sandbox", words, sandbox.to_do())
    return Row(None, "sandbox", "bubblewrap runs here: make grade-class shuts submissions in")


def _place(built: bool) -> list[Row]:
    writable = os.access(ROOT, os.W_OK)
    free, needed = shutil.disk_usage(ROOT).free >> 20, _DISK_BUILT_MIB
    words = f"{free} MiB free"
    if not built:
        needed = disk.NEEDED_MIB
        words += f"; {disk.COST}"
    return [
        Row(writable, "this folder", "can be written" if writable else "is read-only",
            "" if writable else "copy the workbook to a folder of your own"),
        Row(free > needed, "disk", words,
            "" if free > needed else f"free some space: {needed} MiB are needed"),
    ]  # fmt: skip


def _not_watched() -> list[Row]:
    """What the emulated device cannot report on this machine's processor, as it says itself."""
    lines = output(str(build_folder() / "emulator" / "emulate"), "--platform").splitlines()
    label = "not watched here: "
    return [Row(None, "not reported", line[len(label) :]) for line in lines if label in line[:30]]


def report() -> int:
    """Prints the table; non-zero when something necessary is missing or broken."""
    pypi.use_tools()
    print(f"CUDA Workbook in {ROOT}")
    print(f"{platform.platform()}, {os.cpu_count()} cores")
    compilers, nvcc = _compilers()
    device = _device()
    rows = [_processor(), *_tools(), *compilers, *_packages(), *_gpu(nvcc), device, _sandbox(),
            *_place(bool(device.good)), *_not_watched()]  # fmt: skip
    for row in rows:
        row.show()
    good = all(row.good is not False for row in rows)
    if not good and device.good is False:
        print("Lessons cannot be graded here as it is: see what is marked MISSING or BROKEN.")
    elif not good:
        print("make installs what is missing, or says what to run.")
    elif device.good:
        print("All there.")
    else:
        print("Nothing is missing. The emulated device is not built yet: make builds it.")
    return PASSED if good else NOT_ABLE
