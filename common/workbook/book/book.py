# SPDX-License-Identifier: MIT
"""`make book`: a static site of all lessons, made from the files that the workbook consists of.

The pages are copies below build/book-pages (book_pages.py), with interactive views from traces of
programs that run now (book_views.py). MkDocs turns them into the site; it and what it needs live in
an environment of their own, which is made when the book is first asked for.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

from ..base import options
from ..base.project import PASSED, ROOT, USAGE, WorkbookError, build_folder, relative, state_folder
from ..build import folders
from ..setup import pypi
from . import pages as book_pages

SITE = Path(__file__).resolve().parent / "site"
PACKAGES = (
    "mkdocs-material==9.*",
    "mkdocs==1.6.*",
    # GitHub's Markdown as the one that MkDocs reads: indentation of lists and of code in them.
    "mdformat==1.*",
    "mdformat-mkdocs==5.*",
    "mdformat-gfm==1.*",
)
DOWNLOAD_MIB, DISK_MIB = 28, 180
# Written into the site: the folder may be emptied and written anew.
_MARK = ".workbook-book"


def environment() -> Path:
    """Where MkDocs is, made when it is not there yet."""
    folder = state_folder() / "book"
    pypi.ensure_optional(
        folder, PACKAGES, "MkDocs, which makes the book, has", DOWNLOAD_MIB, DISK_MIB, "make book"
    )
    return folder


def out_folder() -> Path:
    """Where the site goes: OUT, or a folder in build/. Raises where other files would be lost."""
    named = options.text("OUT")
    folder = Path(named).expanduser().resolve() if named else build_folder() / "book"
    if folder.exists() and not folder.is_dir():
        raise WorkbookError(f"OUT={named} is a file", "choose a folder", USAGE)
    if folder.is_dir() and any(folder.iterdir()) and not (folder / _MARK).is_file():
        raise WorkbookError(
            f"{relative(folder)} holds files that are no book, and making one would remove them",
            "choose a new or an empty folder: make book OUT=folder",
            USAGE,
        )
    return folder


def build() -> int:
    """Stages the pages, makes the site, says where it is."""
    from . import views as book_views

    site = out_folder()
    with_solutions = options.flag("SOLUTIONS")
    programs = environment() / "bin"
    device = folders.prepare("emulator")
    work = device / "book-pages"
    shutil.rmtree(work, ignore_errors=True)
    pages = book_pages.pages(ROOT, with_solutions)
    print(f"The book: {sum(map(len, pages.values()))} pages", flush=True)
    views = book_views.of_pages([p for part in pages.values() for p in part], device)
    book_pages.copy(pages, work / "docs")
    _run([str(programs / "mdformat"), "--number", str(work / "docs")])
    book_pages.convert(pages, work / "docs", views, with_solutions)
    for source in (*SITE.glob("*.css"), *SITE.glob("*.js")):
        shutil.copyfile(source, work / "docs" / source.name)
    settings = write_settings(work, site, pages)
    # Not --quiet: with it --strict does not see what would have been said.
    _run([str(programs / "mkdocs"), "build", "--strict", "--config-file", str(settings)])
    (site / _MARK).write_text("made by make book; it may be removed\n", encoding="utf-8")
    size = sum(path.stat().st_size for path in site.rglob("*") if path.is_file()) >> 20
    print(f"{relative(site)}/index.html ({size} MB): open it in a browser, or put the folder on")
    print("any web server. It asks for nothing from elsewhere.")
    if not with_solutions:
        print("Solutions are not in it (SOLUTIONS=1 adds them).")
    return PASSED


def write_settings(work: Path, site: Path, pages: dict[str, list[book_pages.Page]]) -> Path:
    """The settings of one run beside those of every run; JSON is YAML."""
    own = {
        "INHERIT": str(SITE / "mkdocs.yml"),
        "docs_dir": str(work / "docs"),
        "site_dir": str(site),
        "nav": book_pages.navigation(pages),
    }
    path = work / "mkdocs.yml"
    path.write_text(json.dumps(own, indent=1), encoding="utf-8")
    return path


def _run(command: list[str]) -> None:
    # MkDocs Material prints advertisements for its successor unless asked not to.
    env = dict(os.environ, NO_MKDOCS_2_WARNING="1", PYTHONPATH="")
    done = subprocess.run(
        command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode != 0:
        name = Path(command[0]).name
        print(done.stdout[-6000:])
        raise WorkbookError(
            f"{name} could not make the book (its last lines are above)",
            "mend the page that it names; or rm -r .workbook/book, and make book again",
        )
