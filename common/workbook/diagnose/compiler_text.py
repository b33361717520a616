# SPDX-License-Identifier: MIT
"""What a compiler says, cut down to what its reader needs: one error for each cause, in the words
of the source.
"""

from __future__ import annotations

import re

_BEGINS = re.compile(
    r"^(?:(?P<path>\S.*?)(?:\((?P<line>\d+)\)|:(?P<row>\d+):\d+)|At end of source): "
    r"(?P<kind>(?:fatal |catastrophic )?error|warning|note|remark)\b(?P<words>.*)$"
)
_ENDS = re.compile(r"^\d+ errors? detected in the compilation|^compilation terminated|^Remark: ")
_ADVICE = re.compile(r"^\s+detected (?:during|at)|The experimental flag '")
_MARKS = re.compile(r"__attribute__\(\((global|device|shared|constant|host|managed)\)\)")
MOST = 4  # errors that are shown
_LONGEST = 300  # characters of an error's first line


def as_typed(code: str, caret: str = "") -> tuple[str, str]:
    """A source line with `__global__` as it was typed, and the line of its caret."""
    at = len(caret) - len(caret.lstrip())
    before = _MARKS.sub(r"__\1__", code[:at]) if caret else ""
    return _MARKS.sub(r"__\1__", code), " " * len(before) + caret.strip() if caret else ""


def blocks(text: str) -> list[tuple[re.Match[str], list[str]]]:
    """The diagnostics, each with the lines that belong to it, the first included."""
    found: list[tuple[re.Match[str], list[str]]] = []
    inside = False
    for line in text.splitlines():
        begins = _BEGINS.match(line)
        if begins:
            found.append((begins, [line]))
            inside = True
        elif _ENDS.match(line) or not line.strip():
            inside = inside and not _ENDS.match(line)
        elif inside:
            found[-1][1].append(line)
    return found


def brief(text: str) -> list[str]:
    """The errors that have causes of their own, as lines. All of the text where it has none."""
    errors = [(b, lines) for b, lines in blocks(text) if "error" in b.group("kind")]
    if not errors:
        return text.splitlines()
    told: list[list[str]] = []
    places: set[tuple[str, str]] = set()
    names: set[str] = set()
    left_out = 0
    for begins, lines in errors:
        place = (begins.group("path") or "", begins.group("line") or begins.group("row") or "")
        words = begins.group("words")
        quoted = set(re.findall(r'"(\w+)(?:\([^"]*\))?"', words))
        # The same once more: of a name that is not there, of the rest of a line, of the end.
        called = 'function("operator()")' in words and "lambda" in names
        follows = (
            called
            or place in places
            or not place[0]
            or bool(quoted & names and "undefined" in words)
        )
        if told and (follows or place[0].startswith("/usr/")):
            continue
        if len(told) == MOST:
            left_out += 1
            continue
        places.add(place)
        names |= quoted | ({"lambda"} if "lambda" in words else set())
        told.append(_tidied(lines))
    out = [line for block in told for line in block]
    return out + ([f"and {left_out} more"] if left_out else [])


def _tidied(lines: list[str]) -> list[str]:
    """One diagnostic without advice on flags and notes on instantiations."""
    kept: list[str] = []
    for line in lines:
        if _ADVICE.match(line):
            break
        line = re.sub(r" The experimental flag '.*", "", line)
        if kept and line.strip() == "^" and _MARKS.search(kept[-1]):
            kept[-1], line = as_typed(kept[-1], line)
        kept.append(line)
    first = kept[0] if len(kept[0]) <= _LONGEST else kept[0][:_LONGEST] + " ..."
    return [first, *(as_typed(line)[0] for line in kept[1:])]
