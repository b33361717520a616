# SPDX-License-Identifier: MIT
"""Writes build/clangd/compile_commands.json, so that editors know how the sources are compiled.

CMake's own compile_commands.json calls nvcc for the .cu files, whose options clang does not know.
`.clangd` in the top folder points to the one that is written here.
"""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path

from ..base.project import ROOT

# The host's side of a file is what clang checks: it needs no device library for it, and clang warns
# of every toolkit that is newer than itself.
_CUDA = ["-x", "cuda", "--cuda-host-only", "--cuda-gpu-arch=sm_75", "-nocudalib"]
_CUDA_WARNINGS = ["-Wall", "-Wextra", "-Wno-unknown-cuda-version"]
# clang's own wrapper of CUDA's headers includes this one, which CUDA 13 has no longer; and its
# textures need a type that went with it. Without the file all that follows is nonsense to clang.
_GONE = "texture_fetch_functions.h"
_NO_TEXTURES = "-D__CLANG_CUDA_TEXTURE_INTRINSICS_H__"
FOLDER = ROOT / "build" / "clangd"


def for_clang(command: list[str], stand_ins: Path) -> list[str]:
    """The arguments for clang that say what `command` says to nvcc; those for g++ are unchanged."""
    nvcc = Path(command[0])
    if nvcc.name != "nvcc":
        return command
    toolkit = nvcc.resolve().parent.parent
    kept = ["clang++", *_CUDA, f"--cuda-path={toolkit}", *_CUDA_WARNINGS]
    if not (toolkit / "include" / _GONE).exists():
        kept += [_NO_TEXTURES, "-idirafter", str(stand_ins)]
    words = iter(command[1:])
    for word in words:
        if word.startswith("-isystem="):
            kept += ["-isystem", word.removeprefix("-isystem=")]
        elif word in ("-isystem", "-I", "-D", "-include", "-c"):
            kept += [word, next(words, "")]
        elif word.startswith(("-I", "-D", "-std=")):
            kept.append(word)
    return kept


def write_commands(folder: Path, to: Path | None = None) -> None:
    """Translates the build folder's compile_commands.json where it is newer than what is there.

    If it cannot be written, grading continues: it is only a convenience for editors.
    """
    source, target = folder / "compile_commands.json", (to or FOLDER) / "compile_commands.json"
    try:
        if target.is_file() and target.stat().st_mtime >= source.stat().st_mtime:
            return
        entries = json.loads(source.read_text(encoding="utf-8"))
        stand_ins = target.parent / "include"
        for entry in entries:
            entry["arguments"] = for_clang(shlex.split(entry.pop("command")), stand_ins)
        stand_ins.mkdir(parents=True, exist_ok=True)
        (stand_ins / _GONE).touch()
        written = target.with_suffix(f".{os.getpid()}")
        written.write_text(json.dumps(entries, indent=1), encoding="utf-8")
        written.replace(target)
    except (OSError, ValueError, KeyError):
        pass
