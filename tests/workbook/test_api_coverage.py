# SPDX-License-Identifier: MIT
"""common/README.md lists which functions of the runtime and driver APIs the emulator has; the list
comes from the library: a supported function is a strong symbol, the others are weak stubs.

    sh common/workbook/run python tests/workbook/test_api_coverage.py --update    writes the list

Needs WORKBOOK_TEST_BUILD, the build folder with the emulator; build/ where it is not set.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

from workbook.project import ROOT, build_folder

BUILD = Path(os.environ.get("WORKBOOK_TEST_BUILD") or build_folder())
PAGE = ROOT / "common" / "README.md"
BEGIN, END = "<!-- api coverage: begin -->", "<!-- api coverage: end -->"

# Part of the name behind `cuda` or `cu`, and the group that it puts a function into; first match.
GROUPS = [
    (r"(Graphics|EGL|GL|VDPAU|EventCreateFromEGL|D3D)", "graphics"),
    (
        r"(External|Import|Destroy.*External|Signal|Wait|Ipc|Export|.*Shareable|Multicast)",
        "sharing",
    ),
    (r"(Graph|UserObject|Stream.*Capture|ThreadExchange)", "graphs"),
    (r"(Tensor|GreenCtx|DevResource|DevSm|Coredump|Checkpoint|Logs)", "other"),
    (
        r"(Array|Malloc.*Array|FreeArray|FreeMip|GetMip|Mip|Tex|Surf|.*TextureObject|.*SurfaceObject|"
        r"CreateChannel|GetChannel|Malloc3DArray)",
        "arrays, textures, surfaces",
    ),
    (r"(Memcpy|Memset)", "copies and fills"),
    (r"(MemPool|.*MemPool|Malloc.*Async|FreeAsync|MemAlloc.*Async|MemFreeAsync)", "memory pools"),
    (r"(Mem|Malloc|Free|Host|Pointer|GetSymbol)", "memory"),
    (r"(Stream|LaunchHostFunc|StreamAdd)", "streams"),
    (r"Event", "events"),
    (r"(Module|Library|Link)", "modules and libraries"),
    (r"(Launch|Func|Kernel|Occupancy|GetKernel|GetFunc|Param)", "kernels"),
    (r"(Ctx|DevicePrimary)", "contexts"),
    (r"(Device|SetDevice|GetDevice|ChooseDevice|SetValid|InitDevice|Init)", "devices"),
]


def names(prefix: str) -> dict[str, bool]:
    """Functions of an API without versions and per-thread spellings; True: supported."""
    library = BUILD / "emulator" / "libcudart.so.13"
    listing = subprocess.run(
        ["nm", "-D", "--defined-only", str(library)], capture_output=True, text=True, check=True
    ).stdout
    found: dict[str, bool] = {}
    for line in listing.splitlines():
        kind, name = line.split()[-2:]
        match = re.match(rf"{prefix}([A-Z]\w*?)(_v\d+)?(_pt(?:ds|sz))?@", name)
        # The spellings are forwarders, which exist whether or not the function behind them does.
        if match and not match.group(3):
            found[match.group(1)] = found.get(match.group(1), False) or kind == "T"
    return found


def group_of(name: str) -> str:
    """The group of a function, by the first pattern that its name starts with."""
    for pattern, group in GROUPS:
        if re.match(pattern, name):
            return group
    return "other"


def table(title: str, prefix: str) -> list[str]:
    """One API as Markdown: for each group what is there and what is refused."""
    found = names(prefix)
    lines = [
        f"**{title}**: {sum(found.values())} of {len(found)} functions (names without `{prefix}`).",
        "",
        "| group | supported | `NotSupported`, with its name on stderr |",
        "|---|---|---|",
    ]
    for group in [*dict.fromkeys(group for _, group in GROUPS if group != "other"), "other"]:
        members = sorted(name for name in found if group_of(name) == group)
        if not members:
            continue
        cells = [
            " ".join(name for name in members if found[name] == wanted) for wanted in (True, False)
        ]
        lines.append(f"| {group} | {cells[0]} | {cells[1]} |")
    return lines


def block() -> str:
    """What stands between the marks."""
    lines = [
        "The names are those of CUDA 13.5's libcudart and CUDA 13.0's libcuda "
        "(`common/emulator/names`); programs of CUDA 12 get the same functions through "
        "`libcudart.so.12`. `make test` compares the list with the library.",
        "",
        *table("Runtime API", "cuda"),
        "",
        *table("Driver API", "cu"),
    ]
    return "\n".join([BEGIN, *lines, END])


class Coverage(unittest.TestCase):
    def written(self) -> str:
        text = PAGE.read_text()
        self.assertEqual((text.count(BEGIN), text.count(END)), (1, 1))
        return text[text.index(BEGIN) : text.index(END) + len(END)]

    def test_list_is_what_the_library_has(self) -> None:
        written = self.written()
        if written != block():
            self.fail(
                "the list in common/README.md is out of date: sh common/workbook/run python "
                "tests/workbook/test_api_coverage.py --update"
            )

    def test_stubs_count_as_refused(self) -> None:
        self.assertTrue(names("cuda")["Malloc"])
        self.assertFalse(names("cuda")["IpcGetMemHandle"])
        self.assertTrue(names("cu")["LaunchKernel"])
        self.assertFalse(names("cu")["MemCreate"])


if __name__ == "__main__":
    if sys.argv[1:] == ["--update"]:
        page = PAGE.read_text()
        start, end = page.index(BEGIN), page.index(END) + len(END)
        PAGE.write_text(page[:start] + block() + page[end:])
    else:
        unittest.main()
