// SPDX-License-Identifier: MIT
// Lesson 33: blocks of memory that are handed out again, in the order of streams, whatever fails;
// the driver's pool; and managed memory, which both sides use in turns.
//
// All values are integers that floats hold exactly, so nothing is rounded. Calls to the driver are
// counted from the calls to the runtime, which works on a card too.
#include "host_calls.h"
#include "memory_pools.h"
#include "reference.h"

#include <algorithm>
#include <map>
#include <memory>
#include <random>

namespace {

constexpr size_t kFloats = 1 << 18;
constexpr size_t kS = kFloats * sizeof(float);  // 1 MiB, which is the size of a block
constexpr size_t kPage = 64 << 20;              // what the driver's pools keep and give back

// Blocks that were returned in these streams are cached, one for each.
void warm_up(CachingAllocator& pool, size_t bytes, const std::vector<cudaStream_t>& streams) {
    std::vector<void*> blocks;
    for (cudaStream_t stream : streams) blocks.push_back(floats_of(pool, bytes, stream));
    for (size_t i = 0; i < blocks.size(); ++i) pool.deallocate(blocks[i], streams[i]);
}

// One stream uses a block and returns it in `returned_in`, another gets it.
void check_reuse_waits(unsigned flags, bool returned_elsewhere) {
    CachingAllocator pool;
    const TestStream first(flags), other(flags), second(flags);
    float* const block = floats_of(pool, kS, first);
    launch_fill(block, kFloats, 0, first);  // the first launch may take long
    CUDA_CHECK(cudaStreamSynchronize(first));
    const cudaStream_t user = returned_elsewhere ? other : first;
    const cudaStream_t next = returned_elsewhere ? first : second;
    Hold hold(user);
    launch_fill(block, kFloats, 1, user);
    pool.deallocate(block, user);
    float* const again = floats_of(pool, kS, next);
    check_bytes("pool.total()", pool.total(), kS);
    {
        INFO("the cached block was not handed out again, but another one");
        const bool same_block = block == again;
        CHECK(same_block);
    }
    launch_fill(again, kFloats, 2, next);
    hold.release();
    const Floats got = contents(again, kFloats), want(kFloats, 2);
    CHECK_ARRAYS(got, want);
    wb::recognize<float>(got,
                         want,
                         {{"the block was handed to another stream while work of the stream that "
                           "returned it was still to come",
                           [] { return Floats(kFloats, 1); }}});
    pool.deallocate(again, next);
}

std::vector<float> integers(size_t n, uint64_t seed) {
    std::vector<float> values = wb::random_floats(n, seed, -100, 100);
    for (float& value : values) value = std::floor(value);
    return values;
}

void check_rounds(size_t n, int rounds, bool prefetch, unsigned flags = cudaStreamNonBlocking) {
    CAPTURE(n, rounds, prefetch);
    const Floats start = integers(n, 7 + n);
    float* data = nullptr;
    CUDA_CHECK(cudaMallocManaged(&data, n * sizeof(float)));
    std::copy(start.begin(), start.end(), data);
    {
        const TestStream stream(flags);
        rounds_managed(data, n, rounds, prefetch, stream);
    }
    const Floats got(data, data + n);
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaFree(data));
    const auto after = [&](bool device, bool host, int times) {
        Floats values = start;
        for (float& x : values)
            for (int round = 0; round < times; ++round) x = (device ? 2 : 1) * x + (host ? 1 : 0);
        return values;
    };
    const Floats want = after(true, true, rounds);
    CHECK_ARRAYS(got, want);
    wb::recognize<float>(got,
                         want,
                         {{"the host never adds 1", [&] { return after(true, false, rounds); }},
                          {"the device never doubles", [&] { return after(false, true, rounds); }},
                          {"one round is made, not all", [&] { return after(true, true, 1); }},
                          {"the host adds 1 before the device doubles", [&] {
                               Floats values = start;
                               for (float& x : values)
                                   for (int round = 0; round < rounds; ++round) x = 2 * (x + 1);
                               return values;
                           }}});
}

}  // namespace

TEST_CASE("task 1: multiples of 256 up to 2048", "[task1]") {
    CHECK_RESULT(block_bytes(1), 256);
    CHECK_RESULT(block_bytes(255), 256);
    CHECK_RESULT(block_bytes(256), 256);
    CHECK_RESULT(block_bytes(257), 512);
    CHECK_RESULT(block_bytes(1025), 1280);
    CHECK_RESULT(block_bytes(2047), 2048);
    CHECK_RESULT(block_bytes(2048), 2048);
}

