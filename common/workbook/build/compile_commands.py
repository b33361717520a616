# SPDX-License-Identifier: MIT
"""How CMake compiles a file: from the list that it writes beside the build."""

from __future__ import annotations

import json
import shlex
from pathlib import Path


def of(folder: Path, source: Path, target: str) -> tuple[list[str], Path] | None:
    """How `source` is compiled for `target`: the arguments and the folder to run them in."""
    try:
        entries = json.loads((folder / "compile_commands.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    for entry in entries:
        if Path(entry["file"]) == source and f"/{target}.dir/" in entry["command"]:
            return shlex.split(entry["command"]), Path(entry["directory"])
    return None
