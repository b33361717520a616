# SPDX-License-Identifier: MIT
"""Python programs on the emulated device: values, and findings with the script's lines.

Skipped, with a sentence, until `make python` has installed Numba and CuPy.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from running import EMULATOR, HERE, emulate, main, run_text

from workbook.base.project import lessons
from workbook.running import python_programs

MARK = re.compile(r"(expect|launch): ([a-z-]+)")
SAME = "all values equal NumPy's"


class Values(unittest.TestCase):
    def check(self, name: str, known: str = "no finding") -> None:
        done = emulate(name)
        self.assertIn(SAME, done.stdout, done.stdout + done.stderr)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("error[", done.stderr.replace(f"error[{known}]", ""))

    def test_numba(self) -> None:
        self.check("numba_features.py")

    def test_cupy(self) -> None:
        self.check("cupy_features.py")

    def test_cuda_python_and_shared_arrays(self) -> None:
        self.check("cuda_python.py")

    def test_cupy_with_the_stand_ins(self) -> None:
        names = ("libcublas.so.13", "libcusolver.so.12", "libcufft.so.12", "libcurand.so.10")
        if missing := [name for name in names if not (EMULATOR / name).exists()]:
            self.skipTest(f"{', '.join(missing)} not built: see common/libraries/README.md")
        self.check("cupy_libraries.py")

    def test_pycuda(self) -> None:
        if emulate("-c", "import pycuda").returncode:
            self.skipTest("PyCUDA is not installed: see PYTHON.md")
        # Its reductions rely on warps whose lanes go in step, as none since Volta do.
        self.check("pycuda_features.py", "race-shared")

    def test_arrays_of_several_libraries(self) -> None:
        self.check("shared_arrays.py")

    def test_pycuda_shares_arrays(self) -> None:
        if emulate("-c", "import pycuda").returncode:
            self.skipTest("PyCUDA is not installed: see PYTHON.md")
        self.check("pycuda_shared_arrays.py")

    def test_the_programs_beside_the_lessons(self) -> None:
        for path in sorted(HERE.glob("[0-9][0-9]_*.py")):
            with self.subTest(path.name):
                self.check(path.name)


# A library with a copy of CUDA 12's runtime in it: its names are local ones of the symbol table.
# One of them exists in CUDA 12 only. A pointer's attributes have 24 bytes there, in CUDA 13 more.
COPY_OF_CUDA_12 = """
#include <string.h>
#define COPY(name, ...) __attribute__((used)) static int name(__VA_ARGS__) { \\
    volatile int status = 999; return status + status; }
