# SPDX-License-Identifier: MIT
"""For authors: the workbook's own tests, the emulator's benchmark, formatting."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from ..base import options
from ..base.project import (
    NOT_ABLE,
    NOT_PASSED,
    PASSED,
    ROOT,
    USAGE,
    WorkbookError,
    cores,
    devices_wanted,
    lessons,
)
from ..build import build, build_cache, folders, programs
from ..lesson import student_files
from ..setup import install, pypi
from . import command_lists

CLANG_FORMAT_MAJOR = 14  # Debian 12's: another major formats a few lines differently
_RUFF = "ruff==0.6.*"
# Whatever else stands beside these is the user's own.
_OWN_FOLDERS = {"common", "lessons", "plots", "solutions", "tests"}


def say_edited() -> None:
    """Prints which lessons contain a student's work, since the tests ignore it."""
    edited = [
        lesson
        for lesson in lessons()
        if lesson.solution_file.is_file() and student_files.is_edited(lesson)
    ]
    for lesson in edited:
        print(
            f"note: lessons/{lesson.id}/{lesson.slug}.cu has been edited. make test looks at the\n"
            f"      workbook, not at your work: for that, make {lesson.number}"
        )


def test() -> int:
    """`make test`: the tests that TESTS names, or those that show that the workbook works."""
    return run_tests(list(filter(None, [options.text("TESTS")])))


def test_all() -> int:
    """`make test-all`: all of them, then the emulator's under the sanitizers."""
    return run_tests([], everything=True) or test_sanitized()


def test_hardware() -> int:
    """`make test-hardware`: measures on a card, then compares; without one compares."""
    for device in devices_wanted():
        folders.prepare(device)
    return _script("hardware/run.py", "all", *options.words("PARTS"))


def test_sanitized() -> int:
    """`make test-sanitized`: with AddressSanitizer, UndefinedBehaviorSanitizer, ThreadSanitizer."""
    return _script("emulator/sanitized.py")


def _script(name: str, *arguments: str) -> int:
    """Runs a script of tests/ with this interpreter."""
    return subprocess.run([sys.executable, str(ROOT / "tests" / name), *arguments]).returncode


def run_tests(names: list[str], everything: bool = False) -> int:
    """Builds everything that is tested and runs ctest, whose summary is the last thing printed.

    Without names those tests that show that the workbook works, or with MORE=1 those that take
    longer and complete them; with `everything` all of them.
    """
    share = share_of(options.text("SHARE"))
    device = devices_wanted()[0]
    try:  # before any test runs: they share the folder that it goes to
        install.ensure_extra(install.CLASS_MODULES)
    except WorkbookError as error:
        print(f"note: the tests of make grade-class are skipped: {error}")
    folder = folders.prepare(device)
    say_edited()
    _want_package("qemu-x86_64", "qemu-user", "runs the device on other processors")
    if everything:
        _want_package("chromium", "chromium", "shows the book's pages to their tests")
    chosen = [word for name in names for word in ("-R", name)]
    timed = everything or (bool(names) and needs_workloads(folder, chosen))
    wanted = "workbook_all_programs" if timed else "workbook_test_programs"
    built = build.build(folder, [wanted], "Building the tests")
    if not built.ok:
        print(build.first_failure(built.text, 60))
        raise WorkbookError(
            "the tests did not build (see above)", "mend the first error and run make test again"
        )
    at_once = cores() + 1  # some tests wait for time to pass
    command = ["ctest", "--test-dir", str(folder), "--output-on-failure", "-j", str(at_once)]
    command += [*chosen, *share]
    if options.flag("MORE"):
        command += ["-L", "^more$"]
    elif not names and not everything:
        command += ["-LE", "^all$"]
    started = time.time()
    done = subprocess.run(command, env=build.environment())
    if everything and done.returncode == 0:
        # Five megabytes for each state of each of a thousand programs: only the newest stay.
        build_cache.remove_unused(programs.folder_of(folder), started)
    return PASSED if done.returncode == 0 else NOT_PASSED


def share_of(share: str) -> list[str]:
    """ctest's options for `SHARE=1/2`, every second test from the first one on; '' is all.

    For machines that divide the tests, or look at one part now and at the next one later.
    """
    if not share:
        return []
    found = re.fullmatch(r"([1-9]\d{0,3})/([1-9]\d{0,3})", share)
    if not found or int(found[1]) > int(found[2]):
        raise WorkbookError(
            f"SHARE={share} is no share of the tests",
            "SHARE=1/3 runs every third test from the first on, SHARE=3/3 from the third on",
            USAGE,
        )
    return ["-I", f"{found[1]},,{found[2]}"]


