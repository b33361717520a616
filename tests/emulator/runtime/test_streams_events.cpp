// SPDX-License-Identifier: MIT
// Streams, events and host functions: identity, order, time.
#include <thread>

#include "device_lab.h"

using Order = machine::OrderEvent::Kind;

TEST_CASE("streams: created with flags and priority, and gone after destroy", "[stream]") {
    lab::Device device;
    cudaStream_t stream = nullptr;
    REQUIRE(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, -1) == cudaSuccess);
    unsigned flags = 0;
    int priority = 0, least = 1, greatest = 1;
    CHECK(cudaStreamGetFlags(stream, &flags) == cudaSuccess);
    CHECK(flags == cudaStreamNonBlocking);
    CHECK(cudaStreamGetPriority(stream, &priority) == cudaSuccess);
    CHECK(priority == -1);
    CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest) == cudaSuccess);
    CHECK((least == 0 && greatest < 0));
    CHECK(cudaStreamQuery(stream) == cudaSuccess);
    CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
    CHECK(cudaStreamDestroy(stream) == cudaSuccess);
    CHECK(cudaStreamSynchronize(stream) == cudaErrorInvalidResourceHandle);
    CHECK(cudaStreamDestroy(stream) == cudaErrorInvalidResourceHandle);
    CHECK(cudaStreamCreateWithFlags(&stream, 4) == cudaErrorInvalidValue);
    REQUIRE(device.seen.order.size() == 4);
    CHECK(device.seen.order[0].kind == Order::kStreamCreate);
    CHECK(device.seen.order[0].non_blocking);
    CHECK(device.seen.order[0].stream != 0);
    CHECK(device.seen.order[3].kind == Order::kStreamDestroy);
}

TEST_CASE("streams: the default handles need no creation", "[stream]") {
    lab::Device device;
    for (cudaStream_t stream : {cudaStream_t(nullptr), cudaStreamLegacy, cudaStreamPerThread})
        CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
    unsigned long long legacy = 1, own = 0;
    CHECK(cudaStreamGetId(cudaStreamLegacy, &legacy) == cudaSuccess);
    CHECK(cudaStreamGetId(cudaStreamPerThread, &own) == cudaSuccess);
    CHECK(legacy == 0);
    CHECK(own != 0);
    CHECK(cudaStreamDestroy(nullptr) == cudaErrorInvalidResourceHandle);
}

TEST_CASE("streams: work of a stream carries its id", "[stream]") {
    lab::Device device;
    cudaStream_t stream = nullptr;
    REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
    unsigned long long id = 0;
    REQUIRE(cudaStreamGetId(stream, &id) == cudaSuccess);
    int* data = lab::device_array<int>(4);
    REQUIRE(cudaMemsetAsync(data, 0, 16, stream) == cudaSuccess);
    REQUIRE(device.seen.access.size() == 1);
    CHECK(device.seen.access[0].stream == id);
    CHECK(cudaMemsetAsync(data, 0, 16, reinterpret_cast<cudaStream_t>(data)) ==
          cudaErrorInvalidResourceHandle);
}

TEST_CASE("host functions: run in the order of the stream's work", "[stream]") {
    lab::Device device;
    int* data = lab::device_array<int>(1);
    struct State {
        int host = -1, seen = -1;
    } state;
    REQUIRE(cudaMemsetAsync(data, 0, 4, nullptr) == cudaSuccess);
    REQUIRE(cudaMemcpyAsync(&state.host, data, 4, cudaMemcpyDeviceToHost, nullptr) == cudaSuccess);
    const auto look = [](void* at) {
        static_cast<State*>(at)->seen = static_cast<State*>(at)->host;
    };
    REQUIRE(cudaLaunchHostFunc(nullptr, look, &state) == cudaSuccess);
    CHECK(state.seen == 0);
    const auto callback = [](cudaStream_t, cudaError_t error, void* at) {
        static_cast<State*>(at)->seen = 100 + int(error);
    };
    REQUIRE(cudaStreamAddCallback(nullptr, callback, &state, 0) == cudaSuccess);
    CHECK(state.seen == 100);
    CHECK(cudaLaunchHostFunc(nullptr, nullptr, nullptr) == cudaErrorInvalidValue);
}

