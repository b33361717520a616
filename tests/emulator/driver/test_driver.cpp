// SPDX-License-Identifier: MIT
// The driver API on the same devices as the runtime API: contexts, modules, launches, logs, links.
#include <cstring>
#include <string>
#include <vector>

#include "driver/driver_lab.h"

using lab::Driver;
using lab::kHeader;

namespace {

const std::string kAdd = R"(
.visible .global .align 4 .u32 calls;
.visible .entry add(.param .u64 out, .param .u32 n, .param .u32 k) {
    .reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [n]; ld.param.u32 %r6, [k];
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p1, %r5, %r1;
    @%p1 bra done;
    cvta.to.global.u64 %rd2, %rd1; mul.wide.u32 %rd3, %r5, 4; add.s64 %rd2, %rd2, %rd3;
    add.u32 %r5, %r5, %r6;
    st.global.u32 [%rd2], %r5;
    red.global.add.u32 [calls], 1;
done:
    ret;
}
)";

std::vector<unsigned> numbers(CUdeviceptr from, size_t count) {
    std::vector<unsigned> out(count);
    REQUIRE(cuMemcpyDtoH_v2(out.data(), from, count * 4) == CUDA_SUCCESS);
    return out;
}

}  // namespace

TEST_CASE("driver: a kernel of PTX text runs with kernelParams", "[driver]") {
    Driver lab;
    CUdeviceptr out = 0;
    REQUIRE(cuMemAlloc_v2(&out, 400) == CUDA_SUCCESS);
    unsigned n = 100, k = 7;
    void* arguments[] = {&out, &n, &k};
    CUmodule module = lab.load(kAdd);
    CHECK(cuLaunchKernel(
              lab.function(module, "add"), 4, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr) ==
          CUDA_SUCCESS);
    CHECK(cuCtxSynchronize() == CUDA_SUCCESS);
    const auto got = numbers(out, n);
    for (unsigned i = 0; i < n; ++i) CHECK(got[i] == i + k);
    CUdeviceptr calls = 0;
    size_t bytes = 0;
    REQUIRE(cuModuleGetGlobal_v2(&calls, &bytes, module, "calls") == CUDA_SUCCESS);
    CHECK(bytes == 4);
    CHECK(numbers(calls, 1)[0] == 100);
    CHECK(cuMemFree_v2(out) == CUDA_SUCCESS);
}

TEST_CASE("driver: a launch takes its parameters from a buffer", "[driver]") {
    Driver lab;
    CUdeviceptr out = 0;
    REQUIRE(cuMemAlloc_v2(&out, 128) == CUDA_SUCCESS);
    struct {
        CUdeviceptr out;
        unsigned n, k;
    } buffer{out, 32, 9};
    size_t bytes = sizeof buffer;
    void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER,
                     &buffer,
                     CU_LAUNCH_PARAM_BUFFER_SIZE,
                     &bytes,
                     CU_LAUNCH_PARAM_END};
    const CUfunction add = lab.function(lab.load(kAdd), "add");
    CHECK(cuLaunchKernel(add, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, extra) == CUDA_SUCCESS);
    CHECK(numbers(out, 32)[31] == 40);
    bytes = 8;  // shorter than the parameters
    CHECK(cuLaunchKernel(add, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, extra) ==
          CUDA_ERROR_INVALID_VALUE);
    CHECK(cuMemFree_v2(out) == CUDA_SUCCESS);
}

TEST_CASE("driver: a text that is not PTX is refused with its line in the log", "[driver]") {
    Driver lab;
    char log[256] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
    CUmodule module = nullptr;
    const std::string text = kHeader + ".visible .entry k() {\n    mov.u32 %r1, ;\n}\n";
    CHECK(cuModuleLoadDataEx(&module, text.c_str(), 2, options, values) == CUDA_ERROR_INVALID_PTX);
    CHECK(std::string(log).find("line 5") != std::string::npos);
    CHECK(reinterpret_cast<size_t>(values[1]) == std::strlen(log));
    CHECK(cuModuleLoadData(&module,
                           "\x7f"
                           "ELF\2\1\1") == CUDA_ERROR_NO_BINARY_FOR_GPU);
}

