# SPDX-License-Identifier: MIT
"""The stand-ins for NVIDIA's libraries: the headers agree with NVIDIA's, and what they declare is
what the libraries implement."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from workbook.base.project import ROOT, build_folder

BUILD = Path(os.environ.get("WORKBOOK_TEST_BUILD") or build_folder())
STAND_INS = ROOT / "common" / "libraries"
HEADERS = {
    "cublas": "cublas_v2.h",
    "cufft": "cufft.h",
    "cusolver": "cusolverDn.h",
    "cusparse": "cusparse.h",
    "curand": "curand.h",
}


def cached(name: str) -> str:
    """A variable of the build's CMake cache, or ''."""
    text = (BUILD / "CMakeCache.txt").read_text(encoding="utf-8")
    match = re.search(rf"^{name}:[A-Z]+=(.+)$", text, re.MULTILINE)
    return match.group(1) if match else ""


def declared(header: str) -> set[str]:
    """The functions that one of the workbook's headers declares, by the names that are exported.

    It is preprocessed, since macros declare most functions. `cublasNAME` of the pair that
    CUBLAS_V2 declares is no symbol.
    """
    folder = STAND_INS / "include"
    toolkit = Path(cached("CMAKE_CUDA_COMPILER")).resolve().parents[1] / "include"
    text = subprocess.run(
        ["g++", "-E", "-x", "c++", f"-I{folder}", f"-I{toolkit}", str(folder / header)],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    own = "".join(
        lines
        for file, lines in re.findall(r'^# \d+ "([^"]*)".*\n((?:(?!# \d).*\n)*)', text, re.M)
        if Path(file).name == header
    )
    function = re.compile(r"\s*(?:cu\w+Status_t|cufftResult|const char\*)\s+(cu\w+)\s*\(")
    found = [function.match(one) for one in own.split(";") if "__asm__" not in one]
    return {match.group(1) for match in found if match}


class StandIns(unittest.TestCase):
    def test_declarations_agree_with_those_of_nvidia(self) -> None:
        toolkit = Path(cached("CMAKE_CUDA_COMPILER")).resolve().parents[1] / "include"
        for header in HEADERS.values():
            if not (toolkit / header).is_file():
                self.skipTest(f"this toolkit comes without {header}")
            # A declaration that differs from the one before it is an error.
            both = f'#include "{toolkit / header}"\n#include "{STAND_INS / "include" / header}"\n'
            with tempfile.NamedTemporaryFile("w", suffix=".cpp") as source:
                source.write(both)
                source.flush()
                done = subprocess.run(
                    ["g++", "-fsyntax-only", "-w", f"-I{toolkit}", source.name],
                    capture_output=True, text=True,
                )  # fmt: skip
            self.assertEqual(done.returncode, 0, f"{header}: {done.stderr[:2000]}")

    def test_values_agree_with_those_of_nvidia(self) -> None:
        toolkit = Path(cached("CMAKE_CUDA_COMPILER")).resolve().parents[1] / "include"
        for header in HEADERS.values():
            if not (toolkit / header).is_file():
                self.skipTest(f"this toolkit comes without {header}")
            ours = (STAND_INS / "include" / header).read_text(encoding="utf-8")
            values = re.findall(r"\b((?:CU|CUFFT)[A-Z0-9_a-z]+)\s*=\s*(-?(?:0x)?[0-9a-f]+)", ours)
            self.assertGreater(len(values), 5, header)
            checks = "\n".join(f'static_assert(int({n}) == {v}, "{n}");' for n, v in values)
            with tempfile.NamedTemporaryFile("w", suffix=".cpp") as source:
                source.write(f'#include "{toolkit / header}"\n{checks}\n')
                source.flush()
                done = subprocess.run(
                    ["g++", "-fsyntax-only", "-w", f"-I{toolkit}", source.name],
                    capture_output=True, text=True,
                )  # fmt: skip
            self.assertEqual(done.returncode, 0, f"{header}: {done.stderr[:2000]}")

    def test_what_is_declared_is_implemented(self) -> None:
        for library, header in HEADERS.items():
            path = BUILD / "emulator" / f"lib{library}.so"
            if not path.exists():
                self.skipTest("the stand-ins are not built: they need OpenBLAS, LAPACKE and FFTW")
            names = subprocess.run(
                ["nm", "-D", "--defined-only", str(path)], capture_output=True, text=True
            ).stdout
            strong = set(re.findall(r" T (cu\w+)", names))
            weak = set(re.findall(r" W (cu\w+)", names))
            self.assertGreater(len(weak), 5, "the names that are not supported")
            self.assertEqual(declared(header) - strong, set(), library)
            self.assertEqual(strong - declared(header), set(), library)


if __name__ == "__main__":
    unittest.main()
