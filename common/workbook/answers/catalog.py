# SPDX-License-Identifier: MIT
"""The answers that a lesson lists: wrong ones, and right ones that are written in another way.

`solutions/NN_slug/mutants.txt` has the wrong ones, as edits of the solution:

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

`unusual.txt` has the right ones. They have no verdicts. Nor have those in `equivalent.txt`: edits
that `make mutate-NN` makes and that change nothing, each with the reason.

An edit whose text is followed by `edit of variants/3_shuffles` starts from that rung, and not from
the solution; one that is followed by `edit of unusual/by_hand` from that whole file.

The base of a wrong answer is the solution as a student would have it: with its TODO comments and
without the `//|` lines of the skeleton's placeholders, so that line numbers are those that a
student sees. The base of an unusual answer has no comments of tasks, which would not describe it.

An answer that shares little with the solution is a whole file, `mutants/name.cu` or
`unusual/name.cu`. Its first lines are `// Mutant: ` or `// Unusual: ` with the text and a
`// verdict: ` for each verdict, up to the SPDX line. They are left out when it is compiled.

Either way the answer is written to the build folder under the student's file name, beside the
lesson's header. Tests, `make demo-NN MUTANT=name` and the golden screens all use that file.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..base import files
from ..base.project import USAGE, Lesson, WorkbookError, relative
from ..lesson import skeletons
from . import edits, verdicts
from .edits import BadAnswer, Hunk
from .verdicts import Verdicts

_EDIT_OF = "edit of "
_BASE = re.compile(r"(variants|unusual)/[a-z0-9_]+")
_TITLES = {"variants": "Variant", "unusual": "Unusual"}  # of whole files
_VERDICT = "// verdict:"
_GRAMMAR = "common/workbook/answers/verdicts.py has the grammar"
_WIDTH = 100


@dataclass(frozen=True)
class Kind:
    """Answers that are listed in the same place."""

    title: str  # a whole file starts with it: `// Mutant: `
    plural: str  # of the list of edits and of the folder of whole files
    words: str  # in messages
    has_verdicts: bool
    as_base: Callable[[str], str]  # from the text of a whole file

    def list_of(self, lesson: Lesson) -> Path:
        """The lesson's list of edits."""
        return lesson.solution_folder / f"{self.plural}.txt"

    def folder_of(self, lesson: Lesson) -> Path:
        """The folder of the lesson's whole files."""
        return lesson.solution_folder / self.plural


MUTANT = Kind("Mutant", "mutants", "wrong answer", True, skeletons.solved)
UNUSUAL = Kind("Unusual", "unusual", "unusual answer", False, skeletons.finished)
# Edits of `make mutate-NN` that change nothing, so that no test can notice them.
EQUIVALENT = Kind("Equivalent", "equivalent", "equivalent edit", False, skeletons.solved)
KINDS = (MUTANT, UNUSUAL, EQUIVALENT)


@dataclass
class Answer:
    """One answer: an edit of the solution or another whole file, or itself a whole file."""

    lesson: Lesson
    kind: Kind
    name: str
    summary: str
    verdicts: Verdicts = field(default_factory=Verdicts)
    base: str = ""  # what it is an edit of, if not the solution: `variants/K_name`, for instance
    hunks: list[Hunk] = field(default_factory=list)
    whole: str = ""  # the text of a whole file
    file: str = ""  # where it is written down, for messages

    def expand(self) -> tuple[str, dict[str, int]]:
        """The answer's text, and the lines of its marks. Raises BadAnswer where it is stale."""
        if self.whole:
            return edits.without_marks(self.whole.splitlines())
        called = self.base or "the solution"
        base = text_of_base(self.lesson, self.kind, self.base).splitlines()
        try:
            return edits.without_marks(edits.apply(self.hunks, base, called))
        except edits.Stale as error:
            base_file = file_of_base(self.lesson, self.base)
            again = f", or make mutant-{self.lesson.number} NAME={self.name}"
            raise BadAnswer(
                f"{self.file}:{error.line}: the edit of {self.name} is stale: {error}",
                f"adapt it to {relative(base_file)}{'' if self.kind is EQUIVALENT else again}",
            ) from error


