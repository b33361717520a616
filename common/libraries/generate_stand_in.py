#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Generates sources for a stand-in, so that a program that is linked against NVIDIA's library can
start with it: a weak function for every other name that the library exports, which prints that it
is not supported, and a version script for each soname.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "emulator" / "runtime"))

from generation import listed, stubs


def version_script(soname: str, names: list[str]) -> str:
    """All names under the version that is the soname, as in NVIDIA's libraries."""
    members = "".join(f"    {name};\n" for name in names)
    return f"{soname} {{\n  global:\n{members}  local:\n    *;\n}};\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--names", type=Path, required=True)
    parser.add_argument("--status", type=int, required=True, help="the library's NOT_SUPPORTED")
    parser.add_argument("--sonames", nargs="+", required=True)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    names = listed(args.names)
    missing = stubs(
        "generate_stand_in.py",
        names,
        "int stand_in_lacks(const char* name, int status)",
        f"stand_in_lacks(#name, {args.status})",
    )
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "stubs.cpp").write_text(missing, encoding="utf-8")
    for soname in args.sonames:
        script = version_script(soname, names)
        (args.out / f"{soname}.map").write_text(script, encoding="utf-8")


if __name__ == "__main__":
    main()
