# SPDX-License-Identifier: MIT
"""Compiles the wrong answers of a lesson, whose headers are read only once.

A small file's headers take most of the time that nvcc's steps need. The wrong answers of a lesson
begin with the same lines, up to the last #include: cudafe++ and cicc read these, wait, and go on in
a child process for each answer (fork_after.cpp). What cudafe++ makes of the headers is precompiled
for the host's compiler. Where two answers differ on the device alone, their objects differ in what
they embed for it. The steps and their options are those that `nvcc --dryrun` tells.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import string
import subprocess
import tempfile
from pathlib import Path

from ..answers import catalog
from ..base.project import Lesson
from ..build import programs
from ..lesson import skeletons

_INCLUDE = re.compile(r"\s*#\s*include\b")
_IF, _ENDIF = re.compile(r"\s*#\s*if"), re.compile(r"\s*#\s*endif\b")
_EMBEDDED = ".nv_fatbin"  # the section that holds what the device is to run


class NotShared(Exception):
    """This answer, or this toolkit, needs nvcc itself."""


def lines_with_includes(text: str) -> list[str]:
    """The lines up to the last #include, or to the end of the #if that it stands in."""
    lines = text.splitlines()
    last = max((at for at, line in enumerate(lines) if _INCLUDE.match(line)), default=len(lines))
    depth = 0
    for at, line in enumerate(lines):
        depth += bool(_IF.match(line)) - bool(_ENDIF.match(line))
        if at >= last and depth == 0:
            return lines[: at + 1]
    return []


class DoesNotCompile(NotShared):
    """The compiler refuses this answer."""


class Compiler:
    """Compiles answers of one lesson. Its processes and files are gone after the `with` block."""

    def __init__(self, build: Path, lesson: Lesson) -> None:
        """Raises NotShared where nvcc takes other steps than are known here."""
        self._stack = contextlib.ExitStack()
        made = tempfile.TemporaryDirectory(prefix="workbook-headers-")
        self._folder = Path(self._stack.enter_context(made))
        self._for_host = ""  # what the precompiled header holds
        self._objects: dict[str, Path] = {}  # by what was compiled for the host
        self._compiled = 0
        try:
            self._read_headers(build, lesson)
        except BaseException:
            self._stack.close()
            raise

    def __enter__(self) -> Compiler:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _read_headers(self, build: Path, lesson: Lesson) -> None:
        solution = skeletons.solved(lesson.solution_file.read_text(encoding="utf-8"))
        self._shared = lines_with_includes(solution)
        text = "".join(f"{line}\n" for line in self._shared)
        source = catalog.write_as_student(self._folder / "headers", lesson, text)
        command, folder = programs.compile_command(build, lesson, quick=True)
        arguments = programs.compile_arguments(
            command, lesson.solution_file, source, source.with_suffix(".o")
        )
        env, steps = _steps(arguments, source.parent, folder)
        self._frontends = []
        for name in ("cudafe++", "cicc"):
            step = next((step for step in steps if Path(step[0]).name == name), [])
            read = next((word for word in step if word.endswith(".ii")), "")
            before = next((one for one in steps if one[-2:] == ["-o", read]), [])
            if not before:
                raise NotShared(f"nvcc preprocesses nothing for {name}")
            _run(before, source.parent, env)
            library = build / "tests" / "libfork_after.so"
            self._frontends.append(_Frontend(step, before, Path(read), env, library, self._stack))
        last = [_relative(step, source.parent) for step in steps[-2:]]
        if Path(last[0][0]).name != "fatbinary" or "-c" not in last[1]:
            raise NotShared(f"nvcc's last steps are {last}")
        self._fatbinary, self._to_object = last
        self._env = env

    def object_of(self, source: Path) -> Path:
        """The object of an answer. Raises NotShared where nvcc is to compile it instead."""
        lines = source.read_text(encoding="utf-8").splitlines()
        size = len(self._shared)
        if lines[:size] != self._shared or any(map(_INCLUDE.match, lines[size:])):
            raise NotShared("it includes something else")
        self._compiled += 1
        folder = self._folder / str(self._compiled)
        folder.mkdir()
        rest = folder / "rest.cu"
        # The compilers' messages, and the lines of findings, name the answer's own file.
        rest.write_text("\n".join([f'# {size + 1} "{source}"', *lines[size:], ""]), "utf-8")
        for frontend in self._frontends:
            frontend.compile(rest)
        _run(self._fatbinary, folder, self._env)
        return self._host_object(folder, source)

    def _host_object(self, folder: Path, source: Path) -> Path:
        """Compiles what cudafe++ has written for the host."""
        written = next(word for word in self._to_object if word.endswith(".cudafe1.cpp"))
        text = (folder / written).read_text(encoding="utf-8")
        begin = re.search(rf'^# \d+ "{re.escape(str(source))}"', text, re.MULTILINE)
        if not begin:
            raise NotShared("nothing of it is for the host")
        header = self._folder / "for_host.h"
        if not self._for_host:
            self._for_host = text[: begin.start()]
            header.write_text(self._for_host, encoding="utf-8")
            step = [word for word in self._to_object if word != "-c"]
            step[step.index("-x") + 1] = "c++-header"
            step[step.index(written)] = str(header)
            step[step.index("-o") + 1] = f"{header}.gch"
            _run(step, folder, self._env)
        if not text.startswith(self._for_host):
            raise NotShared("cudafe++ makes something else of its headers")
        rest = text[len(self._for_host) :]
        (folder / written).write_text(f'#include "{header}"\n{rest}', encoding="utf-8")
        made = folder / f"{source.stem}.o"
        device = folder / f"{source.stem}.fatbin"
        stub = (folder / f"{source.stem}.cudafe1.stub.c").read_text(encoding="utf-8")
        for_host = _without_device_code(f"{rest}\n{stub}").replace(str(source), "")
        if (same := self._objects.get(for_host)) and device.is_file():
            # Its lines are the same, and its messages name the other answer's folder.
            update = f"{_EMBEDDED}={device}"
            _run(["objcopy", "--update-section", update, str(same), str(made)], folder, self._env)
            return made
        step = list(self._to_object)
        step[step.index("-o") + 1] = str(made)
        _run(step, folder, self._env)
        self._objects[for_host] = made
        return made


