// SPDX-License-Identifier: MIT
// Sentences of the CUDA Runtime API documentation (in quotes) and what a program sees of them.
#include <thread>

#include "runtime/core/device_properties.h"
#include "runtime/device_lab.h"

namespace {

cudaMemPool_t new_pool() {
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location = {cudaMemLocationTypeDevice, 0};
    cudaMemPool_t pool = nullptr;
    REQUIRE(cudaMemPoolCreate(&pool, &properties) == cudaSuccess);
    return pool;
}
uint64_t number(cudaMemPool_t pool, cudaMemPoolAttr attribute) {
    uint64_t value = ~0ull;
    REQUIRE(cudaMemPoolGetAttribute(pool, attribute, &value) == cudaSuccess);
    return value;
}

}  // namespace

TEST_CASE("documented: a pool counts what was allocated from it, and nothing else", "[pools]") {
    // "Amount of memory from the pool that is currently in use by the application."
    lab::Device device;
    const cudaMemPool_t pool = new_pool();
    void *mine = nullptr, *other = nullptr;
    REQUIRE(cudaMallocFromPoolAsync(&mine, 3 << 20, pool, nullptr) == cudaSuccess);
    REQUIRE(cudaMalloc(&other, 1 << 20) == cudaSuccess);
    CHECK(number(pool, cudaMemPoolAttrUsedMemCurrent) == 3 << 20);
    CHECK(cudaFreeAsync(mine, nullptr) == cudaSuccess);
    CHECK(number(pool, cudaMemPoolAttrUsedMemCurrent) == 0);
    CHECK(number(pool, cudaMemPoolAttrUsedMemHigh) == 3 << 20);
    CHECK(cudaFree(other) == cudaSuccess);
    CHECK(cudaMemPoolDestroy(pool) == cudaSuccess);
}

TEST_CASE("documented: a pool gives memory back at a synchronisation", "[pools]") {
    // "When more than the release threshold bytes of memory are held by the memory pool, the
    // allocator will try to release memory back to the OS on the next call to stream, event or
    // context synchronize."
    lab::Device device;
    const cudaMemPool_t pool = new_pool();
    void* memory = nullptr;
    REQUIRE(cudaMallocFromPoolAsync(&memory, 8 << 20, pool, nullptr) == cudaSuccess);
    REQUIRE(cudaFreeAsync(memory, nullptr) == cudaSuccess);
    CHECK(number(pool, cudaMemPoolAttrReservedMemCurrent) == 8 << 20);
    uint64_t threshold = 4 << 20;
    REQUIRE(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold) ==
            cudaSuccess);
    REQUIRE(cudaStreamSynchronize(nullptr) == cudaSuccess);
    CHECK(number(pool, cudaMemPoolAttrReservedMemCurrent) == 4 << 20);
    // "Releases memory back to the OS until the pool contains fewer than minBytesToKeep reserved
    // bytes."
    REQUIRE(cudaMemPoolTrimTo(pool, 0) == cudaSuccess);
    CHECK(number(pool, cudaMemPoolAttrReservedMemCurrent) == 0);
    CHECK(cudaMemPoolDestroy(pool) == cudaSuccess);
    CHECK(cudaMallocFromPoolAsync(&memory, 4, pool, nullptr) == cudaErrorInvalidValue);
}

TEST_CASE("documented: a threshold of UINT64_MAX keeps everything", "[pools]") {
    lab::Device device;
    const cudaMemPool_t pool = new_pool();
    uint64_t all = UINT64_MAX;
    REQUIRE(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all) == cudaSuccess);
    void* memory = nullptr;
    REQUIRE(cudaMallocFromPoolAsync(&memory, 8 << 20, pool, nullptr) == cudaSuccess);
    REQUIRE(cudaFreeAsync(memory, nullptr) == cudaSuccess);
    REQUIRE(cudaStreamSynchronize(nullptr) == cudaSuccess);
    CHECK(number(pool, cudaMemPoolAttrReservedMemCurrent) == 8 << 20);
    REQUIRE(cudaMemPoolTrimTo(pool, SIZE_MAX) == cudaSuccess);
    CHECK(number(pool, cudaMemPoolAttrReservedMemCurrent) == 8 << 20);
    CHECK(cudaMemPoolDestroy(pool) == cudaSuccess);
}

