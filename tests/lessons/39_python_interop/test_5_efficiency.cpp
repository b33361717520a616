// SPDX-License-Identifier: MIT
// Lesson 39: a hand-over copies no byte, and the host does not wait.
#include "checks.h"
#include "watches/host_calls.h"

TEST_CASE("efficient: the producer's stream does not wait", "[efficient][task3]") {
    const TwoStreams test;
    test.check([&] { wait_for(test.producer, test.consumer); }, false);
}

TEST_CASE("efficient: DLPack moves no byte", "[efficient][task4][task5]") {
    const auto memory = bytes_for(kFloat32);
    const TestStream producer, consumer;
    Array array = array_of(views()[4], kFloat32, memory);
    array.stream = producer;
    const auto counters = wb::count([&] {
        for (int i = 0; i < 10; ++i) {
            import_dlpack(made(export_dlpack(array, consumer.number())), consumer);
            import_dlpack_versioned(made(export_dlpack_versioned(array, consumer.number())),
                                    consumer);
        }
    });
    NEED_COUNTERS(counters);
    CHECK(counters->host_to_device_bytes == 0);
    CHECK(counters->device_to_host_bytes == 0);
    CHECK(counters->device_to_device_bytes == 0);
    CHECK(counters->device_allocations == 0);
    CHECK(counters->launches == 0);
}

TEST_CASE("efficient: the CUDA Array Interface moves no byte", "[efficient][task6][task7]") {
    const auto memory = bytes_for(kFloat32);
    const TestStream producer, consumer;
    Array array = array_of(views()[4], kFloat32, memory);
    array.stream = producer;
    const auto counters = wb::count([&] {
        for (int i = 0; i < 10; ++i) import_cai(export_cai(array), memory, consumer);
    });
    NEED_COUNTERS(counters);
    CHECK(counters->host_to_device_bytes == 0);
    CHECK(counters->device_to_host_bytes == 0);
    CHECK(counters->device_to_device_bytes == 0);
    CHECK(counters->device_allocations == 0);
    CHECK(counters->launches == 0);
}

TEST_CASE("efficient: the host does not wait when an array changes streams",
          "[efficient][task3][task4][task5][task6][task7]") {
    const auto memory = device_memory(std::vector<float>(1 << 16, 1.0f));
    const TestStream one, other;
    Array array{};
    array.memory = memory;
    array.type = kFloat32;
    array.layout = layout_of({1 << 16}, {1});
    array.stream = one;
    const auto calls = wb::host_calls([&] {
        for (int i = 0; i < 10; ++i) {
            scale(array, 2);
            array = import_dlpack(made(export_dlpack(array, other.number())), other);
            REQUIRE(shape_of(array.layout) == Numbers{1 << 16});
            scale(array, 0.5);
            array = import_cai(export_cai(array), array.memory, one);
            REQUIRE(shape_of(array.layout) == Numbers{1 << 16});
        }
    });
    CHECK(calls.host_waits == 0);
    CHECK(calls.host_launches == 20);
    CUDA_CHECK(cudaDeviceSynchronize());
}

TEST_CASE("efficient: one launch for a view, which loads and stores its elements alone",
          "[efficient][task1][task7][task8]") {
    const auto memory = bytes_for(kFloat32);
    const CudaArrayInterface cai = foreign_cai(memory.get(), kFloat32, {20, 15}, {30, 2});
    const auto counters = wb::count([&] { interop_scale(&cai, 2); });
    NEED_COUNTERS(counters);
    CHECK(counters->launches == 1);
    CHECK(counters->global_load_bytes == 1200);
    CHECK(counters->global_store_bytes == 1200);
    CHECK(counters->device_allocations == 0);
}
