// SPDX-License-Identifier: MIT
// Devices, their properties and limits, error names, and several host threads.
#include <set>
#include <thread>

#include "device_lab.h"

TEST_CASE("devices: there are as many as were configured, and each thread has its own current one",
          "[device]") {
    lab::Device device;
    int count = 0, current = -1, other = -1;
    CHECK(cudaGetDeviceCount(&count) == cudaSuccess);
    CHECK(count == 2);
    CHECK(cudaSetDevice(2) == cudaErrorInvalidDevice);
    REQUIRE(cudaSetDevice(1) == cudaSuccess);
    std::thread([&] { cudaGetDevice(&other); }).join();
    CHECK(other == 0);
    CHECK(cudaGetDevice(&current) == cudaSuccess);
    CHECK(current == 1);
    void* pointer = nullptr;
    cudaPointerAttributes at;
    REQUIRE(cudaMalloc(&pointer, 4) == cudaSuccess);
    REQUIRE(cudaPointerGetAttributes(&at, pointer) == cudaSuccess);
    CHECK(at.device == 1);
    cudaSetDevice(0);
}

TEST_CASE("device properties: agree with the machine's limits and with the attributes",
          "[device]") {
    lab::Device device;
    const machine::Limits& limits = runtime::context().limits();
    cudaDeviceProp p;
    REQUIRE(cudaGetDeviceProperties(&p, 0) == cudaSuccess);
    CHECK(std::string(p.name) == "CUDA Workbook emulated device (compute capability 7.5)");
    CHECK(p.warpSize == 32);
    CHECK(p.maxThreadsPerBlock == int(limits.threads_per_block));
    CHECK(p.sharedMemPerBlock == limits.shared_per_block);
    CHECK(p.multiProcessorCount == int(limits.multiprocessors));
    CHECK(p.totalGlobalMem == runtime::context().memory.capacity());
    CHECK((p.major == 7 && p.minor == 5));
    const auto attribute = [](cudaDeviceAttr which) {
        int value = -1;
        CHECK(cudaDeviceGetAttribute(&value, which, 0) == cudaSuccess);
        return value;
    };
    CHECK(attribute(cudaDevAttrMaxThreadsPerBlock) == p.maxThreadsPerBlock);
    CHECK(attribute(cudaDevAttrMaxGridDimY) == p.maxGridSize[1]);
    CHECK(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) == int(p.sharedMemPerBlockOptin));
    CHECK(attribute(cudaDevAttrMultiProcessorCount) == p.multiProcessorCount);
    CHECK(attribute(cudaDevAttrComputeCapabilityMajor) == 7);
    CHECK(attribute(cudaDevAttrCooperativeLaunch) == 1);
    CHECK(attribute(cudaDevAttrClockRate) > 0);
    int value = 0;
    CHECK(cudaDeviceGetAttribute(&value, cudaDeviceAttr(255), 0) == cudaErrorInvalidValue);
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 7) == cudaErrorInvalidDevice);
    CHECK(cudaGetDeviceProperties(&p, -1) == cudaErrorInvalidDevice);
}

TEST_CASE("PCI bus ids: lead back to the device", "[device]") {
    lab::Device device;
    char text[32];
    int found = -1;
    REQUIRE(cudaDeviceGetPCIBusId(text, sizeof text, 1) == cudaSuccess);
    REQUIRE(cudaDeviceGetByPCIBusId(&found, text) == cudaSuccess);
    CHECK(found == 1);
    CHECK(cudaDeviceGetPCIBusId(text, 4, 1) == cudaErrorInvalidValue);
    CHECK(cudaDeviceGetByPCIBusId(&found, "0000:7f:00.0") == cudaErrorInvalidDevice);
    CHECK(cudaDeviceGetByPCIBusId(&found, "nonsense") == cudaErrorInvalidValue);
}

TEST_CASE("limits: what is set is what is read", "[device]") {
    lab::Device device;
    size_t value = 0;
    REQUIRE(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20) == cudaSuccess);
    REQUIRE(cudaDeviceGetLimit(&value, cudaLimitMallocHeapSize) == cudaSuccess);
    CHECK(value == 16 << 20);
    REQUIRE(cudaDeviceSetLimit(cudaLimitStackSize, 4000) == cudaSuccess);
    REQUIRE(cudaDeviceGetLimit(&value, cudaLimitStackSize) == cudaSuccess);
    CHECK(value == 4000);
    CHECK(cudaDeviceGetLimit(&value, cudaLimitDevRuntimeSyncDepth) == cudaErrorUnsupportedLimit);
    REQUIRE(cudaDeviceReset() == cudaSuccess);
    REQUIRE(cudaDeviceGetLimit(&value, cudaLimitStackSize) == cudaSuccess);
    CHECK(value == 1024);
}

