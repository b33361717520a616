// SPDX-License-Identifier: MIT
// Allocating and freeing through the API.
#include "device_lab.h"

using Kind = machine::ApiEvent::Kind;

TEST_CASE("cudaMalloc: gives aligned memory that the host cannot touch", "[memory]") {
    lab::Device device;
    void* pointer = nullptr;
    REQUIRE(cudaMalloc(&pointer, 1000) == cudaSuccess);
    CHECK(reinterpret_cast<uint64_t>(pointer) % 256 == 0);
    REQUIRE(device.seen.allocated.size() == 1);
    CHECK(device.seen.allocated[0]->bytes == 1000);
    CHECK(runtime::context().memory.is_device_address(reinterpret_cast<uint64_t>(pointer)));
    CHECK(cudaFree(pointer) == cudaSuccess);
    CHECK(device.seen.freed == device.seen.allocated);
}

TEST_CASE("cudaMalloc: zero bytes are a null pointer and no error", "[memory]") {
    lab::Device device;
    void* pointer = &device;
    CHECK(cudaMalloc(&pointer, 0) == cudaSuccess);
    CHECK(pointer == nullptr);
    CHECK(cudaMalloc(nullptr, 16) == cudaErrorInvalidValue);
}

TEST_CASE("cudaMalloc: fails when the device is full, and cudaMemGetInfo tells", "[memory]") {
    lab::Device device;
    size_t free_bytes = 0, total = 0, later = 0;
    REQUIRE(cudaMemGetInfo(&free_bytes, &total) == cudaSuccess);
    CHECK(free_bytes == total);
    void *big = nullptr, *more = nullptr;
    REQUIRE(cudaMalloc(&big, total - 4096) == cudaSuccess);
    REQUIRE(cudaMemGetInfo(&later, &total) == cudaSuccess);
    CHECK(later == 4096);
    CHECK(cudaMalloc(&more, 8192) == cudaErrorMemoryAllocation);
    CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
    CHECK(cudaMalloc(&more, ~size_t(0)) == cudaErrorMemoryAllocation);
    CHECK(cudaFree(big) == cudaSuccess);
    CHECK(cudaMalloc(&more, 8192) == cudaSuccess);
}

TEST_CASE("cudaFree: null is fine, a second free is reported with the place of the first",
          "[memory]") {
    lab::Device device;
    CHECK(cudaFree(nullptr) == cudaSuccess);
    char* data = lab::device_array<char>(1000);
    REQUIRE(cudaFree(data) == cudaSuccess);
    CHECK(cudaFree(data) == cudaErrorInvalidValue);
    REQUIRE(device.seen.api.size() == 1);
    CHECK(device.seen.api[0].kind == Kind::kDoubleFree);
    CHECK(device.seen.api[0].message ==
          "`cudaFree` frees an allocation of 1000 bytes that has already been freed");
    CHECK(device.seen.api[0].allocation == device.seen.freed[0]);
}

TEST_CASE("cudaFree: only the start of an allocation of its own kind can be freed", "[memory]") {
    lab::Device device;
    char* data = lab::device_array<char>(1000);
    int local = 0;
    void* pinned = nullptr;
    REQUIRE(cudaMallocHost(&pinned, 64) == cudaSuccess);
    CHECK(cudaFree(data + 16) == cudaErrorInvalidValue);
    CHECK(cudaFree(&local) == cudaErrorInvalidValue);
    CHECK(cudaFree(pinned) == cudaErrorInvalidValue);
    CHECK(cudaFreeHost(data) == cudaErrorInvalidValue);
    REQUIRE(device.seen.api.size() == 4);
    for (const auto& event : device.seen.api) CHECK(event.kind == Kind::kInvalidFree);
    CHECK(device.seen.api[0].message.find("byte 16 of an allocation of 1000 bytes") !=
          std::string::npos);
    CHECK(device.seen.freed.empty());
    CHECK(cudaFree(data) == cudaSuccess);
    CHECK(cudaFreeHost(pinned) == cudaSuccess);
}

TEST_CASE("pinned memory: the host uses it directly, under the same address as the device",
          "[memory]") {
    lab::Device device;
    int* pinned = nullptr;
    REQUIRE(cudaHostAlloc(reinterpret_cast<void**>(&pinned), 4096, cudaHostAllocMapped) ==
            cudaSuccess);
    pinned[1023] = 7;
    void* mapped = nullptr;
    unsigned flags = 0;
    CHECK(cudaHostGetDevicePointer(&mapped, pinned, 0) == cudaSuccess);
    CHECK(mapped == pinned);
    CHECK(cudaHostGetFlags(&flags, pinned) == cudaSuccess);
    CHECK(flags == cudaHostAllocMapped);
    CHECK(cudaHostGetDevicePointer(&mapped, &flags, 0) == cudaErrorInvalidValue);
    CHECK(cudaHostAlloc(reinterpret_cast<void**>(&pinned), 64, 0x80) == cudaErrorInvalidValue);
}

