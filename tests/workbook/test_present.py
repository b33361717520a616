# SPDX-License-Identifier: MIT
"""The server of `make present`: whom it answers, what it serves, and the news of a saved file."""

from __future__ import annotations

import http.client
import json
import os
import queue
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path
from unittest import mock

import test_watch
from workbook.base.project import ROOT, WorkbookError, lessons
from workbook.show import present

DRIVER = test_watch.DRIVER.replace("sys.exit(watch.watch(graded))", "present.present(graded)")
DRIVER = DRIVER.replace("show import watch", "show import present")
assert "present.present(graded)" in DRIVER and "watch" not in DRIVER


class Served(unittest.TestCase):
    def setUp(self) -> None:
        slides = present.as_slides(lessons(), lessons()[0])
        self.news = present.News()
        entered = present.serving(slides, self.news)
        with mock.patch.dict(os.environ, PORT=""):
            self.server = entered.__enter__()
        self.addCleanup(entered.__exit__, None, None, None)

    def ask(self, path: str, method: str = "GET", **headers: str) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.server.server_port, timeout=20)
        self.addCleanup(connection.close)
        connection.request(
            method, path, headers={k.replace("_", "-"): v for k, v in headers.items()}
        )
        answer = connection.getresponse()
        return answer.status, answer.read()

    def test_it_listens_on_this_machine_only(self) -> None:
        self.assertEqual(self.server.server_address[0], "127.0.0.1")

    def test_the_page_and_its_parts(self) -> None:
        status, page = self.ask("/")
        self.assertEqual(status, 200)
        for name in re.findall(rb'(?:href|src)="([^"]+)"', page):
            self.assertEqual(self.ask("/" + name.decode())[0], 200, name)

    def test_every_figure_of_the_slides(self) -> None:
        slides = json.loads(self.ask("/slides.json")[1])
        figures = [one for lesson in slides["lessons"] for one in lesson["figures"]]
        self.assertGreater(len(figures), len(lessons()))
        self.assertIn("18_ladder.svg", [one["name"] for one in figures])
        for one in figures:
            self.assertTrue(one["text"], one["name"])
        for name in {figures[0]["name"], figures[-1]["name"]}:
            status, text = self.ask(f"/figures/{name}")
            self.assertEqual((status, b"<svg" in text), (200, True))

    def test_nothing_else_of_the_disk(self) -> None:
        for path in ("/figures/../../README.md", "/../present.py", "/figures/", "//etc/passwd",
                     "/figures/%2e%2e/style.py", "/slides"):  # fmt: skip
            self.assertEqual(self.ask(path)[0], 404, path)

    def test_other_sites_get_no_answer(self) -> None:
        self.assertEqual(self.ask("/", Host="evil.example")[0], 403)
        self.assertEqual(self.ask("/slides.json", Origin="http://evil.example")[0], 403)
        self.assertEqual(self.ask("/grade/18", "POST", Host="evil.example", X_Present="1")[0], 403)

    def test_only_the_page_can_have_a_file_graded(self) -> None:
        self.assertEqual(self.ask("/grade/18", "POST")[0], 403)  # a form of another site
        self.assertRaises(queue.Empty, self.server.wanted.get_nowait)
        self.assertEqual(self.ask("/grade/18", "POST", X_Present="1")[0], 204)
        self.assertEqual(self.server.wanted.get_nowait(), "18")
        self.assertEqual(self.ask("/grade/../x", "POST", X_Present="1")[0], 404)

    def test_news_reach_a_page_that_is_open_and_one_that_opens_later(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.server.server_port, timeout=20)
        self.addCleanup(connection.close)
        connection.request("GET", "/events")
        stream = connection.getresponse()
        self.assertIn(b"waiting", stream.readline())
        threading.Timer(0.1, self.news.tell, [{"state": "graded", "lesson": "18"}]).start()
        stream.readline()
        self.assertIn(b'"lesson": "18"', stream.readline())
        self.assertEqual(self.news.after(-1, 0)[1]["lesson"], "18")

    def test_a_port_that_is_taken_is_named(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = str(taken.getsockname()[1])
            with mock.patch.dict(os.environ, PORT=port):
                with self.assertRaisesRegex(WorkbookError, f"port {port} is not free"):
                    present.serving({"lessons": []}, self.news).__enter__()
        with mock.patch.dict(os.environ, PORT="high"):
            with self.assertRaisesRegex(WorkbookError, "PORT=high is no port"):
                present.serving({"lessons": []}, self.news).__enter__()


class Saved(unittest.TestCase):
    def test_a_save_is_graded_and_told(self) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            root = Path(scratch)
            for folder in ("lessons", "common/workbook", "plots/figures"):
                ignored = shutil.ignore_patterns("__pycache__")
                shutil.copytree(ROOT / folder, root / folder, ignore=ignored)
            (root / "driver.py").write_text(DRIVER)
            with socket.create_server(("127.0.0.1", 0)) as free:
                port = free.getsockname()[1]
            env = {**os.environ, "PYTHONPATH": str(root / "common"), "PORT": str(port),
                   "LESSON": "18", "PYTHONUNBUFFERED": "1"}  # fmt: skip
            process = subprocess.Popen(
                [sys.executable, "driver.py"], cwd=root, env=env, text=True,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            )  # fmt: skip
            self.addCleanup(process.stdout.close)
            self.addCleanup(process.wait)
            self.addCleanup(process.kill)
            self.assertIn(f"http://127.0.0.1:{port}/", process.stdout.readline())
            process.stdout.readline()
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            self.addCleanup(connection.close)
            connection.request("GET", "/slides.json")
            self.assertEqual(json.loads(connection.getresponse().read())["first"], "18")
            connection.request("GET", "/events")
            stream = connection.getresponse()

            def news() -> dict:
                while not (line := stream.readline()).startswith(b"data: "):
                    pass
                return json.loads(line.removeprefix(b"data: "))

            self.assertEqual(news(), {"state": "waiting", "old": True})
            lesson = lessons()[3]
            for text, passed in (("race", False), ("good", True)):
                path = root / "lessons" / lesson.id / f"{lesson.slug}.cu"
                path.with_suffix(".tmp").write_text(text)
                os.replace(path.with_suffix(".tmp"), path)
                while (event := news())["state"] == "grading":  # reported only if it takes a moment
                    self.assertEqual(event["lesson"], lesson.number)
                self.assertEqual((event["state"], event["passed"]), ("graded", passed))
                self.assertFalse(event["old"])
                shown = "\n".join(event["lines"])
                self.assertEqual("`t` is read" in shown, not passed)
                self.assertEqual(dict(event["grades"])["correct"], passed)
                self.assertNotIn("Lesson 03", shown)
                self.assertLessEqual(max(map(len, event["lines"])), 72)


if __name__ == "__main__":
    unittest.main()
