// SPDX-License-Identifier: MIT
// What lesson 33's test needs: streams, one that is kept busy on a card, contents of blocks, and
// each CUDA call of some work failing once.
#pragma once

#include "call_checks.h"
#include "lesson_test.h"

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

namespace {

using Floats = std::vector<float>;

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

// Keeps a stream of a card busy for a while, so that work of another stream overtakes its own where
// nothing orders the two. The emulated device works at once; there the race is a finding.
class Hold {
public:
    explicit Hold(cudaStream_t stream) {
        if (!wb::on_emulator()) CUDA_CHECK(cudaLaunchHostFunc(stream, wait, &released_));
    }
    ~Hold() {
        released_ = true;
        cudaDeviceSynchronize();
    }
    // After others had time to overtake.
    void release() {
        if (!wb::on_emulator()) std::this_thread::sleep_for(std::chrono::milliseconds(100));
        released_ = true;
        CUDA_CHECK(cudaDeviceSynchronize());
    }

private:
    // An answer whose host waits would wait for ever, hence the limit.
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

// A block of a pool, which must be one.
template <class Pool>
float* floats_of(Pool& pool, size_t bytes, cudaStream_t stream) {
    void* const block = pool.allocate(bytes, stream);
    INFO("allocate(" << bytes << ", stream) returned no memory");
    const bool there_is_a_block = block != nullptr;
    REQUIRE(there_is_a_block);
    return static_cast<float*>(block);
}

template <class Pool>
void check_counts(const char* when, const Pool& pool, size_t used, size_t total) {
    INFO(when << ": used() is " << pool.used() << ", want " << used << "; total() is "
              << pool.total() << ", want " << total);
    const bool counts_are_right = pool.used() == used && pool.total() == total;
    CHECK(counts_are_right);
}

inline void check_bytes(const char* what, size_t bytes, size_t want) {
    INFO(what << " is " << bytes << ", want " << want);
    const bool as_wanted = bytes == want;
    CHECK(as_wanted);
}

// Whether deallocate() refuses what is no block in use.
template <class Pool>
bool refuses(Pool& pool, void* block, cudaStream_t stream) {
    try {
        pool.deallocate(block, stream);
    } catch (const std::invalid_argument&) {
        return true;
    } catch (...) {
    }
    return false;
}

// Each call of work() fails once, except those that free or destroy something. The answer must
// throw; afterwards check() looks at what is left. prepare() is called before each, unwatched.
// `name` is empty if a right answer may need no such call.
inline void each_call_fails(const char* name, const std::function<void()>& prepare,
                            const std::function<void()>& work,
                            const std::function<void(const std::string& failed)>& check) {
    std::vector<wb::CudaCall> calls;
    prepare();
    {
        wb::CallWatch watch;
        work();
        calls = watch.calls;
    }
    std::string dropped;
    size_t failed = 0;
    for (size_t k = 0; k < calls.size() && dropped.empty(); ++k) {
        const std::string& call = calls[k].name;
        const auto has = [&](const char* part) { return call.find(part) != std::string::npos; };
        if (has("Destroy") || (has("Free") && !has("Async")) || has("LastError")) continue;
        ++failed;
        prepare();
        bool thrown = false, reached = false;
        {
            wb::CallWatch watch;
            watch.fail_call = k;
            watch.error = cudaErrorUnknown;
            thrown = wb::throws_cuda_error(work);
            reached = watch.calls.size() > k;  // or what it needs has been made before
        }
        if (!reached) continue;
        if (!thrown) dropped = call;
        check(call);
    }
    if (*name) {
        INFO(name << " makes no CUDA call that could fail: where is the work done?");
        const bool calls_were_made = failed > 0;
        CHECK(calls_were_made);
    }
    INFO("when " << dropped << " fails, " << (*name ? name : "the allocator")
                 << " goes on as if it had not");
    const bool every_call_is_checked = dropped.empty();
    CHECK(every_call_is_checked);
}

}  // namespace
