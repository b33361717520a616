# SPDX-License-Identifier: MIT
"""Timelines of answers: why nothing overlaps, in words with the line, and their picture."""

from __future__ import annotations

import struct
import tempfile
import unittest
from pathlib import Path

from workbook import diagnose
from workbook.facts import comparisons, counters, timeline
from workbook.pictures import draw_timeline, theme


def missed(name: str) -> comparisons.Comparison:
    record = {"left": name, "relation": ">=", "right": 0.5, "got": 0.1, "want": 0.5}
    made = comparisons.of(record)
    assert made
    return made


CHECK = missed("timeline_overlap")


def one(kind: str, stream: int, begin: int, end: int, line: int, **more: object) -> dict:
    return {"kind": kind, "stream": stream, "begin": begin, "end": end, "line": line, "bytes": 4,
            "pageable": False, "name": "", "file": "a.cu", **more}  # fmt: skip


def chunk(stream: int, begin: int) -> list[dict]:
    return [
        one("up", stream, begin, begin + 10, 61),
        one("kernel", stream, begin + 10, begin + 20, 25),
        one("down", stream, begin + 20, begin + 30, 64),
    ]


def said(*intervals: dict, check: comparisons.Comparison = CHECK) -> str:
    return diagnose.of_timeline(check, [{"count": {}}, {"timeline": list(intervals)}])


