# SPDX-License-Identifier: MIT
# In make test MORE=1: three dozen programs are compiled.
"""Every explanation's example is a whole program: it must raise its finding, with the text shown.

A page without a text says that the emulator does not look for it; then it must stay silent.

    sh common/workbook/run python tests/workbook/test_explain.py --update    pastes genuine texts

Needs WORKBOOK_TEST_BUILD, the build folder with the emulator; build/ where it is not set.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from workbook.base.project import ROOT, build_folder, cores
from workbook.running import runner
from workbook.show import explain

BUILD = Path(os.environ.get("WORKBOOK_TEST_BUILD") or build_folder())


STAND_INS = ROOT / "common" / "libraries"
_LIBRARIES = {"cublas_v2.h": "cublas", "nccl.h": "nccl"}


def nvcc() -> str:
    """The compiler that the build uses."""
    cache = (BUILD / "CMakeCache.txt").read_text()
    match = re.search(r"^CMAKE_CUDA_COMPILER:[A-Z]+=(.+)$", cache, re.MULTILINE)
    return match.group(1) if match else "nvcc"


def genuine(code: str) -> str:
    """What `emulate` says about the page's example, or a text that starts with `does not`, or with
    `needs` where a stand-in for a library is not built."""
    page = (explain.FOLDER / f"{code}.md").read_text()
    source = re.search(r"```cuda\n(.*?)```", page, re.DOTALL)
    if not source:
        return "does not have an example"
    compiler = nvcc()
    key = hashlib.sha256((compiler + source.group(1)).encode()).hexdigest()[:16]
    folder = BUILD / "workbook" / "explain" / f"{code}-{key}"
    program = folder / "example"
    if not program.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "example.cu").write_text(source.group(1))
        command = [compiler, "-lineinfo", "-g", "-cudart", "shared", "-arch=compute_75", "-w"]
        for header, library in _LIBRARIES.items():
            if f"<{header}>" in source.group(1):
                if not any((BUILD / "emulator").glob(f"lib{library}.so*")):
                    return f"needs the stand-in for lib{library}, which is not built"
                command += ["-I", str(STAND_INS / "include")]
                command += ["-L", str(BUILD / "emulator"), f"-l{library}"]
        done = subprocess.run(
            [*command, "example.cu", "-o", "example"],
            cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        if done.returncode != 0:
            return f"does not compile: {done.stdout}"
    env = {k: v for k, v in os.environ.items() if not k.startswith("EMULATOR_")}
    env["EMULATOR_BUDGET"] = "20000000"
    if "<nccl.h>" in source.group(1):
        env["EMULATOR_DEVICES"] = "2"
    command = [str(BUILD / "emulator" / "emulate"), "./example"]
    ended = runner.run(command, env, folder, runner.Limits(seconds=60))
    if ended.how:
        return f"does not end: {ended.how}"
    lines = iter(ended.output.splitlines())
    start = next((line for line in lines if re.match(rf"(?:error|warning)\[{code}\]", line)), None)
    if start is None:
        return f"does not raise {code}: {ended.output}"
    kept = [start]
    for line in lines:
        if not line.strip() or re.match(r"(?:error|warning)\[", line):
            break
        kept.append(line.rstrip())
    # Addresses differ from run to run.
    return re.sub(r"0x[0-9a-f]{6,}", "0x...", "\n".join(kept)) + "\n"


def all_genuine() -> dict[str, str]:
    """Every page's text; compiled in parallel."""
    with ThreadPoolExecutor(cores()) as pool:
        return dict(zip(explain.codes(), pool.map(genuine, explain.codes()), strict=True))


class Examples(unittest.TestCase):
    def test_every_example_raises_its_finding_with_the_text_shown(self) -> None:
        for code, said in all_genuine().items():
            with self.subTest(code):
                if said.startswith("needs"):
                    self.skipTest(said)
                page = (explain.FOLDER / f"{code}.md").read_text()
                shown = re.search(r"```text\n(.*?)```", page, re.DOTALL)
                if shown is None:
                    self.assertIn("does not raise", said, "this page should show what is said")
                    continue
                self.assertFalse(said.startswith("does not"), said)
                self.assertEqual(shown.group(1), said, "--update pastes the new text")


def update() -> int:
    """Pastes what the emulator says now; 1 when an example does not raise its finding."""
    status = 0
    for code, said in all_genuine().items():
        path = explain.FOLDER / f"{code}.md"
        page = path.read_text()
        if said.startswith("needs"):
            print(f"{code}: {said}")
            continue
        if said.startswith("does not"):
            print(f"{code}: {said}")
            status |= "```text" in page
            continue
        before, _, rest = page.partition("```text\n")
        fresh = f"{before}```text\n{said}```" + rest.partition("```")[2]
        if fresh != page:
            path.write_text(fresh)
            print(f"{path.relative_to(ROOT)}: updated")
    return status


if __name__ == "__main__":
    if sys.argv[1:] == ["--update"]:
        sys.exit(update())
    unittest.main()
