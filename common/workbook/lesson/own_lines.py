# SPDX-License-Identifier: MIT
"""The line of a finding that is the student's own: of a call that was inlined, the nearest one that
stands between a TODO and its END, and not in a function that the lesson gives.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from ..base import files

_TODO, _END = re.compile(r"^\s*// TODO \d"), re.compile(r"^\s*// END\b")


def in_tasks(text: str) -> set[int]:
    """The numbers of the lines that stand between a TODO and its END."""
    lines, inside = set(), False
    for number, line in enumerate(text.splitlines(), 1):
        inside = (inside or bool(_TODO.match(line))) and not _END.match(line)
        if inside:
            lines.add(number)
    return lines


def point_to(data: dict[str, Any]) -> None:
    """Moves a finding to the student's own line, where it stands in an inlined function of the
    lesson's; a note then says where it happened, and `happened` has the place.
    """
    calls = [one for one in data.get("inlined_at") or [] if isinstance(one, dict)]
    if not calls or not data.get("line"):
        return
    tasks: dict[str, set[int]] = {}

    def own(path: Any, line: Any) -> bool:
        path = str(path or "")
        if path not in tasks:
            tasks[path] = set()
            if path.endswith(".cu"):
                try:
                    tasks[path] = in_tasks(files.read_text(Path(path)))
                except OSError:
                    pass
        return line in tasks[path]

    if own(data.get("path"), data["line"]):
        return
    for call in calls:
        if own(call.get("path"), call.get("line")):
            here = Path(str(data.get("path"))).name
            in_file = "" if call.get("path") == data.get("path") else f" of {here}"
            note = f"it happens in a function that this line calls, on line {data['line']}{in_file}"
            data["notes"] = [note, *(data.get("notes") or [])]
            data["happened"] = {"file": here, "line": data["line"]}
            data["path"], data["line"] = call["path"], call["line"]
            data["file"] = Path(str(call["path"])).name
            return
