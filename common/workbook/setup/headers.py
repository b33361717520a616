# SPDX-License-Identifier: MIT
"""The headers that the emulated device is built against: CUDA 13.0's, whatever toolkit compiles the
lessons. Standard library only.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from ..base import disk
from ..base.phases import Phase
from ..base.project import WorkbookError, state_folder
from . import pypi, toolkit

WHEELS = ("nvidia-cuda-runtime==13.0.*", "nvidia-cuda-crt==13.0.*")
_VERSION = re.compile(r"^#define CUDART_VERSION +13000$", re.MULTILINE)
_NEEDED = ("cuda.h", "cudaTypedefs.h", "crt/host_defines.h")


def _are_there(folder: Path) -> bool:
    try:
        text = (folder / "cuda_runtime_api.h").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return bool(_VERSION.search(text)) and all((folder / name).is_file() for name in _NEEDED)


def pinned(nvcc: Path) -> Path:
    """Folder of CUDA 13.0's headers: of a toolkit on this machine, else from PyPI.

    That of `nvcc`, which compiles the lessons, comes last, so that another compiler later does not
    mean another build of the device.
    """
    fetched = state_folder() / "headers"
    roots = [found.resolve().parent.parent for found in (*toolkit.system_nvccs(), nvcc)]
    roots.insert(-1, fetched)
    if local := toolkit.local_toolkit():
        roots.insert(0, local)
    for root in roots:
        if _are_there(root / "include"):
            return root / "include"
    _fetch(fetched)
    return fetched / "include"


def _fetch(folder: Path) -> None:
    print("The emulated device is built against the headers of CUDA 13.0.")
    print("From PyPI into .workbook/headers, NVIDIA's packages of them (3 MB):")
    print("  " + " ".join(WHEELS), flush=True)
    venv = folder.with_name("headers-venv")
    with Phase("headers", "Fetching the headers") as phase:
        said = pypi.install(venv, list(WHEELS), phase)
    layout = "lib/python3*/site-packages/nvidia/cu13/include"
    found = next(filter(_are_there, venv.glob(layout)), None)
    if not said and found:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        found.rename(folder / "include")
    shutil.rmtree(venv, ignore_errors=True)
    if not _are_there(folder / "include"):
        disk.stop_if_full(said)
        print(said or "the packages do not have the layout known here: no nvidia/cu13/include")
        raise WorkbookError(
            "pip could not fetch the headers (its last lines are above)",
            "check the network and run make again, or install CUDA Toolkit 13.0 and put nvcc first "
            "on PATH",
        )
