# SPDX-License-Identifier: MIT
# In make test MORE=1: eight students are graded in boxes.
"""A class from folder to report: layouts, likeness, interruption, and what pages hold.

With the argument `thirty` the whole made class (class/make_class.py) is graded; without it a few.
"""

from __future__ import annotations

import csv
import html.parser
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree as ElementTree
import zipfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent / "class"))
import make_class

from workbook.base.project import ROOT, WorkbookError, find_lesson, lessons
from workbook.running import sandbox
from workbook.teach import alike, grading, layout, report, scoring

KNOWN = lessons()
SLUG = "boundary_checks.cu"
FEW = ("anna", "emil", "mia", "noah", "paul", "vera", "will", "xena")


class Place(unittest.TestCase):
    def setUp(self) -> None:
        place = tempfile.TemporaryDirectory(prefix="workbook-test-")
        self.addCleanup(place.cleanup)
        self.place = Path(place.name)

    def file(self, path: str, text: str = "x") -> Path:
        made = self.place / path
        made.parent.mkdir(parents=True, exist_ok=True)
        made.write_text(text)
        return made

    def zip(self, path: str, members: dict[str, str]) -> None:
        (self.place / path).parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(self.place / path, "w") as archive:
            for name, text in members.items():
                archive.writestr(name, text)

    def collect(self, wanted: str = "") -> layout.Collected:
        chosen = [find_lesson(number) for number in wanted.split()]
        return layout.collect(self.place, KNOWN, chosen or None)

    def taken(self, wanted: str = "") -> set[tuple[str, str]]:
        return {(s.student, s.lesson.number) for s in self.collect(wanted).submissions if s.data}


class Layouts(Place):
    def test_folders_per_student(self) -> None:
        self.file(f"anna/{SLUG}")
        self.file(f"ben/lessons/02_boundary_checks/{SLUG}")
        self.file("ben/lessons/03_grid_stride/grid_stride.cu")
        self.assertEqual(self.taken(), {("anna", "02"), ("ben", "02"), ("ben", "03")})
        self.assertEqual(self.collect().layouts, [layout.STUDENTS])

    def test_folders_per_lesson(self) -> None:
        self.file("02_boundary_checks/anna.cu")
        self.file("02_boundary_checks/ben_boundary_checks.cu")
        self.file(f"02_boundary_checks/cleo/{SLUG}")
        self.zip("03/anna.zip", {"grid_stride.cu": "x"})
        wanted = {("anna", "02"), ("ben", "02"), ("cleo", "02"), ("anna", "03")}
        self.assertEqual(self.taken(), wanted)
        self.assertIn(layout.LESSONS, self.collect().layouts)

    def test_moodle_with_folders_flat_and_as_one_zip(self) -> None:
        self.file(f"Anna Ek_4711_assignsubmission_file_/{SLUG}")
        self.file(f"Ben O'Neil_4712_assignsubmission_file_{SLUG}")
        self.zip("Cleo_4713_assignsubmission_file_/mine.zip", {f"a/b/{SLUG}": "x"})
        students = {("Anna Ek", "02"), ("Ben O'Neil", "02"), ("Cleo", "02")}
        self.assertEqual(self.taken(), students)
        self.assertIn(layout.MOODLE, self.collect().layouts)
        self.setUp()
        self.zip("download.zip", {
            f"Anna_1_assignsubmission_file_/{SLUG}": "x",
            f"Ben_2_assignsubmission_file_/{SLUG}": "y",
        })  # fmt: skip
        self.assertEqual(self.taken(), {("Anna", "02"), ("Ben", "02")})

    def test_github_classroom(self) -> None:
        for name in ("anna", "anton", "ben-k"):
            self.file(f"week-2-submissions/week-2-{name}/lessons/02_boundary_checks/{SLUG}", name)
        found = self.taken()
        self.assertEqual(found, {("anna", "02"), ("anton", "02"), ("ben-k", "02")})
        self.assertEqual(self.collect().layouts, [layout.CLASSROOM])

    def test_names_of_students_that_begin_alike(self) -> None:
        for name in ("ben-k", "ben-x"):
            self.file(f"week-2-submissions/week-2-{name}/lessons/02_boundary_checks/{SLUG}", name)
        self.assertEqual(self.taken(), {("ben-k", "02"), ("ben-x", "02")})
        self.place /= "week-2-submissions"
        self.assertEqual(self.taken(), {("ben-k", "02"), ("ben-x", "02")})

    def test_two_assignments_of_github_classroom(self) -> None:
        for name in ("anna", "ben-x"):
            self.file(f"week-2-submissions/week-2-{name}/lessons/02_boundary_checks/{SLUG}", name)
        path = "lessons/18_tree_reduction/tree_reduction.cu"
        self.file(f"sums-submissions/sums-anna/{path}")
        self.file(f"noah/{SLUG}")
        self.assertEqual(
            self.taken(), {("anna", "02"), ("ben-x", "02"), ("anna", "18"), ("noah", "02")}
        )
        self.assertEqual(self.collect().layouts, [layout.STUDENTS, layout.CLASSROOM])

    def test_files_named_after_students(self) -> None:
        self.file("anna-boundary_checks.cu")
        self.file("ben_02_boundary_checks.cu")
        self.file(SLUG)
        self.assertEqual(self.taken(), {("anna", "02"), ("ben", "02")})
        self.assertIn(f"{SLUG}: nothing says whose file this is", self.collect().remarks)

    def test_what_is_wrong_is_reported(self) -> None:
        self.file(f"anna/{SLUG}", "one")
        self.file(f"anna/new/{SLUG}", "two")
        self.file(f"ben/{SLUG}", " \n")
        self.file("cleo/Boundary_Checks (1).cu")
        self.file("dev/boundry_checks.cu")
        self.file("emil/notes.txt")
        self.file(f"fay/{SLUG}", "same")
        self.file(f"fay/copy/{SLUG}", "same")
        self.file(f"gus/{SLUG}", "x" * (5 << 20))
        (self.place / "hana").mkdir()
        os.mkfifo(self.place / "hana" / SLUG)
        (self.place / "ivan").mkdir()
        (self.place / "ivan" / SLUG).symlink_to("/etc/passwd")
        self.file("jo/x.txt")
        self.file("jo.zip", "no zip file")
        collected = self.collect("02")
        said = {one.student: one.problem for one in collected.submissions}
        for student, words in {
            "anna": "duplicate: anna/boundary_checks.cu and anna/new/boundary_checks.cu differ",
            "ben": "empty: ben/", "cleo": "misnamed: cleo/Boundary_Checks (1).cu should be",
            "dev": "misnamed", "emil": "missing", "jo": "missing",
            "gus": "unreadable: gus/boundary_checks.cu holds more than 4 MiB",
        }.items():  # fmt: skip
            self.assertIn(words, said[student])
        self.assertEqual(said["fay"], "")
        remarks = "\n".join(collected.remarks)
        for words in ("is a pipe: left out", f"ivan/{SLUG} is a link", "jo.zip is no zip file"):
            self.assertIn(words, remarks)

    def test_a_zip_file_writes_nothing(self) -> None:
        self.zip("anna.zip", {f"../../../../escaped/{SLUG}": "x", f"/tmp/{SLUG}2": "y"})
        self.file(f"ben/{SLUG}")
        before = sorted(self.place.rglob("*"))
        self.assertEqual(self.taken(), {("anna", "02"), ("ben", "02")})
        self.assertEqual(sorted(self.place.rglob("*")), before)

    def test_an_empty_folder(self) -> None:
        with self.assertRaises(WorkbookError):
            self.collect()


