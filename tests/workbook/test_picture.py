# SPDX-License-Identifier: MIT
# In make test MORE=1: pictures of two dozen programs are drawn.
"""Pictures: what is read from a trace, what is chosen to be drawn, and the files themselves."""

from __future__ import annotations

import contextlib
import io
import json
import os
import struct
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import numpy as np

from workbook.answers import catalog
from workbook.base.project import Lesson
from workbook.build import programs
from workbook.facts.findings import Finding
from workbook.pictures import draw_access, draw_map, draw_time, picture, theme, trace
from workbook.show import demo

BUILD = Path(os.environ["WORKBOOK_TEST_BUILD"])
FIXTURE = Path(__file__).resolve().parent / "fixture"
LESSON = Lesson("00_double_all", FIXTURE)
ALL = 0xFFFFFFFF


def access(warp: int, line: int, kind: str, offsets: list[int], **more: object) -> list[object]:
    entry = {"block": 0, "space": "global", "bytes": 4, "bad": 0, "array": 0, **more}
    mask = (1 << len(offsets)) - 1
    return ["access", entry["block"], warp, line, entry["space"], kind, entry["bytes"], mask,
            entry["bad"], entry["array"], offsets]  # fmt: skip


def made(*events: object, block: tuple[int, int, int] = (64, 1, 1)) -> trace.Launch:
    """A launch with lines 0 to 9 at numbers 10 to 19, as it is read from a file."""
    head = [
        {"launch": {"serial": 1, "kernel": "k", "grid": [2, 1, 1], "block": list(block),
                    "shared": [{"name": "tile", "offset": 0, "bytes": 4096, "dynamic": False}]}},
        *({"line": {"id": i, "file": "/x/a.cu", "line": 10 + i}} for i in range(10)),
        {"array": {"id": 0, "name": "out", "subject": "`out`", "element_bytes": 4, "bytes": 400,
                   "extents": []}},
    ]  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t"
        path.write_text("".join(json.dumps(e) + "\n" for e in [*head, *events]) + '["access",0,')
        return trace.read(path).launches[0]


class Traces(unittest.TestCase):
    def test_sectors_and_bytes(self) -> None:
        straight = made(access(0, 0, "load", [4 * i for i in range(32)])).accesses[0]
        self.assertEqual(
            {k: len(v) for k, v in straight.sectors().items()}, dict.fromkeys(range(4), 32)
        )
        apart = made(access(0, 0, "load", [128 * i for i in range(32)])).accesses[0]
        self.assertEqual(len(apart.sectors()), 32)
        outside = made(access(0, 0, "load", [0, 400], bad=2)).accesses[0]
        self.assertEqual((len(outside.sectors()), outside.bad), (1, {1}))

    def test_passes_over_the_banks(self) -> None:
        for stride, passes in ((1, 1), (2, 2), (8, 8), (32, 32), (33, 1), (0, 1)):
            offsets = [4 * stride * i for i in range(32)]
            one = made(access(0, 0, "load", offsets, space="shared")).accesses[0]
            self.assertEqual(one.wavefronts(), passes, f"stride {stride}")

    def test_a_line_that_is_cut_short_ends_it(self) -> None:
        launch = made(access(0, 0, "load", [0]))
        self.assertEqual((len(launch.accesses), launch.whole), (1, False))
        self.assertEqual(launch.title(), "k<<<2, 64>>>")
        self.assertEqual(launch.accesses[0].line, trace.Line("a.cu", 10))

    def test_the_most_telling_access_of_each_line_is_drawn(self) -> None:
        near = [4 * i for i in range(32)]
        launch = made(
            access(0, 0, "load", near), access(1, 0, "load", [64 * i for i in range(32)]),
            access(0, 1, "store", near), access(1, 1, "store", [384, 400], bad=2),
        )  # fmt: skip
        chosen = [(a.line.number, a.warp) for a in draw_access.telling(launch, "global")]
        self.assertEqual(chosen, [(10, 1), (11, 1)])
        self.assertEqual(draw_access.telling(launch, "shared"), [])

    def test_fewer_sectors_would_do_only_where_a_layout_could_do_it(self) -> None:
        for offsets, words in (
            ([4 * i for i in range(32)], "4 sectors for 128 bytes: as few as can be"),
            ([32 * i for i in range(32)], "32 sectors for 128 bytes, where 4 would do"),
            ([32 * (i * 7 % 32) for i in range(32)], "the addresses are scattered"),
        ):
            one = made(access(0, 0, "load", offsets)).accesses[0]
            self.assertIn(words, draw_access.sector_words(one))

    def test_atomics_that_meet_on_a_word_are_counted(self) -> None:
        for offsets, words in (
            ([0] * 32, "32 atomics on one word, done one after the other"),
            ([4 * (i % 8) for i in range(32)], "32 atomics on 8 words: up to 4 on one"),
            ([4 * i for i in range(32)], "32 atomics, each on a word of its own"),
        ):
            one = made(access(0, 0, "atomic", offsets)).accesses[0]
            self.assertIn(words, draw_access.atomic_words(one))

    def test_a_case_that_shares_memory_between_warps_shows_most(self) -> None:
        def shows(*events: list[object]) -> int:
            with tempfile.NamedTemporaryFile("w") as file:
                lines = (json.dumps(event, separators=(",", ":")) for event in events)
                file.write('{"launch": {"shared": [{"name": "tile"}]}}\n' + "\n".join(lines))
                file.flush()
                return picture._shows(Path(file.name))

        loads, first, second = (
            access(0, 0, "load", [0]),
            access(0, 0, "store", [0], space="shared"),
            access(1, 0, "store", [4], space="shared"),
        )
        self.assertEqual(
            [shows(), shows(loads), shows(loads, first), shows(first, second)], [0, 1, 2, 3]
        )

    def test_a_race_between_warps_is_preferred_to_one_within(self) -> None:
        within = access(0, 0, "store", [0, 0], space="shared")
        launch = made(
            within, access(0, 1, "load", [4, 0], space="shared"),
            access(0, 0, "store", [8], space="shared"), access(1, 1, "load", [8], space="shared"),
        )  # fmt: skip
        pair = draw_time.racing(launch, {"code": "race-shared", "line": 11, "other": {"line": 10}})
        self.assertEqual([one.warp for one in pair], [0, 1])

    def test_the_racing_pair_is_found(self) -> None:
        launch = made(
            access(0, 0, "store", [0, 4], space="shared"),
            access(1, 1, "load", [8, 12], space="shared"),
            access(1, 1, "load", [4], space="shared"),
        )
        finding = {"code": "race-shared", "line": 11, "other": {"line": 10}}
        pair = draw_time.racing(launch, finding)
        self.assertEqual([(a.line.number, a.warp, a.offsets) for a in pair or ()],
                         [(10, 0, [0, 4]), (11, 1, [4])])  # fmt: skip
        self.assertIsNone(draw_time.racing(launch, {**finding, "line": 15}))

    def test_the_launch_of_the_finding_is_chosen(self) -> None:
        small, bad = made(access(0, 0, "load", [0])), made(access(0, 0, "load", [400], bad=1))
        large = made(*(access(0, 0, "load", [0]) for _ in range(24)))
        found = Finding({"code": "out-of-bounds-global", "kernel": "k", "line": 10})
        self.assertIs(picture.choose([small, large, bad], found), bad)
        self.assertIs(picture.choose([small, large, bad], None), large)
        self.assertIsNone(picture.choose([], None))


