// SPDX-License-Identifier: MIT
// Copies and fills, and what is said about wrong ones.
#include <sys/mman.h>
#include <unistd.h>

#include <numeric>

#include "device_lab.h"

using Kind = machine::ApiEvent::Kind;
using Access = machine::HostAccess::Kind;

static std::vector<int> iota(size_t count) {
    std::vector<int> out(count);
    std::iota(out.begin(), out.end(), 1);
    return out;
}

TEST_CASE("cudaMemcpy: bytes are copied to the device and back, and each copy is reported",
          "[copy]") {
    lab::Device device;
    const auto kind = GENERATE(false, true);  // explicit directions, or cudaMemcpyDefault
    CAPTURE(kind);
    const std::vector<int> sent = iota(1000);
    std::vector<int> back(1000);
    int* a = lab::device_array<int>(1000);
    int* b = lab::device_array<int>(1000);
    REQUIRE(cudaMemcpy(a, sent.data(), 4000, kind ? cudaMemcpyDefault : cudaMemcpyHostToDevice) ==
            cudaSuccess);
    REQUIRE(cudaMemcpy(b, a, 4000, kind ? cudaMemcpyDefault : cudaMemcpyDeviceToDevice) ==
            cudaSuccess);
    REQUIRE(cudaMemcpy(back.data(), b, 4000, kind ? cudaMemcpyDefault : cudaMemcpyDeviceToHost) ==
            cudaSuccess);
    CHECK(back == sent);
    REQUIRE(device.seen.access.size() == 3);
    CHECK(device.seen.access[0].kind == Access::kWrite);
    CHECK(device.seen.access[1].kind == Access::kCopy);
    CHECK(device.seen.access[1].source_address == reinterpret_cast<uint64_t>(a));
    CHECK(device.seen.access[2].kind == Access::kRead);
    CHECK(device.seen.access[2].bytes == 4000);
    CHECK(std::string(device.seen.access[2].api) == "cudaMemcpy");
}

