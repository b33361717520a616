# SPDX-License-Identifier: MIT
"""The commands of the Makefile: PYTHONPATH=common python3 -m workbook --help."""

from __future__ import annotations

import argparse
import errno
import json
import os
import signal
import sys
from pathlib import Path

from .base import files, phases
from .base.lock import only_one
from .base.project import (
    INTERNAL,
    NOT_ABLE,
    NOT_PASSED,
    PASSED,
    ROOT,
    Lesson,
    WorkbookError,
    build_folder,
    devices_wanted,
    find_lesson,
    lessons,
    relative,
)
from .running import runner
from .setup import install, pypi


def _grade(lesson: Lesson, as_json: bool, advice: bool = True) -> bool:
    """Builds, grades and shows one lesson on the devices of DEVICE; True when all passed."""
    from .build import build
    from .judge import grade, progress
    from .setup import install
    from .show import grade_screen

    wanted = devices_wanted()
    if only_card := wanted == ["gpu"]:
        # A card has no counters: efficiency and safety come from the emulator, if it can be built.
        wanted = ["gpu", "emulator"]
    results = []
    for device in wanted:
        if only_card and results and (absent := install.emulator_needs()):
            packages = " ".join(need.package for need in absent)
            print(f"  safe and efficient: not graded, the emulated device needs {packages}")
            break
        folder = build.prepare(device, lesson)
        result = grade.grade_lesson(lesson, device, folder)
        progress.remember(result)
        results.append(result)
        if not as_json:
            grade_screen.show_grade(result, advice=advice)
        if result.build_error:
            break
        if device == "gpu" and result.correct and not as_json:
            _time(lesson, folder)
    if as_json:
        print(json.dumps([result.as_json() for result in results], indent=2))
    passed = all(result.passed for result in results)
    if passed and advice and not as_json:
        _say_next()
    return passed


def _say_next() -> None:
    """After a lesson that passed: the first one that has not."""
    from .judge import progress

    data = progress.load()
    following = next((one for one in lessons() if not progress.solved(one, data)), None)
    if following:
        print(f"\nSolved. Next: lessons/{following.id}/README.md, then make {following.number}")
    else:
        print("\nSolved, and with it every lesson. make progress shows them all.")


def _time(lesson: Lesson, folder: Path) -> None:
    """Times of the student's file and the solution, as a table and a figure."""
    from .base.project import relative
    from .build import programs
    from .show import gpu

    if not programs.has_workload(lesson):
        print("  (this lesson has no workload for the clock)")
        return
    contenders = gpu.time_lesson(lesson, folder)
    gpu.show_times(contenders)
    for path in gpu.draw_times(lesson, contenders, folder / "times"):
        print(f"  {relative(path)}")


def _next(as_json: bool) -> int:
    """Plain `make`: grade the first unsolved lesson, say what to do; 0 whenever it could grade."""
    from .build import build
    from .judge import progress
    from .show import screen

    known = lessons()
    data = progress.load()
    unsolved = [lesson for lesson in known if not progress.solved(lesson, data)]
    if not unsolved:
        for device in devices_wanted():
            build.prepare(device)
        screen.show_progress(known)
        print("Every lesson is solved. make NN grades one again; make reset-NN starts one afresh.")
        return PASSED
    lesson = unsolved[0]
    if not data:
        print("Welcome. Each lesson is a folder in lessons/ with one .cu file for you to complete.")
    passed = _grade(lesson, as_json)
    if as_json:
        return PASSED
    if not passed:
        print(f"\nNext: read  lessons/{lesson.id}/README.md")
        print(f"      edit  lessons/{lesson.id}/{lesson.slug}.cu")
        print(f"      run   make {lesson.number}")
    return PASSED


