# SPDX-License-Identifier: MIT
"""The two devices that are compared: this machine's card, and a build folder's emulated one."""

from __future__ import annotations

import csv
import dataclasses
import datetime
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
RESULTS = HERE / "results"
sys.path.insert(0, str(ROOT / "common"))
from workbook.build import build_cache  # noqa: E402


class HardwareError(Exception):
    """Something that the person at the terminal must see."""


def _output(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout if done.returncode == 0 else ""


def nvcc() -> str:
    """The compiler: of the workbook, of WORKBOOK_NVCC, of PATH, of the usual place."""
    candidates = [
        os.environ.get("WORKBOOK_NVCC"),
        shutil.which("nvcc"),
        "/usr/local/cuda/bin/nvcc",
        str(ROOT / ".workbook" / "tools" / "bin" / "nvcc"),
    ]
    for candidate in candidates:
        if candidate and Path(candidate).is_file():
            return candidate
    raise HardwareError("nvcc was not found: put it into PATH, or name it in WORKBOOK_NVCC")


def runtime_library() -> Path:
    """The folder of the toolkit's libcudart."""
    toolkit = Path(nvcc()).resolve().parents[1]
    folders = (toolkit / "lib64", toolkit / "targets" / "x86_64-linux" / "lib", toolkit / "lib")
    return next((folder for folder in folders if folder.is_dir()), toolkit)


def tool(name: str) -> str:
    """A program of the CUDA toolkit, such as ncu."""
    found = shutil.which(name) or str(Path(nvcc()).parent / name)
    if not Path(found).exists():
        raise HardwareError(f"{name} was not found in PATH, nor beside nvcc")
    return found


@dataclasses.dataclass(frozen=True)
class Device:
    """Where programs run. `library`: the folder of the emulator's libcudart; None for the card."""

    library: Path | None

    @property
    def emulated(self) -> bool:
        return self.library is not None

    def environment(self, **more: str) -> dict[str, str]:
        env = {k: v for k, v in os.environ.items() if not k.startswith("EMULATOR_")}
        if self.library:
            env["LD_LIBRARY_PATH"] = str(self.library)
        env["CUDA_CACHE_DISABLE"] = "1"
        return env | more

    def describe(self) -> str:
        """One line for the head of a file of results."""
        release = re.search(r"release ([\d.]+)", _output(nvcc(), "--version"))
        toolkit = f"toolkit {release[1]}" if release else "toolkit unknown"
        today = datetime.date.today().isoformat()
        if self.emulated:
            return f"emulated device, {toolkit}, {today}"
        query = "--query-gpu=name,driver_version"
        card = _output("nvidia-smi", query, "--format=csv,noheader").strip().splitlines()
        if not card:
            raise HardwareError("nvidia-smi finds no card here: measuring needs one")
        name, driver = (part.strip() for part in card[0].split(",", 1))
        return f"{name}, driver {driver}, {toolkit}, {today}"

    def run(
        self, *command: object, seconds: float = 600, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Runs a program to its end; after `seconds` it is killed and its code is 124."""
        words = [str(word) for word in command]
        env = self.environment(**environment)
        try:
            return subprocess.run(
                words, env=env, capture_output=True, text=True, errors="replace",
                timeout=seconds, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired as late:
            said = late.stdout or b""
            text = said if isinstance(said, str) else said.decode(errors="replace")
            return subprocess.CompletedProcess(words, 124, text, "did not end")


def compile_cuda(source: Path, program: Path, device: Device, *flags: str) -> Path:
    """Builds a CUDA program for the device, unless nothing of what it comes from has changed."""
    program.parent.mkdir(parents=True, exist_ok=True)
    arch = "compute_75" if device.emulated else "native"
    common = ["-std=c++17", f"-arch={arch}", "-cudart", "shared", "-lineinfo", "-Xcompiler", "-g"]
    include = [f"-I{ROOT}", f"-I{ROOT / 'common' / 'host'}"]
    if not device.emulated:
        include += ["-Xlinker", f"-rpath={runtime_library()}"]
    command = [nvcc(), *common, *include, *flags, str(source), "-o", str(program), "-ldl"]
    if complaint := build_cache.compile_cached(command, program):
        raise HardwareError(f"{source.name} does not compile:\n{complaint}")
    return program


def write_table(name: str, about: str, header: Sequence[str], rows: Iterable[Sequence]) -> None:
    """Writes results/NAME.csv; `about` says which device and when."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    with (RESULTS / f"{name}.csv").open("w", newline="") as file:
        file.write(f"# {about}\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def read_table(name: str) -> tuple[str, list[dict[str, str]]]:
    """The head line and the rows of results/NAME.csv."""
    path = RESULTS / f"{name}.csv"
    if not path.exists():
        raise HardwareError(f"{path.name} is missing: `run.py measure` writes it, on a card")
    with path.open(newline="") as file:
        about = file.readline().lstrip("# ").strip()
        return about, list(csv.DictReader(file))


def cores() -> int:
    return max(1, len(os.sched_getaffinity(0)))


def say(text: str) -> None:
    print(text, flush=True)


sys.path.insert(0, str(HERE / "values"))
sys.path.insert(0, str(HERE / "counters"))