TEST_CASE("task 1: four sizes for each doubling above", "[task1]") {
    CHECK_RESULT(block_bytes(2049), 2560);
    CHECK_RESULT(block_bytes(2560), 2560);
    CHECK_RESULT(block_bytes(2561), 3072);
    CHECK_RESULT(block_bytes(4096), 4096);
    CHECK_RESULT(block_bytes(4097), 5120);
    CHECK_RESULT(block_bytes(1000000), 1048576);
    CHECK_RESULT(block_bytes(1048577), 1310720);
    CHECK_RESULT(block_bytes(6442450944), 6442450944);
    CHECK_RESULT(block_bytes(6442450945), 7516192768);
}

TEST_CASE("task 1: never too small, and never a quarter too large", "[task1]") {
    std::mt19937_64 random(33);
    for (int i = 0; i < 2000; ++i) {
        const size_t bytes = 1 + random() % (size_t(1) << (1 + i % 40));
        const size_t block = block_bytes(bytes);
        INFO("block_bytes(" << bytes << ") is " << block
                            << ": want no less than was asked for, a multiple of 256, and not a "
                               "quarter too much");
        const bool large_enough = block >= bytes;
        REQUIRE(large_enough);
        const bool multiple_of_256 = block % 256 == 0;
        REQUIRE(multiple_of_256);
        const bool small_enough = block < bytes + 256 || block - bytes < bytes / 4;
        REQUIRE(small_enough);
        const bool a_size_is_its_own = block_bytes(block) == block;
        REQUIRE(a_size_is_its_own);
    }
}

TEST_CASE("task 2: two arrays are used, returned, and still there", "[task2]") {
    CachingAllocator pool;
    const TestStream stream;
    check_counts("at first", pool, 0, 0);
    float* const a = floats_of(pool, kS, stream);
    float* const b = floats_of(pool, kS, stream);
    check_counts("with two arrays of 1048576 bytes", pool, 2 * kS, 2 * kS);
    launch_fill(a, kFloats, 1, stream);
    launch_fill(b, kFloats, 2, stream);
    pool.deallocate(a, stream);
    check_counts("when one is returned", pool, kS, 2 * kS);
    pool.deallocate(b, stream);
    check_counts("when both are returned", pool, 0, 2 * kS);
}

TEST_CASE("task 2: blocks are counted, not what was asked for", "[task2]") {
    CachingAllocator pool;
    const TestStream stream;
    void* const a = floats_of(pool, 1000, stream);
    void* const b = floats_of(pool, 5000, stream);
    check_counts("with 1000 and 5000 bytes", pool, 1024 + 5120, 1024 + 5120);
    pool.deallocate(a, stream);
    check_counts("when the 1000 are returned", pool, 5120, 1024 + 5120);
    pool.deallocate(b, stream);
    check_counts("when both are returned", pool, 0, 1024 + 5120);
}

TEST_CASE("task 2: what is no block in use is refused", "[task2]") {
    CachingAllocator pool, another;
    const TestStream stream;
    float* const block = floats_of(pool, kS, stream);
    const auto check = [&](const char* what, void* address, size_t used) {
        INFO("deallocate() gets " << what << ", and does not throw std::invalid_argument");
        const bool refused = refuses(pool, address, stream);
        CHECK(refused);
        check_counts("after that", pool, used, kS);
    };
    float* const foreign = floats_of(another, kS, stream);
    check("a block of another allocator", foreign, kS);
    check("an address inside of a block", block + 64, kS);
    another.deallocate(foreign, stream);
    pool.deallocate(block, stream);
    check("a block for the second time", block, 0);
}

TEST_CASE("task 2: when a call fails, the block is still in use", "[task2]") {
    std::unique_ptr<CachingAllocator> pool;
    const TestStream stream;
    float* block = nullptr;
    each_call_fails(
        "deallocate()",
        [&] {
            pool = std::make_unique<CachingAllocator>();
            block = floats_of(*pool, kS, stream);
        },
        [&] { pool->deallocate(block, stream); },
        [&](const std::string& call) {
            check_counts(("after " + call + " failed").c_str(), *pool, kS, kS);
        });
}

TEST_CASE("task 3: a returned block is handed out again", "[task3]") {
    CachingAllocator pool;
    for (const unsigned flags : {cudaStreamNonBlocking, cudaStreamDefault}) {
        const TestStream stream(flags);
        const cudaStream_t both[] = {stream, nullptr};
        for (const cudaStream_t one : both) {
            float* const block = floats_of(pool, kS, one);
            pool.deallocate(block, one);
            float* const again = floats_of(pool, kS - 100, one);
            INFO("the block that was returned is not the one that is handed out next");
            const bool same_block = block == again;
            CHECK(same_block);
            check_counts("after that", pool, kS, kS);
            pool.deallocate(again, one);
        }
        pool.free_all_blocks();
        if (pool.total()) return;  // task 4
    }
}

