// SPDX-License-Identifier: MIT
// Names of arrays: read from declarations on disk, matched with the launch's arguments.
#include "bench.h"
#include "checks/source/names.h"
#include "checks/source/python.h"
#include "checks/source/source.h"

using bench::Bench;
using bench::SourceFile;
using machine::MemoryKind;

namespace {

struct Named : Bench {
    explicit Named(const std::string& text, uint32_t body_line = 2, const std::string& kernel = "k")
        : Bench(256, kernel), source(text) {
        launch.declared = {source.path(), body_line, 0, {}};
    }
    SourceFile source;
};

}  // namespace

TEST_CASE("names: a pointer is called as the kernel's parameter is", "[checks][names]") {
    Named bench("// k(int wrong) is not it\n"
                "__global__ void k(const float* __restrict__ in, /* the, result */ float *out, int "
                "n) {\n}\n");
    auto& in = bench.device_array(4000);
    auto& out = bench.device_array(400);
    bench.pass_pointer(in.address);
    bench.pass_pointer(out.address);
    bench.pass_int(1000);
    const auto array = checks::name_global(&bench.launch, out, 4, true);
    CHECK(array.name == "out");
    CHECK(array.description == "`out`, argument 2, 100 floats");
    CHECK(array.element(out.address + 400) == "`out[100]`");
    CHECK(array.element(out.address - 4) == "`out[-1]`");
    CHECK(array.element(out.address - 1) == "`out[-1]`");
    CHECK(array.extent() == "`out` has 100 elements (0 to 99)");
    CHECK(checks::name_global(&bench.launch, in, 4, false).description ==
          "`in`, argument 1, 1000 floats");
}

TEST_CASE("names: element size follows the declared type", "[checks][names]") {
    const auto [type, bytes, count] = GENERATE(table<std::string, uint32_t, std::string>({
        {"double", 8, "30 doubles"},
        {"unsigned char", 1, "240 elements of type unsigned char"},
        {"float4", 16, "15 float4s"},
        {"std::uint16_t", 2, "120 elements of type std::uint16_t"},
        {"real", 8, "30 reals"},
        {"small", 2, "120 smalls"},
        {"word", 4, "60 words"},
        {"int*", 8, "30 elements of type int*"},
    }));
    CAPTURE(type);
    Named bench("using real = double;\ntypedef short small;\n#define word unsigned int\n"
                "__global__ void k(" +
                    type + " * data)\n{\n}\n",
                5);
    auto& data = bench.device_array(240);
    bench.pass_pointer(data.address);
    const auto array = checks::name_global(&bench.launch, data, 4, true);
    CHECK(array.element_bytes == bytes);
    CHECK(array.description == "`data`, argument 1, " + count);
}

TEST_CASE("names: of a struct whose size is unknown, bytes are named", "[checks][names]") {
    Named bench("__global__ void k(Particle* particles) {\n}\n");
    auto& data = bench.device_array(320);
    bench.pass_pointer(data.address);
    const auto array = checks::name_global(&bench.launch, data, 4, true);
    CHECK(array.element(data.address + 40) == "byte 40 of `particles`");
    CHECK(array.description == "`particles`, argument 1, 320 bytes");
}

TEST_CASE("names: a pointer in a struct is called by its member", "[checks][names]") {
    Named bench("struct Inner { char tag; double *rows[2]; };\n"
                "template <class T> struct Soa { int n; T *x, *y; Inner inner; };\n"
                "__global__ void k(int n, Soa<float> soa) {\n}\n",
                4);
    auto& y = bench.device_array(400);
    auto& row = bench.device_array(80);
    const uint64_t soa[6] = {1, 0x5555, y.address, 'c', 0, row.address};
    bench.pass_int(3);
    bench.pass(soa, sizeof soa, true);
    const auto array = checks::name_global(&bench.launch, y, 4, true);
    CHECK(array.element(y.address + 400) == "`soa.y[100]`");
    CHECK(checks::name_global(&bench.launch, row, 8, true).element(row.address) ==
          "`soa.inner.rows[1][0]`");
}

TEST_CASE("names: a local array of the line, if its size identifies it", "[checks][names]") {
    const SourceFile file("__global__ void k(int n) {\n"
                          "    float a[4];\n    int b[3], c[4];\n"
                          "    b[n] = 1;\n    a[n] = c[n];\n    a[n] = b[n];\n}\n");
    const auto name = [&](uint32_t line, uint64_t bytes) {
        const auto found = checks::name_local(file.path(), line, 1024, 1024 + bytes);
        return found ? found->element(1040) : "";
    };
    CHECK(name(4, 12) == "`b[4]`");
    CHECK(name(4, 16) == "`b[4]`");  // with padding
    CHECK(name(4, 64) == "");
    CHECK(name(5, 16) == "");  // both fit
    CHECK(name(6, 12) == "`b[4]`");
    CHECK(name(2, 16) == "");
}

