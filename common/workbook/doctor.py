# SPDX-License-Identifier: MIT
"""Lists what the workbook found on this machine. Installs nothing."""

from __future__ import annotations

import os
import platform
import shutil
import sys

from . import build, install
from .project import NOT_ABLE, PASSED, ROOT, build_folder


def _row(good: bool | None, what: str, found: str) -> None:
    mark = {True: "ok     ", False: "MISSING", None: "-      "}[good]
    print(f"  {mark}  {what:14} {found}")


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version)) or "not found"


def report() -> int:
    """Prints the table; non-zero when something necessary is missing."""
    good = True
    print(f"CUDA Workbook in {ROOT}")
    print(f"{platform.platform()}, {os.cpu_count()} cores")
    cmake = install.first_version(install._output("cmake", "--version"))
    gxx = install._output(os.environ.get("CXX", "g++"), "-dumpfullversion", "-dumpversion").strip()
    make = install.first_version(install._output("make", "--version"))
    for name, fine, found in (
        ("make", make >= (4,), _dotted(make)),
        ("Python", sys.version_info >= (3, 10), f"{platform.python_version()}, {sys.executable}"),
        ("g++", bool(gxx) and int(gxx.split(".")[0]) >= install.OLDEST_GXX, gxx or "not found"),
        ("CMake", cmake[:2] >= install.OLDEST_CMAKE, _dotted(cmake)),
    ):
        _row(fine, name, found)
        good &= fine
    _row(None, "ninja", shutil.which("ninja") or "not found: make is used instead, a little slower")
    nvccs = [(path, install.nvcc_version(path)) for path in install.system_nvccs()]
    if root := install.local_toolkit():
        nvccs.append((root / "bin" / "nvcc", install.nvcc_version(root / "bin" / "nvcc")))
    fine = any(version[:2] >= install.OLDEST_NVCC for _, version in nvccs)
    for path, version in nvccs:
        _row(version[:2] >= install.OLDEST_NVCC, "nvcc", f"{_dotted(version)}, {path}")
    if not nvccs:
        _row(False, "nvcc", "not found: make fetches NVIDIA's own packages of it from PyPI")
    good &= fine
    needs = install.missing()
    for need in needs:
        _row(False, need.package, need.why)
    good &= not needs
    _row(None, "GPU", "found: DEVICE=gpu runs on it" if build.gpu_present() else "none: not needed")
    device = build_folder() / "emulator" / "emulate"
    _row(None, "emulator", "built" if device.exists() else "not built yet: make builds it")
    writable = os.access(ROOT, os.W_OK)
    _row(
        writable,
        "this folder",
        "can be written" if writable else "is read-only: copy the workbook elsewhere",
    )
    free = shutil.disk_usage(ROOT).free >> 20
    _row(free > 1500, "disk", f"{free} MiB free")
    good &= writable and free > 1500
    print("All there." if good else "make installs what is missing, or says what to run.")
    return PASSED if good else NOT_ABLE
