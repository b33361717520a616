# SPDX-License-Identifier: MIT
"""Checks programs of one lesson: solution, skeleton, mutants, variants, unusual right answers.

    check_program.py mutant 02_boundary_checks NAME...

A mutant does what its verdicts say and nothing else; workbook/answers/verdicts.py has their
grammar. With NAMED=1 in the environment it runs in the cases that they name and a student is shown,
and in others until each has come true: that is seen of every answer in a third of the time, and
whether other cases pass is not.

A variant is one rung of a lesson's ladder (`solutions/NN_slug/variants/K_name.cu`): right and safe,
and efficient too, unless `// verdict: efficient` lines say what it does too much of.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from workbook.answers import catalog, verdicts
from workbook.author.shared_headers import Compiler, NotShared
from workbook.base.project import DeviceFailed, Lesson, WorkbookError, find_lesson
from workbook.build import programs
from workbook.build.programs import BuildFailed
from workbook.judge.grade import Grade, grade_program, run_case
from workbook.lesson import skeletons, test_cases
from workbook.lesson.test_cases import TestCase
from workbook.running import runner, timing

BUILD = Path(os.environ["WORKBOOK_TEST_BUILD"])
DEVICE = os.environ.get("WORKBOOK_TEST_DEVICE", "emulator")
FIXTURE = Path(__file__).resolve().parent / "fixture"
NAMED = bool(os.environ.get("NAMED"))


def the_lesson(name: str) -> Lesson:
    """A real lesson, or the tests' own."""
    return Lesson(name, FIXTURE) if name.startswith("00_double") else find_lesson(name)


def compiled(lesson: Lesson, source: Path) -> tuple[Path, str]:
    """`source` in the place of the lesson's solution, and the compiler's words."""
    return programs.compiled(BUILD, lesson, source, quick=True)


def graded(
    lesson: Lesson,
    program: Path,
    seconds: float | None = None,
    cases: Sequence[TestCase] | None = None,
) -> Grade:
    """The grade in `cases`, or in all, with `seconds` for each, or so many that all are enough."""
    limits = dataclasses.replace(runner.Limits.on(DEVICE), seconds=seconds or 120)
    return grade_program(
        lesson, program, DEVICE, BUILD, jobs=2, limits=limits, cases=cases, thorough=True
    )


def fail(grade: Grade | None, reasons: list[str]) -> int:
    """Shows the grade and why this test fails."""
    if grade:
        from workbook.show import grade_screen

        grade_screen.show_grade(grade, advice=False)
        for result in grade.results:
            if result.output.strip() and not result.passed:
                print(f"--- output of {result.case.name}\n{result.output[-1500:]}")
    for reason in reasons:
        print("FAILED:", reason)
    return 1


def check_right(lesson: Lesson, program: Path) -> int:
    """A solution or an unusual right answer: all three grades."""
    grade = graded(lesson, program)
    if not grade.passed:
        return fail(grade, ["a right answer did not get all three grades"])
    if DEVICE == "emulator" and not grade.counted:
        return fail(grade, ["the lesson's test has no [efficient] case"])
    print(f"{len(grade.results)} test cases passed")
    return 0


def check_solution(lesson: Lesson) -> int:
    """All three grades, in a program that has the cases that are read from the tests' source."""
    program = programs.built(BUILD, f"solution_{lesson.id}")
    wrong = check_names(lesson, program) if DEVICE == "emulator" else 0
    return check_right(lesson, program) or wrong


def check_skeleton(lesson: Lesson) -> int:
    """Builds without a warning, raises no finding, runs to the end, fails every task by value."""
    skeleton = skeletons.of_lesson(lesson)
    source = programs.skeleton_file(BUILD, lesson)
    program, said = compiled(lesson, source)
    grade = graded(lesson, program)
    reasons = []
    if said.strip():
        reasons.append(f"the compiler says something about the skeleton:\n{said}")
    for finding in grade.merged_findings():
        reasons.append(f"the skeleton raises {finding.code} at {finding.place}")
    for result in grade.results:
        if result.ended:
            reasons.append(f"{result.case.name}: {result.ended}")
        elif result.exception():
            reasons.append(f"{result.case.name}: fails by an exception, {result.exception()}")
    tasks = sorted({r.case.task for r in grade.results if r.case.task.startswith("task ")})
    if tasks != [f"task {number}" for number in skeleton.tasks]:
        reasons.append(f"the TODOs are {skeleton.tasks}, the tests' tags are {tasks}")
    for task in tasks:
        if all(r.values_right for r in grade.results if r.case.task == task):
            reasons.append(f"{task} passes without the student's work")
    if reasons:
        return fail(grade, reasons)
    print(f"the skeleton fails {len(tasks)} tasks by value, as it should")
    return 0


