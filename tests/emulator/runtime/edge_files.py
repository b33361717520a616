# SPDX-License-Identifier: MIT
"""The emulator as files see it: what the library exports, what `emulate` refuses and how, settings,
folders, and device code that is damaged or newer than understood."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

from edge_support import (
    PTX,
    compile_program,
    emulate,
    options,
    preloaded,
)

EMULATOR = Path(__file__).resolve().parents[3] / "common" / "emulator"
SONAMES = ("libcudart.so.13", "libcudart.so.12")


def damaged(name: str, change) -> Path:
    """A copy of the program `plain` whose bytes `change` has edited."""
    data = bytearray((options.build / "plain").read_bytes())
    change(data)
    path = options.build / f"plain_{name}"
    path.write_bytes(data)
    path.chmod(0o755)
    return path


def fat_binary(data: bytearray) -> int:
    """Where the fat binary with the kernel starts: the last header in the file."""
    return data.rindex(bytes.fromhex("50ed55ba01001000"))


class Library(unittest.TestCase):
    """The files libcudart.so.13 and libcudart.so.12 themselves."""

    def names(self, library: Path) -> set[str]:
        done = subprocess.run(
            ["nm", "-D", "--defined-only", str(library)], capture_output=True, text=True, check=True
        )
        return {line.split()[-1] for line in done.stdout.splitlines()}

    def listed(self, soname: str) -> set[str]:
        """What the list of the real library's names says, as nm would."""
        lines = (EMULATOR / "names" / f"{soname}.txt").read_text().splitlines()
        found = {line for line in lines if not line.startswith("#")}
        self.assertGreater(len(found), 400)
        return {f"{name}@@{soname}" for name in found} | {soname}

    def test_exports_the_names_and_versions_of_the_real_ones(self) -> None:
        names = (
            "emulator_api.h", "runtime/core/library_kernel.h", "runtime/core/collective.h",
            "driver/link_images.h",
        )  # fmt: skip
        headers = [EMULATOR / name for name in names]
        text = "".join(header.read_text() for header in headers)
        own = set(re.findall(r"\b(emulator[A-Z]\w+)\(", text))
        for soname in SONAMES:
            with self.subTest(soname):
                ours, theirs = self.names(options.library / soname), self.listed(soname)
                self.assertEqual(theirs - ours, set())
                extra = {name.split("@")[0] for name in ours - theirs}
                ignored = r"cu[A-Z]|libcuda\.so|emulatorCuda12Functions"
                extra = {name for name in extra if not re.match(ignored, name)}
                self.assertEqual(extra, own if soname == "libcudart.so.13" else set())

    def test_the_toolkits_own_library_has_no_more(self) -> None:
        root = Path(shutil.which(options.nvcc) or options.nvcc).resolve().parent.parent
        found = [path for soname in SONAMES for path in sorted(root.glob(f"**/{soname}"))]
        if not found:
            self.skipTest(f"no libcudart.so.N under {root}")
        theirs = self.names(found[0]) - self.listed(found[0].name)
        self.assertEqual(theirs, set(), "newer than the list in common/emulator/names")

    def test_soname(self) -> None:
        for soname in SONAMES:
            done = subprocess.run(
                ["readelf", "-d", str(options.library / soname)],
                capture_output=True, text=True, check=True,
            )  # fmt: skip
            self.assertIn(f"soname: [{soname}]", done.stdout)

    def test_program_that_binds_all_names_at_start(self) -> None:
        run = emulate(program="plain_now")
        self.assertEqual((run.status, run.err), (0, ""))
        self.assertIn("result 5", run.out)


