# SPDX-License-Identifier: MIT
"""Sets the workbook up on bare systems, as a new user would, up to the first verdict.

    sudo python3 tests/setup/run.py [--systems FOLDER] [--cold] [NAME ...]

Without names all of them, see SCENARIOS. The systems are made by debootstrap (53 s and 300 MB each)
in FOLDER, by default build/systems, and kept there for the next time with what pip downloads and a
compiler cache; --cold leaves the cache out, for times. Exit code 0: all that were tried passed;
1: one failed; 77: none could be tried.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from bare_system import ROOT, SKIPPED, Failed, Skip, System, base

HOME = "/srv/cuda-workbook"
THEIRS = "/home/student/cuda-workbook"
_VERDICT = "hint: make hint-00"  # the last words of lesson 00's first grade


class Work:
    """Where systems are made, and the one at work."""

    def __init__(self, cache: Path, cold: bool) -> None:
        self.cache = cache
        self.cold = cold
        self.scratch = cache / f"scratch-{os.getpid()}"  # two of these may run at once

    def system(self, name: str, **env: str) -> System:
        """A fresh copy of a bare system."""
        bottom = base(name, self.cache)
        shutil.rmtree(self.scratch, ignore_errors=True)
        return System(bottom, self.scratch, self.cache / "shared", env)

    def cache_compiler(self, system: System, folder: str) -> None:
        """Unless --cold was given: what is tried is not how long the compiler takes."""
        if self.cold:
            return
        install = "apt-get update -q >/dev/null && apt-get install -y -q ccache >/dev/null"
        system.run(f"command -v ccache >/dev/null || {{ {install}; }}")
        system.env |= {
            "CMAKE_CXX_COMPILER_LAUNCHER": "ccache",
            "CCACHE_DIR": "/shared/ccache",
            "CCACHE_BASEDIR": folder,
            "CCACHE_NOHASHDIR": "1",
            "CCACHE_UMASK": "000",
            "CCACHE_SLOPPINESS": "locale",
        }

    def student(self, folder: str = THEIRS, **env: str) -> System:
        """A Debian 12 with the packages that an administrator is told to install, and a user
        without rights who has a clone in `folder`.
        """
        bottom, ready = base("debian12", self.cache), self.cache / "debian12-student"
        if not (ready / "complete").is_file():
            system = self.system("debian12")
            self.cache_compiler(system, THEIRS)
            system.run("useradd --create-home --shell /bin/sh student")
            system.clone(THEIRS, "student")
            said = system.run(f"cd {THEIRS} && make", "student", code=1)
            command = re.search(r"to do: (sudo apt-get .*)", said)
            expect(command is not None, "an administrator is not told what to install")
            system.run(command.group(1).replace("sudo ", "") + " >/dev/null")
            system.run(f"rm -rf {THEIRS}")
            shutil.rmtree(ready, ignore_errors=True)
            (self.scratch / "upper").rename(ready)
            (ready / "complete").touch()
        shutil.rmtree(self.scratch, ignore_errors=True)
        system = System(f"{ready}:{bottom}", self.scratch, self.cache / "shared", env)
        self.cache_compiler(system, folder)
        system.clone(folder, "student")
        return system


def expect(good: bool, otherwise: str) -> None:
    if not good:
        raise Failed(otherwise)


def first_verdict(
    system: System, folder: str = HOME, user: str = "root", before: str = "", **options: bool
) -> str:
    """`make` in a clone: grades the first lesson, and says how long each part took."""
    started = time.monotonic()
    said = system.run(f"cd '{folder}' && {before} make", user, **options)
    expect(_VERDICT in said, "there was no verdict")
    expect("internal error" not in said, "the device is broken")
    print(f"  = {time.monotonic() - started:.0f} s from make to the verdict", flush=True)
    return said


def whole(system: System, folder: str = HOME, user: str = "root", before: str = "") -> None:
    """The first verdict, then what a user does next: all of it without a word of installing."""
    said = first_verdict(system, folder, user, before)
    expect(user == "root" or "apt-get" not in said, "packages are missing still")
    said = system.run(f"cd '{folder}' && {before} make doctor", user)
    expect("All there." in said, "make doctor finds something")
    again = system.run(f"cd '{folder}' && {before} make", user)
    expect(_VERDICT in again and "apt-get" not in again and "PyPI" not in again, "set up twice")
    expect("Building" not in again, "the device was built twice")
    system.run(f"du -sh '{folder}/build' '{folder}/.workbook'", user)


def release(name: str) -> Callable[[Work], None]:
    """A bare release, its user root, nothing installed but git and make."""

    def scenario(work: Work) -> None:
        system = work.system(name)
        work.cache_compiler(system, HOME)
        system.clone(HOME)
        whole(system)

    return scenario


def old_cmake(work: Work) -> None:
    """Ubuntu 22.04's CMake stands first on PATH: a newer one comes from PyPI."""
    system = work.system("debian12")
    system.run("apt-get update -q >/dev/null && apt-get install -y -q python3-venv >/dev/null")
    system.run("python3 -m venv /opt/old && /opt/old/bin/pip install -q 'cmake==3.22.1'")
    work.cache_compiler(system, HOME)
    system.clone(HOME)
    old = "PATH=/opt/old/bin:$PATH"
    expect("3.22.1" in system.run(f"{old} cmake --version"), "the old CMake is not first")
    whole(system, before=old)


