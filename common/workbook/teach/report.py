# SPDX-License-Identifier: MIT
"""Writes the results of a class: grades.csv, class.json, junit.xml, index.html, students/*.html."""

from __future__ import annotations

import csv
import json
import os
import re
import xml.etree.ElementTree as ElementTree
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..answers import catalog
from ..base import files
from ..base.project import Lesson
from ..lesson.skeletons import of_lesson
from ..lesson.test_cases import cases_of
from . import alike, grading, scoring
from .layout import Collected, Submission
from .scoring import Points, Rules

_TEMPLATES = Path(__file__).resolve().parent / "templates"
_MOST_CAUSES, _MOST_EXAMPLES, _MOST_PAIRS = 15, 3, 60
# What a cell of the heat map says: its class in the style sheet, its sign, and its words.
CELLS = {
    "pass": ("✓", "passes"),
    "unsafe": ("!", "values right, but not safe"),
    "fail": ("✗", "fails"),
    "wait": ("–", "not run: an earlier task is wrong"),
    "none": ("·", "not graded"),
}


@dataclass
class Row:
    """One submission with its result; `result` is empty where there was nothing to grade."""

    submission: Submission
    result: dict[str, Any]
    points: Points

    @property
    def status(self) -> str:
        return str(self.result.get("status") or self.submission.problem.partition(":")[0])

    @property
    def first_cause(self) -> str:
        return str(self.result.get("first_cause") or self.submission.problem)

    def grade(self, name: str) -> str:
        """yes, no, or '' where that is not known."""
        value = self.result.get(name)
        return "" if value is None else "yes" if value else "no"


def rows_of(
    collected: Collected, results: dict[tuple[str, str], dict[str, Any]], rules: Rules
) -> list[Row]:
    """One row for each submission; results by student and lesson."""
    rows = []
    for one in collected.submissions:
        result = results.get((one.student, one.lesson.id), {})
        cases = result.get("cases") or _cases_without(one.lesson)
        void = not result or result["status"] in grading.VOID
        points = scoring.of_grade(rules.of(one.lesson), cases, bool(result.get("safe")), void)
        rows.append(Row(one, result, points))
    return rows


def _cases_without(lesson: Lesson) -> list[dict[str, Any]]:
    """The lesson's cases where none was run."""
    return [
        {"name": case.name, "task": min(case.task_numbers, default=0), "efficient": case.efficient,
         "right": False, "passed": False, "safe": False, "skipped": "", "ending": "",
         "message": ""}
        for case in cases_of(lesson)
    ]  # fmt: skip


def write(out: Path, collected: Collected, rows: list[Row]) -> None:
    """All reports of a class into the folder `out`."""
    out.mkdir(parents=True, exist_ok=True)
    pages = _pages(collected.students)
    _write_csv(out / "grades.csv", rows)
    _write(out / "class.json", json.dumps(_as_json(collected, rows), indent=1, ensure_ascii=False))
    _write_junit(out / "junit.xml", rows)
    folder = out / "students"
    folder.mkdir(exist_ok=True)
    for student in collected.students:
        own = [row for row in rows if row.submission.student == student]
        _write(folder / pages[student], page_of_student(student, own))
    for old in folder.glob("*.html"):
        if old.name not in pages.values():
            old.unlink()
    _write(out / "index.html", _page_of_class(collected, rows, pages))


def _write(path: Path, text: str) -> None:
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.write_text(text, encoding="utf-8", errors="replace")
    os.replace(draft, path)


def _pages(students: list[str]) -> dict[str, str]:
    """The name of each student's page: letters that any mail program and web server takes."""
    names: dict[str, str] = {}
    for student in students:
        plain = re.sub(r"[^A-Za-z0-9._-]+", "-", student).strip("-.")[:60] or "student"
        name, count = plain, 1
        while f"{name}.html".lower() in {one.lower() for one in names.values()}:
            count += 1
            name = f"{plain}-{count}"
        names[student] = f"{name}.html"
    return names


# --- tables for programs --------------------------------------------------------------------------


def _number(value: float) -> str:
    return f"{value:g}"


def _cell(text: str) -> str:
    """Text that no spreadsheet takes for a formula."""
    text = " ".join(text.split())
    return "'" + text if text[:1] in ("=", "+", "-", "@") else text


