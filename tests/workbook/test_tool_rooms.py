# SPDX-License-Identifier: MIT
"""The tool's rooms (common/workbook) import one another in the order of common/README.md.

Imports inside functions count as well: they save time when a command starts, and may not hide a
circle. Within a room no module may lead back to itself.
"""

from __future__ import annotations

import ast
import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "common" / "workbook"
HEADING = "## Rooms of the tool"
ROW = re.compile(r"^\| `([a-z]+)/` \|", re.MULTILINE)


def rooms_of(page: str) -> list[str]:
    """The rooms in the order of the table below the heading."""
    text = page[page.index(HEADING) + len(HEADING) :]
    return ROW.findall(text.partition("\n## ")[0])


def module_of(path: Path, root: Path = TOOL) -> str:
    """`judge.grade` for judge/grade.py, `judge` for judge/__init__.py."""
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(module: str, text: str, modules: set[str], is_package: bool = False) -> set[str]:
    """The modules of the tool that one imports, wherever in its text."""
    here = module.split(".") if is_package else module.split(".")[:-1]
    found = set()
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.ImportFrom) or not node.level:
            continue
        base = here[: len(here) - (node.level - 1)] + (node.module or "").split(".")
        name = ".".join(filter(None, base))
        for alias in node.names:
            whole = f"{name}.{alias.name}".lstrip(".")
            found.add(whole if whole in modules else name)
    return (found & modules) - {module}


def back_edges(imports: dict[str, set[str]], rooms: list[str]) -> list[str]:
    """Imports from a room into one that stands below it in the table."""
    bad = []
    for module, targets in sorted(imports.items()):
        room = module.partition(".")[0]
        for target in sorted(targets):
            there = target.partition(".")[0]
            if room in rooms and (there not in rooms or rooms.index(there) > rooms.index(room)):
                bad.append(f"{module} imports {target}: {there} comes after {room}")
    return bad


def circles(imports: dict[str, set[str]]) -> list[str]:
    """Modules that lead back to themselves, each with its way."""
    done: set[str] = set()
    bad = []

    def visit(module: str, way: list[str]) -> None:
        if module in way:
            bad.append(" -> ".join([*way[way.index(module) :], module]))
        elif module not in done:
            for target in sorted(imports.get(module, ())):
                visit(target, [*way, module])
            done.add(module)

    for module in sorted(imports):
        visit(module, [])
    return bad


class ToolRooms(unittest.TestCase):
    def setUp(self) -> None:
        self.rooms = rooms_of((ROOT / "common" / "README.md").read_text(encoding="utf-8"))
        paths = {module_of(path): path for path in sorted(TOOL.rglob("*.py"))}
        modules = set(paths)
        self.imports = {
            module: imports_of(
                module, path.read_text(encoding="utf-8"), modules, path.name == "__init__.py"
            )
            for module, path in paths.items()
            if module
        }

    def test_the_table_names_every_folder_with_code(self) -> None:
        folders = {path.relative_to(TOOL).parts[0] for path in TOOL.glob("*/**/*.py")}
        self.assertEqual(folders, set(self.rooms))

    def test_imports_go_one_way(self) -> None:
        self.assertEqual(back_edges(self.imports, self.rooms), [])

    def test_no_circle(self) -> None:
        self.assertEqual(circles(self.imports), [])

    def test_only_the_entrance_lies_outside_of_a_room(self) -> None:
        outside = {module for module in self.imports if "." not in module} - set(self.rooms)
        self.assertEqual(outside, {"__main__"})

    def test_a_back_edge_is_found(self) -> None:
        text = "def show():\n    from ..show import screen\n"
        found = imports_of("judge.grade", text, {"judge.grade", "show.screen"})
        self.imports["judge.grade"] |= found
        (bad,) = back_edges(self.imports, self.rooms)
        self.assertIn("judge.grade imports show.screen: show comes after judge", bad)
        self.assertTrue(circles(self.imports))


if __name__ == "__main__":
    unittest.main()
