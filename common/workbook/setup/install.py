# SPDX-License-Identifier: MIT
"""Finds out what is missing, says what and why, and installs it. Standard library only.

The compiler and C++ libraries are Debian packages. Everything else comes from PyPI into folders of
the workbook's own (pypi.py), where it is missing or too old: CMake, Ninja, Python modules and nvcc.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from ..base import commands, disk, options, phases, processor
from ..base.lock import only_one
from ..base.phases import Phase
from ..base.project import PASSED, WorkbookError, state_folder
from . import pypi, toolkit
from .toolkit import output

OLDEST_CMAKE = (3, 24)
OLDEST_GXX = 11


@dataclass(frozen=True)
class Need:
    """Something to install: the package, and what the workbook wants it for."""

    package: str
    why: str
    optional: bool = False  # the workbook also works without it, less conveniently


# The Debian packages. `run` names those marked so where even Python is missing.
_GXX = Need("g++", "compiles the tests and the emulated device")  # Debian
_HEADERS = {
    "zstd.h": Need("libzstd-dev", "unpacks the GPU code that nvcc puts into a program"),  # Debian
    "lz4.h": Need("liblz4-dev", "unpacks the same in its older form"),  # Debian
    "elfutils/libdwfl.h": Need("libdw-dev", "finds the source line of a host call"),  # Debian
}
_CATCH2 = Need("catch2", "the unit test library")  # Debian
_VENV = Need("python3-venv", "makes the folder for packages from PyPI")  # Debian

# From PyPI; each module is imported by the name of its package.
_CMAKE = Need("cmake==3.31.*", "builds everything")
_NINJA = "ninja==1.*"
MODULES = (
    Need("rich", "tables and colours of the grade"),
    Need("numpy", "finds the pattern in wrong values"),
    Need("matplotlib", "draws the pictures", optional=True),
    Need("watchdog", "tells make watch that you saved", optional=True),
)
# For the reports of a class, fetched when they are first asked for: half a megabyte.
CLASS_MODULES = (
    Need("jinja2", "writes the report of a class"),
    *([Need("tomli", "reads points.toml")] if sys.version_info < (3, 11) else []),
)


def first_version(text: str) -> tuple[int, ...]:
    """The first dotted number in `text`, as a tuple."""
    match = re.search(r"(\d+)\.(\d+)(?:\.(\d+))?", text)
    return tuple(int(part) for part in match.groups() if part is not None) if match else ()


# --- what is missing ------------------------------------------------------------------------------


def missing_headers(names: list[str]) -> list[str]:
    """Those of `names` that g++ does not find."""
    lines = [f"#if !__has_include(<{name}>)\nMISSING {name}\n#endif" for name in names]
    try:
        done = subprocess.run(
            [os.environ.get("CXX", "g++"), "-E", "-P", "-x", "c++", "-"],
            input="\n".join(lines),
            capture_output=True,
            text=True,
            timeout=60,
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    return re.findall(r"^MISSING (.+)$", done.stdout, re.MULTILINE)


def emulator_needs() -> list[Need]:
    """What is missing for the emulated device alone."""
    absent = missing_headers(list(_HEADERS))
    return [need for header, need in _HEADERS.items() if header in absent]


def missing() -> list[Need]:
    """The Debian packages that have to be installed before the workbook can build and grade."""
    compiler = shutil.which(os.environ.get("CXX", "g++"))
    needs = [] if compiler else [_GXX]
    # Without g++ the headers cannot be looked for; their packages are harmless when present.
    headers = ["catch2/catch.hpp", "catch2/catch_test_macros.hpp"]
    absent = missing_headers(headers) if compiler else headers
    if options.text("DEVICE") != "gpu":
        needs += emulator_needs() if compiler else _HEADERS.values()
    named = os.environ.get("Catch2_DIR") or os.environ.get("CMAKE_PREFIX_PATH")
    if set(headers) <= set(absent) and not named:
        needs.append(_CATCH2)
    return needs


def cmake_version() -> tuple[int, ...]:
    """(3, 25, 1), or () without a CMake on PATH."""
    return first_version(output("cmake", "--version"))


def missing_modules() -> list[Need]:
    """The Python modules that the running Python does not find."""
    importlib.invalidate_caches()
    return [need for need in MODULES if not importlib.util.find_spec(need.package)]


def missing_tools() -> list[Need]:
    """What .workbook/tools is needed for."""
    needs = [_CMAKE] if cmake_version()[:2] < OLDEST_CMAKE else []
    return needs + missing_modules()


# --- Debian packages ------------------------------------------------------------------------------


def root_prefix() -> list[str] | None:
    """What to put before a command that needs administrator rights; None without such rights."""
    if os.environ.get("WORKBOOK_NO_ROOT"):
        return None
    if os.geteuid() == 0:
        return []
    if (
        shutil.which("sudo")
        and subprocess.run(["sudo", "-n", "true"], capture_output=True).returncode == 0
    ):
        return ["sudo", "-n"]
    return None


def install_packages(
    needs: list[Need],
    why: str = "The workbook needs a few packages that are missing here:",
    again: str = "make",
) -> None:
    """Installs Debian packages; without the rights or the tool, says exactly what to run, and that
    the command `again` comes next.
    """
    print(why)
    for need in needs:
        print(f"  {need.package:20} {need.why}")
    packages = [need.package for need in needs]
    command = ["apt-get", "install", "-y", "--no-install-recommends", *packages]
    if not shutil.which("apt-get"):
        raise WorkbookError(
            "this system has no apt-get, so they cannot be installed from here",
            "install what corresponds to: " + " ".join(packages),
        )
    prefix = root_prefix()
    if prefix is None:
        raise WorkbookError(
            "installing them needs administrator rights",
            "sudo apt-get update && sudo " + " ".join(command) + f"\n  then run {again} again",
        )
    failed = ""
    with Phase("packages", "Installing them") as phase:
        _root(prefix, ["apt-get", "update", "-q"], phase, 0.0, 0.2)
        # Ends what an interrupted installation has begun; apt-get would refuse otherwise.
        _root(prefix, ["dpkg", "--configure", "-a"], phase, 0.2, 0.2)
        failed = _root(prefix, command, phase, 0.2, 1.0)
    if failed:
        disk.stop_if_full(failed)
        print("\n".join(failed.splitlines()[-15:]))
        raise WorkbookError(
            "apt-get could not install them (its last lines are above)",
            "mend what apt-get names, then run: " + " ".join(prefix + command),
        )
    still = [need.package for need in missing() if need in needs]
    if still:
        raise WorkbookError(
            f"installed, but still not found: {' '.join(still)}",
            f"{os.environ.get('CXX', 'g++')} does not look in /usr/include: unset CXX, CPATH and "
            "what else points elsewhere, and run make again",
        )


def _root(prefix: list[str], command: list[str], phase: Phase, start: float, end: float) -> str:
    """Runs a command as administrator, its progress between `start` and `end`; '' or its output."""
    status = ["-o", "APT::Status-Fd=1", "-o", "DPkg::Lock::Timeout=300"]
    if command[0] == "apt-get":
        command = [command[0], *status, *command[1:]]
    # By env: sudo hands on no variables.
    process = subprocess.Popen(
        [*prefix, "env", "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C", *command],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, errors="replace",
    )  # fmt: skip
    assert process.stdout is not None
    said = []
    with process:
        for line in process.stdout:
            # dlstatus:NUMBER:PERCENT:words for downloads, pmstatus:PACKAGE:PERCENT:words after.
            match = re.match(r"(dl|pm)status:[^:]*(?::\w+)?:([\d.]+):", line)
            if match:
                half = (float(match.group(2)) / 100 + (match.group(1) == "pm")) / 2
                phase.reached(start + (end - start) * half)
            else:
                said.append(line)
    return "" if process.returncode == 0 else "".join(said) or f"{command[0]} failed"


# --- versions, and the whole ---------------------------------------------------------------------


def check_machine() -> None:
    """What no installation can mend, before minutes of installing."""
    device = options.text("DEVICE") or "emulator"
    objection = processor.objection() if device != "gpu" else ""
    if objection:
        raise WorkbookError(
            objection,
            "in a virtual machine, let it have the host's processor (qemu: -cpu host); "
            "with an NVIDIA card: make DEVICE=gpu",
        )
    compiler = os.environ.get("CXX", "g++")
    version = output(compiler, "-dumpfullversion", "-dumpversion").strip()
    major = int(version.split(".")[0]) if version[:1].isdigit() else OLDEST_GXX
    if major < OLDEST_GXX:
        raise WorkbookError(
            f"this is {compiler} {version}, and the workbook needs g++ {OLDEST_GXX} or newer",
            "apt-get install g++-12, then: make CXX=g++-12",
        )


def _fingerprint() -> dict[str, str]:
    """What the last complete check depended on: cheap to compute."""
    return {
        "python": sys.executable,
        "path": os.environ.get("PATH", ""),
        "cxx": os.environ.get("CXX", ""),
        "nvcc": options.text("WORKBOOK_NVCC"),
        "cuda": "|".join(os.environ.get(v, "") for v in ("CUDA_HOME", "CUDA_PATH", "CUDACXX")),
        "ignore": os.environ.get("WORKBOOK_IGNORE_USR_LOCAL_CUDA", ""),
        "device": "gpu" if options.text("DEVICE") == "gpu" else "emulator",
        "tools": "|".join(str(shutil.which(tool)) for tool in ("cmake", "g++", "nvcc", "ninja")),
    }


def ensure_modules() -> None:
    """What the screen needs."""
    if not importlib.util.find_spec("rich"):
        with only_one("setting up"):
            _ensure_tools(missing_modules())


def ensure_extra(needs: tuple[Need, ...]) -> None:
    """Modules that only some commands need."""
    importlib.invalidate_caches()
    if absent := [need for need in needs if not importlib.util.find_spec(need.package)]:
        with only_one("setting up"):
            _ensure_tools(absent)


def _ensure_tools(needs: list[Need]) -> None:
    """Installs what is missing into .workbook/tools; for modules, goes on in the Python there."""
    if not needs:
        return
    modules = any(need is not _CMAKE for need in needs)
    there = set(pypi.tools_packages())
    wanted = [need.package for need in (*MODULES, *needs) if need is not _CMAKE]
    if modules and not pypi.inside_tools() and pypi.tools_have(wanted):
        _go_on_there()  # another make has set them up while this one waited
    print("The workbook needs a few things that are missing here, or too old:")
    for need in needs:
        print(f"  {need.package:20} {need.why}")
    if not pypi.capable_python():
        install_packages([_VENV])
    packages = there | {need.package for need in needs}
    if modules:
        packages |= {need.package for need in MODULES}
    if not shutil.which("ninja"):
        packages.add(_NINJA)
    if said := pypi.install_tools(sorted(packages)):
        disk.stop_if_full(said)
        print(said)
        if all(need.optional for need in needs):
            print("Going on without: pip could not fetch them (its last lines are above).")
            return
        debian = " ".join(
            "cmake" if need is _CMAKE else f"python3-{need.package}" for need in needs
        )
        raise WorkbookError(
            "pip could not fetch them (its last lines are above)",
            "check the network and run make again; Debian 12 and newer and Ubuntu 24.04 have them "
            f"as well:\n  sudo apt-get update && sudo apt-get install -y {debian}",
        )
    if modules:
        _go_on_there()


def _go_on_there() -> NoReturn:
    """The same command, by the Python of .workbook/tools."""
    phases.carry_over()
    sys.stdout.flush()
    python = str(pypi.TOOLS / "bin" / "python")
    os.execv(python, [python, *sys.orig_argv[1:]])


def ensure(force: bool = False) -> Path:
    """Everything in place; returns the nvcc to use. After the first time it costs milliseconds."""
    stamp = state_folder() / "setup.json"
    pypi.use_tools()
    now = _fingerprint()
    if not force:
        try:
            before = json.loads(stamp.read_text(encoding="utf-8"))
            if before["for"] == now and Path(before["nvcc_found"]).is_file():
                if importlib.util.find_spec("rich"):
                    return Path(before["nvcc_found"])
        except (OSError, ValueError, KeyError, TypeError):
            pass
    with only_one("setting up"):
        check_machine()
        nvcc = toolkit.present_nvcc()
        if nvcc and (said := toolkit.not_tested(toolkit.nvcc_version(nvcc))):
            print("note: " + said)
        needs, tools = missing(), missing_tools()
        if needs or tools or not nvcc:
            disk.check()
        if (tools or not nvcc) and not pypi.capable_python():
            needs.append(_VENV)
        if needs:
            install_packages(needs)
            check_machine()
        _ensure_tools(tools)
        nvcc = nvcc or toolkit.install_wheels()
        found = {"for": _fingerprint(), "nvcc_found": str(nvcc)}
        stamp.write_text(json.dumps(found), encoding="utf-8")
    return nvcc


def set_up() -> int:
    """`make setup`."""
    ensure(force=True)
    print("Everything the workbook needs is here.")
    return PASSED


def ensure_for(needs: str) -> None:
    """What a row of the table of commands needs."""
    if needs == commands.MODULES:
        ensure_modules()  # these build nothing, and write little
    elif needs != commands.NOTHING:
        ensure()
    if needs == commands.CLASS:
        ensure_extra(CLASS_MODULES)
    elif needs == commands.SUBMISSION:
        ensure_extra(CLASS_MODULES[1:])
