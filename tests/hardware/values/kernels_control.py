# SPDX-License-Identifier: MIT
"""Kernels with control flow: nested divergent branches, loops, switches, calls, early returns."""

from __future__ import annotations

from collections.abc import Sequence

from forms import Form
from kernels_plain import immediate, usable
from ptx_kernel import SLOTS, Kernel

_KINDS = ("i32", "i32", "i32", "i64", "f32", "f64")

# Called by the kernels: a divergent body, a recursion whose depth differs by lane, two results.
# Visible, because ptxas 13.0 crashes on some kernels when it tries to inline the recursion.
FUNCTIONS = """
.visible .func (.param .b32 result) mix(.param .b32 x, .param .b32 y)
{
    .reg .b32 %r<6>;
    .reg .pred %p<2>;
    ld.param.b32 %r1, [x];
    ld.param.b32 %r2, [y];
    setp.lt.s32 %p1, %r1, %r2;
    @%p1 bra Less;
    mad.lo.s32 %r3, %r1, 5, %r2;
    st.param.b32 [result], %r3;
    ret;
Less:
    xor.b32 %r4, %r1, %r2;
    shr.u32 %r5, %r4, 3;
    st.param.b32 [result], %r5;
    ret;
}

.visible .func (.param .b32 result) descend(.param .b32 depth, .param .b32 x)
{
    .reg .b32 %r<8>;
    .reg .pred %p<2>;
    ld.param.b32 %r1, [depth];
    ld.param.b32 %r2, [x];
    setp.eq.s32 %p1, %r1, 0;
    @%p1 bra Bottom;
    sub.s32 %r3, %r1, 1;
    mad.lo.s32 %r4, %r2, 3, %r1;
    {
    .param .b32 down;
    .param .b32 carried;
    .param .b32 got;
    st.param.b32 [down], %r3;
    st.param.b32 [carried], %r4;
    call (got), descend, (down, carried);
    ld.param.b32 %r5, [got];
    }
    add.s32 %r6, %r5, %r2;
    st.param.b32 [result], %r6;
    ret;
Bottom:
    not.b32 %r7, %r2;
    st.param.b32 [result], %r7;
    ret;
}

.visible .func (.param .align 8 .b8 pair[16]) both(.param .b64 x, .param .b64 y)
{
    .reg .b64 %q<5>;
    ld.param.b64 %q1, [x];
    ld.param.b64 %q2, [y];
    add.s64 %q3, %q1, %q2;
    sub.s64 %q4, %q1, %q2;
    st.param.b64 [pair], %q3;
    st.param.b64 [pair+8], %q4;
    ret;
}

"""


def simple(form: Form) -> bool:
    """Whether control-flow kernels may use this form: one instruction on the kinds they have."""
    return (
        form.text.count(";") == 1
        and form.target == 75
        and usable(form)
        and form.result == "exact"
        and form.group in ("integer", "bits", "float", "double", "convert")
        and len(form.results) == 1
        and all(kind in _KINDS for kind in (*form.results, *form.operands))
    )


