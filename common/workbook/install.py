# SPDX-License-Identifier: MIT
"""Finds out what is missing, says what and why, and installs it. Standard library only."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from .project import ROOT, WorkbookError, state_folder

OLDEST_CMAKE = (3, 24)
OLDEST_NVCC = (12, 4)
OLDEST_GXX = 11

# NVIDIA's compiler as wheels, all of CUDA 13.0. cuRAND has a count of its own: 10.4.0 is in 13.0.
WHEELS = (
    "nvidia-cuda-nvcc==13.0.*",
    "nvidia-cuda-crt==13.0.*",
    "nvidia-nvvm==13.0.*",
    "nvidia-cuda-runtime==13.0.*",
    "nvidia-cuda-cccl==13.0.*",
    "nvidia-curand==10.4.0.*",
)


@dataclass(frozen=True)
class Need:
    """Something to install: Debian's package, and what the workbook wants it for."""

    package: str
    why: str
    optional: bool = False  # the workbook goes on without it, with less comfort


_TOOLS = {
    "g++": Need("g++", "compiles the tests and the emulated device"),
    "cmake": Need("cmake", "builds everything"),
}
_HEADERS = {
    "zstd.h": Need("libzstd-dev", "unpacks the GPU code that nvcc compresses into a program"),
    "lz4.h": Need("liblz4-dev", "unpacks the same in its older form"),
    "elfutils/libdwfl.h": Need("libdw-dev", "finds the source line of a host call"),
}
_MODULES = {
    "rich": Need("python3-rich", "tables and colours of the grade"),
    "numpy": Need("python3-numpy", "finds the pattern in wrong values"),
    "matplotlib": Need("python3-matplotlib", "draws the pictures", optional=True),
    "watchdog": Need("python3-watchdog", "tells make watch that you saved", optional=True),
}
_CATCH2 = Need("catch2", "the unit test library")


def first_version(text: str) -> tuple[int, ...]:
    """The first dotted number in `text`, as a tuple."""
    match = re.search(r"(\d+)\.(\d+)(?:\.(\d+))?", text)
    return tuple(int(part) for part in match.groups() if part is not None) if match else ()


