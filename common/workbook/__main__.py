# SPDX-License-Identifier: MIT
"""The tool behind the Makefile: carries out one row of the table of commands (base/commands.py)."""

from __future__ import annotations

import argparse
import errno
import importlib
import os
import signal
import sys

from .base import commands, files, options, phases, plain_output
from .base.project import INTERNAL, NOT_ABLE, WorkbookError, find_lesson, relative
from .running import runner
from .setup import install, pypi


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="workbook", description="The CUDA Workbook's commands.")
    parser.add_argument("--plain", action="store_true", help="no colours and no symbols (PLAIN=1)")
    parsers = parser.add_subparsers(dest="command", required=True)
    for command in commands.COMMANDS:
        told = command.uses[0].help if command.uses else None
        own = parsers.add_parser(command.called, help=told)
        if command.argument:
            left_out = command.argument == commands.LESSON_OR_NONE
            own.add_argument("argument", metavar=command.argument, nargs="?" if left_out else None)
        if command.has_json:
            own.add_argument("--json", action="store_true")
    return parser


def run(command: commands.Command, argument: str | None, as_json: bool) -> int:
    """Sets up what the command needs and calls its handler. Handlers are imported only then: setup
    must work before anything is installed.
    """
    if command.on_card:
        os.environ["DEVICE"] = "gpu"
    given: list[object] = [argument] if command.argument else []
    if command.argument in (commands.LESSON, commands.LESSON_OR_NONE):
        given = [find_lesson(argument) if argument else None]
    if command.argument == commands.LESSON_OR_ALL and argument != "all":
        find_lesson(argument or "")
    install.ensure_for(command.needs)
    module, function = command.handler.split(":")
    handler = getattr(importlib.import_module(f"{__package__}.{module}"), function)
    return handler(*given, as_json) if command.has_json else handler(*given)


def main() -> int:
    """Turns every expected trouble into one message with what to do."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="replace")
    typed = _parser().parse_args()
    if typed.plain:
        os.environ["PLAIN"] = "1"
    if options.flag("PLAIN"):
        plain_output.use_plain_words()
    pypi.use_tools()
    runner.end_on_signals()
    as_json = getattr(typed, "json", False)
    try:
        code = run(commands.find(typed.command), getattr(typed, "argument", None), as_json)
        for_programs = as_json or typed.command == "autograde"
        if (told := phases.summary()) and not for_programs:
            print(f"\n{told}.")
        return code
    except WorkbookError as error:
        if error.log:
            print(error.log)
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
