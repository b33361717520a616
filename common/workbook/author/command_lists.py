# SPDX-License-Identifier: MIT
"""Writes what lists the commands from their table: commands.mk for make, and README's table."""

from __future__ import annotations

import re
from pathlib import Path

from ..base import commands
from ..base.project import PASSED, ROOT, relative

MAKE_LISTS = ROOT / "common" / "workbook" / "commands.mk"
README = ROOT / "README.md"
_COLUMN = 21  # where the texts of `make help` begin
_TABLE = re.compile(r"(?<=<!-- commands -->\n).*?(?=<!-- end -->)", re.DOTALL)


def help_text() -> str:
    """What `make help` prints."""
    lines = []
    for use in (use for command in commands.COMMANDS for use in command.uses if use.help):
        start = use.typed.ljust(_COLUMN) if len(use.typed) < _COLUMN else use.typed + "   "
        lines += (start + use.help.replace("\n", "\n" + " " * _COLUMN)).split("\n")
    return "\n".join([*lines, *commands.NOTES]) + "\n"


def show_help() -> int:
    """The tool's own `help`."""
    print(help_text(), end="")
    return PASSED


def make_lists() -> str:
    """commands.mk: the goals by kind, and the recipe of `make help`."""
    alone = [c.name for c in commands.COMMANDS if not c.argument and not c.own_test]
    alone += [c.name for c in commands.COMMANDS if c.argument == commands.LESSON_OR_NONE]
    alone.remove("help")
    with_argument = [c.name for c in commands.COMMANDS if c.argument and not c.name.isdigit()]
    own = [c.name for c in commands.COMMANDS if c.own_test]
    quoted = [line.replace("$", "$$").replace('"', '\\"') for line in help_text().splitlines()]
    return "\n".join([
        "# SPDX-License-Identifier: MIT",
        "# Written by `make format` from common/workbook/base/commands.py.",
        f"COMMANDS := {' '.join(alone)}",
        f"WITH_ARGUMENT := {' '.join(with_argument)}",
        f"OWN_TESTS := {' '.join(own)}",
        "",
        "help:",
        *(f'\t@echo "{line}"' for line in quoted),
        "",
    ])  # fmt: skip


def readme_table() -> str:
    """The rows of README's section Commands."""
    rows = ["| command | what it does |", "|---|---|"]
    for use in (use for command in commands.COMMANDS for use in command.uses if use.page):
        typed = use.typed.replace("|", "\\|")
        rows.append(f"| `{typed}` | {use.page} |")
    return "\n".join(rows) + "\n"


def written() -> dict[Path, str]:
    """Each file that lists commands, with the text that it should have."""
    page = README.read_text(encoding="utf-8")
    return {MAKE_LISTS: make_lists(), README: _TABLE.sub(lambda _: readme_table(), page)}


def write() -> None:
    """Brings the files up to date, and says which were not."""
    for path, text in written().items():
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"{relative(path)}: written")
