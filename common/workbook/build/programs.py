# SPDX-License-Identifier: MIT
"""Builds a .cu file in the place of a lesson's solution: variants, mutants, skeletons.

Objects are cached, so that a file is compiled once, whatever it is linked with.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import subprocess
import threading
from pathlib import Path

from . import build_cache, compile_commands, refusals
from ..setup import lesson_libraries
from ..lesson import skeletons
from ..base.project import ROOT, Lesson, WorkbookError

TEST, BENCH = "link", "link_bench"  # what a file is linked with


class BuildFailed(Exception):
    """nvcc or the linker has failed, or the file is not graded (`stage`: compile, link or refused);
    has the words for it.
    """

    def __init__(self, said: str, stage: str) -> None:
        super().__init__(said)
        self.stage = stage


class NotBuilt(WorkbookError):
    """Something that CMake builds is missing."""

    def __init__(self, build: Path, missing: Path, target: str) -> None:
        name = missing.relative_to(build) if missing.is_relative_to(build) else missing
        super().__init__(
            f"{name} is missing", f"build it: ninja -C {shlex.quote(str(build))} {target}"
        )


def built(build: Path, target: str) -> Path:
    """A lesson's program that CMake builds."""
    program = build / "lessons" / target
    if not program.is_file():
        raise NotBuilt(build, program, target)
    return program


def _key(*parts: bytes) -> str:
    key = hashlib.sha256()
    for part in parts:
        key.update(len(part).to_bytes(8, "little") + part)
    return key.hexdigest()[:20]


def has_workload(lesson: Lesson) -> bool:
    """Whether the lesson can be timed."""
    return lesson.workload_file.is_file()


def folder_of(build: Path) -> Path:
    """Where the cached objects and programs lie."""
    return build / "workbook" / "programs"


def compile_command(build: Path, lesson: Lesson, quick: bool = False) -> tuple[list[str], Path]:
    """CMake's command for the lesson's solution, and the folder that it is run in."""
    lesson_libraries.require(build, [f"solution_{lesson.id}"])
    found = compile_commands.of(build, lesson.solution_file, f"solution_{lesson.id}")
    if not found:
        raise WorkbookError(f"{build}/compile_commands.json does not know {lesson.solution_file}")
    command, folder = found
    if quick:
        command = ["-O1" if word == "-O3" else word for word in command]
    return command, folder


