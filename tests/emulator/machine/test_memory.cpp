// SPDX-License-Identifier: MIT
// Emulated allocations: addresses, lookup, quarantine, storage.
#include <cstring>
#include <set>
#include <vector>

#include <sys/mman.h>

#include "catch/catch.h"
#include "machine/memory.h"

using machine::Allocation;
using machine::Memory;
using machine::MemoryKind;

TEST_CASE("memory: an address inside or far around an allocation finds it", "[memory]") {
    Memory memory;
    Allocation* a = memory.allocate(MemoryKind::kDevice, 1000, 0, 7);
    Allocation* b = memory.allocate(MemoryKind::kDevice, 1000, 0, 8);
    REQUIRE((a && b));
    CHECK(a->address % 256 == 0);
    for (const int64_t offset : {int64_t(0),
                                 int64_t(999),
                                 int64_t(1000),
                                 int64_t(-1),
                                 int64_t(1) << 34,
                                 -(int64_t(1) << 34)}) {
        CAPTURE(offset);
        CHECK(memory.find(a->address + uint64_t(offset)) == a);
        CHECK(memory.find(b->address + uint64_t(offset)) == b);
    }
    CHECK(memory.find(0) == nullptr);
    CHECK(memory.find(reinterpret_cast<uint64_t>(&memory)) == nullptr);
    CHECK(memory.is_device_address(a->address));
    CHECK_FALSE(memory.is_device_address(reinterpret_cast<uint64_t>(&memory)));
}

TEST_CASE("memory: contains() takes whole ranges, without overflow", "[memory]") {
    Memory memory;
    const Allocation* a = memory.allocate(MemoryKind::kDevice, 100, 0, 0);
    CHECK(a->contains(a->address, 100));
    CHECK(a->contains(a->address + 99, 1));
    CHECK_FALSE(a->contains(a->address + 99, 2));
    CHECK_FALSE(a->contains(a->address + 100, 1));
    CHECK_FALSE(a->contains(a->address - 1, 1));
    CHECK_FALSE(a->contains(a->address, ~0ull));
}

TEST_CASE("memory: addresses are the same in every run", "[memory]") {
    uint64_t first = 0;
    {
        Memory memory;
        first = memory.allocate(MemoryKind::kDevice, 16, 0, 0)->address;
    }
    Memory memory;
    CHECK(memory.allocate(MemoryKind::kDevice, 16, 0, 0)->address == first);
}

TEST_CASE("memory: fresh contents are poison for small blocks, zeros for variables", "[memory]") {
    Memory memory;
    const Allocation* device = memory.allocate(MemoryKind::kDevice, 4096, 0, 0);
    const Allocation* variable = memory.allocate(MemoryKind::kModule, 4096, 0, 0);
    const Allocation* constant = memory.allocate(MemoryKind::kConst, 4096, 0, 0);
    for (size_t i = 0; i < 4096; ++i) {
        REQUIRE(device->host[i] == std::byte(Memory::kPoison));
        REQUIRE(variable->host[i] == std::byte(0));
        REQUIRE(constant->host[i] == std::byte(0));
    }
}

TEST_CASE("memory: large blocks are allocated without being touched", "[memory]") {
    Memory memory;
    memory.set_capacity(64ull << 30);
    const Allocation* big = memory.allocate(MemoryKind::kDevice, 20ull << 30, 0, 0);
    REQUIRE(big);
    big->host[(20ull << 30) - 1] = std::byte(1);
    CHECK(big->host[10ull << 30] == std::byte(0));
}

TEST_CASE("memory: clearing a large range gives its pages back, and clears what is left of others",
          "[memory]") {
    Memory memory;
    memory.set_capacity(64ull << 30);
    Allocation* big = memory.allocate(MemoryKind::kDevice, 20ull << 30, 0, 0);
    REQUIRE(big);
    const uint64_t begin = 5000, end = (20ull << 30) - 3000;
    const std::vector<uint64_t> inside{begin, begin + 1, 9000, 1ull << 33, end - 1};
    const std::vector<uint64_t> outside{0, begin - 1, end, (20ull << 30) - 1};
    for (const uint64_t at : inside) big->host[at] = std::byte(1);
    for (const uint64_t at : outside) big->host[at] = std::byte(1);
    memory.clear(*big, big->address + begin, end - begin);
    // A page that was touched before is no longer there.
    unsigned char resident = 0xff;
    const uint64_t page = (uint64_t(big->host) + (1ull << 33)) & ~4095ull;
    REQUIRE(mincore(reinterpret_cast<void*>(page), 4096, &resident) == 0);
    CHECK((resident & 1) == 0);
    for (const uint64_t at : inside) CHECK(big->host[at] == std::byte(0));
    for (const uint64_t at : outside) CHECK(big->host[at] == std::byte(1));
    memory.clear(*big, big->address, 1);  // too small for that
    CHECK(big->host[0] == std::byte(0));
}

TEST_CASE("memory: what all allocations together may take is known", "[memory]") {
    Memory memory;
    Allocation* first = memory.allocate(MemoryKind::kDevice, 1000, 0, 0);
    Allocation* second = memory.allocate(MemoryKind::kManaged, 500, 1, 0);
    memory.allocate(MemoryKind::kDevice, 10, 1, 0);
    CHECK(memory.promised() == 1510);
    memory.release(*second, 0);
    CHECK(memory.promised() == 1010);
    memory.release(*first, 0);
    CHECK(memory.promised() == 10);
}

