# SPDX-License-Identifier: MIT
"""The comparison of approximate instructions (tests/hardware/values): a wrong result, or one too
far from a card's, is named, and right ones pass. No card, no emulator: results are made here."""

import math
import struct
import sys
import unittest
import unittest.mock
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
for folder in ("tests/hardware", "tests/hardware/values"):
    sys.path.insert(0, str(ROOT / folder))
import approximate  # noqa: E402
import bounds  # noqa: E402
import generate  # noqa: E402

FORMS = {form.name: form for form in generate.all_forms() if form.group == "approximate"}
INFINITY, SIGN, NAN = 0x7F800000, 0x80000000, 0x7FC00001


def single(x):
    return struct.unpack("<I", struct.pack("<f", x))[0]


def error(form, operand, result):
    return bounds.bound_of(form).error([operand], result)


def results(form, pairs):
    """One kernel's results: (result, operand) of each thread."""
    return approximate.Results(f"a_{form}", FORMS[form], list(pairs))


def row(given, words):
    return {"kernel": given.name, "operands": given.key(), "results": words}


class OfTheExactResult(unittest.TestCase):
    def test_every_approximate_form_has_a_rule(self):
        for name in FORMS:
            self.assertIn("Instructions: ", bounds.bound_of(name).rule.section)

    def test_the_largest_error_is_one(self):
        third = single(1 / 3)
        self.assertLess(error("rcp.approx.f32", single(3.0), third), 0.5)
        self.assertLess(error("rcp.approx.f32", single(3.0), third - 1), 1)
        self.assertGreater(error("rcp.approx.f32", single(3.0), third + 2), 1)
        self.assertLess(error("tanh.approx.f32", single(0.5), single(math.tanh(0.5) * 1.0004)), 1)
        self.assertGreater(error("tanh.approx.f32", single(0.5), single(math.tanh(0.5) * 1.001)), 1)

    def test_the_range_decides(self):
        off = 2.0**-17
        for x, wrong in ((1.0, True), (100.0, False)):
            result = single(math.sin(x) + off)
            self.assertEqual(error("sin.approx.f32", single(x), result) > 1, wrong)
        self.assertIsNone(error("sin.approx.f32", single(1000.0), single(7.0)))
        self.assertIsNone(bounds.bound_of("div.approx.f32").error([single(1.0), 1], INFINITY))

    def test_special_operands_give_exactly_the_table(self):
        for form, operand, right, wrong in (
            ("rcp.approx.f32", SIGN, SIGN | INFINITY, INFINITY),
            ("rcp.approx.f32", SIGN | INFINITY, SIGN, 0),
            ("sqrt.approx.f32", single(-1.0), NAN, 0),
            ("ex2.approx.f32", 0, single(1.0), single(1.0) + 1),
            ("lg2.approx.ftz.f32", 1, SIGN | INFINITY, single(-149.0)),
            ("ex2.approx.ftz.bf16", 0x8001, 0x3F80, 0x3F81),
            ("rcp.approx.ftz.f64", 0x7FF8 << 48, 0x7FFFFFFF << 32, 0),
            ("rcp.approx.ftz.f64", 0x4010 << 48, 0x3FD0 << 48, 0x3FD0 << 48 | 1),
        ):
            self.assertEqual(error(form, operand, right), 0, form)
            self.assertEqual(error(form, operand, wrong), math.inf, form)

    def test_ftz_flushes_results(self):
        subnormal = 1 << 22
        self.assertEqual(error("ex2.approx.f32", single(-127.0), subnormal), 0)
        self.assertEqual(error("ex2.approx.ftz.f32", single(-127.0), subnormal), math.inf)
        self.assertEqual(error("ex2.approx.ftz.f32", single(-127.0), 0), 0)
        self.assertGreater(error("ex2.approx.ftz.f32", single(-127.0), SIGN), 1)
        self.assertGreater(error("ex2.approx.ftz.f32", single(-125.0), 0), 1)

    def test_overflow_is_near_the_greatest(self):
        self.assertEqual(error("ex2.approx.f32", single(128.0), INFINITY), 0)
        self.assertLessEqual(error("ex2.approx.f32", single(128.0), INFINITY - 1), 1)
        self.assertGreater(error("ex2.approx.f32", single(127.5), INFINITY), 1)

    def test_errors_count_what_is_outside(self):
        made = results("rcp.approx.f32", [(single(0.5), single(2.0)), (single(0.75), single(2.0))])
        worst = approximate.errors([made])["rcp.approx.f32"]
        self.assertEqual((worst.count, worst.outside), (2, 1))
        self.assertEqual(worst.show("rcp.approx.f32"), "rcp.approx.f32 of 40000000: 3f400000")


class OfACard(unittest.TestCase):
    """Both sides may be off by the documented error, so twice that is allowed."""

    def differences(self, form, pairs, words):
        made = results(form, pairs)
        return approximate.differences([made], [row(made, words)])[0]

    def test_as_far_as_both_may_err(self):
        third = single(1 / 3)
        for card, problems in ((third, 0), (third - 2, 0), (third + 2, 0), (third + 3, 1)):
            words = f"{card:08x}"
            found = self.differences("rcp.approx.f32", [(third, single(3.0))], words)
            self.assertEqual(len(found), problems, words)

    def test_a_message_names_form_operand_and_both_results(self):
        (found,) = self.differences("rcp.approx.f32", [(single(0.5), single(2.0))], "3f000009")
        for part in ("rcp.approx.f32 of 40000000: 3f000000", "the card gave 3f000009", "1 ulp"):
            self.assertIn(part, found)

    def test_a_card_that_departs_from_the_isa_is_excused_by_name_only(self):
        pairs = [(single(0.5), single(2.0))]
        with unittest.mock.patch.dict(approximate.DEPARTURES, {"rcp.approx.f32": "here"}):
            self.assertEqual(self.differences("rcp.approx.f32", pairs, "3f000009"), [])
            wrong = [(single(0.75), single(2.0))]
            self.assertEqual(len(self.differences("rcp.approx.f32", wrong, "3f000000")), 1)
        self.assertEqual(len(self.differences("rcp.approx.f32", pairs, "3f000009")), 1)

    def test_any_nan_is_as_good_as_another_and_nothing_else(self):
        pairs = [(0x7FFFFFFF, single(-1.0))]
        self.assertEqual(self.differences("sqrt.approx.f32", pairs, "ffc12345"), [])
        self.assertEqual(len(self.differences("sqrt.approx.f32", pairs, "00000000")), 1)

    def test_both_halves_of_a_packed_form_are_compared(self):
        pairs = [(0x3C003C00, 0)]  # 2^0 twice
        self.assertEqual(self.differences("ex2.approx.f16x2", pairs, "3c003c00"), [])
        for wrong in ("3c013c00", "3c003c01"):
            self.assertEqual(len(self.differences("ex2.approx.f16x2", pairs, wrong)), 1)

    def test_results_of_other_operands_are_not_compared(self):
        made = results("rcp.approx.f32", [(single(0.5), single(2.0))])
        other = results("rcp.approx.f32", [(single(0.5), single(4.0))])
        found, _ = approximate.differences([made], [row(other, "3f000000")])
        self.assertIn("measure again", found[0])

    def test_a_recorded_kernel_that_is_gone_is_named(self):
        found, _ = approximate.differences([], [{"kernel": "a_old_0"}])
        self.assertIn("a_old_0", found[0])


if __name__ == "__main__":
    unittest.main()