TEST_CASE("names: templates, attributes and macros do not hide the parameters", "[checks][names]") {
    Named bench("#define BLOCK 256\n"
                "template <typename T, int N>\n"
                "__global__ void __launch_bounds__(BLOCK, 2)\n"
                "k(vec<T, 3> origin, T const* __restrict__ values, T (*f)(T),\n"
                "  unsigned long long total[], const __grid_constant__ Config config)\n"
                "{\n}\n",
                6,
                "space::k<float, 8>");
    auto& values = bench.device_array(64);
    auto& total = bench.device_array(64);
    const double origin[3] = {};
    bench.pass(origin, 24, true);
    bench.pass_pointer(values.address);
    bench.pass_pointer(0x5555);
    bench.pass_pointer(total.address);
    bench.pass(origin, 24, true);
    CHECK(checks::name_global(&bench.launch, values, 4, false).element(values.address + 64) ==
          "`values[16]`");
    CHECK(checks::name_global(&bench.launch, total, 8, true).element(total.address + 64) ==
          "`total[8]`");
}

TEST_CASE("names: the nearest declaration above the body is the one", "[checks][names]") {
    const std::string text = "__global__ void k(int* first) {\n}\n"
                             "__global__ void other(int* no) {\n}\n"
                             "namespace b { __global__ void k(int* second) {\n} }\n";
    const auto [line, name] = GENERATE(table<uint32_t, std::string>({{2, "first"}, {6, "second"}}));
    Named bench(text, line);
    auto& data = bench.device_array(64);
    bench.pass_pointer(data.address);
    CHECK(checks::name_global(&bench.launch, data, 4, true).name == name);
}

TEST_CASE("names: a launch of that kernel is not its declaration", "[checks][names]") {
    Named bench("__global__ void k(int* data, int n);\n"
                "int main() { helper(a, b); k(x, y); }\n",
                0);
    auto& data = bench.device_array(64);
    bench.pass_pointer(data.address);
    bench.pass_int(3);
    CHECK(checks::name_global(&bench.launch, data, 4, true).name == "data");
}

TEST_CASE("names: a declaration that does not fit the arguments is not used", "[checks][names]") {
    Named bench("__global__ void k(int* a) {\n}\n");
    auto& data = bench.device_array(64);
    bench.pass_int(1);
    bench.pass_pointer(data.address);
    const auto array = checks::name_global(&bench.launch, data, 4, true);
    CHECK(array.name.empty());
    CHECK(array.description == "argument 2, 64 bytes");
    CHECK(array.element(data.address + 8) == "element 2 of argument 2");
}

TEST_CASE("names: without source there is the argument's number", "[checks][names]") {
    Bench bench;
    auto& data = bench.device_array(64);
    bench.pass_pointer(data.address);
    CHECK(checks::name_global(&bench.launch, data, 4, true).description == "argument 1, 64 bytes");
}

TEST_CASE("names: a pointer inside a struct argument is found", "[checks][names]") {
    Named bench("__global__ void k(Params params) {\n}\n");
    auto& data = bench.device_array(64);
    const uint64_t params[3] = {7, data.address, 9};
    bench.pass(params, 24, true);
    CHECK(checks::name_global(&bench.launch, data, 4, true).description ==
          "a pointer in `params`, argument 1, 64 bytes");
}

TEST_CASE("names: an argument into the middle counts its own elements", "[checks][names]") {
    Named bench("__global__ void k(float* tail) {\n}\n");
    auto& data = bench.device_array(400);
    bench.pass_pointer(data.address + 40);
    const auto array = checks::name_global(&bench.launch, data, 4, true);
    CHECK(array.element(data.address + 400) == "`tail[90]`");
    CHECK(array.description == "`tail`, argument 1, 90 floats");
}

TEST_CASE("names: of two parameters for one array, the const one names a read", "[checks][names]") {
    Named bench("__global__ void k(const float* from, float* to) {\n}\n");
    auto& data = bench.device_array(400);
    bench.pass_pointer(data.address);
    bench.pass_pointer(data.address);
    CHECK(checks::name_global(&bench.launch, data, 4, false).name == "from");
    CHECK(checks::name_global(&bench.launch, data, 4, true).name == "to");
}