def no_root(work: Work) -> None:
    """No rights, packages installed by somebody else, and no home folder that can be written."""
    system = work.student(THEIRS)
    whole(system, THEIRS, "student", "HOME=/nonexistent")
    system.run(f"rm -rf {THEIRS}/.workbook/tools {THEIRS}/.workbook/setup.json")
    first_verdict(system, THEIRS, "student", "env -u HOME -u USER")


def spaces(work: Work) -> None:
    """A folder whose name has spaces, parentheses and letters beyond ASCII."""
    folder = "/home/student/my wörkbook (2)"
    whole(work.student(folder), folder, "student")


def lang_c(work: Work) -> None:
    """No locale, as in many containers and batch systems."""
    system = work.student(THEIRS)
    whole(system, THEIRS, "student", "LANG=C LC_ALL=C")
    said = system.run(f"cd {THEIRS} && LC_ALL=POSIX PLAIN=1 make 00", "student", code=1)
    expect(all(ord(letter) < 128 for letter in said), "PLAIN=1 prints letters beyond ASCII")


def umask(work: Work) -> None:
    """Nobody else may read what is made."""
    system = work.student(THEIRS)
    system.run(f"chmod -R go= {THEIRS}")
    whole(system, THEIRS, "student", "umask 077;")
    # venv and pip copy their scripts with the rights that the packages name, into folders that
    # nobody else can enter.
    packages = f"-path {THEIRS}/.workbook/cuda -o -path {THEIRS}/.workbook/tools"
    look = f"find {THEIRS} \\( {packages} \\) -prune -o -perm /066 ! -type l -print | head -5"
    found = system.run(look, "student").strip()
    closed = system.run(f"stat -c %a {THEIRS}/.workbook {THEIRS}/build", "student").split()
    expect(closed == ["700", "700"], f"others can enter what was made: {closed}")
    expect(not found, "something can be read or written by others")


def foreign_python(work: Work) -> None:
    """Another python3 stands first on PATH and finds none of the modules, as conda's or pyenv's."""
    system = work.student(THEIRS)
    system.run("cp -a $(readlink -f /usr/bin/python3) /usr/local/bin/python3")
    system.run("python3 -m venv --without-pip /opt/other")
    whole(system, THEIRS, "student", "PATH=/opt/other/bin:$PATH PYTHONPATH=/opt/none")


def offline(work: Work) -> None:
    """After set-up there is no network."""
    system = work.student(THEIRS)
    first_verdict(system, THEIRS, "student")
    first_verdict(system, THEIRS, "student", offline=True)
    said = system.run(f"cd {THEIRS} && make 01", "student", offline=True, code=1)
    expect("hint: make hint-01" in said, "lesson 01 was not graded offline")
    system.run(f"cd {THEIRS} && make clean && make", "student", offline=True)
    system.run(f"cd {THEIRS} && make doctor", "student", offline=True)


