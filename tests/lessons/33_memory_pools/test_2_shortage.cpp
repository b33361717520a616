// SPDX-License-Identifier: MIT
// Lesson 33: returned blocks are freed by free_all_blocks(), and when there is too little memory.
#include "checks.h"

#include <memory>

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
    {
        INFO("what cudaMalloc has made is given back by cudaFreeAsync: in the order of a stream it "
             "is not there yet when the next cudaMalloc needs it. cudaFree waits");
        const bool given_back_at_once = watch.count("cudaFreeAsync") == 0;
        CHECK(given_back_at_once);
    }
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

TEST_CASE("task 5: a second failure is an exception, and blocks in use stay", "[task5]") {
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

TEST_CASE("task 5: an error of earlier work is still found", "[task5]") {
    CachingAllocator pool;
    const TestStream stream;
    wb::CallWatch watch;
    watch.fail_name = "cudaStreamSynchronize";
    watch.error = cudaErrorUnknown;
    cudaStreamSynchronize(stream);
    const bool thrown = wb::throws_cuda_error([&] { floats_of(pool, kS, stream); });
    {
        INFO("a call before allocate() has failed, and allocate() throws its error");
        const bool not_thrown = !thrown;
        CHECK(not_thrown);
    }
    INFO("a call before allocate() has failed, and after it cudaGetLastError() does not find that "
         "error any more: cudaGetLastError() in allocate() has forgotten it");
    const bool still_found = cudaGetLastError() == cudaErrorUnknown;
    CHECK(still_found);
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
