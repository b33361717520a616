// SPDX-License-Identifier: MIT
// cudaIpc*: memory of another process. The hidden test cases are what that process does.
#include <sys/mman.h>
#include <sys/stat.h>

#include "ipc_lab.h"
#include "machine/platform/platform.h"
#include "machine/shared_file.h"

using Reason = machine::ApiEvent::Reason;
using lab::allocation;
using lab::handle_of;
using lab::kForProcesses;
using lab::kLazy;
using lab::opened;
using lab::store;
using lab::value_at;

namespace {

bool same(const cudaIpcMemHandle_t& a, const cudaIpcMemHandle_t& b) {
    return std::memcmp(&a, &b, sizeof a) == 0;
}

// Bytes of memory that the allocation's file takes.
uint64_t taken(const machine::Allocation& shared) {
    struct stat status {};
    REQUIRE(fstat(shared.shared_file, &status) == 0);
    return uint64_t(status.st_blocks) * 512;
}

}  // namespace

TEST_CASE("ipc: role doubles what it opens", "[.role]") {
    lab::Device device;
    lab::Peer peer = lab::parent();
    int* memory = opened<int>(peer.receive<cudaIpcMemHandle_t>());
    store(memory, 2 * value_at(memory));
    store(memory + 999, 5);
    CHECK(cudaIpcCloseMemHandle(memory) == cudaSuccess);
    peer.send('d');
}

TEST_CASE("ipc: what one process writes, the other reads", "[ipc][forks]") {
    lab::Device device;
    lab::Process other("ipc: role doubles what it opens");
    int* memory = lab::device_array<int>(1000);
    store(memory, 21);
    other.send(handle_of(memory));
    other.receive<char>();
    CHECK(value_at(memory) == 42);
    CHECK(value_at(memory + 999) == 5);
    CHECK(other.succeeds());
    CHECK(cudaFree(memory) == cudaSuccess);
    CHECK(device.seen.api.empty());
}

