# SPDX-License-Identifier: MIT
"""The projected page: keys, themes, and the verdict on a file that is saved while it is open."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import unittest
from pathlib import Path

from playwright.sync_api import Page, expect

from browser import Browsed

ROOT = Path(__file__).resolve().parents[3]


class Projected(Browsed):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.root = Path(scratch.name)
        for folder in ("lessons", "common/workbook", "plots/figures"):
            shutil.copytree(
                ROOT / folder, cls.root / folder,
                ignore=shutil.ignore_patterns("__pycache__"),
            )  # fmt: skip
        # The same grades without building as test_present.py has.
        driver = (
            "import sys; sys.path.insert(0, {!r}); import test_present; exec(test_present.DRIVER)"
        )
        (cls.root / "driver.py").write_text(driver.format(str(ROOT / "tests" / "workbook")))
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        cls.home = f"http://127.0.0.1:{port}/"
        env = {**os.environ, "PORT": str(port), "LESSON": "18", "PYTHONUNBUFFERED": "1",
               "PYTHONPATH": str(cls.root / "common")}  # fmt: skip
        process = subprocess.Popen(
            [os.environ["WORKBOOK_PYTHON"], "driver.py"], cwd=cls.root, env=env, text=True,
            stdout=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        cls.addClassCleanup(process.stdout.close)
        cls.addClassCleanup(process.wait)
        cls.addClassCleanup(os.killpg, process.pid, signal.SIGKILL)
        assert cls.home in process.stdout.readline()

    def opened(self, scheme: str = "light") -> Page:
        page = self.page(self.home, 1280, 720, scheme)
        page.goto(self.home)
        expect(page.locator("#title")).to_contain_text("·")
        return page

    def test_slides_by_key_in_both_themes(self) -> None:
        for scheme in ("light", "dark"):
            page = self.opened(scheme)
            self.assertEqual(page.evaluate("document.documentElement.dataset.theme"), scheme)
            for digit in "18":
                page.keyboard.press(digit)
            expect(page.locator("#title")).to_have_text("18 · Tree reduction")
            self.assertEqual(self.accessible(page), [])
            page.keyboard.press("ArrowRight")
            expect(page.locator("#slide img")).to_have_attribute("src", re.compile("18_tree"))
            page.keyboard.press("ArrowRight")
            expect(page.locator("#slide img")).to_have_attribute("src", re.compile("18_ladder"))
            # Not wait_for_function: what it polls is forbidden by the page's own policy.
            image = page.locator("#slide img")
            expect(image).to_have_js_property("complete", True)
            self.assertGreater(image.evaluate("image => image.naturalWidth"), 0)
            self.assertEqual(self.accessible(page), [])
            page.keyboard.press("n")
            expect(page.locator("#title")).to_contain_text("19 ·")
            page.keyboard.press("p")
            page.keyboard.press("p")
            expect(page.locator("#title")).to_contain_text("17 ·")
            page.keyboard.press("t")
            self.assertNotEqual(page.evaluate("document.documentElement.dataset.theme"), scheme)
            self.assertEqual(self.troubles, [])

    def test_an_old_verdict_does_not_move_a_page_that_is_steered(self) -> None:
        """Whose connection broke and came back, as a laptop's does that has slept."""
        page = self.page(self.home, 1280, 720, "light")
        old = {"state": "graded", "lesson": "20", "passed": True, "grades": [], "count": [1, 1],
               "lines": [" yes"], "old": True}  # fmt: skip
        page.route("**/events", lambda route: route.fulfill(
            content_type="text/event-stream", body=f"retry: 100\ndata: {json.dumps(old)}\n\n"
        ))  # fmt: skip
        page.goto(self.home)
        expect(page.locator("#title")).to_contain_text("20 ·")  # no key was pressed yet
        for digit in "18":
            page.keyboard.press(digit)
        for _ in range(2):
            with page.expect_response("**/events"):
                pass
        expect(page.locator("#title")).to_contain_text("18 ·")

    def test_the_type_is_large_and_grows(self) -> None:
        page = self.opened()
        size = "parseFloat(getComputedStyle(document.getElementById('slide')).fontSize)"
        usual = page.evaluate(size)
        self.assertGreaterEqual(usual, 20)  # 36 lines on a wall, not the 60 of a terminal
        page.keyboard.press("+")
        self.assertGreater(page.evaluate(size), usual)
        page.keyboard.press("=")
        self.assertEqual(page.evaluate(size), usual)

    def test_the_keys_are_listed(self) -> None:
        page = self.opened()
        page.keyboard.press("?")
        expect(page.locator("#keys")).to_be_visible()
        self.assertEqual(self.accessible(page), [])
        page.keyboard.press("Escape")
        expect(page.locator("#keys")).to_be_hidden()

    def test_a_saved_file_is_on_the_wall(self) -> None:
        page = self.opened()
        folder = next((self.root / "lessons").glob("03_*"))
        source = next(folder.glob("*.cu"))
        for text, words, marks in (("race", "`t` is read", "safe ✗"), ("good", "adds", "safe ✓")):
            fresh = source.with_suffix(".tmp")
            fresh.write_text(text)
            os.replace(fresh, source)
            expect(page.locator("#grades")).to_contain_text(marks, timeout=20000)
            expect(page.locator("#title")).to_contain_text("03 ·")
            expect(page.locator("pre")).to_contain_text(words)
            self.assertEqual(self.accessible(page), [])
        page.keyboard.press("t")
        self.assertEqual(self.accessible(page), [])
        page.keyboard.press("a")  # stays where it is
        page.keyboard.press("n")
        fresh.write_text("race")
        os.replace(fresh, source)
        expect(page.locator("#news")).to_contain_text("0 of 1", timeout=20000)
        expect(page.locator("#title")).to_contain_text("04 ·")
        self.assertEqual(self.troubles, [])

    def test_r_grades(self) -> None:
        page = self.opened()
        for key in "20r":
            page.keyboard.press(key)
        expect(page.locator("#news")).to_contain_text("lesson 20:", timeout=20000)
        expect(page.locator("pre")).to_contain_text("adds")


if __name__ == "__main__":
    unittest.main()