TEST_CASE("driver: PTX for a newer device is refused if the device was chosen", "[driver]") {
    Driver lab;
    const auto load = [](const std::string& target) {
        CUmodule module = nullptr;
        const std::string text = ".version 7.8\n.target " + target +
                                 "\n.address_size 64\n.visible .entry k() { ret; }\n";
        const CUresult result = cuModuleLoadData(&module, text.c_str());
        if (result == CUDA_SUCCESS) CHECK(cuModuleUnload(module) == CUDA_SUCCESS);
        return result;
    };
    const unsigned own = runtime::context().machine(0).limits().arch;
    REQUIRE(own < 120);
    CHECK(load("sm_" + std::to_string(own)) == CUDA_SUCCESS);
    CHECK(load("sm_70") == CUDA_SUCCESS);
    CHECK(load("sm_120") == CUDA_SUCCESS);
    runtime::Settings& settings = runtime::context().settings;
    settings.arch = own;  // as by EMULATOR_ARCH
    CHECK(load("sm_120") == CUDA_ERROR_INVALID_PTX);
    settings.arch = 0;
}

TEST_CASE("driver: an instruction that cannot run is refused when its kernel is asked for",
          "[driver]") {
    Driver lab;
    CUmodule module = lab.load(".visible .entry good() { ret; }\n"
                               ".visible .entry bad() { wgmma.fence.sync.aligned; ret; }\n");
    CUfunction function = nullptr;
    CHECK(cuModuleGetFunction(&function, module, "good") == CUDA_SUCCESS);
    CHECK(cuModuleGetFunction(&function, module, "bad") == CUDA_ERROR_NOT_SUPPORTED);
    CHECK(cuModuleGetFunction(&function, module, "none") == CUDA_ERROR_NOT_FOUND);
}

TEST_CASE("driver: modules do not see one another's names", "[driver]") {
    Driver lab;
    const std::string variable = ".visible .global .align 4 .u32 shared_name = 1;\n";
    CUmodule one = lab.load(variable), two = lab.load(variable);
    CUdeviceptr a = 0, b = 0;
    REQUIRE(cuModuleGetGlobal_v2(&a, nullptr, one, "shared_name") == CUDA_SUCCESS);
    REQUIRE(cuModuleGetGlobal_v2(&b, nullptr, two, "shared_name") == CUDA_SUCCESS);
    CHECK(a != b);
    CUmodule user = lab.load(".extern .global .align 4 .u32 shared_name;\n"
                             ".visible .entry k() { .reg .b32 %r<2>;\n"
                             "    ld.global.u32 %r1, [shared_name]; ret; }\n");
    CUfunction function = nullptr;
    CHECK(cuModuleGetFunction(&function, user, "k") == CUDA_ERROR_NOT_SUPPORTED);
}

