// SPDX-License-Identifier: MIT
// Reading CUDA sources: declarations of kernels, structs, shared and local arrays, and how threads
// came past a barrier.
#include "bench.h"
#include "checks/source/source.h"

using bench::SourceFile;

TEST_CASE("source: comments, strings and raw strings hide no declaration", "[checks][source]") {
    const SourceFile file("const char* a = \"__global__ void k(int no)\";\n"
                          "const char* b = R\"(__global__ void k(int no))\";\n"
                          "// __global__ void k(int no)\n"
                          "char quote = '\"'; int big = 1'000'000;\n"
                          "__global__ void k(int yes) {}\n");
    const auto found = checks::find_kernel(file.path(), "k", 0);
    REQUIRE(found);
    REQUIRE(found->size() == 1);
    CHECK((*found)[0].name == "yes");
}

TEST_CASE("source: attributes of parameters, on lines of their own", "[checks][source]") {
    const SourceFile file(
        "__global__ void k([[maybe_unused]]\n    const float* __restrict__ in,\n"
        "    [[maybe_unused]] float* out, [[maybe_unused]]\n    int\n    n) {}\n");
    const auto found = checks::find_kernel(file.path(), "k", 0);
    REQUIRE(found);
    REQUIRE(found->size() == 3);
    CHECK((*found)[0].name == "in");
    CHECK((*found)[0].type == "float");
    CHECK((*found)[0].is_const);
    CHECK((*found)[1].name == "out");
    CHECK((*found)[1].pointer);
    CHECK((*found)[2].name == "n");
}

TEST_CASE("source: how threads came past a barrier", "[checks][source]") {
    const SourceFile file("int other(int i) { return i; }\n"             // 1
                          "__global__ void k(int n) {\n"                 // 2
                          "    if (threadIdx.x >= n) return;  // why\n"  // 3
                          "    barrier();\n"                             // 4
                          "}\n"                                          // 5
                          "__global__ void round(int n) {\n"             // 6
                          "    if (threadIdx.x <\n        n) {\n"        // 7, 8
                          "        for (int i = 0; i < n; ++i) {\n"      // 9
                          "            barrier();\n"                     // 10
                          "        }\n    }\n"                           // 11, 12
                          "}\n"                                          // 13
                          "__global__ void two(int n) {\n"               // 14
                          "    if (n < 3) return;\n"                     // 15
                          "    if (n < 5) return;\n"                     // 16
                          "    barrier();\n"                             // 17
                          "}\n");                                        // 18
    const auto left = checks::way_past(file.path(), 4, 5);
    CHECK(left.line == 3);
    CHECK(left.returned);
    const auto round = checks::way_past(file.path(), 10, 13);
    CHECK(round.line == 8);
    CHECK_FALSE(round.returned);
    CHECK(checks::way_past(file.path(), 17, 18).line == 0);  // either of two
    CHECK(checks::way_past(file.path(), 4, 3).line == 0);
    CHECK(checks::way_past(file.path(), 4, 13).line == 0);
    CHECK(checks::way_past("/nowhere.cu", 4, 5).line == 0);
}

TEST_CASE("source: malformed text is survived", "[checks][source]") {
    const auto text = GENERATE(as<std::string>{},
                               "",
                               "__global__ void k(",
                               "__global__ void k(int a",
                               "/* open",
                               "\"open",
                               "R\"(",
                               "__global__ void k(<<<<)",
                               "k(",
                               "'");
    CAPTURE(text);
    const SourceFile file(text);
    const auto found = checks::find_kernel(file.path(), "k", 3);
    CHECK((!found || found->size() < 3));
    CHECK_FALSE(checks::find_variable(file.path(), "__shared__", "k"));
    CHECK(checks::type_bytes(file.path(), "k") == 0);
}

TEST_CASE("source: types that refer to themselves have no size", "[checks][source]") {
    const SourceFile file("using a = b;\nusing b = a;\n");
    CHECK(checks::type_bytes(file.path(), "a") == 0);
}