class Causes(unittest.TestCase):
    def test_nothing_is_said_of_a_pipeline_or_of_other_checks(self) -> None:
        pipeline = [part for k in range(4) for part in chunk(k + 1, 10 * k)]
        self.assertEqual(said(*pipeline), "")
        self.assertEqual(said(*chunk(0, 0), *chunk(0, 30), check=missed("launches")), "")
        self.assertEqual(diagnose.of_timeline(CHECK, []), "")

    def test_a_damaged_timeline_is_none(self) -> None:
        whole = {"timeline": chunk(1, 0), "returned": 5}
        self.assertEqual(timeline.last([whole]), timeline.Timeline(chunk(1, 0), 5))
        for damage in (
            {"timeline": "forged"},
            {"timeline": [1, 2]},
            {"timeline": [{"kind": "up"}]},
            {"timeline": [{**one("up", 1, 0, 9, 1), "begin": "0"}]},
            {"timeline": [one("up", 1, 0, 9, 1, device="0")]},
            {**whole, "returned": []},
        ):
            with self.subTest(damage):
                self.assertIsNone(timeline.last([whole, damage]))
                self.assertEqual(counters.measured([damage]), {})
                self.assertEqual(diagnose.of_timeline(CHECK, [damage]), "")

    def test_a_wait_before_other_devices_have_work(self) -> None:
        def on(device: int, begin: int, *, waits: bool) -> list[dict]:
            work = [one("kernel", device + 5, begin, begin + 9, 25, device=device)]
            wait = one("wait", device + 5, 0, begin + 9, 31, device=device, name="a stream")
            return [*work, wait] if waits else work

        serial = [part for d in range(4) for part in on(d, 10 * d, waits=True)]
        self.assertEqual(
            said(*serial),
            "the host waits for a stream on line 31, and devices 1, 2 and 3 have no work yet: "
            "they are idle",
        )
        self.assertIn("and device 1 has no work yet: it is idle", said(*serial[:4]))
        together = [part for d in range(4) for part in on(d, d, waits=False)]
        self.assertEqual(said(*together, *on(3, 20, waits=True)), "")

    def test_a_blocking_read_before_other_devices_have_work(self) -> None:
        kernel = one("kernel", 5, 0, 9, 25, device=0)
        wait = one("wait", 5, 0, 12, 31, device=0, name="pageable memory")
        read = one("down", 5, 9, 12, 31, device=0, pageable=True)
        other = one("kernel", 6, 13, 20, 25, device=1)
        self.assertEqual(
            said(kernel, wait, read, other),
            "the host waits for the copy from or to pageable memory on line 31, and device 1 has "
            "no work yet: it is idle",
        )

    def test_memory_that_is_not_pinned_is_named_first(self) -> None:
        wait = one("wait", 1, 0, 10, 61, name="pageable memory")
        copy = one("up", 1, 0, 10, 61, pageable=True)
        text = said(wait, copy, *chunk(0, 10))
        self.assertIn("the copy on line 61", text)
        self.assertIn("not pinned", text)

    def test_streams(self) -> None:
        self.assertIn("everything is in the default stream (the first on line 61)",
                      said(*chunk(0, 0), *chunk(0, 30)))  # fmt: skip
        self.assertIn("all 2 chunks are in one stream", said(*chunk(3, 0), *chunk(3, 30)))
        mixed = [*chunk(1, 0), *chunk(2, 30)]
        kernels = [dict(i, stream=0) if i["kind"] == "kernel" else i for i in mixed]
        self.assertTrue(said(*kernels).startswith("the kernels are in the default stream"))
        ups = [dict(i, stream=0) if i["kind"] == "up" else i for i in mixed]
        self.assertTrue(said(*ups).startswith("the uploads on line 61 are in the default stream"))
        two = [part for k in range(4) for part in chunk(1 + k % 2, 15 * k)]
        self.assertIn("in two streams", said(*two))

    def test_all_uploads_before_the_first_kernel(self) -> None:
        parts = [part for k in range(6) for part in chunk(1 + k % 3, 10 * k)]
        steps = sorted(parts, key=lambda i: ("up", "kernel", "down").index(i["kind"]))
        self.assertIn("all uploads on line 61 are queued before the first kernel", said(*steps))
        self.assertEqual(said(*parts), "")
        apart = [dict(i, stream=1 + n % 6) for n, i in enumerate(steps)]  # a stream for each
        self.assertEqual(said(*apart), "")

    def test_all_chunks_of_one_stream_before_those_of_the_next(self) -> None:
        parts = [part for k in range(6) for part in chunk(1 + k // 2, 10 * k)]
        self.assertIn("all chunks of one stream are queued before those of the next", said(*parts))
        turns = [part for k in range(6) for part in chunk(1 + k % 3, 10 * k)]
        self.assertEqual(said(*turns), "")
        single = [part for k in range(3) for part in chunk(1 + k, 10 * k)]  # a stream for each
        self.assertEqual(said(*single), "")

    def test_one_piece(self) -> None:
        self.assertIn("one chunk", said(*chunk(1, 0)))

    def test_a_wait_in_the_loop_is_one_after_which_the_device_is_idle(self) -> None:
        wait = one("wait", 1, 5, 30, 70, name="a stream")
        text = said(*chunk(1, 0), wait, *chunk(2, 40), *chunk(3, 80))
        self.assertIn("waits for a stream on line 70", text)
        self.assertNotIn("time and again", text)
        busy = [*chunk(1, 0), *chunk(2, 10), *chunk(3, 20), wait, *chunk(1, 30)]
        self.assertEqual(said(*busy), "")
        last = [*chunk(1, 0), *chunk(2, 10), *chunk(3, 20), one("wait", 1, 5, 50, 70)]
        self.assertEqual(said(*last), "")

    def test_streams_of_others(self) -> None:
        wait = one("wait", 0, 5, 90, 66, name="all streams")
        text = said(*chunk(1, 0), wait, check=missed("timeline_returned"))
        self.assertIn("all streams of the device on line 66", text)


class Picture(unittest.TestCase):
    def test_rows_and_bars(self) -> None:
        intervals = [*chunk(0, 0), *chunk(2, 10), one("wait", 2, 12, 40, 70)]
        intervals[0]["pageable"] = True
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        for look in (theme.LIGHT, theme.DARK):
            with theme.drawing(look):
                made = draw_timeline.figure(intervals, 40, "a case", look)
                svg, png = theme.save(made, folder, look.name)
            text = svg.read_text()
            for word in ("default stream", "stream 2", "host", "memory not pinned", "kernel",
                         "the call returns", "by the model", ">70<", "a case"):  # fmt: skip
                self.assertIn(word, text)
            width, height = struct.unpack(">II", png.read_bytes()[16:24])
            self.assertTrue(400 < width < 1600 and 150 < height < 1600, f"{width} x {height}")

    def test_rows_of_several_devices(self) -> None:
        with theme.drawing(theme.LIGHT):
            two = [one("kernel", 4, 0, 9, 25, device=1), one("kernel", 3, 0, 9, 25, device=0)]
            made = draw_timeline.figure(two, 9, "two", theme.LIGHT)
            names = [label.get_text() for label in made.axes[0].get_yticklabels()]
            self.assertEqual(names, ["host", "device 0, stream 3", "device 1, stream 4"])

    def test_many_streams_and_no_work(self) -> None:
        with theme.drawing(theme.LIGHT):
            many = [part for k in range(40) for part in chunk(k, 10 * k)]
            made = draw_timeline.figure(many, 500, "many", theme.LIGHT)
            self.assertIn("26 more streams", made.axes[0].get_title(loc="left"))
            draw_timeline.figure([], 0, "nothing", theme.LIGHT)


if __name__ == "__main__":
    unittest.main()
