# SPDX-License-Identifier: MIT
"""Where CUDA source stands in the Python script that hands it to a library: gives it the script's
lines (`#line`), or a name of its own under which findings show its text.
"""

from __future__ import annotations

import ast
import contextlib
import ctypes
import functools
import hashlib
import linecache
import os
import re
import sys

OWN_FOLDER = os.path.dirname(__file__)


def is_library(path: str) -> bool:
    """Whether a file is Python's own or an installed one."""
    if path in ("<string>", "<stdin>"):  # the program itself, or code that a library generates
        return getattr(sys, "argv", [""])[0] not in ("-c", "-", "")
    return (
        os.path.dirname(path) == OWN_FOLDER
        or path.startswith("<frozen")
        or "/site-packages/" in path
        or "/dist-packages/" in path
        or "/lib/python3" in path
        or not os.path.isabs(path)  # the sources of extension modules
        and not os.path.exists(path)
    )


def script_frame():
    """The innermost frame that runs a file of no library; None if there is none."""
    frame = sys._getframe(1)
    while frame and is_library(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def quoted(path: str) -> str:
    """A path as C writes it between quotation marks."""
    return path.replace("\\", "\\\\").replace('"', '\\"')


def script_position(source: str) -> tuple[str, int] | None:
    """The file of the script that is calling and the line where `source` begins in it, verbatim."""
    frame = script_frame()
    if not frame:
        return None
    path = frame.f_code.co_filename
    text = "".join(linecache.getlines(path))
    at = text.find(source)
    return (path, text.count("\n", 0, at) + 1) if at >= 0 else None


# What PyCUDA puts around a source.
BEFORE, AFTER = 'extern "C" {\n', "\n}\n"
# A source that CuPy generates: the names of its own kernels, and what the others are built of.
CUPYS_OWN = re.compile(r"__global__ void _?cupyx?_\w+\(|\bCIndexer<|\b_type_reduce\b")


@functools.cache
def statements_of(path: str) -> list[tuple[str, int]]:
    """The strings of a script that may be statements of CUDA, longest first, with their lines."""
    try:
        tree = ast.parse("".join(linecache.getlines(path)))
    except (SyntaxError, ValueError):
        return []
    found = {
        node.value: node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "=" in node.value
    }
    return sorted(found.items(), key=lambda item: -len(item[0]))


def with_statements(source: str, path: str) -> str:
    """A generated source whose statements, where they are strings of the script, have its lines."""
    frame = script_frame()
    if not frame:
        return source
    script = quoted(frame.f_code.co_filename)
    for text, line in statements_of(frame.f_code.co_filename):
        at = source.find(text)
        first = source.rfind("\n", 0, at) + 1
        if at < 0 or source[first:at].lstrip().startswith("#"):
            continue
        last = at + len(text)
        next_line = source.count("\n", 0, last) + 1
        return (
            f'{source[:at]}\n#line {line} "{script}"\n{text}'
            f'\n#line {next_line} "{path}"\n{source[last:]}'
        )
    return source


def with_lines(source: str, library: str = "") -> str:
    """CUDA source with the lines of the script, if it stands there. Otherwise with lines of its
    own, under a name that follows from its text: compiled code is cached, and its findings show
    the text also when it is used again. `library`: which one has generated it.
    """
    if not source.strip() or "#line" in source:
        return source
    inner = source
    if source.startswith(BEFORE) and source.endswith(AFTER):
        inner = source[len(BEFORE) : -len(AFTER)]
    text = inner
    if place := script_position(inner):
        path, line = quoted(place[0]), place[1]
    elif library:
        # As a file of the library's: findings in it are those of the line that called it.
        kernel = re.search(r"__global__\s+void\s+(\w+)\s*\(", inner)
        path, line = f"/site-packages/{library}/{kernel.group(1) if kernel else 'generated'}.cu", 1
        text = with_statements(inner, path)
    else:
        # nvcc would put its own folder before a name without one.
        path, line = f"/source_{hashlib.sha256(inner.encode()).hexdigest()[:12]}.cu", 1
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL("libcudart.so.13").emulatorSourceSet(path.encode(), inner.encode())
    marked = f'#line {line} "{path}"\n{text}'
    return marked if inner is source else BEFORE + marked + AFTER
