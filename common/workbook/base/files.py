# SPDX-License-Identifier: MIT
"""Reads files that others may have put there: no pipe, no device, nothing without an end."""

from __future__ import annotations

import errno
import os
import re
import stat
from pathlib import Path

SOURCE_BYTES = 4 << 20  # a source or a list that a person writes
REPORT_BYTES = 16 << 20  # what a test case's run reports

_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a folder",
    stat.S_IFSOCK: "a socket",
}


class NotReadable(OSError):
    """What stands there in place of a file, as a sentence."""

    def __init__(self, path: Path, what: str) -> None:
        super().__init__(errno.EINVAL, what, str(path))


def read_bytes(path: Path, limit: int = SOURCE_BYTES, cut: bool = False) -> bytes:
    """The contents of a regular file of at most `limit` bytes; otherwise NotReadable.

    With `cut` the first `limit` bytes of a longer one.
    """
    # Without O_NONBLOCK, opening a pipe waits for a writer.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        kind = stat.S_IFMT(os.fstat(descriptor).st_mode)
        if kind != stat.S_IFREG:
            raise NotReadable(path, f"is {_KINDS.get(kind, 'something else')}, not a file")
        with open(descriptor, "rb", closefd=False) as file:
            text = file.read(limit + 1)
    finally:
        os.close(descriptor)
    if len(text) > limit and not cut:
        raise NotReadable(path, f"holds more than {limit >> 20} MiB")
    return text[:limit]


def kind_of(path: Path) -> str:
    """`a pipe`, `a device` and so on for what is there in place of a file; otherwise ''."""
    try:
        kind = stat.S_IFMT(os.stat(path).st_mode)
    except OSError:
        return ""
    return "" if kind == stat.S_IFREG else _KINDS.get(kind, "something else")


def read_text(path: Path, limit: int = SOURCE_BYTES) -> str:
    """The same as text; bytes that are not UTF-8 are replaced."""
    return read_bytes(path, limit).decode("utf-8", "replace")


# Escape sequences (colours, titles, cursor), other control characters, and the marks that turn the
# direction of writing: none of them has a place in a message.
_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_].*?(?:\x07|\x1b\\)|[ -/]*[0-~])?", re.S)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    """Text of a program or file as it may be shown on a terminal."""
    return _CONTROL.sub("?", _SEQUENCE.sub("", text.replace("\r\n", "\n")))
