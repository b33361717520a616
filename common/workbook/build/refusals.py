# SPDX-License-Identifier: MIT
"""Why a student's object is not graded: it takes the place of what judges it, or includes it.

Test, Catch2, CUDA runtime and the student's file become one program. A function of the student's
with the name of one of theirs would be called in its stead, by the linker's or by the loader's
rules. That is seen in the object, however the source came to it: macros, asm labels, attributes.

What stays allowed: own names, also those of inline functions and templates that the test happens to
have too. Of those the test's come first when the program is linked.
"""

from __future__ import annotations

import functools
import json
import os
import re
import subprocess
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from . import build_cache, compile_commands, stale_outputs
from ..base import files
from ..base.project import ROOT, WorkbookError, relative

_SYSTEM = {
    "libc.so.6": "the C library", "libm.so.6": "the C library",
    "libpthread.so.0": "the C library", "libdl.so.2": "the C library",
    "libstdc++.so.6": "the C++ library", "libgcc_s.so.1": "the C++ library",
}  # fmt: skip
_TEST, _CUDA, _CATCH, _MPI = "the lesson's test", "the CUDA runtime", "Catch2", "MPI"
# Names that the runtime could have in another version.
_OF_CUDA = re.compile(r"(?:__)?cuda[A-Z]\w*|cu[A-Z]\w*|emulator[A-Z]\w*")
# Calls that a compiler inserts for ThreadSanitizer; lesson 07's test has these functions.
_INSERTED = "__tsan_"
# What the test measures messages with, and MPI's own ways past it.
_OF_MPI = re.compile(r"PMPI_\w+|PMPIX_\w+|mpiWatch[A-Z]\w*")
_OF_CATCH = re.compile(r"_Z\w*\d*5Catch\w*")
# What the files of a test share with each other: namespace wb::of_test (common/harness).
_OF_TEST = re.compile(r"_Z\w*2wb7of_test\w*")
_OF_STANDARD = re.compile(r"_Z(?:T[VTIS])?N?K?S[tabsiod]|_Z(?:nw|na|dl|da)[mP]")

# Functions that no lesson's file needs, and what it would use them for.
_UNNEEDED = {
    **dict.fromkeys(
        ("dlsym", "dlvsym", "dlopen", "dlmopen", "dladdr1", "dlinfo", "dl_iterate_phdr"),
        "looks for the functions of others at run time",
    ),
    **dict.fromkeys(
        ("execl", "execle", "execlp", "execv", "execve", "execvp", "execvpe", "fexecve",
         "execveat", "posix_spawn", "posix_spawnp", "system", "popen"),
        "starts another program",
    ),
    **dict.fromkeys(
        ("ptrace", "process_vm_readv", "process_vm_writev"), "reaches into a running process"
    ),
    **dict.fromkeys(("mprotect", "pkey_mprotect"), "changes what memory may be used for"),
    **dict.fromkeys(
        ("longjmp", "_longjmp", "siglongjmp", "__longjmp_chk", "setcontext", "swapcontext",
         "_Unwind_Backtrace", "_Unwind_ForcedUnwind", "_Unwind_RaiseException"),
        "leaves functions, the test among them, without a return",
    ),
}  # fmt: skip

_LONG_NAME = 20_000  # characters of a mangled name

# Sections by which an object runs code before everything else, or speaks to the loader, the linker
# or a linker's plugin, which takes the code in there for that of the object; and the section of the
# code that may write to the grader's channel.
_SECTION = re.compile(
    r"\.(?:preinit_array|interp|dynamic|init|fini|got|plt)(?:\..*)?|\.gnu\.(?:lto_|warning).*"
    r"|wb_grader_\w*"
)


@dataclass(frozen=True)
class Names:
    """Names with external linkage: strong, weak and wanted from elsewhere."""

    strong: frozenset[str]
    weak: frozenset[str]
    wanted: frozenset[str]
    indirect: frozenset[str]

    @property
    def defined(self) -> frozenset[str]:
        return self.strong | self.weak | self.indirect


