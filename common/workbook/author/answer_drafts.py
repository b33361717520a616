# SPDX-License-Identifier: MIT
"""`make mutant-NN NAME=name`: an answer as a file to edit, and back into the lesson's list.

The first call writes the file to .workbook/mutants. Each later one grades it and shows the entry
with the verdicts that describe what happened; with SAVE=1 it is written to mutants.txt. A file that
starts with `// Unusual: ` is a right answer, and goes to unusual.txt.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

from rich.text import Text

from ..answers import catalog, edits, verdicts
from ..answers import verdicts_proposed as proposed
from ..answers.catalog import MUTANT, UNUSUAL, Answer
from ..answers.verdicts import Verdict, Verdicts
from ..base import files, options
from ..base.project import NOT_PASSED, PASSED, USAGE, Lesson, WorkbookError, relative, state_folder
from ..build import build as builder
from ..build import folders, programs
from ..judge import grade
from ..running import runner
from ..show import demo, screen

# An edit of more lines than this part of the answer is harder to read than a whole file.
_WHOLE_FROM = 0.5
# Below this part of an edit of the solution, an edit of another file is better, although one must
# know that file to read it.
_OTHER_BELOW = 0.67


def run(lesson: Lesson) -> int:
    """`make mutant-NN NAME=name`; with SAVE=1 into mutants.txt."""
    if not (name := options.text("NAME")):
        raise WorkbookError("which one?", f"make mutant-{lesson.number} NAME=no_guard", USAGE)
    return write_or_read(lesson, name, options.flag("SAVE"))


def write_or_read(lesson: Lesson, name: str, save: bool) -> int:
    """Writes the file to edit, or reads it back."""
    catalog.check_name(name, f"NAME={name}")
    draft = state_folder() / "mutants" / lesson.id / f"{name}.cu"
    again = f"make mutant-{lesson.number} NAME={name}"
    if not draft.is_file():
        begin(lesson, name, draft)
        print(f"edit  {relative(draft)}")
        print("      the first lines say what is wrong; `// <- here` marks the line of a finding")
        print("      (`// Unusual: ` in place of `// Mutant: ` if it is right)")
        print(f"then  {again}")
        return PASSED
    made, passed = read_back(lesson, name, draft)
    out = screen.console()
    demo.show_edit(made, out)
    out.print(Text("\nThe entry, with the verdicts that describe what happened:\n", "bold"))
    print(catalog.as_entry(made))
    if passed and made.kind is MUTANT:
        print("This answer gets all three grades: nothing in the lesson's tests notices it.")
        return NOT_PASSED
    if not passed and made.kind is UNUSUAL:
        print("This answer does not get all three grades: it is none of the right ones.")
        return NOT_PASSED
    if not save:
        print(f"Is that what should happen to it, for the reason you mean? {again} SAVE=1")
        return PASSED
    print(f"wrote {relative(store(made))}")
    draft.unlink()
    return PASSED


def begin(lesson: Lesson, name: str, draft: Path) -> None:
    """The answer of that name, or the solution, with its announcement."""
    known = {**catalog.of_lesson(lesson, UNUSUAL), **catalog.of_lesson(lesson, MUTANT)}
    found = known.get(name)
    head = ["// Mutant: one sentence on what is wrong with it."]
    text = catalog.text_of_base(lesson, found.kind if found else MUTANT)
    if found:
        head = catalog.announced(found)
        try:
            text = edits.with_marks(*found.expand())
        except catalog.BadAnswer as error:
            print(f"{error}\nSo the file is the solution; make this edit again:\n")
            print(catalog.as_entry(found))
    draft.parent.mkdir(parents=True, exist_ok=True)
    draft.write_text("\n".join(head) + "\n" + text, encoding="utf-8")


def read_back(lesson: Lesson, name: str, draft: Path) -> tuple[Answer, bool]:
    """The answer as an edit, graded, with verdicts; and whether it gets all three grades."""
    lines = files.read_text(draft).splitlines()
    kind = UNUSUAL if lines and lines[0].startswith(f"// {UNUSUAL.title}:") else MUTANT
    summary, said, body = catalog.split_whole(lines, kind.title, relative(draft))
    if not summary.endswith("."):
        raise WorkbookError(f"{relative(draft)}: the text in the first lines ends with a full stop")
    body = kind.as_base("\n".join(line.rstrip() for line in body)).splitlines()
    text, marks = edits.without_marks(body)
    limit = [line for line in said if line.startswith("limit ")]
    maybe = [line for line in said if line.startswith("maybe ")]
    before = verdicts.parse([*limit, *maybe, "fails all"])
    if text == catalog.text_of_base(lesson, kind):
        raise WorkbookError(f"{relative(draft)} is the solution", "edit it first", USAGE)
    wanted, marks, passed = _happened(lesson, name, text, marks, before.limit)
    allowed = [one for one in before.lines if one.maybe]
    certain = [one for one in wanted.lines if dataclasses.replace(one, maybe=True) not in allowed]
    wanted.lines = [*certain, *allowed]
    used = {one.target.partition("@")[2] for one in wanted.lines if one.word == "finding"}
    marks = {mark: line for mark, line in marks.items() if mark in used}
    return as_edit(Answer(lesson, kind, name, summary, wanted), text, marks), passed


def as_edit(answer: Answer, text: str, marks: dict[str, int]) -> Answer:
    """The answer with `text` as an edit of what is nearest, or as a whole file.

    A wrong answer is shown beside the solution, and is an edit of it whenever it can be.
    """
    lesson, made = answer.lesson, text.splitlines()
    others = [*lesson.solution_folder.glob("variants/*.cu")]
    others += [path for path in UNUSUAL.folder_of(lesson).glob("*.cu") if path.stem != answer.name]
    names = ["", *sorted(f"{path.parent.name}/{path.stem}" for path in others)]
    found: dict[str, list[edits.Hunk]] = {}
    for name in names:
        base = catalog.text_of_base(lesson, answer.kind, name).splitlines()
        hunks = edits.edit(base, made, marks)
        if hunks and edits.size(hunks) < _WHOLE_FROM * len(made):
            found[name] = hunks
    if not found:
        return dataclasses.replace(answer, whole=edits.with_marks(text, marks))
    weight = 0 if answer.kind is MUTANT else _OTHER_BELOW
    nearest = min(found, key=lambda name: edits.size(found[name]) * (1 if name else weight))
    return dataclasses.replace(answer, base=nearest, hunks=found[nearest])


def _happened(
    lesson: Lesson, name: str, text: str, marks: dict[str, int], limit: float | None
) -> tuple[Verdicts, dict[str, int], bool]:
    """The verdicts that describe a run of `text`, the marks they need, whether it passes."""
    build = folders.prepare("emulator")
    built = builder.build(build, [f"solution_{lesson.id}"])
    if not built.ok:
        print(builder.first_failure(built.text))
        raise WorkbookError(f"the solution of lesson {lesson.number} did not build (see above)")
    folder = build / "workbook" / "mutants" / lesson.id / name
    source = catalog.write_as_student(folder, lesson, text)
    try:
        program, _ = programs.compiled(build, lesson, source)
    except programs.BuildFailed as error:
        print(error)
        return Verdicts([Verdict(verdicts.word_of(error.stage))], limit), {}, False
    limits = runner.Limits(seconds=limit or 60)
    result = grade.grade_program(lesson, program, "emulator", build, limits=limits, thorough=True)
    wanted, marks = proposed.propose(result, marks, source.name, limit)
    return wanted, marks, result.passed


def store(made: Answer) -> Path:
    """Writes the answer to where it belongs, in place of one of its name."""
    whole = made.kind.folder_of(made.lesson) / f"{made.name}.cu"
    path = made.kind.list_of(made.lesson)
    known = catalog.of_lesson(made.lesson, made.kind)
    entries = {name: one for name, one in known.items() if not one.whole}
    entries.pop(made.name, None)
    if made.whole:
        whole.parent.mkdir(exist_ok=True)
        whole.write_text("\n".join(catalog.announced(made)) + "\n" + made.whole, encoding="utf-8")
    else:
        entries[made.name] = made
        whole.unlink(missing_ok=True)
    if entries:
        text = "\n".join(catalog.as_entry(entries[name]) for name in sorted(entries))
        path.write_text(text, encoding="utf-8")
    else:
        path.unlink(missing_ok=True)
    return whole if made.whole else path