TEST_CASE("cudaHostRegister: a range can be registered once, and unregistered at its start",
          "[memory]") {
    lab::Device device;
    std::vector<char> block(10000);
    REQUIRE(cudaHostRegister(block.data(), block.size(), cudaHostRegisterDefault) == cudaSuccess);
    CHECK(cudaHostRegister(block.data() + 9999, 1, 0) == cudaErrorHostMemoryAlreadyRegistered);
    void* mapped = nullptr;
    CHECK(cudaHostGetDevicePointer(&mapped, block.data() + 50, 0) == cudaSuccess);
    CHECK(mapped == block.data() + 50);
    CHECK(cudaHostUnregister(block.data() + 1) == cudaErrorHostMemoryNotRegistered);
    CHECK(cudaHostUnregister(block.data()) == cudaSuccess);
    CHECK(cudaHostUnregister(block.data()) == cudaErrorHostMemoryNotRegistered);
    CHECK(cudaHostRegister(block.data(), block.size(), 0) == cudaSuccess);
    CHECK(cudaHostUnregister(block.data()) == cudaSuccess);
}

TEST_CASE("managed memory: host reads and writes reach the same bytes as copies", "[memory]") {
    lab::Device device;
    int* data = nullptr;
    REQUIRE(cudaMallocManaged(reinterpret_cast<void**>(&data), 64, cudaMemAttachGlobal) ==
            cudaSuccess);
    REQUIRE(cudaMemset(data, 0, 64) == cudaSuccess);
    data[3] = 42;
    int back = 0;
    CHECK(cudaMemcpy(&back, data + 3, 4, cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(back == 42);
    CHECK(cudaMallocManaged(reinterpret_cast<void**>(&data), 0, cudaMemAttachGlobal) ==
          cudaErrorInvalidValue);
    CHECK(cudaMallocManaged(reinterpret_cast<void**>(&data), 64, 0x10) == cudaErrorInvalidValue);
}

TEST_CASE("cudaMallocPitch: rows start 512 bytes aligned", "[memory]") {
    lab::Device device;
    const auto [width, pitch] = GENERATE(std::pair<size_t, size_t>{1, 512},
                                         std::pair<size_t, size_t>{512, 512},
                                         std::pair<size_t, size_t>{513, 1024});
    void* rows = nullptr;
    size_t got = 0;
    REQUIRE(cudaMallocPitch(&rows, &got, width, 3) == cudaSuccess);
    CHECK(got == pitch);
    CHECK(device.seen.allocated[0]->bytes == pitch * 3);
    cudaPitchedPtr box;
    REQUIRE(cudaMalloc3D(&box, cudaExtent{width, 4, 5}) == cudaSuccess);
    CHECK((box.pitch == pitch && box.xsize == width && box.ysize == 4));
    CHECK(device.seen.allocated[1]->bytes == pitch * 20);
}

TEST_CASE("cudaPointerGetAttributes: knows every kind of memory", "[memory]") {
    lab::Device device;
    cudaPointerAttributes at;
    int local = 0;
    void *pinned = nullptr, *managed = nullptr;
    char* data = lab::device_array<char>(100);
    REQUIRE(cudaMallocHost(&pinned, 8) == cudaSuccess);
    REQUIRE(cudaMallocManaged(&managed, 8, cudaMemAttachGlobal) == cudaSuccess);
    REQUIRE(cudaPointerGetAttributes(&at, data + 5) == cudaSuccess);
    CHECK((at.type == cudaMemoryTypeDevice && at.device == 0 && at.devicePointer == data + 5 &&
           !at.hostPointer));
    REQUIRE(cudaPointerGetAttributes(&at, pinned) == cudaSuccess);
    CHECK(
        (at.type == cudaMemoryTypeHost && at.devicePointer == pinned && at.hostPointer == pinned));
    REQUIRE(cudaPointerGetAttributes(&at, managed) == cudaSuccess);
    CHECK((at.type == cudaMemoryTypeManaged && at.devicePointer == managed &&
           at.hostPointer == managed));
    REQUIRE(cudaPointerGetAttributes(&at, &local) == cudaSuccess);
    CHECK((at.type == cudaMemoryTypeUnregistered && !at.devicePointer));
}

TEST_CASE("cudaMemPrefetchAsync and cudaMemAdvise: only for managed ranges", "[memory]") {
    lab::Device device;
    char *data = lab::device_array<char>(100), *managed = nullptr;
    REQUIRE(cudaMallocManaged(reinterpret_cast<void**>(&managed), 100, cudaMemAttachGlobal) ==
            cudaSuccess);
    const cudaMemLocation here{cudaMemLocationTypeDevice, 0}, nowhere{cudaMemLocationTypeDevice, 9};
    CHECK(cudaMemPrefetchAsync(managed, 100, here, 0, nullptr) == cudaSuccess);
    CHECK(cudaMemPrefetchAsync(managed, 101, here, 0, nullptr) == cudaErrorInvalidValue);
    CHECK(cudaMemPrefetchAsync(managed, 100, nowhere, 0, nullptr) == cudaErrorInvalidDevice);
    CHECK(cudaMemPrefetchAsync(data, 100, here, 0, nullptr) == cudaErrorInvalidValue);
    CHECK(cudaMemAdvise(managed, 100, cudaMemAdviseSetReadMostly, here) == cudaSuccess);
    CHECK(cudaMemAdvise(data, 100, cudaMemAdviseSetReadMostly, here) == cudaErrorInvalidValue);
}