TEST_CASE("names: of two parameters into one array, the one to its start is preferred",
          "[checks][names]") {
    Named bench("__global__ void k(float* tail, float* all) {\n}\n");
    auto& data = bench.device_array(400);
    bench.pass_pointer(data.address + 40);
    bench.pass_pointer(data.address);
    CHECK(checks::name_global(&bench.launch, data, 4, true).name == "all");
}

TEST_CASE("names: an array that was not passed is named by the line of its allocation",
          "[checks][names]") {
    Bench bench;
    auto& data = bench.device_array(4000, 14);
    CHECK(checks::name_global(&bench.launch, data, 4, true).description ==
          "the array allocated at main.cu:14 (4000 bytes)");
    CHECK(checks::name_global(nullptr, data, 4, true).subject ==
          "the array allocated at main.cu:14");
}

TEST_CASE("names: module variables have their own name and type", "[checks][names]") {
    Named bench(
        "__constant__ float weights[32];\n__device__ int total = 3;\n__global__ void k() {\n}\n",
        4);
    auto* weights = bench.memory.allocate(MemoryKind::kConst, 128, 0, 0);
    weights->name = "filter::weights";
    auto* total = bench.memory.allocate(MemoryKind::kModule, 4, 0, 0);
    total->name = "total";
    CHECK(checks::name_global(&bench.launch, *weights, 4, false).description ==
          "`weights`, __constant__ variable, 32 floats");
    const auto array = checks::name_global(&bench.launch, *total, 4, true);
    CHECK(array.element(total->address) == "`total`");
    CHECK(array.element(total->address + 4) == "byte 4 of `total`");
}

TEST_CASE("names: shared arrays, with two dimensions and constants", "[checks][names]") {
    Named bench("constexpr int kTile = 4 * 8;\n#define PAD 1\n"
                "__global__ void k() {\n"
                "    __shared__ double tile[kTile][kTile + PAD], other[8];\n"
                "    extern __shared__ __align__(16) unsigned char raw[];\n"
                "    __shared__ int sum;\n}\n",
                4);
    const auto& tile = bench.shared_array("k::tile", 32 * 33 * 8);
    const auto array = checks::name_shared(bench.launch, tile, 8);
    CHECK(array.description == "`tile`, shared, 1056 doubles");
    CHECK(array.element(tile.address + 8 * (33 * 3 + 5)) == "`tile[3][5]`");
    CHECK(array.extent() == "`tile` has 32 x 33 elements");
    const auto other = checks::name_shared(bench.launch, bench.shared_array("other", 64), 4);
    CHECK(other.description == "`other`, shared, 8 doubles");
    const auto raw = checks::name_shared(bench.launch, bench.shared_array("raw", 1024, true), 4);
    CHECK(raw.element_bytes == 1);
    CHECK(raw.description ==
          "`raw`, shared, 1024 elements of type unsigned char, sized by the launch (1024 bytes)");
    const auto& sum = bench.shared_array("sum", 4);
    CHECK(checks::name_shared(bench.launch, sum, 4).element(sum.address) == "`sum`");
}

TEST_CASE("names: the parts of a shared array that the compiler has split", "[checks][names]") {
    Named bench("__global__ void k() {\n    __shared__ int both[2], some[3];\n}\n", 4);
    for (const char* name : {"both", "some"})
        for (int32_t part = 0; part < 2; ++part) bench.shared_array(name, 4).part = part;
    bench.launch.shared = &bench.shared;
    const auto element = [&](size_t which) {
        const machine::SharedVariable& part = bench.shared[which];
        return checks::name_shared(bench.launch, part, 4).element(part.address);
    };
    CHECK(element(0) == "`both[0]`");
    CHECK(element(1) == "`both[1]`");
    CHECK(element(3) == "`some`");  // one of three is missing, unknown which
}

TEST_CASE("names: a shared array's extents may be constants of a header", "[checks][names]") {
    Named bench("#include <cstdio>\n#include \"tile.h\"\n#include \"missing.h\"\n"
                "__global__ void k() {\n"
                "    __shared__ float tile[kSide][kSide + 1], odd[kSide][3];\n"
                "    __shared__ float rows[N][4];\n}\n",
                4);
    const std::string folder = bench.source.path().substr(0, bench.source.path().rfind('/') + 1);
    std::ofstream(folder + "tile.h") << "#pragma once\n#include \"tile.h\"\n"
                                        "inline constexpr int kSide = 16;\n";
    const auto& tile = bench.shared_array("k::tile", 16 * 17 * 4);
    const auto array = checks::name_shared(bench.launch, tile, 4);
    CHECK(array.element(tile.address + 4 * 18) == "`tile[1][1]`");
    CHECK(array.extent() == "`tile` has 16 x 17 elements");
    // The size does not fit the text: it is not described as a matrix.
    const auto& odd = bench.shared_array("odd", 16 * 5 * 4);
    CHECK(checks::name_shared(bench.launch, odd, 4).element(odd.address + 4 * 18) == "`odd[18]`");
    // One undefined dimension follows from the size.
    const auto& rows = bench.shared_array("rows", 6 * 4 * 4);
    CHECK(checks::name_shared(bench.launch, rows, 4).extent() == "`rows` has 6 x 4 elements");
}