def interrupted(work: Work) -> None:
    """Set-up is stopped again and again (Ctrl-C, then a kill), and a second make runs beside it."""
    system = work.student(THEIRS)
    go = f"cd {THEIRS} &&"
    for signal, seconds in (("INT", 3), ("KILL", 6), ("INT", 12), ("KILL", 20), ("INT", 35)):
        said = system.run(f"{go} timeout -s {signal} {seconds} make", "student", code=None)
        expect("Traceback" not in said, "stopping it shows Python's own words")
    said = system.run(f"{go} (make > ../one 2>&1 & make > ../two 2>&1; wait); cat ../one ../two",
                      "student")  # fmt: skip
    expect(said.count(_VERDICT) == 2, "not both of two at the same time came to a verdict")
    expect("Waiting: " in said, "neither waited for the other")
    whole(system, THEIRS, "student")


def full_disk(work: Work) -> None:
    """The disk fills up while the compiler comes and while the device is built."""
    system = work.student(THEIRS)
    go = f"cd {THEIRS} &&"
    fill = "mount -t tmpfs -o size={} tmpfs {}; chown student {}; "
    for folder, size in ((".workbook", "150M"), ("build", "20M")):
        place = f"{THEIRS}/{folder}"
        said = system.run(
            f"mkdir -p {place}; {fill.format(size, place, place)} "
            f"{go} setpriv --reuid student --clear-groups make",
            code=1,
        )
        expect("the disk is full" in said, "a full disk was not told as one")
        system.run(f"rm -rf {place}")
    whole(system, THEIRS, "student")


def devcontainer(work: Work) -> None:
    """The steps of .devcontainer on the system that its Dockerfile starts from."""
    folder = "/workspaces/cuda-workbook"
    container = ROOT / ".devcontainer"
    dockerfile = (container / "Dockerfile").read_text()
    settings = json.loads((container / "devcontainer.json").read_text())
    expect("FROM debian:12" in dockerfile, "the Dockerfile starts from another system")
    system = work.system("debian12")
    for command in re.findall(r"^RUN ((?:.*\\\n)*.*)$", dockerfile, re.MULTILINE):
        system.run(command.replace("\\\n", " ") + " >/dev/null")
    user = settings["remoteUser"]
    work.cache_compiler(system, folder)
    system.run(f"mkdir /workspaces && chown {user} /workspaces")
    system.clone(folder, user)
    said = system.run(f"cd {folder} && {settings['onCreateCommand']}", user)
    expect("apt-get" not in said, "the Dockerfile lacks a package")
    whole(system, folder, user)


SCENARIOS: dict[str, Callable[[Work], None]] = {
    "debian12": release("debian12"),
    "debian13": release("debian13"),
    "ubuntu2204": release("ubuntu2204"),
    "ubuntu2404": release("ubuntu2404"),
    "old-cmake": old_cmake,
    "no-root": no_root,
    "spaces": spaces,
    "lang-c": lang_c,
    "umask": umask,
    "foreign-python": foreign_python,
    "offline": offline,
    "interrupted": interrupted,
    "full-disk": full_disk,
    "devcontainer": devcontainer,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--systems", type=Path, default=ROOT / "build" / "systems")
    parser.add_argument("--cold", action="store_true", help="without a compiler cache")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(SCENARIOS))
    options = parser.parse_args()
    if unknown := set(options.names) - set(SCENARIOS):
        parser.error(f"there is no {', '.join(unknown)}; there are {', '.join(SCENARIOS)}")
    work = Work(options.systems.resolve(), options.cold)
    ended: dict[str, str] = {}
    for name in options.names or SCENARIOS:
        print(f"{name}: {SCENARIOS[name].__doc__ or 'a bare system'}".splitlines()[0], flush=True)
        started = time.monotonic()
        try:
            SCENARIOS[name](work)
            ended[name] = f"passed in {time.monotonic() - started:.0f} s"
        except Skip as why:
            ended[name] = f"skipped: {why}"
        except (Failed, subprocess.CalledProcessError) as why:
            ended[name] = f"FAILED: {why}"
        shutil.rmtree(work.scratch, ignore_errors=True)
        print(f"{name}: {ended[name]}", flush=True)
    print("\n".join(f"{name:16} {how}" for name, how in ended.items()))
    if any(how.startswith("FAILED") for how in ended.values()):
        return 1
    return 0 if any(how.startswith("passed") for how in ended.values()) else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
