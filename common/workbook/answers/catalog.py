# SPDX-License-Identifier: MIT
"""Wrong answers: edits of the solution in `solutions/NN_slug/mutants.txt`.

    == missing_barrier
    Nobody waits between the levels, so a thread adds what another warp has not stored yet.
    finding race-shared @here
    fails "task 3: sums the elements of each block when all"
    -         __syncthreads();  // the slots that are read next were written by other threads
      @@
              if (t < half) tile[t] += tile[half + t];  // <- here

After the name come a text whose last line ends with a full stop, the verdicts (verdicts.py has
their grammar), and the edit. Lines of the edit start with `- ` (removed), `+ ` (added) or two
spaces (context); `  @@` skips to another place further down. The removed lines and the context
between two skips must occur exactly once in the solution. An edit that no longer fits is an error
("stale"), never a guess. `// <- here` at the end of an added or a context line marks that line for
a verdict; the mark is not part of the file. Other marks have other names: `// <- here2`.

The solution is taken as a student would have it: with its TODO comments and without the `//|` lines
of the skeleton's placeholders, so that line numbers are those that a student sees.

An answer that shares little with the solution is a whole file, `mutants/name.cu`. Its first lines
are `// Mutant: ` with the text and a `// verdict: ` for each verdict, up to the SPDX line. They are
left out when it is compiled.

Either way the answer is written to the build folder under the student's file name, beside the
lesson's header. Tests, `make demo-NN MUTANT=name` and the golden screens all use that file.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..base import files
from ..base.project import USAGE, Lesson, WorkbookError, relative
from ..lesson import skeletons
from . import verdicts
from .verdicts import Verdicts

_MARK = re.compile(r"\s*// <- ([a-z]\w*)$")
_SKIP = "@@"
_VERDICT = "// verdict:"
_GRAMMAR = "common/workbook/answers/verdicts.py has the grammar"
_WIDTH = 100


class BadAnswer(WorkbookError):
    """mutants.txt breaks its format, or an edit does not fit the solution (any more)."""


@dataclass
class Hunk:
    """Lines of an edit between two skips, each `-`, `+` or a space and its text; marks are in."""

    lines: list[tuple[str, str]] = field(default_factory=list)
    number: int = 0  # of the first line, in mutants.txt

    @property
    def old(self) -> list[str]:
        return [_unmarked(text)[0] for sign, text in self.lines if sign != "+"]


@dataclass
class Answer:
    """One wrong answer. Whole files have no hunks, but their `text`."""

    lesson: Lesson
    name: str
    summary: str
    verdicts: Verdicts
    hunks: list[Hunk] = field(default_factory=list)
    whole: str = ""
    file: str = ""

    def expand(self) -> tuple[str, dict[str, int]]:
        """The answer's text, and the lines of its marks. Raises BadAnswer where it is stale."""
        if self.whole:
            return without_marks(self.whole.splitlines())
        solution = skeletons.solved(self.lesson.solution_file.read_text(encoding="utf-8"))
        return without_marks(self._edited(solution.splitlines()))

    def _edited(self, base: list[str]) -> list[str]:
        """`base` with the hunks' marked lines in place of what they look for."""
        made: list[str] = []
        at = 0
        for hunk in self.hunks:
            start = self._position(hunk, base)
            if start < at:
                raise self._stale(hunk, "it stands above or in what comes before it in the edit")
            made += base[at:start]
            made += [text for sign, text in hunk.lines if sign != "-"]
            at = start + len(hunk.old)
        return made + base[at:]

    def _position(self, hunk: Hunk, base: list[str]) -> int:
        old = hunk.old
        found = positions(old, base)
        if len(found) == 1:
            return found[0]
        if found:
            lines = ", ".join(str(at + 1) for at in found)
            raise self._stale(
                hunk,
                f"what it looks for was found {len(found)} times, from lines {lines} on: "
                f"add lines that stay\n    {old[0]}",
            )
        missing = [line for line in old if line.strip() and line not in base]
        if missing:
            raise self._stale(hunk, f"this line is not in the solution:\n    {missing[0]}")
        raise self._stale(
            hunk, "its lines are not in the solution in this order:\n    " + "\n    ".join(old)
        )

    def _stale(self, hunk: Hunk, why: str) -> BadAnswer:
        return BadAnswer(
            f"{self.file}:{hunk.number}: the edit of {self.name} is stale: {why}",
            f"adapt it to {relative(self.lesson.solution_file)}, "
            f"or make mutant-{self.lesson.number} NAME={self.name}",
        )


