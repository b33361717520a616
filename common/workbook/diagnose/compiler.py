# SPDX-License-Identifier: MIT
"""The likely cause of the first error of a compiler or linker, in a beginner's words."""

from __future__ import annotations

import re

# Of nvcc: `file.cu(12): error: ...`; of the host's compiler: `file.cu:12:5: error: ...`.
_ERROR = re.compile(r"^(\S.*?)(?:\((\d+)\)|:(\d+):\d+): (?:fatal )?error: (.*)$", re.MULTILINE)

_THREE = "a launch has three brackets on each side: kernel<<<blocks, threads>>>(arguments)"
_SHARED = r"__shared__|attribute__\(\(shared"  # nvcc prints what the first stands for
_LAMBDA = "a lambda cannot be passed to a kernel here; a struct with operator() can"

# The first error's text, what the line must hold, and the words. The first that fits.
_CAUSES = (
    (r'expected a ";"', r"^\s*(__attribute__|__global__|__device__|template)"
     r"|^\s*(static |inline |const )*"
     r"(void|int|float|double|size_t|unsigned|bool)\s*[*&]?\s+\w+\([^;=]*\)\s*\{",
     "a closing brace is missing above this line: a function begins within another one"),
    (r'expected a ";"', "", "a semicolon is missing at the end of the statement before this place"),
    (r"integral or unscoped enum|expected a \">>>\"|expression must have arithmetic",
     r"(?<!<)<<(?!<)[^<]*,[^<]*>>\s*\(", _THREE),
    (r"integral or unscoped enum|expression must have arithmetic", r"\^",
     "C++ has no power operator, and ^ is the exclusive or of bits: multiply, or call powf"),
    (r'integral or unscoped enum|no operator "\+"|pointer-to-(complete-)?object type',
     r'"\s*\+|\+\s*"',
     "+ does not join texts in quotes: begin with std::string(\"...\"), and a number needs "
     "std::to_string"),
    (r"reinterpret_cast cannot cast away const", "",
     "the pointer is const: cast to a pointer to const, const T*"),
    (r"static_cast|invalid type conversion", r"static_cast",
     "pointers to different types: that is a reinterpret_cast, and const stays"),
    (r"cannot be referenced in a lambda body unless it is in the capture list", "",
     "the lambda uses a variable from outside: its brackets must name it, [&] or [=]"),
    (r"__global__ function call must be configured", "",
     "a kernel is called as if it were a function: a launch needs <<<blocks, threads>>> between "
     "its name and its arguments"),
    (r"a host function call cannot be configured", "",
     "the name before <<< >>> is not a kernel: its definition lacks __global__"),
    (r'__device__ function\("__syncthreads', "",
     "__syncthreads() is for kernels: the host waits with cudaDeviceSynchronize()"),
    (r"a __device__ function.*(cannot be configured|from a __host__)", r"<<<",
     "the name before <<< >>> is not a kernel: kernels are __global__, not __device__"),
    (r"__global__ function must have a void return type", "",
     "a kernel returns nothing: it is __global__ void, and stores its result"),
    (r"operator\(\).*from a __global__ function|closure type for a lambda|--extended-lambda", "",
     _LAMBDA),
    (r'calling a __host__ function\("cuda\w+"\)', "",
     "a CUDA runtime call in a kernel: it belongs in host code"),
    (r'calling a (constexpr )?__host__ function\("(\w+"\)|std::)', r"\bstd\s*::",
     "a function of the C++ library that only the host has: in a kernel, write the loop, or use "
     "CUDA's own (min, max, sqrtf, ...)"),
    (r"calling a (constexpr )?__host__ function", "",
     "a kernel calls a host function: the function needs __device__"),
    (r"calling a __device__ function", "",
     "host code calls a device function: call it in a kernel, or make it "
     "__host__ __device__"),
    (r'identifier "(threadId|blockId|threadDim|blockdim|threadidx|blockidx|griddim|threadIDx)"', "",
     "a thread's coordinates are called threadIdx, blockIdx, blockDim and gridDim"),
    (r'identifier "(printf|fprintf|snprintf|puts)" is undefined', "",
     "printf needs #include <cstdio>"),
    (r'identifier "assert" is undefined', "", "assert needs #include <cassert>"),
    (r'identifier "(memcpy|memset|memcmp|strlen)" is undefined', "",
     "the C library's functions on memory need #include <cstring>"),
    (r'identifier "u?int(8|16|32|64)_t" is undefined', "",
     "integer types of a given width need #include <cstdint>"),
    (r'identifier "(cout|cerr|endl|vector|min|max|sort|swap|move|string)" is undefined', "",
     "a name of the C++ library: std:: in front of it, and its header included?"),
    (r'namespace "std" has no member', "",
     "std has no such name here: a typing error, or the header that declares it is not included"),
    (r'identifier "__reduce_\w+_sync" is undefined', "",
     "__reduce_..._sync needs compute capability 8.0; the lessons are compiled for 7.5, so that "
     "they run on more cards: shuffles do the same"),
    (r'identifier "(CUDA_CHECK|CHECK_CALL)" is undefined', "",
     "the lesson's own header is not included"),
    (r'identifier "k[A-Z]\w*" is undefined', "",
     "no constant of that name is declared here: a typing error, or one of an enum class, which "
     "needs the name of the enum in front, Enum::kName"),
    (r"identifier .* is undefined", "",
     "nothing of that name is declared here: a typing error, or a name from another function"),
    (r"must be a modifiable lvalue", r"\b(if|while)\s*\([^=!<>]*[^=!<>]=[^=]",
     "one = stores: two, ==, compare"),
    (r"must be a modifiable lvalue", "",
     "this cannot be stored to: const, or an expression on the left of ="),
    (r'argument of type "([^"]+)" is incompatible with parameter of type "\1 \*"', "",
     "an address is expected: & in front of the variable"),
    (r'value of type "([^"*]+)" cannot be assigned to an entity of type "(const )?\1 \*"', "",
     "a number is stored to the pointer itself: which element of the array? An index in [ ]"),
    (r'\*" is incompatible with parameter of type "\w+( \w+)?"', "",
     "a pointer where a number is expected: an index in [ ] is missing"),
    (r"apparent call must have", "",
     "the name before ( ) is not a function: does a variable of the same name hide it?"),
    (r'const \w+ \*" is incompatible', "",
     "a const pointer where a writable one is expected: the order of the "
     "arguments, or a const missing in the kernel's list"),
    (r'expected a "\)"', "",
     "a closing parenthesis is missing on this line, or a comma or operator in it"),
    (r"missing closing quote", "", "a text in quotes does not end on its line"),
    (r"(no suitable conversion function from|a reference of type) .*std::vector", "",
     "a kernel takes a pointer to device memory, and not a std::vector"),
    (r"no suitable (conversion|constructor)|is incompatible with parameter", "",
     "an argument of the wrong type, or arguments in the wrong order"),
    (r"too (few|many) arguments", "", "the wrong number of arguments for this function"),
    (r'function "cudaMalloc\w*" matches .*argument types are: \(\w+( \w+)*( \*)?,', "",
     "cudaMalloc stores the address in your pointer: pass &pointer"),
    (r'function "cuda(Event|Stream)Create\w*" matches .*argument types are: \(cuda\w+_t\b(?! \*)',
     "", "the function stores the event or stream that it makes: pass its address, with &"),
    (r'function "atomic\w+" matches .*argument types are: \([^*]*\)', "",
     "an atomic takes the address of the number: & in front of the element"),
    (r'function "atomic\w+" matches', "",
     "no atomic for these types: of 64 bits it takes unsigned long long, and both numbers must "
     "have the type of the element"),
    (r'function "(std::)?(max|min)" matches', "",
     "max and min take two numbers of one type: convert one of them, or name the type, max<int>"),
    (r"no operator .* matches these operands.*\b(uint3|dim3)\b", "",
     "threadIdx, blockIdx, blockDim and gridDim have parts: .x, .y and .z"),
    (r"variable length array cannot", _SHARED,
     "the size of a __shared__ array must be known at compile time: constexpr, or extern "
     "__shared__ with the bytes in <<< >>>"),
    (r"initializer not allowed for __shared__", "",
     "shared memory has no initial value: the threads set it, and then a barrier"),
    (r'incomplete type ".*\[\]" is not allowed', _SHARED,
     "an array without a size is extern __shared__, and gets its bytes in <<< >>>"),
    (r"return value type does not match|void.*should not return a value", "",
     "a kernel returns nothing: it stores its result"),
    (r"expected a declaration", r"^\s*\}\s*$",
     "one closing brace too many: the function has ended above"),
    (r"has already been (declared|defined)", "", "one name for two things: the earlier one is "
                                                  "above"),
    (r"explicit type is missing", "", "a type is missing: int, size_t, float, or auto; for a "
                                      "kernel, void"),
    (r'operand of "\*" must be a pointer', r"\*\*", "C++ has no **: multiply, or call powf"),
    (r"must have pointer-to-object type", r"\[",
     "[ ] after something that is neither a pointer nor an array"),
    (r"expected a statement", r"\belse\b", "an else without its if: is there a semicolon after "
                                             "the condition?"),
    (r"parameter pack .* not expanded", "", "a list of arguments is handed on with three dots: "
                                             "args..."),
    (r"extended character|stray ", "", "a character that is not part of C++, perhaps pasted from "
                                       "a web page"),
    (r"second operand to the conditional operator is of type .void", "<<<",
     "a kernel returns nothing: it is __global__ void"),
    (r"this declaration has no storage class|expected a declaration", r"<<<",
     "a launch is a statement: it belongs into the body of a function"),
    (r"No such file or directory", "#include", "a header that is not here: the lesson's own and "
                                                 "those of CUDA and C++ can be included"),
)  # fmt: skip


def first_error(text: str) -> tuple[int, str, str] | None:
    """Line, words, and the source line as the compiler shows it, of the first error."""
    match = _ERROR.search(text)
    if not match:
        return None
    after = text[match.end() :].lstrip("\n").splitlines()
    # The host's compiler puts `   12 | ` in front.
    shown = next((re.sub(r"^ *\d+ \| ", "", one) for one in after[:2] if _is_code(one)), "")
    words = match.group(4)
    if after and after[0].strip().startswith(_TYPES):
        words += " " + after[0].strip()
    return int(match.group(2) or match.group(3)), words, shown


_TYPES = ("argument types are", "operand types are")


def _is_code(line: str) -> bool:
    return bool(line.strip()) and not line.strip().startswith((*_TYPES, "^"))


def looks_like(text: str) -> str:
    """The likely cause of the first error, or ''."""
    found = first_error(text)
    if not found:
        return ""
    _, words, shown = found
    for pattern, place, cause in _CAUSES:
        if re.search(pattern, words) and (not place or re.search(place, shown)):
            return cause
    return ""