TEST_CASE("names: an element of a plain struct, and its member", "[checks][names]") {
    Named bench(
        "struct Inner { float v[3]; char tag; };\n"
        "struct P {\n  Inner inner;\n  double mass = 1, weights[2];\n"
        "  __host__ __device__ P() { weights[0] = 1; }\n  char kind;\n  void* next;\npublic:\n};\n"
        "struct Odd { int bits : 3; };\n"
        "__global__ void k(P* all, Odd* odd) {\n}\n",
        11);
    auto& data = bench.device_array(560);
    auto& odd = bench.device_array(560);
    bench.pass_pointer(data.address);
    bench.pass_pointer(odd.address);
    const auto array = checks::name_global(&bench.launch, data, 4, true);
    CHECK(array.element_bytes == 56);
    CHECK(array.extent() == "`all` has 10 elements (0 to 9)");
    CHECK(array.element(data.address) == "`all[0].inner`");
    CHECK(array.element(data.address + 16) == "`all[0].mass`");
    CHECK(array.element(data.address + 56 + 32) == "`all[1].weights[1]`");
    CHECK(array.element(data.address - 8) == "`all[-1].next`");
    CHECK(array.element(data.address + 44) == "`all[0]`");  // padding
    CHECK(checks::name_global(&bench.launch, odd, 4, true).element(odd.address + 8) ==
          "byte 8 of `odd`");
}

TEST_CASE("names: part of an array has the name of the argument that points to it",
          "[checks][names]") {
    Named bench("__global__ void k(int* all, int* tail, int* end) {\n}\n");
    auto& data = bench.device_array(400);
    bench.pass_pointer(data.address);
    bench.pass_pointer(data.address + 200);
    bench.pass_pointer(data.address + 400);
    const auto name = [&](uint64_t offset) {
        const uint64_t at = data.address + offset;
        return checks::name_global(&bench.launch, data, 4, true, at).element(at);
    };
    CHECK(name(196) == "`all[49]`");
    CHECK(name(200) == "`tail[0]`");
    CHECK(name(400) == "`tail[50]`");
    CHECK(name(uint64_t(-4)) == "`all[-1]`");
}

TEST_CASE("names: a wide access names its first and last element", "[checks][names]") {
    Named bench("__global__ void k(float* in) {\n}\n");
    auto& data = bench.device_array(400);
    bench.pass_pointer(data.address);
    const auto array = checks::name_global(&bench.launch, data, 4, false);
    CHECK(array.elements_at(data.address + 392, 16) == "`in[98]` to `in[101]`");
    CHECK(array.elements_at(data.address + 392, 4) == "`in[98]`");
}

TEST_CASE("names: a mangled Numba kernel tells how many parameters each array takes", "[names]") {
    const auto parameters =
        checks::numba_parameters("_ZN8__main__1kB2v1B10cw51cXTLSUE5ArrayIxLi1E1C7mutable7alignedExd"
                                 "5ArrayIfLi2E1A7mutable7alignedEb5TupleIxdE8UniTupleIiLi3EE");
    REQUIRE(parameters.size() == 7);
    const unsigned counts[] = {7, 1, 1, 9, 1, 2, 3};
    for (size_t i = 0; i < 7; ++i) CHECK(parameters[i].count == counts[i]);
    CHECK(parameters[0].array);
    CHECK(parameters[0].element == "long long");
    CHECK(parameters[3].element == "float");
    CHECK_FALSE(parameters[1].array);
}

TEST_CASE("names: reading a mangled name ends before a type that is not known", "[names]") {
    CHECK(checks::numba_parameters("_ZN1a1kE6RecordIxEx").empty());
    CHECK(checks::numba_parameters("_ZN1a1kEx6RecordIxE").size() == 1);
    CHECK(checks::numba_parameters("saxpy").empty());
    CHECK(checks::numba_parameters("_ZN99999999a").empty());
    CHECK(checks::numba_parameters("_ZN1a1kE5ArrayIxLi1").empty());
}