class _Program:
    """Random statements over registers that change."""

    def __init__(self, kernel: Kernel, forms: Sequence[Form]) -> None:
        self.kernel = kernel
        self.random = kernel.random
        self.variables: dict[str, list[str]] = {}
        counts = {"i32": 5, "i64": 2, "f32": 3, "f64": 2}
        for kind, count in counts.items():
            self.variables[kind] = [kernel.load(kind) for _ in range(count)]
        self.forms: dict[str, list[Form]] = {}
        for form in forms:
            self.forms.setdefault(form.results[0], []).append(form)
        self.budget = self.random.between(14, 40)
        self.loops = 0

    def any(self, kind: str) -> str:
        return self.random.choice(self.variables[kind])

    def condition(self) -> str:
        """A predicate that usually differs between lanes."""
        kind = self.random.choice(("i32", "i32", "i64", "f32", "f64"))
        if self.random.chance(35):
            mask = self.random.choice((1, 2, 4, 3, 6, 16, 31))
            bits = self.kernel.assign("i32", f"and.b32 {{d}}, {self.any('i32')}, {mask};")
            return self.kernel.assign("pred", f"setp.ne.s32 {{d}}, {bits}, 0;")
        if self.random.chance(20):
            limit = self.random.between(1, 63)
            return self.kernel.assign("pred", f"setp.lt.u32 {{d}}, %own, {limit};")
        type_ = {"i32": "s32", "i64": "s64"}.get(kind, kind)
        order = self.random.choice(("lt", "ge", "gt", "ne"))
        other = immediate(self.random, kind) if self.random.chance(50) else self.any(kind)
        return self.kernel.assign("pred", f"setp.{order}.{type_} {{d}}, {self.any(kind)}, {other};")

    def assignment(self) -> None:
        kind = self.random.choice(_KINDS)
        form = self.random.choice(self.forms[kind])
        operands = [self.any(k) for k in form.operands]
        guard = f"@{self.condition()} " if self.random.chance(12) else ""
        self.kernel.write(form, [self.any(kind)], operands, guard)

    def branch(self, depth: int) -> None:
        other, end = self.kernel.label(), self.kernel.label()
        negated = "!" if self.random.chance(50) else ""
        self.kernel.emit(f"@{negated}{self.condition()} bra {other};")
        self.block(depth + 1)
        if self.random.chance(60):
            self.kernel.emit(f"bra {end};")
            self.kernel.place(other)
            self.block(depth + 1)
            self.kernel.place(end)
        else:
            self.kernel.place(other)

    def loop(self, depth: int) -> None:
        """At most 7 rounds, a number that differs by lane; now and then left early."""
        kernel = self.kernel
        counter = kernel.assign("i32", f"and.b32 {{d}}, {self.any('i32')}, 7;")
        again, end = kernel.label(), kernel.label()
        self.loops += 1
        tested_first = self.random.chance(60)
        if tested_first:
            done = kernel.assign("pred", f"setp.eq.s32 {{d}}, {counter}, 0;")
            kernel.emit(f"@{done} bra {end};")
        kernel.place(again)
        self.block(depth + 1)
        if self.random.chance(40):
            kernel.emit(f"@{self.condition()} bra {end};")
        if self.random.chance(25):
            self.block(depth + 1)
        kernel.emit(f"sub.s32 {counter}, {counter}, 1;")
        more = kernel.assign("pred", f"setp.gt.s32 {{d}}, {counter}, 0;")
        kernel.emit(f"@{more} bra {again};")
        kernel.place(end)
        self.loops -= 1

    def switch(self, depth: int) -> None:
        """By a table or by comparisons; cases may fall through."""
        kernel = self.kernel
        ways = self.random.between(3, 5)
        labels = [kernel.label() for _ in range(ways)]
        end = kernel.label()
        index = kernel.assign("i32", f"rem.u32 {{d}}, {self.any('i32')}, {ways};")
        if self.random.chance(50):
            table = kernel.label()
            kernel.lines.append(f"{table}: .branchtargets {', '.join(labels)};")
            kernel.emit(f"brx.idx {index}, {table};")
        else:
            for value, label in list(enumerate(labels))[:-1]:
                is_it = kernel.assign("pred", f"setp.eq.s32 {{d}}, {index}, {value};")
                kernel.emit(f"@{is_it} bra {label};")
            kernel.emit(f"bra {labels[-1]};")
        for label in self.random.shuffled(labels):
            kernel.place(label)
            self.block(depth + 1)
            if self.random.chance(70):
                kernel.emit(f"bra {end};")
        kernel.place(end)

    def call(self) -> None:
        kernel = self.kernel
        which = self.random.below(3)
        name, type_ = (("mix", "b32"), ("descend", "b32"), ("both", "b64"))[which]
        kind = "i64" if type_ == "b64" else "i32"
        operands = [self.any(kind), self.any(kind)]
        if name == "descend":
            operands[0] = kernel.assign("i32", f"and.b32 {{d}}, {operands[0]}, 7;")
        offsets = (0,) if which < 2 else (0, 8)
        kernel.emit("{")
        kernel.emit(f".param .{type_} x;")
        kernel.emit(f".param .{type_} y;")
        result = ".param .b32 result;" if which < 2 else ".param .align 8 .b8 result[16];"
        kernel.emit(result)
        kernel.emit(f"st.param.{type_} [x], {operands[0]};")
        kernel.emit(f"st.param.{type_} [y], {operands[1]};")
        kernel.emit(f"call (result), {name}, (x, y);")
        for offset in offsets:
            kernel.emit(f"ld.param.{type_} {self.any(kind)}, [result+{offset}];")
        kernel.emit("}")

    def leave(self) -> None:
        """Some lanes store what they have and end here."""
        stay = self.kernel.label()
        self.kernel.emit(f"@{self.condition()} bra {stay};")
        self.finish()
        self.kernel.emit(self.random.choice(("ret;", "exit;")))
        self.kernel.place(stay)

    def finish(self) -> None:
        slot = 0
        for kind, registers in self.variables.items():
            for register in registers:
                self.kernel.store(kind, self.kernel.canonical(kind, register), slot)
                slot += 1
        assert slot <= SLOTS

    def block(self, depth: int) -> None:
        for _ in range(self.random.between(1, 4)):
            if self.budget <= 0:
                self.assignment()
                return
            self.budget -= 1
            # Nested loops multiply: at most three deep, 7 rounds each.
            roll = self.random.below(100)
            if depth >= 5 or roll < 45:
                self.assignment()
            elif roll < 65:
                self.branch(depth)
            elif roll < 80:
                if self.loops < 3:
                    self.loop(depth)
            elif roll < 88:
                self.switch(depth)
            elif roll < 94:
                self.call()
            elif roll < 97:
                self.leave()


def control_kernel(name: str, forms: Sequence[Form]) -> Kernel:
    """Random statements, nested up to five deep."""
    kernel = Kernel(name)
    program = _Program(kernel, forms)
    while program.budget > 0:
        program.block(0)
    program.finish()
    return kernel
