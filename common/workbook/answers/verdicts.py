# SPDX-License-Identifier: MIT
"""What must happen to a wrong answer: the grammar of verdicts, and whether they came true.

    fails CASES              a check on values failed; the case ran to its end
    efficient CASES          the same, in a program that is right and safe: its counts are off
    throws CASES             an exception left the case
    crashes CASES            a segmentation fault, a bus error or an arithmetic error on the host
    aborts CASES             abort(), std::terminate() or a failed assert() on the host
    ends-early CASES         exit() or the like, before the case was over
    times-out CASES          ran longer than the time limit
    out-of-memory CASES      used more memory than allowed
    floods CASES             printed more than allowed
    fills-disk CASES         wrote a larger file than allowed
    ends-badly CASES         passed its checks, and ended with a code other than 0
    checks-nothing CASES     ended without reaching a check
    report-lost CASES        its report did not reach the grader as a whole
    tampered CASES           did to the grading what no lesson's file needs to do
    finding CODE @here       a finding on the line that ends with `// <- here`; any name will do
    finding CODE line 12     ... on that line
    finding CODE             ... that has no line in the file
    launch-error             each case that throws does so after a launch that was refused
    compile-error            the file does not compile
    link-error               the program does not link
    refused                  the object is not graded (refusals.py)
    says "words"             the message about a failed case contains these words
    never-says "words"       no case's has: another wrong answer's cause is not claimed
    limit 5 seconds          no verdict: each case's limit by the clock, for an answer that hangs

CASES is one of

    "task 2: counts up"      the case of that name, or the only one whose name starts so
    task 2                   every case of that task
    efficient                every [efficient] case
    all                      every case of the lesson

The list is complete: a case that fails and is not named, a finding that is not named, and a verdict
that does not come true are each a mistake. Where threads of the host make the outcome depend on
luck, `fails|crashes CASES` means one of these, and `maybe` before a verdict allows it and does not
require it.

How a case ended is one word, from grade.py. What is not among these words no verdict can name, and
so no wrong answer's test passes with it. A crash of the emulated device itself is no grade at all.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..diagnose import cause_of
from ..judge.grade import CaseResult, Grade
from ..lesson.test_cases import TestCase

# Words of CaseResult.ending that a verdict may name.
ENDINGS = (
    "crashes", "aborts", "ends-early", "times-out", "out-of-memory", "floods", "fills-disk",
    "ends-badly", "checks-nothing", "report-lost", "tampered",
)  # fmt: skip
OF_CASES = ("fails", "efficient", "throws", *ENDINGS)
OF_BUILDS = {"compile-error": "compile", "link-error": "link", "refused": "refused"}
OF_WORDS = ("says", "never-says")
WORDS = (*OF_CASES, "finding", "launch-error", *OF_WORDS, *OF_BUILDS, "limit", "maybe")


_NOT_RUN = "was not run"


def word_of(stage: str) -> str:
    """The verdict of a build that failed at this stage."""
    return next(word for word, known in OF_BUILDS.items() if known == stage)


class BadVerdict(Exception):
    """A line that the grammar does not know, or a name that no test case or line has."""


@dataclass(frozen=True)
class Verdict:
    """One line. `target` is the text after the word; `maybe` when it need not come true. `word`
    may be several, separated by `|`.
    """

    word: str
    target: str = ""
    maybe: bool = False

    def __str__(self) -> str:
        return " ".join(filter(None, ["maybe" if self.maybe else "", self.word, self.target]))


@dataclass
class Verdicts:
    """The verdict lines of one wrong answer."""

    lines: list[Verdict] = field(default_factory=list)
    limit: float | None = None

    @property
    def build_stage(self) -> str:
        """`compile` or `link` where the build must fail there, else ''."""
        return next((OF_BUILDS[one.word] for one in self.lines if one.word in OF_BUILDS), "")

    def __str__(self) -> str:
        limit = [f"limit {self.limit:g} seconds"] if self.limit else []
        return "\n".join([*limit, *map(str, self.lines)])


def parse(lines: Sequence[str]) -> Verdicts:
    """Reads verdict lines. Raises BadVerdict naming the line."""
    found = Verdicts()
    for text in lines:
        maybe, line = text.startswith("maybe "), text.removeprefix("maybe ").strip()
        word, _, target = line.partition(" ")
        target = target.strip()
        if word == "limit" and not maybe:
            match = re.fullmatch(r"(\d+(?:\.\d+)?) seconds?", target)
            if not match:
                raise BadVerdict(f"`{text}`: a limit reads `limit 5 seconds`")
            found.limit = float(match.group(1))
            continue
        if {*word.split("|")} <= {*OF_CASES}:
            good = re.fullmatch(r'"[^"].*"|task \d+|efficient|all', target)
            form = f'`{word}` and "name of a test case", task 2, efficient or all'
        elif word == "finding":
            good = re.fullmatch(r"[a-z]+(?:-[a-z]+)*(?: @[a-z]\w*| line [1-9]\d*)?", target)
            form = "`finding CODE @here`, `finding CODE line 12` or `finding CODE`"
        elif word in OF_WORDS:
            good, form = re.fullmatch(r'"[^"]+"', target) and not maybe, f'`{word} "words"`'
        elif word == "launch-error" or word in OF_BUILDS:
            good, form = not target and not maybe, f"`{word}` alone"
        else:
            raise BadVerdict(f"`{text}`: no such verdict; the words are {', '.join(WORDS)}")
        if not good:
            raise BadVerdict(f"`{text}`: write {form}")
        found.lines.append(Verdict(word, target, maybe))
    if found.build_stage and len(found.lines) > 1:
        raise BadVerdict(f"`{found.lines[0].word}` stands alone: nothing runs")
    if not any(not one.maybe and one.word not in OF_WORDS for one in found.lines):
        raise BadVerdict("at least one verdict must come true each time")
    return found


def word_for(result: CaseResult, grade: Grade) -> str:
    """How the case failed: a word of OF_CASES, '' where its values are right, else another word."""
    if result.ended:
        return result.ending or "ended-somehow"
    if result.values_right:
        return ""
    failures = result.outcome.failures
    if any(failure.exception for failure in failures):
        return "throws"
    if not failures or any(failure.fatal for failure in failures):
        return "failed-without-a-check"
    right = result.case.efficient and grade.correct and grade.safe
    return "efficient" if right else "fails"


def named_cases(target: str, cases: Sequence[TestCase]) -> list[TestCase]:
    """The test cases that CASES means. Raises BadVerdict where it means none, or two."""
    if target == "all":
        return list(cases)
    if not target.startswith('"'):
        found = [case for case in cases if case.task == target]
        if not found:
            raise BadVerdict(f"no test case belongs to {target}")
        return found
    name = target[1:-1]
    exact = [case for case in cases if case.name == name]
    found = exact or [case for case in cases if case.name.startswith(name)]
    if not found:
        raise BadVerdict(f"no test case's name starts with {target}")
    if len(found) > 1:
        names = ", ".join(f'"{case.name}"' for case in found)
        raise BadVerdict(f"{target} is the start of {len(found)} test cases' names: {names}")
    return found


def cases_of(verdicts: Verdicts, cases: Sequence[TestCase]) -> list[TestCase]:
    """Those of `cases` that some verdict names. Raises BadVerdict as named_cases does."""
    named: set[TestCase] = set()
    for one in verdicts.lines:
        if {*one.word.split("|")} <= {*OF_CASES}:
            named.update(named_cases(one.target, cases))
    return [case for case in cases if case in named]


def judge(
    verdicts: Verdicts,
    grade: Grade,
    marks: dict[str, int],
    file: str,
    cases: Sequence[TestCase] = (),
    left_out: Sequence[TestCase] = (),
) -> tuple[list[str], list[str]]:
    """What came true, and every reason why the verdicts are not what happened.

    `marks` are the lines of the marks in `file`, the name under which the answer was compiled.
    `cases` are the lesson's where the grade has but some of them. Of those `left_out` nothing is
    known, and what a verdict says of them is neither true nor wrong.
    """
    true: list[str] = []
    wrong: list[str] = []
    cases = cases or [result.case for result in grade.results]
    happened = {result.case.name: word_for(result, grade) for result in grade.results}
    reports = [
        _Report(
            one.code,
            one.line if one.file == file else 0,
            one.happened[1] if one.happened[0] == file else 0,
            one.place,
            one.unsafe,
        )
        for one in grade.merged_findings()
    ]
    named_words: dict[str, set[str]] = {}
    named_findings: set[tuple[str, int]] = set()
    for verdict in verdicts.lines:
        try:
            words = {*verdict.word.split("|")}
            if words <= {*OF_CASES}:
                named = named_cases(verdict.target, cases)
                chosen = [case for case in named if case not in left_out]
                if not chosen:
                    continue
                for case in chosen:
                    named_words.setdefault(case.name, set()).update(words)
                missed = [c.name for c in chosen if happened.get(c.name, _NOT_RUN) not in words]
                did = {name: _did(happened.get(name, _NOT_RUN)) for name in missed}
                why = "; ".join(f'"{name}" {what}' for name, what in did.items())
            elif verdict.word == "finding":
                code, line = _place(verdict.target, marks)
                named_findings.add((code, line))
                why = _not_found(code, line, reports)
            elif verdict.word in OF_WORDS:
                why = _not_said(verdict, grade)
            else:
                why = not_refused(grade)
        except BadVerdict as error:
            wrong.append(f"verdict `{verdict}`: {error}")
            continue
        if not why:
            true.append(str(verdict))
        elif not verdict.maybe:
            wrong.append(f"verdict `{verdict}`: {why}")
    for result in grade.results:
        word = happened[result.case.name]
        if word and word not in named_words.get(result.case.name, set()):
            wrong.append(f'"{result.case.name}" {_did(word)}, and no verdict says so')
    for report in reports:
        if report.unsafe and not {(report.code, one) for one in report.lines} & named_findings:
            wrong.append(f"no verdict names {report.code} at {report.place or 'no line'}")
    if grade.passed:
        wrong.append("a wrong answer got all three grades")
    return true, wrong


@dataclass(frozen=True)
class _Report:
    """A finding: its line in the answer's own file, or 0. A verdict may also name the line where it
    happened, in a function that the lesson gives.
    """

    code: str
    line: int
    happened: int
    place: str
    unsafe: bool

    @property
    def lines(self) -> set[int]:
        return {self.line, self.happened}


def _did(word: str) -> str:
    return {"": "passes", "efficient": "does too much (efficient)"}.get(word, word)


def _place(target: str, marks: dict[str, int]) -> tuple[str, int]:
    """Code and line (0: none) of a finding's verdict."""
    code, _, where = target.partition(" ")
    if where.startswith("@"):
        if where[1:] not in marks:
            raise BadVerdict(f"no line ends with `// <- {where[1:]}`")
        return code, marks[where[1:]]
    return code, int(where.removeprefix("line ")) if where else 0


