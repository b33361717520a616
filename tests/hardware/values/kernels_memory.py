# SPDX-License-Identifier: MIT
"""Kernels about memory and other threads: widths and spaces, barriers, atomics, warp operations.

No kernel has a race and every result is independent of order, so one result is right. Segments run
one after the other in code that all threads reach; each takes values from a pool and adds some.
"""

from __future__ import annotations

from kernels_plain import Expressions
from ptx_kernel import BLOCK_THREADS, STRUCT_BYTES, Kernel

_FULL = 0xFFFFFFFF
# A load's type, the kind of register that takes it, and its bytes.
_LOADS = (
    ("u8", "i16", 1),
    ("s8", "i16", 1),
    ("u8", "i32", 1),
    ("s8", "i32", 1),
    ("s8", "i64", 1),
    ("u16", "i16", 2),
    ("s16", "i32", 2),
    ("u16", "i64", 2),
    ("b32", "i32", 4),
    ("s32", "i64", 4),
    ("u32", "i64", 4),
    ("f32", "f32", 4),
    ("b64", "i64", 8),
    ("f64", "f64", 8),
)
_VECTORS = (
    ("v2", "b8", "i16", 2),
    ("v4", "b8", "i16", 4),
    ("v2", "b16", "i16", 4),
    ("v4", "b16", "i16", 8),
    ("v2", "b32", "i32", 8),
    ("v4", "b32", "i32", 16),
    ("v2", "f32", "f32", 8),
    ("v4", "f32", "f32", 16),
    ("v2", "b64", "i64", 16),
    ("v2", "f64", "f64", 16),
)