def object_of(build: Path, lesson: Lesson, source: Path, quick: bool = False) -> tuple[Path, str]:
    """The object of `source`, compiled as CMake compiles the solution; the compiler's words.

    With `quick` the host's code is optimised less, which saves an eighth of the time; kernels are
    the same.

    An object is used again only while nothing that went into it has changed: the source, the
    command, the environment, every header that was read, the compilers themselves.
    """
    command, folder = compile_command(build, lesson, quick)
    key, ours = _inputs(command, lesson, source)
    cache = folder_of(build)
    cache.mkdir(parents=True, exist_ok=True)
    made = cache / f"{source.stem}-{key}.o"
    record = made.with_suffix(".json")
    if (said := build_cache.cached_output(made, record)) is not None:
        return made, said
    if reasons := refusals.of_names_in_source(source):
        raise BuildFailed("\n".join(reasons), "refused")
    unique = f".{os.getpid()}-{threading.get_ident()}"
    fresh, depends = made.with_suffix(f"{unique}.o"), made.with_suffix(f"{unique}.d")
    arguments = compile_arguments(command, lesson.solution_file, source, fresh, depends)
    started = build_cache.compile_start()
    done = subprocess.run(
        arguments, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode != 0:
        fresh.unlink(missing_ok=True)
        depends.unlink(missing_ok=True)
        raise BuildFailed(f"{shlex.join(arguments)}\n{done.stdout}", "compile")
    read = build_cache.files_read(depends, folder)
    depends.unlink()
    if reasons := refusals.of_includes(read, source, command):
        fresh.unlink()
        raise BuildFailed("\n".join(reasons), "refused")
    read -= ours
    record.unlink(missing_ok=True)  # never beside an object that it does not describe
    os.replace(fresh, made)
    # Where something changed while the compiler was reading, the object is not to be used again.
    if _inputs(command, lesson, source)[0] == key:
        build_cache.record(record, done.stdout, command, read, started)
    return made, done.stdout


def _inputs(command: list[str], lesson: Lesson, source: Path) -> tuple[str, set[str]]:
    """A key of everything here that the object is made of, and the files whose text is in it."""
    # Whole folders, so that a new header that hides another one counts as a change.
    headers = sorted([*lesson.folder.glob("*.h"), *(ROOT / "common" / "host").glob("*.h")])
    files = [str(path) for path in (source, *headers)]
    texts = [Path(path).read_bytes() for path in files]
    # The path is part of the object: messages name the file by it.
    return _key("\0".join([*build_cache.command_key(command), *files]).encode(), *texts), set(files)


def compile_arguments(
    command: list[str], instead_of: Path, source: Path, made: Path, depends: Path | None = None
) -> list[str]:
    """`command` with another source, another output, and a list of the files that it reads."""
    arguments, skip = [], False
    for word in command:
        if skip:
            skip = False
        elif word in ("-MF", "-MT", "-o"):
            skip = True
        elif word == str(instead_of):
            arguments.append(str(source))
        elif word != "-MD":
            arguments.append(word)
    noted = ["-MD", "-MF", str(depends)] if depends else []
    return [*arguments, "-o", str(made), *noted]


def linked_with(build: Path, lesson: Lesson, kind: str = TEST) -> tuple[list[str], list[str]]:
    """The linker's options, and the objects and libraries that judge a student's object."""
    text = (build / "lessons" / f"{kind}_{lesson.id}.txt").read_text(encoding="utf-8")
    lines = [line for line in text.split("\n") if line]
    options = [line for line in lines if line.startswith("-")]
    inputs = [line for line in lines if not line.startswith("-")]
    for path in map(Path, inputs):
        if not path.is_file():
            # The solution's program is linked with all of them.
            prefix = "bench_solution" if kind == BENCH else "solution"
            raise NotBuilt(build, path, f"{prefix}_{lesson.id}")
    return options, inputs


def compiled(
    build: Path, lesson: Lesson, source: Path, kind: str = TEST, quick: bool = False
) -> tuple[Path, str]:
    """The program of `source` with the lesson's test (or workload), and the compiler's output."""
    made, said = object_of(build, lesson, source, quick)
    return linked(build, lesson, source, made, kind), said


def linked(build: Path, lesson: Lesson, source: Path, made: Path, kind: str = TEST) -> Path:
    """The program of `made`, the object of `source`; it lies beside the object."""
    options, inputs = linked_with(build, lesson, kind)
    if reasons := refusals.of_object(made, source.name, refusals.Judge(build, inputs)):
        raise BuildFailed("\n".join(reasons), "refused")
    stamps = [build_cache.size_and_time(path) for path in (str(made), *inputs)]
    key = _key(made.name.encode(), repr([options, inputs, stamps]).encode())
    program = made.with_name(f"{source.stem}-{key}")
    if program.is_file():
        build_cache.mark_used(program)
        return program
    fresh = program.with_suffix(f".{os.getpid()}-{threading.get_ident()}")
    linked = subprocess.run(
        link_arguments(options, inputs, made, fresh),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if linked.returncode != 0:
        raise BuildFailed(linked.stdout, "link")
    os.replace(fresh, program)
    return program


def link_arguments(options: list[str], inputs: list[str], made: Path, program: Path) -> list[str]:
    """The command that links a student's object with what judges it (linked_with)."""
    # NVIDIA's library where there is no emulator, whose folder comes first at run time.
    folders = {str(Path(path).parent) for path in inputs if ".so" in Path(path).name}
    # The test's and Catch2's come first: of inline functions that both have, theirs are taken.
    judging = [path for path in inputs if path.endswith((".o", ".a"))]
    libraries = [path for path in inputs if path not in judging]
    libraries += [f"-Wl,-rpath,{folder}" for folder in sorted(folders)]
    command = [os.environ.get("CXX", "g++"), *options, "-o", str(program), *judging, str(made)]
    return [*command, *libraries, "-ldl", "-lpthread"]


def skeleton_file(build: Path, lesson: Lesson) -> Path:
    """The lesson's skeleton, generated into the build folder."""
    text = skeletons.of_lesson(lesson).text
    source = build / "workbook" / "skeletons" / lesson.id / f"{lesson.slug}.cu"
    source.parent.mkdir(parents=True, exist_ok=True)
    if not source.is_file() or source.read_text(encoding="utf-8") != text:
        source.write_text(text, encoding="utf-8")
    return source
