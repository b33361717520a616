# SPDX-License-Identifier: MIT
"""What a refused copy says by its sizes: no sizeof, or the address of an object."""

from __future__ import annotations

import re
from typing import Any

# The stack of a program on 64-bit Linux lies below this address.
_STACK = re.compile(r"0x7ff[c-f][0-9a-f]{8}")


def of_sizes(facts: dict[str, Any], address: str) -> str:
    """The likely cause of a copy of a wrong size, or ''.

    `facts`: the bytes `asked` for and `available`, and whether that is memory of the `host`.
    """
    asked, available = facts.get("asked"), facts.get("available")
    if not isinstance(asked, int) or not isinstance(available, int) or not available:
        return ""
    if facts.get("host"):
        if not _STACK.fullmatch(address):
            return ""
        return (
            "a copy of a local variable that is smaller than the copy: &x where x.data() is meant, "
            "or a wrong size in bytes"
        )
    if asked not in (4 * available, 8 * available):
        return ""
    return (
        f"of {asked // available} bytes for each element one was allocated: was it allocated "
        "without sizeof?"
    )