class Refusals(unittest.TestCase):
    """Programs that `emulate` does not even start."""

    def check(self, status: int, message: str, *arguments: str | Path) -> None:
        run = emulate(*arguments)
        self.assertEqual(run.status, status, run.err)
        self.assertIn(message, run.err)
        self.assertEqual(len(run.err.splitlines()), 1, "one message, on one line")

    def test_missing(self) -> None:
        self.check(127, "no such program", "no_such_program")
        self.check(127, "No such file", "./no_such_program")

    def test_in_this_directory_but_not_in_path(self) -> None:
        self.check(127, "write ./plain", "plain")

    def test_directory(self) -> None:
        self.check(126, "is a directory", ".")

    def test_not_executable(self) -> None:
        path = options.build / "not_executable"
        path.write_text("x")
        path.chmod(0o644)
        self.check(126, "chmod +x", path)

    def test_not_a_program(self) -> None:
        path = options.build / "script"
        path.write_text("#!/bin/sh\ntrue\n")
        path.chmod(0o755)
        self.check(126, "not an ELF file", path)

    def test_empty_file(self) -> None:
        path = options.build / "empty_file"
        path.write_bytes(b"")
        path.chmod(0o755)
        self.check(126, "not an ELF file", path)

    def test_truncated_program(self) -> None:
        path = options.build / "truncated_program"
        path.write_bytes((options.build / "plain").read_bytes()[:100])
        path.chmod(0o755)
        run = emulate(path)
        self.assertEqual(run.status, 126, run.err)

    def test_other_machine(self) -> None:
        path = damaged("arm", lambda data: struct.pack_into("<H", data, 18, 183))
        self.check(126, "not built for x86-64", path)

    def test_object_file(self) -> None:
        path = damaged("object", lambda data: struct.pack_into("<H", data, 16, 1))
        self.check(126, "is an object file", path)

    def test_library(self) -> None:
        path = options.library / "libcudart.so.13"
        self.check(126, "linked statically, or is a library", path)

    def test_no_device_code(self) -> None:
        self.check(126, "not a CUDA program", "true")

    def test_static_runtime(self) -> None:
        self.check(126, "nvcc -cudart shared", options.build / "plain_static")

    def test_other_major_version(self) -> None:
        other = b"libcudart.so.11"

        def change(data: bytearray) -> None:
            for soname in SONAMES:
                data[:] = data.replace(soname.encode(), other)

        self.check(126, f"needs {other.decode()}", damaged("other_version", change))

    def test_wrong_options(self) -> None:
        self.check(2, "no program given")
        self.check(2, "unknown option --frob", "--frob", "x")
        self.check(2, "--budget=many: a whole number", "--budget=many", "x")
        self.check(2, "--devices=0: a whole number", "--devices=0", "x")
        for memory in ("", "G", "lots", "1023K", "2T", "-1G", "1GB", "99999999999999999999"):
            self.check(2, f"--memory={memory}: a number of bytes", f"--memory={memory}", "x")
        self.check(2, "--error-exitcode=256", "--error-exitcode=256", "x")
        self.check(2, "needs a value", "--report")

    def test_help(self) -> None:
        run = emulate("--help")
        self.assertEqual((run.status, run.err), (0, ""))
        self.assertIn("--error-exitcode", run.out)


