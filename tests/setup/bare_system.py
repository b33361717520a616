# SPDX-License-Identifier: MIT
"""A bare Debian or Ubuntu in a folder: made once by debootstrap, and for each use a fresh copy
(an overlay) in which commands run as on a new machine. Needs root, unshare and chroot.
"""

from __future__ import annotations

import gzip
import os
import re
import shlex
import shutil
import subprocess
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SKIPPED = 77
# What README asks of its reader. debootstrap's smallest variant has neither.
_INCLUDED = "ca-certificates,git,make"


class Skip(Exception):
    """This cannot be tried here, and why."""


class Failed(Exception):
    """What was tried did not go as it must."""


@dataclass(frozen=True)
class Release:
    """A distribution's release, by debootstrap's name of it."""

    suite: str
    mirror: str
    keyring: str  # what its packages must be signed with,
    keys_in: str  # and the package of its own that has it
    components: str = "main"
    script: str = ""  # debootstrap's, where it may be older than the release: all are one file


_DEBIAN = ("http://deb.debian.org/debian", "debian-archive-keyring", "debian-archive-keyring")
_UBUNTU = (
    *("http://archive.ubuntu.com/ubuntu", "ubuntu-archive-keyring", "ubuntu-keyring"),
    *("main,universe", "gutsy"),
)
RELEASES = {
    "debian12": Release("bookworm", *_DEBIAN),
    "debian13": Release("trixie", *_DEBIAN),
    "ubuntu2204": Release("jammy", *_UBUNTU),
    "ubuntu2404": Release("noble", *_UBUNTU),
}


def _mirror_of(release: Release) -> str:
    """WORKBOOK_DEBIAN_MIRROR and WORKBOOK_UBUNTU_MIRROR name another one, nearer by."""
    kind = "UBUNTU" if "ubuntu" in release.mirror else "DEBIAN"
    mirror = os.environ.get(f"WORKBOOK_{kind}_MIRROR", release.mirror)
    try:
        urllib.request.urlopen(f"{mirror}/dists/{release.suite}/Release", timeout=20).close()
    except (OSError, urllib.error.URLError) as error:
        raise Skip(f"{release.suite}'s packages cannot be reached: {error}") from error
    return mirror


def _keyring_of(release: Release, cache: Path) -> Path:
    """This machine's, or else the one of the release's archive, by HTTPS: Debian 12 has no package
    with Ubuntu's keys.
    """
    path = Path(f"/usr/share/keyrings/{release.keyring}.gpg")
    if path.is_file():
        return path
    archive = release.mirror.replace("http:", "https:")
    try:
        with urllib.request.urlopen(
            f"{archive}/dists/{release.suite}/main/binary-amd64/Packages.gz", timeout=60
        ) as answer:
            packages = gzip.decompress(answer.read()).decode()
        entry = re.search(rf"^Package: {release.keys_in}$.*?(?=^$)", packages, re.M | re.S)
        name = re.search(r"^Filename: (\S+)$", entry[0] if entry else "", re.M)
        if not name:
            raise Skip(f"{release.suite}'s packages cannot be checked: it has no {release.keys_in}")
        cache.mkdir(parents=True, exist_ok=True)
        package = cache / f"{release.keys_in}.deb"
        with urllib.request.urlopen(f"{archive}/{name[1]}", timeout=60) as answer:
            package.write_bytes(answer.read())
    except OSError as error:
        raise Skip(f"{path} is missing and could not be fetched: {error}") from error
    folder = cache / release.keys_in
    subprocess.run(["dpkg-deb", "-x", str(package), str(folder)], check=True)
    return folder / path.relative_to("/")


def base(name: str, cache: Path) -> Path:
    """The untouched system, made unless that was done."""
    if os.geteuid() != 0:
        raise Skip("debootstrap, chroot and mount need root: sudo python3 tests/setup/run.py")
    for tool in ("debootstrap", "unshare", "chroot"):
        if not shutil.which(tool):
            raise Skip(f"{tool} is missing: apt-get install debootstrap util-linux")
    release = RELEASES[name]
    folder = cache / name
    if (folder / "complete").is_file():
        return folder
    mirror = _mirror_of(release)
    keyring = _keyring_of(release, cache)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    print(f"{name}: debootstrap {release.suite} ...", flush=True)
    log = cache / f"{name}.log"
    with open(log, "wb") as out:
        done = subprocess.run(
            ["debootstrap", "--variant=minbase", f"--include={_INCLUDED}", "--force-check-gpg",
             f"--keyring={keyring}", f"--components={release.components}",
             release.suite, str(folder), mirror, *([release.script] if release.script else [])],
            stdout=out, stderr=subprocess.STDOUT,
        )  # fmt: skip
    if done.returncode != 0:
        raise Skip(f"debootstrap failed, see {log}")
    (folder / "complete").touch()
    return folder


