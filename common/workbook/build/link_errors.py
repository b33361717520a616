# SPDX-License-Identifier: MIT
"""What the linker says about a lesson's program, in words: names missing or defined twice."""

from __future__ import annotations

import re
from pathlib import Path

_PLACE = re.compile(r"(?:^|[\s/])([\w.+-]+)\.o: in function")
_UNDEFINED = re.compile(r"undefined reference to [`'‘]([^'’]+)['’]")
_TOO_FAR = re.compile(r"relocation truncated to fit")
_MULTIPLE = re.compile(r"multiple definition of [`'‘]([^'’]+)['’]")


def _plain(name: str) -> str:
    """`scan` of `wb::scan(int const*, int)`."""
    return re.sub(r"<.*", "", name.split("(")[0]).split("::")[-1].split(" ")[-1]


def _defined(name: str, code: str) -> str:
    """How the source defines a function of this plain name, up to its body; or ''."""
    match = re.search(
        rf"^[\w ]*[\w>*&] *\*?\b{re.escape(name)}\s*\(([^;{{}}]*)\)\s*\{{", code, re.M
    )
    return match.group(0) if match else ""


def in_words(text: str, source: Path) -> list[str]:
    """A line for each name that is missing or defined twice, or for variables that do not fit; none
    where it is something else.
    """
    try:
        code = source.read_text(encoding="utf-8", errors="replace")
    except OSError:
        code = ""
    code = re.sub(r"//[^\n]*|/\*.*?\*/", "", code, flags=re.DOTALL)
    if _TOO_FAR.search(text):  # the linker names whatever lies past the variables
        return [f"the variables of {source.name} take more than 2 GiB: allocate such memory"]
    here = ""
    said: dict[str, str] = {}
    for line in text.splitlines():
        if place := _PLACE.search(line):
            here = place.group(1)
        if missing := _UNDEFINED.search(line):
            name = missing.group(1)
            said.setdefault(name, _missing(name, here == source.name, source.name, code))
        if twice := _MULTIPLE.search(line):
            name = twice.group(1)
            own = ": the test has one, take yours out" if name == "main" else ""
            said.setdefault(name, f"{name} is defined twice{own}")
    return list(said.values())


def _missing(name: str, by_student: bool, file: str, code: str) -> str:
    caller = f"{file} calls" if by_student else "the test calls"
    begins = f"{caller} {name}, and {file} does not define it"
    definition = _defined(_plain(name), code)
    if not definition:
        return begins
    if re.search(r"\bstatic\b|\binline\b", definition.split("(")[0]):
        return f"{begins} for other files: its definition is static or inline"
    if "::" not in name and re.search(r"\bnamespace\s*\{", code.split(definition)[0]):
        return f"{begins} for other files: does it stand in a namespace?"
    return f"{begins}: it defines {_plain(name)} with other parameters; compare the header"