TEST_CASE("task 3: only a block of exactly this size is handed out", "[task3]") {
    CachingAllocator pool;
    const TestStream stream;
    std::vector<void*> blocks;
    for (const size_t bytes : {1000, 2000, 3000, 4000})
        blocks.push_back(floats_of(pool, bytes, stream));
    for (void* block : blocks) pool.deallocate(block, stream);
    const size_t before = 1024 + 2048 + 3072 + 4096;
    check_counts("with four returned blocks", pool, 0, before);
    void* const block = floats_of(pool, 1500, stream);
    check_counts("with 1500 bytes of a further size", pool, 1536, before + 1536);
    pool.deallocate(block, stream);
}

TEST_CASE("task 3: live blocks never overlap, and keep what is in them", "[task3]") {
    CachingAllocator pool;
    const TestStream a, b(cudaStreamDefault);
    const cudaStream_t streams[] = {a, b, nullptr};
    struct Live {
        size_t n;
        float value;
        cudaStream_t stream;
    };
    std::map<float*, Live> live;
    std::mt19937_64 random(3);
    const auto check_contents = [&](float* block, const Live& one) {
        Floats got(one.n);
        CUDA_CHECK(cudaMemcpyAsync(
            got.data(), block, one.n * sizeof(float), cudaMemcpyDeviceToHost, one.stream));
        CUDA_CHECK(cudaStreamSynchronize(one.stream));
        INFO("a block in use does not hold what was written to it: has it been handed out twice?");
        const Floats want(one.n, one.value);
        CHECK_ARRAYS(got, want);
    };
    for (int step = 0; step < 300; ++step) {
        CAPTURE(step);
        if (live.size() > 6 || (!live.empty() && random() % 2)) {
            auto one = live.begin();
            std::advance(one, random() % live.size());
            check_contents(one->first, one->second);
            pool.deallocate(one->first, one->second.stream);
            live.erase(one);
            continue;
        }
        const Live made{1 + random() % 1500, float(step), streams[random() % 3]};
        float* const block = floats_of(pool, made.n * sizeof(float), made.stream);
        {
            INFO("the address " << block << " is no multiple of 256");
            const bool aligned = reinterpret_cast<uintptr_t>(block) % 256 == 0;
            REQUIRE(aligned);
        }
        for (const auto& [other, its] : live) {
            INFO("a block was handed out that overlaps with one in use");
            const bool apart = block + made.n <= other || other + its.n <= block;
            REQUIRE(apart);
        }
        live[block] = made;
        launch_fill(block, made.n, made.value, made.stream);
    }
    for (const auto& [block, one] : live) check_contents(block, one);
    for (const auto& [block, one] : live) pool.deallocate(block, one.stream);
    check_bytes("pool.used()", pool.used(), 0);
}

TEST_CASE("task 3: reuse in another stream waits for the work before", "[task3]") {
    check_reuse_waits(cudaStreamNonBlocking, false);
    check_reuse_waits(cudaStreamDefault, false);
}

TEST_CASE("task 3: what counts is the stream in which a block was returned", "[task3]") {
    check_reuse_waits(cudaStreamNonBlocking, true);
}

TEST_CASE("task 3: a stream's own block comes first", "[task3]") {
    for (const bool turned : {false, true}) {
        CachingAllocator pool;
        const TestStream one, two;
        float* const a = floats_of(pool, kS, one);
        float* const b = floats_of(pool, kS, two);
        turned ? pool.deallocate(b, two) : pool.deallocate(a, one);
        turned ? pool.deallocate(a, one) : pool.deallocate(b, two);
        const bool own = pool.allocate(kS, two) == b && pool.allocate(kS, one) == a;
        INFO("each of two streams has returned a block, and one of them gets the other's");
        CHECK(own);
        check_counts("after that", pool, 2 * kS, 2 * kS);
    }
}

TEST_CASE("task 3: a block of another stream comes before a new one", "[task3]") {
    CachingAllocator pool;
    const TestStream one, two;
    warm_up(pool, kS, {one, one});
    float* const a = floats_of(pool, kS, two);
    float* const b = floats_of(pool, kS, two);
    check_counts("with two blocks of another stream", pool, 2 * kS, 2 * kS);
    float* const c = floats_of(pool, kS, two);
    check_counts("with a third one", pool, 3 * kS, 3 * kS);
    for (float* block : {a, b, c}) pool.deallocate(block, two);
}

