#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which PTX the emulated device runs: checks ptx/forms.txt and makes common/emulator/PTX.md.

Every form of forms.txt must run, or be refused where a line says so, by its name and its line;
every mnemonic of opcodes.def must have a form; and the table must be what this prints. `--update`
writes it.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FORMS = HERE / "ptx" / "forms.txt"
OPCODES = ROOT / "common" / "emulator" / "ptx" / "opcodes.def"
TABLE = ROOT / "common" / "emulator" / "PTX.md"
TYPE = re.compile(
    r"^(pred|[busf](8|16|32|64|128)(x2)?|bf16(x2)?|tf32|e[2-5]m[1-3](x2)?|[us][24]|b1)$"
)

HEAD = """# PTX that the emulated device runs

Made by `tests/emulator/ptx_coverage.py --update` from what the machine accepts of
`tests/emulator/ptx/forms.txt`; a test fails when it is out of date. A form is a mnemonic with its
modifiers, types and kinds of operands. What is refused is refused when the kernel is loaded, with
the instruction, its line in PTX and in the source. `tests/emulator/machine` tests the values.

"""


def known_by_table(opcode: str) -> str:
    """The mnemonic of a form."""
    return re.split(r"[ .]", opcode, maxsplit=1)[0]


def run_forms(program: Path) -> list[list[str]]:
    """The lines of ptx_forms: section, form, expected, found, reason, message."""
    done = subprocess.run([program, FORMS], capture_output=True, text=True, check=True)
    return [line.split("\t") for line in done.stdout.splitlines()]


def complaints(rows: list[list[str]]) -> list[str]:
    """What is not as forms.txt says."""
    out = []
    for _, form, expected, found, _, message in rows:
        if expected != found:
            out.append(f"`{form}` should be {expected}, but: {message or 'runs'}")
        elif found == "refused":
            mnemonic = form.split(" ")[0]
            if mnemonic not in message or "PTX line 17" not in message:
                out.append(f"`{form}` is refused without its name and line: {message}")
    have = {known_by_table(row[1]) for row in rows}
    wanted = set(re.findall(r"PTX_OPCODE\((\w+)\)", OPCODES.read_text()))
    out += [f"`{name}` is in opcodes.def and has no form" for name in sorted(wanted - have)]
    return out


def table(rows: list[list[str]]) -> str:
    """PTX.md."""
    sections: dict[str, dict[str, list[list[str]]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        sections[row[0]][known_by_table(row[1])].append(row)
    runs = sum(row[3] == "runs" for row in rows)
    text = HEAD + f"{runs} forms of {len({known_by_table(r[1]) for r in rows})} instructions run.\n"
    for section, instructions in sections.items():
        text += f"\n## {section}\n\n| instruction | forms | types | refused |\n|---|---|---|---|\n"
        for name, forms in instructions.items():
            good = [row[1] for row in forms if row[3] == "runs"]
            types: list[str] = []
            for form in good:
                for word in form.split(" ")[0].split(".")[1:]:
                    if TYPE.match(word) and word not in types:
                        types.append(word)
            refused = [f"`{row[1].split(' ')[0]}` ({row[4]})" for row in forms if row[3] != "runs"]
            text += (
                f"| `{name}` | {len(good) or '-'} | {' '.join(types)} | {', '.join(refused)} |\n"
            )
    return text


def main() -> int:
    """0 when forms, opcodes and table agree."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=Path, required=True, help="ptx_forms, as built")
    parser.add_argument("--update", action="store_true", help="write the table")
    options = parser.parse_args()
    rows = run_forms(options.program.resolve())
    problems = complaints(rows)
    for problem in problems:
        print(problem)
    text = table(rows)
    if options.update:
        TABLE.write_text(text)
    elif not TABLE.exists() or TABLE.read_text() != text:
        problems.append("drift")
        print(f"{TABLE.relative_to(ROOT)} is out of date: run this with --update")
    print(f"{len(rows)} forms, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
