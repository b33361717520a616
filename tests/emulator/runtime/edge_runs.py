# SPDX-License-Identifier: MIT
"""Programs that run: how they end, which host lines are blamed, groups of calls, the driver API and
the architecture of the emulated device."""

from __future__ import annotations

import re
import shutil
import subprocess
import unittest
from pathlib import Path

from edge_support import (
    Outcome,
    blamed,
    emulate,
    options,
)


class Endings(unittest.TestCase):
    """Findings come out once, however the program ends."""

    def run_ending(self, ending: str, status: int, codes: list[str]) -> Outcome:
        run = emulate(ending, program="endings")
        self.assertEqual(run.status, status, run.err)
        self.assertEqual(run.codes(), codes)
        lines = blamed("endings.cu")
        self.assertEqual(run.findings[0]["line"], lines["out-of-bounds-global"][0])
        self.assertEqual(run.findings[0]["count"], 28)
        return run

    def check_text(self, run: Outcome, findings: int, summary: str) -> None:
        heads = re.findall(r"^(?:error|warning)\[", run.err, re.MULTILINE)
        self.assertEqual(len(heads), findings, run.err)
        self.assertEqual(run.err.count("emulator: "), 1, run.err)
        self.assertIn("emulator: " + summary, run.err)

    def test_normal(self) -> None:
        for ending, status in (("", 0), ("exit", 5), ("system", 0), ("fork", 0)):
            with self.subTest(ending):
                run = self.run_ending(ending, status, ["out-of-bounds-global"])
                self.check_text(run, 1, "1 error in 1 launch\n")
                self.assertIn("freed late", run.out)

    def test_early(self) -> None:
        for ending, status in (("quick_exit", 7), ("abort", -6), ("throw", -6), ("null", -11)):
            with self.subTest(ending):
                run = self.run_ending(ending, status, ["out-of-bounds-global"])
                self.check_text(run, 1, "1 error in 1 launch (the program did not end normally)\n")

    def test_exit_without_destructors_leaves_a_report(self) -> None:
        self.run_ending("_exit", 6, ["out-of-bounds-global"])

    def test_host_dereference(self) -> None:
        lines = blamed("endings.cu")
        says = {
            "read": "host code reads `0x[0-9a-f]+`, byte 12 of device memory of 400 bytes",
            "write": "host code writes to `0x[0-9a-f]+`, byte 396 of device memory of 400 bytes",
            "memcpy": "host code reads",
            "call": "host code calls a function at",
            "freed": "host code writes to .* of freed device memory",
        }
        for ending, message in says.items():
            with self.subTest(ending):
                run = self.run_ending(ending, 139, ["out-of-bounds-global", "host-dereference"])
                self.check_text(run, 2, "2 errors in 1 launch")
                self.assertEqual(run.findings[1]["line"], lines[ending][0])
                self.assertEqual(run.findings[1]["function"], "main")
                self.assertRegex(run.findings[1]["message"], message)

    def test_handlers_of_the_program_still_run(self) -> None:
        both = ["out-of-bounds-global", "host-dereference"]
        endings = {"handler_raises": -11, "handler_leaves": 33, "handler_puts_back": 139}
        for ending, status in endings.items():
            with self.subTest(ending):
                run = self.run_ending(ending, status, both)
                self.assertEqual(run.out.count("my handler"), 1)
        run = self.run_ending("handler_jumps", 0, both)
        self.assertIn("alive\nend of main", run.out)
        self.check_text(run, 2, "2 errors in 1 launch\n")
        self.assertEqual(run.findings[1]["line"], blamed("endings.cu")["handler"][0])

    def test_faults_that_are_not_ours_are_left_alone(self) -> None:
        run = self.run_ending("handler_null", 0, ["out-of-bounds-global"])
        self.assertIn("my handler\nalive", run.out)

    def test_nothing_to_say(self) -> None:
        run = emulate(program="plain")
        self.assertEqual((run.status, run.err, run.findings), (0, "", []))


