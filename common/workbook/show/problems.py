# SPDX-License-Identifier: MIT
"""A grade as lines for editors (PROBLEMS=1): one a problem, in the form of a compiler's errors.

lessons/02_boundary_checks/boundary_checks.cu:11: error: `a[1000]` is read ... [race-shared]
"""

from __future__ import annotations

import re

from ..base import options
from ..base.project import relative
from ..judge.grade import Grade

# nvcc's front end writes FILE(LINE), the host compiler FILE:LINE:COLUMN.
_COMPILER = re.compile(
    r"^(?P<file>[^\s(][^(\n]*?)(?:\((?P<line>\d+)\)|:(?P<at>\d+)(?::(?P<column>\d+))?)"
    r": (?:fatal )?(?P<kind>error|warning)(?: #[\w-]+)?: (?P<words>.*)$",
    re.MULTILINE,
)


def wanted() -> bool:
    """Whether an editor reads the output: its tasks set PROBLEMS=1."""
    return options.flag("PROBLEMS")


def _of_compiler(text: str) -> list[str]:
    lines = []
    for match in _COMPILER.finditer(text):
        at = match["line"] or match["at"] + (f":{match['column']}" if match["column"] else "")
        lines.append(f"{relative(match['file'])}:{at}: {match['kind']}: {match['words'].strip()}")
    return lines


def lines(grade: Grade) -> list[str]:
    """Errors and warnings of the compiler, then the findings, each once."""
    found = _of_compiler(grade.compiler_warnings) + _of_compiler(grade.build_error)
    for finding in grade.merged_findings():
        file, message = finding.data.get("path") or finding.file, finding.data.get("message")
        if file and finding.line and finding.unsafe:
            words = " ".join(str(message or "").split())
            place = f"{relative(str(file))}:{finding.line}"
            found.append(f"{place}: {finding.severity}: {words} [{finding.code}]")
    return list(dict.fromkeys(found))


def show(grade: Grade) -> None:
    """Prints them; the last line signals to an editor that this grade is complete."""
    found = lines(grade)
    print("\n".join([*found, f"problems: {len(found)}"]), flush=True)