TEST_CASE("documented: a host function must not call the API", "[streams]") {
    // "The host function must not make any CUDA API calls. Attempting to use a CUDA API may result
    // in cudaErrorNotPermitted."
    lab::Device device;
    cudaError_t inside = cudaSuccess;
    const auto body = [](void* data) {
        void* memory = nullptr;
        *static_cast<cudaError_t*>(data) = cudaMalloc(&memory, 4);
    };
    REQUIRE(cudaLaunchHostFunc(nullptr, body, &inside) == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(inside == cudaErrorNotPermitted);
    void* memory = nullptr;
    CHECK(cudaMalloc(&memory, 4) == cudaSuccess);
    CHECK(cudaFree(memory) == cudaSuccess);
}

TEST_CASE("documented: advice and prefetches of managed memory can be asked for", "[managed]") {
    lab::Device device;
    void* memory = nullptr;
    REQUIRE(cudaMallocManaged(&memory, 4096) == cudaSuccess);
    int value = 0;
    const auto ask = [&](cudaMemRangeAttribute attribute) {
        REQUIRE(cudaMemRangeGetAttribute(&value, 4, attribute, memory, 4096) == cudaSuccess);
        return value;
    };
    // "If no such location was specified ... cudaInvalidDeviceId will be returned."
    CHECK(ask(cudaMemRangeAttributePreferredLocation) == cudaInvalidDeviceId);
    CHECK(ask(cudaMemRangeAttributeReadMostly) == 0);
    const cudaMemLocation host{cudaMemLocationTypeHost, 0}, card{cudaMemLocationTypeDevice, 1};
    REQUIRE(cudaMemAdvise(memory, 4096, cudaMemAdviseSetPreferredLocation, host) == cudaSuccess);
    REQUIRE(cudaMemAdvise(memory, 4096, cudaMemAdviseSetReadMostly, host) == cudaSuccess);
    REQUIRE(cudaMemAdvise(memory, 4096, cudaMemAdviseSetAccessedBy, card) == cudaSuccess);
    REQUIRE(cudaMemPrefetchAsync(memory, 4096, card, 0, nullptr) == cudaSuccess);
    CHECK(ask(cudaMemRangeAttributePreferredLocation) == cudaCpuDeviceId);
    CHECK(ask(cudaMemRangeAttributeReadMostly) == 1);
    CHECK(ask(cudaMemRangeAttributeLastPrefetchLocation) == 1);
    int who[2] = {};
    REQUIRE(cudaMemRangeGetAttribute(who, 8, cudaMemRangeAttributeAccessedBy, memory, 4096) ==
            cudaSuccess);
    CHECK(who[0] == 1);
    CHECK(who[1] == cudaInvalidDeviceId);
    CHECK(cudaFree(memory) == cudaSuccess);
}

TEST_CASE("documented: a kernel reaches a peer's memory only after access is enabled", "[peers]") {
    // "On success, all allocations from peerDevice will immediately be accessible by the current
    // device. They will remain accessible until access is explicitly disabled."
    lab::Device device;
    lab::Program program(lab::kStoreIndex);
    const void* const kernel = program.kernel("store_index");
    REQUIRE(cudaSetDevice(1) == cudaSuccess);
    unsigned* out = lab::device_array<unsigned>(32);
    unsigned n = 32;
    REQUIRE(cudaSetDevice(0) == cudaSuccess);
    const auto launch = [&] {
        lab::stub_launch(kernel, 1, 32, {&out, &n});
        return cudaDeviceSynchronize();
    };
    REQUIRE(cudaDeviceEnablePeerAccess(1, 0) == cudaSuccess);
    CHECK(launch() == cudaSuccess);
    CHECK(cudaDeviceEnablePeerAccess(1, 0) == cudaErrorPeerAccessAlreadyEnabled);
    cudaGetLastError();
    unsigned back[32] = {};
    REQUIRE(cudaMemcpy(back, out, sizeof back, cudaMemcpyDefault) == cudaSuccess);
    CHECK(back[31] == 31);
    REQUIRE(cudaDeviceReset() == cudaSuccess);
    CHECK(launch() == cudaErrorIllegalAddress);
    REQUIRE(cudaDeviceReset() == cudaSuccess);
    REQUIRE(cudaSetDevice(1) == cudaSuccess);
    CHECK(cudaFree(out) == cudaSuccess);
    REQUIRE(cudaSetDevice(0) == cudaSuccess);
}

TEST_CASE("documented: a managed variable is one place for all devices", "[managed]") {
    lab::Device device;
    lab::Program program(".visible .global .attribute(.managed) .align 4 .u32 total;\n"
                         ".visible .entry one() { .reg .b64 %rd<2>; .reg .b32 %r<2>;\n"
                         "    red.global.add.u32 [total], 1; ret; }\n");
    void* host = nullptr;
    __cudaRegisterManagedVar(program.handle, &host, nullptr, "total", 0, 4, 0, 0);
    const void* const kernel = program.kernel("one");
    for (const int which : {0, 1}) {
        REQUIRE(cudaSetDevice(which) == cudaSuccess);
        lab::stub_launch(kernel, 1, 1, {});
        REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    }
    REQUIRE(host != nullptr);
    CHECK(*static_cast<unsigned*>(host) == 2);
    REQUIRE(cudaSetDevice(0) == cudaSuccess);
}

TEST_CASE("documented: an API error is returned once, a fault until the reset", "[errors]") {
    // "Returns the last error that has been produced by any of the runtime calls in the same
    // instance of the CUDA Runtime library in the host thread and resets it to cudaSuccess."
    lab::Device device;
    CHECK(cudaMalloc(nullptr, 4) == cudaErrorInvalidValue);
    CHECK(cudaPeekAtLastError() == cudaErrorInvalidValue);
    cudaError_t elsewhere = cudaErrorUnknown;
    std::thread([&] { elsewhere = cudaGetLastError(); }).join();
    CHECK(elsewhere == cudaSuccess);
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
    CHECK(cudaGetLastError() == cudaSuccess);
    // "This leaves the process in an inconsistent state and any further CUDA work will return the
    // same error."
    lab::Program program(lab::kTrap);
    lab::stub_launch(program.kernel("traps"), 1, 1, {});
    CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
    void* memory = nullptr;
    for (int i = 0; i < 2; ++i) {
        CHECK(cudaMalloc(&memory, 4) == cudaErrorLaunchFailure);
        CHECK(cudaGetLastError() == cudaErrorLaunchFailure);
    }
    REQUIRE(cudaDeviceReset() == cudaSuccess);
    CHECK(cudaMalloc(&memory, 4) == cudaSuccess);
    CHECK(cudaFree(memory) == cudaSuccess);
}

TEST_CASE("documented: events without timing measure none", "[events]") {
    // cudaEventElapsedTime: "If either event has not been recorded ... or was created with the
    // cudaEventDisableTiming flag, then cudaErrorInvalidResourceHandle is returned."
    lab::Device device;
    cudaEvent_t timed = nullptr, untimed = nullptr, fresh = nullptr;
    REQUIRE(cudaEventCreate(&timed) == cudaSuccess);
    REQUIRE(cudaEventCreate(&fresh) == cudaSuccess);
    REQUIRE(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming) == cudaSuccess);
    REQUIRE(cudaEventRecord(timed) == cudaSuccess);
    REQUIRE(cudaEventRecord(untimed) == cudaSuccess);
    float time = -1;
    CHECK(cudaEventElapsedTime(&time, timed, timed) == cudaSuccess);
    CHECK(cudaEventElapsedTime(&time, timed, untimed) == cudaErrorInvalidResourceHandle);
    CHECK(cudaEventElapsedTime(&time, timed, fresh) == cudaErrorInvalidResourceHandle);
    for (const cudaEvent_t event : {timed, untimed, fresh})
        CHECK(cudaEventDestroy(event) == cudaSuccess);
    cudaGetLastError();
}

TEST_CASE("documented: each compute capability has the limits of its table", "[properties]") {
    struct Row {
        unsigned arch, threads, blocks, shared, optin;
    };
    const Row rows[] = {{75, 1024, 16, 65536, 65536},
                        {80, 2048, 32, 167936, 166912},
                        {86, 1536, 16, 102400, 101376},
                        {89, 1536, 24, 102400, 101376},
                        {90, 2048, 32, 233472, 232448}};
    for (const Row& row : rows) {
        CAPTURE(row.arch);
        const machine::Limits limits = runtime::limits_of(row.arch);
        CHECK(limits.arch == row.arch);
        CHECK(limits.threads_per_multiprocessor == row.threads);
        CHECK(limits.blocks_per_multiprocessor == row.blocks);
        CHECK(limits.shared_per_multiprocessor == row.shared);
        CHECK(limits.shared_per_block_optin == row.optin);
    }
    CHECK(runtime::supported_arch(0) == 75);
    CHECK(runtime::supported_arch(88) == 87);
    CHECK(runtime::supported_arch(91) == 90);
}