TEST_CASE("ipc: contents stay when memory is shared, and large ones take what was touched",
          "[ipc]") {
    lab::Device device;
    constexpr size_t kBytes = size_t(3) << 30;
    char* memory = lab::device_array<char>(kBytes);
    REQUIRE(cudaMemset(memory + 5, 1, 1) == cudaSuccess);
    REQUIRE(cudaMemset(memory + kBytes - 1, 2, 1) == cudaSuccess);
    handle_of(memory);
    char first = 0, last = 0;
    REQUIRE(cudaMemcpy(&first, memory + 5, 1, cudaMemcpyDeviceToHost) == cudaSuccess);
    REQUIRE(cudaMemcpy(&last, memory + kBytes - 1, 1, cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(first == 1);
    CHECK(last == 2);
    CHECK(taken(allocation(memory)) <= 4 * machine::kHostPageBytes);
    // The undefined contents of a small one are the same bytes, too.
    int* small = lab::device_array<int>(10);
    const int before = value_at(small + 3);
    handle_of(small);
    CHECK(value_at(small + 3) == before);
}

TEST_CASE("ipc: role reads zeros where it read ones", "[.role]") {
    lab::Device device;
    lab::Peer peer = lab::parent();
    const int* memory = opened<int>(peer.receive<cudaIpcMemHandle_t>());
    const size_t last = peer.receive<size_t>();
    CHECK(value_at(memory + last / 2) == 0x01010101);
    peer.send('r');
    peer.receive<char>();
    CHECK(value_at(memory) == 0);
    CHECK(value_at(memory + last / 2) == 0);
    CHECK(value_at(memory + last) == 0);
}

TEST_CASE("ipc: clearing large memory clears it for the other process", "[ipc][forks]") {
    lab::Device device;
    lab::Process other("ipc: role reads zeros where it read ones");
    constexpr size_t kBytes = size_t(65) << 20;  // more than Memory::kGivenBack
    int* memory = lab::device_array<int>(kBytes / 4);
    REQUIRE(cudaMemset(memory, 1, kBytes) == cudaSuccess);
    other.send(handle_of(memory));
    other.send(kBytes / 4 - 1);
    other.receive<char>();
    REQUIRE(cudaMemset(memory, 0, kBytes) == cudaSuccess);
    CHECK(taken(allocation(memory)) <= 4 * machine::kHostPageBytes);
    other.send('c');
    CHECK(other.succeeds());
}

TEST_CASE("ipc: an allocation has one handle, whatever address in it is given", "[ipc]") {
    lab::Device device;
    int* memory = lab::device_array<int>(1000);
    int* second = lab::device_array<int>(1000);
    CHECK(same(handle_of(memory), handle_of(memory)));
    CHECK(same(handle_of(memory), handle_of(memory + 500)));
    CHECK_FALSE(same(handle_of(memory), handle_of(second)));
}

TEST_CASE("ipc: only memory of cudaMalloc has a handle", "[ipc]") {
    lab::Device device;
    void *managed = nullptr, *pinned = nullptr, *pool = nullptr;
    int on_stack = 0;
    REQUIRE(cudaMallocManaged(&managed, 64, cudaMemAttachGlobal) == cudaSuccess);
    REQUIRE(cudaMallocHost(&pinned, 64) == cudaSuccess);
    REQUIRE(cudaMallocAsync(&pool, 64, nullptr) == cudaSuccess);
    int* freed = lab::device_array<int>(16);
    REQUIRE(cudaFree(freed) == cudaSuccess);
    int* memory = lab::device_array<int>(16);
    cudaIpcMemHandle_t handle{};
    for (void* const wrong : {managed,
                              pinned,
                              pool,
                              static_cast<void*>(freed),
                              static_cast<void*>(&on_stack),
                              static_cast<void*>(memory + 16),
                              static_cast<void*>(nullptr)})
        CHECK(cudaIpcGetMemHandle(&handle, wrong) == cudaErrorInvalidValue);
    CHECK(cudaIpcGetMemHandle(nullptr, memory) == cudaErrorInvalidValue);
    CHECK(device.seen.api.empty());
}

TEST_CASE("ipc: a process cannot open its own handle", "[ipc]") {
    lab::Device device;
    void* memory = nullptr;
    CHECK(cudaIpcOpenMemHandle(&memory, handle_of(lab::device_array<int>(4)), kLazy) ==
          cudaErrorDeviceUninitialized);
    cudaEvent_t event = nullptr, again = nullptr;
    cudaIpcEventHandle_t handle{};
    REQUIRE(cudaEventCreateWithFlags(&event, kForProcesses) == cudaSuccess);
    REQUIRE(cudaIpcGetEventHandle(&handle, event) == cudaSuccess);
    CHECK(cudaIpcOpenEventHandle(&again, handle) == cudaErrorDeviceUninitialized);
}

TEST_CASE("ipc: role opens twice and closes twice", "[.role]") {
    lab::Device device;
    lab::Peer peer = lab::parent();
    const auto handle = peer.receive<cudaIpcMemHandle_t>();
    const auto second = peer.receive<cudaIpcMemHandle_t>();
    int* memory = opened<int>(handle);
    CHECK(opened<int>(handle) == memory);
    int* other = opened<int>(second);
    CHECK(other != memory);
    CHECK(cudaIpcCloseMemHandle(memory) == cudaSuccess);
    CHECK(value_at(memory) == 7);
    CHECK(cudaIpcCloseMemHandle(memory) == cudaSuccess);
    CHECK(device.seen.api.empty());
    CHECK(device.seen.allocated.size() == 2);
    CHECK(device.seen.freed.size() == 1);
    // Once more is a mistake, and so is the memory's use.
    CHECK(cudaIpcCloseMemHandle(memory) == cudaErrorInvalidValue);
    REQUIRE(device.seen.api.size() == 1);
    CHECK(device.seen.api[0].kind == machine::ApiEvent::Kind::kDoubleFree);
    CHECK(device.seen.api[0].message ==
          "`cudaIpcCloseMemHandle` closes memory of another process of 64 bytes that has already "
          "been closed");
    int value = 0;
    CHECK(cudaMemcpy(&value, memory, 4, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
    CHECK(device.seen.api.back().message ==
          "`cudaMemcpy` reads from memory of another process of 64 bytes that has been closed");
    // A handle that was closed can be opened again.
    memory = opened<int>(handle);
    CHECK(value_at(memory) == 7);
    CHECK(cudaIpcCloseMemHandle(memory) == cudaSuccess);
    CHECK(cudaIpcCloseMemHandle(other) == cudaSuccess);
}

TEST_CASE("ipc: opening counts, and the last close ends it", "[ipc][forks]") {
    lab::Device device;
    lab::Process other("ipc: role opens twice and closes twice");
    int* memory = lab::device_array<int>(16);
    store(memory, 7);
    other.send(handle_of(memory));
    other.send(handle_of(lab::device_array<int>(16)));
    CHECK(other.succeeds());
}

TEST_CASE("ipc: role tries what it must not do with opened memory", "[.role]") {
    lab::Device device;
    lab::Peer peer = lab::parent();
    const auto handle = peer.receive<cudaIpcMemHandle_t>();
    size_t free_before = 0, free_after = 0, total = 0;
    REQUIRE(cudaMemGetInfo(&free_before, &total) == cudaSuccess);
    void* memory = nullptr;
    CHECK(cudaIpcOpenMemHandle(&memory, handle, 0) == cudaErrorInvalidValue);
    CHECK(cudaIpcOpenMemHandle(nullptr, handle, kLazy) == cudaErrorInvalidValue);
    REQUIRE(cudaIpcOpenMemHandle(&memory, handle, kLazy) == cudaSuccess);
    REQUIRE(cudaMemGetInfo(&free_after, &total) == cudaSuccess);
    CHECK(free_before == free_after);  // it is the other process's
    cudaPointerAttributes attributes{};
    CHECK(cudaPointerGetAttributes(&attributes, memory) == cudaSuccess);
    CHECK(attributes.type == cudaMemoryTypeDevice);
    cudaIpcMemHandle_t again{};
    CHECK(cudaIpcGetMemHandle(&again, memory) == cudaErrorInvalidValue);
    CHECK(device.seen.api.empty());
    CHECK(cudaFree(memory) == cudaErrorInvalidValue);
    REQUIRE(device.seen.api.size() == 1);
    CHECK(device.seen.api[0].reason == Reason::kWrongFunction);
    int* own = lab::device_array<int>(4);
    CHECK(cudaIpcCloseMemHandle(own) == cudaErrorInvalidValue);
    CHECK(device.seen.api.back().message ==
          "`cudaIpcCloseMemHandle` gets an allocation of 16 bytes, but it closes memory that "
          "`cudaIpcOpenMemHandle` has opened");
    CHECK(cudaIpcCloseMemHandle(nullptr) == cudaErrorInvalidValue);
    // More than the other process asked for, though within the same page.
    std::vector<char> bytes(4096);
    CHECK(cudaMemcpy(bytes.data(), memory, 65, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
    CHECK(device.seen.api.back().reason == Reason::kOutOfRange);
    CHECK(cudaIpcCloseMemHandle(memory) == cudaSuccess);
}

TEST_CASE("ipc: what is not allowed with memory of another process", "[ipc][forks]") {
    lab::Device device;
    lab::Process other("ipc: role tries what it must not do with opened memory");
    other.send(handle_of(lab::device_array<int>(16)));
    CHECK(other.succeeds());
}

TEST_CASE("ipc: role opens handles of nothing", "[.role]") {
    lab::Device device;
    lab::Peer peer = lab::parent();
    void* memory = nullptr;
    cudaEvent_t event = nullptr;
    const auto freed = peer.receive<cudaIpcMemHandle_t>();
    const auto destroyed = peer.receive<cudaIpcEventHandle_t>();
    CHECK(cudaIpcOpenMemHandle(&memory, freed, kLazy) == cudaErrorInvalidValue);
    CHECK(cudaIpcOpenEventHandle(&event, destroyed) == cudaErrorInvalidResourceHandle);
    CHECK(cudaIpcOpenMemHandle(&memory, {}, kLazy) == cudaErrorInvalidValue);
    CHECK(cudaIpcOpenEventHandle(&event, {}) == cudaErrorInvalidValue);
    // One kind in place of the other, and a byte that was lost on the way.
    cudaIpcMemHandle_t wrong{};
    std::memcpy(&wrong, &destroyed, sizeof wrong);
    CHECK(cudaIpcOpenMemHandle(&memory, wrong, kLazy) == cudaErrorInvalidValue);
    for (size_t k = 0; k < 40; ++k) {
        CAPTURE(k);
        wrong = freed;
        wrong.reserved[k] ^= 1;
        CHECK(cudaIpcOpenMemHandle(&memory, wrong, kLazy) == cudaErrorInvalidValue);
    }
}

TEST_CASE("ipc: handles of what is gone, and bytes that are no handle, are refused",
          "[ipc][forks]") {
    lab::Device device;
    lab::Process other("ipc: role opens handles of nothing");
    int* memory = lab::device_array<int>(16);
    const cudaIpcMemHandle_t freed = handle_of(memory);
    REQUIRE(cudaFree(memory) == cudaSuccess);
    handle_of(lab::device_array<int>(16));  // perhaps with the same descriptor
    cudaEvent_t event = nullptr;
    cudaIpcEventHandle_t destroyed{};
    REQUIRE(cudaEventCreateWithFlags(&event, kForProcesses) == cudaSuccess);
    REQUIRE(cudaIpcGetEventHandle(&destroyed, event) == cudaSuccess);
    REQUIRE(cudaEventDestroy(event) == cudaSuccess);
    other.send(freed);
    other.send(destroyed);
    CHECK(other.succeeds());
}

TEST_CASE("ipc: role keeps memory open", "[.role]") {
    lab::Device device;
    lab::Peer peer = lab::parent();
    int* memory = opened<int>(peer.receive<cudaIpcMemHandle_t>());
    peer.send('o');
    peer.receive<char>();
    CHECK(value_at(memory) == 3);  // the bytes are still there
    CHECK(cudaIpcCloseMemHandle(memory) == cudaSuccess);
}

TEST_CASE("ipc: freeing what another process has open is told", "[ipc][forks]") {
    lab::Device device;
    lab::Process other("ipc: role keeps memory open");
    int* memory = lab::device_array<int>(16);
    store(memory, 3);
    other.send(handle_of(memory));
    other.receive<char>();
    CHECK(cudaFree(memory) == cudaSuccess);
    REQUIRE(device.seen.api.size() == 1);
    CHECK(device.seen.api[0].kind == machine::ApiEvent::Kind::kEarlyFree);
    CHECK(device.seen.api[0].message ==
          "`cudaFree` frees an allocation of 64 bytes that another process has opened and not yet "
          "closed with `cudaIpcCloseMemHandle`");
    other.send('f');
    CHECK(other.succeeds());
}

TEST_CASE("ipc: role ends with memory open", "[.role]") {
    lab::Device device;
    lab::Peer peer = lab::parent();
    opened<int>(peer.receive<cudaIpcMemHandle_t>());
}

TEST_CASE("ipc: a process that has ended has nothing open", "[ipc][forks]") {
    lab::Device device;
    lab::Process other("ipc: role ends with memory open");
    int* memory = lab::device_array<int>(16);
    other.send(handle_of(memory));
    CHECK(other.succeeds());
    CHECK(cudaFree(memory) == cudaSuccess);
    CHECK(device.seen.api.empty());
}

TEST_CASE("ipc: a handle does not open other files of a process", "[ipc]") {
    constexpr uint64_t kBytes = machine::kHostPageBytes;
    const int file = machine::make_shared_file("wanted", kBytes);
    REQUIRE(file >= 0);
    const int self = int(getpid());
    const auto opens = [&](int owner, int number, const char* name, uint64_t bytes) {
        const int opened = machine::open_shared_file(owner, number, name, bytes);
        if (opened >= 0) close(opened);
        return opened >= 0;
    };
    CHECK(opens(self, file, "wanted", kBytes));
    CHECK_FALSE(opens(self, file, "other", kBytes));
    CHECK_FALSE(opens(self, file, "wanted", 2 * kBytes));
    CHECK_FALSE(opens(self, file + 1, "wanted", kBytes));
    // The right name is not enough: nobody must be able to shorten the file.
    const int plain = memfd_create("wanted", MFD_CLOEXEC);
    REQUIRE(ftruncate(plain, kBytes) == 0);
    CHECK_FALSE(opens(self, plain, "wanted", kBytes));
    close(plain);
    CHECK(ftruncate(file, 0) != 0);
    machine::close_shared_file(file);
}
