# SPDX-License-Identifier: MIT
"""The instructions under test: one Form for each spelling, with its operands' kinds.

A kind is what a value means, and decides its register and where its inputs come from. `result` says
how a form is compared with a card: exact (PTX defines every bit), machine (PTX leaves some bits to
the machine, such as a quotient by zero; the emulator follows the card), or bound (PTX states a
largest error: bounds.py). Integer and bit instructions are here, the others in forms_float.py.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator

# kind -> (register prefix, register type, bytes)
KINDS = {
    "pred": ("p", ".pred", 0),
    "i16": ("h", ".b16", 2),
    "i32": ("r", ".b32", 4),
    "i64": ("q", ".b64", 8),
    "f16": ("h", ".b16", 2),
    "bf16": ("h", ".b16", 2),
    "f16x2": ("r", ".b32", 4),
    "bf16x2": ("r", ".b32", 4),
    "f32": ("f", ".f32", 4),
    "f64": ("d", ".f64", 8),
}


@dataclasses.dataclass(frozen=True)
class Form:
    """`text` with {d} {e} for results, {a} {b} {c} {f} for operands; the kinds in that order."""

    name: str
    text: str
    results: tuple[str, ...]
    operands: tuple[str, ...]
    group: str
    result: str = "exact"
    target: int = 75  # the lowest sm_ that has it


def kind_of(type_: str) -> str:
    """The kind of a PTX type: s32 -> i32, f16x2 -> f16x2."""
    if type_ in KINDS:
        return type_
    return "i" + type_.lstrip("subi") if type_[0] in "sub" else type_


def make(opcode: str, results: str, operands: str, group: str, **more: object) -> Form:
    """A form `opcode d, a, b, c;` with the kinds given as words."""
    out, into = tuple(results.split()), tuple(operands.split())
    places = ["{d}", "{e}"][: len(out)] + ["{a}", "{b}", "{c}", "{f}"][: len(into)]
    return Form(opcode, f"{opcode} {', '.join(places)};", out, into, group, **more)


def _integer() -> Iterator[Form]:
    for sign, width in itertools.product("us", (16, 32, 64)):
        t, k = f"{sign}{width}", f"i{width}"
        for op in ("add", "sub", "mul.lo", "mul.hi", "min", "max"):
            yield make(f"{op}.{t}", k, f"{k} {k}", "integer")
        for op in ("mad.lo", "mad.hi"):
            yield make(f"{op}.{t}", k, f"{k} {k} {k}", "integer")
        yield make(f"sad.{t}", k, f"{k} {k} {k}", "integer")
        # PTX leaves a quotient by zero to the machine.
        for op in ("div", "rem"):
            yield make(f"{op}.{t}", k, f"{k} {k}", "division", result="machine")
        if sign == "s":
            yield make(f"abs.{t}", k, k, "integer")
            yield make(f"neg.{t}", k, k, "integer")
        if width < 64:
            wide = f"i{2 * width}"
            yield make(f"mul.wide.{t}", wide, f"{k} {k}", "integer")
            yield make(f"mad.wide.{t}", wide, f"{k} {k} {wide}", "integer")
    for t in ("u32", "s32"):
        for op in ("mul24.lo", "mul24.hi"):
            yield make(f"{op}.{t}", "i32", "i32 i32", "integer")
        for op in ("mad24.lo", "mad24.hi"):
            yield make(f"{op}.{t}", "i32", "i32 i32 i32", "integer")
    yield make("add.sat.s32", "i32", "i32 i32", "integer")
    yield make("sub.sat.s32", "i32", "i32 i32", "integer")
    yield make("mad.hi.sat.s32", "i32", "i32 i32 i32", "integer")
    yield make("mad24.hi.sat.s32", "i32", "i32 i32 i32", "integer")
    for a, b in itertools.product("us", "us"):
        yield make(f"dp4a.{a}32.{b}32", "i32", "i32 i32 i32", "integer")
        for half in ("lo", "hi"):
            yield make(f"dp2a.{half}.{a}32.{b}32", "i32", "i32 i32 i32", "integer")


def _guarded_division() -> Iterator[Form]:
    """Quotients as random kernels use them: never by zero."""
    for sign, width in itertools.product("us", (16, 32, 64)):
        t, b, k = f"{sign}{width}", f"b{width}", f"i{width}"
        for op in ("div", "rem"):
            text = (
                f"{{{{ .reg .pred zero; .reg .{b} by; setp.eq.{t} zero, {{b}}, 0; "
                f"selp.{b} by, 3, {{b}}, zero; {op}.{t} {{d}}, {{a}}, by; }}}}"
            )
            yield Form(f"{op}.{t}.nonzero", text, (k,), (k, k), "division")


def _carry() -> Iterator[Form]:
    """Chains over the carry flag, two or three links."""
    for width in (32, 64):
        u, s, k = f"u{width}", f"s{width}", f"i{width}"
        for op, end in (("add", u), ("add", s), ("sub", u), ("sub", s)):
            text = f"{op}.cc.{end} {{d}}, {{a}}, {{b}}; {op}c.{end} {{e}}, {{c}}, {{f}};"
            yield Form(f"{op}.cc.{op}c.{end}", text, (k, k), (k, k, k, k), "carry")
        text = (
            f"{{{{ .reg .b{width} t; add.cc.{u} {{d}}, {{a}}, {{b}}; "
            f"addc.cc.{u} t, {{c}}, {{f}}; addc.{u} {{e}}, t, {{a}}; }}}}"
        )
        yield Form(f"add.cc.addc.cc.addc.{u}", text, (k, k), (k, k, k, k), "carry")
        text = (
            f"{{{{ .reg .b{width} t; sub.cc.{u} {{d}}, {{a}}, {{b}}; "
            f"subc.cc.{u} t, {{c}}, {{f}}; subc.{u} {{e}}, t, {{a}}; }}}}"
        )
        yield Form(f"sub.cc.subc.cc.subc.{u}", text, (k, k), (k, k, k, k), "carry")
        for sign in "us":
            t = f"{sign}{width}"
            for low, high in (("lo", "hi"), ("lo", "lo"), ("hi", "hi")):
                text = (
                    f"mad.{low}.cc.{t} {{d}}, {{a}}, {{b}}, {{c}}; "
                    f"madc.{high}.{t} {{e}}, {{a}}, {{b}}, {{f}};"
                )
                yield Form(f"mad.{low}.cc.madc.{high}.{t}", text, (k, k), (k,) * 4, "carry")


def _fields(width: int) -> Iterator[Form]:
    """bfe and bfi: PTX reads 8 bits of position and length, and the 64-bit forms on a card more."""
    k = f"i{width}"
    exact = "exact" if width == 32 else "machine"
    for sign in "us":
        yield make(f"bfe.{sign}{width}", k, f"{k} i32 i32", "bits", result=exact)
    yield make(f"bfi.b{width}", k, f"{k} {k} i32 i32", "bits", result=exact)
    if width == 64:
        short = (
            "{{{{ .reg .b32 at, count; and.b32 at, {{{}}}, 255; and.b32 count, {{{}}}, 255; {} }}}}"
        )
        for sign in "us":
            text = short.format("b", "c", f"bfe.{sign}64 {{d}}, {{a}}, at, count;")
            yield Form(f"bfe.{sign}64.short", text, (k,), (k, "i32", "i32"), "bits")
        text = short.format("c", "f", "bfi.b64 {d}, {a}, {b}, at, count;")
        yield Form("bfi.b64.short", text, (k,), (k, k, "i32", "i32"), "bits")


def _bits() -> Iterator[Form]:
    for width in (16, 32, 64):
        k = f"i{width}"
        for op in ("and", "or", "xor"):
            yield make(f"{op}.b{width}", k, f"{k} {k}", "bits")
        for op in ("not", "cnot"):
            yield make(f"{op}.b{width}", k, k, "bits")
        for op in (f"shl.b{width}", f"shr.b{width}", f"shr.u{width}", f"shr.s{width}"):
            yield make(op, k, f"{k} i32", "bits")
    for width in (32, 64):
        k = f"i{width}"
        for op in ("popc", "clz"):
            yield make(f"{op}.b{width}", "i32", k, "bits")
        yield make(f"brev.b{width}", k, k, "bits")
        for sign in "us":
            yield make(f"bfind.{sign}{width}", "i32", k, "bits")
            yield make(f"bfind.shiftamt.{sign}{width}", "i32", k, "bits")
        yield from _fields(width)
    for mode in ("clamp", "wrap"):
        yield make(f"bmsk.{mode}.b32", "i32", "i32 i32", "bits", target=75)
        for sign in "us":
            yield make(f"szext.{mode}.{sign}32", "i32", "i32 i32", "bits")
        for side in "lr":
            yield make(f"shf.{side}.{mode}.b32", "i32", "i32 i32 i32", "bits")
    for mode in ("", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"):
        text = f"prmt.b32{mode} {{d}}, {{a}}, {{b}}, {{c}};"
        yield Form(f"prmt.b32{mode}", text, ("i32",), ("i32",) * 3, "bits")
    for table in (0x00, 0x01, 0x1E, 0x3C, 0x69, 0x80, 0x96, 0xCA, 0xE8, 0xF8, 0xFF):
        text = f"lop3.b32 {{d}}, {{a}}, {{b}}, {{c}}, {table};"
        yield Form(f"lop3.b32.{table:02x}", text, ("i32",), ("i32",) * 3, "bits")
    # The base must be in 0..31. For the most negative offset a card finds bit 0, PTX none.
    text = (
        "{{ .reg .b32 base, offset; and.b32 base, {b}, 31; max.s32 offset, {c}, -2147483647; "
        "fns.b32 {d}, {a}, base, offset; }}"
    )
    yield Form("fns.b32", text, ("i32",), ("i32",) * 3, "bits")
    yield Form("mov.b32.pack", "mov.b32 {d}, {{{a}, {b}}};", ("i32",), ("i16", "i16"), "bits")
    yield Form("mov.b64.pack", "mov.b64 {d}, {{{a}, {b}}};", ("i64",), ("i32", "i32"), "bits")
    yield Form("mov.b32.unpack", "mov.b32 {{{d}, {e}}}, {a};", ("i16", "i16"), ("i32",), "bits")
    yield Form("mov.b64.unpack", "mov.b64 {{{d}, {e}}}, {a};", ("i32", "i32"), ("i64",), "bits")


def _select() -> Iterator[Form]:
    for t in ("b16", "b32", "b64", "u16", "s32", "u64"):
        k = kind_of(t)
        text = f"selp.{t} {{d}}, {{a}}, {{b}}, {{c}};"
        yield Form(f"selp.{t}", text, (k,), (k, k, "pred"), "select")
        text = f"slct.{t}.s32 {{d}}, {{a}}, {{b}}, {{c}};"
        yield Form(f"slct.{t}.s32", text, (k,), (k, k, "i32"), "select")
    for op in ("and", "or", "xor"):
        yield make(f"{op}.pred", "pred", "pred pred", "select")
    yield make("not.pred", "pred", "pred", "select")


def _compare() -> Iterator[Form]:
    for sign, width in itertools.product("us", (16, 32, 64)):
        t, k = f"{sign}{width}", f"i{width}"
        unsigned = ("lo", "ls", "hi", "hs") if sign == "u" else ()
        for op in ("eq", "ne", "lt", "le", "gt", "ge", *unsigned):
            yield make(f"setp.{op}.{t}", "pred", f"{k} {k}", "compare")
    for width in (16, 32, 64):
        for op in ("eq", "ne"):
            yield make(f"setp.{op}.b{width}", "pred", f"i{width} i{width}", "compare")
    for op, t in itertools.product(("and", "or", "xor"), ("s32", "u64", "s16")):
        k = kind_of(t)
        text = f"setp.lt.{op}.{t} {{d}}|{{e}}, {{a}}, {{b}}, {{c}};"
        yield Form(f"setp.lt.{op}.{t}", text, ("pred", "pred"), (k, k, "pred"), "compare")
        text = f"setp.ge.{op}.{t} {{d}}, {{a}}, {{b}}, !{{c}};"
        yield Form(f"setp.ge.{op}.{t}.not", text, ("pred",), (k, k, "pred"), "compare")
    for to, t in itertools.product(("u32", "s32"), ("u16", "s32", "u64", "s64", "b32")):
        k = kind_of(t)
        order = "ne" if t == "b32" else "gt"
        yield make(f"set.{order}.{to}.{t}", "i32", f"{k} {k}", "compare")
        text = f"set.eq.xor.{to}.{t} {{d}}, {{a}}, {{b}}, {{c}};"
        yield Form(f"set.eq.xor.{to}.{t}", text, ("i32",), (k, k, "pred"), "compare")


def _video() -> Iterator[Form]:
    """Scalar and SIMD video instructions, a cross section: PTX has thousands of spellings."""
    scalar = []
    parts = ("", ".b0", ".b3", ".h0", ".h1")
    for i, op in enumerate(("vadd", "vsub", "vabsdiff", "vmin", "vmax")):
        for j, (d, a, b) in enumerate(itertools.product("us", "us", "us")):
            left, right = parts[(i + j) % 5], parts[(2 * i + 3 * j) % 5]
            sat = ".sat" if (i + j) % 2 else ""
            opcode = f"{op}.{d}32.{a}32.{b}32{sat}"
            text = f"{opcode} {{d}}, {{a}}{left}, {{b}}{right};"
            scalar.append(Form(opcode + left + right, text, ("i32",), ("i32",) * 2, "scalar video"))
            second = ("add", "min", "max")[(i + j) % 3]
            text = f"{opcode}.{second} {{d}}, {{a}}{left}, {{b}}{right}, {{c}};"
            name = f"{opcode}.{second}{left}{right}"
            scalar.append(Form(name, text, ("i32",), ("i32",) * 3, "scalar video"))
    for j, (op, t, mode) in enumerate(
        itertools.product(("vshl", "vshr"), ("u32", "s32"), ("clamp", "wrap"))
    ):
        sat = ".sat" if j % 2 else ""
        opcode = f"{op}.{t}.{t}.u32{sat}.{mode}"
        text = f"{opcode} {{d}}, {{a}}, {{b}};"
        scalar.append(Form(opcode, text, ("i32",), ("i32",) * 2, "scalar video"))
    # What is compared with c: of all widths, saturated and not.
    compared = [
        f"{op}.{d}32.{a}32.{b}32.sat"
        for op, (d, a, b) in itertools.product(
            ("vadd", "vsub", "vabsdiff", "vmin", "vmax"), ("uuu", "usu", "sss")
        )
    ]
    compared += [
        f"{op}.{d}32.{a}32.u32{sat}.{mode}"
        for op, d, a, sat, mode in itertools.product(
            ("vshl", "vshr"), "us", "us", ("", ".sat"), ("clamp", "wrap")
        )
    ]
    compared += [
        f"vset.{a}32.{b}32.{order}" for a, b, order in itertools.product("us", "us", ("lt", "ge"))
    ]
    for opcode, second in itertools.product(compared, ("min", "max")):
        text = f"{opcode}.{second} {{d}}, {{a}}, {{b}}, {{c}};"
        name = f"{opcode}.{second}.whole"
        scalar.append(Form(name, text, ("i32",), ("i32",) * 3, "scalar video"))
    for j, (a, b, scale) in enumerate(itertools.product("us", "us", ("", ".shr7", ".shr15"))):
        d = "u32" if a + b == "uu" else "s32"
        sat = ".sat" if j % 2 else ""
        part_a, part_b = parts[j % 5], parts[(j * 2 + 1) % 5]
        opcode = f"vmad.{d}.{a}32.{b}32{sat}{scale}"
        text = f"{opcode} {{d}}, {{a}}{part_a}, {{b}}{part_b}, {{c}};"
        scalar.append(Form(opcode + part_a + part_b, text, ("i32",), ("i32",) * 3, "scalar video"))
    for order, a in itertools.product(("eq", "ne", "lt", "ge"), "us"):
        opcode = f"vset.{a}32.{a}32.{order}"
        text = f"{opcode} {{d}}, {{a}}, {{b}}.h1;"
        scalar.append(Form(opcode, text, ("i32",), ("i32",) * 2, "scalar video"))
    yield from scalar
    for lanes, (op, d, a, b) in itertools.product(
        "24", itertools.product(("vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax"), *["us"] * 3)
    ):
        sat = ".sat" if (d + a + b).count("s") == 1 else ""
        opcode = f"{op}{lanes}.{d}32.{a}32.{b}32{sat}"
        yield make(opcode, "i32", "i32 i32 i32", "video")
        yield make(f"{op}{lanes}.{d}32.{a}32.{b}32.add", "i32", "i32 i32 i32", "video")
    for lanes, order, a in itertools.product("24", ("eq", "lt", "ge"), "us"):
        yield make(f"vset{lanes}.u32.{a}32.{order}", "i32", "i32 i32 i32", "video")


def integer_forms() -> list[Form]:
    """Every form of this file."""
    parts = (_integer, _guarded_division, _carry, _bits, _select, _compare, _video)
    return [form for part in parts for form in part()]
