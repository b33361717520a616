# SPDX-License-Identifier: MIT
"""What was set beside the command, as in `make hint-02 TASK=2`: variables of the environment.

make passes on what stands on its command line. Only names of the table of commands are options.
"""

from __future__ import annotations

import os

from .commands import variables
from .project import USAGE, WorkbookError

_KNOWN = frozenset(variables())


def text(name: str) -> str:
    """The option's value, or '' where it was not set."""
    if name not in _KNOWN:
        raise KeyError(f"{name} is in no row of the table of commands")
    return os.environ.get(name, "")


def flag(name: str) -> bool:
    """Whether the option was set, and not to 0."""
    return text(name) not in ("", "0")


def number(name: str) -> int | None:
    """The option as a whole number; None where it was not set."""
    value = text(name)
    if not value:
        return None
    if not value.isdigit():
        raise WorkbookError(f"{name}={value} is not a number", f"{name}=1", USAGE)
    return int(value)


def words(name: str) -> list[str]:
    """The option as a list: words with blanks or commas between them."""
    return text(name).replace(",", " ").split()
