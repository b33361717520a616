# SPDX-License-Identifier: MIT
"""Finds each student's file for each lesson in a folder of submissions, however it is laid out.

A file is taken when its place and name say whose it is and of which lesson. Everything else is
reported, and nothing is guessed. Zip files are read in memory and never unpacked to the disk.
"""

from __future__ import annotations

import difflib
import io
import os
import re
import stat
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ..base import files
from ..base.project import Lesson, WorkbookError

_MOST_FILES = 200_000
_MOST_IN_ZIP = 5_000  # files
_MOST_ZIP_BYTES = 64 << 20  # of a zip inside of another
_IGNORED = re.compile(r"(?:\.|__MACOSX$|__pycache__$|build(?:-|$)|node_modules$|Thumbs\.db$)")
# Name_1234567_assignsubmission_file_ (a folder), the same before the name of a file.
_MOODLE = re.compile(r"(?P<student>.+?)_\d+_assignsubmission_(?:file|onlinetext)_?(?P<rest>.*)")
# ASSIGNMENT-submissions/ASSIGNMENT-student: how `gh classroom clone` names what it makes.
_CLONED = re.compile(r"(?P<prefix>.+-)submissions/(?P=prefix)(?P<student>[^/]+)")
_SOURCE = re.compile(r"\.(?:cu|cpp|cc|c|cuh|txt|cu\.txt)$", re.IGNORECASE)

# Words for what was recognised, in the order in which they are said.
STUDENTS, LESSONS, ZIPS, CLASSROOM, MOODLE, FLAT = (
    "folders per student", "folders per lesson", "zip files", "GitHub Classroom repositories",
    "a Moodle download", "files named after students",
)  # fmt: skip


@dataclass(frozen=True)
class Found:
    """One file: its place as shown, the parts of its path, and how to read it."""

    shown: str
    parts: tuple[str, ...]
    read: Callable[[], bytes]


@dataclass
class Submission:
    """What one student handed in for one lesson. With a problem there is nothing to grade."""

    student: str
    lesson: Lesson
    place: str = ""
    data: bytes = b""
    problem: str = ""
    notes: list[str] = field(default_factory=list)


@dataclass
class Collected:
    """All submissions, sorted by student and lesson, and what was seen on the way."""

    submissions: list[Submission] = field(default_factory=list)
    layouts: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    @property
    def students(self) -> list[str]:
        return sorted({one.student for one in self.submissions}, key=str.casefold)


class _Reader:
    """Lists the files of a folder, those in zip files too, and remarks on what is no file."""

    def __init__(self) -> None:
        self.remarks: list[str] = []
        self.zips = 0
        self._count = 0

    def files(self, root: Path) -> Iterator[Found]:
        for folder, folders, names in os.walk(root):
            folders[:] = sorted(name for name in folders if not _IGNORED.match(name))
            for name in folders:
                if os.path.islink(os.path.join(folder, name)):
                    self._remark(Path(folder, name).relative_to(root), "is a link: not followed")
            for name in sorted(name for name in names if not _IGNORED.match(name)):
                path = Path(folder, name)
                yield from self._file(path, path.relative_to(root))

    def _remark(self, path: Path | str, what: str) -> None:
        self.remarks.append(files.printable(f"{path} {what}"))

    def _file(self, path: Path, shown: Path) -> Iterator[Found]:
        self._count += 1
        if self._count > _MOST_FILES:
            raise WorkbookError(
                f"more than {_MOST_FILES} files", "is this the folder with the submissions?"
            )
        kind = path.lstat().st_mode
        if stat.S_ISLNK(kind):
            self._remark(shown, "is a link: not followed")
        elif not stat.S_ISREG(kind):
            self._remark(shown, f"is {files.kind_of(path) or 'no file'}: left out")
        elif path.suffix.lower() == ".zip":
            self.zips += 1
            try:
                with zipfile.ZipFile(path) as opened:
                    members = opened.infolist()
                parts = (*shown.parts[:-1], f"{shown.stem}.zip")
                yield from self._zipped(lambda: zipfile.ZipFile(path), members, str(shown), parts)
            except (zipfile.BadZipFile, OSError, NotImplementedError) as error:
                self._remark(shown, f"is no zip file that can be read ({error})")
        else:
            yield Found(files.printable(str(shown)), shown.parts, lambda: files.read_bytes(path))

    def _zipped(
        self,
        opened: Callable[[], zipfile.ZipFile],
        members: list[zipfile.ZipInfo],
        shown: str,
        parts: tuple[str, ...],
        deep: bool = False,
    ) -> Iterator[Found]:
        if len(members) > _MOST_IN_ZIP:
            self._remark(shown, f"holds more than {_MOST_IN_ZIP} files: left out")
            return
        for one in members:
            # Only names: nothing is written, so `..` and absolute paths lead nowhere.
            inside = one.filename.replace("\\", "/").split("/")
            inside = [part for part in inside if part not in ("", ".", "..")]
            if one.is_dir() or any(_IGNORED.match(part) for part in inside) or not inside:
                continue

            def read(one: zipfile.ZipInfo = one, limit: int = files.SOURCE_BYTES) -> bytes:
                with opened() as archive, archive.open(one) as file:
                    data = file.read(limit + 1)
                if len(data) > limit:
                    what = f"holds more than {limit >> 20} MiB"
                    raise files.NotReadable(Path(one.filename), what)
                return data

            name = f"{shown}/{one.filename}"
            if inside[-1].lower().endswith(".zip") and not deep:
                self.zips += 1
                try:
                    data = read(limit=_MOST_ZIP_BYTES)
                    with zipfile.ZipFile(io.BytesIO(data)) as inner:
                        listed = inner.infolist()
                    opener = lambda data=data: zipfile.ZipFile(io.BytesIO(data))  # noqa: E731
                    place = (*parts, *inside)
                    yield from self._zipped(opener, listed, name, place, deep=True)
                except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError) as error:
                    self._remark(name, f"is no zip file that can be read ({error})")
                continue
            yield Found(files.printable(name), (*parts, *inside), read)


