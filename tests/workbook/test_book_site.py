# SPDX-License-Identifier: MIT
"""The book and the projected page in headless Chromium: makes the book, then runs browser/*.py.

Needs Debian's chromium (or CHROMIUM=/path) and packages from PyPI, which go into an environment of
their own; skips itself where either is missing. Part of `make test-all`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from workbook.base.project import WorkbookError, state_folder
from workbook.book import book
from workbook.setup import pypi

SKIPPED = 77
PACKAGES = ("playwright==1.*", "axe-playwright-python==0.1.*")
HERE = Path(__file__).resolve().parent


def main(arguments: list[str]) -> int:
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if not chromium:
        print("skipped: chromium is missing (apt-get install chromium, or CHROMIUM=/path)")
        return SKIPPED
    environment = state_folder() / "browser-tests"
    try:
        what = "Playwright and axe, which test the book in a browser, have"
        pypi.ensure_optional(environment, PACKAGES, what, 52, 210, "make test-all")
        book.environment()
    except WorkbookError as error:
        print(f"skipped: {error}")
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="workbook-book-") as scratch:
        os.environ.update(OUT=scratch, SOLUTIONS="0")
        book.build()
        env = {
            **os.environ,
            "PYTHONPATH": "",
            "BOOK_SITE": scratch,
            "CHROMIUM": chromium,
            "WORKBOOK_PYTHON": sys.executable,
        }
        python = str(environment / "bin" / "python")
        codes = [
            subprocess.run([python, str(HERE / "browser" / name), *arguments], env=env).returncode
            for name in ("check_book.py", "check_present.py")
        ]
    return max(codes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