class Alike(unittest.TestCase):
    def test_renamed_code_is_found_and_what_all_have_is_not(self) -> None:
        base = "__global__ void k(float* a, int n) { int i = threadIdx.x; a[i] = 1.0f; }\n"
        odd = (
            "for (int q = n - 1; q >= 3; q -= 2) { a[q ^ 1] += 2.5f * a[q] - b[q & 7]; c %= 5; }\n"
        )
        other = "while (n > 1) { int h = (n + 1) / 2; if (t < h && t + h < n) s[t] += s[t + h]; }\n"
        texts = {f"s{n}": base for n in range(20)}
        texts["one"] = base + odd
        texts["two"] = base + "// mine\n" + odd.replace("q", "index").replace(" c ", " total ")
        texts["three"] = base + other
        found = alike.pairs(texts, [base])
        self.assertEqual([pair[1:] for pair in found], [("one", "two")])
        self.assertEqual(alike.pairs(texts, [base + odd]), [])


class FirstCauses(unittest.TestCase):
    def test_it_is_the_error_whatever_stands_before(self) -> None:
        stopped = "error: the compiler was stopped: it wrote more than 256 MiB"
        for text, first in {
            "/tmp/c.s: Assembler messages:\n/tmp/c.s:3: Error: not found": "/tmp/c.s:3:",
            f"gcc: internal compiler error: File size limit exceeded\n{stopped}": stopped,
            "only words\nand more": "only words",
        }.items():
            self.assertTrue(grading._first_line(text).startswith(first), text)