TEST_CASE("memory: a freed allocation keeps explaining its address", "[memory]") {
    Memory memory;
    Allocation* a = memory.allocate(MemoryKind::kDevice, 64, 0, 1);
    const uint64_t address = a->address;
    memory.release(*a, 2);
    CHECK_FALSE(a->live);
    CHECK(a->host == nullptr);
    CHECK(a->freed_at == 2);
    CHECK(memory.find(address) == a);
    // Not even after many more allocations is its place taken again.
    for (int i = 0; i < 500; ++i)
        memory.release(*memory.allocate(MemoryKind::kDevice, 64, 0, 3), 4);
    CHECK(memory.find(address) == a);
}

TEST_CASE("memory: slots never run out, and live ones never overlap", "[memory]") {
    Memory memory;
    const bool keep = GENERATE(false, true);
    const MemoryKind kind = GENERATE(MemoryKind::kDevice, MemoryKind::kHeap);
    CAPTURE(keep, int(kind));
    std::set<uint64_t> live;
    for (int i = 0; i < 6000; ++i) {
        Allocation* a = memory.allocate(kind, 32, 0, 0);
        REQUIRE(a);
        REQUIRE(memory.find(a->address) == a);
        if (keep)
            REQUIRE(live.insert(a->address).second);
        else
            memory.release(*a, 0);
    }
    CHECK(memory.used(0) == (keep ? 6000 * 32 : 0));
    for (uint32_t id = 0; keep && id < memory.count(); ++id)
        REQUIRE(memory.find(memory.by_id(id).address) == &memory.by_id(id));
}

TEST_CASE("memory: blocks larger than a slot of their region take several", "[memory]") {
    Memory memory;
    memory.set_capacity(1ull << 40);
    std::vector<Allocation*> all;
    // Use up the wide region, then ask for blocks beyond the narrow and fine slots.
    for (int i = 0; i < 900; ++i) all.push_back(memory.allocate(MemoryKind::kDevice, 16, 0, 0));
    Allocation* big = memory.allocate(MemoryKind::kDevice, 6ull << 30, 0, 0);
    Allocation* next = memory.allocate(MemoryKind::kDevice, 16, 0, 0);
    Allocation* heap = memory.allocate(MemoryKind::kHeap, 5 << 20, 0, 0);
    REQUIRE((big && next && heap));
    CHECK(memory.find(big->address + (6ull << 30) - 1) == big);
    CHECK(memory.find(next->address) == next);
    CHECK(memory.find(heap->address + (5 << 20) - 1) == heap);
}

TEST_CASE("memory: pinned and managed blocks live at their own address", "[memory]") {
    Memory memory;
    const MemoryKind kind = GENERATE(MemoryKind::kPinned, MemoryKind::kManaged);
    Allocation* a = memory.allocate(kind, 10000, 0, 0);
    REQUIRE(a);
    CHECK(reinterpret_cast<uint64_t>(a->host) == a->address);
    std::memset(reinterpret_cast<void*>(a->address), 1, 10000);
    CHECK(a->host[9999] == std::byte(1));
    CHECK(memory.used(0) == 0);
    memory.release(*a, 0);
}

TEST_CASE("memory: registered host memory is found where it is", "[memory]") {
    Memory memory;
    std::vector<std::byte> block(10000);
    Allocation* a = memory.register_host(block.data(), block.size(), 5);
    const uint64_t address = reinterpret_cast<uint64_t>(block.data());
    CHECK(a->address == address);
    CHECK(memory.find(address + 9999) == a);
    CHECK(memory.find(address - 1) == nullptr);
    memory.release(*a, 6);
    CHECK_FALSE(memory.find(address)->live);
    Allocation* again = memory.register_host(block.data() + 10, 100, 7);
    CHECK(memory.find(address + 50) == again);
}

TEST_CASE("memory: capacity counts per device, and only device memory", "[memory]") {
    Memory memory;
    memory.set_capacity(1000);
    Allocation* a = memory.allocate(MemoryKind::kDevice, 900, 0, 0);
    REQUIRE(a);
    CHECK(memory.allocate(MemoryKind::kDevice, 101, 0, 0) == nullptr);
    CHECK(memory.allocate(MemoryKind::kDevice, 900, 1, 0) != nullptr);
    CHECK(memory.allocate(MemoryKind::kPinned, 5000, 0, 0) != nullptr);
    memory.release(*a, 0);
    CHECK(memory.used(0) == 0);
    CHECK(memory.allocate(MemoryKind::kDevice, 1000, 0, 0) != nullptr);
}

TEST_CASE("memory: a large alignment is respected", "[memory]") {
    Memory memory;
    const uint64_t align = GENERATE(256, 512, 4096, 1 << 16);
    CHECK(memory.allocate(MemoryKind::kDevice, 100, 0, 0, align)->address % align == 0);
    CHECK(memory.allocate(MemoryKind::kHeap, 100, 0, 0, align)->address % align == 0);
}
