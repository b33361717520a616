// SPDX-License-Identifier: MIT
// A program of the driver API alone, without the runtime API: PTX text, a launch, its results, and
// calls that must fail. Prints what happened.
#include <cstdio>
#include <vector>

#include <cuda.h>

#define OK(call)                                                                                   \
    do {                                                                                           \
        const CUresult result = (call);                                                            \
        if (result != CUDA_SUCCESS) {                                                              \
            const char* name = "?";                                                                \
            cuGetErrorName(result, &name);                                                         \
            std::printf("line %d: %s\n", __LINE__, name);                                          \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

static const char kIndex[] = R"(.version 7.0
.target sm_75
.address_size 64
.visible .entry index(.param .u64 out) {
    .reg .b32 %r<2>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r1;
    ret;
})";

int main() {
    CUdevice device = 0;
    CUcontext context = nullptr;
    std::printf("before cuInit: %d\n", int(cuCtxGetCurrent(&context)));
    OK(cuInit(0));
    OK(cuDeviceGet(&device, 0));
    OK(cuCtxCreate(&context, nullptr, 0, device));
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    OK(cuModuleLoadData(&module, kIndex));
    OK(cuModuleGetFunction(&function, module, "index"));
    CUdeviceptr out = 0;
    OK(cuMemAlloc(&out, 64 * 4));
    void* arguments[] = {&out};
    OK(cuLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr));
    std::vector<unsigned> numbers(64);
    OK(cuMemcpyDtoH(numbers.data(), out, 64 * 4));
    int wrong = 0;
    for (unsigned i = 0; i < 64; ++i) wrong += numbers[i] != i;
    std::printf("wrong: %d\n", wrong);
    CUmemGenericAllocationHandle handle = 0;
    std::printf("cuMemCreate: %d\n", int(cuMemCreate(&handle, 0, nullptr, 0)));
    void* found = nullptr;
    CUdriverProcAddressQueryResult how;
    OK(cuGetProcAddress("cuMemAlloc", &found, 12000, 0, &how));
    std::printf("cuMemAlloc: %s\n",
                found == reinterpret_cast<void*>(&cuMemAlloc) ? "same" : "other");
    OK(cuGetProcAddress("cuMemAlloc", &found, 2000, 0, &how));
    std::printf("cuMemAlloc of CUDA 2.0: %s\n",
                found == reinterpret_cast<void*>(&cuMemAlloc) ? "same" : "other");
    std::printf("cuNobody: %d\n", int(cuGetProcAddress("cuNobody", &found, 12000, 0, nullptr)));
    // One thread too many for the buffer: a finding, on this line.
    OK(cuLaunchKernel(function, 1, 1, 1, 65, 1, 1, 0, nullptr, arguments, nullptr));
    OK(cuCtxSynchronize());
    OK(cuMemFree(out));
    OK(cuModuleUnload(module));
    OK(cuCtxDestroy(context));
    return 0;
}
