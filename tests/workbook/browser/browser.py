# SPDX-License-Identifier: MIT
"""What the browser tests share: a Chromium, a page that remembers its troubles, axe."""

from __future__ import annotations

import os
import unittest
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, sync_playwright

# Other rules are advice; these are the ones of WCAG 2.2, contrast and labels among them.
_RULES = {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}


class Browsed(unittest.TestCase):
    """Pages of one browser."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.playwright = sync_playwright().start()
        cls.addClassCleanup(cls.playwright.stop)
        # Chromium's own sandbox needs what containers do not give; the pages are ours.
        cls.browser = cls.playwright.chromium.launch(
            executable_path=os.environ["CHROMIUM"], args=["--no-sandbox"]
        )
        cls.addClassCleanup(cls.browser.close)
        cls.axe = Axe()

    def page(self, home: str, width: int = 1280, height: int = 800, scheme: str = "light") -> Page:
        """A page; `troubles` gets what it says on its console, its errors, and every request that
        does not begin with `home`.
        """
        context = self.browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=scheme,
            reduced_motion="reduce",
        )
        self.addCleanup(context.close)
        page = context.new_page()
        self.troubles: list[str] = []
        page.on("console", lambda said: self.troubles.append(f"console: {said.text}"))
        page.on("pageerror", lambda error: self.troubles.append(f"error: {error}"))

        def requested(request: Any) -> None:
            if not request.url.startswith((home, "data:", "blob:")):
                self.troubles.append(f"request: {request.url}")

        page.on("request", requested)
        return page

    def accessible(self, page: Page) -> list[str]:
        """What axe objects to."""
        options = {
            "preload": False,
            "runOnly": _RULES,
            # Where the list of pages scrolls, its first line is half below the heading.
            "rules": {"target-size": {"enabled": False}},
        }
        found = self.axe.run(page, options=options)
        return [
            f"{rule['id']}: {rule['help']}: {node['html'][:160]}"
            for rule in found.response["violations"]
            for node in rule["nodes"][:3]
        ]
