// SPDX-License-Identifier: MIT
// Device code that is compiled while the program runs (NVRTC), for the architecture of the device
// that it finds, and launched through the driver API.
#include <cstdio>
#include <string>
#include <vector>

#include <cuda.h>
#include <nvrtc.h>

#define OK(call)                                                                                   \
    do {                                                                                           \
        if (const int result = int(call)) {                                                        \
            std::printf("line %d: %d\n", __LINE__, result);                                        \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

static const char kSource[] = R"(
template <class T>
__global__ void axpy(T a, const T* x, T* y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
)";

int main() {
    CUdevice device = 0;
    int major = 0, minor = 0;
    OK(cuInit(0));
    OK(cuDeviceGet(&device, 0));
    OK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
    OK(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device));
    nvrtcProgram program = nullptr;
    OK(nvrtcCreateProgram(&program, kSource, "axpy.cu", 0, nullptr, nullptr));
    OK(nvrtcAddNameExpression(program, "axpy<float>"));
    const std::string arch =
        "--gpu-architecture=compute_" + std::to_string(major) + std::to_string(minor);
    const char* options[] = {arch.c_str(), "-lineinfo"};
    OK(nvrtcCompileProgram(program, 2, options));
    const char* name = nullptr;
    size_t bytes = 0;
    OK(nvrtcGetLoweredName(program, "axpy<float>", &name));
    OK(nvrtcGetPTXSize(program, &bytes));
    std::string ptx(bytes, 0);
    OK(nvrtcGetPTX(program, ptx.data()));

    CUcontext context = nullptr;
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    OK(cuDevicePrimaryCtxRetain(&context, device));
    OK(cuCtxSetCurrent(context));
    OK(cuModuleLoadData(&module, ptx.c_str()));
    OK(cuModuleGetFunction(&function, module, name));
    int n = 1000;
    float a = 3;
    std::vector<float> x(n, 2), y(n, 1);
    CUdeviceptr d_x = 0, d_y = 0;
    OK(cuMemAlloc(&d_x, n * sizeof(float)));
    OK(cuMemAlloc(&d_y, n * sizeof(float)));
    OK(cuMemcpyHtoD(d_x, x.data(), n * sizeof(float)));
    OK(cuMemcpyHtoD(d_y, y.data(), n * sizeof(float)));
    void* arguments[] = {&a, &d_x, &d_y, &n};
    OK(cuLaunchKernel(function, 4, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr));
    OK(cuMemcpyDtoH(y.data(), d_y, n * sizeof(float)));
    int wrong = 0;
    for (const float value : y) wrong += value != 7;
    std::printf("wrong: %d\n", wrong);
    OK(cuMemFree(d_x));
    OK(cuMemFree(d_y));
    OK(cuModuleUnload(module));
    OK(cuDevicePrimaryCtxRelease(device));
    OK(nvrtcDestroyProgram(&program));
    return 0;
}
