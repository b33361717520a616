# SPDX-License-Identifier: MIT
"""Where the headers come from that the emulated device is built against, and what its libraries
export for which toolkit."""

from __future__ import annotations

import importlib.util
import shutil
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from workbook.base.project import ROOT, WorkbookError
from workbook.setup import headers, pypi
from workbook.setup import toolkit as toolkits

RUNTIME = ROOT / "common" / "emulator" / "runtime"
LAYOUT = "lib/python3.11/site-packages/nvidia/cu13/include"


def toolkit(root: Path, version: int) -> Path:
    """A folder that looks like a toolkit of that version; returns its nvcc."""
    include(root / "include", version)
    (root / "bin").mkdir(parents=True)
    (root / "bin" / "nvcc").touch()
    return root / "bin" / "nvcc"


def include(folder: Path, version: int) -> None:
    (folder / "crt").mkdir(parents=True)
    for name in ("cuda.h", "cudaTypedefs.h", "crt/host_defines.h"):
        (folder / name).touch()
    (folder / "cuda_runtime_api.h").write_text(f"#define CUDART_VERSION  {version}\n")


class PinnedHeaders(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.state = self.folder / "state"
        self.state.mkdir()
        self.system: list[Path] = []
        for module, name, value in (
            (headers, "state_folder", lambda: self.state),
            (toolkits, "system_nvccs", lambda: self.system),
            (toolkits, "local_toolkit", lambda: None),
        ):
            patch = mock.patch.object(module, name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def test_of_the_toolkit_itself(self) -> None:
        nvcc = toolkit(self.folder / "cuda", 13000)
        self.assertEqual(headers.pinned(nvcc), self.folder / "cuda" / "include")

    def test_of_another_toolkit_so_that_they_stay_when_nvcc_changes(self) -> None:
        self.system = [toolkit(self.folder / "old", 12040), toolkit(self.folder / "new", 13000)]
        for nvcc in (self.system[0], toolkit(self.folder / "wheels", 13000)):
            self.assertEqual(headers.pinned(nvcc), self.folder / "new" / "include")

    def test_fetched_ones(self) -> None:
        include(self.state / "headers" / "include", 13000)
        for version in (12090, 13010):
            nvcc = toolkit(self.folder / f"cuda{version}", version)
            self.assertEqual(headers.pinned(nvcc), self.state / "headers" / "include")

    def fetch(self, said: str, version: int) -> Path:
        nvcc = toolkit(self.folder / "cuda", 12040)

        def pip(folder: Path, packages: list[str], _: object) -> str:
            self.assertEqual(packages, list(headers.WHEELS))
            include(folder / LAYOUT, version)
            return said

        with mock.patch.object(pypi, "install", pip), mock.patch("builtins.print"):
            return headers.pinned(nvcc)

    def test_are_fetched_once(self) -> None:
        self.assertEqual(self.fetch("", 13000), self.state / "headers" / "include")
        self.assertEqual([path.name for path in self.state.iterdir()], ["headers"])

    def test_pip_fails(self) -> None:
        for said, version in (("no network", 13000), ("", 13010)):
            with self.subTest(said), self.assertRaisesRegex(WorkbookError, "pip could not fetch"):
                self.fetch(said, version)
            self.assertEqual(list(self.state.iterdir()), [], "half of it is left")
            shutil.rmtree(self.folder / "cuda")


class Jumps(unittest.TestCase):
    """Which function of libcudart.so.13 stands for a name of libcudart.so.12."""

    def setUp(self) -> None:
        sys.path.insert(0, str(RUNTIME))  # for what the generators share
        self.addCleanup(sys.path.remove, str(RUNTIME))
        path = RUNTIME / "generate_stubs.py"
        spec = importlib.util.spec_from_file_location("generate_stubs", path)
        assert spec and spec.loader
        self.stubs = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.stubs)
        self.new = {"cudaFree", "cudaMemAdvise", "cudaInfo", "cudaInfo_ptsz"}

    def target(self, name: str, *own: str) -> str | None:
        old = {"cudaFree", "cudaMemAdvise_v2", "cudaInfo_v2", "cudaInfo_v3", "cudaInfo_v3_ptsz"}
        return self.stubs.counterpart(name, old | {name}, self.new, set(own))

    def test_same_name(self) -> None:
        self.assertEqual(self.target("cudaFree"), "cudaFree")

    def test_changed_function(self) -> None:
        self.assertEqual(self.target("cudaMemAdvise", "cudaMemAdvise"), "emulator12_cudaMemAdvise")

    def test_the_newest_version_has_lost_its_number(self) -> None:
        self.assertEqual(self.target("cudaMemAdvise_v2"), "cudaMemAdvise")
        self.assertEqual(self.target("cudaInfo_v3_ptsz"), "cudaInfo_ptsz")
        self.assertIsNone(self.target("cudaInfo_v2"))
        self.assertIsNone(self.target("cudaGone"))

    def test_a_name_without_counterpart_stops_the_build(self) -> None:
        with self.assertRaisesRegex(SystemExit, "cudaGone of libcudart.so.12: no counterpart"):
            self.stubs.targets(["cudaGone"], ["cudaFree"], set())

    def test_per_thread_spellings_are_those_of_defined_functions(self) -> None:
        exported = ["cudaCopy", "cudaCopy_ptds", "cudaWait_ptsz", "cudaOwn_ptsz", "cudaGone_ptsz"]
        defined = ["cudaCopy", "cudaWait", "cudaOwn", "cudaOwn_ptsz"]
        self.assertEqual(
            self.stubs.per_thread_names(exported, defined),
            {"cudaCopy_ptds": "cudaCopy", "cudaWait_ptsz": "cudaWait"},
        )

    def test_parameters_lose_their_default_values(self) -> None:
        header = """
            extern __host__ cudaError_t CUDARTAPI cudaCopy(void *to, size_t n,
                cudaStream_t stream __dv(0));
            extern cudaError_t CUDARTAPI cudaAttach(void *p, unsigned int flags = cudaSingle);"""
        declared = self.stubs.declarations(header, "cudaError_t", "CUDARTAPI")
        self.assertEqual(declared["cudaAttach"], "void *p, unsigned int flags")
        lines = self.stubs.per_thread_definition(
            "", "cudaError_t", "cudaCopy_ptsz", "cudaCopy", declared["cudaCopy"]
        )
        self.assertIn("    return cudaCopy(to, n, stream);", lines)


if __name__ == "__main__":
    unittest.main()
