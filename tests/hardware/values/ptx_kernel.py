# SPDX-License-Identifier: MIT
"""Builds the PTX text of one kernel, and of a module of kernels.

Every kernel has the same parameters and the same launch, which harness.cpp knows too: 2 blocks of
64 threads; `in`: 16 words of 8 bytes for each thread, of which INPUT_SLOTS says what each holds;
`out`: 16 words for each thread; `scratch`: 1024 words for all; `block`: 32 bytes by value.
"""

from __future__ import annotations

from forms import KINDS, Form
from splitmix import SplitMix, hash_of

THREADS, BLOCK_THREADS, SLOTS = 128, 64, 16
SCRATCH_BYTES, STRUCT_BYTES = 8192, 32

# Words of `in` that hold values of a kind, as the harness fills them.
INPUT_SLOTS = {
    "f32": (0, 1, 2, 3),
    "f64": (4, 5, 6),
    "f16": (7,),
    "f16x2": (7,),
    "bf16": (8,),
    "bf16x2": (8,),
    "i16": (9, 10, 11, 12),
    "i32": (9, 10, 11, 12),
    "i64": (13, 14, 15),
}


class Kernel:
    """One kernel under construction. Registers are written %<prefix><number>."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.random = SplitMix(hash_of(name))
        self.declarations: list[str] = []  # inside the body, such as .shared arrays
        self.lines: list[str] = []
        self._count: dict[str, int] = {}
        self._labels = 0

    def register(self, kind: str) -> str:
        prefix = KINDS[kind][0]
        self._count[prefix] = self._count.get(prefix, 0) + 1
        return f"%{prefix}{self._count[prefix]}"

    def label(self) -> str:
        self._labels += 1
        return f"L{self._labels}"

    def emit(self, line: str) -> None:
        self.lines.append("    " + line)

    def place(self, label: str) -> None:
        self.lines.append(f"{label}:")

    def assign(self, kind: str, text: str) -> str:
        """Emits `text` with {d} as a new register of this kind, which it returns."""
        register = self.register(kind)
        self.emit(text.replace("{d}", register))
        return register

    def load(self, kind: str, neighbour: int = 0) -> str:
        """A new register with an input of this kind: of this thread, or of another one."""
        if kind == "pred":
            value = self.load("i32", neighbour)
            return self.assign("pred", f"setp.gt.s32 {{d}}, {value}, 2;")
        slot = self.random.choice(INPUT_SLOTS[kind])
        size = KINDS[kind][2]
        offset = 8 * slot + size * self.random.below(8 // size)
        if kind == "i16":
            offset = 8 * slot
        base = "%in"
        if neighbour:
            other = self.assign("i32", f"add.u32 {{d}}, %t, {neighbour};")
            other = self.assign("i32", f"and.b32 {{d}}, {other}, {THREADS - 1};")
            base = self.assign("i64", f"mad.wide.u32 {{d}}, {other}, {8 * SLOTS}, %inputs;")
        suffix = "u16" if size == 2 else KINDS[kind][1][1:]
        return self.assign(kind, f"ld.global.{suffix} {{d}}, [{base}+{offset}];")

    def apply(self, form: Form, operands: list[str], guard: str = "") -> list[str]:
        """Emits a form with new result registers; returns those."""
        results = [self.register(kind) for kind in form.results]
        self.write(form, results, operands, guard)
        return results

    def write(self, form: Form, results: list[str], operands: list[str], guard: str = "") -> None:
        """Emits a form into given registers, under a predicate such as "@%p1 "."""
        names = dict(zip("de", results, strict=False)) | dict(zip("abcf", operands, strict=False))
        self.emit(guard + form.text.format(**names))

    def canonical(self, kind: str, value: str) -> str:
        """The value with every NaN made the same one: PTX does not say which NaN it is."""
        if kind in ("f32", "f64"):
            nan = "0f7FFFFFFF" if kind == "f32" else "0d7FFFFFFFFFFFFFFF"
            test = self.assign("pred", f"testp.notanumber.{kind} {{d}}, {value};")
            return self.assign(kind, f"selp.{kind} {{d}}, {nan}, {value}, {test};")
        if kind in ("f16", "bf16"):
            limit = 0x7C00 if kind == "f16" else 0x7F80
            size = self.assign("i16", f"and.b16 {{d}}, {value}, 0x7FFF;")
            test = self.assign("pred", f"setp.gt.u16 {{d}}, {size}, {limit};")
            return self.assign("i16", f"selp.b16 {{d}}, 0x7FFF, {value}, {test};")
        if kind in ("f16x2", "bf16x2"):
            low, high = self.register("i16"), self.register("i16")
            self.emit(f"mov.b32 {{{low}, {high}}}, {value};")
            low, high = (self.canonical(kind[:-2], half) for half in (low, high))
            return self.assign("i32", f"mov.b32 {{d}}, {{{low}, {high}}};")
        return value

    def store(self, kind: str, value: str, slot: int) -> None:
        """Stores a value's bits into a word of `out`."""
        if kind == "pred":
            kind, value = "i32", self.assign("i32", f"selp.u32 {{d}}, 1, 0, {value};")
        self.emit(f"st.global.{KINDS[kind][1][1:]} [%out+{8 * slot}], {value};")

    def text(self) -> str:
        registers = [
            f"    .reg {type_} %{prefix}<{self._count[prefix] + 1}>;"
            for prefix, type_ in sorted({(p, t) for p, t, _ in KINDS.values()})
            if prefix in self._count
        ]
        head = f"""
.visible .entry {self.name}(.param .u64 {self.name}_in, .param .u64 {self.name}_out,
    .param .u64 {self.name}_scratch, .param .align 8 .b8 {self.name}_block[{STRUCT_BYTES}])
{{
    .reg .b64 %in, %inputs, %out, %scratch;
    .reg .b32 %t, %own, %group;"""
        start = f"""
    ld.param.u64 %inputs, [{self.name}_in];
    ld.param.u64 %out, [{self.name}_out];
    ld.param.u64 %scratch, [{self.name}_scratch];
    cvta.to.global.u64 %inputs, %inputs;
    cvta.to.global.u64 %out, %out;
    cvta.to.global.u64 %scratch, %scratch;
    mov.u32 %own, %tid.x;
    mov.u32 %group, %ctaid.x;
    mad.lo.u32 %t, %group, {BLOCK_THREADS}, %own;
    mad.wide.u32 %in, %t, {8 * SLOTS}, %inputs;
    mad.wide.u32 %out, %t, {8 * SLOTS}, %out;
"""
        lines = [head.lstrip("\n"), *registers, *self.declarations, start.strip("\n")]
        return "\n".join([*lines, *self.lines, "    ret;", "}", ""])


def module_text(target: int, kernels: list[Kernel], functions: str = "") -> str:
    """A whole PTX module."""
    head = f".version 8.1\n.target sm_{target}\n.address_size 64\n\n"
    return head + functions + "\n".join(kernel.text() for kernel in kernels)