class _Frontend:
    """cudafe++ or cicc, which has read the headers and waits for the rest of a file."""

    def __init__(
        self, step: list[str], before: list[str], headers: Path, env: dict[str, str],
        library: Path, stack: contextlib.ExitStack,
    ) -> None:  # fmt: skip
        """`headers` is what the preprocessor, started by `before`, has made of them; `library` is
        fork_after.cpp's.
        """
        self._env = env
        self._name = Path(step[0]).name
        preprocess, source = before[:-3], before[-3]
        macros = headers.with_suffix(".h")
        plain = _without_forced_headers(preprocess)
        known = set(_run([*plain, "-dM", "/dev/null"], headers.parent, env).splitlines())
        defined = _run([*preprocess, "-dM", source], headers.parent, env).splitlines(keepends=True)
        macros.write_bytes(b"".join(line for line in defined if line.rstrip() not in known))
        self._preprocess = [*plain, "-imacros", str(macros)]
        from_here, self._requests = os.pipe()
        self._answers, to_here = os.pipe()
        stack.callback(os.close, self._answers)
        # What is written gets a relative name: it goes into the folder of each answer.
        step = [
            word if word == str(headers) else _relative([word], headers.parent)[0] for word in step
        ]
        settings = {
            "LD_PRELOAD": str(library),
            "WORKBOOK_FORK_AFTER": str(headers),
            "WORKBOOK_FORK_FROM": str(from_here),
            "WORKBOOK_FORK_TO": str(to_here),
        }
        process = subprocess.Popen(
            step, cwd=headers.parent, env={**env, **settings}, pass_fds=(from_here, to_here),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        stack.callback(process.wait)
        stack.callback(os.close, self._requests)  # at which it ends
        os.close(from_here)
        os.close(to_here)

    def compile(self, rest: Path) -> None:
        """Goes on with the lines in `rest`; what is written goes into the same folder."""
        text = rest.with_name(f"{self._name}.ii")
        said = text.with_suffix(".said")
        made = _run([*self._preprocess, str(rest)], rest.parent, self._env)
        # From the answer's own first line on: what is before names `rest` and the macros.
        text.write_bytes(made[made.index(rest.read_bytes().split(b"\n", 1)[0]) :])
        status = b""
        with contextlib.suppress(BrokenPipeError):
            os.write(self._requests, f"{rest.parent}\n{text}\n{said}\n".encode())
            while not status.endswith(b"\n") and (more := os.read(self._answers, 64)):
                status += more
        if status != b"0\n":
            words = said.read_text(errors="replace") if said.is_file() else ""
            raise DoesNotCompile(f"{self._name} ended with {status.decode()}{words}")


def _steps(
    arguments: list[str], keep: Path, folder: Path
) -> tuple[dict[str, str], list[list[str]]]:
    """nvcc's steps, with what they write in `keep`, and their environment."""
    command = [*arguments, "--dryrun", "--keep", "--keep-dir", str(keep)]
    told = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if told.returncode:
        raise NotShared(told.stderr)
    env, steps = dict(os.environ), []
    for line in told.stderr.splitlines():
        text = line.removeprefix("#$ ")
        if text == line or text.startswith(("rm ", "-- ")):
            continue
        if variable := re.fullmatch(r"(\w+)=(.*)", text):
            env[variable[1]] = variable[2]
        else:
            steps.append(shlex.split(string.Template(text).safe_substitute(env)))
    return env, steps


def _without_device_code(text: str) -> str:
    """What cudafe++ has written, without the bodies of kernels, which stand between `#if 0` and
    `#endif`. Lines keep their numbers, which stand before them.
    """
    kept, depth = [], 0
    for line in text.splitlines():
        if depth or line.startswith("#if 0"):
            depth += bool(_IF.match(line)) - bool(_ENDIF.match(line))
        else:
            kept.append(line)
    return "\n".join(kept)


def _run(step: list[str], folder: Path, env: dict[str, str]) -> bytes:
    done = subprocess.run(step, cwd=folder, env=env, capture_output=True)
    if done.returncode:
        raise NotShared(f"{shlex.join(step)}\n{done.stderr.decode(errors='replace')}")
    return done.stdout


def _relative(step: list[str], folder: Path) -> list[str]:
    return [word.replace(f"{folder}/", "") for word in step]


def _without_forced_headers(step: list[str]) -> list[str]:
    """The step without `-include header`."""
    kept = list(step)
    while "-include" in kept:
        at = kept.index("-include")
        del kept[at : at + 2]
    return kept