class Settings(unittest.TestCase):
    """Environment variables of the library."""

    def check(self, message: str, **environment: str) -> None:
        run = emulate(program="plain", environment=environment)
        self.assertEqual((run.status, run.out), (2, ""), run.err)
        self.assertIn(message, run.err)

    def test_malformed(self) -> None:
        self.check("EMULATOR_BUDGET=1x", EMULATOR_BUDGET="1x")
        self.check("EMULATOR_BUDGET=", EMULATOR_BUDGET="-5")
        self.check("EMULATOR_DEVICES=17", EMULATOR_DEVICES="17")
        self.check("EMULATOR_ERROR_EXITCODE=no", EMULATOR_ERROR_EXITCODE="no")
        self.check("`bonds`", EMULATOR_CHECKS="bonds,race")

    def test_unwritable_report(self) -> None:
        self.check("/no/such/directory/r cannot be written", EMULATOR_REPORT="/no/such/directory/r")

    def test_unknown_name_is_said(self) -> None:
        run = emulate(program="plain", environment={"EMULATOR_CHECK": "none"})
        self.assertIn("EMULATOR_CHECK is set", run.err)
        self.assertEqual(run.status, 0)

    def test_full_disk(self) -> None:
        run = emulate("exit", program="endings", environment={"EMULATOR_REPORT": "/dev/full"})
        self.assertIn("cannot be written: No space left", run.err)
        self.assertEqual(run.status, 5)

    def test_exponent_in_budget(self) -> None:
        run = emulate("--budget=2e9", "./plain")
        self.assertEqual((run.status, run.err), (0, ""))

    def test_error_exit_code(self) -> None:
        for ending in ("", "exit", "system", "read"):
            run = emulate("--error-exitcode=42", "./endings", ending)
            self.assertEqual(run.status, 42, ending)
        run = emulate("--error-exitcode=42", "./plain")
        self.assertEqual(run.status, 0)

    def test_checks_none_finds_nothing(self) -> None:
        run = emulate("--checks=none", "./endings")
        self.assertEqual((run.status, run.err, run.findings), (0, "", []))

    def test_counters_file(self) -> None:
        path = options.build / "counters.json"
        run = emulate(f"--counters={path}", "./plain")
        self.assertEqual(run.status, 0, run.err)
        totals = json.loads(path.read_text())["totals"]
        self.assertEqual((totals["launches"], totals["threads"]), (1, 32))
        self.assertEqual((totals["global_store_requests"], totals["global_store_bytes"]), (1, 128))
        self.assertEqual((totals["device_allocations"], totals["device_frees"]), (1, 1))