TEST_CASE("driver: an unloaded module's handles and variables are gone", "[driver]") {
    Driver lab;
    CUmodule module = lab.load(kAdd);
    const CUfunction add = lab.function(module, "add");
    CUdeviceptr calls = 0;
    REQUIRE(cuModuleGetGlobal_v2(&calls, nullptr, module, "calls") == CUDA_SUCCESS);
    CHECK(cuModuleUnload(module) == CUDA_SUCCESS);
    CHECK(cuModuleUnload(module) == CUDA_ERROR_INVALID_HANDLE);
    CHECK(cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr) ==
          CUDA_ERROR_INVALID_HANDLE);
    unsigned value = 0;
    CHECK(cuMemcpyDtoH_v2(&value, calls, 4) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("driver: linking joins texts, and finds what is missing or twice there", "[driver]") {
    Driver lab;
    std::string callee = kHeader + ".visible .func (.param .b32 out) twice(.param .b32 in) {\n"
                                   "    .reg .b32 %r<3>; ld.param.u32 %r1, [in];\n"
                                   "    add.u32 %r2, %r1, %r1; st.param.b32 [out], %r2; ret; }\n";
    std::string caller = kHeader +
                         ".extern .func (.param .b32 out) twice(.param .b32 in);\n"
                         ".visible .entry k(.param .u64 p) { .reg .b32 %r<3>; .reg .b64 %rd<2>;\n"
                         "    ld.param.u64 %rd1, [p];\n"
                         "    { .param .b32 a; .param .b32 r; st.param.b32 [a], 21;\n"
                         "      call (r), twice, (a); ld.param.b32 %r1, [r]; }\n"
                         "    st.global.u32 [%rd1], %r1; ret; }\n";
    const auto link = [&](std::vector<std::string*> texts, char* log, void** image) {
        CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
        void* values[] = {log, reinterpret_cast<void*>(size_t(256))};
        CUlinkState state = nullptr;
        REQUIRE(cuLinkCreate_v2(2, options, values, &state) == CUDA_SUCCESS);
        for (std::string* text : texts)
            REQUIRE(cuLinkAddData_v2(state,
                                     CU_JIT_INPUT_PTX,
                                     text->data(),
                                     text->size(),
                                     "part",
                                     0,
                                     nullptr,
                                     nullptr) == CUDA_SUCCESS);
        size_t bytes = 0;
        const CUresult result = cuLinkComplete(state, image, &bytes);
        if (result == CUDA_SUCCESS) {
            CUmodule module = nullptr;
            REQUIRE(cuModuleLoadData(&module, *image) == CUDA_SUCCESS);
            CUdeviceptr out = 0;
            REQUIRE(cuMemAlloc_v2(&out, 4) == CUDA_SUCCESS);
            void* arguments[] = {&out};
            CHECK(
                cuLaunchKernel(
                    lab.function(module, "k"), 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr) ==
                CUDA_SUCCESS);
            CHECK(numbers(out, 1)[0] == 42);
            CHECK(cuMemFree_v2(out) == CUDA_SUCCESS);
        }
        CHECK(cuLinkDestroy(state) == CUDA_SUCCESS);
        return result;
    };
    char log[256] = "";
    void* image = nullptr;
    CHECK(link({&callee, &caller}, log, &image) == CUDA_SUCCESS);
    CHECK(link({&caller}, log, &image) == CUDA_ERROR_INVALID_PTX);
    CHECK(std::string(log).find("`twice` is used") != std::string::npos);
    CHECK(link({&callee, &callee}, log, &image) == CUDA_ERROR_INVALID_PTX);
    CHECK(std::string(log).find("`twice` is defined") != std::string::npos);
}

TEST_CASE("driver: a thread's contexts are a stack", "[driver]") {
    Driver lab;
    CUcontext second = nullptr, found = nullptr;
    REQUIRE(cuCtxCreate_v2(&second, 0, 1) == CUDA_SUCCESS);
    CUdevice device = -1;
    CHECK(cuCtxGetDevice(&device) == CUDA_SUCCESS);
    CHECK(device == 1);
    CHECK(cuCtxPopCurrent_v2(&found) == CUDA_SUCCESS);
    CHECK(found == second);
    CHECK(cuCtxGetCurrent(&found) == CUDA_SUCCESS);
    CHECK(found == lab.context);
    CHECK(cuCtxGetDevice(&device) == CUDA_SUCCESS);
    CHECK(device == 0);
    CHECK(cuCtxDestroy_v2(second) == CUDA_SUCCESS);
    CHECK(cuCtxPushCurrent_v2(second) == CUDA_ERROR_INVALID_CONTEXT);
    CHECK(cuCtxPopCurrent_v2(&found) == CUDA_SUCCESS);
    CUdeviceptr out = 0;
    CHECK(cuMemAlloc_v2(&out, 4) == CUDA_ERROR_INVALID_CONTEXT);
}

TEST_CASE("driver: the runtime API works in the primary context, on the same memory", "[driver]") {
    Driver lab;
    CUcontext primary = nullptr, found = nullptr;
    REQUIRE(cuDevicePrimaryCtxRetain(&primary, 0) == CUDA_SUCCESS);
    REQUIRE(cuCtxSetCurrent(nullptr) == CUDA_SUCCESS);
    REQUIRE(cudaSetDevice(0) == cudaSuccess);
    CHECK(cuCtxGetCurrent(&found) == CUDA_SUCCESS);
    CHECK(found == primary);
    unsigned* memory = lab::device_array<unsigned>(8);
    const CUdeviceptr address = reinterpret_cast<CUdeviceptr>(memory);
    CHECK(cuMemsetD32_v2(address, 5, 8) == CUDA_SUCCESS);
    CHECK(numbers(address, 8) == std::vector<unsigned>(8, 5));
    unsigned type = 0;
    CHECK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address) == CUDA_SUCCESS);
    CHECK(type == CU_MEMORYTYPE_DEVICE);
    CHECK(cuMemFree_v2(address) == CUDA_SUCCESS);
    CHECK(cuDevicePrimaryCtxRelease_v2(0) == CUDA_SUCCESS);
}

