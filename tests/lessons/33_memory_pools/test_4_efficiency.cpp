// SPDX-License-Identifier: MIT
// Lesson 33: the cost of blocks and managed memory, in calls of the driver and waits.
#include "checks.h"
#include "watches/host_calls.h"

#include <algorithm>

TEST_CASE("task 7: the host waits for all work of the given stream, and for no other", "[task7]") {
    float* data = nullptr;
    CUDA_CHECK(cudaMallocManaged(&data, kS));
    std::fill(data, data + kFloats, 1.0f);
    {
        const TestStream stream;
        wb::CallWatch watch;
        rounds_managed(data, kFloats, 3, true, stream);
        std::string other, order;  // launches L, moves M and waits W
        for (const wb::CudaCall& call : watch.calls) {
            if (call.name == "cudaDeviceSynchronize" ||
                (call.name == "cudaStreamSynchronize" && call.stream != stream))
                other = call.name;
            if (call.name.find("Launch") != std::string::npos) order += 'L';
            if (call.name.find("Prefetch") != std::string::npos) order += 'M';
            if (wb::waits_for_device(call.name)) order += 'W';
        }
        bool waited_for_moves = true;
        for (size_t at = order.find('L'); at != std::string::npos;) {
            const size_t next = order.find('L', at + 1);
            const std::string round = order.substr(at, next - at);
            const size_t move = round.find('M'), wait = round.find('W', move);
            if (move != std::string::npos)
                waited_for_moves = waited_for_moves && wait < round.find('M', move + 1) &&
                                   wait != std::string::npos;
            at = next;
        }
        {
            INFO("the host waits before the move to the host is queued, and not after: it adds 1 "
                 "while the data may be on its way, and rounds_managed() may return before the "
                 "last move is done");
            CHECK(waited_for_moves);
        }
        {
            INFO("rounds_managed() calls " << other << ", which waits for other streams as well");
            const bool waits_for_its_stream = other.empty();
            CHECK(waits_for_its_stream);
        }
    }
    CUDA_CHECK(cudaFree(data));
}

TEST_CASE("efficient: after warm-up no call asks the driver for memory",
          "[efficient][task2][task3]") {
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
        INFO("in 5 rounds the data is moved " << moves << " times, want "
                                              << (prefetch ? "10: to the device and to the host in "
                                                             "each round"
                                                           : "0"));
        const bool moved_when_asked = moves == (prefetch ? 10 : 0);
        CHECK(moved_when_asked);
    }
    CUDA_CHECK(cudaFree(data));
}
