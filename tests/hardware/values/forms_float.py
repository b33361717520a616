# SPDX-License-Identifier: MIT
"""The instructions under test, continued: floating point, comparisons of it, and conversions."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from forms import Form, kind_of, make

ROUNDINGS = ("rn", "rz", "rm", "rp")
ORDERED = ("eq", "ne", "lt", "le", "gt", "ge")
UNORDERED = ("equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan")


def _single_and_double() -> Iterator[Form]:
    for r, ftz, sat in itertools.product(ROUNDINGS, ("", ".ftz"), ("", ".sat")):
        for op in ("add", "sub", "mul"):
            yield make(f"{op}.{r}{ftz}{sat}.f32", "f32", "f32 f32", "float")
        yield make(f"fma.{r}{ftz}{sat}.f32", "f32", "f32 f32 f32", "float")
    for r, ftz in itertools.product(ROUNDINGS, ("", ".ftz")):
        yield make(f"div.{r}{ftz}.f32", "f32", "f32 f32", "float")
        yield make(f"rcp.{r}{ftz}.f32", "f32", "f32", "float")
        yield make(f"sqrt.{r}{ftz}.f32", "f32", "f32", "float")
    for r in ROUNDINGS:
        for op in ("add", "sub", "mul", "div"):
            yield make(f"{op}.{r}.f64", "f64", "f64 f64", "double")
        yield make(f"fma.{r}.f64", "f64", "f64 f64 f64", "double")
        yield make(f"rcp.{r}.f64", "f64", "f64", "double")
        yield make(f"sqrt.{r}.f64", "f64", "f64", "double")
        yield make(f"mad.{r}.f32", "f32", "f32 f32 f32", "float")
        yield make(f"mad.{r}.f64", "f64", "f64 f64 f64", "double")
    for t in ("f32", "f64"):
        for ftz in ("", ".ftz") if t == "f32" else ("",):
            for op in ("min", "max"):
                yield make(f"{op}{ftz}.{t}", t, f"{t} {t}", "float")
            # A NaN's payload and sign after abs and neg are left open by PTX.
            for op in ("abs", "neg"):
                yield make(f"{op}{ftz}.{t}", t, t, "float", result="machine")
        yield make(f"copysign.{t}", t, f"{t} {t}", "float", result="machine")
        for test in ("finite", "infinite", "number", "notanumber", "normal", "subnormal"):
            yield make(f"testp.{test}.{t}", "pred", t, "float")
    for op, ftz in itertools.product(("min", "max"), ("", ".ftz")):
        yield make(f"{op}{ftz}.NaN.f32", "f32", "f32 f32", "float", target=80)
        yield make(f"{op}{ftz}.xorsign.abs.f32", "f32", "f32 f32", "float", target=86)
        yield make(f"{op}{ftz}.NaN.xorsign.abs.f32", "f32", "f32 f32", "float", target=86)


def _half() -> Iterator[Form]:
    for t in ("f16", "f16x2"):
        for ftz, sat in itertools.product(("", ".ftz"), ("", ".sat")):
            for op in ("add", "sub", "mul"):
                yield make(f"{op}.rn{ftz}{sat}.{t}", t, f"{t} {t}", "half")
            yield make(f"fma.rn{ftz}{sat}.{t}", t, f"{t} {t} {t}", "half")
        for ftz in ("", ".ftz"):
            yield make(f"fma.rn{ftz}.relu.{t}", t, f"{t} {t} {t}", "half", target=80)
            for op in ("abs", "neg"):
                yield make(f"{op}{ftz}.{t}", t, t, "half", result="machine")
            for op, nan in itertools.product(("min", "max"), ("", ".NaN")):
                yield make(f"{op}{ftz}{nan}.{t}", t, f"{t} {t}", "half", target=80)
    for t in ("bf16", "bf16x2"):
        yield make(f"fma.rn.{t}", t, f"{t} {t} {t}", "half", target=80)
        yield make(f"fma.rn.relu.{t}", t, f"{t} {t} {t}", "half", target=80)
        for op in ("add", "sub", "mul"):
            yield make(f"{op}.rn.{t}", t, f"{t} {t}", "half", target=90)
        for op in ("abs", "neg"):
            yield make(f"{op}.{t}", t, t, "half", result="machine", target=80)
        for op, nan in itertools.product(("min", "max"), ("", ".NaN")):
            yield make(f"{op}{nan}.{t}", t, f"{t} {t}", "half", target=80)


def _compare() -> Iterator[Form]:
    for t in ("f32", "f64", "f16"):
        for ftz in ("",) if t == "f64" else ("", ".ftz"):
            for op in (*ORDERED, *UNORDERED):
                yield make(f"setp.{op}{ftz}.{t}", "pred", f"{t} {t}", "compare float")
    for op in (*ORDERED, *UNORDERED):
        text = f"setp.{op}.f16x2 {{d}}|{{e}}, {{a}}, {{b}};"
        yield Form(f"setp.{op}.f16x2", text, ("pred", "pred"), ("f16x2", "f16x2"), "compare float")
        yield make(f"set.{op}.f16x2.f16x2", "f16x2", "f16x2 f16x2", "compare float")
    for op in ("lt", "neu"):
        for to, t in itertools.product(("u32", "s32", "f32"), ("f32", "f64", "s32")):
            if t == "s32" and (op == "neu" or to != "f32"):
                continue
            yield make(
                f"set.{op}.{to}.{t}", kind_of(to), f"{kind_of(t)} {kind_of(t)}", "compare float"
            )
        yield make(f"set.{op}.ftz.f32.f32", "f32", "f32 f32", "compare float")
        yield make(f"set.{op}.f16.f16", "f16", "f16 f16", "compare float")
        yield make(f"set.{op}.u32.f16", "i32", "f16 f16", "compare float")
    for op in ("and", "or", "xor"):
        text = f"setp.geu.{op}.f64 {{d}}|{{e}}, {{a}}, {{b}}, {{c}};"
        yield Form(
            f"setp.geu.{op}.f64", text, ("pred",) * 2, ("f64", "f64", "pred"), "compare float"
        )
    for t in ("f32", "f64"):
        text = f"selp.{t} {{d}}, {{a}}, {{b}}, {{c}};"
        yield Form(f"selp.{t}", text, (t,), (t, t, "pred"), "select")
        text = f"slct.{t}.s32 {{d}}, {{a}}, {{b}}, {{c}};"
        yield Form(f"slct.{t}.s32", text, (t,), (t, t, "i32"), "select")
    text = "slct.u32.f32 {d}, {a}, {b}, {c};"
    yield Form("slct.u32.f32", text, ("i32",), ("i32", "i32", "f32"), "select")
    text = "slct.ftz.u64.f32 {d}, {a}, {b}, {c};"
    yield Form("slct.ftz.u64.f32", text, ("i64",), ("i64", "i64", "f32"), "select")


# An 8-bit value lives in a wider register.
_INTEGERS = [f"{sign}{width}" for width in (8, 16, 32, 64) for sign in "us"]


def _register(type_: str) -> str:
    return "i16" if type_ in ("u8", "s8") else kind_of(type_)


def _holds(to: str, from_: str) -> bool:
    """Whether integer type `to` has every value of `from_`."""
    wide, narrow = int(to[1:]), int(from_[1:])
    if to[0] == from_[0]:
        return wide >= narrow
    return to[0] == "s" and wide > narrow


def _convert_integers() -> Iterator[Form]:
    for to, t in itertools.product(_INTEGERS, _INTEGERS):
        yield make(f"cvt.{to}.{t}", _register(to), _register(t), "convert")
        if not _holds(to, t):  # else PTX forbids .sat
            yield make(f"cvt.sat.{to}.{t}", _register(to), _register(t), "convert")
    # A narrow source may sit in a wide register, and a narrow result fills a wide one.
    for to, t in (("s32", "s8"), ("u64", "u8"), ("s64", "s16"), ("u32", "s8"), ("s64", "u16")):
        text = f"cvt.{to}.{t} {{d}}, {{a}};"
        yield Form(f"cvt.{to}.{t}.from.b32", text, (kind_of(to),), ("i32",), "convert")
        yield Form(
            f"cvt.{t}.{to}.into.b32",
            f"cvt.{t}.{to} {{d}}, {{a}};",
            ("i32",),
            (kind_of(to),),
            "convert",
        )
    for to in ("u16", "s16"):
        yield make(f"cvt.pack.sat.{to}.s32", "i32", "i32 i32", "pack")
    for to in ("u8", "s8"):
        yield make(f"cvt.pack.sat.{to}.s32.b32", "i32", "i32 i32 i32", "pack")


def _convert_mixed() -> Iterator[Form]:
    for t, r, to in itertools.product(_INTEGERS, ROUNDINGS, ("f16", "f32", "f64")):
        yield make(f"cvt.{r}.{to}.{t}", to, _register(t), "convert")
        if r == "rz":
            yield make(f"cvt.{r}.sat.{to}.{t}", to, _register(t), "convert")
    for to, r, t in itertools.product(_INTEGERS, ROUNDINGS, ("f16", "f32", "f64")):
        yield make(f"cvt.{r}i.{to}.{t}", _register(to), t, "convert")
        if r == "rn":
            yield make(f"cvt.{r}i.sat.{to}.{t}", _register(to), t, "convert")
        if t == "f32":
            yield make(f"cvt.{r}i.ftz.{to}.{t}", _register(to), t, "convert")


def _convert_floats() -> Iterator[Form]:
    for t, r, sat in itertools.product(("f16", "f32", "f64"), ROUNDINGS, ("", ".sat")):
        yield make(f"cvt.{r}i{sat}.{t}.{t}", t, t, "convert")
        if t == "f32":
            yield make(f"cvt.{r}i.ftz{sat}.{t}.{t}", t, t, "convert")
    for r, sat in itertools.product(ROUNDINGS, ("", ".sat")):
        yield make(f"cvt.{r}{sat}.f32.f64", "f32", "f64", "convert")
        yield make(f"cvt.{r}.ftz{sat}.f32.f64", "f32", "f64", "convert")
        yield make(f"cvt.{r}{sat}.f16.f64", "f16", "f64", "convert")
        yield make(f"cvt.{r}{sat}.f16.f32", "f16", "f32", "convert")
    yield make("cvt.rn.ftz.f16.f32", "f16", "f32", "convert")
    for sat in ("", ".sat"):
        yield make(f"cvt{sat}.f64.f32", "f64", "f32", "convert")
        yield make(f"cvt.ftz{sat}.f64.f32", "f64", "f32", "convert")
        yield make(f"cvt{sat}.f32.f16", "f32", "f16", "convert")
        yield make(f"cvt.ftz{sat}.f32.f16", "f32", "f16", "convert")
        yield make(f"cvt{sat}.f64.f16", "f64", "f16", "convert")
    for sat in (".sat", ".ftz.sat"):
        yield make(f"cvt{sat}.f32.f32", "f32", "f32", "convert")
    yield make("cvt.sat.f64.f64", "f64", "f64", "convert")
    for r, relu in itertools.product(("rn", "rz"), ("", ".relu")):
        yield make(f"cvt.{r}{relu}.bf16.f32", "bf16", "f32", "convert", target=80)
        yield make(f"cvt.{r}{relu}.f16x2.f32", "f16x2", "f32 f32", "convert", target=80)
        yield make(f"cvt.{r}{relu}.bf16x2.f32", "bf16x2", "f32 f32", "convert", target=80)
    yield make("cvt.rna.tf32.f32", "i32", "f32", "convert", target=80)
    yield make("cvt.f32.bf16", "f32", "bf16", "convert", target=90)
    for t in ("e4m3x2", "e5m2x2"):
        for relu in ("", ".relu"):
            yield make(f"cvt.rn.satfinite{relu}.{t}.f32", "i16", "f32 f32", "convert", target=89)
            yield make(f"cvt.rn.satfinite{relu}.{t}.f16x2", "i16", "f16x2", "convert", target=89)
            yield make(f"cvt.rn{relu}.f16x2.{t}", "f16x2", "i16", "convert", target=89)


def _approximate() -> Iterator[Form]:
    """Instructions with a largest error; bounds.py knows it by the name."""
    names = []
    for ftz in ("", ".ftz"):
        names += [
            f"{op}.approx{ftz}.f32" for op in ("rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2")
        ]
        names += [f"div.approx{ftz}.f32", f"div.full{ftz}.f32"]
    names += ["tanh.approx.f32"]
    names += [f"{op}.approx.{t}" for op in ("ex2", "tanh") for t in ("f16", "f16x2")]
    names += [f"{op}.f64" for op in ("rcp.approx.ftz", "rsqrt.approx.ftz", "rsqrt.approx")]
    names += [f"{op}.{t}" for op in ("ex2.approx.ftz", "tanh.approx") for t in ("bf16", "bf16x2")]
    for name in names:
        t = name.rsplit(".", 1)[1]
        operands = f"{t} {t}" if name.startswith("div") else t
        target = 90 if t.startswith("bf16") else 75
        yield make(name, t, operands, "approximate", result="bound", target=target)


def float_forms() -> list[Form]:
    """Every form of this file."""
    parts = (
        _single_and_double,
        _half,
        _compare,
        _convert_integers,
        _convert_mixed,
        _convert_floats,
        _approximate,
    )
    return [form for part in parts for form in part()]
