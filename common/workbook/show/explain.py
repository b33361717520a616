# SPDX-License-Identifier: MIT
"""Shows the page that explains a finding's code."""

from __future__ import annotations

from ..base.project import PASSED, ROOT, USAGE, WorkbookError
from . import screen

FOLDER = ROOT / "common" / "emulator" / "checks" / "explain"


def codes() -> list[str]:
    """All codes that have a page."""
    return sorted(path.stem for path in FOLDER.glob("*.md"))


def show(code: str) -> int:
    """Prints the page of `code`."""
    if code not in codes():
        near = [known for known in codes() if code and (code in known or known in code)]
        advice = f"did you mean {near[0]}? " if near else ""
        raise WorkbookError(
            f"there is no page for {code}", advice + "the codes are: " + ", ".join(codes()), USAGE
        )
    screen.show_page((FOLDER / f"{code}.md").read_text(encoding="utf-8"))
    return PASSED