def _write_csv(path: Path, rows: list[Row]) -> None:
    most = max((len(row.points.tasks) for row in rows), default=0)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    with open(draft, "w", encoding="utf-8", errors="replace", newline="") as file:
        out = csv.writer(file)
        out.writerow(
            ["student", "lesson", "points", "of", *(f"task {n + 1}" for n in range(most)),
             "safe points", "efficient points", "correct", "safe", "efficient", "status",
             "first cause", "file"]
        )  # fmt: skip
        for row in rows:
            tasks = [_number(one[0]) for one in row.points.tasks]
            out.writerow(
                [_cell(row.submission.student), row.submission.lesson.number,
                 _number(row.points.total), _number(row.points.most),
                 *tasks, *[""] * (most - len(tasks)),
                 _number(row.points.safe[0]), _number(row.points.efficient[0]),
                 *(row.grade(name) for name in ("correct", "safe", "efficient")),
                 row.status, _cell(row.first_cause), _cell(row.submission.place)]
            )  # fmt: skip
    os.replace(draft, path)


def as_json(row: Row) -> dict[str, Any]:
    """One submission for other programs; README documents the fields."""
    one, points = row.submission, row.points
    return {
        "student": one.student,
        "lesson": one.lesson.id,
        "file": one.place,
        "status": row.status,
        "problem": one.problem,
        "notes": one.notes,
        "points": points.total,
        "of": points.most,
        "task_points": [list(task) for task in points.tasks],
        "safe_points": list(points.safe),
        "efficient_points": list(points.efficient),
        "correct": row.result.get("correct"),
        "safe": row.result.get("safe"),
        "efficient": row.result.get("efficient"),
        "first_cause": row.first_cause,
        "build_error": row.result.get("build_error", ""),
        "tests": row.result.get("cases", []),
    }


def _as_json(collected: Collected, rows: list[Row]) -> dict[str, Any]:
    return {
        "version": grading.VERSION,
        "layouts": collected.layouts,
        "remarks": collected.remarks,
        "submissions": [as_json(row) for row in rows],
    }


def _write_junit(path: Path, rows: list[Row]) -> None:
    """A suite for each student and lesson, a test case for each of the lesson's."""
    root = ElementTree.Element("testsuites", name="CUDA Workbook")
    for row in rows:
        one = row.submission
        cases = row.result.get("cases") or _cases_without(one.lesson)
        suite = ElementTree.SubElement(
            root, "testsuite", name=_xml(f"{one.student} · {one.lesson.id}")
        )
        failed = skipped = 0
        for case in cases:
            made = ElementTree.SubElement(
                suite, "testcase", classname=_xml(f"{one.student}.{one.lesson.id}"),
                name=_xml(case["name"]), time=str(case.get("seconds", 0)),
            )  # fmt: skip
            if case["skipped"]:
                skipped += 1
                ElementTree.SubElement(made, "skipped", message=case["skipped"])
            elif not case["passed"]:
                failed += 1
                words = case["message"] or row.first_cause
                about = ElementTree.SubElement(
                    made, "failure", message=_xml(words.partition("\n")[0])
                )
                about.text = _xml(words)
        suite.set("tests", str(len(cases)))
        suite.set("failures", str(failed))
        suite.set("skipped", str(skipped))
    ElementTree.indent(root)
    _write(path, ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n")


def _xml(text: str) -> str:
    return re.sub(
        "[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "?", files.printable(text)
    )


# --- pages ----------------------------------------------------------------------------------------


def _template(name: str) -> Any:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES), autoescape=True, trim_blocks=True,
        lstrip_blocks=True, undefined=jinja2.StrictUndefined,
    )  # fmt: skip
    environment.filters["number"] = _number
    return environment.get_template(name)


def _kind(case: dict[str, Any]) -> str:
    if case["passed"]:
        return "pass"
    if case["skipped"]:
        return "wait"
    return "unsafe" if case["right"] else "fail"


def _line_kind(line: str) -> str:
    """The class of a line of a student's screen, by the sign that it starts with."""
    start = line.strip()[:1]
    return {"✓": "pass", "✗": "fail", "–": "wait"}.get(start, "")


