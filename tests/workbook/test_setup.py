# SPDX-License-Identifier: MIT
"""What is said on machines where something is missing, too old, or cannot be written."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from workbook import install, pypi, toolkit
from workbook.project import ROOT, WorkbookError


def script(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


class Setup(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)
        self.bin = self.folder / "bin"

    def environment(self, **variables: str) -> dict[str, str]:
        env = {k: v for k, v in os.environ.items() if not k.startswith(("CUDA", "WORKBOOK"))}
        return {**env, "PATH": f"{self.bin}:/usr/bin:/bin", **variables}

    def test_without_rights_the_exact_command_is_said(self) -> None:
        needs = [install.Need("catch2", "tests"), install.Need("libdw-dev", "lines")]
        with mock.patch.object(install, "root_prefix", return_value=None):
            with self.assertRaises(WorkbookError) as caught, mock.patch("builtins.print") as said:
                install.install_packages(needs)
        self.assertIn(
            "apt-get install -y --no-install-recommends catch2 libdw-dev", caught.exception.to_do
        )
        printed = "\n".join(str(call.args[0]) for call in said.call_args_list)
        self.assertIn("libdw-dev", printed)
        self.assertIn("lines", printed)

    def test_comfort_alone_does_not_stop_the_workbook(self) -> None:
        with (
            mock.patch.object(pypi, "capable_python", return_value="python3"),
            mock.patch.object(pypi, "install_tools", return_value="no network"),
            mock.patch("builtins.print") as said,
        ):
            install._ensure_tools([need for need in install.MODULES if need.optional])
            self.assertIn("Going on without", str(said.call_args_list[-1].args[0]))
            with self.assertRaises(WorkbookError) as caught:
                install._ensure_tools(list(install.MODULES))
        self.assertIn("python3-rich python3-numpy", caught.exception.to_do)

    def test_a_card_alone_needs_nothing_of_the_emulated_device(self) -> None:
        with mock.patch.object(install, "missing_headers", side_effect=lambda names: names):
            for device, wanted in (("gpu", False), ("both", True)):
                with mock.patch.dict(os.environ, {"DEVICE": device}):
                    found = "libdw-dev" in [need.package for need in install.missing()]
                    self.assertEqual(found, wanted, device)

    def test_what_is_missing_is_found_by_looking(self) -> None:
        self.assertEqual(
            install.missing_headers(["vector", "no/such/header.h"]), ["no/such/header.h"]
        )

    def test_an_old_nvcc_is_refused_with_its_version(self) -> None:
        script(self.bin / "nvcc", "echo 'Cuda compilation tools, release 11.8, V11.8.89'")
        with mock.patch.dict(
            os.environ, self.environment(WORKBOOK_NVCC=str(self.bin / "nvcc")), clear=True
        ):
            self.assertEqual(toolkit.nvcc_version(self.bin / "nvcc"), (11, 8, 89))
            with self.assertRaises(WorkbookError) as caught:
                toolkit.find_nvcc()
        self.assertIn("11.8.89", str(caught.exception))
        self.assertIn("WORKBOOK_NVCC=wheels", caught.exception.to_do)

    def test_an_old_cmake_is_replaced_by_one_from_pypi(self) -> None:
        script(self.bin / "cmake", "echo 'cmake version 3.22.1'")
        with mock.patch.dict(os.environ, self.environment(), clear=True):
            needs = install.missing_tools()
            self.assertIn("cmake==3.31.*", [need.package for need in needs])
            script(self.bin / "cmake", "echo 'cmake version 3.24.0'")
            self.assertNotIn("cmake==3.31.*", [need.package for need in install.missing_tools()])

    def test_an_old_make_is_refused_before_anything_else(self) -> None:
        done = subprocess.run(
            ["make", "-C", str(ROOT), "MAKE_VERSION=3.81", "help"], capture_output=True, text=True
        )
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("GNU make 4", done.stderr)

    def test_a_newer_nvcc_elsewhere_wins_over_an_old_one(self) -> None:
        script(self.bin / "nvcc", "echo 'release 11.8, V11.8.89'")
        script(self.folder / "cuda" / "bin" / "nvcc", "echo 'release 13.0, V13.0.88'")
        env = self.environment(
            CUDA_HOME=str(self.folder / "cuda"), WORKBOOK_IGNORE_USR_LOCAL_CUDA="1"
        )
        with mock.patch.dict(os.environ, env, clear=True):
            self.assertEqual(toolkit.find_nvcc(), self.folder / "cuda" / "bin" / "nvcc")

    def test_the_wheels_get_the_names_a_toolkit_has(self) -> None:
        (self.folder / "lib").mkdir()
        (self.folder / "lib" / "libcudart.so.13").write_text("")
        toolkit.complete_toolkit(self.folder)
        toolkit.complete_toolkit(self.folder)
        self.assertTrue((self.folder / "lib64" / "libcudart.so").exists())

    def test_trouble_with_the_disk_is_one_message(self) -> None:
        copy = self.folder / "workbook"
        shutil.copytree(ROOT / "common" / "workbook", copy / "common" / "workbook")
        (copy / ".workbook").write_text("a file where a folder should be")
        done = subprocess.run(
            ["sh", "common/workbook/run", "setup"], cwd=copy, capture_output=True, text=True,
            env=self.environment(),
        )  # fmt: skip
        self.assertEqual(done.returncode, 3)
        self.assertNotIn("Traceback", done.stderr)
        self.assertIn("to do:", done.stderr)

    def test_no_python_that_is_new_enough(self) -> None:
        script(self.bin / "python3", 'case "$1" in --version) echo Python 3.8.2;; *) exit 1;; esac')
        text = (ROOT / "common" / "workbook" / "run").read_text()
        copy = self.folder / "run"
        copy.write_text(text.replace("/usr/bin/python3", str(self.bin / "python3")))
        done = subprocess.run(
            ["sh", str(copy), "doctor"], capture_output=True, text=True, env=self.environment()
        )
        self.assertEqual(done.returncode, 3)
        self.assertIn("3.10 or newer; this is Python 3.8.2", done.stderr)


if __name__ == "__main__":
    unittest.main()