TEST_CASE("task 3: when a call fails, no block is lost", "[task3]") {
    CachingAllocator pool;
    const TestStream one, two;
    warm_up(pool, kS, {one});
    void* block = nullptr;
    each_call_fails(
        "",
        [&] {
            if (block) pool.deallocate(block, one);
            block = nullptr;
        },
        [&] { block = floats_of(pool, kS, two); },
        [&](const std::string& call) {
            check_counts(("after " + call + " failed").c_str(), pool, 0, kS);
            block = floats_of(pool, kS, two);
            check_counts("with a block after that", pool, kS, kS);
        });
}

TEST_CASE("task 4: all returned blocks are freed", "[task4]") {
    const TestStream stream;
    wb::CallWatch watch;
    CachingAllocator pool;
    std::vector<void*> blocks;
    for (const size_t bytes : {kS, kS, kS / 2, kS / 4, kS / 4})
        blocks.push_back(floats_of(pool, bytes, stream));
    for (void* block : blocks) pool.deallocate(block, stream);
    pool.free_all_blocks();
    check_counts("after free_all_blocks()", pool, 0, 0);
    const auto check = [&](const char* what, size_t made, size_t freed) {
        INFO(made << " " << what << " made, " << freed << " given back");
        const bool all_given_back = made == freed;
        CHECK(all_given_back);
    };
    check("blocks of memory", watch.allocated, watch.freed);
    check("events",
          watch.count("cudaEventCreate") + watch.count("cudaEventCreateWithFlags"),
          watch.count("cudaEventDestroy"));
}

TEST_CASE("task 4: blocks in use stay", "[task4]") {
    CachingAllocator pool;
    const TestStream stream;
    float* const kept = floats_of(pool, kS, stream);
    warm_up(pool, kS, {stream, stream});
    launch_fill(kept, kFloats, 5, stream);
    pool.free_all_blocks();
    check_counts("with one block in use", pool, kS, kS);
    const Floats got = contents(kept, kFloats), want(kFloats, 5);
    CHECK_ARRAYS(got, want);
    pool.deallocate(kept, stream);
    pool.free_all_blocks();
    check_counts("when that is freed too", pool, 0, 0);
}

TEST_CASE("task 4: after that it works as at first", "[task4]") {
    CachingAllocator pool;
    const TestStream stream;
    for (int round = 0; round < 3; ++round) {
        float* const block = floats_of(pool, kS, stream);
        check_counts("with a block", pool, kS, kS);
        launch_fill(block, kFloats, float(round), stream);
        const Floats got = contents(block, kFloats), want(kFloats, float(round));
        CHECK_ARRAYS(got, want);
        pool.deallocate(block, stream);
        pool.free_all_blocks();
        check_counts("after free_all_blocks()", pool, 0, 0);
        pool.free_all_blocks();  // of nothing
    }
}

TEST_CASE("task 5: frees what is cached when there is too little memory", "[task5]") {
    CachingAllocator pool;
    const TestStream stream;
    float* const kept = floats_of(pool, kS, stream);
    warm_up(pool, kS / 2, {stream, stream});
    launch_fill(kept, kFloats, 5, stream);
    {
        wb::CallWatch watch;
        watch.fail_name = "cudaMalloc";
        watch.error = cudaErrorMemoryAllocation;
        const wb::Ending ending = wb::ending_of([&] { floats_of(pool, 2 * kS, stream); });
        {
            INFO(
                "cudaMalloc failed once for want of memory, two blocks were cached, and allocate() "
                "gave up: "
                << ending.other);
            const bool tried_again = !ending.cuda_error && ending.other.empty();
            REQUIRE(tried_again);
        }
        INFO(
            "allocate() went on, and the next cudaGetLastError() finds the error that it had dealt "
            "with");
        const bool no_error_remains = cudaGetLastError() == cudaSuccess;
        CHECK(no_error_remains);
    }
    check_counts("after that", pool, 3 * kS, 3 * kS);
    const Floats got = contents(kept, kFloats), want(kFloats, 5);
    CHECK_ARRAYS(got, want);
}

