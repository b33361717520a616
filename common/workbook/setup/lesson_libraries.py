# SPDX-License-Identifier: MIT
"""Libraries that single lessons and Python's packages call: installed and built when such a lesson
is first built, and by `make python`.

common/libraries/libraries.json lists them by the header that a lesson's interface includes, and
says which of them Python's packages open. CMake reads the same list
(common/cmake/WorkbookLibraries.cmake). A library comes from

* `debian`: a stand-in (common/libraries) computes with a Debian package; a card has NVIDIA's own;
* `pypi`: NVIDIA's own, which needs no card: the toolkit's, else their package, in .workbook;
* `system`: itself, from a Debian package, with any device;
* `device`: the emulated device, or what comes with a card.
"""

from __future__ import annotations

import functools
import json
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ..base import disk, files
from ..base.lock import of_packages, only_one
from ..base.phases import Phase
from ..base.project import ROOT, Lesson, WorkbookError, lessons, state_folder
from . import install, pypi, toolkit
from .install import Need


@dataclass(frozen=True)
class Library:
    """One entry of libraries.json: `found` begins the names of the variables in which CMake has
    what it needs, and `builds` are targets of the emulated device, with the files that they make.
    """

    name: str
    found: str
    source: str
    need: Need
    builds: dict[str, str]
    for_python: bool


@dataclass(frozen=True)
class Caller:
    """What calls libraries: a lesson, or Python's packages. `known` says whether CMake has found
    all of them.
    """

    name: str
    called: list[Library]
    command: str
    consequence: str
    others: str
    known: Callable[[], bool]


@functools.cache
def _by_header() -> dict[str, Library]:
    path = ROOT / "common" / "libraries" / "libraries.json"
    return {
        header: Library(
            one["name"],
            one["found"],
            one["from"],
            Need(one["package"], one["why"]),
            one["builds"],
            one["python"],
        )
        for header, one in json.loads(path.read_text(encoding="utf-8")).items()
    }


def _called_by(lesson: Lesson) -> list[Library]:
    """The libraries whose headers the lesson's interface includes."""
    try:
        text = files.read_text(lesson.folder / f"{lesson.slug}.h")
    except OSError:
        return []
    return [one for header, one in _by_header().items() if f"#include <{header}>" in text]


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _lesson_as_caller(folder: Path, lesson: Lesson, called: list[Library]) -> Caller:
    return Caller(
        f"lesson {lesson.number}",
        called,
        f"make {lesson.number}",
        "your file is not to blame, and was not graded",
        "the other lessons do not need them",
        lambda: (folder / "lessons" / f"link_{lesson.id}.txt").is_file(),
    )


def require(folder: Path, targets: list[str]) -> list[str]:
    """Sees to the libraries of the lessons whose programs are to be built; returns the targets of
    stand-ins that have never been built, which come before the lesson's program.
    """
    numbers = {m.group(1) for t in targets if (m := re.search(r"(?:^|_)(\d\d)_", t))}
    unbuilt: list[str] = []
    for lesson in lessons() if numbers else []:
        if lesson.number not in numbers or not (called := _called_by(lesson)):
            continue
        caller = _lesson_as_caller(folder, lesson, called)
        if not caller.known():
            _make_known(folder, caller)
        if _device_of(folder) == "emulator":
            unbuilt += [
                target for one in called for target, made in one.builds.items()
                if not (folder / made).exists()
            ]  # fmt: skip
    return list(dict.fromkeys(unbuilt))


def require_for_python(folder: Path) -> list[str]:
    """Sees to the libraries that Python's packages open; returns the targets of their stand-ins."""
    called = [one for one in _by_header().values() if one.for_python]
    caller = Caller(
        "CuPy",
        called,
        "make python",
        "its random numbers, linalg and fft will not run",
        "kernels of Numba and CuPy do not need them",
        lambda: not _missing(folder, called),
    )
    if not caller.known():
        _make_known(folder, caller)
    return [target for one in called for target in one.builds]


def built_for_python(folder: Path) -> list[str]:
    """The targets of those stand-ins that have been built."""
    return [
        target
        for one in _by_header().values()
        if one.for_python
        for target, made in one.builds.items()
        if (folder / made).exists()
    ]


def _cache(folder: Path) -> str:
    try:
        return (folder / "CMakeCache.txt").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _device_of(folder: Path) -> str:
    match = re.search(r"^DEVICE:\w+=(\w+)$", _cache(folder), re.MULTILINE)
    return match.group(1) if match else "emulator"


