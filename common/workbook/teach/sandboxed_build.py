# SPDX-License-Identifier: MIT
"""Compiles and links one submission in sandboxes, in a folder that is thrown away afterwards.

The compiler sees the submission, the lesson's headers, common/host and the toolkit. The linker sees
the object and what judges it. Nothing that one submission has made is there for the next.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from ..base import disk
from ..base.project import ROOT, Lesson, WorkbookError
from ..build import build_cache, compile_commands, programs, refusals
from ..build.link_errors import in_words as link_errors
from ..running import runner, sandbox
from ..running.runner import Limits
from ..running.sandbox import Box

_OUTPUT = 1 << 20  # of a compiler
_LISTING = 64 << 20  # of nm
_OBJECT = 256 << 20
_TEMPORARY = 512 << 20  # what nvcc may write to /tmp


@dataclass(frozen=True)
class Compiler:
    """How submissions of one lesson are compiled and linked; the same for all of them."""

    lesson: Lesson
    build: Path
    seconds: float
    memory: int

    def program_of(self, source: Path, folder: Path) -> tuple[Path, str]:
        """The program of the file `source` and the compiler's words; made in `folder`, which is
        empty. Raises programs.BuildFailed.
        """
        if reasons := refusals.of_names_in_source(source):
            raise programs.BuildFailed("\n".join(reasons), "refused")
        made, said = self._object_of(source, folder)
        options, inputs = programs.linked_with(self.build, self.lesson)
        judge = refusals.Judge(self.build, inputs)

        def look(command: list[str]) -> str:
            return self._output(command, Box(readable=(made,)))

        if reasons := refusals.of_object(made, source.name, judge, look):
            raise programs.BuildFailed("\n".join(reasons), "refused")
        out = _made(folder / "program")
        program = out / self.lesson.slug
        command = programs.link_arguments(options, inputs, made, program)
        box = Box((made, *_read_by(inputs)), (out,))
        ended = runner.run(command, sandbox.environment(), ROOT, self._limits(_OUTPUT), box=box)
        if ended.code != 0 or ended.how or not program.is_file():
            _stop_if_ours(ended, out)
            lines = link_errors(ended.output, source)
            said = "\n".join(lines) or _tidy(ended.output, source) + self._stopped(ended)
            raise programs.BuildFailed(said, "link")
        return program, said

    def box_of(self, source: Path) -> Box:
        """What the program of a submission may see besides itself and the device: its own source,
        from which names of variables are taken, and what that includes; and the libraries that the
        lesson takes from elsewhere.
        """
        options, _ = programs.linked_with(self.build, self.lesson)
        start = "-Wl,-rpath,"
        folders = [Path(one.removeprefix(start)) for one in options if one.startswith(start)]
        return Box((source, *self._headers(), *_seen_outside_usr(folders)))

    def _object_of(self, source: Path, folder: Path) -> tuple[Path, str]:
        lesson = self.lesson
        found = compile_commands.of(self.build, lesson.solution_file, f"solution_{lesson.id}")
        if not found:
            raise WorkbookError(f"{self.build}/compile_commands.json lacks {lesson.id}")
        command, _ = found
        while command and not Path(command[0]).name.startswith("nvcc"):
            command = command[1:]  # a compiler cache
        out = _made(folder / "object")
        made, depends = out / "object.o", out / "object.d"
        command = programs.compile_arguments(command, lesson.solution_file, source, made, depends)
        box = Box((source, *self._headers(), *_toolkit(command)), (out,), _TEMPORARY)
        path = f"{Path(command[0]).parent}:/usr/local/bin:/usr/bin:/bin"
        ended = runner.run(
            command, sandbox.environment(PATH=path), ROOT, self._limits(_OUTPUT), box=box
        )
        said = _tidy(ended.output, source)
        if ended.code != 0 or ended.how or not made.is_file():
            _stop_if_ours(ended, out)
            raise programs.BuildFailed(said + self._stopped(ended), "compile")
        read = build_cache.files_read(depends, Path("/tmp"))
        if reasons := refusals.of_includes(read, source, command):
            raise programs.BuildFailed("\n".join(reasons), "refused")
        return made, _warnings(said)

    def _headers(self) -> tuple[Path, ...]:
        """Not the lesson's folder: it holds the instructor's own answer."""
        return (*sorted(self.lesson.folder.glob("*.h")), ROOT / "common" / "host")

    def _limits(self, output: int) -> Limits:
        return Limits(self.seconds, self.memory, output, _OBJECT)

    def _output(self, command: list[str], box: Box) -> str:
        """What a tool says about a submission's object."""
        ended = runner.run(command, sandbox.environment(), ROOT, self._limits(_LISTING), box=box)
        if ended.code != 0 or ended.how:
            _stop_if_ours(ended)
            raise programs.BuildFailed(f"{command[0]} cannot read the compiled file", "refused")
        return ended.output

    def _stopped(self, ended: runner.Ended) -> str:
        """A sentence where the compiler did not end by itself."""
        if ended.how == "time":
            return f"\nerror: the compiler was stopped: it needed more than {self.seconds:g} s"
        if ended.how == "memory" or re.search(r"memory exhausted|bad_alloc", ended.output):
            return f"\nerror: the compiler was stopped: it used more than {self.memory >> 20} MiB"
        if "File size limit exceeded" in ended.output:
            return f"\nerror: the compiler was stopped: it wrote more than {_OBJECT >> 20} MiB"
        if ended.how:
            return f"\nerror: the compiler was stopped: too much {ended.how}"
        if ended.code < 0:
            return f"\nerror: the compiler crashed ({ended.signal_name})"
        return ""


