#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Six lessons' solutions compile without a warning and pass with each CUDA toolkit that students
may have. The device is built once: it must not depend on the toolkit.

    tests/setup/toolkits.py [--cache FOLDER] [12.4 12.6 12.9 13.0 newest]

PyPI has the whole compiler of CUDA 13. Of CUDA 12 it has the headers, ptxas and the libraries, but
no nvcc: that of 12.4 comes from Debian's non-free packages, and compiles for 12.6 and 12.9 too.
Everything is kept in FOLDER, about 2 GB. Exit code 77: some toolkit could not be fetched.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SKIPPED = 77
LESSONS = ("02", "05", "14", "18", "19", "21")
MIRROR = os.environ.get("WORKBOOK_DEBIAN_MIRROR", "http://deb.debian.org/debian")
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
# Debian's package of CUDA 12.4, and what of it a toolkit of wheels lacks.
DEBIAN = ("trixie", "nvidia-cuda-toolkit=12.4.*")
LACKING = {
    "usr/lib/nvidia-cuda-toolkit/bin/nvcc": "bin/nvcc",
    "usr/lib/nvidia-cuda-toolkit/bin/cicc": "nvvm/bin/cicc",
    "usr/lib/nvidia-cuda-toolkit/bin/crt/link.stub": "bin/crt/link.stub",
    "usr/lib/nvidia-cuda-toolkit/bin/crt/prelink.stub": "bin/crt/prelink.stub",
    "usr/bin/cudafe++": "bin/cudafe++",
    "usr/bin/fatbinary": "bin/fatbinary",
    "usr/bin/nvlink": "bin/nvlink",
    "usr/bin/bin2c": "bin/bin2c",
}
PROFILE = """\
TOP              = $(_HERE_)/..
CICC_PATH        = $(TOP)/nvvm/bin
NVVMIR_LIBRARY_DIR = $(TOP)/nvvm/libdevice
LD_LIBRARY_PATH += $(TOP)/lib:
PATH            += $(CICC_PATH):$(_HERE_):
INCLUDES        +=  "-I$(TOP)/include" $(_SPACE_)
LIBRARIES        =+ $(_SPACE_) "-L$(TOP)/lib/stubs" "-L$(TOP)/lib"
CUDAFE_FLAGS    +=
PTXAS_FLAGS     +=
"""


class Skip(Exception):
    """This toolkit cannot be had here, and why."""


class Failed(Exception):
    """What was tried did not go as it must."""


@dataclass(frozen=True)
class Toolkit:
    """What pip is asked for, and the library that its programs need."""

    wheels: tuple[str, ...]
    runtime: str

    @property
    def of_cuda_12(self) -> bool:
        return self.runtime.endswith(".12")


def cuda_12(version: str) -> Toolkit:
    parts = ("cuda-runtime", "cuda-nvcc", "cuda-cccl")
    return Toolkit(tuple(f"nvidia-{p}-cu12=={version}.*" for p in parts), "libcudart.so.12")


def cuda_13(version: str) -> Toolkit:
    parts = ("cuda-runtime", "cuda-nvcc", "cuda-crt", "nvvm", "cuda-cccl")
    return Toolkit(tuple(f"nvidia-{p}{version}" for p in parts), "libcudart.so.13")


TOOLKITS = {
    "12.4": cuda_12("12.4"),
    "12.6": cuda_12("12.6"),
    "12.9": cuda_12("12.9"),
    "13.0": cuda_13("==13.0.*"),
    "newest": cuda_13(""),
}


def run(command: Sequence[str | Path], wrong: type[Exception], **options: object) -> str:
    """The command's output; what it said last goes into the exception."""
    try:
        done = subprocess.run(
            [str(word) for word in command],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options,
        )  # fmt: skip
    except OSError as error:
        raise wrong(f"{command[0]}: {error}") from error
    if done.returncode != 0:
        last = "\n".join(done.stdout.splitlines()[-25:])
        raise wrong(f"{' '.join(map(str, command))} ended with {done.returncode}\n{last}")
    return done.stdout


# --- fetching ------------------------------------------------------------------------------------


def pip(cache: Path) -> Path:
    """A pip of our own: Debian's does not install outside of an environment."""
    folder = cache / "pip"
    if not (folder / "bin" / "pip").exists():
        run([sys.executable, "-m", "venv", "--clear", folder], Skip)
    return folder / "bin" / "pip"


