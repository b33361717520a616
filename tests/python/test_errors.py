# SPDX-License-Identifier: MIT
"""What `emulate` says about Python programs that cannot run, or that fail."""

from __future__ import annotations

import subprocess
import tempfile
import unittest
from pathlib import Path

from running import EMULATOR, PYTHON, emulate, main, run_text

from workbook.base.project import find_lesson
from workbook.running import python_programs


class Errors(unittest.TestCase):
    def test_a_script_that_opens_a_library_with_cuda(self) -> None:
        library = python_programs.library_of(find_lesson("39"), EMULATOR.parent, "solution")
        done = run_text(self, f"import ctypes\nctypes.CDLL('{library}')\n")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_script_without_cuda(self) -> None:
        done = run_text(self, "print('hello')\n")
        self.assertEqual((done.returncode, done.stdout), (0, "hello\n"))
        self.assertRegex(done.stderr, r"emulator: .*script\.py imported neither numba\.cuda")
        self.assertEqual(done.stderr.count("\n"), 1)

    def test_a_script_that_does_not_run_is_not_said_to_use_no_cuda(self) -> None:
        done = emulate("no_such_script.py")
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
        self.assertIn("No such file", done.stderr)
        for text in ("def f(:\n", "raise ValueError('of the script')\n"):
            done = run_text(self, text)
            self.assertEqual(done.returncode, 1)
            self.assertIn('script.py", line 1', done.stderr)
            self.assertNotIn("imported neither", done.stderr)

    def test_what_python_says_it_cannot_run_gets_no_second_line(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for arguments in (("-m", "no_such_module"), (folder,)):
                done = emulate(*arguments)
                self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)

    def test_a_program_on_the_command_line(self) -> None:
        done = emulate("-c", "print(1)")
        self.assertEqual((done.returncode, done.stdout), (0, "1\n"))
        self.assertIn("emulator: the program imported neither", done.stderr)
        done = emulate("-c", "import pycuda.nothing_of_that_name")
        self.assertIn("<string>:1: pycuda", done.stderr)
        done = emulate("-c", "import cupy, sys; print(cupy.arange(4).sum()); sys.exit(3)")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (3, "6\n", ""))

    def test_a_path_with_spaces_and_letters_of_other_alphabets(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder) / "mein skript ü.py"
            script.write_text(
                "import sys\nfrom numba import cuda\nprint(sys.stdin.read(), len(cuda.gpus))\n"
            )
            done = subprocess.run(
                [EMULATOR / "emulate", PYTHON, script],
                input="read", capture_output=True, text=True, timeout=60,
            )  # fmt: skip
        self.assertEqual((done.stdout, done.stderr), ("read 1\n", ""))

    def test_compilers_that_the_dynamic_linker_finds_by_their_names(self) -> None:
        """As those of a toolkit in ld.so's cache, where the packages bring none."""
        assert PYTHON
        packages = next(PYTHON.parents[1].glob("lib/python3*/site-packages/nvidia/cu13/lib"))
        text = (
            "import ctypes\n"
            "major, minor = ctypes.c_int(), ctypes.c_int()\n"
            "nvrtc = ctypes.CDLL('libnvrtc.so.13')\n"
            "print(nvrtc.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)), major.value)\n"
        )
        done = emulate("-c", text, LD_LIBRARY_PATH=str(packages))
        self.assertEqual(done.stdout, "0 13\n", done.stderr)

    def test_a_library_that_is_missing(self) -> None:
        done = run_text(self, "x = 1\nimport pycuda.nothing_of_that_name\n")
        self.assertEqual(done.returncode, 1)
        self.assertIn("script.py:2: pycuda", done.stderr)
        self.assertIn("make python", done.stderr)

    def test_an_error_of_the_script_is_left_alone(self) -> None:
        done = run_text(self, "def f():\n    return 1 / 0\n\nf()\n")
        self.assertIn("ZeroDivisionError", done.stderr)
        self.assertIn('script.py", line 2', done.stderr)

    def test_a_failing_call_names_the_line_without_the_libraries(self) -> None:
        done = run_text(self, "import cupy\n\ncupy.cuda.runtime.setDevice(99)\n")
        self.assertEqual(done.returncode, 1)
        self.assertIn('script.py", line 3', done.stderr)
        self.assertIn("cudaErrorInvalidDevice", done.stderr)
        self.assertNotIn("site-packages", done.stderr)

    def test_an_instruction_that_is_refused(self) -> None:
        text = (
            "import cupy\n"
            'kernel = cupy.RawKernel(r"""\n'
            'extern "C" __global__ void cluster(int* x) {\n'
            '    asm volatile("barrier.cluster.arrive;");\n'
            "    x[0] = 1;\n"
            '}""", "cluster")\n'
            "kernel((1,), (32,), (cupy.zeros(1, int),))\n"
        )
        done = run_text(self, text)
        self.assertRegex(done.stderr, r"barrier\.cluster\.arrive.*script\.py:4")
        self.assertIn('script.py", line 7', done.stderr)
        self.assertNotIn("site-packages", done.stderr)

    def test_a_release_that_was_not_tested(self) -> None:
        done = run_text(
            self,
            "import importlib.metadata as m\nfound = m.version\n"
            "m.version = lambda name: '99.1' if name == 'numba-cuda' else found(name)\n"
            "from numba import cuda\n",
        )
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn("numba-cuda 99.1 is not a release that was tested here", done.stderr)

    def test_a_script_with_an_interpreter_line(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder) / "script"
            script.write_text(f"#!{PYTHON}\nfrom numba import cuda\nprint(len(cuda.gpus))\n")
            script.chmod(0o755)
            done = subprocess.run(
                [EMULATOR / "emulate", script], capture_output=True, text=True, timeout=60
            )
        self.assertEqual(done.stdout, "1\n", done.stderr)

    def test_a_script_that_starts_python_under_its_name(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            shim = Path(folder) / "python3"
            shim.write_text(f'#!/bin/sh\nexec {PYTHON} "$@"\n')
            shim.chmod(0o755)
            program = "from numba import cuda\nprint(len(cuda.gpus))"
            done = subprocess.run(
                [EMULATOR / "emulate", shim, "-c", program],
                capture_output=True, text=True, timeout=60,
            )  # fmt: skip
        self.assertEqual(done.stdout, "1\n", done.stderr)


if __name__ == "__main__":
    main()