def _clean() -> int:
    import shutil

    with only_one("cleaning"):
        for device in ("emulator", "gpu"):
            shutil.rmtree(build_folder(device), ignore_errors=True)
        for path in (ROOT / ".workbook").glob("setup.json"):
            path.unlink()
    print("Removed what was built. Your progress, backups and lessons are kept.")
    return PASSED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="workbook", description="The CUDA Workbook's commands.")
    parser.add_argument("--plain", action="store_true", help="no colours and no symbols (PLAIN=1)")
    commands = parser.add_subparsers(dest="command", required=True)

    def add(name: str, text: str, *arguments: str) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=text)
        for argument in arguments:
            command.add_argument(argument)
        return command

    add("next", "grade the first unsolved lesson").add_argument("--json", action="store_true")
    add("grade", "grade one lesson", "lesson").add_argument("--json", action="store_true")
    add("all", "grade every lesson that was begun, in one table")
    add("watch", "grade a lesson each time it is saved")
    add("picture", "draw what a lesson's kernels touch", "lesson")
    add("progress", "what was reached so far")
    add("hint", "the next hint for a lesson", "lesson")
    add("solution", "a lesson's solution", "lesson")
    add("reset", "put a lesson's file back", "lesson")
    add("book", "a static site of all lessons, into build/book or OUT=folder")
    add("present", "a page for the projector: pictures, ladders, the verdict as you edit")
    add("grade-class", "grade what a class has handed in: SUBMISSIONS=folder OUT=folder")
    add("autograde", "grade FILE=... for the autograders of others, FORMAT=...", "lesson")
    add("sanitize", "a lesson under compute-sanitizer on this machine's card", "lesson")
    add("check-gpu", "every solution on this machine's card: values, sanitizer, times")
    add("demo", "a lesson's ladder side by side, or MUTANT=name as a student sees it", "lesson")
    add("mutant", "a wrong answer, NAME=name, as a file to edit; again: into mutants.txt", "lesson")
    add("in-python", "install Numba and CuPy, or run a lesson's Python programs").add_argument(
        "lesson", nargs="?"
    )
    add("explain", "explain a finding's code", "code")
    add("skeletons", "generate skeletons and the index from the solutions")
    add("doctor", "what was found on this machine")
    add("setup", "install what is missing")
    add("prepare", "set up, configure and build the device")
    add("clean", "remove what was built")
    add("format", "format the sources")
    add("outputs", "paste genuine output into the lessons' READMEs")
    add("test", "the workbook's own tests").add_argument("arguments", nargs="*")
    add("test-all", "all of them: every answer, every toolkit, other systems and processors")
    add("bench", "every rung and the libraries on this machine's card, into plots/data/bench.csv")
    add("bench-cost", "what the emulated device costs beside a card and one core of the CPU")
    add("plots", "draw all figures from plots/data")
    add("bench-loop", "where the time from a save to the verdict goes")
    add("bench-emulator", "speed of the emulated device")
    return parser


def _number(name: str) -> int | None:
    value = os.environ.get(name)
    if not value:
        return None
    if not value.isdigit():
        raise WorkbookError(f"{name}={value} is not a number", f"{name}=1", 2)
    return int(value)