def page_of_student(student: str, rows: list[Row]) -> str:
    """The feedback for one student: can be mailed, since it names no other student."""
    parts = [
        {
            "row": row,
            "lesson": row.submission.lesson,
            "tasks": [(n + 1, *task) for n, task in enumerate(row.points.tasks)],
            "screen": [
                (line, _line_kind(line)) for line in row.result.get("screen", "").splitlines()[1:]
            ],
        }
        for row in rows
    ]
    total = sum(row.points.total for row in rows), sum(row.points.most for row in rows)
    return str(_template("student.html.j2").render(student=student, parts=parts, total=total))


def _page_of_class(collected: Collected, rows: list[Row], pages: dict[str, str]) -> str:
    by_lesson: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_lesson[row.submission.lesson.id].append(row)
    shown = [_lesson(own) for own in by_lesson.values()]
    problems = [row for row in rows if row.submission.problem]
    attention = [row for row in rows if row.status in (grading.REFUSED, grading.TAMPERED,
                                                       grading.BROKEN)]  # fmt: skip
    return str(
        _template("class.html.j2").render(
            collected=collected, rows=rows, pages=pages, lessons=shown, problems=problems,
            attention=attention, cells=CELLS, graded=sum(bool(row.result) for row in rows),
            passed=sum(row.status == grading.PASSED for row in rows),
        )
    )  # fmt: skip


def _lesson(rows: list[Row]) -> dict[str, Any]:
    """One lesson's part of the class page."""
    lesson = rows[0].submission.lesson
    names = [case.name for case in cases_of(lesson)]
    cells = {
        row.submission.student: {
            case["name"]: (_kind(case), case["message"].partition("\n")[0])
            for case in row.result.get("cases", [])
        }
        for row in rows
    }
    rate = []
    for name in names:
        run = [own[name][0] for own in cells.values() if name in own]
        rate.append(round(100 * run.count("pass") / len(run)) if run else None)
    totals = [row.points.total for row in rows if row.result]
    return {
        "lesson": lesson,
        "rows": rows,
        "tests": list(zip(names, rate, strict=True)),
        "cells": cells,
        "causes": _causes(rows),
        "alike": _alike(lesson, rows),
        "graded": len(totals),
        "passed": sum(row.status == grading.PASSED for row in rows),
        "mean": sum(totals) / len(totals) if totals else 0.0,
        "most": rows[0].points.most,
    }


def _causes(rows: list[Row]) -> list[dict[str, Any]]:
    """The commonest causes: by how many students, with lines of theirs as examples."""
    students: Counter[str] = Counter()
    examples: dict[str, list[tuple[str, str, int]]] = defaultdict(list)
    for row in rows:
        for cause in row.result.get("causes", []):
            words = _general(cause["words"])
            students[words] += 1
            seen = {code for _, code, _ in examples[words]}
            if cause["code"] and cause["code"] not in seen and len(seen) < _MOST_EXAMPLES:
                examples[words].append((row.submission.student, cause["code"], cause["line"]))
    return [
        {"words": words, "students": count, "examples": examples[words]}
        for words, count in students.most_common(_MOST_CAUSES)
    ]


def _general(words: str) -> str:
    """A cause without the numbers that differ between students."""
    return re.sub(r"\d[\d,.]*", "N", words) if len(re.findall(r"\d", words)) > 3 else words


def _alike(lesson: Lesson, rows: list[Row]) -> dict[str, Any]:
    """Equal files, and pairs that are nearly so."""
    same: dict[bytes, list[str]] = defaultdict(list)
    for row in rows:
        if row.submission.data and row.result and row.status != grading.UNCHANGED:
            same[row.submission.data].append(row.submission.student)
    texts = {
        names[0]: grading.own_code(data.decode("utf-8", "replace")) for data, names in same.items()
    }
    given = [of_lesson(lesson).text, grading.own_code(files.read_text(lesson.solution_file))]
    given += [one.expand()[0] for one in catalog.of_lesson(lesson, catalog.UNUSUAL).values()]
    return {
        "equal": [names for names in same.values() if len(names) > 1],
        "pairs": alike.pairs(texts, given)[:_MOST_PAIRS],
    }
