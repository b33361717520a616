# SPDX-License-Identifier: MIT
"""Course maps: their lessons, demos and figures exist, and their times fit."""

from __future__ import annotations

import re
import unittest

from workbook.base.project import ROOT, WorkbookError, lessons
from workbook.lesson import course_maps
from workbook.lesson.course_maps import Course, Session

PAGE = (ROOT / "lessons" / "README.md").read_text(encoding="utf-8")
MAPS = PAGE.partition("## Course maps")[2]


class Maps(unittest.TestCase):
    def setUp(self) -> None:
        self.known = lessons()

    def test_the_page_has_four_maps(self) -> None:
        found = re.findall(r"^### (.+)$", MAPS, re.MULTILINE)
        self.assertEqual(found, ["Three hours", "One day", "Two days", "A term"])

    def test_every_page_and_figure_exists(self) -> None:
        links = re.findall(r"\]\(([^)]+)\)", MAPS)
        self.assertGreater(len(links), 2 * len(self.known))
        for link in sorted({*links}):
            with self.subTest(link=link):
                self.assertTrue((ROOT / "lessons" / link).is_file(), f"{link} does not exist")

    def test_every_demo_is_of_a_lesson_with_a_solution(self) -> None:
        solved = {one.number for one in self.known if one.solution_file.is_file()}
        demos = re.findall(r"`make demo-(\d\d)`", MAPS)
        self.assertGreater(len(demos), len(self.known))
        for number in sorted({*demos}):
            self.assertIn(number, solved)

    def test_the_times_of_each_table_add_up(self) -> None:
        pattern = r"\*\*(.+?)\*\*: (\d+) of (\d+) minutes\.\n\n\|.*\n\|.*\n((?:\|.*\n)+)"
        sessions = re.findall(pattern, MAPS)
        self.assertEqual(len(sessions), sum(len(one.sessions) for one in course_maps.COURSES))
        for title, stated, length, rows in sessions:
            with self.subTest(session=title):
                at = 0
                for row in rows.splitlines():
                    time, minutes = (cell.strip() for cell in row.split("|")[1:3])
                    self.assertEqual(time, f"{at // 60}:{at % 60:02}")
                    at += int(minutes)
                self.assertEqual(at, int(stated))
                self.assertLessEqual(at, int(length))

    def test_what_is_solved_takes_the_time_that_its_page_states(self) -> None:
        rows = re.findall(r"\| (\d+) \| \[(\d\d) · [^|]+ \| solve: `make (\d\d)` \|", MAPS)
        self.assertGreater(len(rows), len(self.known))
        stated = {one.number: course_maps.stated_minutes(one) for one in self.known}
        for minutes, number, goal in rows:
            self.assertEqual((int(minutes), number), (stated[number], goal))

    def test_a_term_has_every_lesson_once_and_no_week_is_too_long(self) -> None:
        weeks = course_maps.weeks_of(self.known)
        self.assertEqual([part.lesson for week in weeks for part in week], self.known)
        for week in weeks:
            self.assertLessEqual(sum(part.minutes for part in week), course_maps.WEEK_MINUTES)
        self.assertLessEqual(len(weeks), course_maps.WEEKS)

    def test_lessons_come_in_order(self) -> None:
        for course in course_maps.COURSES:
            parts = [
                part
                for session in course.sessions
                for part in course_maps.parts_of(session, self.known)
            ]
            numbers = [part.lesson.number for part in parts if part.lesson]
            self.assertEqual(numbers, sorted(set(numbers)), course.title)

    def test_a_session_that_is_too_long_is_refused(self) -> None:
        fits = Session("short", 70, "00, 01")
        self.assertEqual(
            [part.minutes for part in course_maps.parts_of(fits, self.known)], [30, 40]
        )
        with self.assertRaisesRegex(WorkbookError, "takes 70 minutes, and has 69"):
            course_maps.parts_of(Session("short", 69, "00, 01"), self.known)

    def test_a_lesson_that_does_not_exist_is_refused(self) -> None:
        for words in ("99", "show 99", "solve 01"):
            with self.assertRaisesRegex(WorkbookError, f"names `{words}`: no such lesson"):
                course_maps.parts_of(Session("wrong", 60, words), self.known)

    def test_courses_have_a_sentence_of_their_own(self) -> None:
        self.assertTrue(all(isinstance(one, Course) and one.about for one in course_maps.COURSES))


if __name__ == "__main__":
    unittest.main()
