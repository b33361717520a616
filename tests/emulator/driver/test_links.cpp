// SPDX-License-Identifier: MIT
// What linked PTX texts see of one another, and texts and launches that the driver API refuses.
#include <string>
#include <vector>

#include "driver/driver_lab.h"

using lab::Driver;
using lab::kHeader;

TEST_CASE("driver: a text of a later PTX ISA has an error of its own", "[driver]") {
    Driver lab;
    CUmodule module = nullptr;
    CHECK(cuModuleLoadData(&module,
                           ".version 99.0\n.target sm_75\n.address_size 64\n"
                           ".visible .entry k() { ret; }\n") == CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
}

TEST_CASE("driver: launches with `extra` that holds nothing, and of blocks that .reqntid forbids",
          "[driver]") {
    Driver lab;
    CUmodule module = lab.load(".visible .entry empty() { ret; }\n"
                               ".visible .entry exact() .reqntid 8, 4 { ret; }\n");
    void* nothing[] = {CU_LAUNCH_PARAM_END};
    const auto launch = [&](const char* name, unsigned x, unsigned y) {
        return cuLaunchKernel(
            lab.function(module, name), 1, 1, 1, x, y, 1, 0, nullptr, nullptr, nothing);
    };
    CHECK(launch("empty", 1, 1) == CUDA_SUCCESS);
    CHECK(launch("exact", 8, 4) == CUDA_SUCCESS);
    CHECK(launch("exact", 32, 1) == CUDA_ERROR_INVALID_VALUE);
}

namespace {

// The first word that kernel `name` of a link of these texts stores, and the error of the link.
CUresult linked(Driver& lab, const std::vector<std::string>& texts,
                const std::vector<const char*>& kernels, std::vector<unsigned long long>& got) {
    CUlinkState state = nullptr;
    REQUIRE(cuLinkCreate_v2(0, nullptr, nullptr, &state) == CUDA_SUCCESS);
    for (const std::string& text : texts) {
        std::string whole = kHeader + text;
        REQUIRE(cuLinkAddData_v2(state,
                                 CU_JIT_INPUT_PTX,
                                 whole.data(),
                                 whole.size() + 1,
                                 "part",
                                 0,
                                 nullptr,
                                 nullptr) == CUDA_SUCCESS);
    }
    void* image = nullptr;
    size_t bytes = 0;
    const CUresult result = cuLinkComplete(state, &image, &bytes);
    if (result == CUDA_SUCCESS) {
        CUmodule module = nullptr;
        REQUIRE(cuModuleLoadData(&module, image) == CUDA_SUCCESS);
        CUdeviceptr out = 0;
        REQUIRE(cuMemAlloc_v2(&out, 8) == CUDA_SUCCESS);
        void* arguments[] = {&out};
        for (const char* kernel : kernels) {
            REQUIRE(cuMemsetD8_v2(out, 0, 8) == CUDA_SUCCESS);
            CHECK(cuLaunchKernel(lab.function(module, kernel),
                                 1,
                                 1,
                                 1,
                                 1,
                                 1,
                                 1,
                                 0,
                                 nullptr,
                                 arguments,
                                 nullptr) == CUDA_SUCCESS);
            got.push_back(0);
            REQUIRE(cuMemcpyDtoH_v2(&got.back(), out, 8) == CUDA_SUCCESS);
        }
        CHECK(cuMemFree_v2(out) == CUDA_SUCCESS);
    }
    CHECK(cuLinkDestroy(state) == CUDA_SUCCESS);
    return result;
}

std::string calls(const std::string& kernel) {
    return ".visible .entry " + kernel + R"((.param .u64 o) { .reg .b64 %o; .reg .b32 %r;
    ld.param.u64 %o, [o]; { .param .b32 b; call (b), which; ld.param.b32 %r, [b]; }
    st.global.u32 [%o], %r; ret; }
)";
}
std::string which(const std::string& linkage, int value) {
    return linkage + " .func (.param .b32 r) which() { st.param.b32 [r], " + std::to_string(value) +
           "; ret; }\n";
}

}  // namespace