def needs_workloads(folder: Path, chosen: list[str]) -> bool:
    """Whether one of the chosen tests needs programs for the clock, which take minutes to build."""
    command = ["ctest", "--test-dir", str(folder), "-N", "-L", "needs_workloads", *chosen]
    listed = subprocess.run(command, env=build.environment(), capture_output=True, text=True).stdout
    return "Total Tests: 0" not in listed


def _want_package(program: str, package: str, why: str) -> None:
    """Installs what a test needs, where that takes no more than a package."""
    prefix = install.root_prefix()
    if shutil.which(program) or not shutil.which("apt-get") or prefix is None:
        return
    print(f"Installing {package}, which {why}", flush=True)
    env = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    for step in (["update", "-q"], ["install", "-y", "-q", "--no-install-recommends", package]):
        subprocess.run([*prefix, "apt-get", *step], env=env, capture_output=True)


def outputs() -> int:
    """Pastes what programs print into the READMEs that quote them and the tests"""
    folder = folders.prepare("emulator")
    wanted = [f"solution_{lesson.id}" for lesson in lessons()]
    wanted += ["solution_00_double_all", "lesson_00_double_all"]  # the tests' own lesson
    built = build.build(folder, wanted, "Building")
    if not built.ok:
        print(build.first_failure(built.text, 60))
        raise WorkbookError("the solutions did not build (see above)")
    env = {**build.environment(), "WORKBOOK_TEST_BUILD": str(folder)}
    tests = ROOT / "tests" / "workbook"
    for script, *arguments in (("fill_outputs.py",), ("test_golden.py", "--update")):
        command = [sys.executable, str(tests / script), *arguments]
        if code := subprocess.run(command, env=env, cwd=ROOT).returncode:
            return code
    return PASSED


def bench_emulator() -> int:
    """Builds and runs the emulator's benchmark."""
    folder = folders.prepare("emulator")
    built = build.build(folder, ["bench_emulator"])
    if not built.ok:
        print(build.tidy(built.text)[-4000:])
        raise WorkbookError("the benchmark did not build (see above)")
    program = next(
        (p for p in folder.rglob("bench_emulator") if p.is_file() and os.access(p, os.X_OK)), None
    )
    if program is None:
        raise WorkbookError(
            "the benchmark was built, and bench_emulator is not in the build folder"
        )
    env = dict(os.environ)
    env["LD_LIBRARY_PATH"] = f"{folder / 'emulator'}:{env.get('LD_LIBRARY_PATH', '')}".rstrip(":")
    return subprocess.run([str(program)], env=env).returncode


# --- formatting ----------------------------------------------------------------------------------


def sources(*suffixes: str) -> list[Path]:
    """Files of the repository with these endings; the students' .cu files are not among them."""
    found = []
    for folder, below, files in os.walk(ROOT):
        here = Path(folder)
        below[:] = [f for f in below if f != "__pycache__" and (here != ROOT or f in _OWN_FOLDERS)]
        for name in files:
            path = here / name
            student = path.suffix == ".cu" and path.is_relative_to(ROOT / "lessons")
            if path.suffix in suffixes and not student:
                found.append(path)
    return sorted(found)


def clang_format() -> str | None:
    """A clang-format of the right major version, or None."""
    for name in (f"clang-format-{CLANG_FORMAT_MAJOR}", "clang-format"):
        path = shutil.which(name)
        if path:
            done = subprocess.run([path, "--version"], capture_output=True, text=True)
            match = re.search(r"version (\d+)", done.stdout)
            if match and int(match.group(1)) == CLANG_FORMAT_MAJOR:
                return path
    return None


def ruff(install: bool = False) -> str | None:
    """ruff from PATH or .workbook/tools; with `install`, fetched from PyPI where it is missing."""
    own = pypi.TOOLS / "bin" / "ruff"
    if own.is_file():
        return str(own)
    if path := shutil.which("ruff"):
        return path
    if install and not pypi.install_tools(sorted({*pypi.tools_packages(), _RUFF})):
        return str(own)
    return None


def format_sources() -> int:
    """Formats C++, CUDA and Python in place, and writes the lists of commands; says what it could
    not.
    """
    command_lists.write()
    status = PASSED
    if tool := clang_format():
        subprocess.run([tool, "-i", *map(str, sources(".h", ".cpp", ".cu", ".cuh"))], check=True)
    else:
        print(f"clang-format is missing: apt-get install clang-format-{CLANG_FORMAT_MAJOR}")
        status = NOT_ABLE
    if tool := ruff(install=True):
        subprocess.run([tool, "format", "-q", str(ROOT)], check=True)
        subprocess.run([tool, "check", "-q", "--fix", str(ROOT)])
    else:
        print("ruff is missing and could not be fetched from PyPI: Python was not formatted")
        status = NOT_ABLE
    return status