COPY(cudaGetDeviceCount, int* count)
COPY(cudaThreadSynchronize, void)
COPY(cudaPointerGetAttributes, void* attributes, const void* pointer)
int bytes_written(void) {
    char bytes[256];
    memset(bytes, 0x5a, sizeof bytes);
    if (cudaPointerGetAttributes(bytes, bytes) != 0) return -1;
    int last = sizeof bytes;
    while (last > 0 && bytes[last - 1] == 0x5a) --last;
    return last;
}
"""


class Releases(unittest.TestCase):
    def test_a_copy_of_cuda_12s_runtime_gets_its_structs(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "copy.c"
            source.write_text(COPY_OF_CUDA_12)
            command = ["cc", "-O0", "-shared", "-fPIC", "-o", f"{folder}/libcopy.so", str(source)]
            subprocess.run(command, check=True)
            text = f"import ctypes\nprint(ctypes.CDLL('{folder}/libcopy.so').bytes_written())\n"
            done = run_text(self, text)
        self.assertEqual(done.stdout, "24\n", done.stderr)

    def test_packages_of_cuda_12(self) -> None:
        """CuPy, cuda-bindings and cuda.core for CUDA 12, in an environment of their own."""
        python = os.environ.get("WORKBOOK_CUDA12_PYTHON")
        if not python:
            self.skipTest(
                "WORKBOOK_CUDA12_PYTHON is no Python with cupy-cuda12x[ctk], cuda-bindings 12.9, "
                "cuda-core and numba-cuda"
            )
        for name in ("cupy_features.py", "cuda_python.py", "shared_arrays.py"):
            with self.subTest(name):
                done = emulate(name, python=python)
                self.assertIn(SAME, done.stdout, done.stderr)
                self.assertEqual((done.returncode, done.stderr), (0, ""))


class Findings(unittest.TestCase):
    def check(self, name: str) -> None:
        """The findings are the marked lines, launched on the marked lines, and no others."""
        marks: dict[str, dict[str, int]] = {"expect": {}, "launch": {}}
        for number, line in enumerate((HERE / name).read_text().split("\n"), 1):
            if found := MARK.search(line.split("CODE")[0]):
                marks[found.group(1)][found.group(2)] = number
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder) / "findings.jsonl"
            done = emulate(name, EMULATOR_REPORT=str(report))
            rows = [json.loads(line) for line in report.read_text().splitlines()]
        found = {row["code"]: row for row in rows if "code" in row}
        self.assertEqual({code: row["line"] for code, row in found.items()}, marks["expect"])
        for code, row in found.items():
            self.assertEqual(Path(row["file"]).name, name)
            line = (HERE / name).read_text().split("\n")[row["line"] - 1]
            self.assertIn(line, done.stderr, "the source text")
            self.assertIn(f"launched at {name}:{marks['launch'][code]},", done.stderr)

    def test_numba(self) -> None:
        self.check("numba_bugs.py")

    def test_cuda_in_a_script(self) -> None:
        self.check("cupy_bugs.py")

    def test_pycuda(self) -> None:
        if emulate("-c", "import pycuda").returncode:
            self.skipTest("PyCUDA is not installed: see PYTHON.md")
        self.check("pycuda_bugs.py")

    def test_a_kernel_of_pycudas_is_on_the_line_that_called_it(self) -> None:
        if emulate("-c", "import pycuda").returncode:
            self.skipTest("PyCUDA is not installed: see PYTHON.md")
        text = (
            "import numpy as np, pycuda.autoinit\n"
            "from pycuda import gpuarray\n"
            "x = gpuarray.empty(100, np.float32)\n"
            "y = 2 * x\n"
        )
        # PyCUDA keeps compiled code, by its text: lines that have moved are followed.
        for line in (4, 5):
            done = run_text(self, "\n" * (line - 4) + text)
            self.assertIn("error[uninitialized-global]", done.stderr)
            self.assertIn(f"--> script.py:{line}\n", done.stderr)

    def test_lines_that_move_are_followed_with_pycuda(self) -> None:
        if emulate("-c", "import pycuda").returncode:
            self.skipTest("PyCUDA is not installed: see PYTHON.md")
        text = (
            "import pycuda.autoinit, pycuda.driver as drv, numpy as np\n"
            "from pycuda.compiler import SourceModule\n"
            'module = SourceModule("""\n'
            "#include <stdint.h>\n"
            '__global__ void past_the_end(int32_t* x) { x[4] = 1; }""")\n'
            "x = np.zeros(4, np.int32)\n"
            'module.get_function("past_the_end")(drv.InOut(x), block=(1, 1, 1))\n'
        )
        for line in (5, 6):
            done = run_text(self, "\n" * (line - 5) + text)
            self.assertRegex(done.stderr, rf"--> script\.py:{line}\n", done.stderr)

    def test_a_source_that_the_script_puts_together(self) -> None:
        """It stands nowhere, so findings have its own lines, also from CuPy's cache."""
        text = (
            "import cupy as cp\n"
            "source = 'extern \"C\" __global__ void add(int* total) {\\n *total += %d;\\n}' % 1\n"
            "kernel = cp.RawKernel(source, 'add', backend='BACKEND')\n"
            "kernel((1,), (64,), (cp.zeros(1, 'i'),))\n"
        )
        for backend in ("nvrtc", "nvcc"):
            for _ in range(2):
                done = run_text(self, text.replace("BACKEND", backend))
                self.assertRegex(done.stderr, r"--> \S*source_\w+\.cu:2\n")
                self.assertIn("*total += 1;", done.stderr)
                self.assertIn("`total[0]`", done.stderr)
                self.assertIn("kernel add launched at script.py:4", done.stderr)

    def test_a_statement_in_a_kernel_that_cupy_generates(self) -> None:
        text = (
            "import cupy as cp\n"
            "shift = cp.ElementwiseKernel(\n"
            "    'raw T x', 'T y',\n"
            "    'y = x[i + 1]',\n"
            "    'shift')\n"
            "shift(cp.arange(100.0), cp.empty(100))\n"
        )
        done = run_text(self, text)
        self.assertIn("error[out-of-bounds-global]", done.stderr)
        self.assertIn("--> script.py:4\n", done.stderr)
        self.assertIn("kernel shift launched at script.py:6", done.stderr)

    def test_an_error_in_a_kernel_of_cupys_is_on_the_line_that_called_it(self) -> None:
        # The sum is CUB's, compiled into a module of CuPy's without lines.
        for call, known in (("x * 2", True), ("x[1:] + x[:-1]", True), ("x.sum()", False)):
            done = run_text(self, f"import cupy as cp\nx = cp.empty(1000)\ny = {call}\n")
            self.assertIn("error[uninitialized-global]", done.stderr, call)
            self.assertRegex(done.stderr, rf"--> script\.py:3\n +\|\n3 \| y = {re.escape(call)}\n")
            self.assertEqual("it happens in the library" in done.stderr, known)

    def test_no_advice_on_kernels_of_libraries(self) -> None:
        """CuPy's scan of rows has barriers that some threads pass by, Numba's reduction a mask."""
        done = run_text(self, "import cupy as cp\ncp.cumsum(cp.ones((30, 100)), axis=1)\n")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        done = run_text(
            self,
            "from numba import cuda\n"
            "import numpy as np\n"
            "largest = cuda.reduce(lambda a, b: a if a > b else b)\n"
            "print(largest(cuda.to_device(np.arange(1000.0))))\n",
        )
        self.assertEqual((done.stdout, done.stderr), ("999.0\n", ""))

    def test_plans_of_many_sizes_on_one_line(self) -> None:
        if not (EMULATOR / "libcufft.so.12").exists():
            self.skipTest("libcufft.so.12 not built: see common/libraries/README.md")
        text = "import cupy as cp\nfor n in range(4, 20):\n    cp.fft.fft(cp.ones(n))\n"
        done = run_text(self, text)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_vectorize_needs_no_source(self) -> None:
        text = (
            "import numpy as np\n"
            "from numba import vectorize\n"
            "@vectorize(['float64(float64, float64)'], target='cuda')\n"
            "def add(a, b):\n"
            "    return a + b\n"
            "print(add(np.ones(1000), 2.0).sum())\n"
        )
        done = run_text(self, text)
        self.assertEqual(done.stdout, "3000.0\n", done.stderr)
        self.assertNotIn("Could not find source", done.stderr)

    def test_arrays_have_the_names_of_the_script(self) -> None:
        done = emulate("numba_bugs.py")
        for text in ("`values[1000]` is read", "`tile[16]` is read", "`total[0]` is written"):
            self.assertIn(text, done.stderr)

    def test_an_array_that_changes_streams_without_a_wait(self) -> None:
        text = (
            "import cupy as cp\n"
            "first, second = (cp.cuda.Stream(non_blocking=True) for _ in range(2))\n"
            "with first:\n"
            "    a = cp.arange(1000.0)\n"
            "with second:\n"
            "    WAIT\n"
            "    b = cp.from_dlpack(a)\n"
            "    b *= 2\n"
            "second.synchronize()\n"
        )
        done = run_text(self, text.replace("WAIT", "pass"))
        self.assertIn("error[race-global]", done.stderr)
        self.assertIn("--> script.py:8\n", done.stderr)
        done = run_text(self, text.replace("WAIT", "second.wait_event(first.record())"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class Lessons(unittest.TestCase):
    def test_the_programs_of_the_readmes_run(self) -> None:
        for lesson in lessons():
            if lesson.number == "06":  # measures a bandwidth with gigabytes: a minute
                continue
            for path in python_programs.write_programs(lesson):
                with self.subTest(path.name):
                    done = emulate(path.name, folder=path.parent)
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                    self.assertNotIn("error[", done.stderr)
                    self.assertNotIn("False", done.stdout)


if __name__ == "__main__":
    main()
