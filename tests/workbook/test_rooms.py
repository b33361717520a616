# SPDX-License-Identifier: MIT
"""The rooms of the emulator, the libraries and the harness include as common/README.md says.

The tool's rooms, which are Python, have test_tool_rooms.py.
"""

from __future__ import annotations

import re
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EMULATOR = ROOT / "common" / "emulator"
LIBRARIES = ROOT / "common" / "libraries"
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
ROW = re.compile(r"^\| `([a-z]+)/(?:([a-z0-9_]+)/)?` \|", re.MULTILINE)
LAYER = re.compile(r"^ *emulator_layer\((\w+)([^)]*)\)", re.MULTILINE)
CODE = (".h", ".cpp", ".def")
API = "emulator_api.h"  # the one file above all rooms


def rooms_of(page: str, heading: str) -> dict[str, list[str]]:
    """By layer: its rooms in the order of the table below a heading; the top of a layer is the row
    without one."""
    rooms: dict[str, list[str]] = {}
    table = page[page.index(f"## {heading}") + 1 :].partition("\n## ")[0]
    for layer, room in ROW.findall(table[table.index("| room |") :]):
        rooms.setdefault(layer, [])
        if room:
            rooms[layer].append(room)
    return rooms


def layers_of(text: str) -> dict[str, set[str]]:
    """By layer: the layers that it may include, itself not among them."""
    allowed: dict[str, set[str]] = {}
    for layer, links in LAYER.findall(text):
        direct = [name.removeprefix("emulator_") for name in links.split()]
        allowed[layer] = set(direct).union(*(allowed[name] for name in direct))
    # The driver API is built on the runtime, which only whole archives link in.
    allowed["driver"] |= {"runtime"}
    # No layers: what combines the layers, starts programs, and enters other processes.
    allowed["cudart"] = {*allowed, API}
    allowed["programs"] = {"cudart", "machine"}
    allowed["process"] = {"driver", API}
    return allowed


def violations(path: str, text: str, rooms: dict, allowed: dict) -> list[str]:
    """What `path` (layer/room/file or layer/file) includes and may not."""
    layer, *middle, name = path.split("/")
    order = rooms[layer]
    bad = []
    for included in INCLUDE.findall(text):
        to_layer, *to_middle = included.split("/")[:-1] or [included]
        if to_layer != layer:
            if to_layer not in allowed[layer]:
                bad.append(f"{path} includes {included}: {layer} does not stand on {to_layer}")
        elif to_middle:
            if not middle and name.endswith(".h"):
                bad.append(f"{path} includes {included}: a layer's interface includes no room")
            elif middle and order.index(to_middle[0]) > order.index(middle[0]):
                bad.append(f"{path} includes {included}: {to_middle[0]} comes after {middle[0]}")
    return bad


def rows_below(heading: str, page: str) -> list[str]:
    """The first column of the table below a heading: folders without their slash, or files."""
    part = page[page.index(f"## {heading}") + 1 :].partition("\n## ")[0]
    return re.findall(r"^\| `([\w.]+)/?` \|", part, re.MULTILINE)


def includes_below(folder: Path, rows: list[str]) -> list[str]:
    """What files of these rooms include of rows further down; `folder` holds the rooms."""
    bad = []
    for file in sorted(folder.rglob("*")):
        if file.suffix not in CODE:
            continue
        path = file.relative_to(folder)
        for included in INCLUDE.findall(file.read_text(encoding="utf-8")):
            to = included.removeprefix(f"common/{folder.name}/").partition("/")[0]
            if to in rows and rows.index(to) > rows.index(path.parts[0]):
                bad.append(f"{path} includes {included}: {to} comes after {path.parts[0]}")
    return bad