class _Memory:
    def __init__(self, kernel: Kernel, pool: Expressions) -> None:
        self.kernel = kernel
        self.random = kernel.random
        self.pool = pool
        self.arrays = 0

    # --- helpers ---------------------------------------------------------------------------------

    def permuted(self, of: str, count: int) -> str:
        """A permutation of 0..count-1 (a power of two), applied to register `of`."""
        factor, shift = 2 * self.random.below(count) + 1, self.random.below(count)
        value = self.kernel.assign("i32", f"mad.lo.u32 {{d}}, {of}, {factor}, {shift};")
        return self.kernel.assign("i32", f"and.b32 {{d}}, {value}, {count - 1};")

    def address(self, base: str, index: str, scale: int) -> str:
        """base + index * scale, 64 bits; `base` is a register or a variable's name."""
        if not base.startswith("%"):
            base = self.kernel.assign("i64", f"mov.u64 {{d}}, {base};")
        return self.kernel.assign("i64", f"mad.wide.u32 {{d}}, {index}, {scale}, {base};")

    def read(self, space: str, base: str, index: str, span: int) -> None:
        """A random load somewhere in `span` bytes, at a place that depends on `index`."""
        dot = f".{space}" if space else ""
        if self.random.chance(35):
            vector, type_, kind, size = self.random.choice(_VECTORS)
            place = self.permuted(index, span // size)
            where = self.address(base, place, size)
            lanes = [self.kernel.register(kind) for _ in range(int(vector[1]))]
            self.kernel.emit(f"ld{dot}.{vector}.{type_} {{{', '.join(lanes)}}}, [{where}];")
            for lane in lanes:
                self.pool.add(kind, lane)
        else:
            type_, kind, size = self.random.choice(_LOADS)
            place = self.permuted(index, span // size)
            where = self.address(base, place, size)
            strong = (
                ".volatile" if space not in ("const", "local") and self.random.chance(10) else ""
            )
            text = f"ld{strong}{dot}.{type_} {{d}}, [{where}];"
            self.pool.add(kind, self.kernel.assign(kind, text))

    def fill(self, space: str, base: str, index: str, size: int) -> None:
        """Stores `size` bytes (16 or 32) at base + index * size, by narrow and wide stores."""
        dot = f".{space}" if space else ""
        where = self.address(base, index, size)
        at = 0
        while at < size:
            widths = [w for w in (1, 2, 4, 8, 16) if at % w == 0 and at + w <= size]
            width = self.random.choice(widths)
            if width == 16 and self.random.chance(50):
                values = ", ".join(self.pool.value("i32") for _ in range(4))
                self.kernel.emit(f"st{dot}.v4.b32 [{where}+{at}], {{{values}}};")
            elif width == 16:
                values = ", ".join(self.pool.value("i64") for _ in range(2))
                self.kernel.emit(f"st{dot}.v2.b64 [{where}+{at}], {{{values}}};")
            elif width == 8 and self.random.chance(40):
                values = ", ".join(self.pool.value("i16") for _ in range(4))
                self.kernel.emit(f"st{dot}.v4.b16 [{where}+{at}], {{{values}}};")
            else:
                kind = {1: "i32", 2: "i16", 4: "i32", 8: "i64"}[width]
                value = self.pool.value(kind)
                self.kernel.emit(f"st{dot}.b{8 * width} [{where}+{at}], {value};")
            at += width

    def barrier(self) -> None:
        roll = self.random.below(10)
        if roll < 4:
            self.kernel.emit("bar.sync 0;")
        elif roll < 5:
            self.kernel.emit("barrier.sync 0;")
        elif roll < 6:
            self.kernel.emit(f"bar.sync {self.random.between(1, 15)}, {BLOCK_THREADS};")
        elif roll < 8:
            text = f"bar.red.popc.u32 {{d}}, 0, {self.pool.value('pred')};"
            self.pool.add("i32", self.kernel.assign("i32", text))
        else:
            op = self.random.choice(("and", "or"))
            text = f"bar.red.{op}.pred {{d}}, 0, {self.pool.value('pred')};"
            self.pool.add("pred", self.kernel.assign("pred", text))

    # --- segments --------------------------------------------------------------------------------

    def shared(self) -> None:
        """Every thread fills its part of an array; after a barrier they read one another's."""
        self.arrays += 1
        size = self.random.choice((16, 32))
        name = f"tile{self.arrays}"
        span = size * BLOCK_THREADS
        self.kernel.declarations.append(f"    .shared .align 16 .b8 {name}[{span}];")
        space, base = "shared", name
        if self.random.chance(30):  # by a generic address
            pointer = self.kernel.assign("i64", f"mov.u64 {{d}}, {name};")
            space, base = "", self.kernel.assign("i64", f"cvta.shared.u64 {{d}}, {pointer};")
        for _ in range(self.random.between(1, 2)):
            self.fill(space, base, self.permuted("%own", BLOCK_THREADS), size)
            self.barrier()
            for _ in range(self.random.between(2, 5)):
                self.read(space, base, self.permuted("%own", BLOCK_THREADS), span)
            self.kernel.emit("bar.sync 0;")

    def local(self) -> None:
        """An array of this thread, indexed by data."""
        self.arrays += 1
        name = f"own{self.arrays}"
        self.kernel.declarations.append(f"    .local .align 16 .b8 {name}[64];")
        for part in self.random.shuffled(range(4)):
            index = self.kernel.assign("i32", f"mov.u32 {{d}}, {part};")
            self.fill("local", name, index, 16)
        for _ in range(self.random.between(2, 4)):
            self.read("local", name, self.pool.value("i32"), 64)

    def inputs(self) -> None:
        """Loads of every width from global memory, by its own space, read-only or generic."""
        space = self.random.choice(("global", "global.nc", ""))
        base = "%inputs"
        if not space:
            base = self.kernel.assign("i64", "cvta.global.u64 {d}, %inputs;")
        for _ in range(self.random.between(2, 5)):
            dot = space if space != "global.nc" else "global"
            self.read(dot, base, self.permuted("%t", 1024), 16384)

    def parameter(self) -> None:
        """Parts of a parameter passed by value."""
        for _ in range(self.random.between(1, 3)):
            type_, kind, size = self.random.choice(_LOADS)
            offset = size * self.random.below(STRUCT_BYTES // size)
            text = f"ld.param.{type_} {{d}}, [{self.kernel.name}_block+{offset}];"
            self.pool.add(kind, self.kernel.assign(kind, text))

    def constant(self) -> None:
        """The module's constant table, at places that differ by lane."""
        for _ in range(self.random.between(1, 3)):
            self.read("const", "table", self.pool.value("i32"), 256)

    def own_atomics(self) -> None:
        """Atomics on words that no other thread touches: what they return is defined too."""
        place = self.address("%scratch", "%t", 32)
        for _ in range(self.random.between(2, 4)):
            offset = 8 * self.random.below(4)
            type_, kind, ops = self.random.choice(
                (
                    ("u32", "i32", ("add", "min", "max", "inc", "dec", "exch")),
                    ("s32", "i32", ("add", "min", "max")),
                    ("b32", "i32", ("and", "or", "xor", "exch", "cas")),
                    ("u64", "i64", ("add", "min", "max")),
                    ("s64", "i64", ("min", "max")),
                    ("b64", "i64", ("and", "or", "xor", "exch", "cas")),
                    ("f32", "f32", ("add",)),
                    ("f64", "f64", ("add",)),
                    ("noftz.f16x2", "f16x2", ("add",)),
                )
            )
            op = self.random.choice(ops)
            if op == "exch":
                type_ = "b" + type_[1:]
            operands = [self.pool.value(kind) for _ in range(2 if op == "cas" else 1)]
            if op == "cas" and self.random.chance(60):  # often with the value that is there
                width = type_[1:]
                operands[0] = self.kernel.assign(
                    kind, f"ld.global.b{width} {{d}}, [{place}+{offset}];"
                )
            order = self.random.choice(("", ".relaxed.gpu", ".acq_rel.cta", ".release.sys"))
            text = (
                f"atom{order}.global.{op}.{type_} {{d}}, [{place}+{offset}], {', '.join(operands)};"
            )
            old = self.kernel.assign(kind, text)
            self.pool.add(kind, self.kernel.canonical(kind, old))

    def common_atomics(self) -> None:
        """Atomics of all threads on few words, one operation a word: only the sum is defined."""
        for _ in range(self.random.between(1, 3)):
            number, (op, type_, kind) = self.random.choice(
                list(
                    enumerate(
                        (
                            ("add", "u32", "i32"),
                            ("min", "s32", "i32"),
                            ("max", "u32", "i32"),
                            ("and", "b32", "i32"),
                            ("or", "b32", "i32"),
                            ("xor", "b32", "i32"),
                            ("add", "u64", "i64"),
                            ("min", "u64", "i64"),
                            ("max", "s64", "i64"),
                            ("inc", "u32", "i32"),
                            ("dec", "u32", "i32"),
                        )
                    )
                )
            )
            index = self.kernel.assign("i32", f"and.b32 {{d}}, {self.pool.value('i32')}, 31;")
            place = self.address("%scratch", index, 8)
            offset = 4096 + 256 * number
            value = "77" if op in ("inc", "dec") else self.pool.value(kind)
            if self.random.chance(50):
                self.kernel.emit(f"red.global.{op}.{type_} [{place}+{offset}], {value};")
            else:
                self.kernel.assign(
                    kind, f"atom.global.{op}.{type_} {{d}}, [{place}+{offset}], {value};"
                )

    def shared_atomics(self) -> None:
        """A histogram in shared memory and one result of every bin."""
        self.arrays += 1
        name = f"bins{self.arrays}"
        self.kernel.declarations.append(f"    .shared .align 8 .b32 {name}[{BLOCK_THREADS}];")
        own = self.address(name, "%own", 4)
        self.kernel.emit(f"st.shared.b32 [{own}], {self.pool.value('i32')};")
        self.kernel.emit("bar.sync 0;")
        op, type_ = self.random.choice(
            (("add", "u32"), ("min", "s32"), ("max", "s32"), ("xor", "b32"), ("or", "b32"))
        )
        mask = self.random.choice((63, 31, 7, 1))
        index = self.kernel.assign("i32", f"and.b32 {{d}}, {self.pool.value('i32')}, {mask};")
        place = self.address(name, index, 4)
        self.kernel.emit(f"red.shared.{op}.{type_} [{place}], {self.pool.value('i32')};")
        self.kernel.emit("bar.sync 0;")
        other = self.address(name, self.permuted("%own", BLOCK_THREADS), 4)
        self.pool.add("i32", self.kernel.assign("i32", f"ld.shared.b32 {{d}}, [{other}];"))
        self.kernel.emit("bar.sync 0;")

    def shuffle(self) -> None:
        mode = self.random.choice(("idx", "up", "down", "bfly"))
        width = self.random.choice((32, 16, 8, 4, 2))
        clamp = (32 - width) << 8 | (0 if mode == "up" else 31)
        by = self.random.choice(("%own", str(self.random.below(32)), self.pool.value("i32")))
        value = self.pool.value("i32")
        result, found = self.kernel.register("i32"), self.kernel.register("pred")
        text = f"shfl.sync.{mode}.b32 {result}|{found}, {value}, {by}, {clamp}, {_FULL};"
        self.kernel.emit(text)
        self.pool.add("i32", result)
        self.pool.add("pred", found)

    def vote(self, mask: int = _FULL) -> None:
        kind = self.random.below(5)
        if kind == 0:
            text = f"vote.sync.ballot.b32 {{d}}, {self.pool.value('pred')}, {mask};"
            self.pool.add("i32", self.kernel.assign("i32", text))
        elif kind < 3:
            op = self.random.choice(("any", "all", "uni"))
            text = f"vote.sync.{op}.pred {{d}}, {self.pool.value('pred')}, {mask};"
            self.pool.add("pred", self.kernel.assign("pred", text))
        elif kind == 3:
            few = self.kernel.assign("i32", f"and.b32 {{d}}, {self.pool.value('i32')}, 5;")
            text = f"match.any.sync.b32 {{d}}, {few}, {mask};"
            self.pool.add("i32", self.kernel.assign("i32", text))
        else:
            few = self.kernel.assign("i64", f"and.b64 {{d}}, {self.pool.value('i64')}, 1;")
            result, same = self.kernel.register("i32"), self.kernel.register("pred")
            self.kernel.emit(f"match.all.sync.b64 {result}|{same}, {few}, {mask};")
            self.pool.add("i32", result)
            self.pool.add("pred", same)

    def split_warp(self) -> None:
        """Two parts of each warp vote for themselves, and meet again."""
        bit = self.random.choice((1, 2, 4, 8, 16))
        mine = sum(1 << lane for lane in range(32) if lane & bit)
        part = self.kernel.assign("i32", f"and.b32 {{d}}, %own, {bit};")
        upper = self.kernel.assign("pred", f"setp.ne.s32 {{d}}, {part}, 0;")
        other, end = self.kernel.label(), self.kernel.label()
        votes, sums = self.kernel.register("i32"), self.kernel.register("i32")
        test, value = self.pool.value("pred"), self.pool.value("i32")
        partner = self.random.choice([b for b in (1, 2, 4, 8, 16) if b != bit])
        self.kernel.emit(f"@!{upper} bra {other};")
        for mask in (mine, mine ^ _FULL):
            self.kernel.emit(f"vote.sync.ballot.b32 {votes}, {test}, {mask};")
            self.kernel.emit(f"shfl.sync.bfly.b32 {sums}, {value}, {partner}, 31, {mask};")
            if mask == mine:
                self.kernel.emit(f"xor.b32 {sums}, {sums}, {votes};")
                self.kernel.emit(f"bra {end};")
                self.kernel.place(other)
        self.kernel.place(end)
        if self.random.chance(50):
            self.kernel.emit(f"bar.warp.sync {_FULL};")
        self.pool.add("i32", votes)
        self.pool.add("i32", sums)

    def identity(self) -> None:
        """Special registers that PTX defines."""
        name = self.random.choice(
            ("laneid", "ntid.x", "nctaid.x", "ctaid.x", "tid.y", "ntid.z", "lanemask_eq")
            + ("lanemask_lt", "lanemask_le", "lanemask_gt", "lanemask_ge")
        )
        self.pool.add("i32", self.kernel.assign("i32", f"mov.u32 {{d}}, %{name};"))

    def reduce_warp(self) -> None:
        """redux.sync, which needs sm_80."""
        op, type_ = self.random.choice(
            (("add", "u32"), ("min", "s32"), ("max", "u32"), ("xor", "b32"), ("and", "b32"))
        )
        text = f"redux.sync.{op}.{type_} {{d}}, {self.pool.value('i32')}, {_FULL};"
        self.pool.add("i32", self.kernel.assign("i32", text))


def memory_kernel(name: str, pool_forms: list, target: int) -> Kernel:
    """Three to seven segments with some arithmetic between."""
    kernel = Kernel(name)
    pool = Expressions(kernel, pool_forms)
    memory = _Memory(kernel, pool)
    segments = [
        *(memory.shared,) * 4,
        memory.local,
        *(memory.inputs,) * 2,
        memory.parameter,
        memory.constant,
        *(memory.own_atomics,) * 3,
        *(memory.common_atomics,) * 2,
        *(memory.shared_atomics,) * 2,
        *(memory.shuffle,) * 4,
        *(memory.vote,) * 4,
        *(memory.split_warp,) * 2,
        memory.identity,
    ]
    if target >= 80:
        segments += [memory.reduce_warp] * 3
    for _ in range(kernel.random.between(3, 7)):
        kernel.random.choice(segments)()
        for _ in range(kernel.random.below(3)):
            pool.step()
    pool.store()
    return kernel


def constant_table(seed: int) -> str:
    """The declaration of the table that `constant` reads."""
    values = [(seed * (i + 1) * 0x9E3779B1 >> 7) & 0xFF for i in range(256)]
    return f".const .align 16 .b8 table[256] = {{{', '.join(map(str, values))}}};\n\n"
