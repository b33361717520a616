#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the seeded programs in cases/ on the emulator and compares what it finds.

A line that should give a finding carries `// expect: CODE`, several codes separated by commas, each
optionally preceded by `error` or `warning` and followed by a "quoted part" of the message or its
notes; alone on its line, the comment is about the next line. A file without any expectation must
run to exit code 0 and give no finding. Directives anywhere in a file:

    // nvcc: FLAGS     more flags for the compiler
    // also: FLAGS     once more with these flags instead, and the same expectations
    // env: NAME=VALUE environment of the run
    // links: NAMES    links these libraries of NVIDIA's, cublas for instance, in the stand-ins that
                       lie beside libcudart.so
    // apart: WHY      is compiled as a program of its own (case_programs.py)
    // alone: WHY      is left out beside a preloaded library (a sanitizer's) that replaces the
                       C library's functions

What is right in a case, but looks like a bug of some code, has `// twin: CODE` above it (or several
codes, separated by commas). It must stay without a finding like all else that nobody expects;
tests/workbook/test_codes.py counts the bugs and the twins of each code.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import dataclasses
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "common"))
from case_programs import CASES, DIRECTIVE, Program, libraries, programs  # noqa: E402

RUN_SECONDS = 120
SKIPPED = 77  # ctest's SKIP_RETURN_CODE
# Small, so that cases about hanging end soon; a case that needs more says so.
DEFAULT_BUDGET = "200000000"

EXPECT = re.compile(r"//\s*expect:\s*(.+?)\s*$")
ONE_EXPECTATION = re.compile(r'(?:(error|warning)\s+)?([a-z-]+)(?:\s+"([^"]*)")?\s*(?:,\s*|$)')
TWIN = re.compile(r"^\s*//\s*twin:\s*(.+?)\s*$")


@dataclasses.dataclass
class Expectation:
    """One finding that a line of a case must give."""

    code: str
    line: int
    message: str = ""  # a part of it; empty: any
    severity: str = ""  # empty: any


@dataclasses.dataclass
class Result:
    """What became of one case; `problems` is empty when it passed."""

    name: str
    problems: list[str]


def expectations(text: str) -> list[Expectation]:
    """The expected findings of a case's source. Raises ValueError for an unreadable comment."""
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        match = EXPECT.search(line)
        if not match:
            continue
        rest = match.group(1)
        while rest:
            one = ONE_EXPECTATION.match(rest)
            if not one:
                raise ValueError(f"line {number}: cannot read `expect: {match.group(1)}`")
            alone = line.lstrip().startswith("//")
            severity, code, part = one.groups()
            found.append(Expectation(code, number + alone, part or "", severity or ""))
            rest = rest[one.end() :]
    return found


def twins(text: str) -> list[str]:
    """The codes whose bugs a case's right parts look like, one for each part."""
    return [
        code.strip()
        for line in text.splitlines()
        if (match := TWIN.match(line))
        for code in match.group(1).split(",")
    ]


def run(command: list[str], case: Path, options: argparse.Namespace) -> tuple[int, str, list[dict]]:
    """Runs a case on the emulator; its exit status, output, and findings."""
    report = options.build / f"{case.stem}.jsonl"
    report.unlink(missing_ok=True)
    environment = {k: v for k, v in os.environ.items() if not k.startswith("EMULATOR_")}
    library = options.library if options.library.is_dir() else options.library.parent
    environment["LD_LIBRARY_PATH"] = str(library)
    environment["EMULATOR_REPORT"] = str(report)
    if preload := environment.get("WORKBOOK_TEST_PRELOAD"):
        environment["LD_PRELOAD"] = preload
    environment["EMULATOR_BUDGET"] = DEFAULT_BUDGET
    for name, value in DIRECTIVE.findall(case.read_text()):
        if name == "env":
            key, _, setting = value.partition("=")
            environment[key] = setting
    try:
        done = subprocess.run(
            [*shlex.split(options.runner), *command],
            env=environment,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=RUN_SECONDS,
            check=False,
        )
        status, output = done.returncode, done.stdout + done.stderr
    except subprocess.TimeoutExpired:
        return -1, f"did not end within {RUN_SECONDS} s", []
    findings = []
    if report.exists():
        for line in report.read_text(errors="replace").splitlines():
            findings.append(json.loads(line))
    return status, output, findings