TEST_CASE("task 5: a second failure is an exception, and what is in use stays", "[task5]") {
    CachingAllocator pool;
    const TestStream stream;
    float* const kept = floats_of(pool, kS, stream);
    warm_up(pool, kS / 2, {stream});
    launch_fill(kept, kFloats, 5, stream);
    cudaError_t code = cudaSuccess;
    // More than any card has, so that both attempts fail.
    try {
        pool.allocate(size_t(1) << 40, stream);
    } catch (const wb::CudaError& error) {
        code = error.code;
    }
    {
        INFO("allocate() of 1 TiB ends with " << cudaGetErrorName(code)
                                              << ", want cudaErrorMemoryAllocation");
        const bool out_of_memory = code == cudaErrorMemoryAllocation;
        CHECK(out_of_memory);
    }
    {
        INFO("the error was thrown, and the next cudaGetLastError() finds it as well");
        const bool no_error_remains = cudaGetLastError() == cudaSuccess;
        CHECK(no_error_remains);
    }
    check_counts("after that", pool, kS, kS);
    floats_of(pool, kS, stream);
    check_counts("with one more block", pool, 2 * kS, 2 * kS);
    const Floats got = contents(kept, kFloats), want(kFloats, 5);
    CHECK_ARRAYS(got, want);
}

TEST_CASE("task 5: more than half of the memory in one size, then in another", "[task5]") {
    size_t free_bytes = 0, all = 0;
    CUDA_CHECK(cudaMemGetInfo(&free_bytes, &all));
    CachingAllocator pool;
    const TestStream stream;
    size_t step = 256;
    while (free_bytes / 8 * 5 > 8 * step) step *= 2;
    const size_t sizes[] = {free_bytes / 8 * 5 / step * step, free_bytes / 8 * 4 / step * step};
    const wb::Ending ending = wb::ending_of([&] {
        for (const int i : {0, 1, 0}) pool.deallocate(floats_of(pool, sizes[i], stream), stream);
    });
    cudaGetLastError();
    INFO("the memory that is cached is not freed for a request that needs it");
    const bool found_memory = !ending.cuda_error && ending.other.empty();
    CHECK(found_memory);
}

TEST_CASE("task 5: other errors are not retried", "[task5]") {
    CachingAllocator pool;
    const TestStream stream;
    warm_up(pool, kS / 2, {stream});
    wb::CallWatch watch;
    watch.fail_name = "cudaMalloc";
    watch.error = cudaErrorUnknown;
    {
        INFO("cudaMalloc failed with another error than cudaErrorMemoryAllocation, and allocate() "
             "did not throw it as wb::CudaError");
        const bool thrown = wb::throws_cuda_error([&] { floats_of(pool, kS, stream); });
        CHECK(thrown);
    }
    check_counts("after that", pool, 0, kS / 2);
    INFO(
        "cudaMalloc failed with an error that has nothing to do with the amount of memory, and was "
        "called again, or what is cached was freed");
    const bool left_alone = watch.count("cudaMalloc") == 1 && watch.freed == 0;
    CHECK(left_alone);
}

TEST_CASE("task 5: when a call fails, no memory is lost", "[task5]") {
    std::unique_ptr<CachingAllocator> pool;
    const TestStream stream;
    size_t free_before = 0, all = 0;
    each_call_fails(
        "allocate() of a new block",
        [&] {
            pool = std::make_unique<CachingAllocator>();
            CUDA_CHECK(cudaMemGetInfo(&free_before, &all));
        },
        [&] { floats_of(*pool, kPage, stream); },
        [&](const std::string& call) {
            check_counts(("after " + call + " failed").c_str(), *pool, 0, 0);
            size_t free_after = 0;
            CUDA_CHECK(cudaMemGetInfo(&free_after, &all));
            INFO("when " << call << " failed, " << kPage << " bytes were lost");
            const bool all_given_back = free_after + kPage / 2 > free_before;
            CHECK(all_given_back);
        });
}

TEST_CASE("task 6: two arrays are used, returned, and still there", "[task6]") {
    DriverPool pool(SIZE_MAX, true);
    const TestStream stream;
    check_counts("at first", pool, 0, 0);
    float* const a = floats_of(pool, kPage, stream);
    float* const b = floats_of(pool, kPage, stream);
    check_bytes("pool.used()", pool.used(), 2 * kPage);
    launch_fill(a, kFloats, 1, stream);
    launch_fill(b, kFloats, 2, stream);
    Floats got = contents(a, kFloats), want(kFloats, 1);
    CHECK_ARRAYS(got, want);
    pool.deallocate(a, stream);
    CUDA_CHECK(cudaStreamSynchronize(stream));
    check_bytes("pool.used()", pool.used(), kPage);
    pool.deallocate(b, stream);
    CUDA_CHECK(cudaStreamSynchronize(stream));
    check_bytes("pool.used()", pool.used(), 0);
    INFO("total() is " << pool.total() << " when both have been returned, want 134217728: the pool "
                       << "may keep all it has");
    const bool still_there = pool.total() >= 2 * kPage;
    CHECK(still_there);
}

