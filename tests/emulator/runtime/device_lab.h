// SPDX-License-Identifier: MIT
// What the runtime's tests share: a clean device for each test, a recorder of events, and programs
// made from PTX text, registered the way nvcc's start-up code does it.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

#include "catch/catch.h"
#include "runtime/core/context.h"

// The entry points that no public header declares.
extern "C" {
void** __cudaRegisterFatBinary(void* wrapper);
void __cudaRegisterFatBinaryEnd(void** handle);
void __cudaUnregisterFatBinary(void** handle);
void __cudaRegisterFunction(void** handle, const char* host, char* device, const char* name, int,
                            uint3*, uint3*, dim3*, dim3*, int*);
void __cudaRegisterVar(void** handle, char* host, char* device, const char* name, int, size_t bytes,
                       int constant, int global);
void __cudaRegisterManagedVar(void** handle, void** host, char* device, const char* name, int,
                              size_t bytes, int constant, int global);
char __cudaInitModule(void** handle);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream);
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream);
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** args,
                               size_t shared, cudaStream_t stream);
}

namespace lab {

// Keeps every event of the host side.
class Recorder final : public machine::Observer {
public:
    void on_api(const machine::ApiEvent& event) override { api.push_back(event); }
    void on_host_access(const machine::HostAccess& event) override { access.push_back(event); }
    void on_order(const machine::OrderEvent& event) override { order.push_back(event); }
    void on_alloc(const machine::Allocation& allocation) override {
        allocated.push_back(&allocation);
    }
    void on_free(const machine::Allocation& allocation) override {
        CHECK(allocation.live);  // fires before the release
        freed.push_back(&allocation);
    }
    void on_launch_begin(const machine::LaunchInfo& launch) override { launches.push_back(launch); }
    void on_device_reset(int device) override { resets.push_back(device); }
    void on_process_end() override { ++ends; }

    std::vector<machine::ApiEvent> api;
    std::vector<machine::HostAccess> access;
    std::vector<machine::OrderEvent> order;
    std::vector<const machine::Allocation*> allocated, freed;
    std::vector<machine::LaunchInfo> launches;
    std::vector<int> resets;
    int ends = 0;
};

// Two emulated devices for the whole test program; asked for before the first call.
inline const bool configured = [] {
    runtime::Settings settings;
    settings.devices = 2;
    settings.budget = 50'000'000;
    runtime::configure(settings);
    return true;
}();

// Everything as in a new process: nothing allocated, no error, no stream; events are recorded.
class Device {
public:
    Device() {
        runtime::context().observers.clear();
        for (int device = 1; device >= 0; --device) {
            cudaSetDevice(device);
            cudaDeviceReset();
        }
        cudaGetLastError();
        runtime::context().ended = false;
        runtime::context().observers.add(
            &seen, machine::kMemoryEvents | machine::kHostEvents | machine::kLaunchEvents);
    }
    ~Device() { runtime::context().observers.clear(); }

    Recorder seen;
};

template <class T>
T* device_array(size_t count) {
    void* pointer = nullptr;
    REQUIRE(cudaMalloc(&pointer, count * sizeof(T)) == cudaSuccess);
    return static_cast<T*>(pointer);
}

// A fat binary with one uncompressed PTX text, as __cudaRegisterFatBinary gets it.
class Program {
public:
    explicit Program(const std::string& body)
        : Program(
              std::vector<std::string>{".version 9.0\n.target sm_75\n.address_size 64\n" + body}) {}
    // -rdc: a wrapper of version 2 with one container per object.
    explicit Program(const std::vector<std::string>& texts) {
        for (const std::string& text : texts) containers_.push_back(container(text));
        for (const auto& bytes : containers_) list_.push_back(bytes.data());
        list_.push_back(nullptr);
        wrapper_ = {0x466243b1,
                    texts.size() == 1 ? 1 : 2,
                    containers_[0].data(),
                    texts.size() == 1 ? nullptr : list_.data()};
        handle = __cudaRegisterFatBinary(&wrapper_);
    }
    ~Program() { __cudaUnregisterFatBinary(handle); }
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    // Registers an entry; the result stands for the address of its host stub.
    const void* kernel(const char* name) {
        stubs_.push_back(std::make_unique<char>());
        __cudaRegisterFunction(handle,
                               stubs_.back().get(),
                               nullptr,
                               name,
                               -1,
                               nullptr,
                               nullptr,
                               nullptr,
                               nullptr,
                               nullptr);
        return stubs_.back().get();
    }
    const void* variable(const char* name, size_t bytes, bool constant = false) {
        stubs_.push_back(std::make_unique<char>());
        __cudaRegisterVar(handle, stubs_.back().get(), nullptr, name, 0, bytes, constant, 0);
        return stubs_.back().get();
    }

