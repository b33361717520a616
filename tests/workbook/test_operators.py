# SPDX-License-Identifier: MIT
"""The operators of make mutate-NN, one by one, and what none of them touches."""

from __future__ import annotations

import unittest

from workbook.author import operators
from workbook.author.operators import Operator, Source


def made(operator: Operator, text: str) -> list[str]:
    """The text after each edit of the operator."""
    return [edit.apply(text) for edit in operator(Source(text))]


class Each(unittest.TestCase):
    def test_relational(self) -> None:
        self.assertEqual(made(operators.relational, "a < b"), ["a <= b", "a >= b"])
        self.assertEqual(made(operators.relational, "a == b"), ["a != b"])

    def test_a_template_and_a_launch_are_no_relations(self) -> None:
        for text in ("std::vector<int> a", "template <class T>", "k<<<1, 2>>>(a)", "p->x"):
            self.assertEqual(made(operators.relational, text), [], text)

    def test_arithmetic(self) -> None:
        self.assertEqual(made(operators.arithmetic, "a + b"), ["a - b"])
        self.assertEqual(made(operators.arithmetic, "a += b * c"), ["a -= b * c", "a += b / c"])
        self.assertEqual(made(operators.arithmetic, "++i"), ["--i"])
        self.assertEqual(made(operators.arithmetic, "1u << k"), ["1u >> k"])
        self.assertEqual(made(operators.arithmetic, "votes & before"), ["votes | before"])

    def test_a_sign_is_left_out(self) -> None:
        self.assertEqual(made(operators.arithmetic, "x = -b"), ["x = b"])

    def test_pointers_and_references_are_no_arithmetic(self) -> None:
        for text in ("float* a", "float *a, *b", "const T& a", "f(&a, *b)", "[&] {}", "T&& a"):
            self.assertEqual(made(operators.arithmetic, text), [], text)

    def test_an_operand_is_left_out(self) -> None:
        self.assertEqual(made(operators.operands, "(n + 255) / 256"), ["(n) / 256", "(n + 255)"])
        self.assertEqual(made(operators.operands, "a * f(x)[1].y"), ["a"])
        self.assertEqual(made(operators.operands, "a - size_t(b)"), ["a"])

    def test_a_sum_loses_a_whole_term(self) -> None:
        self.assertEqual(made(operators.operands, "a - 4 * b;"), ["a;", "a - 4;"])

    def test_constants(self) -> None:
        for number, greater, less in (
            ("7", "8", "6"),
            ("0", "1", "-1"),
            ("0u", "1u", "-1"),
            ("2.5f", "3.5f", "1.5f"),
            ("1u", "2u", "0u"),
            ("1'000", "1001", "999"),
            ("1e9", "1e10", "1e8"),
            ("0x0FLL", "0x10LL", "0x0ELL"),
        ):
            want = [f"x = {greater};", f"x = {less};"]
            self.assertEqual(made(operators.constants, f"x = {number};"), want)
        self.assertEqual(made(operators.constants, "0xFFFFFFFFu"), ["0xFFFFFFFEu"])
        self.assertEqual(made(operators.constants, "x32 + a1"), [])

    def test_statements(self) -> None:
        self.assertEqual(
            made(operators.statements, "{ a = 1; b(); }"), ["{ ; b(); }", "{ a = 1; ; }"]
        )
        self.assertEqual(made(operators.statements, "{ if (a) b[i] = 2; }"), ["{ if (a) ; }"])
        self.assertEqual(made(operators.statements, "{ f<int>(a); }"), ["{ ; }"])
        self.assertEqual(made(operators.statements, "{ std::swap(a, b); }"), ["{ ; }"])
        self.assertEqual(made(operators.statements, "{ return a; }"), ["{ ; }"])

    def test_a_function_is_no_statement(self) -> None:
        text = "void f() { a(); }\nP::~P() { b(); }\nint x;"
        self.assertEqual(len(made(operators.statements, text)), 2)
        self.assertEqual(made(operators.statements, "{ return {a, b}; }"), ["{ ; }"])

    def test_a_lambda_has_statements(self) -> None:
        text = "{ f([&] { g(); }); }"
        self.assertEqual(made(operators.statements, text), ["{ ; }", "{ f([&] { ; }); }"])

    def test_declarations_and_loops_stay(self) -> None:
        for text in (
            "{ int a = 1; }",
            "{ const auto x = f(a); }",
            "{ std::vector<int> a(n); }",
            "{ unsigned long long x; }",
            "{ Scratch<float> work(n, s); }",
            "{ T* p; }",
            "{ for (int i = 0; i < n; ++i) {} }",
            "{ __shared__ int a[32]; }",
        ):
            self.assertEqual(made(operators.statements, text), [], text)

    def test_a_condition_always_holds(self) -> None:
        self.assertEqual(made(operators.conditions, "if (a < b) c;"), ["if (true) c;"])
        self.assertEqual(
            made(operators.conditions, "if (const int i = f(); i < n) c;"),
            ["if (const int i = f(); true) c;"],
        )
        self.assertEqual(
            made(operators.conditions, "return b > 0 ? c : d;"),
            ["return true ? c : d;", "return false ? c : d;"],
        )

    def test_a_part_of_a_condition_is_left_out(self) -> None:
        self.assertEqual(
            made(operators.conditions, "x = f(a) && b[i] < n;"), ["x = b[i] < n;", "x = f(a);"]
        )
        self.assertEqual(made(operators.conditions, "x = !a;"), ["x = a;"])

    def test_arguments(self) -> None:
        self.assertEqual(
            made(operators.arguments, "f(a, b + 1, c);"), ["f(b + 1, a, c);", "f(a, c, b + 1);"]
        )
        self.assertEqual(
            made(operators.arguments, "k<<<g, b>>>(p, n);"),
            ["k<<<b, g>>>(p, n);", "k<<<g, b>>>(n, p);"],
        )
        self.assertEqual(
            made(operators.arguments, "const dim3 grid(w, h);"), ["const dim3 grid(h, w);"]
        )

    def test_what_is_no_call_or_has_no_order_stays(self) -> None:
        for text in (
            "void f(int a, int b) {",
            "min(a, b);",
            "f(a, a);",
            "for (int i, j;;)",
            "[](int a, int b) {}",
        ):
            self.assertEqual(made(operators.arguments, text), [], text)

    def test_builtins(self) -> None:
        self.assertEqual(made(operators.builtins, "threadIdx.x"), ["blockIdx.x", "threadIdx.y"])
        self.assertEqual(made(operators.builtins, "__syncthreads()"), ["__syncwarp()"])
        self.assertEqual(made(operators.builtins, "std::max(a, b)"), ["std::min(a, b)"])
        self.assertEqual(made(operators.builtins, "a.max, p.x"), [])

    def test_widths(self) -> None:
        self.assertEqual(made(operators.widths, "int i"), ["short i"])
        self.assertEqual(made(operators.widths, "unsigned long long n"), ["unsigned n"])
        self.assertEqual(made(operators.widths, "sizeof(float)"), ["sizeof(double)"])
        self.assertEqual(made(operators.widths, "size_t(i)"), ["unsigned(i)"])

    def test_what_a_pointer_points_to_stays(self) -> None:
        for text in ("const float* a", "int& count", "unsigned long long* n"):
            self.assertEqual(made(operators.widths, text), [], text)


