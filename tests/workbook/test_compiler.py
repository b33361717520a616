# SPDX-License-Identifier: MIT
"""The words for compile errors: nvcc's genuine text, and the message for a beginner."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path

from workbook.build import link_errors
from workbook.diagnose import compiler, compiler_text

# Words that the message must contain, the file's line, and nvcc 13's text about it.
ERRORS = (
    ("semicolon is missing", "}", 'error: expected a ";"'),
    ("closing brace is missing", "void run(float* out) {", 'error: expected a ";"'),
    ("one closing brace too many", "}", "error: expected a declaration"),
    ("three brackets", "k<<(n + 255) / 256, 256>>(a, n);",
     "error: expression must have integral or unscoped enum type"),
    ("needs <<<blocks, threads>>>", "k(a, out, n);",
     "error: a __global__ function call must be configured"),
    ("lacks __global__", "k<<<1, 256>>>(a);", "error: a host function call cannot be configured"),
    ("kernels are __global__", "k<<<1, 256>>>(a);",
     'error: calling a __device__ function("k(float *)") from a __host__ function("run") is not '
     "allowed"),
    ("__global__ void", "__global__ int k(float* a) {",
     "error: a __global__ function must have a void return type"),
    ("needs __device__", "out[i] = f(a[i]);",
     'error: calling a __host__ function("f(float)") from a __global__ function("k") is not '
     "allowed"),
    ("write the loop", "out[i] = std::accumulate(a, a + n, 0.0f);",
     'error: calling a constexpr __host__ function("accumulate") from a __global__ function("k") '
     "is not allowed."),
    ("cudaDeviceSynchronize", "__syncthreads();",
     'error: calling a __device__ function("__syncthreads") from a __host__ function("run") is '
     "not allowed"),
    ("operator()", "g<<<1, 1>>>([] __device__(float x) { return x; }, o);",
     "error: __host__ or __device__ annotation on lambda requires --extended-lambda nvcc flag"),
    ("called threadIdx", "i = blockIdx.x * blockDim.x + threadId.x;",
     'error: identifier "threadId" is undefined'),
    ("std:: in front", "cout << 1;", 'error: identifier "cout" is undefined'),
    ("belongs in host code", "cudaDeviceSynchronize();",
     'error: calling a __host__ function("cudaDeviceSynchronize") from a __global__ function("k") '
     "is not allowed"),
    ("C++ library that only the host has", "std::vector<float> v(1);",
     'error: calling a __host__ function("std::vector<float, ::std::allocator<float> > ::vector'
     '(unsigned long, const T2 &)") from a __global__ function("k") is not allowed'),
    ("header is not included", "CUDA_CHECK(cudaGetLastError());",
     'error: identifier "CUDA_CHECK" is undefined'),
    ("Enum::kName", "if (policy == kWrap) i = 0;", 'error: identifier "kWrap" is undefined'),
    ("shuffles do the same", "int s = __reduce_add_sync(~0u, 1);",
     'error: identifier "__reduce_add_sync" is undefined'),
    ("typing error", "out[idx] = 1;", 'error: identifier "idx" is undefined'),
    ("cannot be stored to", "a[i] = out[i];", "error: expression must be a modifiable lvalue"),
    ("order of the arguments", "k<<<1, 256>>>(a, out);",
     'error: argument of type "const float *" is incompatible with parameter of type "float *"'),
    ("an index in [ ]", "out[i] = mass(first.d_pt, 1.0f);",
     'error: argument of type "const float *" is incompatible with parameter of type "float"'),
    ("not a std::vector", "k<<<1, 256>>>(v);",
     'error: no suitable conversion function from "std::vector<float, std::allocator<float>>" to '
     '"float *" exists'),
    ("wrong number of arguments", "k<<<1, 256>>>(a);", "error: too few arguments in function call"),
    ("&pointer", "cudaMalloc(d, 4);",
     'error: no instance of overloaded function "cudaMalloc" matches the argument list\n'
     "            argument types are: (float *, int)"),
    ("extern __shared__", "__shared__ float s[n];",
     "error: a variable length array cannot have static storage duration"),
    ("initial value", "  __attribute__((shared)) float s[256] = {0};",
     "error: initializer not allowed for __shared__ variable "),
    ("closing parenthesis", "if (i < n out[i] = a[i];", 'error: expected a ")"'),
    ("stores its result", "return a[i];",
     "error: return value type does not match the function type"),
    ("no **", "out[i] = a[i] ** 2;", 'error: operand of "*" must be a pointer but has type "int"'),
    ("a type is missing", "const i = 1;", 'error: explicit type is missing ("int" assumed)'),
    ("else without", "if (i < n); a = 1; else a = 0;", "error: expected a statement"),
    ("no power operator", "if (i < n) out[i] = a[i] ^ 2;",
     "error: expression must have integral or unscoped enum type"),
    ("std::to_string", 'throw std::runtime_error("n = " + n + " is wrong");',
     "error: expression must have integral or unscoped enum type"),
    ("pointer to const", "float4 v = *reinterpret_cast<float4*>(a + 4 * i);",
     "error: reinterpret_cast cannot cast away const or other type qualifiers"),
    ("brackets must name it", "std::for_each(v.begin(), v.end(), [](float& x) { x *= s; });",
     "error: an enclosing-function local variable cannot be referenced in a lambda body unless it "
     "is in the capture list"),
    ("& in front of the element", "atomicAdd(counts[keys[i]], 1);",
     'error: no instance of overloaded function "atomicAdd" matches the argument list\n'
     "            argument types are: (int, int)"),
    ("unsigned long long", "atomicAdd(&total[0], 1ll);",
     'error: no instance of overloaded function "atomicAdd" matches the argument list\n'
     "            argument types are: (long long *, long long)"),
    ("pass its address", "cudaEventCreate(start);",
     'error: no instance of overloaded function "cudaEventCreate" matches the argument list\n'
     "            argument types are: (cudaEvent_t)"),
    ("& in front of the variable", "cudaEventElapsedTime(ms, start, stop);",
     'error: argument of type "float" is incompatible with parameter of type "float *"'),
    ("numbers of one type", "return std::max(n, m);",
     'error: no instance of overloaded function "std::max" matches the argument list\n'
     "            argument types are: (int, size_t)"),
    (".x, .y and .z", "int i = blockIdx * blockDim + threadIdx;",
     'error: no operator "*" matches these operands\n'
     "            operand types are: const uint3 * const dim3"),
    ("two, ==, compare", "if (i = n) return;", "error: expression must be a modifiable lvalue"),
    ("the pointer itself", "out = a[i] + 1;",
     'error: a value of type "float" cannot be assigned to an entity of type "float *"'),
    ("<cstdio>", 'printf("%f", x);', 'error: identifier "printf" is undefined'),
    ("<cassert>", "assert(x > 0);", 'error: identifier "assert" is undefined'),
    ("typing error, or the header", "std::vector<float> v(3);",
     'error: namespace "std" has no member "vector"'),
    ("closing brace is missing", "void run(float* a) { k<<<1, 1>>>(a); }", 'error: expected a ";"'),
)  # fmt: skip

# Genuine: what nvcc 13 prints of two mistakes, which are four errors and two notes.
FOUR_ERRORS = """\
lessons/x/x.cu(2): error: no instance of overloaded function "atomicAdd" matches the argument list
            argument types are: (int, int)
  __attribute__((global)) void k(int* c) { atomicAdd(c[0], 1); }
                                           ^