def positions(old: Sequence[str], base: Sequence[str]) -> list[int]:
    """Where the lines `old` stand in `base`."""
    size = len(old)
    return [at for at in range(len(base) - size + 1) if list(base[at : at + size]) == list(old)]


def _unmarked(line: str) -> tuple[str, str]:
    """A line without its mark, and the mark's name."""
    match = _MARK.search(line)
    return (line[: match.start()], match.group(1)) if match else (line, "")


def without_marks(lines: Sequence[str]) -> tuple[str, dict[str, int]]:
    """The text without marks, and the line of each."""
    kept, marks = [], {}
    for number, line in enumerate(lines, 1):
        text, mark = _unmarked(line)
        kept.append(text)
        if mark:
            if mark in marks:
                raise BadAnswer(f"two lines are marked `// <- {mark}`", "number them: here, here2")
            marks[mark] = number
    return "\n".join(kept) + "\n", marks


# --- reading -------------------------------------------------------------------------------------


def file_of(lesson: Lesson) -> Path:
    """The lesson's mutants.txt."""
    return lesson.solution_folder / "mutants.txt"


def of_lesson(lesson: Lesson) -> dict[str, Answer]:
    """Every wrong answer of a lesson, by name and in order. Raises BadAnswer."""
    path = file_of(lesson)
    found = {}
    if path.exists():
        found = parse(lesson, files.read_text(path), relative(path))
    for source in sorted((lesson.solution_folder / "mutants").glob("*.cu")):
        if source.stem in found:
            raise BadAnswer(f"{relative(source)}: mutants.txt has a {source.stem} too")
        text = files.read_text(source)
        found[source.stem] = parse_whole(lesson, source.stem, text, relative(source))
    return found


def find(lesson: Lesson, name: str) -> Answer:
    """The wrong answer of that name."""
    known = of_lesson(lesson)
    if name not in known:
        listed = "\n".join(f"    {one.name:28} {one.summary}" for one in known.values())
        raise WorkbookError(
            f"lesson {lesson.number} has no wrong answer called {name}; it has\n{listed}",
            f"make demo-{lesson.number} MUTANT={next(iter(known), 'name')}",
            USAGE,
        )
    return known[name]


def parse(lesson: Lesson, text: str, name: str) -> dict[str, Answer]:
    """The entries of a mutants.txt called `name`. Raises BadAnswer naming the line."""
    found: dict[str, Answer] = {}
    entry: list[str] = []
    begun = 0

    def finish() -> None:
        if begun:
            made = _entry(lesson, entry, begun, name)
            if made.name in found:
                raise BadAnswer(f"{name}:{begun}: there are two called {made.name}")
            found[made.name] = made

    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("== "):
            finish()
            entry, begun = [], number
        elif not begun and line.strip() and not line.startswith("#"):
            raise BadAnswer(f"{name}:{number}: an entry starts with `== name`")
        entry.append(line.rstrip())
    finish()
    return found


def _entry(lesson: Lesson, lines: list[str], begun: int, file: str) -> Answer:
    place = f"{file}:{begun}"
    name = lines[0].removeprefix("== ").strip()
    check_name(name, place)
    edit = next((at for at, line in enumerate(lines) if re.match(r"[-+] |[-+]$|  ", line)), None)
    if edit is None:
        raise BadAnswer(f"{place}: {name} has no edit", "its lines start with `- `, `+ ` or spaces")
    head = [line for line in lines[1:edit] if line]
    summary, said = _split_head(head, f"{place}: {name}")
    return Answer(lesson, name, summary, said, _hunks(lines, edit, begun, file), file=file)


