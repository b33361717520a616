# SPDX-License-Identifier: MIT
"""Where things are: the repository, its lessons and the folders that the loop writes to."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from . import files

ROOT = Path(__file__).resolve().parents[3]

# Exit codes of every command.
PASSED, NOT_PASSED, USAGE, NOT_ABLE = 0, 1, 2, 3
# The emulated device itself failed; also the exit code of a program that it ended for that.
INTERNAL = 70


class WorkbookError(Exception):
    """A message for the user: what is wrong, and what to do about it. `log` is shown before it."""

    def __init__(self, message: str, to_do: str = "", code: int = NOT_ABLE, log: str = "") -> None:
        super().__init__(message)
        self.to_do = to_do
        self.code = code
        self.log = log


class DeviceFailed(WorkbookError):
    """The emulated device itself failed, so there is no grade."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"the emulated device crashed ({what})",
            "this is the workbook's fault, not your file's, and nothing was graded: make doctor\n"
            "  shows whether the device works on this machine. Please report it.",
            INTERNAL,
        )


@dataclass(frozen=True)
class Lesson:
    """One lesson by its id, such as `02_boundary_checks`."""

    id: str
    root: Path = ROOT

    @property
    def number(self) -> str:
        return self.id.split("_", 1)[0]

    @property
    def slug(self) -> str:
        return self.id.split("_", 1)[1]

    @property
    def folder(self) -> Path:
        return self.root / "lessons" / self.id

    @property
    def solution_folder(self) -> Path:
        return self.root / "solutions" / self.id

    @property
    def student_file(self) -> Path:
        return self.folder / f"{self.slug}.cu"

    @property
    def solution_file(self) -> Path:
        return self.solution_folder / f"{self.slug}.cu"

    @property
    def test_folder(self) -> Path:
        return self.root / "tests" / "lessons" / self.id

    @property
    def test_files(self) -> list[Path]:
        """The sources of its tests by name, which is the order in which their cases are shown."""
        return sorted(self.test_folder.glob("test_*.cpp"))

    @property
    def workload_file(self) -> Path:
        """What a card times; need not exist."""
        return self.test_folder / "workload.cpp"

    @property
    def has_kernel(self) -> bool:
        """Whether there is anything of the student's for the device to run, and so to draw."""
        try:
            paths = (self.student_file, self.solution_file)
            return any("__global__" in files.read_text(path) for path in paths)
        except OSError:
            return True

    @property
    def title(self) -> str:
        """The README's first heading without its number: `Boundary checks`."""
        heading = first_heading(self.folder / "README.md")
        if not heading:
            return self.slug.replace("_", " ").capitalize()
        heading = re.sub(r"^(?:Lesson\s+)?\d+\s*[·:.–—-]*\s*", "", heading)
        return heading.strip() or self.slug


def first_heading(path: Path) -> str:
    """The text of a Markdown file's first `# ` heading, or ''."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError:
        return ""
    match = re.search(r"^# +(.+?)\s*$", text, re.MULTILINE)
    return match.group(1) if match else ""


def lessons(root: Path = ROOT) -> list[Lesson]:
    """All lessons in teaching order, from the one list in lessons/CMakeLists.txt."""
    path = root / "lessons" / "CMakeLists.txt"
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise WorkbookError(f"cannot read the list of lessons: {error}") from error
    text = re.sub(r"#.*", "", text)
    match = re.search(r"set\s*\(\s*WORKBOOK_LESSONS\s+([^)]*)\)", text)
    if not match:
        raise WorkbookError(f"{path}: no set(WORKBOOK_LESSONS ...) found")
    return [Lesson(name, root) for name in match.group(1).split()]


def find_lesson(number: str, root: Path = ROOT) -> Lesson:
    """The lesson called `number`: `02`, `2`, its whole id, or its folder's path."""
    known = lessons(root)
    number = number.rstrip("/").rpartition("/")[2]
    for lesson in known:
        if number == lesson.id or (number.isdigit() and int(number) == int(lesson.number)):
            return lesson
    listed = ", ".join(lesson.number for lesson in known)
    raise WorkbookError(f"there is no lesson {number}", f"the lessons are {listed}", USAGE)


def build_folder(device: str = "emulator") -> Path:
    """Where CMake builds for `device`."""
    return ROOT / ("build-gpu" if device == "gpu" else "build")


def state_folder() -> Path:
    """What the loop remembers: progress, backups, the local compiler. Created on demand."""
    folder = ROOT / ".workbook"
    folder.mkdir(exist_ok=True)
    return folder


def devices_wanted() -> list[str]:
    """The value of DEVICE as a list: emulator, gpu or both."""
    wanted = os.environ.get("DEVICE") or "emulator"
    if wanted == "both":
        return ["emulator", "gpu"]
    if wanted in ("emulator", "gpu"):
        return [wanted]
    raise WorkbookError(f"DEVICE={wanted} is not known", "DEVICE is emulator, gpu or both", USAGE)


def cores() -> int:
    """Cores this process may use."""
    return max(1, len(os.sched_getaffinity(0)))


def relative(path: str | Path) -> str:
    """`path` relative to the repository where it lies inside, else unchanged."""
    text = str(path)
    prefix = str(ROOT) + os.sep
    return text[len(prefix) :] if text.startswith(prefix) else text
