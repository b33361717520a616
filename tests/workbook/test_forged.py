# SPDX-License-Identifier: MIT
# In make test MORE=1: one file is graded two dozen times.
"""Answers that would pass without the work: each is refused, or fails with a sentence.

One file does at run time what a variable tells it (hostile/at_run_time.cu); what shows in the
object is compiled as plain C++.
"""

from __future__ import annotations

import ctypes
import io
import os
import subprocess
import tempfile
import unittest
import unittest.mock
from pathlib import Path

from rich.console import Console

from workbook.base.project import ROOT, Lesson, WorkbookError
from workbook.build import build, build_cache, compile_commands, programs, refusals
from workbook.judge import grade
from workbook.lesson.test_cases import cases_of
from workbook.running import runner
from workbook.show import grade_screen

BUILD = Path(os.environ["WORKBOOK_TEST_BUILD"])
HERE = Path(__file__).resolve().parent
LESSON = Lesson("00_double_all", HERE / "fixture")
CASES = [c for c in cases_of(LESSON) if c.name == "task 2: counts up"]

# What HOSTILE says, how the case must end ('' for failed checks), and words of the sentence.
AT_RUN_TIME = [
    ("nothing", "", ""),
    ("report in constructor", "tampered", "your code wrote to the grader's own channel"),
    ("report at exit", "tampered", "your code wrote to the grader's own channel"),
    ("exit in constructor", "ends-early", "the program stopped with code 0"),
    ("exit 0", "ends-early", "exit() was called before the test was over"),
    ("quick", "ends-early", "before the test was over"),
    ("right, exit at exit", "report-lost", "its report is incomplete"),
    ("child goes on", "ends-early", "before the test was over"),
    ("child goes on, right", "ends-early", "before the test was over"),
    ("start itself", "tampered", "your code started another program"),
    ("start solution", "tampered", "your code started another program"),
    ("mask", "tampered", "a system call that no lesson needs"),
    ("trace", "tampered", "your code took control of a process (ptrace)"),
    ("stop the grader", "tampered", "your code sent a signal to another process"),
    ("stop its thread", "", ""),
    ("write to the grader", "", ""),
    ("make writable", "tampered", "your code made memory executable (mprotect)"),
    ("right, unprotect", "tampered", "your code changed machine code while it ran"),
    ("right, move over", "tampered", "your code put memory in the place of machine code"),
    ("right, table", "tampered", "your code changed the program's tables of functions"),
    ("close", "", ""),
    ("replace", "", ""),
    ("right, socket before", "tampered", "your code replaced the grader's own channel"),
    ("right, filter", "tampered", "your code changed what system calls do (seccomp)"),
    ("right, other filter", "tampered", "your code changed what system calls do (seccomp)"),
    ("right, kernel signals", "tampered", "your code sent signals to another process"),
    ("throw", "tampered", "your code ended the test with an exception of Catch2's"),
]


def has_landlock() -> bool:
    create_ruleset, only_version = 444, 1
    return ctypes.CDLL(None).syscall(create_ruleset, None, 0, only_version) > 0