def _missing(folder: Path, called: list[Library]) -> list[Library]:
    """Those of which CMake has not found something. Headers prove nothing: several have cblas.h."""
    absent = re.findall(r"^([A-Z]+)_\w+:\w+=\w+-NOTFOUND$", _cache(folder), re.MULTILINE)
    # FFTW_LIBRARY and FFTWF_LIBRARY are of one package.
    return [
        one for one in called if one.found and any(name.startswith(one.found) for name in absent)
    ]


def _configure(folder: Path) -> str:
    """Lets CMake look again; what it has printed."""
    with only_one("configuring"), Phase("configure", "Configuring anew"):
        done = subprocess.run(["cmake", str(folder)], capture_output=True, text=True)
    return done.stdout + done.stderr


def _make_known(folder: Path, caller: Caller) -> None:
    """Installs what is missing, and lets CMake look again: it has left this caller's part out."""
    said = _configure(folder)  # somebody may have installed them meanwhile
    if not caller.known() and (missing := _missing(folder, caller.called)):
        with only_one("installing libraries", of_packages("libraries")):
            _install(caller, [one for one in missing if one.source == "pypi"], _install_packages)
            _install(caller, [one for one in missing if one.source == "system"], _install_system)
            if _device_of(folder) == "emulator":
                _install(
                    caller, [one for one in missing if one.source == "debian"], _install_debian
                )
        said = _configure(folder)
    if caller.known():
        return
    if _device_of(folder) == "gpu":
        raise WorkbookError(
            f"{caller.name} calls {_listed([one.name for one in caller.called])}, which this "
            "CUDA toolkit does not include",
            "install NVIDIA's packages of these libraries, of the toolkit's version; on the "
            f"emulated device it works without them: {caller.command}",
        )
    print("\n".join(said.splitlines()[-15:]), flush=True)
    raise WorkbookError(
        f"CMake does not find the libraries of {caller.name} (its last lines are "
        f"above): {caller.consequence}",
        _again(caller.called) + f"then run {caller.command} again; {caller.others}",
    )


def _again(called: list[Library]) -> str:
    """The lines that say how to install them once more."""
    debian = [one.need.package for one in called if one.source in ("debian", "system")]
    own = [str(_folder_of(one)) for one in called if one.source == "pypi"]
    commands = ["sudo apt-get install --reinstall " + " ".join(debian)] if debian else []
    commands += ["rm -r " + " ".join(own)] if own else []
    return "".join(f"{command}\n  " for command in commands)


def _install(
    caller: Caller, missing: list[Library], installs: Callable[[list[Library], str, str], None]
) -> None:
    if missing:
        who = caller.name[0].upper() + caller.name[1:]
        installs(missing, f"{who} calls {_listed([one.name for one in missing])}.", caller.command)


def _install_debian(missing: list[Library], why: str, again: str) -> None:
    install.install_packages(
        [one.need for one in missing],
        f"{why}\nOn the emulated device other libraries compute in their place, which are\n"
        "missing here (sizes on disk):",
        again,
    )


def _install_system(missing: list[Library], why: str, again: str) -> None:
    install.install_packages(
        [one.need for one in missing], f"{why}\nIt is missing here (size on disk):", again
    )


def _folder_of(library: Library) -> Path:
    """Where the package of a library from PyPI is installed; CMake looks there."""
    return ROOT / ".workbook" / library.need.package.rsplit("-", 1)[1]


def _package_for(library: Library, version: tuple[int, ...]) -> str:
    """NVIDIA's package for a toolkit: those of CUDA 12 have another name than those of 13."""
    major, minor = version[:2]
    suffix = f"-cu{major}" if major < 13 else ""
    return f"{library.need.package}{suffix}=={major}.{minor}.*"


def _install_packages(missing: list[Library], why: str, _again: str) -> None:
    nvcc = toolkit.present_nvcc()
    version = toolkit.nvcc_version(nvcc) if nvcc else ()
    state_folder()
    print(f"{why}\nThis CUDA toolkit does not include it. From PyPI (sizes on disk):")
    for one in missing:
        package = _package_for(one, version or (13, 0))
        print(f"  {package:30} {one.need.why}", flush=True)
        with Phase("packages", f"Fetching {one.name}") as phase:
            said = pypi.install(_folder_of(one), [package], phase)
        if said:
            disk.stop_if_full(said)
            print(said)
            raise WorkbookError(
                f"pip could not fetch {one.name} (its last lines are above)",
                "check the network and try again, or install NVIDIA's package of it for the "
                "toolkit; the other lessons do not need it",
            )
