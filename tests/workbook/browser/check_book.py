# SPDX-License-Identifier: MIT
"""Every page of the book, from a folder and from a server; its links, search and views."""

from __future__ import annotations

import functools
import os
import threading
import unittest
import urllib.parse
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from browser import Browsed

SITE = Path(os.environ["BOOK_SITE"])
PAGES = sorted(SITE.rglob("*.html"))
FROM_FOLDER = SITE.as_uri() + "/"
VIEWED = {
    "11_coalescing_soa": ("4 sectors", "32 sectors"),
    "16_transpose_bank_conflicts": ("1 pass.", "32 passes."),
    "18_tree_reduction": ("After barrier", "Race: "),
}


class Names(HTMLParser):
    """The ids and the links of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.ids.add(value)
            elif name in ("href", "src") and value:
                self.links.append(value)


@functools.cache
def names_in(path: Path) -> Names:
    return Names(path)


class Files(unittest.TestCase):
    def test_every_link_leads_to_a_file_and_a_place_in_it(self) -> None:
        self.assertGreater(len(PAGES), 60)
        for path in PAGES:
            for link in names_in(path).links:
                parts = urllib.parse.urlsplit(link)
                if parts.scheme:
                    self.assertIn(parts.scheme, ("http", "https", "data"))
                    continue
                if path.name == "404.html" and link.startswith("/"):
                    continue  # servers show it in any folder
                name = urllib.parse.unquote(parts.path)
                target = Path(os.path.normpath(path.parent / name)) if name else path
                if target.is_dir():
                    target /= "index.html"
                with self.subTest(page=path.relative_to(SITE), link=link):
                    self.assertTrue(target.is_file())
                    anchor = parts.fragment
                    if anchor and anchor != "__skip" and target.suffix == ".html":
                        self.assertIn(anchor, names_in(target).ids)

    def test_no_script_style_or_picture_comes_from_elsewhere(self) -> None:
        for path in PAGES:
            text = path.read_text(encoding="utf-8")
            self.assertNotRegex(text, r"<(?:script|img|iframe)[^>]+src=\"?(?:https?:)?//")
            self.assertNotRegex(text, r"<link[^>]+(?:stylesheet|preconnect|icon)[^>]+https?://")


class Pages(Browsed):
    def every_page(self, scheme: str, width: int) -> None:
        page = self.page(FROM_FOLDER, width=width, scheme=scheme)
        for path in PAGES:
            if path.name == "404.html":
                continue
            with self.subTest(page=str(path.relative_to(SITE)), scheme=scheme):
                self.troubles.clear()
                page.goto(path.as_uri())
                page.wait_for_load_state("load")
                self.assertEqual(self.accessible(page), [])
                self.assertEqual(self.troubles, [])
                wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
                self.assertLessEqual(wide, 0, "it has to be scrolled sideways")

    def test_light_on_a_desk(self) -> None:
        self.every_page("light", 1280)

    def test_dark_on_a_telephone(self) -> None:
        self.every_page("dark", 390)


class Search(Browsed):
    def found(self, page: Page, url: str, words: str) -> str:
        page.goto(url)
        page.keyboard.press("/")
        page.keyboard.type(words, delay=20)
        results = page.locator(".md-search-result__item")
        expect(results.first).to_be_visible(timeout=20000)
        return " ".join(results.all_text_contents())

    def test_it_finds_from_a_folder(self) -> None:
        page = self.page(FROM_FOLDER)
        self.assertIn("Tree reduction", self.found(page, FROM_FOLDER + "index.html", "tree"))
        self.assertEqual(self.troubles, [])

    def test_it_finds_from_a_server_but_no_hint(self) -> None:
        class Quiet(SimpleHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                pass

        handler = functools.partial(Quiet, directory=str(SITE))
        with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            home = f"http://127.0.0.1:{server.server_port}/"
            page = self.page(home)
            self.assertIn("race-shared", self.found(page, home, "race-shared"))
            # In a hint of lesson 18, and in nothing else.
            page.goto(home)
            page.keyboard.press("/")
            page.keyboard.type("which element has no partner", delay=20)
            page.wait_for_timeout(1000)
            self.assertNotIn(
                "which element has no partner", page.locator(".md-search").text_content() or ""
            )
            self.assertEqual(self.troubles, [])
            server.shutdown()


class Views(Browsed):
    def open(self, lesson: str, width: int = 1280) -> tuple[Page, Locator]:
        page = self.page(FROM_FOLDER, width=width)
        page.goto(f"{FROM_FOLDER}lessons/{lesson}/index.html")
        return page, page.locator(".wb-view")

    def said(self, view: Locator) -> str:
        return view.locator(".wb-said").text_content() or ""

    def test_the_mouse_steps(self) -> None:
        for lesson in VIEWED:
            with self.subTest(lesson=lesson):
                _, view = self.open(lesson)
                first = view.locator("svg").inner_html()
                expect(view.get_by_role("button", name="Back")).to_be_disabled()
                view.get_by_role("button", name="Next").click()
                expect(view.locator("output")).to_contain_text("2 of")
                self.assertNotEqual(view.locator("svg").inner_html(), first)
                view.get_by_role("button", name="Back").click()
                self.assertEqual(view.locator("svg").inner_html(), first)

    def test_the_keyboard_steps(self) -> None:
        for lesson in VIEWED:
            with self.subTest(lesson=lesson):
                page, view = self.open(lesson)
                view.get_by_role("button", name="Next").focus()
                page.keyboard.press("ArrowRight")
                expect(view.locator("output")).to_contain_text("2 of")
                page.keyboard.press("ArrowRight")
                page.keyboard.press("ArrowLeft")
                expect(view.locator("output")).to_contain_text("2 of")
                page.keyboard.press("End")
                expect(view.get_by_role("button", name="Next")).to_be_disabled()
                page.keyboard.press("ArrowLeft")  # although the button that had the keys is off
                expect(view.get_by_role("button", name="Next")).to_be_enabled()
                page.keyboard.press("Home")
                expect(view.locator("output")).to_contain_text("1 of")

    def test_the_wrong_answer_looks_wrong(self) -> None:
        for lesson, (right, wrong) in VIEWED.items():
            with self.subTest(lesson=lesson):
                page, view = self.open(lesson)
                self.assertEqual(self.all_said(page, view, wrong), [])
                self.assertNotEqual(self.all_said(page, view, right), [])
                view.get_by_role("radio").nth(1).check()
                self.assertNotEqual(self.all_said(page, view, wrong), [])

    def all_said(self, page: Page, view: Locator, words: str) -> list[str]:
        """What is said in the steps, where it has these words; and marks of races are drawn."""
        view.get_by_role("slider").focus()
        page.keyboard.press("Home")
        found = []
        while True:
            text = self.said(view)
            marked = view.locator("svg .bad").count() > 0
            self.assertEqual(marked, "Race: " in text)
            found += [text] if words in text else []
            if view.get_by_role("button", name="Next").is_disabled():
                return found
            page.keyboard.press("ArrowRight")

    def test_a_picture_is_as_wide_as_a_telephone(self) -> None:
        for lesson in VIEWED:
            _, view = self.open(lesson, 390)
            box = view.locator("svg").bounding_box()
            self.assertGreater(box["width"], 300)
            self.assertLess(box["x"] + box["width"], 390)

    def test_hints_fold_out_by_key(self) -> None:
        page, _ = self.open("18_tree_reduction")
        fold = page.locator("details.question").first
        self.assertFalse(fold.evaluate("node => node.open"))
        fold.locator("summary").focus()
        page.keyboard.press("Enter")
        self.assertTrue(fold.evaluate("node => node.open"))

    def test_print_is_light_and_has_no_hint_that_was_not_opened(self) -> None:
        page = self.page(FROM_FOLDER, scheme="dark")
        page.goto(f"{FROM_FOLDER}lessons/18_tree_reduction/index.html")
        page.locator("details.question summary").first.click()
        page.emulate_media(media="print", color_scheme="dark")
        folds = page.locator("details.question > p")
        expect(folds.nth(0)).to_be_visible()
        expect(folds.nth(1)).to_be_hidden()
        expect(page.locator(".wb-controls")).to_be_hidden()
        self.assertEqual(self.accessible(page), [])


if __name__ == "__main__":
    unittest.main()
