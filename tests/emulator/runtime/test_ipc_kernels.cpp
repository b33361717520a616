// SPDX-License-Identifier: MIT
// Kernels that share memory with another process. The hidden test cases are what that process does.
#include "ipc_lab.h"

using lab::allocation;
using lab::handle_of;
using lab::opened;
using lab::store;
using lab::value_at;

namespace {

// Adds 1 to a counter from each thread, with an atomic operation.
const char* const kCount = R"(
.visible .entry count(.param .u64 at, .param .u32 rounds) {
    .reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [at];
    ld.param.u32 %r1, [rounds];
    cvta.to.global.u64 %rd2, %rd1;
again:
    atom.global.add.u32 %r2, [%rd2], 1;
    sub.u32 %r1, %r1, 1;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra again;
    ret;
})";

// Waits until the word is not 0.
const char* const kPoll = R"(
.visible .entry poll(.param .u64 at) {
    .reg .pred %p<2>; .reg .b32 %r<2>; .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [at];
    cvta.to.global.u64 %rd2, %rd1;
again:
    ld.volatile.global.u32 %r1, [%rd2];
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra again;
    ret;
})";

void count_to(int* memory, uint32_t rounds) {
    lab::Program program(kCount);
    lab::stub_launch(program.kernel("count"), 1, 32, {&memory, &rounds});
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
}

}  // namespace

TEST_CASE("ipc: role counts", "[.role]") {
    lab::Device device;
    lab::Peer peer = lab::parent();
    int* memory = opened<int>(peer.receive<cudaIpcMemHandle_t>());
    peer.send('o');
    count_to(memory, 20000);
}

TEST_CASE("ipc: atomic operations of two processes do not lose one another", "[ipc][forks]") {
    lab::Device device;
    lab::Process other("ipc: role counts");
    int* memory = lab::device_array<int>(1);
    store(memory, 0);
    other.send(handle_of(memory));
    other.receive<char>();
    count_to(memory, 20000);
    CHECK(other.succeeds());
    CHECK(value_at(memory) == 2 * 32 * 20000);
}

TEST_CASE("ipc: role polls", "[.role]") {
    lab::Device device;
    lab::Peer peer = lab::parent();
    int* memory = opened<int>(peer.receive<cudaIpcMemHandle_t>());
    runtime::context().machine(0).set_budget(0);
    peer.send('o');
    lab::Program program(kPoll);
    lab::stub_launch(program.kernel("poll"), 1, 1, {&memory});
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
}

TEST_CASE("ipc: a kernel may wait for another process", "[ipc][forks]") {
    lab::Device device;
    lab::Process other("ipc: role polls");
    int* memory = lab::device_array<int>(1);
    store(memory, 0);
    other.send(handle_of(memory));
    other.receive<char>();
    usleep(100'000);  // many times the rounds that count as a hang otherwise
    store(memory, 1);
    CHECK(other.succeeds());
}

TEST_CASE("ipc: a kernel that waits for nobody is a hang that names the memory", "[ipc]") {
    struct Stalls final : machine::Observer {
        void on_stall(const machine::StallEvent& event) override {
            polled = event.polled;
            budget = event.budget;
        }
        const machine::Allocation* polled = nullptr;
        uint64_t budget = 0;
    } stalls;
    lab::Device device;
    runtime::context().observers.add(&stalls, machine::kFaultEvents);
    int* memory = lab::device_array<int>(1);
    store(memory, 0);
    const bool shared = GENERATE(true, false);
    if (shared) handle_of(memory);
    lab::Program program(kPoll);
    lab::stub_launch(program.kernel("poll"), 1, 1, {&memory});
    CHECK(cudaDeviceSynchronize() == cudaErrorLaunchTimeout);
    CHECK(stalls.polled == &allocation(memory));
    CHECK((stalls.budget != 0) == shared);  // otherwise it is seen at once that nothing can change
}