def _not_found(code: str, line: int, reports: list[_Report]) -> str:
    """'' where that finding is there, else what is there."""
    if any(report.code == code and line in report.lines for report in reports):
        return ""
    lines = sorted({report.line for report in reports if report.code == code})
    if not lines:
        return "there is no such finding"
    found = ", ".join(f"on line {number}" if number else "without a line" for number in lines)
    return f"it was found {found}, not {f'on line {line}' if line else 'without a line'}"


def told(result: CaseResult) -> str:
    """The message about one failed case, as its author sees it, without who wrote which element."""
    findings = [str(finding.data.get("message")) for finding in result.findings]
    said = [*result.texts(), *findings, result.ended, cause_of(result)]
    return " ".join("\n".join(said).split())


def _not_said(verdict: Verdict, grade: Grade) -> str:
    """'' where the words were told, or never were, as the verdict has it."""
    words = verdict.target[1:-1]
    failed = [result for result in grade.results if not result.passed and not result.skipped]
    saying = [result.case.name for result in failed if words in told(result)]
    if verdict.word == "says":
        causes = "; ".join(dict.fromkeys(filter(None, (cause_of(result) for result in failed))))
        return "" if saying else f"nothing says so; the causes: {causes or 'none'}"
    return f'said of "{saying[0]}"' if saying else ""


def not_refused(grade: Grade) -> str:
    """'' where each case that throws has a refused launch, and there is one."""
    thrown = [result for result in grade.results if result.exception()]
    if not thrown:
        return "no exception left a case"
    for result in thrown:
        if not any(finding.code == "invalid-launch" for finding in result.findings):
            return f'"{result.case.name}" threw something else: {result.exception()}'
    return ""