TEST_CASE("cudaMemcpy: a range that is too long copies nothing and reports the excess", "[copy]") {
    lab::Device device;
    std::vector<int> host(1000, 7);
    int* data = lab::device_array<int>(250);
    REQUIRE(cudaMemset(data, 0, 1000) == cudaSuccess);
    CHECK(cudaMemcpy(host.data(), data, 4000, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
    CHECK(host == std::vector<int>(1000, 7));
    CHECK(cudaMemcpy(data + 1, host.data(), 1000, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    CHECK(cudaMemcpy(data, host.data(), size_t(-4), cudaMemcpyHostToDevice) ==
          cudaErrorInvalidValue);
    CHECK(cudaMemset(data, 1, 1001) == cudaErrorInvalidValue);
    int first = 0;
    CHECK(cudaMemcpy(&first, data, 4, cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(first == 0);
    REQUIRE(device.seen.api.size() == 4);
    for (const auto& event : device.seen.api) {
        CHECK(event.kind == Kind::kInvalidCopy);
        CHECK(event.allocation == device.seen.allocated[0]);
    }
    CHECK(device.seen.api[0].message ==
          "`cudaMemcpy` copies 4000 bytes out of an allocation of 1000 bytes");
    CHECK(device.seen.api[1].message ==
          "`cudaMemcpy` copies 1000 bytes into an allocation of 1000 bytes, starting at byte 4");
    CHECK(device.seen.api[3].message ==
          "`cudaMemset` fills 1001 bytes of an allocation of 1000 bytes");
}

TEST_CASE("cudaMemcpy: a direction that does not fit the pointers is refused", "[copy]") {
    lab::Device device;
    std::vector<int> host(8);
    int* data = lab::device_array<int>(8);
    struct Wrong {
        int *to, *from;
        cudaMemcpyKind kind;
    };
    const Wrong all[] = {
        {host.data(), data, cudaMemcpyHostToDevice},
        {data, host.data(), cudaMemcpyDeviceToHost},
        {data, host.data(), cudaMemcpyDeviceToDevice},
        {data, host.data(), cudaMemcpyHostToHost},
        {host.data(), host.data() + 4, cudaMemcpyDeviceToHost},
        {data, nullptr, cudaMemcpyHostToDevice},
    };
    const auto [to, from, kind] = all[GENERATE(range(0, 6))];
    CHECK(cudaMemcpy(to, from, 16, kind) == cudaErrorInvalidValue);
    REQUIRE(device.seen.api.size() == 1);
    CHECK(device.seen.api[0].kind == Kind::kInvalidCopy);
    CHECK(device.seen.access.empty());
}

TEST_CASE("cudaMemcpy: an unknown direction has an error of its own; zero bytes are always fine",
          "[copy]") {
    lab::Device device;
    int host = 0;
    CHECK(cudaMemcpy(&host, &host, 4, cudaMemcpyKind(7)) == cudaErrorInvalidMemcpyDirection);
    CHECK(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice) == cudaSuccess);
    CHECK(cudaMemset(nullptr, 0, 0) == cudaSuccess);
}

TEST_CASE("cudaMemcpy: freed memory is named as such", "[copy]") {
    lab::Device device;
    int host[4] = {};
    int* data = lab::device_array<int>(4);
    REQUIRE(cudaFree(data) == cudaSuccess);
    CHECK(cudaMemcpy(host, data, 16, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
    REQUIRE(device.seen.api.size() == 1);
    CHECK(device.seen.api[0].message ==
          "`cudaMemcpy` reads from an allocation of 16 bytes that has been freed");
    CHECK_FALSE(device.seen.api[0].allocation->live);
}

TEST_CASE("cudaMemcpy: unmapped host memory is reported, and the program continues", "[copy]") {
    lab::Device device;
    const size_t page = size_t(sysconf(_SC_PAGESIZE));
    auto* memory = static_cast<char*>(
        mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(memory != MAP_FAILED);
    REQUIRE(mprotect(memory + 2 * page, page, PROT_NONE) == 0);
    char* data = lab::device_array<char>(4 * page);
    CHECK(cudaMemcpy(data, memory, 2 * page, cudaMemcpyHostToDevice) == cudaSuccess);
    CHECK(cudaMemcpy(data, memory + 2 * page - 4, 4, cudaMemcpyHostToDevice) == cudaSuccess);
    CHECK(device.seen.api.empty());
    CHECK(cudaMemcpy(data, memory + 100, 3 * page - 100, cudaMemcpyHostToDevice) ==
          cudaErrorInvalidValue);
    REQUIRE(device.seen.api.size() == 1);
    CHECK(device.seen.api[0].message.find("of which only the first " +
                                          std::to_string(2 * page - 100) +
                                          " bytes belong to the program") != std::string::npos);
    CHECK(cudaMemcpy(memory + page, data, 2 * page, cudaMemcpyDeviceToHost) ==
          cudaErrorInvalidValue);
    CHECK(cudaMemcpy(data, memory + 2 * page, 1, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    REQUIRE(device.seen.api.size() == 3);
    CHECK(device.seen.api[2].message.find("which does not belong to the program") !=
          std::string::npos);
    munmap(memory, 3 * page);
}

TEST_CASE("cudaMemset: host memory that CUDA has not allocated is refused", "[copy]") {
    lab::Device device;
    int host = 5;
    CHECK(cudaMemset(&host, 0, 4) == cudaErrorInvalidValue);
    CHECK(host == 5);
    CHECK(device.seen.api.size() == 1);
}

TEST_CASE("cudaMemcpy2D: rows keep their pitch, and the padding its bytes", "[copy]") {
    lab::Device device;
    const size_t width = 12, height = 5;
    std::vector<int> host = iota(3 * height), back(4 * height, -1);
    void* rows = nullptr;
    size_t pitch = 0;
    REQUIRE(cudaMallocPitch(&rows, &pitch, width, height) == cudaSuccess);
    REQUIRE(cudaMemset2D(rows, pitch, 0xff, pitch, height) == cudaSuccess);
    REQUIRE(cudaMemcpy2D(rows, pitch, host.data(), width, width, height, cudaMemcpyHostToDevice) ==
            cudaSuccess);
    REQUIRE(cudaMemcpy2D(back.data(), 16, rows, pitch, 16, height, cudaMemcpyDeviceToHost) ==
            cudaSuccess);
    for (size_t y = 0; y < height; ++y) {
        for (size_t x = 0; x < 3; ++x) CHECK(back[y * 4 + x] == host[y * 3 + x]);
        CHECK(back[y * 4 + 3] == -1);
    }
    CHECK(cudaMemcpy2D(rows, pitch, host.data(), 8, 12, height, cudaMemcpyHostToDevice) ==
          cudaErrorInvalidPitchValue);
    REQUIRE(device.seen.api.size() == 1);
    CHECK(device.seen.api[0].message ==
          "`cudaMemcpy2D` reads rows of 12 bytes, but the pitch puts them only 8 bytes apart");
    device.seen.api.clear();
    // The last row need not be as long as the pitch, but one row more is too many.
    CHECK(cudaMemset2D(static_cast<char*>(rows) + pitch - 16, pitch, 0, 16, height) == cudaSuccess);
    CHECK(cudaMemset2D(rows, pitch, 0, 16, height + 1) == cudaErrorInvalidValue);
    CHECK(device.seen.api.size() == 1);
}

TEST_CASE("cudaMemcpy3D: a box lands at its position", "[copy]") {
    lab::Device device;
    const std::vector<int> host = iota(2 * 3 * 4);
    cudaPitchedPtr box;
    REQUIRE(cudaMalloc3D(&box, cudaExtent{16, 5, 6}) == cudaSuccess);
    REQUIRE(cudaMemset3D(box, 0, cudaExtent{16, 5, 6}) == cudaSuccess);
    cudaMemcpy3DParms p = {};
    p.srcPtr = {const_cast<int*>(host.data()), 8, 8, 3};
    p.dstPtr = box;
    p.dstPos = {4, 1, 2};
    p.extent = {8, 3, 4};
    p.kind = cudaMemcpyHostToDevice;
    REQUIRE(cudaMemcpy3D(&p) == cudaSuccess);
    int value = 0;
    const char* at =
        static_cast<char*>(box.ptr) + (2 + 3) * 5 * box.pitch + (1 + 2) * box.pitch + 4 + 4;
    REQUIRE(cudaMemcpy(&value, at, 4, cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(value == host[3 * 6 + 2 * 2 + 1]);
    p.extent.depth = 5;
    CHECK(cudaMemcpy3D(&p) == cudaErrorInvalidValue);
}

TEST_CASE("cudaMemcpyPeer: copies between devices, and knows their numbers", "[copy]") {
    lab::Device device;
    int* a = lab::device_array<int>(1);
    REQUIRE(cudaSetDevice(1) == cudaSuccess);
    int* b = lab::device_array<int>(1);
    int value = 99;
    REQUIRE(cudaMemcpy(a, &value, 4, cudaMemcpyHostToDevice) == cudaSuccess);
    REQUIRE(cudaMemcpyPeer(b, 1, a, 0, 4) == cudaSuccess);
    value = 0;
    REQUIRE(cudaMemcpy(&value, b, 4, cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(value == 99);
    CHECK(cudaMemcpyPeer(b, 2, a, 0, 4) == cudaErrorInvalidDevice);
    cudaSetDevice(0);
}