TEST_CASE("task 6: what is above the threshold goes back when the host waits", "[task6]") {
    for (const size_t keep : {size_t(0), kPage}) {
        CAPTURE(keep);
        DriverPool pool(keep, true);
        const TestStream stream;
        float* const a = floats_of(pool, kPage, stream);
        float* const b = floats_of(pool, kPage, stream);
        pool.deallocate(a, stream);
        pool.deallocate(b, stream);
        CUDA_CHECK(cudaStreamSynchronize(stream));
        check_bytes("pool.total()", pool.total(), keep);
    }
}

TEST_CASE("task 6: trimmed to nothing, except for what is in use", "[task6]") {
    DriverPool pool(SIZE_MAX, true);
    const TestStream stream;
    float* const a = floats_of(pool, kPage, stream);
    float* const b = floats_of(pool, kPage, stream);
    launch_fill(b, kFloats, 5, stream);
    pool.deallocate(a, stream);
    CUDA_CHECK(cudaStreamSynchronize(stream));
    pool.trim(SIZE_MAX / 2);
    check_bytes("pool.total()", pool.total(), 2 * kPage);
    pool.trim(0);
    check_bytes("pool.total()", pool.total(), kPage);
    const Floats got = contents(b, kFloats), want(kFloats, 5);
    CHECK_ARRAYS(got, want);
    pool.deallocate(b, stream);
    CUDA_CHECK(cudaStreamSynchronize(stream));
    pool.trim(0);
    check_counts("after trim(0)", pool, 0, 0);
}

TEST_CASE("task 6: the pool has the attributes that were asked for", "[task6]") {
    for (const bool by_chance : {false, true}) {
        const DriverPool pool(3 * kPage, by_chance);
        unsigned long long keep = 0;
        int opportunistic = -1;
        {
            INFO("pool() is no pool");
            const bool there_is_a_pool = pool.pool() != nullptr;
            REQUIRE(there_is_a_pool);
        }
        CUDA_CHECK(cudaMemPoolGetAttribute(pool.pool(), cudaMemPoolAttrReleaseThreshold, &keep));
        CUDA_CHECK(cudaMemPoolGetAttribute(
            pool.pool(), cudaMemPoolReuseAllowOpportunistic, &opportunistic));
        CHECK_RESULT(keep, 3 * kPage);
        CHECK_RESULT(opportunistic, int(by_chance));
    }
}

TEST_CASE("task 6: the device's own pools stay as they are", "[task6]") {
    cudaMemPool_t before = nullptr, current = nullptr, own = nullptr;
    CUDA_CHECK(cudaDeviceGetDefaultMemPool(&own, 0));
    unsigned long long keep = 12345, after = 0;
    CUDA_CHECK(cudaMemPoolGetAttribute(own, cudaMemPoolAttrReleaseThreshold, &keep));
    CUDA_CHECK(cudaDeviceGetMemPool(&before, 0));
    const TestStream stream;
    DriverPool first(kPage, true), second(2 * kPage, false);
    float* const block = floats_of(first, kPage, stream);
    check_bytes("second.used()", second.used(), 0);
    CUDA_CHECK(cudaMemPoolGetAttribute(own, cudaMemPoolAttrReleaseThreshold, &after));
    CUDA_CHECK(cudaDeviceGetMemPool(&current, 0));
    CHECK_RESULT(after, keep);
    {
        INFO("the device's current pool is another one now");
        const bool same_pool = current == before;
        CHECK(same_pool);
    }
    first.deallocate(block, stream);
}

TEST_CASE("task 6: a block is used and freed in the order of a stream", "[task6]") {
    DriverPool pool(SIZE_MAX, false);
    const TestStream streams[2];
    wb::DeviceBuffer<float> results(2 * 10 * 256);
    CUDA_CHECK(cudaDeviceSynchronize());
    for (int round = 0; round < 10; ++round) {
        for (int s = 0; s < 2; ++s) {
            float* const block = floats_of(pool, kS, streams[s]);
            launch_fill(block, kFloats, float(2 * round + s), streams[s]);
            CUDA_CHECK(cudaMemcpyAsync(results.get() + (2 * round + s) * 256,
                                       block + kFloats - 256,
                                       256 * sizeof(float),
                                       cudaMemcpyDeviceToDevice,
                                       streams[s]));
            pool.deallocate(block, streams[s]);  // without a wait
        }
    }
    const Floats got = results.download();
    Floats want(got.size());
    for (size_t i = 0; i < want.size(); ++i) want[i] = float(i / 256);
    CHECK_ARRAYS(got, want);
}

