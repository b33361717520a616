# SPDX-License-Identifier: MIT
"""Grades one submission in sandboxes; the result is plain data.

What is graded once is kept (OUT/graded): by the text of the file, the lesson, and everything that
judges it. So a run that was interrupted goes on, and two equal files are graded once.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
import tempfile
import threading
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from ..base import files
from ..base.project import USAGE, Lesson, WorkbookError
from ..build import build_cache, compile_commands, programs
from ..diagnose import cause_of
from ..judge.grade import Grade, grade_program
from ..lesson import own_lines, skeletons
from ..running import runner
from ..running.case_result import BUSY, CaseResult
from ..show import grade_all, grade_screen
from . import sandboxed_build

VERSION = 1  # of the data that is kept
# How a graded file is called in every report.
PASSED, NOT_PASSED, NOT_COMPILED, REFUSED, TAMPERED, UNCHANGED, BROKEN = (
    "passed", "not passed", "does not compile", "refused", "tampered", "unchanged", "not graded",
)  # fmt: skip
VOID = (REFUSED, TAMPERED, UNCHANGED, BROKEN, NOT_COMPILED)  # statuses without points
_NAMES = {"seconds", "memory", "output", "compile_seconds", "compile_memory"}


@dataclass(frozen=True)
class ClassLimits:
    """What one submission may use: a test case, and the compiler. Memory and output in MiB."""

    seconds: float = 15
    memory: float = 900
    output: float = 4
    compile_seconds: float = 60
    compile_memory: float = 3072

    @classmethod
    def of(cls, text: str) -> ClassLimits:
        """LIMITS="seconds=30 memory=2000"."""
        values = {}
        for word in text.replace(",", " ").split():
            name, _, value = word.partition("=")
            try:
                values[name] = float(value)
            except ValueError:
                values[name] = -1.0
            if name not in _NAMES or not 0 < values[name] < 1e6:
                raise WorkbookError(
                    f'LIMITS="{text}": {word} is not understood',
                    f'LIMITS="seconds=30 memory=2000"; names: {", ".join(sorted(_NAMES))}',
                    USAGE,
                )
        return cls(**values)

    def of_case(self) -> runner.Limits:
        return runner.Limits(self.seconds, int(self.memory) << 20, int(self.output * (1 << 20)))


class Grader:
    """Grades submissions of several lessons; safe to call from several threads."""

    def __init__(self, build: Path, kept: Path, limits: ClassLimits) -> None:
        self._build, self._kept, self._limits = build, kept, limits
        self._states: dict[str, str] = {}
        self._unchanged: dict[str, str] = {}
        self._lock = threading.Lock()
        self.stopping = threading.Event()

    def key(self, lesson: Lesson, data: bytes) -> str:
        """Equal for two files that get the same grade."""
        with self._lock:
            if lesson.id not in self._states:
                self._states[lesson.id] = self._state(lesson)
                self._unchanged[lesson.id] = skeletons.of_lesson(lesson).text
        parts = (self._states[lesson.id].encode(), data)
        return hashlib.sha256(b"\0".join(parts)).hexdigest()[:24]

    def _state(self, lesson: Lesson) -> str:
        """Everything that a grade depends on, besides the file."""
        found = compile_commands.of(self._build, lesson.solution_file, f"solution_{lesson.id}")
        command = build_cache.command_key(found[0]) if found else []
        _, inputs = programs.linked_with(self._build, lesson)
        judges = [*map(Path, inputs), self._build / "emulator" / "libcudart.so"]
        judges += sorted(lesson.folder.glob("*.h"))
        digests = [hashlib.sha256(path.read_bytes()).hexdigest() for path in judges]
        return json.dumps([VERSION, lesson.id, command, digests, asdict(self._limits)])

    def earlier(self, lesson: Lesson, data: bytes) -> dict[str, Any] | None:
        """What an earlier run has found."""
        try:
            text = files.read_text(self._file(lesson, self.key(lesson, data)), 64 << 20)
            return dict(json.loads(text))
        except (OSError, ValueError):
            return None

    def _file(self, lesson: Lesson, key: str) -> Path:
        return self._kept / lesson.id / f"{key}.json"

    def grade(self, lesson: Lesson, data: bytes, alone: bool = False) -> dict[str, Any]:
        """Grades a file, and keeps the result unless the run is being stopped. One with `again` was
        reached while other programs used the processors: grade the file once more, `alone`.
        """
        key = self.key(lesson, data)
        result = self._graded(lesson, data)
        result["key"] = key
        result["again"] = not alone and bool(result.get("hurried"))
        if result["again"]:
            return result
        if not self.stopping.is_set() and result["status"] != BROKEN:
            path = self._file(lesson, key)
            path.parent.mkdir(parents=True, exist_ok=True)
            draft = path.with_suffix(f".{os.getpid()}-{threading.get_ident()}")
            draft.write_text(json.dumps(result), encoding="utf-8")
            os.replace(draft, path)
        return result

    def _graded(self, lesson: Lesson, data: bytes) -> dict[str, Any]:
        text = data.decode("utf-8", "replace")
        if text == self._unchanged[lesson.id]:
            return {"status": UNCHANGED, "first_cause": "the file is as it was handed out"}
        place = Path(tempfile.mkdtemp(prefix="workbook-class-"))
        try:
            place.chmod(0o755)
            source = place / f"{lesson.slug}.cu"
            source.write_bytes(data)
            source.chmod(0o644)
            for header in lesson.folder.glob("*.h"):  # messages look constants up there
                shutil.copy(header, place)
            made = _as_data(self._grade(lesson, source, place), text)
        except WorkbookError as error:  # the workbook's fault, or the machine's: never a grade
            return {"status": BROKEN, "first_cause": f"{error}"}
        except Exception as error:
            return {"status": BROKEN, "first_cause": f"internal error: {error!r}"}
        finally:
            shutil.rmtree(place, ignore_errors=True)
        return made

    def _grade(self, lesson: Lesson, source: Path, place: Path) -> Grade:
        limits = self._limits
        compiler = sandboxed_build.Compiler(
            lesson, self._build, limits.compile_seconds, int(limits.compile_memory) << 20
        )
        try:
            program, said = compiler.program_of(source, place)
        except programs.BuildFailed as failed:
            return Grade(
                lesson,
                "emulator",
                build_stage=failed.stage,
                build_error=files.printable(str(failed)),
            )
        grade = grade_program(
            lesson, program, "emulator", self._build, jobs=1, limits=limits.of_case(),
            box=compiler.box_of(source),
        )  # fmt: skip
        grade.compiler_warnings = said
        return grade


def _as_data(grade: Grade, text: str) -> dict[str, Any]:
    """A grade as reports need it."""
    ends = {result.ending for result in grade.results}
    if grade.build_error:
        status = REFUSED if grade.build_stage == "refused" else NOT_COMPILED
    elif "tampered" in ends:
        status = TAMPERED
    elif grade.busy:
        status = BROKEN
    else:
        status = PASSED if grade.passed else NOT_PASSED
    return {
        "status": status,
        "correct": bool(grade.correct),
        "safe": grade.safe,
        "efficient": grade.efficient,
        "first_cause": _first_cause(grade),
        "cases": _cases(grade),
        "causes": _causes(grade, text.splitlines()),
        "screen": _screen(grade),
        "hurried": any(map(_hurried, grade.results)),
        "build_error": grade.build_error[:8000],
    }


def _hurried(result: CaseResult) -> bool:
    """Whether a case ran out of time while it also waited for a processor."""
    waited = result.by_the_clock > 1.2 * result.seconds
    return result.skipped == BUSY or (result.ending == "times-out" and waited)


def _first_cause(grade: Grade) -> str:
    """Why it did not pass, in one line."""
    if grade.busy:
        one = grade.busy[0]
        return (
            f"the machine was busy: a test had {one.used:.0f} s of processor time in "
            f"{one.by_the_clock:.0f} s; grade the file again"
        )
    if grade.build_error:
        return grade_all.first_problem(grade) + ": " + _first_line(grade.build_error)
    told = [result for result in grade.results if not result.passed and not result.skipped]
    for result in sorted(told, key=lambda one: one.ending != "tampered"):
        words = cause_of(result) or result.ended
        if result.findings:
            first = result.findings[0]
            words = words or str(first.data.get("message", ""))
            words += f" ({first.code}{f', line {first.line}' if first.line else ''})"
        return files.printable(f"{result.case.task}: {words or result.case.title}")
    return ""


def _first_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    # Where the compiler was stopped, that is its last word, and the cause of what it says before.
    told = [line for line in lines if line.startswith("error: the compiler was stopped")]
    told += [line for line in lines if "error" in line.lower()]
    return next(iter(told + lines), "")[:300]


def _cases(grade: Grade) -> list[dict[str, Any]]:
    found = []
    for result in grade.results:
        numbers = sorted(result.case.task_numbers)
        found.append(
            {
                "name": result.case.name,
                "task": numbers[0] if numbers else 0,
                "efficient": result.case.efficient,
                "right": result.values_right,
                "safe": result.safe,
                "passed": result.passed,
                "skipped": result.skipped,
                "ending": result.ending,
                "seconds": round(result.seconds, 3),
                "message": files.printable(_message(result))[:2000],
            }
        )
    return found


def _message(result: Any) -> str:
    if result.passed or result.skipped:
        return ""
    said = [result.ended, cause_of(result)]
    said += [f"{f.place}: {f.data.get('message', '')}" for f in result.findings[:3]]
    if not any(said):
        said = [result.exception(), *result.texts()[:3]]
        said += [failure.expansion or failure.expression for failure in result.outcome.failures[:1]]
    return "\n".join(line for line in said if line)


def _causes(grade: Grade, lines: list[str]) -> list[dict[str, Any]]:
    """Each cause once, with a line of the file where one is known."""
    found: dict[str, dict[str, Any]] = {}

    def add(words: str, line: int = 0) -> None:
        words = files.printable(words)[:300]
        code = lines[line - 1].strip()[:160] if 0 < line <= len(lines) else ""
        kept = found.setdefault(
            words, {"words": words, "line": line, "code": files.printable(code)}
        )
        if not kept["code"]:
            kept.update(line=line, code=files.printable(code))

    if grade.build_error:
        first = grade_screen.compiler.first_error(grade.build_error)
        stage = grade_all.first_problem(grade)
        why = grade_screen.compiler.looks_like(grade.build_error) or _first_line(grade.build_error)
        add(f"{stage}: {why}", int(first[0]) if first else 0)
    starts = _first_lines(lines)
    for result in grade.results:
        if result.passed or result.skipped:
            continue
        unsafe = [one for one in result.findings if one.unsafe]
        task = min(result.case.task_numbers, default=0)
        line = unsafe[0].line if unsafe else starts.get(task, 0)
        if cause := cause_of(result):
            add(cause, line)
        elif unsafe:
            add(unsafe[0].code, line)
        elif result.ended:
            add(result.ended)
    return list(found.values())


def _first_lines(lines: list[str]) -> dict[int, int]:
    """The first line of code in each task, counted from 1: where nothing says which line it is."""
    found: dict[int, int] = {}
    task = 0
    for number, line in enumerate(lines, 1):
        if match := re.match(r"\s*// TODO (\d+)\b", line):
            task = int(match.group(1))
        elif re.match(r"\s*// END\b", line):
            task = 0
        elif task and line.strip() and not line.lstrip().startswith("//"):
            found.setdefault(task, number)
    return found


def _screen(grade: Grade) -> str:
    """The screen that the student would see."""
    out = io.StringIO()
    console = Console(file=out, width=96, highlight=False, emoji=False, markup=False)
    grade_screen.show_grade(grade, console, advice=False)
    return files.printable(out.getvalue())[:200_000]


def own_code(text: str) -> str:
    """What stands between TODO and END, where the student has kept these marks."""
    inside = own_lines.in_tasks(text)
    kept = [line for number, line in enumerate(text.splitlines(), 1) if number in inside]
    return "\n".join(kept) if kept else text
