# SPDX-License-Identifier: MIT
"""Packages from PyPI in folders of the workbook's own, so that nothing else on the machine changes:
.workbook/cuda (NVIDIA's compiler) and .workbook/tools (CMake, Ninja, Python modules).
Standard library only.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from ..base.disk import stop_if_full
from ..base.lock import of_packages, only_one
from ..base.phases import Phase
from ..base.project import ROOT, WorkbookError, relative, state_folder

TOOLS = ROOT / ".workbook" / "tools"
_PROGRAMS = ("cmake", "ctest", "ninja")
# Written last: without it the folder is what an interrupted set-up has left.
_COMPLETE = "complete"


def capable_python() -> str | None:
    """A Python that can make a virtual environment with pip. Debian's needs python3-venv for it."""
    question = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))"
    # Never the Python of .workbook/tools itself, which may be about to be made anew.
    own = getattr(sys, "_base_executable", sys.executable)
    for python in dict.fromkeys([own, "/usr/bin/python3", shutil.which("python3") or ""]):
        if python and _runs([python, "-I", "-c", question]):
            return python
    return None


def _runs(command: list[str]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, timeout=60).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def _pip_environment() -> dict[str, str]:
    """A user's settings for the network stay; those that would install elsewhere go."""
    elsewhere = ("PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_REQUIRE_VIRTUALENV")
    env = {name: value for name, value in os.environ.items() if name not in elsewhere}
    return {**env, "PIP_USER": "0", "PIP_NO_INPUT": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}


def install(folder: Path, packages: list[str], phase: Phase) -> str:
    """Makes `folder` a virtual environment with `packages`; '' or the last lines of what failed."""
    python = capable_python()
    if not python:
        return "no Python here can make a virtual environment (apt-get install python3-venv)"
    # -I: what PYTHONPATH adds for another project (a robot's, a module system's) does not count.
    pip = [str(folder / "bin" / "python"), "-I", "-m", "pip"]
    if not (folder / _COMPLETE).is_file() or not _runs([*pip, "--version"]):
        shutil.rmtree(folder, ignore_errors=True)
        made = subprocess.run(
            [python, "-I", "-m", "venv", str(folder)],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
        )  # fmt: skip
        if made.returncode != 0:
            return _last_lines(made.stdout)
    (folder / _COMPLETE).unlink(missing_ok=True)
    process = subprocess.Popen(
        [*pip, "install", "--progress-bar", "off", *packages], env=_pip_environment(),
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
    )  # fmt: skip
    assert process.stdout is not None
    said = []
    fetched = 0
    with process:
        for line in process.stdout:
            said.append(line)
            # Dependencies come last and are small; unpacking takes about half of the time.
            fetched += line.startswith(("Collecting ", "Requirement already"))
            phase.reached(0.5 * (fetched - 1) / max(len(packages), fetched))
            if line.startswith("Installing collected packages"):
                phase.reached(0.5)
    if process.returncode != 0:
        shutil.rmtree(folder, ignore_errors=True)
        return _last_lines("".join(said))
    return ""


def _last_lines(text: str) -> str:
    return "\n".join(text.strip().splitlines()[-15:]) or "pip said nothing"


def ensure_optional(
    folder: Path, packages: Sequence[str], what: str, download: int, disk: int, again: str
) -> bool:
    """Installs an optional part into `folder`, and says its size (in MiB) first. True where it was
    missing. `again` is the command to run after what went wrong is mended.
    """
    stamp = folder / "packages.txt"
    wanted = "\n".join(packages) + "\n"
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return False
    print(
        f"{what} to be fetched into {relative(folder)}:\n"
        f"  about {download} MB to download from PyPI, {disk} MB on disk.\n"
        f"  `rm -r {relative(folder)}` removes it.\n  " + "\n  ".join(packages),
        flush=True,
    )
    with only_one(f"fetching {folder.name}", of_packages(folder.name)):
        if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
            return False  # another make has fetched them while this one waited
        with Phase("packages", "Fetching them") as phase:
            said = install(folder, list(packages), phase)
        if said:
            stop_if_full(said)
            raise WorkbookError(
                f"pip could not fetch them:\n{said}", f"check the network; then {again} once more"
            )
        (folder / _COMPLETE).write_text(wanted, encoding="utf-8")
        stamp.write_text(wanted, encoding="utf-8")
    return True


def add(folder: Path, packages: list[str], more: dict[str, str]) -> str:
    """Adds packages to a complete folder, which stays as it was if they cannot be installed; '' or
    the last lines of what failed. `more`: variables for packages that are compiled here.
    """
    pip = [str(folder / "bin" / "python"), "-I", "-m", "pip", "install", "--progress-bar", "off"]
    done = subprocess.run(
        [*pip, *packages], env={**_pip_environment(), **more},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
    )  # fmt: skip
    return _last_lines(done.stdout) if done.returncode else ""


# --- .workbook/tools ------------------------------------------------------------------------------


def inside_tools() -> bool:
    """Whether the running Python is that of .workbook/tools."""
    return Path(sys.prefix).resolve() == TOOLS.resolve()


def tools_packages() -> list[str]:
    """What .workbook/tools was set up with."""
    try:
        return (TOOLS / _COMPLETE).read_text(encoding="utf-8").split()
    except OSError:
        return []


def tools_have(modules: list[str]) -> bool:
    """Whether the Python of .workbook/tools is complete, runs and finds these modules. After an
    upgrade of the system's Python it does not.
    """
    if not set(modules) <= set(tools_packages()):
        return False
    return _runs([str(TOOLS / "bin" / "python"), "-I", "-c", "import " + ", ".join(modules)])


def use_tools() -> None:
    """Puts the programs of .workbook/tools first on PATH: the system's are missing or too old."""
    programs = str(TOOLS / "programs")
    path = os.environ.get("PATH", os.defpath)
    if tools_packages() and programs not in path.split(os.pathsep):
        os.environ["PATH"] = programs + os.pathsep + path


def install_tools(packages: list[str]) -> str:
    """Sets .workbook/tools up with `packages`; '' or what failed."""
    state_folder()
    print("From PyPI into .workbook/tools: " + " ".join(packages))
    with Phase("packages", "Fetching them") as phase:
        said = install(TOOLS, packages, phase)
        if said:
            return said
        _link_programs()
        (TOOLS / _COMPLETE).write_text("\n".join(packages) + "\n", encoding="utf-8")
    use_tools()
    return ""


def _link_programs() -> None:
    """programs/cmake and so on: relative links to the binaries, which stay valid when the checkout
    moves. (The scripts that pip writes for them name the Python by its whole path.)
    """
    programs = TOOLS / "programs"
    programs.mkdir(exist_ok=True)
    for name in _PROGRAMS:
        found = [*TOOLS.glob(f"lib/python3*/site-packages/*/data/bin/{name}"), TOOLS / "bin" / name]
        (programs / name).unlink(missing_ok=True)
        if found[0].exists():
            (programs / name).symlink_to(os.path.relpath(found[0], programs))
