# SPDX-License-Identifier: MIT
"""Runs what students hand in under bubblewrap: a view of a few files, no network, nothing left.

A Box says what a command may see. Inside are the system's programs and libraries (read-only), the
files that the box names, an empty /tmp, and processes of its own; the instructor's files, the
environment and other submissions are not there. Where bubblewrap cannot run, missing() says what is
not protected, and a box only limits what its processes use.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from ..base.project import NOT_ABLE, ROOT, WorkbookError

# What is missing without bubblewrap, as the command says it.
UNPROTECTED = (
    "files: a submission can read yours (solutions, other submissions, your home folder), and "
    "change those that you can change",
    "network: a submission can use it",
    "processes: one that leaves its session can go on after the grading",
)
PROCESSES, OPEN_FILES = 256, 1024
_FIRST_USER = 61_000  # numbers of users that own nothing, one for each box at a time
_USERS = 4_000
# With them the kernel lets root become another user inside of a box.
_TO_CHANGE_USER = ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP")
_MERGED = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
# Ubuntu 24.04 lets only some programs make user namespaces.
_RESTRICTED = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"
_SETTINGS = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives")

_users = itertools.count()


@dataclass(frozen=True)
class Box:
    """What a command sees and may write to. Paths are the same inside and outside."""

    readable: tuple[Path, ...] = ()
    writable: tuple[Path, ...] = ()
    temporary: int = 64 << 20  # bytes in /tmp, and in /dev/shm: both are memory

    def with_files(self, readable: tuple[Path, ...], writable: tuple[Path, ...] = ()) -> Box:
        """The same box with more files in it."""
        return dataclasses.replace(
            self, readable=self.readable + readable, writable=self.writable + writable
        )

    @property
    def process(self) -> int | None:
        """The number by which the command knows itself; None for the number that all see."""
        return 2 if _bubblewrap() else None  # 1 is bubblewrap, which waits for it

    def around(self, command: list[str]) -> list[str]:
        """The command line that runs `command` in this box."""
        limited = ["prlimit", f"--nproc={PROCESSES}", f"--nofile={OPEN_FILES}", "--core=0"]
        how = _bubblewrap()
        if how is None:
            return [*limited[:1], *limited[2:], "--", *command]  # --nproc counts all of a user's
        if how.own_user:
            user = str(_FIRST_USER + next(_users) % _USERS)
            for path in self.writable:
                os.chown(path, int(user), int(user))
            limited = [
                "setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups",
                "--inh-caps=-all", "--bounding-set=-all", "--no-new-privs", *limited,
            ]  # fmt: skip
        mounts = [word for path in self.readable for word in ("--ro-bind", str(path), str(path))]
        mounts += [word for path in self.writable for word in ("--bind", str(path), str(path))]
        inside = [
            word for place in ("/dev/shm", "/tmp") for word in how.temporary(place, self.temporary)
        ]
        inside += ["--remount-ro", "/dev", "--chdir", "/tmp"]
        folders = [word for folder in self._folders() for word in _folder(folder)]
        inner = ["--remount-ro", "/", "--", *limited, "--", *command]
        return [*how.options, *inside, *folders, *mounts, *inner]

    def _folders(self) -> list[Path]:
        """The folders that lead to the files: bubblewrap would make them for root alone."""
        found: dict[Path, None] = {}
        for path in (*self.readable, *self.writable):
            for folder in reversed(path.parents[:-1]):
                if folder.parts[1] not in ("usr", *_MERGED) and folder != Path("/tmp"):
                    found[folder] = None
        return list(found)


def _folder(path: Path, mode: str = "0755") -> list[str]:
    return ["--perms", mode, "--dir", str(path)]


@dataclass(frozen=True)
class _Bubblewrap:
    options: list[str]
    own_user: bool  # started by root: commands run as users that own nothing
    sizes: bool  # bubblewrap 0.7 and newer

    def temporary(self, place: str, size: int) -> list[str]:
        """An empty folder that everybody may write to."""
        limit = ["--size", str(size)] if self.sizes else []
        return ["--perms", "1777", *limit, "--tmpfs", place]


def environment(**settings: str) -> dict[str, str]:
    """The variables of a command in a box: none of the instructor's."""
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "HOME": "/tmp",
        "TMPDIR": "/tmp",
        **settings,
    }