class Placement(unittest.TestCase):
    """Where the emulator and the program lie."""

    def test_rpath_to_the_real_library(self) -> None:
        if re.search(r"[\s:]", str(options.library.resolve())):
            self.skipTest("LD_PRELOAD, which goes before a program's rpath, takes no such path")
        # Not in the build folder: nvcc cannot pass a path with a space on to the linker.
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        fake = Path(folder.name)
        # A library that cannot run anything: a program that loads it fails.
        source = fake / "fake.c"
        source.write_text("int nothing;\n")
        for name in SONAMES:
            subprocess.run(
                ["cc", "-shared", f"-Wl,-soname,{name}", str(source), "-o", str(fake / name)],
                check=True,
            )
        program = options.build / "plain_rpath"
        flags = ["-Xlinker", f"--disable-new-dtags,-rpath={fake}"]
        self.assertEqual(compile_program("plain.cu", program, [*PTX, *flags]), "")
        run = emulate(program)
        self.assertEqual((run.status, run.err), (0, ""))
        self.assertIn("result 5", run.out)

    def test_paths_with_blanks(self) -> None:
        place = options.build / "a path with blanks"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        for path in [options.library / "emulate", *options.library.glob("libcudart.so.*")]:
            shutil.copy(path, place)
        shutil.copy(options.build / "endings", place / "my program")
        report = place / "my report"
        done = subprocess.run(
            [str(place / "emulate"), f"--report={report}", str(place / "my program"), "exit"],
            env={**os.environ, **preloaded()},
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertEqual(json.loads(report.read_text())["code"], "out-of-bounds-global")

    def test_without_emulate(self) -> None:
        environment = {**os.environ, **preloaded(), "LD_LIBRARY_PATH": str(options.library)}
        done = subprocess.run(
            [str(options.build / "plain")],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("result 5", done.stdout)


class DamagedDeviceCode(unittest.TestCase):
    """Device code that cannot be run: one message, an error code of CUDA, and no success."""

    def check(self, program: Path | str, error: str, message: str) -> None:
        run = emulate(options.build / program)
        self.assertIn(f"launch {error}", run.out)
        self.assertRegex(run.err, message)
        self.assertEqual(run.status, 3, run.err)

    def test_machine_code_only(self) -> None:
        self.check("plain_sass", "cudaErrorNoKernelImageForDevice", "no PTX.*compute_75")

    def test_unknown_opcodes(self) -> None:
        run = emulate(program="unknown_opcode")
        self.assertEqual(run.status, 3, run.err)
        self.assertIn("good 1", run.out)
        self.assertIn("odd cudaErrorNotSupported", run.out)
        for word in ("`odd`", "frobnicate.s32", "wgmma.fence"):
            self.assertIn(word, run.err)

    def test_wrong_magic(self) -> None:
        path = damaged("magic", lambda d: struct.pack_into("<I", d, fat_binary(d), 0x12345678))
        self.check(path, "cudaErrorNoKernelImageForDevice", "not a fat binary")

    def test_body_longer_than_the_file(self) -> None:
        path = damaged("body", lambda d: struct.pack_into("<Q", d, fat_binary(d) + 8, 1 << 40))
        self.check(path, "cudaErrorNoKernelImageForDevice", "damaged")

    def test_truncated_entry(self) -> None:
        path = damaged("entry", lambda d: struct.pack_into("<Q", d, fat_binary(d) + 24, 1 << 40))
        self.check(path, "cudaErrorNoKernelImageForDevice", "truncated")

    def test_no_entries(self) -> None:
        path = damaged("no_entry", lambda d: struct.pack_into("<Q", d, fat_binary(d) + 8, 0))
        self.check(path, "cudaErrorNoKernelImageForDevice", "PTX")

    def test_ptx_cut_off(self) -> None:
        def change(data: bytearray) -> None:
            start = data.index(b".entry", fat_binary(data)) + 60
            end = data.index(b"ret;", start) + 4
            data[start:end] = bytes(end - start)

        self.check(damaged("cut", change), "cudaErrorInvalidPtx", "PTX line [0-9]+")

    def replaced(self, name: str, old: bytes, new: bytes) -> Path:
        """The program with some text of its PTX replaced by shorter text."""

        def change(data: bytearray) -> None:
            at = data.index(old, fat_binary(data))
            data[at : at + len(old)] = new.ljust(len(old))

        return damaged(name, change)

    def test_ptx_that_is_not_understood(self) -> None:
        for name, old, new, message in (
            ("version", b".version 9.0", b".version 99.", "PTX line [0-9]+, at '99.'"),
            ("directive", b".address_size 64", b".frobnicate", "at '.frobnicate': .*known"),
            ("bits", b".address_size 64", b".address_size 32", "64-bit"),
            ("target", b".target sm_75", b".target gfx90", "a target such as"),
            ("type", b".reg .b32", b".reg .q32", "`.q32|'.q32'|register"),
        ):
            with self.subTest(name):
                self.check(self.replaced(f"ptx_{name}", old, new), "cudaErrorInvalidPtx", message)

    def test_without_sections(self) -> None:
        def change(data: bytearray) -> None:
            struct.pack_into("<Q", data, 0x28, 0)
            struct.pack_into("<HHH", data, 0x3A, 0, 0, 0)

        run = emulate(damaged("sections", change))
        self.assertEqual((run.status, run.err), (0, ""))
        self.assertIn("result 5", run.out)

    def test_damage_anywhere(self) -> None:
        """Random bytes in headers and text, plain and compressed: refused, or it did not matter."""
        random.seed(3)
        for program in ("plain", "plain_packed"):
            source = (options.build / program).read_bytes()
            begin = fat_binary(bytearray(source))
            end = begin + 16 + struct.unpack_from("<Q", source, begin + 8)[0]
            for number in range(25):
                data = bytearray(source)
                head = number % 2 == 0
                for _ in range(random.randrange(1, 5)):
                    at = random.randrange(begin, begin + 0x78 if head else end)
                    data[at] = random.randrange(256)
                path = options.build / f"{program}_random"
                path.write_bytes(data)
                path.chmod(0o755)
                run = emulate(path)
                with self.subTest(program=program, number=number):
                    refused = run.status == 3 and run.err.startswith("emulator: ")
                    ran = run.status in (0, 1) and "launch cudaSuccess" in run.out
                    self.assertTrue(refused or ran, f"{run.status}: {run.out}{run.err}")
                    self.assertNotIn("internal error", run.err)

    def test_newer_ptx_that_is_understood(self) -> None:
        def change(data: bytearray) -> None:
            at = data.index(b".version 9.")
            data[at : at + 12] = b".version 9.9"

        run = emulate(damaged("newer", change))
        self.assertEqual(run.status, 0, run.err)
        self.assertIn("result 5", run.out)