TEST_CASE("driver: of several weak functions one counts, and a strong one before them",
          "[driver]") {
    Driver lab;
    std::vector<unsigned long long> got;
    REQUIRE(linked(lab,
                   {which(".weak", 1) + calls("first"), which(".weak", 2) + calls("second")},
                   {"first", "second"},
                   got) == CUDA_SUCCESS);
    CHECK(got[0] == got[1]);
    got.clear();
    REQUIRE(linked(lab,
                   {which(".weak", 1) + calls("first"), which(".visible", 2) + calls("second")},
                   {"first", "second"},
                   got) == CUDA_SUCCESS);
    CHECK(got == std::vector<unsigned long long>{2, 2});
    CHECK(linked(lab, {which(".visible", 1), which(".visible", 2)}, {}, got) ==
          CUDA_ERROR_INVALID_PTX);
}

TEST_CASE("driver: weak and common variables of several inputs are one", "[driver]") {
    Driver lab;
    const auto text = [](const std::string& variable, const std::string& kernel) {
        return variable + "\n.visible .entry " + kernel +
               "(.param .u64 o) { .reg .b64 %o, %a; ld.param.u64 %o, [o]; mov.u64 %a, shared_one; "
               "st.global.u64 [%o], %a; ret; }\n";
    };
    for (const std::string variable :
         {".common .global .align 4 .b32 shared_one;", ".weak .global .u32 shared_one = 3;"}) {
        CAPTURE(variable);
        std::vector<unsigned long long> got;
        REQUIRE(linked(lab,
                       {text(variable, "first"), text(variable, "second")},
                       {"first", "second"},
                       got) == CUDA_SUCCESS);
        CHECK(got[0] == got[1]);
    }
    std::vector<unsigned long long> got;
    REQUIRE(linked(lab,
                   {text(".weak .global .u32 shared_one = 3;", "first"),
                    text(".visible .global .u32 shared_one = 4;", "second")},
                   {"first", "second"},
                   got) == CUDA_SUCCESS);
    CHECK(got[0] == got[1]);
}

TEST_CASE("driver: a call of an undefined function is refused at the load, with its line",
          "[driver]") {
    Driver lab;
    const auto load = [&](const std::string& body, std::string& said) {
        char log[256] = "";
        CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
        void* values[] = {log, reinterpret_cast<void*>(size_t(256))};
        CUmodule module = nullptr;
        const CUresult result =
            cuModuleLoadDataEx(&module, (kHeader + body).c_str(), 2, options, values);
        said = log;
        return result;
    };
    std::string said;
    CHECK(
        load(
            ".extern .func other();\n.visible .entry k() {\n bra END;\n call other;\nEND: ret; }\n",
            said) == CUDA_ERROR_INVALID_PTX);
    CHECK(said.find("PTX line 7: the function `other` is called but not defined") !=
          std::string::npos);
    CHECK(load(".func other();\n.func caller() { call other; ret; }\n", said) ==
          CUDA_ERROR_INVALID_PTX);
    // Declared and not called, of the toolkit, an alias, defined further down.
    CHECK(load(".extern .func other();\n.visible .entry k() { ret; }\n", said) == CUDA_SUCCESS);
    CHECK(load(".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
               ".visible .entry k() { .param .b64 f; .param .b64 a; .param .b32 r;\n"
               "call (r), vprintf, (f, a); ret; }\n",
               said) == CUDA_SUCCESS);
    CHECK(load(".visible .func real() { ret; }\n.visible .func other();\n.alias other, real;\n"
               ".visible .entry k() { call other; ret; }\n",
               said) == CUDA_SUCCESS);
    CHECK(load(".func other();\n.visible .entry k() { call other; ret; }\n.func other() { ret; }\n",
               said) == CUDA_SUCCESS);
}

TEST_CASE("driver: a link accepts a declaration that is never used", "[driver]") {
    Driver lab;
    std::string text = kHeader + ".extern .func other();\n.visible .entry k() { ret; }\n";
    CUlinkState state = nullptr;
    REQUIRE(cuLinkCreate_v2(0, nullptr, nullptr, &state) == CUDA_SUCCESS);
    REQUIRE(cuLinkAddData_v2(
                state, CU_JIT_INPUT_PTX, text.data(), text.size(), "part", 0, nullptr, nullptr) ==
            CUDA_SUCCESS);
    void* image = nullptr;
    size_t bytes = 0;
    CHECK(cuLinkComplete(state, &image, &bytes) == CUDA_SUCCESS);
    CHECK(cuLinkDestroy(state) == CUDA_SUCCESS);
}