TEST_CASE("source: a struct's pointers, one by one or several of a line", "[checks][source]") {
    const SourceFile file("struct Soa { float *x, * const y, z; int* rows[3]; };\n"
                          "template <class T>\nstruct View { T* data; int n; };\n"
                          "template <class T> class Held { T value; T* data; };\n");
    const auto soa = checks::struct_text(file.path(), "Soa");
    REQUIRE(soa);
    REQUIRE(soa->members.size() == 4);
    CHECK(soa->members[0].type == "float*");
    CHECK(soa->members[1].offset == 8);
    CHECK(soa->members[1].type == "float*");
    CHECK(soa->members[2].offset == 16);
    CHECK(soa->members[2].type == "float");
    CHECK(soa->members[3].offset == 24);
    CHECK(soa->members[3].bytes == 24);
    CHECK(soa->bytes == 48);
    const auto view = checks::struct_text(file.path(), "View<double>");
    REQUIRE(view);
    CHECK(view->members[0].type == "T*");
    CHECK(view->bytes == 16);
    // Its layout depends on the argument.
    CHECK_FALSE(checks::struct_text(file.path(), "Held<double>"));
}

TEST_CASE("source: structs by typedef and with an alignment of their own", "[checks][source]") {
    const SourceFile file("typedef struct { double re, im; } complex_t;\n"
                          "typedef struct node { int key; struct node* next; } node;\n"
                          "typedef float real;\nconst int kAlign = 32;\n"
                          "struct alignas(16) Ray { float o[3], d[3]; };\n"
                          "typedef struct __align__(8) { int x; } padded;\n"
                          "struct __align__(kAlign) Wide { char c; };\n"
                          "struct alignas(double) Odd { int x; };\n"
                          "struct Derived : Ray { int x; };\n");
    const auto bytes = [&](const char* name) {
        const auto found = checks::struct_text(file.path(), name);
        return found ? found->bytes : 0;
    };
    CHECK(bytes("complex_t") == 16);
    CHECK(checks::struct_text(file.path(), "complex_t")->members[1].name == "im");
    CHECK(bytes("Ray") == 32);
    CHECK(bytes("padded") == 8);
    CHECK(bytes("Wide") == 32);
    CHECK(bytes("Odd") == 0);
    CHECK(bytes("Derived") == 0);
    CHECK(bytes("real") == 0);
    CHECK(bytes("node") == 16);
}

TEST_CASE("source: a shared variable is the one in its function's body", "[checks][source]") {
    const SourceFile file("__global__ void a() { __shared__ int s; }\n"
                          "__device__ float b(int k) { __shared__ float s[8]; return s[k]; }\n"
                          "__global__ void c() { a(1); b(2); __shared__ double s[4][4]; }\n");
    const auto type = [&](const char* function) {
        return checks::find_variable(file.path(), "__shared__", "s", function)->type;
    };
    CHECK(type("a") == "int");
    CHECK(type("b") == "float");
    CHECK(type("c") == "double");
    CHECK(type("elsewhere") == "int");
    CHECK(type("") == "int");
}

TEST_CASE("source: the local arrays that a line indexes", "[checks][source]") {
    const SourceFile file(
        "__global__ void k(int* out, int n) {\n"
        "    __shared__ int tile[32];\n"
        "    const float a[4], b[2][3];\n"
        "    for (int i = 0; i < n; ++i) out[i] = tile[i] + a[i] * b[i][0] + p.a[i];\n"
        "    return j < a[n];\n"
        "}\n");
    const auto found = checks::local_arrays(file.path(), 4);
    REQUIRE(found.size() == 2);
    CHECK(found[0].name == "a");
    CHECK(found[0].declared.type == "float");
    CHECK(found[0].declared.extents == std::vector<uint64_t>{4});
    CHECK(found[1].name == "b");
    CHECK(found[1].declared.extents == std::vector<uint64_t>{2, 3});
    CHECK(checks::local_arrays(file.path(), 3).empty());
    CHECK(checks::local_arrays(file.path(), 5).size() == 1);
    CHECK(checks::local_arrays(file.path(), 99).empty());
}