def device_fails() -> str:
    """'' where a right program passes on this device, else how it fails.

    Some wrong answers fail before they launch anything: their verdicts would come true on a device
    that can launch nothing.
    """
    right = the_lesson("00_double_all")
    cases = test_cases.cases_of(right)
    case = next(case for case in cases if case.name == "task 2: counts up")
    program = programs.built(BUILD, f"solution_{right.id}")
    result = run_case(program, case, DEVICE, BUILD)
    if result.passed:
        return ""
    return f"the device itself fails: {case.name} of a right answer {result.ended or 'fails'}"


def check_device() -> int:
    """Whether wrong answers can be judged here."""
    why = device_fails()
    return fail(None, [why]) if why else 0


def check_mutant(lesson: Lesson, name: str, compiler: Compiler | None = None) -> int:
    """A wrong answer: every verdict comes true, and nothing else happens."""
    try:
        mutant = catalog.find(lesson, name)
        source, marks = catalog.written(BUILD, mutant)
    except catalog.BadAnswer as error:
        return fail(None, [f"{error}\n  to do: {error.to_do}"])
    return check_verdicts(lesson, source, mutant.verdicts, marks, compiler)


def check_verdicts(
    lesson: Lesson,
    source: Path,
    wanted: verdicts.Verdicts,
    marks: dict[str, int],
    compiler: Compiler | None = None,
) -> int:
    """Builds and grades `source`, and holds what happens against the verdicts."""
    try:
        program = quickly_compiled(lesson, source, compiler)
    except BuildFailed as error:
        # The compiler's own words about this file, and not a broken compiler.
        blamed = re.search(rf"{re.escape(source.name)}\(\d+\): error", str(error))
        if error.stage == wanted.build_stage and (blamed or error.stage != "compile"):
            print(f"came true: {wanted}")
            return 0
        return fail(None, [f"it does not {error.stage}: {error}"])
    if wanted.build_stage:
        return fail(None, [f"it builds, and `{wanted}` is expected"])
    grade, true, wrong = judged(lesson, program, source, wanted, marks)
    if wrong:
        return fail(grade, wrong)
    print("\n".join(f"came true: {verdict}" for verdict in true))
    return 0


def quickly_compiled(lesson: Lesson, source: Path, compiler: Compiler | None) -> Path:
    """The program of a wrong answer, by nvcc itself where nothing else will do."""
    if compiler:
        try:
            return programs.linked(BUILD, lesson, source, compiler.object_of(source))
        except NotShared as why:
            print(f"compiled by nvcc itself: {why}")
    return compiled(lesson, source)[0]


def judged(
    lesson: Lesson,
    program: Path,
    source: Path,
    wanted: verdicts.Verdicts,
    marks: dict[str, int],
) -> tuple[Grade, list[str], list[str]]:
    """The grade, which verdicts came true, and what is wrong with them."""
    cases = test_cases.cases_of(lesson)
    try:
        named = verdicts.cases_of(wanted, cases) if NAMED else cases
    except verdicts.BadVerdict:
        named = cases
    # Whether a count is off in a right program is known only where something was right.
    first = next((case for case in cases if not case.efficient and case not in named), None)
    if first and all(case.efficient for case in named):
        named = [first, *named]
    others = [case for case in cases if case not in named]
    tasks = {number for case in named for number in case.task_numbers}
    others.sort(key=lambda case: (case.efficient, not tasks & {*case.task_numbers}))
    grade = Grade(lesson, DEVICE)

    def run(chosen: list[TestCase]) -> None:
        if chosen:
            grade.results += graded(lesson, program, wanted.limit, chosen).results

    run([case for case in named if not case.efficient])
    # What a wrong answer does too much of is not shown before its values are right.
    wrong_tasks = grade.wrong_tasks() if NAMED else set()
    waiting = [case for case in named if case.efficient and case.waits_for(wrong_tasks)]
    run([case for case in named if case.efficient and case not in waiting])
    others += waiting
    while True:
        left_out = [case for case in waiting if case in others]
        true, wrong = verdicts.judge(wanted, grade, marks, source.name, cases, left_out)
        if not wrong or not others:
            return grade, true, wrong
        run(others[:2])
        del others[:2]


