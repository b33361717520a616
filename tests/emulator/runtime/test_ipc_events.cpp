// SPDX-License-Identifier: MIT
// cudaIpc*: events of another process, and where processes share nothing. The hidden test case is
// what that process does.
#include <algorithm>

#include "ipc_lab.h"

using lab::kForProcesses;

TEST_CASE("ipc: role uses an event of another process", "[.role]") {
    lab::Device device;
    lab::Peer peer = lab::parent();
    cudaEvent_t event = nullptr;
    REQUIRE(cudaIpcOpenEventHandle(&event, peer.receive<cudaIpcEventHandle_t>()) == cudaSuccess);
    CHECK(cudaStreamWaitEvent(nullptr, event, 0) == cudaSuccess);
    CHECK(cudaEventSynchronize(event) == cudaSuccess);
    CHECK(cudaEventQuery(event) == cudaSuccess);
    CHECK(cudaEventRecord(event, nullptr) == cudaSuccess);
    float milliseconds = 0;
    CHECK(cudaEventElapsedTime(&milliseconds, event, event) == cudaErrorInvalidResourceHandle);
    cudaIpcEventHandle_t again{};
    CHECK(cudaIpcGetEventHandle(&again, event) == cudaErrorInvalidResourceHandle);
    peer.send('u');
    peer.receive<char>();  // the other process has destroyed it
    CHECK(cudaStreamWaitEvent(nullptr, event, 0) == cudaErrorInvalidResourceHandle);
    CHECK(cudaEventSynchronize(event) == cudaErrorInvalidResourceHandle);
    CHECK(cudaEventRecord(event, nullptr) == cudaErrorInvalidResourceHandle);
    CHECK(cudaEventDestroy(event) == cudaSuccess);
    CHECK(cudaEventDestroy(event) == cudaErrorInvalidResourceHandle);
}

TEST_CASE("ipc: an event serves both processes until its owner destroys it", "[ipc][forks]") {
    lab::Device device;
    lab::Process other("ipc: role uses an event of another process");
    cudaEvent_t event = nullptr;
    cudaIpcEventHandle_t handle{};
    REQUIRE(cudaEventCreateWithFlags(&event, kForProcesses) == cudaSuccess);
    REQUIRE(cudaIpcGetEventHandle(&handle, event) == cudaSuccess);
    REQUIRE(cudaEventRecord(event, nullptr) == cudaSuccess);
    other.send(handle);
    other.receive<char>();
    CHECK(cudaStreamWaitEvent(nullptr, event, 0) == cudaSuccess);
    CHECK(cudaEventDestroy(event) == cudaSuccess);
    other.send('d');
    CHECK(other.succeeds());
}

TEST_CASE("ipc: only events made for it have a handle", "[ipc]") {
    lab::Device device;
    cudaEvent_t plain = nullptr, untimed = nullptr, shared = nullptr;
    cudaIpcEventHandle_t handle{}, again{};
    REQUIRE(cudaEventCreate(&plain) == cudaSuccess);
    REQUIRE(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming) == cudaSuccess);
    REQUIRE(cudaEventCreateWithFlags(&shared, kForProcesses) == cudaSuccess);
    CHECK(cudaIpcGetEventHandle(&handle, plain) == cudaErrorInvalidResourceHandle);
    CHECK(cudaIpcGetEventHandle(&handle, untimed) == cudaErrorInvalidResourceHandle);
    CHECK(cudaIpcGetEventHandle(&handle, nullptr) == cudaErrorInvalidValue);
    CHECK(cudaIpcGetEventHandle(nullptr, shared) == cudaErrorInvalidValue);
    CHECK(cudaIpcGetEventHandle(&handle, shared) == cudaSuccess);
    CHECK(cudaIpcGetEventHandle(&again, shared) == cudaSuccess);
    CHECK(std::memcmp(&handle, &again, sizeof handle) == 0);
}

// Another process may wait for the event and let this one know by other means.
TEST_CASE("ipc: an event that is shared counts as waited for", "[ipc]") {
    lab::Device device;
    cudaEvent_t event = nullptr;
    cudaIpcEventHandle_t handle{};
    REQUIRE(cudaEventCreateWithFlags(&event, kForProcesses) == cudaSuccess);
    const auto syncs = [&] {
        return std::count_if(device.seen.order.begin(), device.seen.order.end(), [](auto& order) {
            return order.kind == machine::OrderEvent::Kind::kEventSync;
        });
    };
    REQUIRE(cudaEventRecord(event, nullptr) == cudaSuccess);
    CHECK(syncs() == 0);
    REQUIRE(cudaIpcGetEventHandle(&handle, event) == cudaSuccess);
    CHECK(syncs() == 1);
    REQUIRE(cudaEventRecord(event, nullptr) == cudaSuccess);
    CHECK(syncs() == 2);
}

TEST_CASE("ipc: devices support it, but not where a lesson is graded", "[ipc]") {
    lab::Device device;
    int value = 0;
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrIpcEventSupport, 0) == cudaSuccess);
    CHECK(value == 1);
    int* memory = lab::device_array<int>(4);
    cudaIpcMemHandle_t handle{};
    runtime::context().settings.ipc = false;
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrIpcEventSupport, 0) == cudaSuccess);
    CHECK(value == 0);
    CHECK(cudaIpcGetMemHandle(&handle, memory) == cudaErrorNotSupported);
    void* memory_of = nullptr;
    CHECK(cudaIpcOpenMemHandle(&memory_of, handle, lab::kLazy) == cudaErrorNotSupported);
    runtime::context().settings.ipc = true;
}
