# SPDX-License-Identifier: MIT
"""Checks one program of one lesson: solution, skeleton, mutant, variant or unusual right answer.

A variant is one rung of a lesson's ladder (`solutions/NN_slug/variants/K_name.cu`): right and safe,
and efficient too, unless `// verdict: efficient` lines say what it does too much of.

A mutant's first lines say what must happen to it, and each line must come true:

    // verdict: fails "part of a test case's name"      that case fails
    // verdict: efficient "part of a test case's name"  right and safe, and that case fails
    // verdict: finding CODE line 12                     that finding, on that line of the mutant
    // verdict: finding CODE line @here                  ... on the line that carries `// <- here`
    // verdict: finding CODE                             ... wherever (findings without a line)
    // verdict: launch-error                             a launch that the runtime refuses
    // verdict: ends "part of the reason"                a run that did not come to its end
    // verdict: compile-error

Findings that no line names make the test fail, so the list is complete.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from workbook import catch_xml, programs, runner, skeletons, timing
from workbook.grade import Grade, grade_program
from workbook.programs import BuildFailed
from workbook.project import Lesson, find_lesson

BUILD = Path(os.environ["WORKBOOK_TEST_BUILD"])
DEVICE = os.environ.get("WORKBOOK_TEST_DEVICE", "emulator")
FIXTURE = Path(__file__).resolve().parent / "fixture"


def the_lesson(name: str) -> Lesson:
    """A real lesson, or the tests' own."""
    return Lesson(name, FIXTURE) if name.startswith("00_double") else find_lesson(name)


def compiled(lesson: Lesson, source: Path) -> tuple[Path, str]:
    """`source` in the place of the lesson's solution, and the compiler's words."""
    return programs.compiled(BUILD, lesson, source)


def graded(lesson: Lesson, program: Path, source: Path | None = None) -> Grade:
    """The grade; a program may ask for a shorter time limit, so that a hang costs less."""
    limits = runner.Limits(seconds=60)
    if source and (match := re.search(r"\blimit: (\d+) seconds", source.read_text()[:600])):
        limits = runner.Limits(seconds=float(match.group(1)))
    elif source and "verdict: ends" in source.read_text()[:600]:
        limits = runner.Limits(seconds=20)
    return grade_program(lesson, program, DEVICE, BUILD, jobs=2, limits=limits)


def fail(grade: Grade | None, reasons: list[str]) -> int:
    """Shows the grade and why this test fails."""
    if grade:
        from workbook import screen

        screen.show_grade(grade, advice=False)
        for result in grade.results:
            if result.output.strip() and not result.passed:
                print(f"--- output of {result.case.name}\n{result.output[-1500:]}")
    for reason in reasons:
        print("FAILED:", reason)
    return 1


def check_right(lesson: Lesson, program: Path, source: Path | None = None) -> int:
    """A solution or an unusual right answer: all three grades."""
    grade = graded(lesson, program, source)
    if not grade.passed:
        return fail(grade, ["a right answer did not get all three grades"])
    if DEVICE == "emulator" and not grade.counted:
        return fail(grade, ["the lesson's test has no [efficient] case"])
    print(f"{len(grade.results)} test cases passed")
    return 0


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


def read_verdicts(source: Path) -> list[str]:
    """The text after `// verdict:`, line by line."""
    return re.findall(r"^// verdict: *(.+?) *$", source.read_text(), re.MULTILINE)


def here_lines(source: Path) -> list[int]:
    """Lines that carry `// <- here`."""
    return [n for n, line in enumerate(source.read_text().splitlines(), 1) if "// <- here" in line]