def check_name(name: str, place: str) -> None:
    """Raises BadAnswer unless the name is one that an answer may have."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9_]*", name):
        words = "a name is of lower-case letters, digits and _"
        raise BadAnswer(f"{place}: {words}, not `{name}`", "choose another", USAGE)


def _split_head(head: list[str], where: str) -> tuple[str, Verdicts]:
    """The text, up to the last line that ends with a full stop, and the verdicts after it."""
    last = max((at for at, line in enumerate(head) if line.endswith(".")), default=-1)
    if last < 0:
        raise BadAnswer(f"{where}: a text that ends with a full stop says what is wrong with it")
    try:
        return " ".join(head[: last + 1]), verdicts.parse(head[last + 1 :])
    except verdicts.BadVerdict as error:
        raise BadAnswer(f"{where}: {error}", _GRAMMAR) from error


def _hunks(lines: list[str], edit: int, begun: int, file: str) -> list[Hunk]:
    while not lines[-1]:
        lines = lines[:-1]
    hunks = [Hunk(number=begun + edit)]
    for at, line in enumerate(lines[edit:], begun + edit):
        if line.strip() == _SKIP:
            hunks.append(Hunk(number=at + 1))
        elif not line or line.startswith("  "):
            hunks[-1].lines.append((" ", line[2:]))
        elif re.match(r"[-+] |[-+]$", line):
            hunks[-1].lines.append((line[0], line[2:]))
        else:
            raise BadAnswer(
                f"{file}:{at}: in an edit a line starts with `- `, `+ ` or two spaces, "
                f"and this one is `{line}`"
            )
    for hunk in hunks:
        if not any(text.strip() for text in hunk.old):
            raise BadAnswer(
                f"{file}:{hunk.number}: nothing says where this part of the edit belongs",
                "add a line that stays",
            )
    if all(sign == " " for hunk in hunks for sign, _ in hunk.lines):
        raise BadAnswer(f"{file}:{begun + edit}: the edit changes nothing")
    return hunks


def parse_whole(lesson: Lesson, name: str, text: str, place: str) -> Answer:
    """A whole file: its announcement and, without it, the answer."""
    summary, said, body = split_whole(text.splitlines(), place)
    try:
        wanted = verdicts.parse(said)
    except verdicts.BadVerdict as error:
        raise BadAnswer(f"{place}: {error}", _GRAMMAR) from error
    return Answer(lesson, name, summary, wanted, whole="\n".join(body) + "\n", file=place)


def split_whole(lines: Sequence[str], place: str) -> tuple[str, list[str], list[str]]:
    """The text, the verdict lines and the answer in a whole file."""
    if not lines or not lines[0].startswith("// Mutant:"):
        raise BadAnswer(f"{place}: the first line reads `// Mutant: ` and what is wrong")
    end = next((at for at, line in enumerate(lines) if not re.match(r"// (?!SPDX)", line)), 0)
    words = " ".join(line[3:] for line in lines[:end] if not line.startswith(_VERDICT))
    summary = words.removeprefix("Mutant:").strip()
    return summary, verdict_lines(lines[:end]), list(lines[end:])


def verdict_lines(lines: Sequence[str]) -> list[str]:
    """What stands after `// verdict:` in a whole file."""
    return [line.removeprefix(_VERDICT).strip() for line in lines if line.startswith(_VERDICT)]


# --- writing -------------------------------------------------------------------------------------


def written(build: Path, mutant: Answer) -> tuple[Path, dict[str, int]]:
    """The answer in the build folder under the student's file name; and its marks' lines."""
    text, marks = mutant.expand()
    folder = build / "workbook" / "mutants" / mutant.lesson.id / mutant.name
    return write_as_student(folder, mutant.lesson, text), marks


def write_as_student(folder: Path, lesson: Lesson, text: str) -> Path:
    """`text` as a student's file, beside it the interface: messages look constants up there."""
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / f"{lesson.slug}.cu"
    header = lesson.student_file.with_suffix(".h")
    for path, wanted in ((source, text.encode()), (source.with_suffix(".h"), header.read_bytes())):
        if not path.is_file() or path.read_bytes() != wanted:
            path.write_bytes(wanted)
    return source


def as_entry(mutant: Answer) -> str:
    """The lines of one entry of mutants.txt."""
    lines = [f"== {mutant.name}", *_wrapped(mutant.summary)]
    lines += str(mutant.verdicts).splitlines()
    for at, hunk in enumerate(mutant.hunks):
        lines += [f"  {_SKIP}"] if at else []
        lines += [f"{sign} {text}".rstrip() for sign, text in hunk.lines]
    return "\n".join(lines) + "\n"


def announced(mutant: Answer) -> list[str]:
    """The first lines of a whole file."""
    said = str(mutant.verdicts).splitlines()
    text = _wrapped(f"Mutant: {mutant.summary}", _WIDTH - 3)
    return [f"// {line}" for line in text] + [f"{_VERDICT} {line}" for line in said]


def _wrapped(text: str, width: int = _WIDTH) -> list[str]:
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)