@dataclass
class System:
    """A copy of a base that lives as long as its folder. What it shares with the machine: network,
    /dev, and the folder `shared` for what several of them download or compile.
    """

    base: Path | str  # or several, the topmost first, with colons between them
    folder: Path
    shared: Path
    env: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("upper", "work", "root"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        self.shared.mkdir(parents=True, exist_ok=True)
        self.shared.chmod(0o777)
        # Where this machine reaches the network by settings of its own, so do they.
        for name in ("/etc/resolv.conf", "/etc/pip.conf", "/etc/ssl/certs/ca-certificates.crt"):
            if Path(name).is_file():
                self.write(name, Path(name).read_bytes())
        names = ("http_proxy", "https_proxy", "no_proxy")
        kept = {k: v for k, v in os.environ.items() if k.lower() in names}
        kept |= {k: v for k, v in os.environ.items() if k in ("PIP_CERT", "PIP_INDEX_URL")}
        self.env = {**kept, "PIP_CACHE_DIR": "/shared/pip", **self.env}

    def write(self, path: str, data: bytes, mode: int = 0o644) -> None:
        """A file of this copy."""
        target = self.folder / "upper" / path.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        target.chmod(mode)

    def command(self, script: str, user: str = "root", offline: bool = False) -> list[str]:
        """How to run a shell script in it."""
        root = self.folder / "root"
        overlay = f"lowerdir={self.base},upperdir={self.folder}/upper,workdir={self.folder}/work"
        quoted = {k: shlex.quote(str(v)) for k, v in (("root", root), ("shared", self.shared))}
        mounts = (
            f"set -e; mount -t overlay overlay -o {shlex.quote(overlay)} {quoted['root']}; "
            f"cd {quoted['root']}; mkdir -p shared; mount --bind {quoted['shared']} shared; "
            "mount -t proc proc proc; mount --rbind /dev dev; mount -t tmpfs tmpfs tmp"
        )
        home = "/root" if user == "root" else f"/home/{user}"
        path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        settings = {"HOME": home, "USER": user, "PATH": path, "LANG": "C.UTF-8", **self.env}
        words = ["env", "-i", *(f"{k}={v}" for k, v in settings.items() if v is not None)]
        words += ["chroot", f"--userspec={user}", str(root), "sh", "-c", script]
        spaces = ["unshare", "--mount", "--pid", "--fork", "--kill-child", *["--net"] * offline]
        return [*spaces, "sh", "-c", f"{mounts}; exec {shlex.join(words)}"]

    def run(
        self, script: str, user: str = "root", offline: bool = False, code: int | None = 0
    ) -> str:
        """Its output, shown as it comes; fails unless it exits with `code` (None: with any)."""
        print(f"  $ {script}", flush=True)
        process = subprocess.Popen(
            self.command(script, user, offline),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, errors="replace",
        )  # fmt: skip
        assert process.stdout is not None
        said = []
        for line in process.stdout:
            said.append(line)
            print("  | " + line, end="", flush=True)
        ended = process.wait()
        if code is not None and ended != code:
            raise Failed(f"`{script}` ended with {ended}, not {code}")
        return "".join(said)

    def clone(self, to: str, user: str = "root") -> None:
        """This checkout's last commit, as `git clone` gives it."""
        bundle = self.shared / f"workbook-{os.getpid()}.bundle"
        subprocess.run(
            ["git", "-C", str(ROOT), "bundle", "create", "-q", str(bundle), "HEAD"], check=True
        )
        bundle.chmod(0o644)
        quoted = shlex.quote(to)
        git = "git -c advice.detachedHead=false clone -q"
        self.run(f"{git} /shared/{bundle.name} {quoted} && test -f {quoted}/Makefile", user)
        bundle.unlink()