TEST_CASE("task 6: a failed call is an exception, and no pool is lost", "[task6]") {
    const TestStream stream;
    size_t pools = 0;
    {
        wb::CallWatch watch;
        const DriverPool pool(kPage, false);
        pools = watch.count("cudaMemPoolCreate");
    }
    const char* calls[] = {
        "cudaMemPoolCreate", "cudaMemPoolSetAttribute", "cudaMemPoolSetAttribute"};
    for (size_t k = 0; k < 3; ++k) {
        wb::CallWatch watch;
        watch.fail_name = calls[k];
        watch.fail_nth = k == 2;
        watch.error = cudaErrorUnknown;
        INFO(calls[k] << " fails, and the constructor does not throw wb::CudaError, or it leaves "
                      << "the pool behind");
        const bool thrown = wb::throws_cuda_error([] { const DriverPool pool(kPage, false); });
        const size_t made = k == 0 ? 0 : watch.count("cudaMemPoolCreate");
        const bool no_pool_is_lost = thrown && made == watch.count("cudaMemPoolDestroy");
        CHECK(no_pool_is_lost);
    }
    CHECK_RESULT(pools, 1);
    DriverPool pool(SIZE_MAX, true);
    void* block = nullptr;
    const auto give_back = [&] {
        if (block) CUDA_CHECK(cudaFreeAsync(block, stream));
        block = nullptr;
    };
    each_call_fails(
        "the pool",
        give_back,
        [&] {
            block = pool.allocate(kS, stream);
            static_cast<void>(pool.used() + pool.total());
            pool.trim(0);
            if (block) pool.deallocate(block, stream);
            block = nullptr;
        },
        [](const std::string&) {});
    give_back();
}

TEST_CASE("task 7: the device doubles and the host adds 1", "[task7]") {
    for (const size_t n : {1, 255, 256, 257, 1000})
        for (const bool prefetch : {false, true})
            for (const int rounds : {1, 2, 5}) check_rounds(n, rounds, prefetch);
    check_rounds(100003, 3, false);
    check_rounds(100003, 3, true);
}

TEST_CASE("task 7: streams of either kind, and no rounds at all", "[task7]") {
    check_rounds(1000, 3, true, cudaStreamDefault);
    check_rounds(1000, 3, false, cudaStreamDefault);
    for (const bool prefetch : {false, true}) check_rounds(1000, 0, prefetch);
}

TEST_CASE("task 7: the same as copies to the device and back", "[task7]") {
    const size_t n = 5000;
    const Floats start = integers(n, 70);
    float *managed = nullptr, *pinned = nullptr;
    CUDA_CHECK(cudaMallocManaged(&managed, n * sizeof(float)));
    CUDA_CHECK(cudaMallocHost(&pinned, n * sizeof(float)));
    std::copy(start.begin(), start.end(), managed);
    std::copy(start.begin(), start.end(), pinned);
    wb::DeviceBuffer<float> d_data(n);
    const TestStream stream;
    CUDA_CHECK(cudaDeviceSynchronize());
    rounds_managed(managed, n, 4, true, stream);
    rounds_by_copies(pinned, d_data.get(), n, 4, stream);
    const Floats got(managed, managed + n), want(pinned, pinned + n);
    CUDA_CHECK(cudaFree(managed));
    CUDA_CHECK(cudaFreeHost(pinned));
    CHECK_ARRAYS(got, want);
}

TEST_CASE("task 7: all work is in the given stream, and a failed call is an exception", "[task7]") {
    float* data = nullptr;
    CUDA_CHECK(cudaMallocManaged(&data, kS));
    std::fill(data, data + kFloats, 1.0f);
    {
        const TestStream stream;
        each_call_fails(
            "rounds_managed()",
            [] {},
            [&] { rounds_managed(data, kFloats, 1, true, stream); },
            [](const std::string&) {});
        wb::CallWatch watch;
        rounds_managed(data, kFloats, 2, true, stream);
        std::string elsewhere;
        for (const wb::CudaCall& call : watch.calls)
            if ((call.name.find("Launch") != std::string::npos ||
                 call.name.find("Async") != std::string::npos) &&
                call.stream != stream)
                elsewhere = call.name.find("Launch") != std::string::npos ? "<<<>>>" : call.name;
        INFO("rounds_managed() uses " << elsewhere << " with another stream than the given one");
        const bool all_in_the_stream = elsewhere.empty();
        CHECK(all_in_the_stream);
    }
    CUDA_CHECK(cudaFree(data));
}

