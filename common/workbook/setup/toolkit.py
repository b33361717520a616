# SPDX-License-Identifier: MIT
"""Finds an nvcc that is new enough, or fetches NVIDIA's own packages of it from PyPI."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from ..base import disk, options
from ..base.phases import Phase
from ..base.project import ROOT, WorkbookError, state_folder
from . import pypi

OLDEST_NVCC = (12, 4)
# tests/setup/toolkits.py compiles and grades six lessons with these.
TESTED = ((12, 4), (12, 6), (12, 9), (13, 0), (13, 5))

# NVIDIA's compiler as wheels, all of CUDA 13.0. cuRAND has a count of its own: 10.4.0 is in 13.0.
WHEELS = (
    "nvidia-cuda-nvcc==13.0.*",
    "nvidia-cuda-crt==13.0.*",
    "nvidia-nvvm==13.0.*",
    "nvidia-cuda-runtime==13.0.*",
    "nvidia-cuda-cccl==13.0.*",
    "nvidia-curand==10.4.0.*",
)


def dotted(version: tuple[int, ...]) -> str:
    """(13, 0) as `13.0`."""
    return ".".join(map(str, version))


def output(*command: str) -> str:
    """What a command prints; '' where it fails or is not there."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


def nvcc_version(nvcc: str | Path) -> tuple[int, ...]:
    """(13, 0, 88), or () where `nvcc` does not run."""
    match = re.search(r"\bV(\d+)\.(\d+)\.(\d+)", output(str(nvcc), "--version"))
    return tuple(int(part) for part in match.groups()) if match else ()


def system_nvccs() -> list[Path]:
    """Every nvcc of this machine, in the order in which they are tried."""
    found = []
    if on_path := shutil.which("nvcc"):
        found.append(Path(on_path))
    for variable in ("CUDA_HOME", "CUDA_PATH", "CUDACXX"):
        if value := os.environ.get(variable):
            path = Path(value)
            found.append(path if path.name == "nvcc" else path / "bin" / "nvcc")
    if not os.environ.get("WORKBOOK_IGNORE_USR_LOCAL_CUDA"):
        found += sorted(Path("/usr/local").glob("cuda*/bin/nvcc"), reverse=True)
    unique: list[Path] = []
    for path in found:
        if path.is_file() and path.resolve() not in [other.resolve() for other in unique]:
            unique.append(path)
    return unique


def local_toolkit() -> Path | None:
    """The root of the compiler from the wheels, if it was set up to the end."""
    venv = ROOT / ".workbook" / "cuda"
    for root in venv.glob("lib/python3*/site-packages/nvidia/cu13"):
        # complete_toolkit makes lib64 last: without it the set-up was interrupted.
        if (root / "bin" / "nvcc").is_file() and (root / "lib64" / "libcudart.so").exists():
            return root
    return None


def present_nvcc() -> Path | None:
    """WORKBOOK_NVCC, the system's nvcc if it is new enough, else the wheels'; None without one."""
    wanted = options.text("WORKBOOK_NVCC")
    if wanted and wanted != "wheels":
        version = nvcc_version(wanted)
        if not version:
            raise WorkbookError(f"WORKBOOK_NVCC={wanted} does not run", "name the file nvcc itself")
        if version[:2] < OLDEST_NVCC:
            raise WorkbookError(*_too_old(wanted, version))
        return Path(wanted)
    too_old = []
    if wanted != "wheels":
        for nvcc in system_nvccs():
            version = nvcc_version(nvcc)
            if version[:2] >= OLDEST_NVCC:
                return nvcc
            too_old.append((nvcc, version))
    if root := local_toolkit():
        return root / "bin" / "nvcc"
    for nvcc, version in too_old:
        print(f"note: {_too_old(nvcc, version)[0]}: not used.")
    return None


def find_nvcc() -> Path:
    """An nvcc that is new enough; where there is none, the wheels' is installed now."""
    return present_nvcc() or install_wheels()


def _too_old(nvcc: str | Path, version: tuple[int, ...]) -> tuple[str, str]:
    return (
        f"{nvcc} is CUDA {dotted(version) or 'of unknown version'}, "
        f"and the workbook needs {dotted(OLDEST_NVCC)} or newer",
        "install CUDA Toolkit 13, or let the workbook fetch a compiler: make WORKBOOK_NVCC=wheels",
    )


def not_tested(version: tuple[int, ...]) -> str:
    """A sentence about a toolkit that the lessons were not tested with; '' about the others."""
    if not version or version[:2] in TESTED:
        return ""
    return (
        f"CUDA {dotted(version[:2])} has not been tested (tested: "
        f"{', '.join(dotted(tested) for tested in TESTED)}). If a lesson does not compile with it: "
        "make WORKBOOK_NVCC=wheels"
    )


def misfit(nvcc: Path) -> str:
    """'' when nvcc accepts this g++, else what it says."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "empty.cu"
        source.write_text("__global__ void k() {}\n")
        command = [str(nvcc), "-ccbin", os.environ.get("CXX", "g++"), "-arch=compute_75", "-c"]
        try:
            done = subprocess.run(
                [*command, "-o", f"{folder}/empty.o", str(source)],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
    if done.returncode == 0:
        return ""
    lines = done.stdout.strip().splitlines() or ["failed"]
    return next((line for line in lines if "error" in line), lines[0])


def install_wheels() -> Path:
    """NVIDIA's compiler from PyPI, into .workbook/cuda."""
    folder = state_folder() / "cuda"
    print("nvcc, NVIDIA's CUDA compiler, is missing here.")
    print("From PyPI into .workbook/cuda, NVIDIA's own packages of it (about 165 MB):")
    print("  " + " ".join(WHEELS), flush=True)
    with Phase("compiler", "Fetching the compiler") as phase:
        if said := pypi.install(folder, list(WHEELS), phase):
            disk.stop_if_full(said)
            print(said)
            raise WorkbookError(
                "pip could not fetch the compiler (its last lines are above)",
                "check the network and run make again, or install CUDA Toolkit 13 and put nvcc on "
                "PATH",
            )
        roots = list(folder.glob("lib/python3*/site-packages/nvidia/cu13"))
        if not roots:
            raise WorkbookError(
                "the compiler's packages do not have the layout known here: no nvidia/cu13"
            )
        complete_toolkit(roots[0])
    nvcc = roots[0] / "bin" / "nvcc"
    if not nvcc_version(nvcc):
        raise WorkbookError(
            f"{nvcc} was installed, and does not run", "remove .workbook/cuda and try again"
        )
    return nvcc


def complete_toolkit(root: Path) -> None:
    """Adds what a toolkit has and the wheels lack: lib64, and libraries' names without version."""
    for library in (root / "lib").glob("lib*.so.*"):
        plain = library.with_name(library.name.split(".so.")[0] + ".so")
        if not plain.exists():
            plain.symlink_to(library.name)
    if not (root / "lib64").exists():
        (root / "lib64").symlink_to("lib")