def file_of_base(lesson: Lesson, base: str = "") -> Path:
    """The lesson's solution, or another whole file."""
    return lesson.solution_folder / f"{base}.cu" if base else lesson.solution_file


def text_of_base(lesson: Lesson, kind: Kind, base: str = "") -> str:
    """What answers of that kind are edits of."""
    path = file_of_base(lesson, base)
    text = files.read_text(path)
    if base:
        title = _TITLES[base.partition("/")[0]]
        text = "\n".join(split_whole(text.splitlines(), title, relative(path))[2]) + "\n"
    return kind.as_base(text)


# --- reading -------------------------------------------------------------------------------------


def of_lesson(lesson: Lesson, kind: Kind = MUTANT) -> dict[str, Answer]:
    """Every answer of a lesson and a kind, by name and in order. Raises BadAnswer."""
    path = kind.list_of(lesson)
    found = {}
    if path.exists():
        found = parse(lesson, files.read_text(path), relative(path), kind)
    for source in sorted(kind.folder_of(lesson).glob("*.cu")):
        if source.stem in found:
            raise BadAnswer(f"{relative(source)}: {path.name} has a {source.stem} too")
        text = files.read_text(source)
        found[source.stem] = parse_whole(lesson, source.stem, text, relative(source), kind)
    return found


def find(lesson: Lesson, name: str, kind: Kind = MUTANT) -> Answer:
    """The answer of that name."""
    known = of_lesson(lesson, kind)
    if name not in known:
        listed = "\n".join(f"    {one.name:28} {one.summary}" for one in known.values())
        raise WorkbookError(
            f"lesson {lesson.number} has no {kind.words} called {name}; it has\n{listed}",
            f"make demo-{lesson.number} MUTANT={next(iter(known), 'name')}",
            USAGE,
        )
    return known[name]


def parse(lesson: Lesson, text: str, name: str, kind: Kind = MUTANT) -> dict[str, Answer]:
    """The entries of a list of edits called `name`. Raises BadAnswer naming the line."""
    found: dict[str, Answer] = {}
    entry: list[str] = []
    begun = 0

    def finish() -> None:
        if begun:
            made = _entry(lesson, entry, begun, name, kind)
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


def _entry(lesson: Lesson, lines: list[str], begun: int, file: str, kind: Kind) -> Answer:
    place = f"{file}:{begun}"
    name = lines[0].removeprefix("== ").strip()
    check_name(name, place)
    edit = next((at for at, line in enumerate(lines) if re.match(r"[-+] |[-+]$|  ", line)), None)
    if edit is None:
        raise BadAnswer(f"{place}: {name} has no edit", "its lines start with `- `, `+ ` or spaces")
    head = [line for line in lines[1:edit] if line]
    summary, said = _split_head(head, f"{place}: {name}")
    base = _base(lesson, said, f"{place}: {name}")
    wanted = _verdicts(kind, said[1:] if base else said, f"{place}: {name}")
    hunks = _hunks(lines, edit, begun, file)
    return Answer(lesson, kind, name, summary, wanted, base, hunks, file=file)


