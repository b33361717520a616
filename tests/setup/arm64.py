# SPDX-License-Identifier: MIT
"""The workbook for Linux on arm64, built on another machine and run under qemu.

    python3 tests/setup/arm64.py [--folder FOLDER] [--jobs N] [--only unit,lessons,cases]

Cross-compiles the emulated device, its unit tests, six lessons' solutions and some seeded bugs, and
runs all of them. FOLDER (by default build/arm64) keeps what was fetched and built: Debian's arm64
packages, unpacked there and nowhere else, and NVIDIA's arm64 wheels. Exit code 0: all passed; 1:
something failed; 77: packages cannot be had here, and the last line says which.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

from workbook.build import folders

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "common"))
from workbook.base.project import WorkbookError  # noqa: E402
from workbook.setup import install  # noqa: E402
from workbook.setup import toolkit as cuda  # noqa: E402

SKIPPED = 77
# The command, and Debian's package of it.
TOOLS = {
    "aarch64-linux-gnu-g++": "g++-aarch64-linux-gnu",
    "qemu-aarch64": "qemu-user",
    "ninja": "ninja-build",
}
# What the emulated device needs beside the cross compiler's own C library.
LIBRARIES = (
    "libdw-dev libdw1 libelf-dev libelf1 libzstd-dev libzstd1 liblz4-dev liblz4-1 zlib1g-dev "
    "zlib1g libbz2-1.0 liblzma5 catch2"
).split()
TAGS = ("manylinux2014_aarch64", "manylinux_2_17_aarch64", "manylinux_2_27_aarch64")
LOADER = "/usr/aarch64-linux-gnu"  # where the cross compiler's packages keep the C library
UNIT_TESTS = ("ptx", "machine", "checks", "runtime", "driver")
LESSONS = ("02", "05", "14", "18", "19", "21")
CASES = (
    "out_of_bounds_global_bytes",
    "race_shared_missing_barrier",
    "race_global_host_managed",
    "race_global_host_file",
    "uninitialized_shared_tail",
    "barrier_divergence_in_branch",
    "host_dereference_read",
    "host_dereference_write",
    "leak_forgotten",
    "half_clean",
)
RUN_SECONDS = 1800


class Skip(Exception):
    """This cannot be tried here, and why."""


@dataclass
class Tally:
    """What was run, and what failed."""

    passed: int = 0
    failed: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def add(self, name: str, good: bool, words: str) -> None:
        """One program's result, told at once."""
        self.passed += good
        if not good:
            self.failed.append(name)
        self.lines.append(f"{'ok    ' if good else 'FAILED'}  {name:24} {words}")
        print(self.lines[-1], flush=True)


def output_of(command: list[str], why: str, **more: object) -> str:
    """What a command prints; Skip when it fails."""
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **more
    )
    if done.returncode != 0:
        last = (done.stdout.strip().splitlines() or ["no word"])[-1]
        raise Skip(f"{why}: {last}")
    return done.stdout


def ensure_tools() -> None:
    """The cross compiler and qemu, installed where that is allowed."""
    missing = [package for tool, package in TOOLS.items() if not shutil.which(tool)]
    if not missing:
        return
    prefix = install.root_prefix()
    command = ["apt-get", "install", "-y", "-q", "--no-install-recommends", *missing]
    if prefix is None or not shutil.which("apt-get"):
        raise Skip("needs " + " ".join(missing) + ": sudo apt-get install " + " ".join(missing))
    print("+ " + shlex.join(command), flush=True)
    output_of([*prefix, "apt-get", "update", "-q"], "apt-get update")
    output_of([*prefix, *command], "apt-get install")


def make_sysroot(folder: Path) -> Path:
    """Debian's arm64 packages, fetched by an apt of their own and unpacked into a folder."""
    sysroot = folder / "sysroot"
    if (sysroot / "complete").is_file():
        return sysroot
    for tool in ("apt-get", "dpkg"):
        if not shutil.which(tool):
            raise Skip(f"this system has no {tool}, by which arm64 packages are fetched")
    shutil.rmtree(sysroot, ignore_errors=True)
    apt = folder / "apt"
    for part in ("lists/partial", "cache/archives/partial", "packages"):
        (apt / part).mkdir(parents=True, exist_ok=True)
    (apt / "status").touch()
    (apt / "apt.conf").write_text(
        f'APT::Architecture "arm64";\nAPT::Architectures {{ "arm64"; }};\n'
        f'Dir::State "{apt}";\nDir::State::status "{apt}/status";\nDir::Cache "{apt}/cache";\n'
        'Acquire::Languages "none";\nAPT::Sandbox::User "";\n',
        encoding="utf-8",
    )
    env = dict(os.environ, APT_CONFIG=str(apt / "apt.conf"))
    output_of(["apt-get", "update", "-q"], "arm64's lists of packages", env=env)
    packages = apt / "packages"
    output_of(["apt-get", "download", "-q", *LIBRARIES], "arm64's packages", env=env, cwd=packages)
    for package in packages.glob("*.deb"):
        output_of(["dpkg", "-x", str(package), str(sysroot)], package.name)
    (sysroot / "complete").touch()
    return sysroot


