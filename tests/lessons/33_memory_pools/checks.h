// SPDX-License-Identifier: MIT
// Checks that the tests of lesson 33 share: for blocks and counts of either kind of pool, and for
// work in which each CUDA call fails once.
//
// All values are integers that floats hold exactly, so nothing is rounded. Calls to the driver are
// counted from the calls to the runtime, which works on a card too.
#pragma once

#include "reference.h"
#include "watches/call_checks.h"
#include "watches/freed_memory.h"

namespace {

// Allocates a block, and checks that the pool returned an address.
template <class Pool>
float* floats_of(Pool& pool, size_t bytes, cudaStream_t stream) {
    void* const block = pool.allocate(bytes, stream);
    INFO("allocate(" << bytes << ", stream) returned no memory");
    const bool there_is_a_block = block != nullptr;
    REQUIRE(there_is_a_block);
    return static_cast<float*>(block);
}

// Returns one block in each of these streams, so that one is cached for each.
inline void warm_up(CachingAllocator& pool, size_t bytes,
                    const std::vector<cudaStream_t>& streams) {
    std::vector<void*> blocks;
    for (cudaStream_t stream : streams) blocks.push_back(floats_of(pool, bytes, stream));
    for (size_t i = 0; i < blocks.size(); ++i) pool.deallocate(blocks[i], streams[i]);
}

template <class Pool>
void check_counts(const char* when, const Pool& pool, size_t used, size_t total) {
    // Signed, so that a sum below 0 is shown as negative.
    INFO(when << ": used() is " << static_cast<long long>(pool.used()) << ", want " << used
              << "; total() is " << static_cast<long long>(pool.total()) << ", want " << total);
    const bool counts_are_right = pool.used() == used && pool.total() == total;
    CHECK(counts_are_right);
}

inline void check_bytes(const char* what, size_t bytes, size_t want) {
    INFO(what << " is " << static_cast<long long>(bytes) << ", want " << want);
    const bool as_wanted = bytes == want;
    CHECK(as_wanted);
}

// Each call of work() fails once, except those that free or destroy something. The answer must
// throw; afterwards check() examines the state. prepare() is called before each run, and its calls
// are not counted. `name` is empty if a right answer may need no such call.
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
            reached = watch.calls.size() > k;  // or an earlier run has made what this call makes
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