def missing() -> str:
    """Why bubblewrap cannot run here; '' where it can."""
    return _probe()[1]


def require(trust: bool) -> None:
    """Stops where a submission could do harm, unless the instructor trusts them all."""
    if not (why := missing()):
        return
    listed = "\n".join(f"  not protected: {one}" for one in UNPROTECTED)
    if trust:
        print(f"warning: {why}.\n{listed}\nTRUST=1: going on without.", flush=True)
        return
    raise WorkbookError(
        f"submissions cannot be shut in: {why}\n{listed}",
        f"{to_do()}; in a container that holds nothing of value, or for submissions that you\n"
        "  trust: TRUST=1",
        NOT_ABLE,
    )


def to_do() -> str:
    """What an administrator can do about missing()."""
    if "not installed" in missing():
        return "sudo apt-get install bubblewrap"
    with contextlib.suppress(OSError):
        if Path(_RESTRICTED).read_text(encoding="utf-8").strip() == "1":
            return "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0 (until a restart)"
    return "allow user namespaces on this system"


def failed(output: str) -> str:
    """What a box says that could not be made, or ''. Look at it where nothing ran in the box."""
    first = output.lstrip().partition("\n")[0]
    return first if first.startswith(("bwrap: ", "setpriv: ", "prlimit: ")) else ""


def _bubblewrap() -> _Bubblewrap | None:
    return _probe()[0]


@functools.cache
def _probe() -> tuple[_Bubblewrap | None, str]:
    """How bubblewrap runs on this machine, or why it does not."""
    program = os.environ.get("WORKBOOK_BWRAP") or "bwrap"
    if not shutil.which(program):
        return None, "bubblewrap is not installed"
    for tool in ("prlimit", "setpriv"):
        if not shutil.which(tool):
            return None, f"{tool} of util-linux is not installed"
    can = subprocess.run([program, "--help"], capture_output=True, text=True).stdout
    if "--perms" not in can:
        return None, "this bubblewrap is older than 0.5"
    said = ""
    # As root first without a user namespace: there a user of its own is another one for the kernel.
    open_to_all = (ROOT / "common" / "host").stat().st_mode & 0o005 == 0o005
    for own_user in (True, False) if os.geteuid() == 0 and open_to_all else (False,):
        how = _Bubblewrap(_options(program, own_user, can), own_user, "--size" in can)
        inner = ["setpriv", "--reuid=61000", "--clear-groups", "true"] if own_user else ["true"]
        try:
            done = subprocess.run(
                [*how.options, "--", *inner], capture_output=True, text=True, timeout=30
            )
        except subprocess.TimeoutExpired:
            said = said or "it did not finish within 30 s"
            continue
        if done.returncode == 0:
            return how, ""
        said = said or (done.stderr.strip().splitlines() or ["it says nothing"])[-1]
    return None, f"bubblewrap cannot run here ({said})"


def _options(program: str, own_user: bool, can: str) -> list[str]:
    options = [shutil.which(program) or program, "--unshare-pid", "--unshare-net", "--unshare-ipc"]
    options += ["--unshare-uts", "--hostname", "sandbox", "--die-with-parent"]
    if own_user:
        options += [word for one in _TO_CHANGE_USER for word in ("--cap-add", one)]
    else:
        options += ["--unshare-user", "--uid", "61000", "--gid", "61000", "--cap-drop", "ALL"]
        if "--disable-userns" in can:
            options.append("--disable-userns")
    options += ["--ro-bind", "/usr", "/usr", "--proc", "/proc", "--dev", "/dev"]
    for name in _MERGED:
        place = Path("/", name)
        if place.is_symlink():
            options += ["--symlink", os.readlink(place), str(place)]
        elif place.is_dir():
            options += ["--ro-bind", str(place), str(place)]
    options += _folder(Path("/etc"))
    for name in _SETTINGS:
        options += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    return options