def make_toolkit(folder: Path) -> Path:
    """This machine's nvcc, with the headers and libcudart of arm64's wheels as its target."""
    version = re.search(r"==(\d+)\.(\d+)", cuda.WHEELS[0])
    wanted = (int(version.group(1)), int(version.group(2)))
    nvcc = cuda.find_nvcc()
    if cuda.nvcc_version(nvcc)[:2] != wanted:
        os.environ["WORKBOOK_NVCC"] = "wheels"
        nvcc = cuda.find_nvcc()
    toolkit = folder / "toolkit"
    target = toolkit / "targets" / "aarch64-linux"
    if not (target / "complete").is_file():
        shutil.rmtree(toolkit, ignore_errors=True)
        fetch_wheels(folder, target)
        cuda.complete_toolkit(target)
        (target / "complete").touch()
    # nvcc looks for its target beside the folder that it is called in.
    real = nvcc.resolve().parents[1]
    shutil.rmtree(toolkit / "bin", ignore_errors=True)
    (toolkit / "bin").mkdir()
    for file in (real / "bin").iterdir():
        (toolkit / "bin" / file.name).symlink_to(file)
    (toolkit / "nvvm").unlink(missing_ok=True)
    (toolkit / "nvvm").symlink_to(real / "nvvm")
    return toolkit


def fetch_wheels(folder: Path, target: Path) -> None:
    """The arm64 wheels' headers and libraries, as pip on arm64 would choose them."""
    venv, wheels = folder / "venv", folder / "wheels"
    if not (venv / "bin" / "pip").exists():
        output_of([sys.executable, "-m", "venv", str(venv)], "python3-venv")
    wheels.mkdir(exist_ok=True)
    platforms = [word for tag in TAGS for word in ("--platform", tag)]
    pip = [str(venv / "bin" / "pip"), "download", "-q", "--no-deps", "--only-binary=:all:"]
    output_of([*pip, *platforms, "-d", str(wheels), *cuda.WHEELS], "arm64's wheels")
    unpacked = folder / "unpacked"
    for wheel in wheels.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(unpacked)
    roots = list(unpacked.glob("nvidia/cu*"))
    here = [root for root in roots if (root / "bin" / "nvcc").is_file()]
    if len(roots) != 1 or not here or not list((roots[0] / "lib").glob("libcudart.so.*")):
        raise WorkbookError("arm64's wheels do not have the layout that toolkit.py knows")
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(target, ignore_errors=True)
    roots[0].rename(target)
    shutil.rmtree(unpacked)