def debian_compiler(cache: Path) -> Path:
    """The unpacked package with nvcc of CUDA 12.4."""
    folder = cache / "debian"
    if (folder / "ready").exists():
        return folder
    if not KEYRING.exists() or not shutil.which("apt-get"):
        raise Skip("nvcc of CUDA 12 is a Debian package: apt-get and debian-archive-keyring needed")
    shutil.rmtree(folder, ignore_errors=True)
    state = folder / "apt"
    for name in ("etc/apt.conf.d", "etc/preferences.d", "lists/partial", "cache/archives/partial"):
        (state / name).mkdir(parents=True)
    (state / "status").touch()
    suite, package = DEBIAN
    (state / "etc" / "sources.list").write_text(
        f"deb [arch=amd64 signed-by={KEYRING}] {MIRROR} {suite} non-free\n", encoding="utf-8"
    )
    places = {
        "Dir::Etc": state / "etc", "Dir::State": state, "Dir::State::status": state / "status",
        "Dir::Cache": state / "cache", "APT::Sandbox::User": "root",
    }  # fmt: skip
    apt = ["apt-get", "-q", *(f"-o{name}={place}" for name, place in places.items())]
    run([*apt, "update"], Skip)
    print(f"  fetching {package} of Debian {suite} (87 MB)", flush=True)
    run([*apt, "download", package], Skip, cwd=folder)
    run(["dpkg-deb", "-x", next(folder.glob("*.deb")), folder], Skip)
    (folder / "ready").touch()
    return folder


def fetched(name: str, cache: Path) -> Path:
    """The root of a toolkit with bin/nvcc, include and lib64, from the cache if it was made."""
    toolkit = TOOLKITS[name]
    folder = cache / f"cuda-{name}"
    root = folder / "toolkit" if toolkit.of_cuda_12 else folder / "nvidia" / "cu13"
    if (folder / "ready").exists():
        return root
    shutil.rmtree(folder, ignore_errors=True)
    print(f"  fetching {' '.join(toolkit.wheels)}", flush=True)
    run(
        [pip(cache), "install", "-q", "--no-deps", "--disable-pip-version-check",
         "--target", folder, *toolkit.wheels],
        Skip,
    )  # fmt: skip
    if toolkit.of_cuda_12:
        for part in ("cuda_runtime", "cuda_nvcc", "cuda_cccl"):
            shutil.copytree(folder / "nvidia" / part, root, dirs_exist_ok=True)
        for source, target in LACKING.items():
            (root / target).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(debian_compiler(cache) / source, root / target)
        (root / "bin" / "nvcc.profile").write_text(PROFILE, encoding="utf-8")
        # CMake tries the static libraries, which most wheels lack; 12.9's are too new for nvlink.
        # Nothing else links them.
        (root / "lib" / "libcudart_static.a").write_text("INPUT(-lcudart)\n", encoding="utf-8")
        (root / "lib" / "libcudadevrt.a").write_text("!<arch>\n", encoding="utf-8")
    sys.path.insert(0, str(ROOT / "common"))
    from workbook.setup import toolkit as workbook_toolkit

    workbook_toolkit.complete_toolkit(root)
    (folder / "ready").touch()
    return root


# --- the workbook with it ------------------------------------------------------------------------


def checkout(cache: Path) -> Path:
    """A copy of this repository, with the six solutions as the student's answers."""
    copy = cache / "workbook"
    files = run(["git", "ls-files", "-co", "--exclude-standard", "-z"], Failed, cwd=ROOT)
    wanted = {name for name in files.split("\0") if name and (ROOT / name).is_file()}
    (copy / ".workbook").mkdir(parents=True, exist_ok=True)
    kept = cache / "copied"
    before = set(kept.read_text().split("\n")) if kept.exists() else set()
    for name in before - wanted:
        (copy / name).unlink(missing_ok=True)
    kept.write_text("\n".join(sorted(wanted)))
    # As in a new checkout: what CMake remembers of an older one may differ.
    (copy / "build" / "CMakeCache.txt").unlink(missing_ok=True)
    answers = {}
    for number in LESSONS:
        solution = next(ROOT.glob(f"solutions/{number}_*/*.cu"))
        answers[f"lessons/{solution.parent.name}/{solution.name}"] = solution
    for name in wanted:
        source, target = answers.get(name, ROOT / name), copy / name
        if target.is_file() and target.stat().st_mtime_ns == source.stat().st_mtime_ns:
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)
    return copy


