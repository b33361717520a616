// SPDX-License-Identifier: MIT
// Lesson 33: the driver's pool, and managed memory, which host and device use in turns.
#include "cases/devices.h"
#include "checks.h"
#include "watches/host_calls.h"

#include <algorithm>
#include <memory>

namespace {

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

TEST_CASE("task 6: two arrays are used, returned, and still there", "[task6]") {
    DriverPool pool(SIZE_MAX, true);
    const TestStream stream;
    check_counts("at first", pool, 0, 0);
    float* const a = floats_of(pool, kPage, stream);
    float* const b = floats_of(pool, kPage, stream);
    {
        INFO("a block is in use, and used() is 0: the block does not come from this pool");
        const bool from_this_pool = pool.used() > 0;
        CHECK(from_this_pool);
    }
    check_bytes("with two blocks, pool.used()", pool.used(), 2 * kPage);
    launch_fill(a, kFloats, 1, stream);
    launch_fill(b, kFloats, 2, stream);
    Floats got = contents(a, kFloats), want(kFloats, 1);
    CHECK_ARRAYS(got, want);
    pool.deallocate(a, stream);
    CUDA_CHECK(cudaStreamSynchronize(stream));
    {
        INFO("one of two blocks was returned, and used() is what it was with both: it has to be "
             "the current number, not the highest so far");
        const bool is_current = pool.used() != 2 * kPage;
        CHECK(is_current);
    }
    check_bytes("pool.used()", pool.used(), kPage);
    pool.deallocate(b, stream);
    CUDA_CHECK(cudaStreamSynchronize(stream));
    check_bytes("pool.used()", pool.used(), 0);
    INFO("total() is " << pool.total() << " when both have been returned, want 134217728: the pool "
                       << "may keep all it has");
    const bool still_there = pool.total() >= 2 * kPage;
    CHECK(still_there);
}

TEST_CASE("task 6: the pool gives memory above the threshold back when the host waits", "[task6]") {
    for (const size_t keep : {size_t(0), kPage}) {
        CAPTURE(keep);
        wb::overwrite_stack();  // so that an attribute with too few bytes cannot be right by luck
        DriverPool pool(keep, true);
        const TestStream stream;
        float* const a = floats_of(pool, kPage, stream);
        float* const b = floats_of(pool, kPage, stream);
        pool.deallocate(a, stream);
        pool.deallocate(b, stream);
        CUDA_CHECK(cudaStreamSynchronize(stream));
        check_bytes("when the host has waited, pool.total()", pool.total(), keep);
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
    check_bytes("after trim() to more than the pool has, pool.total()", pool.total(), 2 * kPage);
    pool.trim(0);
    check_bytes("after trim(0), pool.total()", pool.total(), kPage);
    const Floats got = contents(b, kFloats), want(kFloats, 5);
    CHECK_ARRAYS(got, want);
    pool.deallocate(b, stream);
    CUDA_CHECK(cudaStreamSynchronize(stream));
    pool.trim(0);
    check_counts("after trim(0)", pool, 0, 0);
}

TEST_CASE("task 6: the pool has the attributes that were asked for", "[task6]") {
    for (const bool by_chance : {false, true}) {
        wb::overwrite_stack();
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
        {
            INFO("the threshold's lower four bytes are right, the others are not: the attribute is "
                 "an unsigned long long, whose eight bytes are read at the address");
            const bool eight_bytes_are_set = unsigned(keep) != 3 * kPage || keep == 3 * kPage;
            REQUIRE(eight_bytes_are_set);
        }
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
    {
        INFO("a block of one DriverPool is counted by another one: both use the same pool");
        const bool each_has_its_own = second.used() == 0;
        CHECK(each_has_its_own);
    }
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

TEST_CASE("task 6: the pool belongs to the device that is current when it is made", "[task6]") {
    if (wb::device_count(2) < 2) {
        SUCCEED("one device: nothing to be wrong about");
        return;
    }
    const wb::OnDevice second(1);
    DriverPool pool(kPage, true);
    const TestStream stream;
    CUDA_CHECK(cudaSetDevice(0));
    float* const block = floats_of(pool, kS, stream);
    cudaPointerAttributes found{};
    CUDA_CHECK(cudaPointerGetAttributes(&found, block));
    pool.deallocate(block, stream);
    INFO("device 1 was current when the pool was made, and its blocks are memory of device "
         << found.device);
    const bool of_that_device = found.device == 1;
    CHECK(of_that_device);
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
    {
        wb::CallWatch watch;
        pool.deallocate(floats_of(pool, kS, streams[0]), streams[0]);
        std::string waiting;
        for (const wb::CudaCall& call : watch.calls)
            if (wb::waits_for_device(call.name)) waiting = call.name;
        INFO("allocate() or deallocate() calls " << waiting << ", in which the host waits");
        const bool nothing_waits = waiting.empty();
        CHECK(nothing_waits);
    }
    const Floats got = results.download();
    Floats want(got.size());
    for (size_t i = 0; i < want.size(); ++i) want[i] = float(i / 256);
    CHECK_ARRAYS(got, want);
}

TEST_CASE("task 6: a failed call is an exception, and no pool is lost", "[task6]") {
    const TestStream stream;
    {
        wb::CallWatch watch;
        std::make_unique<DriverPool>(kPage, false).reset();
        const size_t pools = watch.count("cudaMemPoolCreate");
        {
            INFO("the constructor makes " << pools
                                          << " pools of its own (cudaMemPoolCreate), want 1");
            const bool one_pool_is_made = pools == 1;
            REQUIRE(one_pool_is_made);
        }
        INFO("the DriverPool is gone, and its pool is not: cudaMemPoolDestroy was not called");
        const bool pool_is_destroyed = watch.count("cudaMemPoolDestroy") == 1;
        CHECK(pool_is_destroyed);
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

TEST_CASE("task 7: the data moves to the current device", "[task7]") {
    if (wb::device_count(2) < 2) {
        SUCCEED("one device: nothing to be wrong about");
        return;
    }
    const wb::OnDevice second(1);
    float* data = nullptr;
    CUDA_CHECK(cudaMallocManaged(&data, kS));
    std::fill(data, data + kFloats, 1.0f);
    {
        const TestStream stream;
        wb::CallWatch watch;
        rounds_managed(data, kFloats, 2, true, stream);
        int elsewhere = 1;
        for (const wb::CudaCall& call : watch.calls)
            if (call.device >= 0 && call.device != 1) elsewhere = call.device;
        INFO("device 1 is current, and the data is moved to device " << elsewhere);
        const bool moved_to_the_current_device = elsewhere == 1;
        CHECK(moved_to_the_current_device);
    }
    CUDA_CHECK(cudaFree(data));
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
