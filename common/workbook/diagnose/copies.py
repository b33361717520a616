# SPDX-License-Identifier: MIT
"""What a refused copy says by its sizes: no sizeof, or the address of an object."""

from __future__ import annotations

import re

# `cudaMemcpy` copies 40 bytes into an allocation of 10 bytes
_SIZES = re.compile(
    r"(?:copies|fills) (\d+) bytes? .*\b(?:into|out of|of) an allocation of (\d+) bytes?\b"
)
# The stack of a program on 64-bit Linux lies below this address.
_ON_THE_STACK = re.compile(r"bytes? of host memory at 0x7ff[c-f][0-9a-f]{8}, of which only")


def of_sizes(message: str) -> str:
    """The likely cause of a copy of a wrong size, or ''."""
    if _ON_THE_STACK.search(message):
        return (
            "a copy of a local variable that is smaller than the copy: &x where x.data() is meant, "
            "or a wrong size in bytes"
        )
    sizes = _SIZES.search(message)
    if not sizes:
        return ""
    copied, allocated = (int(size) for size in sizes.groups())
    if allocated == 0 or copied not in (4 * allocated, 8 * allocated):
        return ""
    return (
        f"of {copied // allocated} bytes for each element one was allocated: was it allocated "
        "without sizeof?"
    )