class AtRunTime(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.program, _ = programs.compiled(BUILD, LESSON, HERE / "hostile" / "at_run_time.cu")

    def graded(self, how: str) -> grade.Grade:
        solution = str(BUILD / "lessons" / "solution_00_double_all")
        with unittest.mock.patch.dict(os.environ, HOSTILE=how, HOSTILE_PROGRAM=solution):
            return grade.grade_program(
                LESSON, self.program, "emulator", BUILD, cases=CASES,
                limits=runner.Limits(seconds=20),
            )  # fmt: skip

    def test_the_file_can_pass(self) -> None:
        (result,) = self.graded("right").results
        self.assertTrue(result.passed, (result.ended, result.outcome, result.findings))

    def test_no_trick_passes(self) -> None:
        for how, ending, words in AT_RUN_TIME:
            with self.subTest(how):
                (result,) = self.graded(how).results
                self.assertFalse(result.passed)
                self.assertEqual(result.ending, ending, (result.ended, result.output[-500:]))
                self.assertIn(words, result.ended)
                if not ending:
                    self.assertTrue(result.outcome.complete and result.outcome.failures)

    @unittest.skipUnless(os.uname().machine == "x86_64", "the device maps code itself")
    def test_code_is_not_mapped_by_the_program(self) -> None:
        (result,) = self.graded("right, map over").results
        self.assertEqual(result.ending, "tampered", result.ended)
        self.assertIn("your code put memory in the place of machine code", result.ended)

    def test_code_is_not_written_to_by_way_of_proc(self) -> None:
        for how in ("right, patch device", "right, patch program", "right, patch library"):
            with self.subTest(how):
                (result,) = self.graded(how).results
                if result.ending != "tampered":
                    self.assertIn("/proc/self/mem: Permission denied", result.output)

    @unittest.skipUnless(has_landlock(), "no Landlock in this kernel")
    def test_other_processes_are_not_seen(self) -> None:
        (result,) = self.graded("right, look").results
        self.assertTrue(result.passed, result.ended)
        self.assertNotIn("reached", result.output)

    def test_memory_is_not_shared_with_other_processes(self) -> None:
        (result,) = self.graded("right, share").results
        self.assertIn("shares: cudaErrorNotSupported", result.output)

    def test_settings_are_read_before_the_code_that_changes_them(self) -> None:
        (result,) = self.graded("settings").results
        self.assertEqual({f.code for f in result.findings}, {"out-of-bounds-global"})
        self.assertFalse(result.passed)

    def test_the_screen_says_it(self) -> None:
        out = io.StringIO()
        result = self.graded("start itself")
        grade_screen.show_grade(result, Console(file=out, width=80, highlight=False))
        said = " ".join(out.getvalue().split())
        self.assertIn("tampered with the grading: your code started another program", said)

    def test_a_test_is_not_named_on_the_command_line(self) -> None:
        with unittest.mock.patch.object(runner, "run", side_effect=OSError("seen")) as run:
            with self.assertRaises(WorkbookError):
                self.graded("right")
        command, env = run.call_args[0][:2]
        self.assertEqual(command, [str(self.program)])
        self.assertFalse([v for v in env.values() if "counts up" in v])


# Code that the names in its object give away, and words of the reason.
IN_THE_OBJECT = {
    "runtime": ('extern "C" int cudaMemcpy(void*, const void*, unsigned long, int) { return 0; }',
                "defines `cudaMemcpy`, which belongs to the CUDA runtime"),
    "launch": ('asm(".globl cudaLaunchKernel\\ncudaLaunchKernel: ret");',
               "defines `cudaLaunchKernel`, which belongs to the CUDA runtime"),
    "registration": ('extern "C" void** __cudaRegisterFatBinary(void*) { return nullptr; }',
                     "defines `__cudaRegisterFatBinary`, which belongs to the CUDA runtime"),
    "unknown version": ('extern "C" void cudaNewFunction_v9() {}',
                        "defines `cudaNewFunction_v9`, which belongs to the CUDA runtime"),
    "lookup": ('extern "C" void* dlsym(void*, const char*) { return nullptr; }',
               "defines `dlsym`, which belongs to the C library"),
    "heap": ('extern "C" { void* malloc(unsigned long) { return 0; } void free(void*) {} }',
             "defines `malloc`, which belongs to the C library"),
    "weak": ('extern "C" __attribute__((weak)) int memcmp(const void*, const void*, unsigned long)'
             "{ return 0; }", "defines `memcmp`, which belongs to the C library"),
    "label": ('inline __attribute__((used)) int f() asm("memcpy"); int f() { return 0; }'
              "int (*p)() = f;", "defines `memcpy`, which belongs to the C library"),
    "operator new": ("#include <new>\nstatic char m[99]; void* operator new(unsigned long)"
                     "{ return m; }", "defines `operator new(unsigned long)`"),
    "variable": ("int environ = 3;", "defines `environ`, which belongs to the C library"),
    "counters": ('extern "C" int emulatorCountersGet(void*) { return 0; }',
                 "defines `emulatorCountersGet`, which belongs to the CUDA runtime"),
    "reset": ('extern "C" void emulatorCountersReset(); void f() { emulatorCountersReset(); }',
              "calls `emulatorCountersReset`, with which only the test measures"),
    "test": ("#include <string_view>\nnamespace wb::grader { void tell(std::string_view) {} }",
             "which belongs to the lesson's test"),
    "report": ("#include <string_view>\nnamespace wb::grader { void tell(std::string_view); }"
               'void f() { wb::grader::tell("{}"); }',
               "uses `wb::grader::tell(std::basic_string_view<char, std::char_traits<char> >)`, "
               "which belongs to the lesson's test"),
    "body": ("namespace wb::grader { __attribute__((weak)) void run_body(void (*)()) {} }"
             "__attribute__((weak)) int main() {}", "defines `main`: the test has one"),
    "watch": ("namespace wb::of_test { struct CallWatch { static CallWatch*& current(); }; }"
              "void f() { wb::of_test::CallWatch::current() = nullptr; }",
              "uses `wb::of_test::CallWatch::current()`, which belongs to the lesson's test"),
    "own watch": ("namespace wb::of_test { struct CallWatch { static CallWatch*& current() {"
                  "static CallWatch* none = nullptr; return none; } }; }"
                  "void* f() { return wb::of_test::CallWatch::current(); }",
                  "defines `wb::of_test::CallWatch::current()`, which belongs to the lesson's"),
    "exception": ("namespace Catch { struct TestFailureException {}; }"
                  "void f() { throw Catch::TestFailureException{}; }", "uses Catch2"),
    "assertion": ("#include <catch2/catch.hpp>\nvoid f() { REQUIRE(1 == 1); }", "uses Catch2"),
    "find": ('#include <dlfcn.h>\nvoid* f() { return dlsym(RTLD_DEFAULT, "cudaFree"); }',
             "calls `dlsym`, which looks for the functions of others at run time"),
    "shell": ('#include <cstdlib>\nint f() { return std::system("true"); }',
              "calls `system`, which starts another program"),
    "old version": ('asm(".symver find, dlsym@GLIBC_2.2.5");'
                    'extern "C" void* find(void*, const char*);'
                    'void* f() { return find(nullptr, "cudaFree"); }',
                    "calls `dlsym`, which looks for the functions of others at run time"),
    "frames": ("#include <ucontext.h>\nvoid f(const ucontext_t* there) { setcontext(there); }",
               "calls `setcontext`, which leaves functions, the test among them, without a return"),
    "debugger": ('#include <sys/ptrace.h>\nlong f() { return ptrace(PTRACE_TRACEME, 0, 0, 0); }',
                 "calls `ptrace`, which reaches into a running process"),
    "ifunc": ('extern "C" { static void now() {} static auto* choose() { return now; }'
              '__attribute__((ifunc("choose"))) void chosen(); }', "lets the loader choose"),
    "before all": ('__attribute__((section(".preinit_array"), used)) static void (*p)() = nullptr;',
                   "has a section `.preinit_array`"),
    "before all, renamed": ('asm(".section early,\\"aw\\",%preinit_array\\n.quad 0\\n.text");',
                            "has a section `early`"),
    "plugin": ('asm(".section .gnu.lto_.opts,\\"\\"\\n.byte 0\\n.text");',
               "has a section `.gnu.lto_.opts`"),
    "linker's words": ('asm(".section .gnu.warning.free,\\"\\"\\n.byte 65, 0\\n.text");',
                       "has a section `.gnu.warning.free`"),
    "loader": ('__attribute__((section(".interp"), used)) static const char p[] = "/tmp/x";',
               "has a section `.interp`"),
}  # fmt: skip


class Objects(unittest.TestCase):
    """Compiles C++ as a student's object."""

    @classmethod
    def setUpClass(cls) -> None:
        _, linked = programs.linked_with(BUILD, LESSON)
        cls.judge = refusals.Judge(BUILD, linked)
        place = tempfile.TemporaryDirectory()
        cls.addClassCleanup(place.cleanup)
        cls.root = Path(place.name)

    def made(self, code: str, *options: str) -> Path:
        source, made = self.root / "double_all.cpp", self.root / "double_all.o"
        source.write_text(code + "\n")
        found = compile_commands.of(BUILD, LESSON.solution_file, f"solution_{LESSON.id}")
        assert found
        toolkit = Path(found[0][0]).resolve().parents[1]
        folders = [ROOT, toolkit / "include", *toolkit.glob("targets/*/include")]
        options += tuple(f"-I{folder}" for folder in folders if folder.is_dir())
        subprocess.run(
            ["g++", "-std=c++17", "-w", "-c", *options, str(source), "-o", str(made)],
            check=True, timeout=120,
        )  # fmt: skip
        return made


class InTheObject(Objects):
    def test_it_is_refused_with_the_name(self) -> None:
        for name, (code, words) in IN_THE_OBJECT.items():
            with self.subTest(name):
                if "catch2" in code and not Path("/usr/include/catch2/catch.hpp").is_file():
                    continue
                said = refusals.of_object(self.made(code), "double_all.cu", self.judge)
                self.assertIn(words, "\n".join(said))

    def test_what_the_test_takes_from_elsewhere_is_refused(self) -> None:
        # A weak function in the place of the C++ library's, and a strong one in that of a
        # template's instance, as an explicit specialisation is.
        taken = next(one for one in sorted(self.judge.imported) if one.startswith("_ZNSt7__cxx11"))
        template = next(one for one in sorted(self.judge.weak) if one.startswith("_ZN2wb"))
        for name, how, owner in (
            (taken, "weak, used", "the C++ library"),
            (template, "used", "the lesson's test"),
        ):
            code = f'__attribute__(({how})) int f() asm("{name}"); int f() {{ return 0; }}'
            said = refusals.of_object(self.made(code), "double_all.cu", self.judge)
            self.assertIn(f"which belongs to {owner}", "\n".join(said))
        # The test's own instance comes first: a weak one is never called.
        self.assertEqual(self.judge.owner(template, is_weak=True), "")


class Whole(unittest.TestCase):
    """From the file to the screen, as `make 00` does it."""

    def setUp(self) -> None:
        self.source = BUILD / "tests" / "workbook" / "student" / "double_all.cu"
        self.right = LESSON.solution_file.read_text()
        self.addCleanup(self.source.write_text, self.right)

    def built(self, text: str) -> build.Built:
        self.source.write_text(text)
        return build.build_student_file(BUILD, "lesson_00_double_all", self.source)

    def test_a_refused_file_is_not_run(self) -> None:
        own = 'extern "C" __attribute__((weak)) void* memmove(void* p, const void*, size_t)' \
              "{ return p; }\n"  # fmt: skip
        made = self.built(self.right + own)
        self.assertEqual((made.ok, made.stage), (False, "refused"))
        self.assertIn("double_all.cu defines `memmove`, which belongs to the C library", made.text)
        out = io.StringIO()
        refused = grade.Grade(LESSON, "emulator", build_stage=made.stage, build_error=made.text)
        grade_screen.show_grade(refused, Console(file=out, width=80, highlight=False))
        self.assertIn("✗ double_all.cu is not graded\n", out.getvalue())
        self.assertIn("another name", out.getvalue())
        self.assertFalse(refused.passed)

    def test_a_name_that_the_linker_refuses_is_explained_too(self) -> None:
        made = self.built(self.right + "int main() {}\n")
        self.assertEqual((made.ok, made.stage), (False, "refused"))
        self.assertIn("the test has one, take yours out", made.text)

    def test_the_solution_cannot_be_included(self) -> None:
        # By a name that only the preprocessor sees.
        path = (
            f"#define PART(x) #x\n#define NAME(x) PART(x)\n#include NAME({LESSON.solution_file})\n"
        )
        made = self.built(path)
        self.assertEqual((made.ok, made.stage), (False, "refused"), made.text)
        self.assertIn("a lesson's file may include its own header", made.text)

    def test_nothing_that_is_no_file_is_read(self) -> None:
        pipe = self.source.parent / "pipe.h"
        os.mkfifo(pipe)
        self.addCleanup(pipe.unlink)
        for name, words in (("pipe.h", "a pipe"), ("/dev/zero", "a device")):
            made = self.built(f'#include "{name}"\n' + self.right)
            self.assertEqual((made.ok, made.stage), (False, "refused"), made.text)
            self.assertIn(f"includes {name}, which is {words}", made.text)


class Includes(unittest.TestCase):
    def test_what_a_file_may_include(self) -> None:
        source = ROOT / "lessons" / "02_boundary_checks" / "boundary_checks.cu"
        read = {
            str(source), "/usr/include/stdio.h", f"{ROOT}/common/host/data.h",
            f"{ROOT}/lessons/02_boundary_checks/boundary_checks.h",
            f"{ROOT}/.workbook/cuda/include/cuda_runtime.h",
        }  # fmt: skip
        command = ["nvcc", f"-I{ROOT}/common/host"]
        self.assertEqual(refusals.of_includes(read, source, command), [])
        for other in (
            "solutions/02_boundary_checks/boundary_checks.cu", "common/harness/lesson_test.h",
            "tests/lessons/02_boundary_checks/test_1_values.cpp",
            "common/emulator/emulator_api.h", "build/lessons/x.cu",
        ):  # fmt: skip
            said = refusals.of_includes({*read, f"{ROOT}/{other}"}, source, command)
            self.assertEqual(len(said), 1, other)
            self.assertIn(other, said[0])

    def test_another_name_for_a_solution(self) -> None:
        source = BUILD / "demo" / "includes" / "double_all.cu"
        source.parent.mkdir(parents=True, exist_ok=True)
        names = [source.with_name(name) for name in ("link.h", "hard.h")]
        for name in names:
            name.unlink(missing_ok=True)
        names[0].symlink_to(LESSON.solution_file)
        try:
            os.link(LESSON.solution_file, names[1])
        except OSError:
            names.pop()  # another file system
        beside = os.path.relpath(LESSON.solution_file, source.parent)
        for name in (*names, source.parent / beside, f"/proc/self/root{LESSON.solution_file}"):
            said = refusals.of_includes({str(name)}, source, [])
            self.assertEqual(len(said), 1, name)

    def test_names_are_read_anew_when_a_library_changes(self) -> None:
        with tempfile.TemporaryDirectory() as place:
            made, cache = Path(place) / "a.o", Path(place) / "cache"
            for name in ("first", "second"):
                subprocess.run(
                    ["g++", "-x", "c", "-c", "-", "-o", str(made)],
                    input=f"int {name};", text=True, check=True,
                )  # fmt: skip
                self.assertNotEqual(build_cache.size_and_time(str(made)), [-1, -1])
                self.assertIn(name, refusals.names_in(made, cache).defined)


if __name__ == "__main__":
    unittest.main()