class PerThreadStreams(unittest.TestCase):
    """Stream 0 of a program that is compiled with --default-stream per-thread."""

    def said_by(self, program: str) -> list[str]:
        run = emulate(program=program)
        self.assertEqual(run.codes()[:1], ["invalid-copy"], run.err)
        self.assertEqual([run.findings[0]["line"]], blamed("per_thread.cu")["invalid-copy"])
        return run.out.splitlines()

    def test_it_belongs_to_the_thread(self) -> None:
        self.assertEqual(
            self.said_by("per_thread"),
            [
                "first: per thread",
                "second: per thread, its own",
                "host function",
                "value: 7, after: per thread",
            ],
        )

    def test_without_the_option_all_threads_share_it(self) -> None:
        self.assertEqual(
            self.said_by("per_thread_legacy"),
            [
                "first: legacy",
                "second: legacy, the same",
                "host function",
                "value: 7, after: legacy",
            ],
        )


class HostLines(unittest.TestCase):
    """API calls and launches are blamed on the user's line."""

    def places(self, program: str) -> dict[str, list[int]]:
        run = emulate(program=program)
        found: dict[str, list[int]] = {}
        for finding in run.findings:
            self.assertEqual(finding["file"], "host_lines.cu", finding)
            found.setdefault(finding["code"], []).append(finding["line"])
        return {code: sorted(lines) for code, lines in found.items()}

    def test_unoptimised(self) -> None:
        self.assertEqual(self.places("host_lines"), blamed("host_lines.cu"))

    def test_optimised(self) -> None:
        self.assertEqual(self.places("host_lines_o2"), blamed("host_lines.cu"))

    def test_without_debug_information(self) -> None:
        run = emulate(program="host_lines_bare")
        self.assertTrue(run.findings)
        functions = {finding["function"] for finding in run.findings}
        self.assertEqual({finding["file"] for finding in run.findings}, {"host_lines_bare"})
        self.assertLessEqual({"main", "launches", "last", "Buffer"}, functions)


class Groups(unittest.TestCase):
    """API groups that are tested by a program which checks itself."""

    def test_graphs_pools_and_occupancy(self) -> None:
        run = emulate(program="graphs")
        self.assertEqual((run.status, run.out, run.err), (0, "ok\n", ""))

    def test_what_graphs_refuse(self) -> None:
        run = emulate(program="graph_rules")
        self.assertEqual((run.status, run.out, run.err), (0, "ok\n", ""))

    def test_processes_share_memory_and_events(self) -> None:
        run = emulate(program="ipc")
        self.assertEqual((run.status, run.out, run.err), (0, "ok\n", ""))

    def test_what_a_process_leaves_open_is_its_leak(self) -> None:
        run = emulate("open", program="ipc")
        self.assertEqual(run.out, "ok\n")
        self.assertEqual(run.codes(), ["leak"] * 2)  # of two processes, two allocations each
        self.assertEqual(blamed("ipc.cu")["opened"], [run.findings[0]["line"]])
        self.assertEqual(run.findings[0]["message"], run.findings[1]["message"])

    def test_what_the_first_call_initialises(self) -> None:
        # cuDeviceGet, here and in another thread; a current context; an active primary context.
        # All as one H200 has it, but for cudaGetErrorString, which initialises the driver there.
        refused = 3  # CUDA_ERROR_NOT_INITIALIZED
        for calls, want in (
            (
                ("none", "cudaRuntimeGetVersion", "cudaGetErrorString"),
                f"{refused} {refused} 0 0",
            ),
            (
                (
                    "cudaDriverGetVersion",
                    "cudaGetDevice",
                    "cudaGetDeviceCount",
                    "cudaGetDeviceProperties",
                    "cudaDeviceGetAttribute",
                ),
                "0 0 0 0",
            ),
            (("cudaInitDevice",), "0 0 0 1"),
            (("cudaSetDevice", "cudaFree", "cudaMalloc", "cudaDeviceSynchronize"), "0 0 1 1"),
        ):
            for call in calls:
                with self.subTest(call=call):
                    run = emulate(call, program="first_call")
                    self.assertEqual((run.status, run.out, run.err), (0, want + "\n", ""))

    def test_textures_and_surfaces(self) -> None:
        run = emulate(program="textures")
        self.assertEqual((run.status, run.err), (0, ""), run.out)
        self.assertTrue(run.out.endswith("\n0 failures\n"), run.out)
        self.assertGreater(run.out.count(": ok\n"), 40)


