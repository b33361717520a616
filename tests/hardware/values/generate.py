# SPDX-License-Identifier: MIT
"""Writes the random kernels as PTX modules: generate.py FOLDER. The same files on every machine."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import kernels_control
from forms import Form, integer_forms
from forms_float import float_forms
from kernels_control import control_kernel
from kernels_memory import constant_table, memory_kernel
from kernels_plain import expression_kernel, table_kernel, usable
from ptx_kernel import Kernel, module_text

KERNELS_IN_A_MODULE = 40
EXPRESSIONS, CONTROLS, MEMORIES = 4400, 2000, 2000  # for sm_75; and a tenth as many for sm_90


@dataclasses.dataclass
class Module:
    """One file of kernels, and the forms of the table kernels among them."""

    name: str
    target: int
    kernels: list[Kernel]
    functions: str = ""

    def text(self) -> str:
        return module_text(self.target, self.kernels, self.functions)


def all_forms() -> list[Form]:
    return integer_forms() + float_forms()


def table_names(form: Form) -> list[str]:
    """The names of the kernels that try this form."""
    safe = "".join(c if c.isalnum() else "_" for c in form.name)
    if form.group == "approximate":
        return [f"a_{safe}_{n}" for n in range(8)]
    few = form.group in ("convert", "video", "compare", "compare float")
    return [f"t_{safe}_{n}" for n in range(1 if few else 2)]


def _packed(
    name: str, target: int, kernels: Iterator[Kernel], functions: str = ""
) -> Iterator[Module]:
    batch: list[Kernel] = []
    number = 0
    for kernel in kernels:
        batch.append(kernel)
        if len(batch) == KERNELS_IN_A_MODULE:
            yield Module(f"{name}{number:03}", target, batch, functions)
            batch, number = [], number + 1
    if batch:
        yield Module(f"{name}{number:03}", target, batch, functions)


def _tables(forms: list[Form], name: str) -> Iterator[Module]:
    """The kernels that try one form each, in modules NAME<target>_<number>."""
    for target in sorted({form.target for form in forms}):
        tables = (
            table_kernel(form, number, name)
            for form in forms
            if form.target == target
            for number, name in enumerate(table_names(form))
        )
        yield from _packed(f"{name}{target}_", target, tables)


def approximate_modules() -> Iterator[Module]:
    """The modules of approximate instructions."""
    yield from _tables([form for form in all_forms() if form.group == "approximate"], "approximate")


def modules() -> Iterator[Module]:
    """All modules with exact results, built one by one."""
    forms = [form for form in all_forms() if form.group != "approximate"]
    yield from _tables(forms, "table")
    expressions = [form for form in forms if usable(form)]
    simple = [form for form in forms if kernels_control.simple(form)]
    for target, share in ((75, 1.0), (90, 0.1)):
        known = [form for form in expressions if form.target <= target]
        names = (f"e{target}_{n:04}" for n in range(int(EXPRESSIONS * share)))
        yield from _packed(
            f"expression{target}_", target, (expression_kernel(n, known) for n in names)
        )
        names = (f"m{target}_{n:04}" for n in range(int(MEMORIES * share)))
        kernels = (memory_kernel(n, known, target) for n in names)
        yield from _packed(f"memory{target}_", target, kernels, constant_table(target))
    names = (f"c_{n:04}" for n in range(CONTROLS))
    kernels = (control_kernel(n, simple) for n in names)
    yield from _packed("control_", 75, kernels, kernels_control.FUNCTIONS)


def write(folder: Path, made: Iterable[Module] | None = None) -> int:
    """Writes these modules, or all with exact results; returns the number of kernels."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.ptx"):
        old.unlink()
    count = 0
    for module in modules() if made is None else made:
        (folder / f"{module.name}.ptx").write_text(module.text())
        count += len(module.kernels)
    return count


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: generate.py FOLDER")
    print(write(Path(sys.argv[1])), "kernels")