def compare(
    source: Path, expected: list[Expectation], status: int, output: str, findings: list[dict]
) -> list[str]:
    """What differs from the expectation, a line each."""
    problems = []
    missing = list(expected)
    for finding in findings:
        where = f"{finding['file']}:{finding['line']}"
        match = next(
            (
                one
                for one in missing
                if finding["file"] == source.name
                and finding["line"] == one.line
                and finding["code"] == one.code
            ),
            None,
        )
        if match is None:
            problems.append(f"unexpected {finding['code']} at {where}: {finding['message']}")
            continue
        missing.remove(match)
        if match.severity and match.severity != finding["severity"]:
            problems.append(f"{finding['code']} at {where} is of severity {finding['severity']}")
        said = "; ".join([finding["message"], *finding.get("notes", [])])
        if match.message not in said:
            problems.append(
                f"{finding['code']} at {where} says: {said} "
                f"(want it to contain: {match.message})"
            )
    for one in missing:
        problems.append(f"missing {one.code} at line {one.line}")
    if not expected and status != 0:
        problems.append(f"a clean program ended with status {status}")
    fatal = any(one.code == "host-dereference" for one in expected)
    if status < 0 and not fatal:
        problems.append(f"killed by signal {-status}")
    if problems and output.strip():
        problems += ["| " + line for line in output.strip().splitlines()[:12]]
    return problems


def group_of(case: Path) -> str:
    """The first word of its name: those that share it are one test, since Python takes longer to
    start than most cases to run."""
    return case.stem.partition("_")[0]


def left_out(text: str, library: Path) -> bool:
    """Whether the case cannot be judged beside the library that is preloaded, or needs a stand-in
    that is not built there (for a sanitizer or another processor)."""
    if any(not (library / f"lib{name}.so").exists() for name in libraries(text)):
        return True
    alone = any(name == "alone" for name, _ in DIRECTIVE.findall(text))
    return alone and bool(os.environ.get("WORKBOOK_TEST_PRELOAD"))


def check(
    case: Path, builds: list[tuple[Program, Path, str]], options: argparse.Namespace
) -> Result:
    """Runs and judges one case in each of its programs."""
    try:
        expected = expectations(case.read_text())
        problems = []
        for program, file, complaint in builds:
            if complaint:
                return Result(case.stem, ["does not compile: " + complaint])
            command = [str(file), *program.arguments(case)]
            found = compare(case, expected, *run(command, case, options))
            flags = shlex.join(program.flags)
            problems += [f"[{flags}] {one}" if flags else one for one in found]
        return Result(case.stem, problems)
    except (ValueError, OSError) as error:
        return Result(case.stem, [str(error)])


def main() -> int:
    """Runs all cases, or those whose name contains the pattern; 0 when every one passed, 77 where
    none of them can run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, required=True, help="directory for the programs")
    parser.add_argument("--library", type=Path, required=True, help="directory of libcudart.so")
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--runner", default="", help="command before each program, such as qemu")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--cases", type=Path, default=CASES)
    parser.add_argument("--build-only", action="store_true", help="compile, do not run")
    parser.add_argument("--part", choices=("quick", "long"), help="those that compile so")
    parser.add_argument("--list", action="store_true", help="a line for each group and its part")
    parser.add_argument("--group", action="store_true", help="the pattern is a name's first word")
    parser.add_argument("pattern", nargs="?", default="", help="part of a case's name")
    options = parser.parse_args()
    options.build = options.build.resolve()
    options.library = options.library.resolve()
    options.build.mkdir(parents=True, exist_ok=True)
    compile_with = (options.build, options.library, options.nvcc)

    def is_named(case: Path) -> bool:
        if options.group:
            return options.pattern == group_of(case)
        return options.pattern in case.stem

    def is_wanted(case: Path) -> bool:
        return is_named(case) and not left_out(case.read_text(), options.library)

    every = sorted(options.cases.glob("*.cu"))
    if options.list:
        found = {f"{group_of(case)} {one.part}" for one in programs(every) for case in one.cases}
        print("\n".join(sorted(found)))
        return 0
    if not any(map(is_named, every)):
        print(f"no case in {options.cases} has `{options.pattern}` in its name")
        return 1
    chosen = [program for program in programs(every) if any(map(is_wanted, program.cases))]
    if options.part:
        chosen = [one for one in chosen if one.part == options.part]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(max_workers=options.jobs) as pool:
        built = list(pool.map(lambda program: program.build(*compile_with), chosen))
        for file, complaint in built:
            if complaint:
                failed += 1
                print(f"FAIL  {file.name}\n{complaint}", flush=True)
        if options.build_only:
            print(f"{len(chosen) - failed} programs compiled, {failed} failed")
            return 1 if failed else 0
        failed = 0
        jobs: dict[Path, list[tuple[Program, Path, str]]] = {}
        for program, (file, complaint) in zip(chosen, built, strict=True):
            for case in filter(is_wanted, program.cases):
                jobs.setdefault(case, []).append((program, file, complaint))
        if not jobs:
            print("left out here: a library is not built, or one is preloaded (a sanitizer's)")
            return SKIPPED
        for result in pool.map(lambda job: check(*job, options), sorted(jobs.items())):
            failed += bool(result.problems)
            print(f"{'FAIL' if result.problems else 'ok  '}  {result.name}", flush=True)
            for problem in result.problems:
                print(f"      {problem}", flush=True)
    print(f"{len(jobs) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
