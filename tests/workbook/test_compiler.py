# SPDX-License-Identifier: MIT
"""The words for compile errors: nvcc's genuine text, and what a beginner is told."""

from __future__ import annotations

import unittest

from workbook.diagnose import compiler

# Words that must be told, the file's line, and what nvcc 13 says of it.
ERRORS = (
    ("semicolon is missing", "}", 'error: expected a ";"'),
    ("closing brace is missing", "void run(float* out) {", 'error: expected a ";"'),
    ("one closing brace too many", "}", "error: expected a declaration"),
    ("three brackets", "k<<(n + 255) / 256, 256>>(a, n);",
     "error: expression must have integral or unscoped enum type"),
    ("needs <<<blocks, threads>>>", "k(a, out, n);",
     "error: a __global__ function call must be configured"),
    ("lacks __global__", "k<<<1, 256>>>(a);", "error: a host function call cannot be configured"),
    ("and not __device__", "k<<<1, 256>>>(a);",
     'error: calling a __device__ function("k(float *)") from a __host__ function("run") is not '
     "allowed"),
    ("__global__ void", "__global__ int k(float* a) {",
     "error: a __global__ function must have a void return type"),
    ("lacks __device__", "out[i] = f(a[i]);",
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
    ("belongs into host code", "cudaDeviceSynchronize();",
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
    ("as many arguments", "k<<<1, 256>>>(a);", "error: too few arguments in function call"),
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
)  # fmt: skip


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
        self.assertIn("as many arguments", compiler.looks_like(text))

    def test_the_host_compiler_says_line_and_column(self) -> None:
        text = "lessons/x/x.cu: In function 'void run()':\nlessons/x/x.cu:40:71: error: second " \
               "operand to the conditional operator is of type ‘void’, but\n" \
               "   40 |     k<<<blocks, threads>>>(d_out);\n"  # fmt: skip
        self.assertEqual(compiler.first_error(text)[0], 40)
        self.assertIn("__global__ void", compiler.looks_like(text))

    def test_what_is_not_known_is_not_guessed(self) -> None:
        self.assertEqual(compiler.looks_like("a.cu(1): error: something new\n  x\n"), "")
        self.assertEqual(compiler.looks_like("the test calls f(), and x.cu does not define it"), "")
        statement = "a.cu(1): error: expected a statement\n  }\n"
        self.assertEqual(compiler.looks_like(statement), "")
        sound = "a.cu(1): error: expression must have integral or unscoped enum type\n  a %% b;\n"
        self.assertEqual(compiler.looks_like(sound), "")


if __name__ == "__main__":
    unittest.main()
