// SPDX-License-Identifier: MIT
// Helpers for the tests of lesson 33: sizes, streams, a stream that is kept busy on a card, and the
// contents of blocks.
#pragma once

#include "lesson_test.h"
#include "memory_pools.h"

#include <atomic>
#include <chrono>
#include <thread>

namespace {

using Floats = std::vector<float>;

constexpr size_t kFloats = 1 << 18;
constexpr size_t kS = kFloats * sizeof(float);  // 1 MiB, which is the size of a block
constexpr size_t kPage = 64 << 20;              // what the driver's pools keep and give back

struct TestStream {
    explicit TestStream(unsigned flags = cudaStreamNonBlocking) {
        CUDA_CHECK(cudaStreamCreateWithFlags(&stream, flags));
    }
    ~TestStream() { cudaStreamDestroy(stream); }
    TestStream(const TestStream&) = delete;
    TestStream& operator=(const TestStream&) = delete;
    operator cudaStream_t() const { return stream; }
    cudaStream_t stream = nullptr;
};

// Keeps a stream of a card busy for a while, so that unordered work of another stream overtakes its
// own. The emulated device does all work at once; there the race checker reports the missing order.
class Hold {
public:
    explicit Hold(cudaStream_t stream) {
        if (!wb::on_emulator()) CUDA_CHECK(cudaLaunchHostFunc(stream, wait, &released_));
    }
    ~Hold() {
        released_ = true;
        cudaDeviceSynchronize();
    }
    // Waits a while first, so that other streams can overtake.
    void release() {
        if (!wb::on_emulator()) std::this_thread::sleep_for(std::chrono::milliseconds(100));
        released_ = true;
        CUDA_CHECK(cudaDeviceSynchronize());
    }

private:
    // The limit is for answers in which the host waits: they would wait for ever.
    static void CUDART_CB wait(void* flag) {
        using Clock = std::chrono::steady_clock;
        const auto until = Clock::now() + std::chrono::seconds(3);
        while (!*static_cast<std::atomic<bool>*>(flag) && Clock::now() < until)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    std::atomic<bool> released_ = false;
};

inline Floats contents(const void* d_data, size_t n) {
    Floats host(n);
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaMemcpy(host.data(), d_data, n * sizeof(float), cudaMemcpyDeviceToHost));
    return host;
}

}  // namespace