class Harness(unittest.TestCase):
    FOLDER = ROOT / "common" / "harness"

    def setUp(self) -> None:
        page = (ROOT / "common" / "README.md").read_text(encoding="utf-8")
        self.rows = rows_below("Rooms of the harness", page)

    def test_the_table_names_every_room_and_loose_file(self) -> None:
        code = [file for file in self.FOLDER.rglob("*") if file.suffix in CODE]
        self.assertEqual({f.relative_to(self.FOLDER).parts[0] for f in code}, set(self.rows))

    def test_files_include_only_what_comes_before_them(self) -> None:
        self.assertEqual(includes_below(self.FOLDER, self.rows), [])

    def test_a_back_edge_is_found(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            (Path(name) / "report").mkdir()
            file = Path(name) / "report" / "details.h"
            file.write_text('#include "watches/cuda_calls.h"\n')
            (bad,) = includes_below(Path(name), self.rows)
            self.assertIn("watches comes after report", bad)


class Rooms(unittest.TestCase):
    def setUp(self) -> None:
        page = (ROOT / "common" / "README.md").read_text(encoding="utf-8")
        self.rooms = rooms_of(page, "Layers and rooms")
        self.allowed = layers_of((EMULATOR / "CMakeLists.txt").read_text(encoding="utf-8"))

    def test_the_table_names_every_folder_with_code(self) -> None:
        self.assertEqual(set(self.rooms), set(self.allowed))
        for layer, rooms in self.rooms.items():
            folders = {
                file.parent.relative_to(EMULATOR / layer).as_posix()
                for file in (EMULATOR / layer).rglob("*")
                if file.suffix in CODE
            }
            self.assertEqual(folders - {"."}, set(rooms), f"the rooms of {layer}")

    def test_no_code_lies_outside_of_the_rooms(self) -> None:
        loose = {file.name for file in EMULATOR.iterdir() if file.suffix in (*CODE, ".cu")}
        self.assertEqual(loose, {API})

    def test_files_include_only_what_comes_before_them(self) -> None:
        bad = []
        for layer in self.rooms:
            for file in sorted((EMULATOR / layer).rglob("*")):
                if file.suffix in CODE:
                    path = file.relative_to(EMULATOR).as_posix()
                    text = file.read_text(encoding="utf-8")
                    bad += violations(path, text, self.rooms, self.allowed)
        self.assertEqual(bad, [])

    def test_each_rule_is_checked(self) -> None:
        for path, included, why in (
            ("ptx/tables.cpp", "machine/memory.h", "does not stand on"),
            ("machine/program/code.h", "machine/execute/executor.h", "comes after"),
            ("checks/checks.h", "checks/report/report.h", "includes no room"),
            ("runtime/core/launch.cpp", API, "does not stand on"),
            ("programs/emulate.cpp", "runtime/core/launch.h", "does not stand on"),
        ):
            found = violations(path, f'#include "{included}"\n', self.rooms, self.allowed)
            self.assertEqual(len(found), 1, path)
            self.assertIn(why, found[0])


def library_violations(path: str, text: str, rooms: list[str], interface: set[str]) -> list[str]:
    """What `path` (room/file or file, in libraries/) includes and may not. `interface`: the headers
    of the emulator that the libraries may include."""
    *middle, name = path.split("/")
    room = middle[0] if middle else ""
    bad = []
    for included in INCLUDE.findall(text):
        # In the order of the compiler's search: the file's own folder, libraries/, its include/.
        candidates = [f"{room}/{included}".strip("/"), included, f"include/{included}"]
        found = next((one for one in candidates if (LIBRARIES / one).is_file()), None)
        if found is None:
            if included.removeprefix("common/emulator/") not in interface:
                bad.append(f"{path} includes {included}: no interface of the emulator")
            continue
        to_room = found.split("/")[0] if "/" in found else ""
        if to_room and not room:
            bad.append(f"{path} includes {included}: what rooms share includes no room")
        elif to_room and rooms.index(to_room) > rooms.index(room):
            bad.append(f"{path} includes {included}: {to_room} comes after {room}")
    return bad


class RoomsOfTheLibraries(unittest.TestCase):
    def setUp(self) -> None:
        page = (ROOT / "common" / "README.md").read_text(encoding="utf-8")
        self.rooms = rooms_of(page, "Rooms of the libraries")["libraries"]
        before_table = page[page.index("## Rooms of the libraries") :].partition("| room |")[0]
        self.interface = set(re.findall(r"`([a-z_/]+\.h)`", before_table))

    def test_the_table_names_every_folder(self) -> None:
        folders = {file.name for file in LIBRARIES.iterdir() if file.is_dir()}
        self.assertEqual(folders - {"__pycache__"}, set(self.rooms))

    def test_the_interface_of_the_emulator_exists(self) -> None:
        self.assertTrue(self.interface)
        for header in self.interface:
            self.assertTrue((EMULATOR / header).is_file(), header)

    def test_files_include_only_what_comes_before_them(self) -> None:
        bad = []
        for file in sorted(LIBRARIES.rglob("*")):
            if file.suffix in CODE:
                path = file.relative_to(LIBRARIES).as_posix()
                text = file.read_text(encoding="utf-8")
                bad += library_violations(path, text, self.rooms, self.interface)
        self.assertEqual(bad, [])

    def test_each_rule_is_checked(self) -> None:
        for path, included, why in (
            ("blas/level1.cpp", "solver/lapack.h", "comes after"),
            ("fft/plan.h", "mpi/watch.h", "comes after"),
            ("include/cusparse.h", "sparse/descriptors.h", "comes after"),
            ("stand_in.h", "blas/handle.h", "includes no room"),
            ("random/api.cpp", "runtime/core/stream.h", "no interface"),
            ("mpi/waits.cpp", "common/emulator/options.h", "no interface"),
        ):
            text = f'#include "{included}"\n'
            found = library_violations(path, text, self.rooms, self.interface)
            self.assertEqual(len(found), 1, path)
            self.assertIn(why, found[0])


if __name__ == "__main__":
    unittest.main()