/usr/local/cuda/include/sm_60_atomic_functions.h(93): note #3326-D: function "atomicAdd(double *, \
double)" does not match because argument #1 does not match parameter
  static __inline__ __attribute__((device)) double atomicAdd(double *address, double val) { }
                                                   ^

lessons/x/x.cu(4): error: namespace "std" has no member "vector"
  void f() { std::vector<float> v(3); }
                  ^

lessons/x/x.cu(4): error: type name is not allowed
  void f() { std::vector<float> v(3); }
                         ^

lessons/x/x.cu(4): error: identifier "v" is undefined
  void f() { std::vector<float> v(3); }
                                ^

4 errors detected in the compilation of "lessons/x/x.cu".
"""

# Genuine: what g++ prints when it links scan.cu, which calls helper() and defines no scan() of
# these parameters, and a static fill().
LINKED = """\
/usr/bin/ld: lessons/CMakeFiles/lesson_x.dir/x/scan.cu.o: in function `scan(int*, int)':
tmpxft_0000673e_00000000-6_scan.cudafe1.cpp:(.text+0x5a): undefined reference to `helper(int*)'
/usr/bin/ld: test_scan.cpp.o: in function `main':
tests/test_scan.cpp:4: undefined reference to `scan(int const*, int)'
/usr/bin/ld: tests/test_scan.cpp:4: undefined reference to `fill(int*)'
/usr/bin/ld: tests/test_scan.cpp:5: undefined reference to `sort(int*)'
/usr/bin/ld: lessons/CMakeFiles/lesson_x.dir/x/scan.cu.o: in function `main':
x/scan.cu:2: multiple definition of `main'; test_scan.cpp.o:test_scan.cpp:4: first defined here
collect2: error: ld returned 1 exit status
"""
SCAN = "static void fill(int* d) { *d = 1; }\nvoid scan(int* d, int n) {\n    helper(d);\n}\n"


class Compiler(unittest.TestCase):
    def test_the_first_error_is_put_into_words(self) -> None:
        for words, line, error in ERRORS:
            with self.subTest(words):
                text = (
                    f"lessons/x/x.cu(7): warning #1: y\n  z\n  ^\n\nlessons/x/x.cu(12): {error}\n"
                )
                self.assertIn(words, compiler.looks_like(f"{text}  {line}\n  ^\n"))
                self.assertEqual(compiler.first_error(text)[0], 12)

    def test_only_the_first_error_counts(self) -> None:
        text = "a.cu(3): error: too many arguments in function call\n  f(1);\n  ^\n\n" \
               'a.cu(2): error: identifier "x" is undefined\n'  # fmt: skip
        self.assertIn("wrong number of arguments", compiler.looks_like(text))

    def test_the_host_compiler_says_line_and_column(self) -> None:
        text = "lessons/x/x.cu: In function 'void run()':\nlessons/x/x.cu:40:71: error: second " \
               "operand to the conditional operator is of type ‘void’, but\n" \
               "   40 |     k<<<blocks, threads>>>(d_out);\n"  # fmt: skip
        self.assertEqual(compiler.first_error(text)[0], 40)
        self.assertIn("__global__ void", compiler.looks_like(text))

    def test_one_error_for_each_cause_in_the_words_of_the_source(self) -> None:
        lines = compiler_text.brief(FOUR_ERRORS)
        self.assertEqual([line for line in lines if "error" in line], [
            'lessons/x/x.cu(2): error: no instance of overloaded function "atomicAdd" matches the '
            "argument list",
            'lessons/x/x.cu(4): error: namespace "std" has no member "vector"',
        ])  # fmt: skip
        at = lines.index("  __global__ void k(int* c) { atomicAdd(c[0], 1); }")
        self.assertEqual(lines[at + 1].index("^"), lines[at].index("atomicAdd"))
        self.assertFalse(any("note" in line or "detected" in line for line in lines), lines)
        many = "".join(f"a.cu({n}): error: of its own {n}\n" for n in range(1, 8))
        self.assertEqual(compiler_text.brief(many)[-1], "and 3 more")
        self.assertEqual(len(compiler_text.brief(many)), 5)
        self.assertEqual(compiler_text.brief("no errors\nhere"), ["no errors", "here"])

    def test_the_linker_is_put_into_words(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "scan.cu"
            source.write_text(SCAN)
            lines = link_errors.in_words(LINKED, source)
        self.assertEqual(lines, [
            "scan.cu calls helper(int*), and scan.cu does not define it",
            "the test calls scan(int const*, int), and scan.cu does not define it: it defines scan "
            "with other parameters; compare the header",
            "the test calls fill(int*), and scan.cu does not define it for other files: its "
            "definition is static or inline",
            "the test calls sort(int*), and scan.cu does not define it",
            "main is defined twice: the test has one, take yours out",
        ])  # fmt: skip
        self.assertEqual(link_errors.in_words("ld: cannot find -lz", source), [])

    def test_variables_that_do_not_fit(self) -> None:
        said = "main.cpp:9:(.text+0x5): relocation truncated to fit: R_X86_64_PC32 against `.bss'"
        self.assertEqual(
            link_errors.in_words(said, Path("a.cu")),
            ["the variables of a.cu take more than 2 GiB: allocate such memory"],
        )

    def test_what_is_not_known_is_not_guessed(self) -> None:
        self.assertEqual(compiler.looks_like("a.cu(1): error: something new\n  x\n"), "")
        self.assertEqual(compiler.looks_like("the test calls f(), and x.cu does not define it"), "")
        statement = "a.cu(1): error: expected a statement\n  }\n"
        self.assertEqual(compiler.looks_like(statement), "")
        sound = "a.cu(1): error: expression must have integral or unscoped enum type\n  a %% b;\n"
        self.assertEqual(compiler.looks_like(sound), "")


if __name__ == "__main__":
    unittest.main()