class Links(html.parser.HTMLParser):
    """What a page refers to, and whether it is labelled."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.places: list[str] = []
        self.tags: list[str] = []
        self.lang = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.tags.append(tag)
        self.lang = self.lang or found.get("lang") or ""
        self.places += [found[name] or "" for name in ("src", "href", "srcset") if name in found]


class Reports(Place):
    """What students choose (names, text, output) is text in every report, and nothing else."""

    def test_hostile_names_and_texts(self) -> None:
        try:
            import jinja2  # noqa: F401
        except ImportError:
            self.skipTest("jinja2 is not here: make grade-class fetches it")
        lesson = find_lesson("02")
        odd = "</pre><script>alert(1)</script>\x00\x1b[2J\ud800"
        names = ("=cmd|' /C calc'!A0", "<script>alert(1)</script>", "../../up", "..", "a/b", "a b")
        case = {"name": odd, "task": 1, "efficient": False, "right": False, "safe": True,
                "passed": False, "skipped": "", "ending": "", "message": odd}  # fmt: skip
        result = {"status": "not passed", "correct": False, "safe": True, "efficient": None,
                  "first_cause": odd, "cases": [case], "screen": odd, "build_error": "",
                  "causes": [{"words": odd, "line": 3, "code": odd}]}  # fmt: skip
        collected = layout.Collected(
            [layout.Submission(name, lesson, odd, b"x") for name in names], ["x"], [odd]
        )
        results = {(name, lesson.id): result for name in names}
        rows = report.rows_of(collected, results, scoring.Rules())
        out = self.place / "out"
        report.write(out, collected, rows)
        self.assertEqual(len(list((out / "students").iterdir())), len(names))
        self.assertEqual({path.name for path in self.place.iterdir()}, {"out"})
        for path in (out / "index.html", *(out / "students").iterdir()):
            self.assertNotIn("script", Links(path.read_text(encoding="utf-8")).tags)
        ElementTree.parse(out / "junit.xml")
        with open(out / "grades.csv", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                self.assertFalse([cell for cell in row.values() if cell and cell[0] in "=+-@"])
        json.loads((out / "class.json").read_text(encoding="utf-8"))


def has_jinja() -> bool:
    question = ["sh", str(ROOT / "common" / "workbook" / "run"), "python", "-c", "import jinja2"]
    return subprocess.run(question, capture_output=True).returncode == 0


@unittest.skipIf(sandbox.missing(), f"no sandbox: {sandbox.missing()}")
@unittest.skipUnless(has_jinja(), "jinja2 is not here: make grade-class fetches it")
class Whole(Place):
    """The command, as an instructor gives it."""

    students: tuple[str, ...] = FEW

    def command(self, goal: str, **settings: str) -> list[str]:
        self.environment = {**os.environ, **settings}
        return ["sh", str(ROOT / "common" / "workbook" / "run"), *goal.split()]

    def grade(self) -> str:
        made = self.command("grade-class", SUBMISSIONS=str(self.handed_in), OUT=str(self.out))
        done = subprocess.run(
            made, env=self.environment, capture_output=True, text=True, timeout=280, check=False
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_a_class(self) -> None:
        self.handed_in, self.out = self.place / "handed in", self.place / "out"
        make_class.make(self.handed_in, only=self.students)
        before = {p: p.read_bytes() for p in self.handed_in.rglob("*") if p.is_file()}
        self.interrupt()
        said = self.grade()
        self.assertIn("graded by an earlier run", said)
        self.assertIn("folders per student, zip files, a Moodle download", said)
        self.assertEqual(before, {p: p.read_bytes() for p in before})
        with open(self.out / "grades.csv", encoding="utf-8") as file:
            rows = {row["student"]: row for row in csv.DictReader(file)}
        expected = {
            name: status for name, status in make_class.EXPECTED.items()
            if name in self.students or name in ("yuri", "zoe", "abe")
        }  # fmt: skip
        self.assertEqual({name: row["status"] for name, row in rows.items()}, expected)
        for name, row in rows.items():
            full = expected[name] == "passed"
            self.assertEqual(float(row["points"]) == 100, full, name)
            self.assertEqual(row["correct"] == row["safe"] == row["efficient"] == "yes", full, name)
            if expected[name] in ("refused", "tampered", "unchanged", "missing"):
                self.assertEqual(float(row["points"]), 0, name)
        self.assertIn("bounds check", rows["emil"]["first cause"])
        self.pages(set(expected))
        data = json.loads((self.out / "class.json").read_text(encoding="utf-8"))
        self.assertEqual({one["student"]: one["status"] for one in data["submissions"]}, expected)
        suites = ElementTree.parse(self.out / "junit.xml").getroot()
        self.assertEqual(len(suites), len(expected))
        counts = {int(suite.get("tests", 0)) for suite in suites}
        self.assertEqual(counts, {len(suites[0])})
        started = time.monotonic()
        self.assertNotIn("Grading", self.grade())
        self.assertLess(time.monotonic() - started, 30)

    def interrupt(self) -> None:
        """Ctrl-C once the first file is graded: it stops at once, and what is done stays."""
        folders = {"SUBMISSIONS": str(self.handed_in), "OUT": str(self.out)}
        made = self.command("grade-class", **folders, JOBS="1")
        process = subprocess.Popen(
            made, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            start_new_session=True,
        )  # fmt: skip
        until = time.monotonic() + 120
        while not list(self.out.glob("graded/*/*.json")) and time.monotonic() < until:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=20)
        self.assertEqual(process.returncode, 130, said)
        self.assertFalse((self.out / "grades.csv").exists())

    def pages(self, students: set[str]) -> None:
        """Self-contained, and each student's page names no other student."""
        index = (self.out / "index.html").read_text(encoding="utf-8")
        for path in (self.out / "index.html", *(self.out / "students").glob("*.html")):
            text = path.read_text(encoding="utf-8")
            page = Links(text)
            self.assertEqual(page.lang, "en")
            self.assertNotIn("script", page.tags)
            for link in page.places:
                self.assertTrue((path.parent / link).is_file(), link)
            self.assertNotRegex(text, r"https?://|@import|url\(")
            self.assertIn("prefers-color-scheme: dark", text)
        for name in students:
            self.assertIn(f"students/{name}.html", index)
            text = (self.out / "students" / f"{name}.html").read_text(encoding="utf-8")
            for other in students - {name}:
                self.assertNotRegex(text.partition("</style>")[2], rf"\b{other}\b")

    def test_autograders(self) -> None:
        lesson = find_lesson("02")
        wrong = self.file(SLUG, make_class.texts(lesson)["emil"])
        for source, code, points in ((lesson.solution_file, 0, 100.0), (wrong, 1, None)):
            for style in ("github", "score") if code else ("json",):  # they differ in words only
                out = self.place / f"{style}.out"
                listed = self.place / "github_output"
                made = self.command("autograde 02", FILE=str(source), FORMAT=style, OUT=str(out),
                                    GITHUB_OUTPUT=str(listed))  # fmt: skip
                done = subprocess.run(made, env=self.environment, capture_output=True, text=True)
                self.assertEqual(done.returncode, code, done.stderr)
                found = json.loads(out.read_text(encoding="utf-8"))
                if style == "score":
                    self.assertTrue(0 < found < 1)
                elif style == "json":
                    self.assertEqual(found["status"], "not passed" if code else "passed")
                else:
                    score = sum(test["score"] for test in found["tests"])
                    self.assertEqual(score, points or score)
                    self.assertEqual(found.get("score", score), round(score, 2))
                self.assertEqual(listed.exists(), style == "github" or listed.exists())
        made = self.command("autograde 02", FILE=str(self.place / "nothing.cu"), FORMAT="score")
        done = subprocess.run(made, env=self.environment, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (1, "0.0000\n"), done.stderr)

    def gradescope(self, text: str) -> dict:
        """results.json of the entry script, as Gradescope calls it."""
        base = self.place / "autograder"
        (base / "submission").mkdir(parents=True, exist_ok=True)
        (base / "submission" / SLUG).write_text(text, encoding="utf-8")
        script = (
            ROOT / "common" / "workbook" / "teach" / "autograders" / "gradescope" / "run_autograder"
        )
        settings = {"AUTOGRADER": str(base), "WORKBOOK": str(ROOT)}
        done = subprocess.run(
            ["sh", str(script)], env={**os.environ, **settings}, capture_output=True, text=True
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads((base / "results" / "results.json").read_text(encoding="utf-8"))

    def test_gradescope(self) -> None:
        lesson = find_lesson("02")
        texts = make_class.texts(lesson)
        for name in self.students if len(self.students) > 20 else ("paul",):
            if name not in texts:
                continue
            found = self.gradescope(texts[name])
            expected = make_class.EXPECTED[name]
            self.assertEqual(found["score"] == 100, expected == "passed", name)
            if expected != "empty":
                self.assertTrue(found["output"].startswith(expected), (name, found["output"]))
            most = sum(test["max_score"] for test in found["tests"])
            self.assertEqual(most, 100)

    def test_without_protection_it_stops(self) -> None:
        self.file(f"anna/{SLUG}")
        made = self.command("grade-class", SUBMISSIONS=str(self.place), OUT=str(self.place / "out"),
                            WORKBOOK_BWRAP="/nowhere")  # fmt: skip
        done = subprocess.run(made, env=self.environment, capture_output=True, text=True)
        self.assertEqual(done.returncode, 3)
        for words in ("bubblewrap is not installed", "not protected: network", "TRUST=1"):
            self.assertIn(words, done.stderr)


if __name__ == "__main__":
    if "thirty" in sys.argv:
        sys.argv = [sys.argv[0], "Whole.test_a_class", "Whole.test_gradescope"]
        Whole.students = tuple(make_class.EXPECTED)
    unittest.main()