TEST_CASE("efficient: after warm-up nothing is asked of the driver", "[efficient][task2][task3]") {
    CachingAllocator pool;
    const TestStream stream;
    const auto round = [&](size_t less) {
        for (const size_t bytes : {kS / 4, kS / 8, kS / 16}) {
            float* const block = floats_of(pool, bytes - less, stream);
            launch_fill(block, (bytes - less) / sizeof(float), 1, stream);
            pool.deallocate(block, stream);
        }
    };
    round(0);
    const size_t total = pool.total();
    const auto calls = wb::host_calls([&] {
        for (size_t i = 0; i < 100; ++i) round(4 * i);
    });
    CHECK(calls.driver_allocations == 0);
    CHECK(calls.driver_frees == 0);
    CHECK(calls.host_waits == 0);
    CHECK(calls.stream_waits == 0);
    CHECK(pool.total() == total);
    if (!wb::on_emulator()) return;           // a card has no model
    CHECK(calls.model_microseconds <= 1400);  // 300 launches and events take 1260 of the host
}

TEST_CASE("efficient: streams that have blocks of their own do not wait for each other",
          "[efficient][task2][task3]") {
    CachingAllocator pool;
    const TestStream a, b, c;
    const std::vector<cudaStream_t> streams = {a, b, c};
    warm_up(pool, kS, streams);
    const auto calls = wb::host_calls([&] {
        for (int i = 0; i < 20; ++i) {
            float* const blocks[] = {floats_of(pool, kS, streams[i % 3]),
                                     floats_of(pool, kS, streams[(i + 1) % 3])};
            for (int k = 0; k < 2; ++k) {
                launch_fill(blocks[k], kFloats, 1, streams[(i + k) % 3]);
                pool.deallocate(blocks[k], streams[(i + k) % 3]);
            }
        }
    });
    CHECK(calls.driver_allocations == 0);
    CHECK(calls.stream_waits == 0);
    CHECK(calls.host_waits == 0);
}

TEST_CASE("efficient: a block of another stream takes one wait, and none of the host",
          "[efficient][task2][task3]") {
    CachingAllocator pool;
    const TestStream streams[2];
    warm_up(pool, kS, {streams[0]});
    const auto calls = wb::host_calls([&] {
        for (int i = 0; i < 20; ++i) {
            const cudaStream_t stream = streams[(i + 1) % 2];
            float* const block = floats_of(pool, kS, stream);
            launch_fill(block, kFloats, 1, stream);
            pool.deallocate(block, stream);
        }
    });
    CHECK(calls.driver_allocations == 0);
    CHECK(calls.stream_waits <= 20);
    CHECK(calls.host_waits == 0);
}

TEST_CASE("efficient: the driver's pool keeps its memory while the host waits",
          "[efficient][task6]") {
    DriverPool pool(2 * kPage, false);
    const TestStream stream;
    pool.deallocate(floats_of(pool, kPage, stream), stream);
    const size_t total = pool.total();
    const auto calls = wb::host_calls([&] {
        for (int i = 0; i < 20; ++i) {
            float* const block = floats_of(pool, kPage, stream);
            launch_fill(block, kFloats, 1, stream);
            pool.deallocate(block, stream);
            CUDA_CHECK(cudaStreamSynchronize(stream));
        }
    });
    CHECK(calls.driver_allocations == 0);
    CHECK(calls.host_waits == 20);  // the test's own
    CHECK(pool.total() == total);
}

TEST_CASE("efficient: managed memory moves when it is asked to, and one wait is enough",
          "[efficient][task7]") {
    float* data = nullptr;
    CUDA_CHECK(cudaMallocManaged(&data, kS));
    std::fill(data, data + kFloats, 1.0f);
    for (const bool prefetch : {false, true}) {
        CAPTURE(prefetch);
        const TestStream stream;
        size_t moves = 0;
        const auto calls =
            wb::host_calls([&] { rounds_managed(data, kFloats, 5, prefetch, stream); });
        {
            wb::CallWatch watch;
            rounds_managed(data, kFloats, 5, prefetch, stream);
            moves = watch.count("cudaMemPrefetchAsync");
        }
        CHECK(calls.host_waits == 5);
        CHECK(calls.driver_allocations == 0);
        CHECK(moves == (prefetch ? 10 : 0));
    }
    CUDA_CHECK(cudaFree(data));
}
