# SPDX-License-Identifier: MIT
"""Builds the seeded programs in cases/: those with the same flags share a program.

Nine tenths of what nvcc does for a case of forty lines is to read headers, three times: the
toolkit's own, and up to fifteen seconds for those of CUB and Thrust. So the cases of a program are
written into one source after another, each in a namespace of its own and under its own file's name
and lines (`#line`), and the program runs the one that its first argument names. A case stands alone
where it cannot be put into a namespace, and it is in several programs if it is compiled with other
flags as well.
"""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import os
import re
import shlex
from collections.abc import Iterable
from pathlib import Path

from workbook.build import build_cache

CASES = Path(__file__).resolve().parent / "cases"
STAND_INS = CASES.parents[2] / "common" / "libraries"
FLAGS = ["-std=c++17", "-arch=compute_75", "-cudart", "shared", "-lineinfo", "-Xcompiler", "-g"]
# Some cases ask for these. The others do not mind, and can share a program with them.
FLAGS += (ASKED := ["--extended-lambda", "-diag-suppress", "20054"])
# A program is loaded whole for each of its cases, and two of them compile side by side. Those that
# need the large headers are compiled together, whatever it takes to load them.
MOST_CASES, MOST_OF_LIBRARIES = 60, 40

DIRECTIVE = re.compile(r"^//\s*(nvcc|also|env|links|alone|apart):\s*(.+?)\s*$", re.MULTILINE)
_INCLUDE = re.compile(r"^#include [<\"].*[>\"]$", re.MULTILINE)
_DEFINE = re.compile(r"^#define (\w+)", re.MULTILINE)
_MAIN = re.compile(r"^int main\(\) \{(.*?)^\}$", re.MULTILINE | re.DOTALL)
# Headers that take seconds to read, and those that take up to fifteen.
_LARGE = re.compile(r"^#include <(?:cuda/|cooperative_groups|cuda_pipeline)", re.MULTILINE)
_LARGEST = re.compile(r"^#include <(?:cub|thrust)/", re.MULTILINE)
# What has one name in a whole program, or another meaning in a namespace.
_ALONE = re.compile(r'extern "C"|^namespace std|^#if|^#undef|\bmain\(', re.MULTILINE)


def variants(text: str) -> list[list[str]]:
    """The flags of each build of a case: its own, then those of its `also` lines."""
    found: list[list[str]] = [[]]
    for name, value in DIRECTIVE.findall(text):
        if name == "nvcc":
            found[0] += shlex.split(value)
        elif name == "also":
            found.append(shlex.split(value))
    return found


def _text(case: Path) -> str:
    """What is compiled: of a case that includes another one, that one's lines."""

    def included(match: re.Match[str]) -> str:
        other = case.parent / match[1]
        return f'#line 1 "{other}"\n{other.read_text()}'

    return re.sub(r'^#include "(\w+\.cu)"$', included, case.read_text(), flags=re.MULTILINE)


def libraries(text: str) -> list[str]:
    """What a case links besides the runtime."""
    return [
        one for name, value in DIRECTIVE.findall(text) if name == "links" for one in value.split()
    ]