def unmet(verdict: str, grade: Grade, source: Path, named: set[str]) -> str:
    """'' when the verdict came true, else what happened instead."""
    if match := re.fullmatch(r'(fails|efficient) "(.+)"', verdict):
        kind, text = match.groups()
        cases = [r for r in grade.results if text in r.case.name]
        if not cases:
            return "no test case has that in its name"
        if all(r.values_right for r in cases):
            return "that test case passes"
        if kind == "efficient":
            if not all(r.case.efficient for r in cases):
                return "that test case is not tagged [efficient]"
            if not grade.correct or not grade.safe:
                return "the program must be right and safe, and it is not"
        return ""
    if match := re.fullmatch(r"finding (\S+)(?: line (\d+|@here))?", verdict):
        code, line = match.groups()
        named.add(code)
        found = [f for f in grade.merged_findings() if f.code == code]
        if not found:
            return "there is no such finding"
        if line is None:
            return ""
        lines = here_lines(source) if line == "@here" else [int(line)]
        if not lines:
            return "no line carries `// <- here`"
        at = [f.line for f in found if f.file == source.name]
        return "" if set(lines) & set(at) else f"it was found on line {at}, not on {lines}"
    if match := re.fullmatch(r'ends "(.+)"', verdict):
        endings = [r.ended for r in grade.results if r.ended]
        return "" if any(match.group(1) in e for e in endings) else f"the runs ended so: {endings}"
    if verdict == "launch-error":
        named.add("invalid-launch")
        words = ("cudaErrorInvalidConfiguration", "cudaErrorInvalidValue", "cudaErrorLaunch")
        refused = any(word in r.exception() for r in grade.results for word in words)
        invalid = any(f.code == "invalid-launch" for f in grade.merged_findings())
        return "" if refused or invalid else "no launch was refused"
    return "this verdict has no known form (see check_program.py)"


def check_mutant(lesson: Lesson, source: Path) -> int:
    """A wrong answer: every verdict comes true, and nothing else is found."""
    verdicts = read_verdicts(source)
    if not verdicts:
        return fail(None, [f"{source.name} has no `// verdict:` line"])
    try:
        program, _ = compiled(lesson, source)
    except BuildFailed as error:
        if verdicts == ["compile-error"]:
            return 0
        return fail(None, [f"it does not build: {error}"])
    grade = graded(lesson, program, source)
    named: set[str] = set()
    reasons = [f"verdict `{v}`: {why}" for v in verdicts if (why := unmet(v, grade, source, named))]
    if grade.passed:
        reasons.append("a wrong answer got all three grades")
    for finding in grade.merged_findings():
        if finding.unsafe and finding.code not in named:
            reasons.append(f"no verdict names {finding.code} at {finding.place}")
    if reasons:
        return fail(grade, reasons)
    print("\n".join(f"came true: {verdict}" for verdict in verdicts))
    return 0


def check_variant(lesson: Lesson, source: Path) -> int:
    """A rung: right and safe; below the target just where it says so."""
    wrong = [v for v in read_verdicts(source) if not v.startswith("efficient ")]
    if wrong:
        return fail(None, [f"a variant is right and safe: it cannot have the verdict `{wrong[0]}`"])
    if read_verdicts(source):
        return check_mutant(lesson, source)
    program, _ = compiled(lesson, source)
    return check_right(lesson, program, source)


def check_workload(lesson: Lesson) -> int:
    """The workload at its tiny size: right with the solution, wrong with the skeleton."""
    program = BUILD / "lessons" / f"bench_solution_{lesson.id}"
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


def check_names(lesson: Lesson) -> int:
    """The test cases read from the source are those that the program has."""
    program = BUILD / "lessons" / f"solution_{lesson.id}"
    env = dict(os.environ, LD_LIBRARY_PATH=str(BUILD / "emulator"))
    for listing in (["--list-test-names-only"], ["--list-tests", "--verbosity", "quiet"]):
        done = subprocess.run([str(program), *listing], env=env, capture_output=True, text=True)
        names = sorted(line.strip() for line in done.stdout.splitlines() if line.strip())
        if names and "rror" not in done.stderr:
            break
    want = sorted(case.name for case in catch_xml.cases_in_source(lesson.test_file))
    if names != want:
        return fail(None, [f"the program has {names}\nthe source has {want}"])
    print(f"{len(names)} test cases")
    return 0


def main(kind: str, lesson_name: str, stem: str = "") -> int:
    """Dispatches; kinds are solution, skeleton, mutant, variant, unusual, workload,
    names."""
    lesson = the_lesson(lesson_name)
    if kind == "names":
        return check_names(lesson)
    if kind == "workload":
        return check_workload(lesson)
    if kind == "solution":
        return check_right(lesson, BUILD / "lessons" / f"solution_{lesson.id}")
    try:
        if kind == "skeleton":
            return check_skeleton(lesson)
        if kind == "mutant":
            return check_mutant(lesson, lesson.solution_folder / "mutants" / f"{stem}.cu")
        if kind == "variant":
            return check_variant(lesson, lesson.solution_folder / "variants" / f"{stem}.cu")
        source = lesson.solution_folder / "unusual" / f"{stem}.cu"
        program, _ = compiled(lesson, source)
        return check_right(lesson, program, source)
    except BuildFailed as error:
        return fail(None, [f"it does not build: {error}"])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