def _output(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise WorkbookError(
            f"{command[0]} cannot read what was built: {error}",
            "binutils has it: sudo apt-get install binutils",
        ) from error
    return done.stdout


Run = Callable[[list[str]], str]  # runs a command and returns its output


def _read_names(path: Path, run: Run = _output) -> Names:
    shared = [] if path.suffix in (".o", ".a") else ["-D"]
    found: dict[str, set[str]] = {"strong": set(), "weak": set(), "wanted": set(), "i": set()}
    for line in run(["nm", "-P", *shared, str(path)]).splitlines():
        fields = line.split()
        if len(fields) < 2 or len(fields[1]) != 1:
            continue
        name, kind = fields[0], fields[1]
        if "@" in name.lstrip("@"):
            name, _, version = name.partition("@")
            # An old version that only old programs are given. An object that names one (.symver)
            # means the function all the same.
            if shared and not version.startswith("@"):
                continue
        if kind == "i":
            found["i"].add(name)
        elif kind == "U" or (kind in "wv"):
            found["wanted"].add(name)
        elif kind in "WVu":
            found["weak"].add(name)
        elif kind.isupper():
            found["strong"].add(name)
    return Names(*(frozenset(one) for one in found.values()))


def names_in(path: Path, cache: Path) -> Names:
    """The names of an object or library, read once while the file stays as it is."""
    state = [str(path), *build_cache.size_and_time(str(path))]
    key = re.sub(r"\W+", "_", str(path))[-150:]
    kept = cache / f"{key}.json"
    try:
        noted = json.loads(kept.read_text(encoding="utf-8"))
        if noted["state"] == state:
            return Names(*(frozenset(one) for one in noted["names"]))
    except (OSError, ValueError, KeyError, TypeError):
        pass
    found = _read_names(path)
    cache.mkdir(parents=True, exist_ok=True)
    draft = kept.with_suffix(f".{os.getpid()}-{time.monotonic_ns()}")
    parts = [sorted(one) for one in (found.strong, found.weak, found.wanted, found.indirect)]
    draft.write_text(json.dumps({"state": state, "names": parts}), encoding="utf-8")
    os.replace(draft, kept)
    return found


@functools.cache
def _system_libraries(compiler: str) -> dict[Path, str]:
    """The libraries of the system that every program here has, and what to call them."""
    found = {}
    for name, owner in _SYSTEM.items():
        path = Path(_output([compiler, f"-print-file-name={name}"]).strip())
        if path.is_absolute() and path.exists():
            found[path] = owner
    return found


class Judge:
    """What a student's object is linked with."""

    def __init__(self, build: Path, linked_with: Iterable[str]) -> None:
        cache = build / "workbook" / "names"
        compiler = os.environ.get("CXX", "g++")
        self.owners: dict[str, str] = {}
        libraries = dict(_system_libraries(compiler))
        libraries |= dict.fromkeys((build / "emulator").glob("libcudart.so"), _CUDA)
        tests: set[str] = set()
        weak: set[str] = set()
        wanted: set[str] = set()
        for path in map(Path, linked_with):
            if path.suffix not in (".o", ".a"):
                libraries[path] = _MPI if path.name.startswith("libmpi") else _CUDA
                continue
            names = names_in(path, cache)
            tests |= names.defined
            weak |= names.weak
            wanted |= names.wanted
        for path, owner in libraries.items():
            self.owners |= dict.fromkeys(names_in(path, cache).defined, owner)
        self._libraries = frozenset(self.owners)
        # Taken from the libraries by the test and Catch2.
        self.imported = frozenset(wanted - tests) & self._libraries
        self._tests = frozenset(tests)
        self.weak = frozenset(weak)  # their inline functions and templates

    def only_of_test(self, name: str) -> bool:
        """Whether the test alone defines it, so that no other file has a reason to use it."""
        if name in self._libraries or _OF_CUDA.fullmatch(name) or name.startswith(_INSERTED):
            return False
        return name in self._tests

    def owner(self, name: str, is_weak: bool) -> str:
        """Whose name a definition takes; '' where it may stay."""
        if _OF_CATCH.fullmatch(name):
            return _CATCH
        if _OF_TEST.fullmatch(name):
            return _TEST
        mangled = name.startswith("_Z")
        if name in self._libraries:
            # Compilers put inline functions of the standard library into every object.
            if is_weak and _OF_STANDARD.match(name) and name not in self.imported:
                return ""
            return self.owners[name]
        # The interface's constants are inline variables, whose names are not mangled.
        shared = mangled or name.startswith("DW.ref.") or name in self.weak
        if name in self._tests and not (is_weak and shared):
            return _TEST
        return _CUDA if _OF_CUDA.fullmatch(name) else ""


def of_object(made: Path, name: str, judge: Judge, run: Run = _output) -> list[str]:
    """A sentence for each reason not to grade this object of the file `name`.

    `run` starts the tools that read the object.
    """
    # First: nm may fail on an object that is written for a plugin.
    if sections := _special_sections(made, run):
        reads = "which the loader, the linker or the grader reads: take it out"
        return [f"{name} has a section `{section}`, {reads}" for section in sorted(sections)]
    names = _read_names(made, run)
    taken = {
        one: owner
        for found, weak in ((names.strong, False), (names.weak, True), (names.indirect, False))
        for one in sorted(found)
        if (owner := judge.owner(one, weak))
    }
    shown = _demangled([*taken, *sorted(names.wanted), *sorted(names.indirect)])
    said: dict[str, str] = {}
    for one, owner in taken.items():
        if one == "main":
            text = f"{name} defines `main`: the test has one, take yours out"
        elif owner == _CATCH:
            text = f"{name} uses Catch2, with which only the test may judge: take it out"
        else:
            text = f"{name} defines `{shown[one]}`, which belongs to {owner}: choose another name"
        said[text] = text
    for one in sorted(names.wanted):
        if one.startswith("emulator") and _OF_CUDA.fullmatch(one):
            text = f"{name} calls `{one}`, with which only the test measures: take it out"
        elif _OF_CATCH.fullmatch(one):
            text = f"{name} uses Catch2, with which only the test may judge: take it out"
        elif _OF_TEST.fullmatch(one):
            text = f"{name} uses `{shown[one]}`, which belongs to {_TEST}: take it out"
        elif _OF_MPI.fullmatch(one):
            text = f"{name} calls `{one}`, which the test does not count: call MPI_ functions"
        elif judge.only_of_test(one):
            text = f"{name} uses `{shown[one]}`, which belongs to {_TEST}: take it out"
        elif one in _UNNEEDED:
            text = f"{name} calls `{one}`, which {_UNNEEDED[one]}: no lesson needs it, take it out"
        else:
            continue
        said[text] = text
    for one in sorted(names.indirect - set(taken)):
        text = f"{name} lets the loader choose `{shown[one]}` (ifunc): write an ordinary function"
        said[text] = text
    return list(said)


def _special_sections(made: Path, run: Run) -> set[str]:
    """Sections of such a name, or of the kind that runs first."""
    found = set()
    for line in run(["readelf", "-SW", str(made)]).splitlines():
        if match := re.match(r"\s*\[\s*\d+\]\s+(\S+)\s+(\S+)\s", line):
            name, kind = match.groups()
            if kind == "PREINIT_ARRAY" or _SECTION.fullmatch(name):
                found.add(name)
    return found


def _demangled(names: list[str]) -> dict[str, str]:
    if not any(name.startswith("_Z") for name in names):
        return {name: name for name in names}
    text = "\n".join(name if len(name) < _LONG_NAME else "a very long name" for name in names)
    try:
        done = subprocess.run(
            ["c++filt"], input=text, capture_output=True, text=True, errors="replace", timeout=20
        )
    except subprocess.TimeoutExpired:
        return dict(zip(names, names, strict=True))
    shown = done.stdout.splitlines()
    return dict(zip(names, shown if len(shown) == len(names) else names, strict=True))


def of_target(build: Path, target: str, source: Path) -> list[str]:
    """The same for the object of a lesson's program or library that CMake has compiled, and for its
    includes.
    """
    found = compile_commands.of(build, source, target)
    if not found:
        raise WorkbookError(f"{build}/compile_commands.json does not know {source}")
    command, where = found
    made = where / command[command.index("-o") + 1]
    if not made.is_file():
        return []  # it did not compile
    if reasons := of_includes(stale_outputs.files_read_for(build, made), source, command):
        return reasons
    lesson = target.removeprefix("shared_").removeprefix("lesson_")
    text = (build / "lessons" / f"link_{lesson}.txt").read_text()
    judge = Judge(build, [line for line in text.splitlines() if line and line[0] != "-"])
    return of_object(made, source.name, judge)


# --- what the source includes --------------------------------------------------------------------


def of_includes(read: Iterable[str], source: Path, command: list[str]) -> list[str]:
    """A sentence for each file that the compiler read and that the student's may not include."""
    own = [source.parent, ROOT / "lessons", ROOT / ".workbook"]
    own += [Path(word.removeprefix("-I")) for word in command if word.startswith("-I")]
    allowed = [folder.resolve() for folder in own]
    hidden = _hidden_files()
    said = []
    for path in sorted(read):
        real = Path(os.path.realpath(path))
        if real == source.resolve():
            continue
        ours = real.is_relative_to(ROOT) and not any(real.is_relative_to(one) for one in allowed)
        if what := files.kind_of(real):
            said.append(_takes_no_file(source, path, what))
        elif ours or _identity(real) in hidden:
            said.append(
                f"{source.name} includes {relative(real)}: a lesson's file may include its own "
                "header, common/host, and the headers of C++ and CUDA"
            )
    return said


def _takes_no_file(source: Path, name: str, what: str) -> str:
    return f"{source.name} includes {name}, which is {what}: take the #include out"


def _identity(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return 0, 0
    return found.st_dev, found.st_ino


@functools.cache
def _hidden_files() -> frozenset[tuple[int, int]]:
    """Solutions, tests and the harness, by what stays the same under another name (a hard link)."""
    found = set()
    for top in ("solutions", "tests", "common/harness"):
        for path in (ROOT / top).rglob("*"):
            if path.suffix in (".cu", ".cpp", ".h") and "/fixture/lessons/" not in str(path):
                found.add(_identity(path))
    return frozenset(found)


_INCLUDE = re.compile(
    r'^[ \t]*#[ \t]*(?:include|include_next|import)[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE
)


def of_names_in_source(source: Path) -> list[str]:
    """The same for what is no file, before a compiler waits for it or reads without end.

    Sees what stands after `#include` in the file and in those beside it; of_includes sees the rest.
    """
    said, seen, to_read = [], set(), [source]
    while to_read:
        path = to_read.pop()
        if path in seen or len(seen) > 100:
            continue
        seen.add(path)
        try:
            text = files.read_text(path)
        except OSError:
            continue
        for quoted, angled in _INCLUDE.findall(text):
            name = quoted or angled
            other = path.parent / name
            what = files.kind_of(other)
            if what and what != "a folder":
                said.append(_takes_no_file(source, name, what))
            elif quoted and other.suffix in (".h", ".cu", ".cuh", ".hpp"):
                to_read.append(other)
    return said