@dataclasses.dataclass(frozen=True)
class Program:
    """The cases of one source: one alone, or several in namespaces."""

    cases: tuple[Path, ...]
    flags: tuple[str, ...]  # beside FLAGS

    @property
    def part(self) -> str:
        """`long` for what `make test` leaves to `make test MORE=1`: programs that include CUB or
        Thrust, which take long to compile, and those of a few cases with flags of their own.
        """
        large = any(_LARGEST.search(_text(case)) for case in self.cases)
        return "long" if self.flags or large else "quick"

    @property
    def name(self) -> str:
        """Of its files: it changes with the cases, whose number chooses one at run time."""
        words = " ".join([*(case.stem for case in self.cases), *self.flags])
        is_plain = len(self.cases) == 1 and not self.flags
        key = "" if is_plain else f"_{hashlib.sha256(words.encode()).hexdigest()[:8]}"
        return self.cases[0].stem + key

    def source(self, folder: Path) -> Path:
        """The file to compile, written to `folder` where it is not a case itself."""
        if len(self.cases) == 1:
            return self.cases[0]
        path = folder / f"{self.name}.cu"
        text = _together(self.cases)
        if not path.is_file() or path.read_text() != text:
            path.write_text(text)
            # As old as what it is made of: the cache does not trust a file that changes just now.
            newest = max(case.stat().st_mtime_ns for case in self.cases)
            os.utime(path, ns=(newest, newest))
        return path

    def arguments(self, case: Path) -> list[str]:
        """With which the program runs `case`."""
        return [case.stem] if len(self.cases) > 1 else []

    def build(self, folder: Path, library: Path, nvcc: str) -> tuple[Path, str]:
        """Compiles it unless it is up to date; returns it and nvcc's complaint, if any."""
        program = folder / self.name
        # Flags that choose another architecture, or another kind of line information, stand alone.
        flags = [
            flag
            for flag in FLAGS
            if not ("-G" in self.flags and flag == "-lineinfo")
            and not (flag.startswith("-arch") and any(f.startswith("-arch") for f in self.flags))
        ] + list(self.flags)
        if wanted := libraries(self.cases[0].read_text()):
            flags += ["-I", str(STAND_INS / "include"), "-L", str(library)]
            flags += [f"-l{name}" for name in wanted]
        source = self.source(folder)
        if source not in self.cases:
            flags += ["-I", str(CASES)]
        command = [nvcc, *flags, str(source), "-o", str(program)]
        return program, build_cache.compile_cached(command, program)


def programs(sources: Iterable[Path]) -> list[Program]:
    """Each case with each of its flags in one program, those that take long to compile first."""
    kinds: dict[tuple, list[Path]] = {}
    found = []
    for source in sources:
        directives, text = source.read_text(), _text(source)
        apart = any(name == "apart" for name, _ in DIRECTIVE.findall(directives))
        apart |= bool(_ALONE.search(_MAIN.sub("", text, count=1))) or not _MAIN.search(text)
        for wanted in variants(directives):
            flags = tuple(flag for flag in wanted if flag not in ASKED)
            if apart:
                found.append(Program((source,), flags))
            else:
                size = 2 if _LARGEST.search(text) else 1 if _LARGE.search(text) else 0
                kind = (size, str(libraries(directives)), flags, source.parent)
                kinds.setdefault(kind, []).append(source)
    large = []
    for (size, _, flags, _), members in kinds.items():
        most = MOST_OF_LIBRARIES if size else MOST_CASES
        for at in range(0, len(members), most):
            chosen = Program(tuple(members[at : at + most]), flags)
            (large if size else found).append(chosen)
    return sorted(large, key=lambda one: -len(one.cases)) + found


def _together(cases: tuple[Path, ...]) -> str:
    """One source that has each case's main function under the case's name."""
    texts = {case: _text(case) for case in cases}
    includes = dict.fromkeys(itertools.chain(*(_INCLUDE.findall(text) for text in texts.values())))
    parts = ["#include <cstring>", *includes]
    for case, text in texts.items():
        # Only main's end is also `return 0`. Its lines stay where they are.
        text = _MAIN.sub(r"int case_main() {\1return 0; }", _INCLUDE.sub("", text))
        own = dict.fromkeys(_DEFINE.findall(text))  # macros know no namespace
        parts += [f'#pragma push_macro("{name}")\n#undef {name}' for name in own]
        parts.append(f'namespace {case.stem} {{\n#line 1 "{case}"\n{text}\n}}')
        parts += [f'#pragma pop_macro("{name}")' for name in own]
    calls = [
        f'    if (!std::strcmp(values[1], "{case.stem}")) return {case.stem}::case_main();'
        for case in cases
    ]
    parts.append("\n".join(["int main(int, char** values) {", *calls, "    return 125;\n}\n"]))
    return "\n".join(parts)