def _made(folder: Path) -> Path:
    """A folder for what is made in a box."""
    folder.mkdir(mode=0o755)
    return folder


def _stop_if_ours(ended: runner.Ended, *written: Path) -> None:
    """Raises where it is not the submission that made a tool fail: no sandbox, no room for what the
    tool writes, or no processor left for it.
    """
    disk.stop_if_full("", *written)
    if ended.how == "busy":
        raise WorkbookError(
            f"the machine was busy: the compiler had {ended.used:.0f} s of processor time in "
            f"{ended.seconds:.0f} s",
            "run it again when less is running",
        )
    if said := sandbox.failed(ended.output):
        raise WorkbookError(f"the sandbox could not be made: {said}", "see make doctor")


def _toolkit(command: list[str]) -> list[Path]:
    """Where the toolkit lies, if that is not below /usr, and other folders of headers."""
    nvcc = Path(command[0]).resolve()
    folders = [nvcc.parent.parent]
    folders += [Path(word.partition("=")[2]) for word in command if word.startswith("-isystem=")]
    for name in ("-I", "-isystem"):
        folders += [Path(w.removeprefix(name)) for w in command if re.match(name + "/", w)]
    tops = ("lessons", "common/host", "common/harness", "tests", "solutions")
    return _seen_outside_usr(
        [one for one in folders if not any(one.is_relative_to(ROOT / top) for top in tops)]
    )


def _read_by(inputs: list[str]) -> list[Path]:
    """The linker's inputs, and where shared libraries lie as their own names."""
    return _seen_outside_usr([Path(path) for path in inputs])


def _seen_outside_usr(paths: list[Path]) -> list[Path]:
    """Without what a box shows anyway. A link and what it leads to count as two."""
    found: dict[Path, None] = {}
    for path in paths:
        for one in (path, path.resolve()):
            if one.exists() and not one.is_relative_to("/usr") and one != Path("/"):
                found[one] = None
    return list(found)


def _tidy(text: str, source: Path) -> str:
    """What a compiler says, with the file's name instead of its path."""
    return text.replace(str(source), source.name).replace(f"{ROOT}/", "").strip()


def _warnings(text: str) -> str:
    """A compiler's warnings without its own advice on them."""
    return "\n".join(line for line in text.splitlines() if not line.startswith("Remark:"))