def _output(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


def missing_headers(names: list[str]) -> list[str]:
    """Those of `names` that g++ does not find."""
    lines = [f"#if !__has_include(<{name}>)\nMISSING {name}\n#endif" for name in names]
    try:
        done = subprocess.run(
            [os.environ.get("CXX", "g++"), "-E", "-P", "-x", "c++", "-"],
            input="\n".join(lines),
            capture_output=True,
            text=True,
            timeout=60,
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    return re.findall(r"^MISSING (.+)$", done.stdout, re.MULTILINE)


def emulator_needs() -> list[Need]:
    """What is missing for the emulated device alone."""
    absent = missing_headers(list(_HEADERS))
    return [need for header, need in _HEADERS.items() if header in absent]


def missing() -> list[Need]:
    """What has to be installed before the workbook can build and grade."""
    needs = [need for tool, need in _TOOLS.items() if not shutil.which(tool)]
    # Without g++ the headers cannot be looked for; their packages are harmless when present.
    compiler = shutil.which(os.environ.get("CXX", "g++"))
    headers = ["catch2/catch.hpp", "catch2/catch_test_macros.hpp"]
    absent = missing_headers(headers) if compiler else headers
    if os.environ.get("DEVICE") != "gpu":
        needs += emulator_needs() if compiler else _HEADERS.values()
    named = os.environ.get("Catch2_DIR") or os.environ.get("CMAKE_PREFIX_PATH")
    if {"catch2/catch.hpp", "catch2/catch_test_macros.hpp"} <= set(absent) and not named:
        needs.append(_CATCH2)
    importlib.invalidate_caches()
    needs += [need for name, need in _MODULES.items() if not importlib.util.find_spec(name)]
    return needs


def root_prefix() -> list[str] | None:
    """What to put before a command that needs administrator rights; None without such rights."""
    if os.environ.get("WORKBOOK_NO_ROOT"):
        return None
    if os.geteuid() == 0:
        return []
    if (
        shutil.which("sudo")
        and subprocess.run(["sudo", "-n", "true"], capture_output=True).returncode == 0
    ):
        return ["sudo", "-n"]
    return None


def install_packages(needs: list[Need]) -> None:
    """Installs Debian packages; without the rights or the tool, says exactly what to run."""
    print("The workbook needs a few packages that are missing here:")
    for need in needs:
        print(f"  {need.package:20} {need.why}")
    packages = [need.package for need in needs]
    comfort = all(need.optional for need in needs)
    command = ["apt-get", "install", "-y", "--no-install-recommends", *packages]
    if not shutil.which("apt-get"):
        raise WorkbookError(
            "this system has no apt-get, so they cannot be installed from here",
            "install what corresponds to: " + " ".join(packages),
        )
    prefix = root_prefix()
    if prefix is None and comfort:
        print("Going on without: installing them needs administrator rights.")
        return
    if prefix is None:
        raise WorkbookError(
            "installing them needs administrator rights",
            "sudo apt-get update && sudo " + " ".join(command) + "\n  then run make again",
        )
    env = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    print("Installing them: " + " ".join(prefix + command), flush=True)
    log: list[str] = []
    for step in (["apt-get", "update", "-q"], command):
        done = subprocess.run(
            prefix + step, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        log += done.stdout.splitlines()
    if done.returncode != 0 and comfort:
        print(
            f"Going on without: apt-get could not install them ({log[-1] if log else 'no word'})."
        )
        return
    if done.returncode != 0:
        print("\n".join(log[-15:]))
        raise WorkbookError(
            "apt-get could not install them (its last lines are above)",
            "mend what apt-get names, then run: " + " ".join(prefix + command),
        )
    importlib.invalidate_caches()
    still = [need.package for need in missing() if need in needs]
    if still:
        raise WorkbookError(
            f"installed, but still not found: {' '.join(still)}",
            f"this Python is {sys.executable}; Debian's modules belong to /usr/bin/python3: "
            "make WORKBOOK_PYTHON=/usr/bin/python3",
        )


# --- nvcc ---------------------------------------------------------------------------------------


def nvcc_version(nvcc: str | Path) -> tuple[int, ...]:
    """(13, 0, 88), or () where `nvcc` does not run."""
    match = re.search(r"\bV(\d+)\.(\d+)\.(\d+)", _output(str(nvcc), "--version"))
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
    """The root of the compiler from the wheels, if it was set up."""
    venv = ROOT / ".workbook" / "cuda"
    for root in venv.glob("lib/python3*/site-packages/nvidia/cu13"):
        if (root / "bin" / "nvcc").is_file() and (root / "lib" / "libcudart.so").exists():
            return root
    return None


def find_nvcc() -> Path:
    """An nvcc that is new enough: WORKBOOK_NVCC, the system's, else the wheels' (installed now)."""
    wanted = os.environ.get("WORKBOOK_NVCC", "")
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
    return install_wheels()


def _too_old(nvcc: str | Path, version: tuple[int, ...]) -> tuple[str, str]:
    shown = ".".join(map(str, version)) or "of unknown version"
    oldest = ".".join(map(str, OLDEST_NVCC))
    return (
        f"{nvcc} is CUDA {shown}, and the workbook needs {oldest} or newer",
        "install CUDA Toolkit 13, or let the workbook fetch a compiler: make WORKBOOK_NVCC=wheels",
    )


def install_wheels() -> Path:
    """NVIDIA's compiler from PyPI, into .workbook/cuda."""
    folder = state_folder() / "cuda"
    print("nvcc, NVIDIA's CUDA compiler, is missing here.")
    print("Fetching NVIDIA's own packages of it from PyPI into .workbook/cuda (about 100 MB):")
    print("  " + " ".join(WHEELS), flush=True)
    _make_venv(folder)
    pip = [
        str(folder / "bin" / "python"),
        "-m",
        "pip",
        "install",
        "-q",
        "--disable-pip-version-check",
    ]
    done = subprocess.run(
        [*pip, *WHEELS], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode != 0:
        print("\n".join(done.stdout.splitlines()[-15:]))
        shutil.rmtree(folder, ignore_errors=True)
        raise WorkbookError(
            "pip could not fetch the compiler (its last lines are above)",
            "check the network and run make again, or install CUDA Toolkit 13 and put nvcc on PATH",
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


def _make_venv(folder: Path) -> None:
    candidates = [sys.executable, "/usr/bin/python3", shutil.which("python3") or ""]
    for attempt in (1, 2):
        for python in dict.fromkeys(filter(None, candidates)):
            done = subprocess.run(
                [python, "-m", "venv", "--clear", str(folder)], capture_output=True, text=True
            )
            if done.returncode == 0 and (folder / "bin" / "python").exists():
                return
        shutil.rmtree(folder, ignore_errors=True)
        if attempt == 1:
            install_packages([Need("python3-venv", "makes the folder that the compiler is put in")])
    raise WorkbookError(
        "no Python here can make a virtual environment", "apt-get install python3-venv"
    )


# --- versions, and the whole ---------------------------------------------------------------------


def check_versions() -> None:
    """CMake and g++ new enough, else a message with what to do."""
    cmake = first_version(_output("cmake", "--version"))
    if cmake[:2] < OLDEST_CMAKE:
        shown, oldest = ".".join(map(str, cmake)), ".".join(map(str, OLDEST_CMAKE))
        raise WorkbookError(
            f"this is CMake {shown or '(no version)'}, and the workbook needs {oldest} or newer",
            "a newer one from PyPI: python3 -m venv ~/cmake && ~/cmake/bin/pip install cmake\n"
            "  then put it first: PATH=~/cmake/bin:$PATH make",
        )
    compiler = os.environ.get("CXX", "g++")
    version = _output(compiler, "-dumpfullversion", "-dumpversion").strip()
    major = int(version.split(".")[0]) if version[:1].isdigit() else OLDEST_GXX
    if major < OLDEST_GXX:
        raise WorkbookError(
            f"this is {compiler} {version}, and the workbook needs g++ {OLDEST_GXX} or newer",
            "apt-get install g++-12, then: make CXX=g++-12",
        )


def _fingerprint() -> dict[str, str]:
    """What the last complete check depended on: cheap to compute."""
    return {
        "python": sys.executable,
        "path": os.environ.get("PATH", ""),
        "nvcc": os.environ.get("WORKBOOK_NVCC", ""),
        "cuda": "|".join(os.environ.get(v, "") for v in ("CUDA_HOME", "CUDA_PATH", "CUDACXX")),
        "ignore": os.environ.get("WORKBOOK_IGNORE_USR_LOCAL_CUDA", ""),
        "device": "gpu" if os.environ.get("DEVICE") == "gpu" else "emulator",
        "tools": "|".join(str(shutil.which(tool)) for tool in ("cmake", "g++", "nvcc", "ninja")),
    }


def ensure_modules() -> None:
    """What the screen needs."""
    if not importlib.util.find_spec("rich"):
        install_packages([_MODULES["rich"]])


def ensure(force: bool = False) -> Path:
    """Everything in place; returns the nvcc to use. After the first time it costs milliseconds."""
    stamp = state_folder() / "setup.json"
    now = _fingerprint()
    if not force:
        try:
            before = json.loads(stamp.read_text(encoding="utf-8"))
            if before["for"] == now and Path(before["nvcc_found"]).is_file():
                if importlib.util.find_spec("rich"):
                    return Path(before["nvcc_found"])
        except (OSError, ValueError, KeyError, TypeError):
            pass
    if needs := missing():
        install_packages(needs)
    check_versions()
    nvcc = find_nvcc()
    stamp.write_text(json.dumps({"for": _fingerprint(), "nvcc_found": str(nvcc)}), encoding="utf-8")
    return nvcc