class _Names:
    """Which lesson a name means."""

    def __init__(self, known: list[Lesson]) -> None:
        self._by_slug = {lesson.slug: lesson for lesson in known}
        self._by_id = {lesson.id: lesson for lesson in known}
        self._by_number = {int(lesson.number): lesson for lesson in known}

    def of_folder(self, name: str) -> Lesson | None:
        """`02_boundary_checks`, `02`, `lesson-2`, `boundary_checks`."""
        name = name.removesuffix(".zip").lower()
        if match := re.fullmatch(r"(?:lesson)?[-_ ]?(\d{1,2})", name):
            return self._by_number.get(int(match.group(1)))
        return self._by_id.get(name) or self._by_slug.get(name)

    def of_file(self, name: str) -> Lesson | None:
        return self._by_slug.get(name.removesuffix(".cu")) if name.endswith(".cu") else None

    def ending(self, name: str) -> tuple[str, Lesson] | None:
        """The student and lesson of `anna_boundary_checks.cu`."""
        for slug in sorted(self._by_slug, key=len, reverse=True):
            match = re.fullmatch(rf"(.+?)[-_ ]+(?:\d\d_)?{re.escape(slug)}\.cu", name)
            if match:
                return match.group(1), self._by_slug[slug]
        return None

    def nearly(self, name: str) -> Lesson | None:
        """The lesson whose file was probably meant by another name."""
        if not _SOURCE.search(name):
            return None
        plain = re.sub(r"[^a-z0-9]", "", _SOURCE.sub("", name).lower())
        for slug, lesson in sorted(self._by_slug.items(), key=lambda one: -len(one[0])):
            if slug.replace("_", "") in plain:
                return lesson
        by_plain = {slug.replace("_", ""): lesson for slug, lesson in self._by_slug.items()}
        close = difflib.get_close_matches(plain, by_plain, n=1, cutoff=0.85)
        return by_plain[close[0]] if close else None


def _unwrapped(found: list[Found], names: _Names) -> list[Found]:
    """Without folders that hold everything, such as `assignment-submissions/`."""
    while found:
        first = {one.parts[0] for one in found}
        below = {one.parts[1] for one in found if len(one.parts) > 2}
        if len(first) != 1 or any(len(one.parts) < 3 and not _MOODLE.match(one.parts[-1])
                                  for one in found):  # fmt: skip
            break
        if all(_CLONED.fullmatch("/".join(one.parts[:2])) for one in found):
            break  # which says where the students' names begin
        (top,) = first
        lesson_folders = any(names.of_folder(name) or name == "lessons" for name in below)
        if names.of_folder(top) or lesson_folders or (len(below) < 2 and "submissions" not in top):
            break
        found = [Found(one.shown, one.parts[1:], one.read) for one in found]
    return found


def _classroom_prefix(folder: str, found: list[Found]) -> str:
    """What the names of cloned repositories in a folder of that name begin with: the assignment's
    name and a hyphen.
    """
    tops = {one.parts[0] for one in found if "lessons" in one.parts[1:-1]}
    if tops and all(_CLONED.fullmatch(f"{folder}/{top}") for top in tops):
        return folder.removesuffix("submissions")
    others = {one.parts[0] for one in found} - tops
    if len(tops) < 2 or others:
        return ""
    prefix = os.path.commonprefix(sorted(tops))
    return prefix[: prefix.rfind("-") + 1]