def check_variant(lesson: Lesson, source: Path) -> int:
    """A rung: right and safe; below the target just where it says so."""
    said = catalog.verdict_lines(source.read_text(encoding="utf-8").splitlines())
    if not said:
        program, _ = compiled(lesson, source)
        return check_right(lesson, program)
    try:
        wanted = verdicts.parse(said)
    except verdicts.BadVerdict as error:
        return fail(None, [f"{source.name}: {error}"])
    if wrong := [one for one in wanted.lines if one.word != "efficient"]:
        return fail(None, [f"a variant is right and safe: it cannot have the verdict `{wrong[0]}`"])
    return check_verdicts(lesson, source, wanted, {})


def check_workload(lesson: Lesson) -> int:
    """The workload at its tiny size: right with the solution, wrong with the skeleton."""
    program = programs.built(BUILD, f"bench_solution_{lesson.id}")
    right = timing.run(program, DEVICE, BUILD, tiny=True)
    reasons = [right.trouble] if right.trouble else []
    reasons += [f"{work.name}: {work.wrong}" for work in right.workloads if work.wrong]
    reasons += [f"{work.name}: moves no bytes" for work in right.workloads if work.bytes <= 0]
    skeleton = programs.skeleton_file(BUILD, lesson)
    program, _ = programs.compiled(BUILD, lesson, skeleton, programs.BENCH)
    untouched = timing.run(program, DEVICE, BUILD, tiny=True)
    for work in untouched.workloads:
        if not work.wrong:
            reasons.append(f"{work.name}: verify() accepts what the skeleton computes")
    if reasons:
        return fail(None, reasons)
    print(f"{len(right.workloads)} workloads: right, and wrong with the skeleton")
    return 0


def check_names(lesson: Lesson, program: Path) -> int:
    """The test cases read from the source are those that the program has."""
    env = dict(os.environ, LD_LIBRARY_PATH=str(BUILD / "emulator"))
    for listing in (["--list-test-names-only"], ["--list-tests", "--verbosity", "quiet"]):
        done = subprocess.run([str(program), *listing], env=env, capture_output=True, text=True)
        names = sorted(line.strip() for line in done.stdout.splitlines() if line.strip())
        if names and "rror" not in done.stderr:
            break
    want = sorted(case.name for case in test_cases.cases_of(lesson))
    if names != want:
        return fail(None, [f"the program has {names}\nthe source has {want}"])
    return 0


def main(kind: str, lesson_name: str, *names: str) -> int:
    """Dispatches; kinds are solution, skeleton, mutant, variant, unusual, workload. Each of
    several names is tried, and those that failed are printed last.
    """
    lesson = the_lesson(lesson_name)
    checks: dict[str, Callable[[], int]] = {
        "workload": lambda: check_workload(lesson),
        "solution": lambda: check_solution(lesson),
        "skeleton": lambda: check_skeleton(lesson),
    }
    if kind in checks:
        return attempt(checks[kind])
    if kind == "mutant" and attempt(check_device):
        return 1
    failed = []
    with contextlib.ExitStack() as stack:
        compiler = None
        if len(names) > 1:
            try:
                compiler = stack.enter_context(Compiler(BUILD, lesson))
            except NotShared as why:
                print(f"compiled by nvcc itself: {why}")
        for name in names:
            print(f"-- {kind} {name}", flush=True)
            if attempt(functools.partial(check_file, kind, lesson, name, compiler)):
                failed.append(name)
    if failed:
        print(f"FAILED of {len(names)}: {' '.join(failed)}")
    return 1 if failed or not names else 0


def check_file(kind: str, lesson: Lesson, name: str, compiler: Compiler | None) -> int:
    """An answer in the place of the solution."""
    if kind == "mutant":
        return check_mutant(lesson, name, compiler)
    if kind == "variant":
        return check_variant(lesson, lesson.solution_folder / "variants" / f"{name}.cu")
    source, _ = catalog.written(BUILD, catalog.find(lesson, name, catalog.UNUSUAL))
    program, _ = compiled(lesson, source)
    return check_right(lesson, program)


def attempt(check: Callable[[], int]) -> int:
    """What `check` returns; 1 and the reason where there is no program to check."""
    try:
        return check()
    except BuildFailed as error:
        return fail(None, [f"it does not build: {error}"])
    except DeviceFailed as error:
        return fail(None, [f"internal error: {error}"])
    except WorkbookError as error:
        return fail(None, [f"{error}; {error.to_do}"])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