TEST_CASE("driver: its errors are not the runtime's last error", "[driver]") {
    Driver lab;
    cudaGetLastError();
    CHECK(cuMemFree_v2(0x1234) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cudaGetLastError() == cudaSuccess);
    REQUIRE(lab.seen.api.size() == 1);
    CHECK(std::string(lab.seen.api[0].api) == "cuMemFree");
}

TEST_CASE("driver: names of errors, functions and versions", "[driver]") {
    const char* text = nullptr;
    CHECK(cuGetErrorName(CUDA_ERROR_INVALID_PTX, &text) == CUDA_SUCCESS);
    CHECK(std::string(text) == "CUDA_ERROR_INVALID_PTX");
    CHECK(cuGetErrorName(CUresult(4711), &text) == CUDA_ERROR_INVALID_VALUE);
    CHECK(text == nullptr);
    CHECK(cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text) == CUDA_SUCCESS);
    CHECK(std::string(text) == "out of memory");
}

TEST_CASE("driver: boxes are copied with their pitches and offsets", "[driver]") {
    Driver lab;
    CUdeviceptr to = 0;
    size_t pitch = 0;
    REQUIRE(cuMemAllocPitch_v2(&to, &pitch, 20, 6, 4) == CUDA_SUCCESS);
    std::vector<unsigned char> from(64), back(12);
    for (size_t i = 0; i < from.size(); ++i) from[i] = (unsigned char)i;
    CUDA_MEMCPY2D box{};
    box.srcMemoryType = CU_MEMORYTYPE_HOST, box.srcHost = from.data(), box.srcPitch = 8;
    box.dstMemoryType = CU_MEMORYTYPE_DEVICE, box.dstDevice = to, box.dstPitch = pitch;
    box.srcXInBytes = 2, box.srcY = 1, box.dstXInBytes = 3, box.dstY = 2;
    box.WidthInBytes = 4, box.Height = 3;
    CHECK(cuMemcpy2D_v2(&box) == CUDA_SUCCESS);
    CUDA_MEMCPY2D home{};
    home.srcMemoryType = CU_MEMORYTYPE_DEVICE, home.srcDevice = to, home.srcPitch = pitch;
    home.dstMemoryType = CU_MEMORYTYPE_HOST, home.dstHost = back.data(), home.dstPitch = 4;
    home.srcXInBytes = 3, home.srcY = 2, home.WidthInBytes = 4, home.Height = 3;
    CHECK(cuMemcpy2D_v2(&home) == CUDA_SUCCESS);
    for (unsigned row = 0; row < 3; ++row)
        for (unsigned x = 0; x < 4; ++x) CHECK(back[row * 4 + x] == (row + 1) * 8 + x + 2);
    CHECK(cuMemFree_v2(to) == CUDA_SUCCESS);
}