class Driver(unittest.TestCase):
    """Programs of the driver API, without the runtime API."""

    def need(self, program: str) -> None:
        if not (options.build / program).exists():
            self.skipTest(f"{program} cannot be built here")

    def test_ptx_text(self) -> None:
        self.need("driver")
        run = emulate(program="driver")
        lines = run.out.splitlines()
        self.assertEqual(lines[0], "before cuInit: 3")
        self.assertIn("wrong: 0", lines)
        self.assertIn("cuMemCreate: 801", lines)
        self.assertIn("cuMemAlloc: same", lines)
        self.assertIn("cuMemAlloc of CUDA 2.0: other", lines)
        self.assertIn("cuNobody: 500", lines)
        self.assertIn("cuMemCreate is not supported", run.err)
        self.assertEqual((run.status, run.codes()), (0, ["out-of-bounds-global"]), run.err)

    def test_a_static_runtime_that_is_not_called_does_no_harm(self) -> None:
        self.need("driver_static")
        run = emulate(program="driver_static")
        self.assertIn("wrong: 0", run.out.splitlines())
        self.assertNotIn("cudart shared", run.err)

    def test_a_static_runtime_that_is_called_is_named(self) -> None:
        self.need("both_apis_static")
        run = emulate(program="both_apis_static")
        self.assertEqual((run.status, run.out), (1, "1 devices, cudaErrorNotSupported\n"), run.err)
        self.assertIn("nvcc -cudart shared", run.err)

    def test_code_compiled_at_run_time(self) -> None:
        self.need("compiled")
        root = Path(shutil.which(options.nvcc) or options.nvcc).resolve().parent.parent
        places = ":".join(str(path.parent) for path in root.glob("lib*/libnvrtc.so.*"))
        run = emulate(program="compiled", environment={"LD_LIBRARY_PATH": places})
        self.assertEqual((run.status, run.out, run.err), (0, "wrong: 0\n", ""))

    def test_several_host_threads(self) -> None:
        self.need("threads")
        run = emulate(program="threads")
        self.assertEqual((run.status, run.out, run.err), (0, "wrong: 0\n", ""))

    def test_several_host_threads_with_findings(self) -> None:
        self.need("threads")
        run = emulate("overrun", program="threads")
        self.assertEqual((run.status, run.out), (0, "wrong: 0\n"), run.err)
        self.assertEqual(set(run.codes()), {"out-of-bounds-global"}, run.err)
        self.assertNotIn("Sanitizer", run.err)

    def test_every_name_is_exported(self) -> None:
        self.need("driver")
        root = Path(shutil.which(options.nvcc) or options.nvcc).resolve().parent.parent
        stub = next(iter(root.glob("**/stubs/libcuda.so")), None)
        if not stub:
            self.skipTest("the toolkit has no stub libcuda.so")
        listing = [
            subprocess.run(
                ["nm", "-D", "--defined-only", str(path)],
                capture_output=True,
                text=True,
                check=True,
            ).stdout
            for path in (stub, options.library / "libcudart.so.13")
        ]
        theirs, ours = (
            {re.sub("@.*", "", line.split()[-1]) for line in text.splitlines()} for text in listing
        )
        # Some stubs have what debuggers call, cudbg..., which is not of the API.
        self.assertEqual({name for name in theirs if re.match("cu(?!dbg)", name)} - ours, set())


class Architectures(unittest.TestCase):
    """The device is what the program was compiled for."""

    def check(self, program: str, capability: str, optin: int, *words: str, **more) -> str:
        run = emulate(program=program, **more)
        self.assertIn(f"capability {capability}, {optin} bytes", run.out)
        for word in words:
            self.assertIn(word, run.out)
        return run.err

    def test_newest_architecture(self) -> None:
        err = self.check("newer", "9.0", 232448, "150 KiB: cudaSuccess", "sum 19200")
        self.assertEqual(err, "")
        self.check("newer_and_older", "8.0", 166912, "sum 19200")

    def test_chosen_architecture(self) -> None:
        err = self.check(
            "newer_and_older",
            "7.5",
            65536,
            "150 KiB: cudaErrorInvalidValue",
            environment={"EMULATOR_ARCH": "75"},
        )
        self.assertIn("the emulated device allows 65536 bytes per block", err)