TEST_CASE("events: the time between two records is positive", "[event]") {
    lab::Device device;
    cudaEvent_t start = nullptr, end = nullptr;
    REQUIRE(cudaEventCreate(&start) == cudaSuccess);
    REQUIRE(cudaEventCreate(&end) == cudaSuccess);
    float ms = -1;
    CHECK(cudaEventElapsedTime(&ms, start, end) == cudaErrorInvalidResourceHandle);  // not recorded
    REQUIRE(cudaEventRecord(start, nullptr) == cudaSuccess);
    REQUIRE(cudaEventRecord(end, nullptr) == cudaSuccess);
    CHECK(cudaEventQuery(end) == cudaSuccess);
    CHECK(cudaEventSynchronize(end) == cudaSuccess);
    REQUIRE(cudaEventElapsedTime(&ms, start, end) == cudaSuccess);
    CHECK(ms > 0);
    CHECK(ms < 10000);
}

TEST_CASE("events: without timing they order but do not measure", "[event]") {
    lab::Device device;
    cudaEvent_t timed = nullptr, plain = nullptr, wrong = nullptr;
    REQUIRE(cudaEventCreate(&timed) == cudaSuccess);
    REQUIRE(cudaEventCreateWithFlags(&plain, cudaEventDisableTiming) == cudaSuccess);
    CHECK(cudaEventCreateWithFlags(&wrong, cudaEventInterprocess) == cudaErrorInvalidValue);
    REQUIRE(cudaEventRecord(timed, nullptr) == cudaSuccess);
    REQUIRE(cudaEventRecord(plain, nullptr) == cudaSuccess);
    float ms = 0;
    CHECK(cudaEventElapsedTime(&ms, timed, plain) == cudaErrorInvalidResourceHandle);
}

TEST_CASE("events: record, wait and sync are reported in order", "[event]") {
    lab::Device device;
    cudaStream_t a = nullptr, b = nullptr;
    cudaEvent_t event = nullptr;
    REQUIRE(cudaStreamCreate(&a) == cudaSuccess);
    REQUIRE(cudaStreamCreate(&b) == cudaSuccess);
    REQUIRE(cudaEventCreate(&event) == cudaSuccess);
    CHECK(cudaEventSynchronize(event) == cudaSuccess);  // never recorded: nothing to wait for
    device.seen.order.clear();
    REQUIRE(cudaEventRecord(event, a) == cudaSuccess);
    REQUIRE(cudaStreamWaitEvent(b, event, 0) == cudaSuccess);
    REQUIRE(cudaEventSynchronize(event) == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    REQUIRE(device.seen.order.size() == 4);
    CHECK(device.seen.order[0].kind == Order::kEventRecord);
    CHECK(device.seen.order[1].kind == Order::kStreamWaitEvent);
    CHECK(device.seen.order[1].event == device.seen.order[0].event);
    CHECK(device.seen.order[1].stream != device.seen.order[0].stream);
    CHECK(device.seen.order[2].kind == Order::kEventSync);
    CHECK(device.seen.order[3].kind == Order::kDeviceSync);
    CHECK(cudaEventDestroy(event) == cudaSuccess);
    CHECK(cudaEventDestroy(event) == cudaErrorInvalidResourceHandle);
}

TEST_CASE("capture: what a thread keeps to itself does not hinder another", "[stream]") {
    lab::Device device;
    int* const values = lab::device_array<int>(4);
    const int one = 1;
    const auto copy_elsewhere = [&] {
        cudaError_t error = cudaErrorUnknown;
        std::thread([&] {
            error = cudaMemcpy(values, &one, sizeof one, cudaMemcpyHostToDevice);
        }).join();
        return error;
    };
    const auto while_capturing = [&](unsigned flags, cudaStreamCaptureMode mode) {
        cudaStream_t stream = nullptr;
        cudaGraph_t graph = nullptr;
        REQUIRE(cudaStreamCreateWithFlags(&stream, flags) == cudaSuccess);
        REQUIRE(cudaStreamBeginCapture(stream, mode) == cudaSuccess);
        const cudaError_t error = copy_elsewhere();
        // The thread that captures may not.
        CHECK(cudaMemcpy(values, &one, sizeof one, cudaMemcpyHostToDevice) ==
              cudaErrorStreamCaptureImplicit);
        cudaStreamEndCapture(stream, &graph);
        cudaGraphDestroy(graph);
        cudaStreamDestroy(stream);
        return error;
    };
    CHECK(while_capturing(cudaStreamNonBlocking, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
    CHECK(while_capturing(cudaStreamNonBlocking, cudaStreamCaptureModeGlobal) ==
          cudaErrorStreamCaptureImplicit);
    // The legacy default stream would wait for this one.
    CHECK(while_capturing(cudaStreamDefault, cudaStreamCaptureModeThreadLocal) ==
          cudaErrorStreamCaptureImplicit);
    CHECK(copy_elsewhere() == cudaSuccess);
}
