// SPDX-License-Identifier: MIT
// Lesson 33: sizes of blocks, and blocks that are handed out again in the order of streams.
#include "checks.h"

#include <map>
#include <memory>
#include <random>
#include <stdexcept>

namespace {

// Whether deallocate() refuses an address that is no block in use.
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

// One stream uses a block and returns it in `returned_in`; then another stream gets it.
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
                            << ": want at least the request, a multiple of 256, and less than a "
                               "quarter more");
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

TEST_CASE("task 2: used() and total() count sizes of blocks, not of requests", "[task2]") {
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

TEST_CASE("task 2: an address that is no block in use is refused", "[task2]") {
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
    {
        INFO("a request for a block of 1536 bytes gets a cached block of another size");
        const bool of_its_own_size = std::count(blocks.begin(), blocks.end(), block) == 0;
        CHECK(of_its_own_size);
    }
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

TEST_CASE("task 3: another stream that reuses a block waits for the earlier work", "[task3]") {
    check_reuse_waits(cudaStreamNonBlocking, false);
    check_reuse_waits(cudaStreamDefault, false);
}

TEST_CASE("task 3: the stream of deallocate() counts, not that of allocate()", "[task3]") {
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
