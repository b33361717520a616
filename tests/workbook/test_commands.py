# SPDX-License-Identifier: MIT
"""The table of commands: make's lists and README's table follow it, and every handler exists."""

from __future__ import annotations

import importlib
import inspect
import os
import subprocess
import unittest
from unittest import mock

from workbook.author import command_lists
from workbook.base import commands, options
from workbook.base.project import ROOT, WorkbookError, relative


class Table(unittest.TestCase):
    def test_the_lists_are_up_to_date(self) -> None:
        for path, text in command_lists.written().items():
            same = path.read_text(encoding="utf-8") == text
            self.assertTrue(same, f"{relative(path)} is not as the table says: make format")

    def test_a_changed_row_makes_a_list_stale(self) -> None:
        row = commands.Command(
            "shout", "show.screen:progress", (commands.Use("make shout", "x", "x"),)
        )
        with mock.patch.object(commands, "COMMANDS", (*commands.COMMANDS, row)):
            for path, text in command_lists.written().items():
                self.assertNotEqual(path.read_text(encoding="utf-8"), text)
                self.assertIn("shout", text)

    def test_make_help_is_the_tools_own(self) -> None:
        said = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True).stdout
        self.assertEqual(said, command_lists.help_text())

    def test_names_are_unique(self) -> None:
        called = [command.called for command in commands.COMMANDS]
        self.assertEqual(len(called), len(set(called)))

    def test_each_handler_takes_what_its_row_gives(self) -> None:
        for command in commands.COMMANDS:
            module, name = command.handler.split(":")
            handler = getattr(importlib.import_module(f"workbook.{module}"), name)
            given = [None] * bool(command.argument) + [False] * command.has_json
            inspect.signature(handler).bind(*given)  # raises TypeError

    def test_make_knows_each_name(self) -> None:
        makefile = command_lists.MAKE_LISTS.read_text(encoding="utf-8")
        words = makefile.replace(":", " ").split()
        for command in commands.COMMANDS:
            self.assertTrue(command.name.isdigit() or command.name in words, command.name)


class Options(unittest.TestCase):
    def test_make_passes_on_what_stands_on_its_command_line(self) -> None:
        env = {key: value for key, value in os.environ.items() if key != "TASK"}
        done = subprocess.run(
            ["make", "hint-02", "TASK=x"], cwd=ROOT, capture_output=True, text=True, env=env
        )
        self.assertEqual(done.returncode, 1)
        self.assertIn("TASK=x is not a number", done.stderr)

    def test_only_names_of_the_table_are_options(self) -> None:
        with self.assertRaises(KeyError):
            options.text("HOME")

    def test_kinds(self) -> None:
        with mock.patch.dict(os.environ, {"TASK": "3", "FORCE": "0", "LESSONS": "02, 18 20"}):
            self.assertEqual(options.number("TASK"), 3)
            self.assertFalse(options.flag("FORCE"))
            self.assertEqual(options.words("LESSONS"), ["02", "18", "20"])
        with mock.patch.dict(os.environ, {"TASK": "-1"}), self.assertRaises(WorkbookError):
            options.number("TASK")
        with mock.patch.dict(os.environ, {"FORCE": "1"}):
            self.assertTrue(options.flag("FORCE"))


if __name__ == "__main__":
    unittest.main()