def run(options: argparse.Namespace) -> int:
    """Runs one command; imports late, because setup must work before anything is installed."""
    command = options.command
    if command == "doctor":
        from .show import doctor

        return doctor.report()
    if command == "setup":
        install.ensure(force=True)
        print("Everything the workbook needs is here.")
        return PASSED
    if command == "clean":
        return _clean()
    if command == "bench":
        from .bench import measure

        return measure.run()
    if command == "plots":
        from .bench import plots

        return plots.draw()
    if command in ("sanitize", "check-gpu"):
        os.environ["DEVICE"] = "gpu"
    reset_all = command == "reset" and options.lesson == "all"
    named = (
        "hint",
        "solution",
        "reset",
        "grade",
        "demo",
        "picture",
        "sanitize",
        "mutant",
        "autograde",
        "in-python",
    )
    if command in named and options.lesson and not reset_all:
        lesson = find_lesson(options.lesson)
    if command in ("hint", "solution", "progress", "explain"):
        install.ensure_modules()  # these build nothing, and write little
    else:
        install.ensure()
    if command == "next":
        return _next(options.json)
    if command == "grade":
        return PASSED if _grade(lesson, options.json) else NOT_PASSED
    if command == "all":
        from .show import grade_all

        return grade_all.run()
    if command == "grade-class":
        install.ensure_extra(install.CLASS_MODULES)
        from .teach import command as class_command

        return class_command.run()
    if command == "book":
        from .book import book

        return book.build()
    if command == "present":
        from .show import present

        return present.run()
    if command == "autograde":
        install.ensure_extra(install.CLASS_MODULES[1:])
        from .teach import autograde

        return autograde.run(lesson)
    if command == "bench-cost":
        from .bench import cost

        return cost.run()
    if command == "bench-loop":
        from .bench import loop

        return loop.run()
    if command in ("sanitize", "check-gpu"):
        from .show import gpu

        return gpu.check_all() if command == "check-gpu" else gpu.sanitize(lesson)
    if command == "watch":
        from .build import build
        from .judge import grade
        from .show import watch

        device = devices_wanted()[0]
        folder = build.prepare(device)
        return watch.watch(lambda one: grade.grade_lesson(one, device, folder))
    if command == "picture":
        from .pictures import picture

        return picture.make(lesson)
    if command == "demo":
        from .build import build
        from .show import demo

        if mutant := os.environ.get("MUTANT"):
            return demo.run_mutant(lesson, mutant)
        return demo.run(lesson, "gpu" in devices_wanted() or build.gpu_present())
    if command == "mutant":
        from .author import mutant_author

        if not (name := os.environ.get("NAME")):
            raise WorkbookError("which one?", f"make mutant-{lesson.number} NAME=no_guard", 2)
        return mutant_author.run(lesson, name, os.environ.get("SAVE") == "1")
    if command == "in-python":
        from .running import python_programs

        if not options.lesson:
            return python_programs.set_up(devices_wanted()[0])
        return python_programs.run_lesson(lesson, devices_wanted()[0])
    if command == "prepare":
        from .build import build

        for device in devices_wanted():
            build.prepare(device)
        return PASSED
    if command == "progress":
        from .show import screen

        screen.show_progress(lessons())
        return PASSED
    if command == "explain":
        from .show import explain

        return explain.show(options.code)
    if command in ("test", "test-all", "bench-emulator", "format", "outputs"):
        from .author import maintain

        if command == "test":
            return maintain.test(options.arguments)
        if command == "test-all":
            return maintain.test([], everything=True)
        if command == "outputs":
            return maintain.outputs()
        return (
            maintain.bench_emulator() if command == "bench-emulator" else maintain.format_sources()
        )
    from .show import lesson_files

    if command == "skeletons":
        return lesson_files.write_skeletons()
    if command == "hint":
        return lesson_files.show_hint(lesson, _number("TASK"), _number("RUNG"))
    if command == "solution":
        return lesson_files.show_solution(lesson)
    return lesson_files.reset_all() if reset_all else lesson_files.reset(lesson)


def main() -> int:
    """Turns every expected trouble into one message with what to do."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="replace")
    options = _parser().parse_args()
    if options.plain:
        os.environ["PLAIN"] = "1"
    if os.environ.get("PLAIN", "") not in ("", "0"):
        from .base import plain_output

        plain_output.use_plain_words()
    pypi.use_tools()
    runner.end_on_signals()
    try:
        code = run(options)
        for_programs = getattr(options, "json", False) or options.command == "autograde"
        if (told := phases.summary()) and not for_programs:
            print(f"\n{told}.")
        return code
    except WorkbookError as error:
        sys.stdout.flush()
        kind = "internal error" if error.code == INTERNAL else "error"
        print(f"{kind}: {error}", file=sys.stderr)
        if error.to_do:
            print(f"  to do: {error.to_do}", file=sys.stderr)
        return error.code
    except BrokenPipeError:  # `make demo-18 | head`: the reader has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    except files.NotReadable as error:
        print(f"error: {relative(error.filename)} {error.strerror}", file=sys.stderr)
        return NOT_ABLE
    except OSError as error:
        sys.stdout.flush()
        where = f" ({error.filename})" if error.filename else ""
        to_do = {
            errno.ENOSPC: "the disk is full: free some space and run it again",
            errno.EDQUOT: "the quota is used up: free some space and run it again",
            errno.EROFS: "the workbook lies in a read-only place: copy it to another",
            errno.EACCES: "the workbook must lie where you can write: copy it to your own folder",
            errno.EEXIST: "a file stands where the workbook wants a folder: move it away",
            errno.ENOTDIR: "a file stands where the workbook wants a folder: move it away",
            errno.EPERM: "the workbook must lie where you can write: copy it to your own folder",
        }.get(error.errno or 0)
        if to_do is None:
            raise
        print(f"error: {error.strerror}{where}\n  to do: {to_do}", file=sys.stderr)
        return NOT_ABLE
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # once is enough
        print("\nstopped", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