def check_name(name: str, place: str) -> None:
    """Raises BadAnswer unless the name is one that an answer may have."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9_]*", name):
        words = "a name is of lower-case letters, digits and _"
        raise BadAnswer(f"{place}: {words}, not `{name}`", "choose another", USAGE)


def _split_head(head: list[str], where: str) -> tuple[str, list[str]]:
    """The text, up to the last line that ends with a full stop, and the lines after it."""
    last = max((at for at, line in enumerate(head) if line.endswith(".")), default=-1)
    if last < 0:
        raise BadAnswer(f"{where}: a text that ends with a full stop says what is special about it")
    return " ".join(head[: last + 1]), head[last + 1 :]


def _base(lesson: Lesson, said: list[str], where: str) -> str:
    """What the answer is an edit of, or '' for the solution."""
    if not said or not said[0].startswith(_EDIT_OF):
        return ""
    base = said[0].removeprefix(_EDIT_OF).strip()
    if not _BASE.fullmatch(base) or not file_of_base(lesson, base).is_file():
        raise BadAnswer(f"{where}: the lesson has no {base}.cu", "name a rung: variants/1_naive")
    return base


def _verdicts(kind: Kind, said: list[str], where: str) -> Verdicts:
    if not kind.has_verdicts:
        if said:
            raise BadAnswer(f"{where}: `{said[0]}`: an {kind.words} is right and has no verdicts")
        return Verdicts()
    try:
        return verdicts.parse(said)
    except verdicts.BadVerdict as error:
        raise BadAnswer(f"{where}: {error}", _GRAMMAR) from error


def _hunks(lines: list[str], edit: int, begun: int, file: str) -> list[Hunk]:
    while not lines[-1]:
        lines = lines[:-1]
    hunks = [Hunk(number=begun + edit)]
    for at, line in enumerate(lines[edit:], begun + edit):
        if line.strip() == edits.SKIP:
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


def parse_whole(lesson: Lesson, name: str, text: str, place: str, kind: Kind = MUTANT) -> Answer:
    """A whole file: its announcement and, without it, the answer."""
    summary, said, body = split_whole(text.splitlines(), kind.title, place)
    wanted = _verdicts(kind, said, place)
    return Answer(lesson, kind, name, summary, wanted, whole="\n".join(body) + "\n", file=place)


def split_whole(lines: Sequence[str], title: str, place: str) -> tuple[str, list[str], list[str]]:
    """The text, the verdict lines and the answer in a whole file."""
    if not lines or not lines[0].startswith(f"// {title}:"):
        words = f"the first line reads `// {title}: ` and what is special"
        raise BadAnswer(f"{place}: {words}")
    end = next((at for at, line in enumerate(lines) if not re.match(r"// (?!SPDX)", line)), 0)
    words = " ".join(line[3:] for line in lines[:end] if not line.startswith(_VERDICT))
    summary = words.removeprefix(f"{title}:").strip()
    return summary, verdict_lines(lines[:end]), list(lines[end:])


def verdict_lines(lines: Sequence[str]) -> list[str]:
    """What stands after `// verdict:` in a whole file."""
    return [line.removeprefix(_VERDICT).strip() for line in lines if line.startswith(_VERDICT)]


# --- writing -------------------------------------------------------------------------------------


def written(build: Path, answer: Answer) -> tuple[Path, dict[str, int]]:
    """The answer in the build folder under the student's file name; and its marks' lines."""
    text, marks = answer.expand()
    folder = build / "workbook" / answer.kind.plural / answer.lesson.id / answer.name
    return write_as_student(folder, answer.lesson, text), marks


def write_as_student(folder: Path, lesson: Lesson, text: str) -> Path:
    """`text` as a student's file, beside it the interface: messages look constants up there."""
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / f"{lesson.slug}.cu"
    header = lesson.student_file.with_suffix(".h")
    for path, wanted in ((source, text.encode()), (source.with_suffix(".h"), header.read_bytes())):
        if not path.is_file() or path.read_bytes() != wanted:
            path.write_bytes(wanted)
    return source


def as_entry(answer: Answer) -> str:
    """The lines of one entry of a list of edits."""
    lines = [f"== {answer.name}", *_wrapped(answer.summary)]
    lines += [_EDIT_OF + answer.base] if answer.base else []
    lines += str(answer.verdicts).splitlines()
    for at, hunk in enumerate(answer.hunks):
        lines += [f"  {edits.SKIP}"] if at else []
        lines += [f"{sign} {text}".rstrip() for sign, text in hunk.lines]
    return "\n".join(lines) + "\n"


def announced(answer: Answer) -> list[str]:
    """The first lines of a whole file."""
    said = str(answer.verdicts).splitlines()
    text = _wrapped(f"{answer.kind.title}: {answer.summary}", _WIDTH - 3)
    return [f"// {line}" for line in text] + [f"{_VERDICT} {line}" for line in said]


def _wrapped(text: str, width: int = _WIDTH) -> list[str]:
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)