class Drawings(unittest.TestCase):
    def files(self, mutant: str, **environment: str) -> tuple[dict[str, Path], str]:
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        if mutant == "skeleton":
            program, _ = programs.compiled(BUILD, LESSON, programs.skeleton_file(BUILD, LESSON))
        elif mutant == "solution":
            program = BUILD / "lessons" / "solution_00_double_all"
        else:
            _, program, _ = demo.compile_as_student(BUILD, catalog.find(LESSON, mutant))
        out = io.StringIO()
        with mock.patch.dict(os.environ, environment), contextlib.redirect_stdout(out):
            made = picture.draw(LESSON, program, BUILD, folder)
        return {path.stem: path for path, _ in made}, out.getvalue()

    def check(self, path: Path, *words: str) -> None:
        png = path.read_bytes()
        self.assertEqual(png[:8], b"\x89PNG\r\n\x1a\n")
        width, height = struct.unpack(">II", png[16:24])
        self.assertTrue(400 < width < 1600 and 150 < height < 1600, f"{width} x {height}")
        svg = path.with_suffix(".svg").read_text()
        for word in words:
            self.assertIn(word, svg)

    def test_a_right_program(self) -> None:
        files, said = self.files("solution")
        self.assertIn("passes", said)
        self.assertEqual(set(files), {"access", "time"})
        self.check(files["access"], "32-byte", "double_all_kernel")
        self.check(files["time"], "loads, global")

    def test_an_access_out_of_bounds(self) -> None:
        files, said = self.files("no_guard")
        self.assertIn("does not pass", said)
        self.check(files["access"], "lanes outside of the array")

    def test_a_race_and_the_dark_theme(self) -> None:
        files, _ = self.files("race", THEME="dark")
        self.check(files["time-dark"], "the two starred accesses", theme.DARK.paper.lower())

    def test_wrong_elements_and_who_wrote_them(self) -> None:
        files, _ = self.files("skeleton")
        self.check(files["errors"], "elements are wrong")

    def test_maps_of_a_matrix_and_its_owners(self) -> None:
        c = draw_map.sample(96, np.arange(96) % 12 > 9, columns=12)
        c.writers = {
            i: draw_map.Writer("kernel", 7, (i % 12 // 4, i // 48, 0), (i % 4, i // 12 % 4, 0))
            for i in range(95)
        }
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        with theme.drawing(theme.LIGHT):
            self.assertIsNone(draw_map.owners(c, theme.LIGHT), "one writer is not known")
            c.writers[95] = draw_map.Writer("nobody")
            self.check(theme.save(draw_map.owners(c, theme.LIGHT), folder, "o")[1],
                       "threadIdx.x, threadIdx.y", "block 2,1,0", "no thread")  # fmt: skip
            self.check(theme.save(draw_map.errors(c, theme.LIGHT), folder, "e")[1],
                       "16 of 96", "column")  # fmt: skip

    def test_an_unknown_case_lists_the_known(self) -> None:
        with self.assertRaisesRegex(Exception, "task 2: counts up"):
            self.files("solution", CASE="nonsense")


if __name__ == "__main__":
    unittest.main()