TEST_CASE("peers: access is enabled and disabled once", "[device]") {
    lab::Device device;
    int can = 0;
    CHECK(cudaDeviceCanAccessPeer(&can, 0, 1) == cudaSuccess);
    CHECK(can == 1);
    CHECK(cudaDeviceCanAccessPeer(&can, 0, 0) == cudaSuccess);
    CHECK(can == 0);
    CHECK(cudaDeviceDisablePeerAccess(1) == cudaErrorPeerAccessNotEnabled);
    CHECK(cudaDeviceEnablePeerAccess(1, 0) == cudaSuccess);
    CHECK(cudaDeviceEnablePeerAccess(1, 0) == cudaErrorPeerAccessAlreadyEnabled);
    CHECK(cudaDeviceDisablePeerAccess(1) == cudaSuccess);
    CHECK(cudaDeviceEnablePeerAccess(0, 0) == cudaErrorInvalidDevice);
}

TEST_CASE("cudaDeviceReset: frees what is left on this device only, after saying so", "[device]") {
    lab::Device device;
    lab::device_array<char>(100);
    REQUIRE(cudaSetDevice(1) == cudaSuccess);
    lab::device_array<char>(200);
    REQUIRE(cudaSetDevice(0) == cudaSuccess);
    REQUIRE(cudaDeviceReset() == cudaSuccess);
    CHECK(device.seen.resets == std::vector<int>{0});
    REQUIRE(device.seen.freed.size() == 1);
    CHECK(device.seen.freed[0]->bytes == 100);
}

TEST_CASE("errors: every code has a name and a text", "[error]") {
    CHECK(std::string(cudaGetErrorName(cudaSuccess)) == "cudaSuccess");
    CHECK(std::string(cudaGetErrorName(cudaErrorInvalidValue)) == "cudaErrorInvalidValue");
    CHECK(std::string(cudaGetErrorString(cudaErrorInvalidValue)) == "invalid argument");
    CHECK(std::string(cudaGetErrorString(cudaErrorMemoryAllocation)) == "out of memory");
    CHECK(std::string(cudaGetErrorName(cudaErrorIllegalAddress)) == "cudaErrorIllegalAddress");
    CHECK(std::string(cudaGetErrorName(cudaError_t(4711))) == "unrecognized error code");
    std::set<std::string> names;
    for (int code = 0; code < 1000; ++code) {
        const std::string name = cudaGetErrorName(cudaError_t(code));
        if (name == "unrecognized error code") continue;
        CHECK(names.insert(name).second);
        CHECK(std::string(cudaGetErrorString(cudaError_t(code))).size() > 4);
    }
    CHECK(names.size() > 120);
}

TEST_CASE("last error: stored per thread, returned once, unchanged by success", "[error]") {
    lab::Device device;
    CHECK(cudaSetDevice(9) == cudaErrorInvalidDevice);
    int count = 0;
    CHECK(cudaGetDeviceCount(&count) == cudaSuccess);
    cudaError_t other = cudaErrorUnknown;
    std::thread([&] { other = cudaGetLastError(); }).join();
    CHECK(other == cudaSuccess);
    CHECK(cudaPeekAtLastError() == cudaErrorInvalidDevice);
    CHECK(cudaGetLastError() == cudaErrorInvalidDevice);
    CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("threads: many of them allocate, copy and free at the same time", "[device]") {
    lab::Device device;
    std::vector<std::thread> threads;
    std::vector<int> wrong(8, 1);
    for (size_t t = 0; t < wrong.size(); ++t) {
        threads.emplace_back([&, t] {
            int errors = 0;
            for (int round = 0; round < 50; ++round) {
                std::vector<int> host(64, int(t) * 1000 + round), back(64);
                void* data = nullptr;
                errors += cudaMalloc(&data, 256) != cudaSuccess;
                errors += cudaMemcpyAsync(
                    data, host.data(), 256, cudaMemcpyHostToDevice, cudaStreamPerThread);
                errors += cudaMemcpyAsync(
                    back.data(), data, 256, cudaMemcpyDeviceToHost, cudaStreamPerThread);
                errors += cudaStreamSynchronize(cudaStreamPerThread) != cudaSuccess;
                errors += back != host;
                errors += cudaFree(data) != cudaSuccess;
            }
            wrong[t] = errors;
        });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == std::vector<int>(8, 0));
}

TEST_CASE("versions: runtime and driver are those of the toolkit", "[device]") {
    int runtime_version = 0, driver = 0;
    CHECK(cudaRuntimeGetVersion(&runtime_version) == cudaSuccess);
    CHECK(cudaDriverGetVersion(&driver) == cudaSuccess);
    CHECK(runtime_version == CUDART_VERSION);
    CHECK(driver >= runtime_version);
}