class Build:
    """The cross build, and how its programs are run."""

    def __init__(self, folder: Path, jobs: int) -> None:
        self.folder, self.jobs = folder, jobs
        self.sysroot, self.toolkit = make_sysroot(folder), make_toolkit(folder)
        self.build = folder / "build"
        libraries = [self.sysroot / part / "aarch64-linux-gnu" for part in ("usr/lib", "lib")]
        path = ":".join(map(str, [self.build / "emulator", *libraries]))
        self.qemu = ["qemu-aarch64", "-L", LOADER, "-E", f"LD_LIBRARY_PATH={path}"]

    def configure(self) -> None:
        """CMake with the toolchain file."""
        command = [
            *("cmake", "-G", "Ninja", "-S", str(ROOT), "-B", str(self.build)),
            f"-DCMAKE_TOOLCHAIN_FILE={ROOT}/common/cmake/arm64.cmake",
            f"-DWORKBOOK_ARM64_SYSROOT={self.sysroot}",
            f"-DWORKBOOK_ARM64_TOOLKIT={self.toolkit}",
        ]
        self._loud(command)

    def make(self, *targets: str) -> None:
        """Builds these targets."""
        self._loud(
            ["cmake", "--build", str(self.build), "-j", str(self.jobs), "--target", *targets]
        )

    def _loud(self, command: list[str]) -> None:
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
        if done.returncode != 0:
            print(done.stdout[-6000:])
            raise WorkbookError(f"this failed: {shlex.join(command[:4])} ... (above)")

    def run(self, program: Path, *arguments: str, **environment: str) -> tuple[int, str]:
        """Exit status and output of a program under qemu."""
        try:
            done = subprocess.run(
                [*self.qemu, str(program), *arguments],
                env={**os.environ, **environment},
                capture_output=True,
                text=True,
                errors="replace",
                timeout=RUN_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return -1, f"did not finish within {RUN_SECONDS} s"
        return done.returncode, done.stdout + done.stderr


def catch_words(status: int, output: str) -> str:
    """Catch2's last words: how many assertions and test cases."""
    lines = [line for line in output.strip().splitlines() if line.strip()]
    counts = [line for line in lines if re.match(r"All tests passed|test cases:", line)]
    return counts[-1] if counts else f"status {status}: {lines[-1] if lines else 'no output'}"


def unit_tests(build: Build, tally: Tally) -> None:
    """The emulated device's own tests, layer by layer."""
    build.make(*(f"test_{layer}" for layer in UNIT_TESTS))
    for layer in UNIT_TESTS:
        begin = time.monotonic()
        status, output = build.run(
            build.build / "tests" / f"test_{layer}", "~[.]~[benchmark]~[forks]"
        )
        if status != 0:
            print(output[-6000:])
        words = f"{catch_words(status, output)}, {time.monotonic() - begin:.0f} s"
        tally.add(f"test_{layer}", status == 0, words)


def lessons(build: Build, tally: Tally) -> None:
    """Solutions must pass their tests, without findings."""
    names = [next((ROOT / "solutions").glob(f"{number}_*")).name for number in LESSONS]
    build.make(*(f"solution_{name}" for name in names))
    for name in names:
        report = build.folder / f"{name}.jsonl"
        report.unlink(missing_ok=True)
        program = build.build / "lessons" / f"solution_{name}"
        status, output = build.run(program, EMULATOR_REPORT=str(report))
        findings = report.read_text(encoding="utf-8").strip() if report.exists() else ""
        if status != 0 or findings:
            print(output[-4000:] + findings)
        good = status == 0 and report.exists() and not findings
        tally.add(name, good, catch_words(status, output))


def cases(build: Build, tally: Tally) -> None:
    """Seeded bugs must be found on their lines."""
    build.make("emulator_cudart")
    for case in CASES:
        command = [
            *(sys.executable, str(ROOT / "tests" / "emulator" / "run_cases.py"), case),
            *("--build", str(build.folder / "cases"), "--library", str(build.build / "emulator")),
            *("--nvcc", str(build.toolkit / "bin" / "nvcc"), "--jobs", "1"),
            *("--runner", shlex.join(build.qemu)),
        ]
        done = subprocess.run(
            command,
            env={**os.environ, "NVCC_CCBIN": "aarch64-linux-gnu-g++"},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            print(done.stdout + done.stderr)
        tally.add(case, done.returncode == 0, (done.stdout.strip().splitlines() or ["no word"])[-1])


PARTS = {"unit": unit_tests, "lessons": lessons, "cases": cases}


def main() -> int:
    """Everything, or the parts that --only names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "arm64")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", default=",".join(PARTS), help="some of " + ", ".join(PARTS))
    options = parser.parse_args()
    parts = options.only.split(",")
    if unknown := [part for part in parts if part not in PARTS]:
        parser.error(f"--only: {', '.join(unknown)} is none of {', '.join(PARTS)}")
    options.folder = options.folder.resolve()
    options.folder.mkdir(parents=True, exist_ok=True)
    tally = Tally()
    try:
        ensure_tools()
        build = Build(options.folder, options.jobs)
        folders.configure()
        build.make("emulate", "emulator_cudart", "emulator_cuda")
        status, output = build.run(build.build / "emulator" / "emulate", "--platform")
        tally.add("emulate --platform", status == 0 and "arm64" in output, "")
        print(output, end="")
        for part in parts:
            PARTS[part](build, tally)
    except Skip as reason:
        print(f"arm64 skipped: {reason}")
        return SKIPPED
    except WorkbookError as error:
        print(error)
        return 1
    print(f"{tally.passed} passed, {len(tally.failed)} failed on arm64 under qemu")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