def device_of(copy: Path) -> dict[str, int]:
    """The built libraries, with the time at which each was written."""
    return {p.name: p.stat().st_mtime_ns for p in (copy / "build" / "emulator").glob("lib*.so.*")}


def version_of(nvcc: Path) -> str:
    match = re.search(r"V(\d+\.\d+\.\d+)", run([nvcc, "--version"], Failed))
    return match.group(1) if match else "unknown"


def headers_of(root: Path) -> str:
    text = (root / "include" / "cuda_runtime_api.h").read_text(errors="replace")
    number = int(re.findall(r"^#define CUDART_VERSION +(\d+)", text, re.MULTILINE)[0])
    return f"{number // 1000}.{number % 1000 // 10}"


def try_toolkit(name: str, cache: Path, copy: Path) -> list[str]:
    """A row of the table; Skip or Failed say why there is none."""
    root = fetched(name, cache)
    nvcc = root / "bin" / "nvcc"
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "DEVICE")}
    env.update(WORKBOOK_NVCC=str(nvcc), PLAIN="1")
    started = time.monotonic()
    workbook = ["sh", "common/workbook/run"]
    run([*workbook, "prepare"], Failed, cwd=copy, env=env)
    lessons = [next(copy.glob(f"lessons/{number}_*")).name for number in LESSONS]
    targets = [f"lesson_{lesson}" for lesson in lessons]
    said = run(
        ["cmake", "--build", "build", "-j", str(os.cpu_count()), "--target", *targets],
        Failed, cwd=copy, env=env,
    )  # fmt: skip
    if warning := re.search(r"^.*\bwarning\b.*$", said, re.MULTILINE | re.IGNORECASE):
        raise Failed(f"the compiler warns: {warning.group()}")
    for lesson in lessons:
        needed = run(["readelf", "-d", copy / "build" / "lessons" / f"lesson_{lesson}"], Failed)
        if f"[{TOOLKITS[name].runtime}]" not in needed:
            raise Failed(f"lesson {lesson} is not linked with {TOOLKITS[name].runtime}")
        run([*workbook, "grade", lesson[:2]], Failed, cwd=copy, env=env)
    seconds = f"{time.monotonic() - started:.0f} s"
    return [version_of(nvcc), headers_of(root), TOOLKITS[name].runtime, " ".join(LESSONS), seconds]


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    parser.add_argument("--cache", type=Path, default=home / "cuda-workbook" / "toolkits")
    parser.add_argument("versions", nargs="*", metavar="VERSION", help=" ".join(TOOLKITS))
    arguments = parser.parse_args()
    if unknown := set(arguments.versions) - set(TOOLKITS):
        parser.error(f"unknown: {' '.join(sorted(unknown))}; known: {' '.join(TOOLKITS)}")
    cache = arguments.cache.resolve()
    cache.mkdir(parents=True, exist_ok=True)
    copy = checkout(cache)
    rows, failed, skipped = [], False, False
    device: dict[str, int] = {}
    for name in arguments.versions or TOOLKITS:
        print(f"CUDA {name}", flush=True)
        try:
            rows.append([name, *try_toolkit(name, cache, copy)])
            device = device or device_of(copy)
            if device_of(copy) != device:
                raise Failed(f"the emulated device was built anew for CUDA {name}")
        except Skip as reason:
            skipped = True
            rows.append([name, f"skipped: {reason}"])
        except Failed as reason:
            failed = True
            rows.append([name, "FAILED"])
            print(f"FAILED: {reason}", flush=True)
    print(f"\n{'toolkit':9}{'nvcc':12}{'headers':9}{'linked with':17}{'graded':19}time")
    for row in rows:
        widths = (9, 12, 9, 17, 19, 0) if len(row) > 2 else (9, 0)
        print("".join(f"{text:{width}}" for text, width in zip(row, widths, strict=True)))
    return 1 if failed else SKIPPED if skipped else 0


if __name__ == "__main__":
    sys.exit(main())