    void** handle = nullptr;

private:
    static std::vector<char> container(const std::string& text) {
        constexpr size_t head = 16, entry = 0x68;
        const size_t payload = (text.size() + 8) / 8 * 8;
        std::vector<char> bytes(head + entry + payload);
        const auto put = [&](size_t at, auto value) {
            std::memcpy(bytes.data() + at, &value, sizeof value);
        };
        put(0, uint32_t(0xba55ed50));
        put(4, uint16_t(1));
        put(6, uint16_t(head));
        put(8, uint64_t(entry + payload));
        put(head + 0x00, uint16_t(1));
        put(head + 0x02, uint16_t(0x0101));
        put(head + 0x04, uint32_t(entry));
        put(head + 0x08, uint64_t(payload));
        put(head + 0x18, uint16_t(0));
        put(head + 0x1a, uint16_t(9));
        put(head + 0x1c, uint32_t(75));
        put(head + 0x28, uint64_t(0x11));
        std::memcpy(bytes.data() + head + entry, text.data(), text.size());
        return bytes;
    }

    struct Wrapper {
        int magic, version;
        const void* data;
        const void* extra;
    };
    std::vector<std::vector<char>> containers_;
    std::vector<const void*> list_;
    Wrapper wrapper_{};
    std::vector<std::unique_ptr<char>> stubs_;
};

// What `kernel<<<grid, block, shared, stream>>>(args...)` compiles to.
inline void stub_launch(const void* kernel, dim3 grid, dim3 block, std::vector<void*> args,
                        size_t shared = 0, cudaStream_t stream = nullptr) {
    args.push_back(nullptr);
    if (__cudaPushCallConfiguration(grid, block, shared, stream)) return;
    cudaKernel_t handle = nullptr;
    __cudaGetKernel(&handle, kernel);
    if (__cudaPopCallConfiguration(&grid, &block, &shared, &stream) != cudaSuccess) return;
    __cudaLaunchKernel(handle, grid, block, args.data(), shared, stream);
}

// PTX of kernels that the tests launch.
inline const char* const kStoreIndex = R"(
.visible .entry store_index(.param .u64 out, .param .u32 n) {
    .reg .pred %p<2>; .reg .b32 %r<6>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p1, %r5, %r1;
    @%p1 bra done;
    cvta.to.global.u64 %rd2, %rd1;
    mul.wide.u32 %rd3, %r5, 4;
    add.s64 %rd2, %rd2, %rd3;
    st.global.u32 [%rd2], %r5;
done:
    ret;
}
)";
inline const char* const kEmpty = ".visible .entry empty() { ret; }\n";
inline const char* const kTrap = ".visible .entry traps() { trap; ret; }\n";
inline const char* const kBounded = ".visible .entry bounded() .maxntid 128, 1, 1 { ret; }\n";
inline const char* const kShared = R"(
.visible .entry shares() {
    .reg .b32 %r<2>;
    .shared .align 4 .b8 tile[1024];
    mov.u32 %r1, tile;
    st.shared.u32 [%r1], %r1;
    ret;
}
)";

}  // namespace lab
