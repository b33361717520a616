# SPDX-License-Identifier: MIT
"""`make python-NN`: the programs that it runs, and a lesson's functions of C as a library."""

from __future__ import annotations

import ctypes
import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from workbook.base.project import find_lesson
from workbook.build import compile_commands
from workbook.running import python_programs
from workbook.setup import pypi

BUILD = Path(os.environ.get("WORKBOOK_TEST_BUILD", "build")).resolve()
PAGE = """## In Python

```python
import numpy as np
print(np.arange(3))
```

```python
from numba import cuda
print(len(cuda.gpus))
```

```python
import ctypes
library = ctypes.CDLL("libname.so")
```

```python
from mpi4py import MPI
import cupy
```

## Going further
```python
import cupy
```
"""


class Programs(unittest.TestCase):
    def test_those_that_use_a_device_or_open_a_library(self) -> None:
        found = python_programs.programs_of(PAGE)
        first_lines = [text.splitlines()[0] for text in found]
        self.assertEqual(first_lines, ["from numba import cuda", "import ctypes"])

    def test_a_page_without_the_section_has_none(self) -> None:
        self.assertEqual(python_programs.programs_of(PAGE.replace("In Python", "In C")), [])


class Libraries(unittest.TestCase):
    def test_lessons_with_functions_of_c_have_one(self) -> None:
        self.assertTrue(python_programs.has_library(find_lesson("39")))
        self.assertFalse(python_programs.has_library(find_lesson("02")))

    def test_the_library_comes_first_on_the_path(self) -> None:
        library = Path("/build/shared/lesson/libname.so")
        with mock.patch.dict(os.environ, {"LD_LIBRARY_PATH": "/other"}):
            env = python_programs.with_library(library)
        self.assertEqual(env["LD_LIBRARY_PATH"], "/build/shared/lesson:/other")
        with mock.patch.dict(os.environ):
            os.environ.pop("LD_LIBRARY_PATH", None)
            env = python_programs.with_library(library)
        self.assertEqual(env["LD_LIBRARY_PATH"], "/build/shared/lesson")

    def test_library_and_program_are_compiled_apart(self) -> None:
        source = find_lesson("39").student_file
        for target in ("lesson_39_python_interop", "shared_lesson_39_python_interop"):
            found = compile_commands.of(BUILD, source, target)
            assert found
            self.assertIn(f"/{target}.dir/", found[0][found[0].index("-o") + 1])

    def test_ctypes_can_call_it(self) -> None:
        path = python_programs.library_of(find_lesson("39"), BUILD, "solution")
        library = ctypes.CDLL(str(path))
        library.interop_error.restype = ctypes.c_char_p
        real, whole = ctypes.c_double(0), ctypes.c_int64(0)
        self.assertEqual(library.interop_ramp(real, real, whole, whole, whole, None), 1)
        self.assertIn(b"stream", library.interop_error())


class Adding(unittest.TestCase):
    """pypi.add, with a pip that writes down how it was called."""

    def add(self, status: int) -> tuple[str, str]:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "bin").mkdir()
            python = folder / "bin" / "python"
            python.write_text(
                '#!/bin/sh\necho "$@ with $EXTRA, $PIP_USER" | tee "$0.called"\n'
                f"echo the last line\nexit {status}\n"
            )
            python.chmod(0o755)
            with mock.patch.dict(os.environ, {"PIP_USER": "1", "PIP_TARGET": "/elsewhere"}):
                said = pypi.add(folder, ["one==1", "two"], {"EXTRA": "more"})
            self.assertTrue((folder / "bin").is_dir(), "the folder stays")
            return said, python.with_name("python.called").read_text()

    def test_packages_and_variables_reach_pip(self) -> None:
        said, called = self.add(0)
        self.assertEqual(said, "")
        self.assertRegex(called, r"^-I -m pip install .*one==1 two with more, 0\n")

    def test_a_failure_is_told_with_its_last_lines(self) -> None:
        self.assertTrue(self.add(1)[0].endswith("the last line"))


if __name__ == "__main__":
    unittest.main()