def _owner(one: Found, names: _Names, prefix: str) -> tuple[str, str, Lesson | None, str]:
    """Student, layout, lesson where a folder says it, and the name of the file."""
    parts, name = list(one.parts), one.parts[-1]
    layout, lesson = "", None
    if len(parts) > 1 and (lesson := names.of_folder(parts[0])):
        layout, parts = LESSONS, parts[1:]
    top = parts[0]
    if len(parts) > 2 and (match := _CLONED.fullmatch(f"{top}/{parts[1]}")):
        return match.group("student"), CLASSROOM, lesson, name
    if match := _MOODLE.fullmatch(top):
        rest = match.group("rest")
        return match.group("student"), MOODLE, lesson, rest if len(parts) == 1 and rest else name
    if len(parts) > 1:
        if top.lower().endswith(".zip"):
            return top[:-4], layout or ZIPS, lesson, name
        if prefix:
            return top.removeprefix(prefix), CLASSROOM, lesson, name
        return top, layout or STUDENTS, lesson, name
    if lesson:  # 02_boundary_checks/anna.cu
        ending = names.ending(name)
        student = ending[0] if ending else name.removesuffix(".cu")
        if names.of_file(name):
            return "", LESSONS, lesson, name
        return student, LESSONS, lesson, f"{lesson.slug}.cu" if name.endswith(".cu") else name
    if ending := names.ending(name):
        return ending[0], FLAT, ending[1], f"{ending[1].slug}.cu"
    return "", FLAT, None, name


def collect(root: Path, known: list[Lesson], wanted: list[Lesson] | None) -> Collected:
    """The submissions below `root`; of `wanted` lessons each student has one, if only a problem."""
    reader, names = _Reader(), _Names(known)
    found = _unwrapped(list(reader.files(root)), names)
    if not found:
        what = "; ".join(reader.remarks[:3]) or "it is empty"
        raise WorkbookError(
            f"{root} holds no submissions: {what}",
            "SUBMISSIONS is the folder with what the students handed in: README, Grade a class",
        )
    prefix = _classroom_prefix(root.resolve().name, found)
    taken: dict[tuple[str, str], list[Found]] = {}
    odd: dict[tuple[str, str], list[str]] = {}  # misnamed, by student and lesson
    layouts: Counter[str] = Counter()
    students: dict[str, None] = {}
    collected = Collected(remarks=reader.remarks)
    for one in found:
        student, layout, lesson, name = _owner(one, names, prefix)
        student = files.printable(student).strip()
        meant = names.of_file(name)
        if meant and lesson and meant != lesson:
            lesson = None  # another lesson's file in this one's folder
        elif meant:
            lesson = meant
        elif not (near := names.nearly(name)) or (lesson and near != lesson):
            if student and one.parts[0] != name:
                students[student] = None
            lesson = None
        else:
            odd.setdefault((student, near.id), []).append(one.shown)
            students[student] = None
            continue
        if not student:
            if meant or lesson:
                collected.remarks.append(f"{one.shown}: nothing says whose file this is")
            continue
        if not lesson:
            continue
        layouts[layout] += 1
        students[student] = None
        taken.setdefault((student, lesson.id), []).append(one)
    if reader.zips and ZIPS not in layouts:
        layouts[ZIPS] = reader.zips
    order = (STUDENTS, LESSONS, ZIPS, CLASSROOM, MOODLE, FLAT)
    collected.layouts = [layout for layout in order if layouts[layout]]
    students.pop("", None)
    by_id = {lesson.id: lesson for lesson in known}
    chosen = wanted or [
        by_id[name] for name in by_id if any(key[1] == name for key in (*taken, *odd))
    ]
    for student in sorted(students, key=str.casefold):
        for lesson in chosen:
            key = (student, lesson.id)
            collected.submissions.append(
                _submission(student, lesson, taken.get(key, []), odd.get(key, []))
            )
    return collected


def _submission(student: str, lesson: Lesson, taken: list[Found], odd: list[str]) -> Submission:
    made = Submission(student, lesson)
    texts: dict[bytes, str] = {}
    for one in taken:
        try:
            texts.setdefault(one.read(), one.shown)
        except files.NotReadable as error:
            made.problem = f"unreadable: {one.shown} {error.strerror}"
        except (OSError, RuntimeError, zipfile.BadZipFile, NotImplementedError) as error:
            made.problem = f"unreadable: {one.shown}: {error}"
    if made.problem:
        return made
    if len(texts) > 1:
        made.problem = "duplicate: " + " and ".join(texts.values()) + " differ"
    elif not texts:
        made.problem = "missing"
        if odd:
            made.problem = f"misnamed: {', '.join(odd)} should be {lesson.slug}.cu"
    else:
        ((made.data, made.place),) = texts.items()
        if not made.data.strip(b"\x00 \t\r\n\xef\xbb\xbf"):
            made.problem = f"empty: {made.place}"
        if len(taken) > 1:
            made.notes.append(f"handed in {len(taken)} times, all the same")
        if odd:
            made.notes.append(f"also handed in: {', '.join(odd)}")
    return made