class Untouched(unittest.TestCase):
    def test_comments_strings_and_the_preprocessor(self) -> None:
        for text in (
            "// a + b < 1 && threadIdx.x, int i",
            "/* a + b;\n   f(1, 2); */",
            '"a + 1"',
            "'1'",
            "#if A > 1 && \\\n    B < 2",
            "  #define F(a, b) a + b * 2",
            r'"\" + 1"',
            'R"(\na = "b" + 1;\n)"',
        ):
            self.assertEqual(operators.edits(text, [range(1, 9)]), [], text)

    def test_lines_outside(self) -> None:
        text = "a = 1;\nb = 2;\nc = 3;\n"
        changed = {edit.apply(text) for edit in operators.edits(text, [range(2, 3)])}
        self.assertEqual(changed, {f"a = 1;\n{new}\nc = 3;\n" for new in (";", "b = 3;", "b = 1;")})

    def test_an_edit_that_reaches_out(self) -> None:
        text = "f(a,\n  b);\n"
        self.assertEqual(operators.edits(text, [range(1, 2)]), [])
        self.assertTrue(operators.edits(text, [range(1, 3)]))


class Together(unittest.TestCase):
    def test_a_text_is_made_once(self) -> None:
        text = "{ x = a && b && c; }"
        changed = [edit.apply(text) for edit in operators.edits(text, [range(1, 2)])]
        self.assertEqual(len(changed), len(set(changed)))
        self.assertIn("{ x = a && c; }", changed)


if __name__ == "__main__":
    unittest.main()
