# SPDX-License-Identifier: MIT
"""What is said on machines where something is missing, too old, or cannot be written."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from workbook.base import lock, phases, processor
from workbook.base.project import ROOT, WorkbookError
from workbook.build import build, folders, self_test
from workbook.setup import install, pypi, toolkit
from workbook.show import doctor


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
        env = {k: v for k, v in os.environ.items() if not k.startswith(("CUDA", "CXX", "WORKBOOK"))}
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

    def test_without_python_one_command_names_every_package(self) -> None:
        script(self.bin / "sudo", "exit 1")
        script(self.bin / "id", "echo 1000")
        for tool in ("dirname", "sed", "tr", "sh"):
            (self.bin / tool).symlink_to(shutil.which(tool))
        text = (ROOT / "common" / "workbook" / "run").read_text()
        copy = self.folder / "common" / "workbook" / "run"
        copy.parent.mkdir(parents=True)
        copy.write_text(text.replace("/usr/bin/python3", "/nonexistent/python3"))
        (copy.parent / "setup").mkdir()
        shutil.copy(ROOT / "common" / "workbook" / "setup" / "install.py", copy.parent / "setup")
        done = subprocess.run(
            ["/bin/sh", str(copy), "next"], capture_output=True, text=True,
            env={"PATH": str(self.bin)},
        )  # fmt: skip
        self.assertEqual(done.returncode, 3, done)
        needs = [install._GXX, install._CATCH2, install._VENV, *install._HEADERS.values()]
        for package in ["python3", *(need.package for need in needs)]:
            self.assertIn(f" {package} ", done.stderr.replace("\n", " "))
        self.assertIn("sudo apt-get update && sudo apt-get install -y", done.stderr)

    def test_one_installation_for_everything_that_is_missing(self) -> None:
        state = self.folder / ".workbook"
        state.mkdir()
        with (
            mock.patch.object(install, "state_folder", lambda: state),
            mock.patch.object(lock, "state_folder", lambda: state),
            mock.patch.object(install, "missing", lambda: [install._CATCH2]),
            mock.patch.object(install, "missing_tools", lambda: [install._CMAKE]),
            mock.patch.object(pypi, "capable_python", lambda: None),
            mock.patch.object(toolkit, "present_nvcc", lambda: None),
            mock.patch.object(install, "root_prefix", lambda: None),
            mock.patch("builtins.print"),
            self.assertRaises(WorkbookError) as caught,
        ):
            install.ensure(force=True)
        self.assertIn(
            "install -y --no-install-recommends catch2 python3-venv", caught.exception.to_do
        )

    def test_what_cannot_be_mended_is_said_before_anything_is_fetched(self) -> None:
        script(self.bin / "g++", "echo 9.4.0")
        with mock.patch.dict(os.environ, self.environment(), clear=True):
            with self.assertRaises(WorkbookError) as caught:
                install.check_machine()
            self.assertIn("g++ 9.4.0", str(caught.exception))
            script(self.bin / "g++", "echo 12.2.0")
            with mock.patch.object(processor, "_cpuinfo", lambda: "flags : fpu sse2 pni"):
                if processor.name() == "x86-64":
                    with self.assertRaises(WorkbookError) as caught:
                        install.check_machine()
                    self.assertIn("below x86-64-v2 (it lacks cx16", str(caught.exception))
                    with mock.patch.dict(os.environ, DEVICE="gpu"):
                        install.check_machine()

    def test_processors_by_their_psabi_names(self) -> None:
        second = processor.levels()["x86-64-v2"]
        third = second | processor.levels()["x86-64-v3"]
        fourth = third | processor.levels()["x86-64-v4"]
        for has, name in ((second - {"popcnt"}, "x86-64"), (second, "x86-64-v2"),
                          (third - {"abm"}, "x86-64-v2"), (third, "x86-64-v3"),
                          (fourth - {"avx512bw"}, "x86-64-v3"), (fourth | {"x"}, "x86-64-v4"),
                          (fourth - {"sse4_2"}, "x86-64")):  # fmt: skip
            self.assertEqual(processor.level(has), name)
        self.assertEqual(processor.flags("processor : 0\nflags\t\t: a b\nflags : c"), {"a", "b"})

    def test_an_untested_toolkit_gets_a_sentence(self) -> None:
        self.assertEqual(toolkit.not_tested((*toolkit.TESTED[0], 99)), "")
        self.assertIn("CUDA 12.7 has not been tested", toolkit.not_tested((12, 7, 1)))


class Pypi(unittest.TestCase):
    """The folder .workbook/tools, with a pip that installs nothing."""

    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = Path(scratch.name) / "my wörkbook (2)"
        self.tools = self.root / ".workbook" / "tools"
        self.tools.parent.mkdir(parents=True)
        python = self.root / "python3"
        # What `python -m venv FOLDER` makes: a Python whose pip writes a CMake, or fails.
        script(
            python,
            f"""
            folder=$4
            mkdir -p "$folder/bin" "$folder/lib/python3.11/site-packages/cmake/data/bin"
            cp "{self.root}/fake-pip" "$folder/bin/python" """,
        )
        self.pip("Collecting cmake")
        for target in (
            mock.patch.object(pypi, "TOOLS", self.tools),
            mock.patch.object(pypi, "state_folder", lambda: self.tools.parent),
            mock.patch.object(pypi, "capable_python", lambda: str(python)),
            mock.patch.dict(os.environ, PATH=os.environ["PATH"]),
            mock.patch("builtins.print"),
        ):
            target.start()
            self.addCleanup(target.stop)

    def pip(self, says: str, code: int = 0) -> None:
        script(self.root / "fake-pip", f"""
            echo "$@" >> "{self.root}/calls"
            cmake="{self.tools}/lib/python3.11/site-packages/cmake/data/bin/cmake"
            echo '{says}'
            [ {code} = 0 ] || exit {code}
            printf '#!/bin/sh\\necho cmake version 3.31.6\\n' > "$cmake"
            chmod +x "$cmake" """)  # fmt: skip

    def test_its_programs_are_found_and_survive_a_move(self) -> None:
        self.assertEqual(pypi.install_tools(["cmake==3.31.*"]), "")
        self.assertIn("cmake==3.31.*", (self.root / "calls").read_text())
        self.assertEqual(shutil.which("cmake"), str(self.tools / "programs" / "cmake"))
        self.assertEqual(install.cmake_version(), (3, 31, 6))
        moved = self.root.with_name("moved")
        self.root.rename(moved)
        self.addCleanup(moved.rename, self.root)
        self.assertTrue((moved / ".workbook" / "tools" / "programs" / "cmake").is_file())

    def test_an_interrupted_set_up_begins_anew(self) -> None:
        self.tools.mkdir()
        (self.tools / "half").touch()
        pypi.use_tools()
        self.assertNotIn(str(self.tools), os.environ["PATH"])
        self.assertEqual(pypi.install_tools(["cmake"]), "")
        self.assertFalse((self.tools / "half").exists())
        # A complete one is added to.
        (self.tools / "mine").touch()
        self.assertEqual(pypi.install_tools(["cmake", "ruff"]), "")
        self.assertTrue((self.tools / "mine").exists())
        self.assertEqual(pypi.tools_packages(), ["cmake", "ruff"])

    def test_a_python_that_no_longer_runs_is_made_anew(self) -> None:
        names = [need.package for need in install.MODULES]
        self.assertEqual(pypi.install_tools(names), "")
        self.assertTrue(pypi.tools_have(names))
        self.assertFalse(pypi.tools_have([*names, "scipy"]))
        script(self.tools / "bin" / "python", "exit 127")
        self.assertFalse(pypi.tools_have(names))
        self.assertEqual(pypi.install_tools(names), "")
        self.assertTrue(pypi.tools_have(names))

    def test_what_failed_leaves_nothing(self) -> None:
        self.pip("ERROR: No matching distribution", 1)
        self.assertIn("No matching distribution", pypi.install_tools(["cmake"]))
        self.assertFalse(self.tools.exists())
        self.pip("OSError: [Errno 28] No space left on device", 1)
        with self.assertRaises(WorkbookError) as caught:
            install._ensure_tools([install._CMAKE])
        self.assertEqual(str(caught.exception), "the disk is full")


class Lock(unittest.TestCase):
    def test_the_second_make_waits_and_says_for_whom(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            state = Path(name)
            code = (
                "import sys, pathlib; from workbook.base import lock\n"
                "lock.state_folder = lambda: pathlib.Path(sys.argv[1])\n"
                "with lock.only_one('building'): print('mine', flush=True)\n"
            )
            command = [sys.executable, "-c", code, name]
            with mock.patch.object(lock, "state_folder", lambda: state), lock.only_one("testing"):
                with lock.only_one("testing"):  # taken again by its holder
                    second = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
                said = second.stdout.readline()
                self.assertIn(f"Waiting: process {os.getpid()} is testing", said)
                self.assertIsNone(second.poll())
            self.assertEqual(second.communicate(timeout=30)[0], "mine\n")
            done = subprocess.run(command, capture_output=True, text=True, timeout=30)
            self.assertEqual(done.stdout, "mine\n")
            # A download for an optional part does not delay a build.
            packages = lock.of_packages("cuda-python")
            with mock.patch.object(lock, "state_folder", lambda: state):
                with lock.only_one("fetching cuda-python", packages):
                    done = subprocess.run(command, capture_output=True, text=True, timeout=30)
                    self.assertEqual(done.stdout, "mine\n")


class Phases(unittest.TestCase):
    def shown(self, reached: list[tuple[float, float]]) -> str:
        """What a pipe gets of a phase that has reached so much at such a time."""
        clock = mock.Mock(return_value=0.0)
        out = io.StringIO()
        with (
            mock.patch.object(phases.time, "monotonic", clock),
            mock.patch.dict(phases._took, clear=True),
            contextlib.redirect_stdout(out),
        ):
            with phases.Phase("device", "Building") as phase:
                for clock.return_value, fraction in reached:
                    phase.reached(fraction)
            self.summary = phases.summary()
        return out.getvalue()

    def test_a_line_for_each_fifth_with_the_time_left(self) -> None:
        text = self.shown([(1, 0.1), (20, 0.2), (21, 0.25), (50, 0.5), (100, 1.0)])
        self.assertEqual(text.splitlines(), [
            "Building ...", "  20 %, about 1 min 20 s left", "  40 %, about 50 s left", "  100 %",
        ])  # fmt: skip
        self.assertEqual(self.summary, "Set up in 1 min 40 s: device 1 min 40 s")

    def test_progress_is_read_from_ninja_and_make(self) -> None:
        self.assertEqual(build._done("[3/40] Building CXX object"), 3 / 40)
        self.assertEqual(build._done("[  7%] Building CXX object"), 0.07)
        self.assertIsNone(build._done("warning: [3/4]"))


class BrokenDevice(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.build = Path(scratch.name)
        (self.build / "emulator").mkdir()
        self.stamp = self.build / "emulator" / "workbook-built"

    def device_that(self, *wrong: str) -> contextlib.AbstractContextManager[object]:
        return mock.patch.object(self_test, "problems", lambda folder: list(wrong))

    def ensure(self) -> Path:
        with (
            mock.patch.object(folders, "configure", lambda device, nvcc: self.build),
            mock.patch.object(build, "build", lambda *_, **__: build.Built(True)),
            mock.patch("builtins.print"),
        ):
            return folders.ensure_device("emulator", Path("nvcc"))

    def test_grades_nothing(self) -> None:
        with self.device_that("values: got 1, want 2"), self.assertRaises(WorkbookError) as caught:
            self.ensure()
        self.assertIn("does not work on this machine", str(caught.exception))
        self.assertIn("values: got 1, want 2", str(caught.exception))
        self.assertIn("your work is not the cause", caught.exception.to_do)
        self.assertFalse(self.stamp.exists())

    def test_a_folder_from_another_processor_is_tested_anew(self) -> None:
        script(self.build / "emulator" / "emulate", "exit 0")
        self.stamp.write_text("x86-64-v9")
        with self.device_that("it crashed"), self.assertRaises(WorkbookError):
            self.ensure()
        with self.device_that():
            self.assertEqual(self.ensure(), self.build)
        self.assertEqual(self.stamp.read_text(), processor.name())
        with self.device_that("not asked again"):
            self.assertEqual(self.ensure(), self.build)

    def test_the_doctor_does_not_say_all_there(self) -> None:
        self.stamp.touch()
        for wrong, code, last in (
            (["counters differ"], 3, "Lessons cannot be graded here"),
            ([], 0, "All there."),
        ):
            out = io.StringIO()
            with mock.patch.object(doctor, "build_folder", lambda: self.build):
                with self.device_that(*wrong), contextlib.redirect_stdout(out):
                    self.assertEqual(doctor.report(), code, out.getvalue())
            self.assertIn(last, out.getvalue().splitlines()[-1])
        self.stamp.unlink()
        with mock.patch.object(doctor, "build_folder", lambda: self.build):
            with contextlib.redirect_stdout(out):
                self.assertEqual(doctor.report(), 0)
        self.assertIn("is not built yet", out.getvalue().splitlines()[-1])


if __name__ == "__main__":
    unittest.main()
