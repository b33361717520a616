# SPDX-License-Identifier: MIT
"""Libraries of a lesson: installed when it is first built, and named where they cannot be."""

from __future__ import annotations

import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from workbook.base.project import NOT_ABLE, WorkbookError
from workbook.setup import install, lesson_libraries

TARGETS = ["lesson_31_libraries"]
ALL = ("OPENBLAS_LIBRARY", "LAPACKE_INCLUDE_DIR", "FFTWF_LIBRARY")
PACKAGES = "libopenblas-dev liblapacke-dev libfftw3-dev"


class Libraries(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)
        (self.folder / "lessons").mkdir()
        (self.folder / "emulator").mkdir()
        self.device("emulator")

    def device(self, name: str) -> None:
        self.cache = self.folder / "CMakeCache.txt"
        self.cache.write_text(f"DEVICE:STRING={name}\n")

    def cmake(self, *_args: object, **_options: object) -> subprocess.CompletedProcess[str]:
        """As CMake does: it leaves the lesson out while something is missing."""
        if "NOTFOUND" not in self.cache.read_text():
            (self.folder / "lessons" / "link_31_libraries.txt").touch()
        return subprocess.CompletedProcess([], 0, "", "")

    def install(self, *_args: object) -> str:
        self.device("emulator")
        return ""

    def require(self, root: list[str] | None, *absent: str) -> tuple[list[str], str]:
        """With or without rights, where CMake has not found `absent`; and what is said."""
        with self.cache.open("a") as cache:
            cache.writelines(f"{name}:FILEPATH={name}-NOTFOUND\n" for name in absent)
        with (
            mock.patch.object(install, "root_prefix", return_value=root),
            mock.patch.object(install, "missing", return_value=[]),
            mock.patch.object(install, "_root", side_effect=self.install) as run,
            mock.patch.object(lesson_libraries.subprocess, "run", side_effect=self.cmake),
            mock.patch("builtins.print") as said,
        ):
            self.run_as_root = run
            unbuilt = lesson_libraries.require(self.folder, TARGETS)
        return unbuilt, "\n".join(str(call.args[0]) for call in said.call_args_list)

    def for_python(self, root: list[str] | None, *absent: str) -> tuple[list[str], str]:
        """As `require`, for Python's packages."""
        with self.cache.open("a") as cache:
            cache.writelines(f"{name}:FILEPATH={name}-NOTFOUND\n" for name in absent)
        with (
            mock.patch.object(install, "root_prefix", return_value=root),
            mock.patch.object(install, "missing", return_value=[]),
            mock.patch.object(install, "_root", side_effect=self.install) as self.run_as_root,
            mock.patch.object(lesson_libraries.subprocess, "run", side_effect=self.cmake),
            mock.patch("builtins.print") as said,
        ):
            targets = lesson_libraries.require_for_python(self.folder)
        return targets, "\n".join(str(call.args[0]) for call in said.call_args_list)

    def test_pythons_packages_get_all_that_they_open(self) -> None:
        targets, said = self.for_python([], *ALL)
        for name in ("cublas", "cusolver", "cufft", "curand", "cusparse", "nccl"):
            self.assertIn(f"stand_in_{name}", targets)
        self.assertNotIn("emulator_cuda_link", targets)
        self.assertIn("CuPy calls cuBLAS, cuSOLVER and cuFFT", said)
        self.assertIn("MB", said)
        commands = [" ".join(call.args[1]) for call in self.run_as_root.call_args_list]
        self.assertTrue(any(command.endswith(PACKAGES) for command in commands), commands)
        self.for_python([])
        self.run_as_root.assert_not_called()

    def test_without_rights_make_python_comes_again(self) -> None:
        with self.assertRaises(WorkbookError) as caught:
            self.for_python(None, *ALL)
        self.assertIn("run make python again", caught.exception.to_do)

    def test_python_has_what_has_been_built(self) -> None:
        self.assertEqual(lesson_libraries.built_for_python(self.folder), [])
        (self.folder / "emulator" / "libcurand.so").touch()
        self.assertEqual(lesson_libraries.built_for_python(self.folder), ["stand_in_curand"])

    def test_other_lessons_need_nothing(self) -> None:
        with mock.patch.object(install, "install_packages") as installs:
            self.assertEqual(lesson_libraries.require(self.folder, ["lesson_29_matmul_tiled"]), [])
            self.assertEqual(lesson_libraries.require(self.folder, ["emulate"]), [])
        installs.assert_not_called()

    def test_names_and_sizes_come_before_the_installation(self) -> None:
        unbuilt, said = self.require([], *ALL)
        self.assertEqual(unbuilt, ["stand_in_cublas", "stand_in_cusolver", "stand_in_cufft"])
        self.assertIn("Lesson 31 calls cuBLAS, cuSOLVER and cuFFT", said)
        self.assertLessEqual(max(map(len, said.splitlines())), 80)
        self.assertIn("MB", said)
        commands = [" ".join(call.args[1]) for call in self.run_as_root.call_args_list]
        self.assertTrue(any(command.endswith(PACKAGES) for command in commands), commands)

    def test_without_rights_the_command_is_said(self) -> None:
        with self.assertRaises(WorkbookError) as caught:
            self.require(None, *ALL)
        self.assertIn(f"install -y --no-install-recommends {PACKAGES}", caught.exception.to_do)
        self.assertEqual(caught.exception.code, NOT_ABLE)  # which is no grade

    def test_what_is_installed_is_not_installed_again(self) -> None:
        self.require(None)
        self.run_as_root.assert_not_called()

    def test_only_what_is_missing_is_installed(self) -> None:
        # The header of another BLAS is found, and OpenBLAS is not.
        _, said = self.require([], "OPENBLAS_LIBRARY")
        self.assertIn("libopenblas-dev", said)
        self.assertNotIn("libfftw3-dev", said)

    def test_what_cmake_does_not_find_is_not_the_students_fault(self) -> None:
        with mock.patch.object(self, "install", return_value=""):
            with self.assertRaises(WorkbookError) as caught:
                self.require([], *ALL)
        self.assertIn("your file is not to blame", str(caught.exception))

    def test_once_known_and_built_nothing_is_done(self) -> None:
        self.cmake()
        for name in ("cublas", "cusolver", "cufft"):
            (self.folder / "emulator" / f"lib{name}.so").touch()
        with mock.patch.object(lesson_libraries.subprocess, "run") as runs:
            self.assertEqual(lesson_libraries.require(self.folder, TARGETS), [])
        runs.assert_not_called()

    def test_nvidias_own_comes_from_pypi_on_either_device(self) -> None:
        for device in ("emulator", "gpu"):
            self.device(device)
            with self.cache.open("a") as cache:
                cache.write("NVRTC_LIBRARY:FILEPATH=NVRTC_LIBRARY-NOTFOUND\n")
            (self.folder / "lessons" / "link_35_jit_nvrtc.txt").unlink(missing_ok=True)
            unbuilt, said, installed = self.require_nvrtc((12, 6, 85))
            self.assertEqual(installed, ["nvidia-cuda-nvrtc-cu12==12.6.*"])
            self.assertIn("Lesson 35 calls NVRTC", said)
            self.assertIn("MB", said)
            self.assertLessEqual(max(map(len, said.splitlines())), 80)
            # The driver API is a part of the emulated device, and of a card's driver.
            self.assertEqual("emulator_cuda_link" in unbuilt, device == "emulator")

    def require_nvrtc(self, version: tuple[int, ...]) -> tuple[list[str], str, list[str]]:
        """What is not built, what is said, and the packages, with a toolkit of this version."""
        installed: list[str] = []

        def fetch(_folder: Path, packages: list[str], _phase: object) -> str:
            installed.extend(packages)
            self.device(lesson_libraries._device_of(self.folder))
            return ""

        def cmake(*_args: object, **_options: object) -> subprocess.CompletedProcess[str]:
            if "NOTFOUND" not in self.cache.read_text():
                (self.folder / "lessons" / "link_35_jit_nvrtc.txt").touch()
            return subprocess.CompletedProcess([], 0, "", "")

        with (
            mock.patch.object(lesson_libraries.pypi, "install", side_effect=fetch),
            mock.patch.object(lesson_libraries.toolkit, "present_nvcc", return_value=Path("nvcc")),
            mock.patch.object(lesson_libraries.toolkit, "nvcc_version", return_value=version),
            mock.patch.object(lesson_libraries.subprocess, "run", side_effect=cmake),
            mock.patch("builtins.print") as printed,
        ):
            unbuilt = lesson_libraries.require(self.folder, ["lesson_35_jit_nvrtc"])
        said = "\n".join(str(call.args[0]) for call in printed.call_args_list if call.args)
        return unbuilt, said, installed

    def test_every_package_is_found_by_its_name(self) -> None:
        package = lesson_libraries._by_header()["nvrtc.h"]
        self.assertEqual(
            lesson_libraries._package_for(package, (13, 0, 88)), "nvidia-cuda-nvrtc==13.0.*"
        )
        with mock.patch.object(lesson_libraries.pypi, "install", return_value="no network"):
            self.device("emulator")
            with self.cache.open("a") as cache:
                cache.write("NVRTC_LIBRARY:FILEPATH=NVRTC_LIBRARY-NOTFOUND\n")
            with (
                mock.patch.object(lesson_libraries, "_configure", return_value=""),
                mock.patch("builtins.print"),
                self.assertRaises(WorkbookError) as caught,
            ):
                lesson_libraries.require(self.folder, ["lesson_35_jit_nvrtc"])
        self.assertIn("pip could not fetch NVRTC", str(caught.exception))

    def test_cmake_and_the_tool_read_one_list(self) -> None:
        """No header of the list stands in CMake's or in the tool's code."""
        root = Path(lesson_libraries.__file__).resolve().parents[3]
        for name in (
            "common/cmake/WorkbookLibraries.cmake",
            "common/workbook/setup/lesson_libraries.py",
        ):
            text = (root / name).read_text(encoding="utf-8")
            for header in ("cublas_v2.h", "cusolverDn.h", "cufft.h"):
                self.assertNotIn(header, text, name)

    def test_a_card_needs_nvidias_own(self) -> None:
        self.device("gpu")
        with self.assertRaises(WorkbookError) as caught:
            self.require([], "ANY_LIBRARY")
        self.assertIn("this CUDA toolkit does not include", str(caught.exception))


if __name__ == "__main__":
    unittest.main()
