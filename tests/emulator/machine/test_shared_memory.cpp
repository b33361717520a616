// SPDX-License-Identifier: MIT
// Memory that several processes map: here, several mappings of one process.
#include <cstring>

#include <sys/mman.h>
#include <unistd.h>

#include "catch/catch.h"
#include "machine/memory.h"
#include "machine/shared_file.h"

using machine::Allocation;
using machine::FileUse;
using machine::Memory;
using machine::MemoryKind;

namespace {

// The bytes of a shared allocation as another process sees them.
class Elsewhere {
public:
    explicit Elsewhere(const Allocation& allocation)
        : size_(Memory::shared_bytes(allocation.bytes)),
          bytes(machine::map_shared_file(allocation.shared_file, size_)) {
        REQUIRE(bytes);
    }
    ~Elsewhere() { munmap(bytes, size_); }
    Elsewhere(const Elsewhere&) = delete;

private:
    const uint64_t size_;

public:
    std::byte* const bytes;
};

Allocation& shared(Memory& memory, uint64_t bytes) {
    Allocation* const made = memory.allocate(MemoryKind::kDevice, bytes, 0, 1);
    REQUIRE(made);
    REQUIRE(memory.share(*made, 1, "test"));
    return *made;
}

}  // namespace

TEST_CASE("shared memory: contents stay, and each side sees what the other writes",
          "[memory][shared]") {
    Memory memory;
    const uint64_t bytes = GENERATE(100, 3 * Memory::kLazyBytes + 5);
    Allocation& a = *memory.allocate(MemoryKind::kDevice, bytes, 0, 1);
    a.host[0] = std::byte{1};
    a.host[bytes - 1] = std::byte{2};
    const std::byte untouched = a.host[bytes / 2];
    CHECK_FALSE(memory.shares());
    REQUIRE(memory.share(a, 1, "test"));
    CHECK(memory.shares());
    CHECK(a.host[0] == std::byte{1});
    CHECK(a.host[bytes - 1] == std::byte{2});
    CHECK(a.host[bytes / 2] == untouched);
    const Elsewhere other(a);
    CHECK(other.bytes[bytes - 1] == std::byte{2});
    other.bytes[5] = std::byte{3};
    CHECK(a.host[5] == std::byte{3});
    memory.release(a, 2);
    CHECK_FALSE(memory.shares());
    CHECK(other.bytes[5] == std::byte{3});
}

TEST_CASE("shared memory: is cleared for everybody", "[memory][shared]") {
    Memory memory;
    constexpr uint64_t kBytes = Memory::kGivenBack + (1 << 20);
    Allocation& a = shared(memory, kBytes);
    const Elsewhere other(a);
    std::memset(a.host, 1, kBytes);
    memory.clear(a, a.address + 10, kBytes - 20);
    for (const uint64_t at : {uint64_t(10), kBytes / 2, kBytes - 11}) {
        CHECK(other.bytes[at] == std::byte{0});
        CHECK(a.host[at] == std::byte{0});
    }
    CHECK(other.bytes[9] == std::byte{1});
    CHECK(other.bytes[kBytes - 10] == std::byte{1});
    a.host[kBytes / 2] = std::byte{7};
    CHECK(other.bytes[kBytes / 2] == std::byte{7});
}

TEST_CASE("shared memory: of another process takes none of the device's", "[memory][shared]") {
    Memory owner, importer;
    Allocation& a = shared(owner, 1000);
    a.host[999] = std::byte{4};
    importer.set_capacity(500);
    const int file = machine::open_shared_file(
        int(getpid()), a.shared_file, "test", Memory::shared_bytes(a.bytes));
    REQUIRE(file >= 0);
    Allocation* const b = importer.import(file, 1, 1000, 0, 2);
    REQUIRE(b);
    CHECK(importer.used(0) == 0);
    CHECK(importer.find(b->address + 999) == b);
    CHECK(b->host[999] == std::byte{4});
    importer.release(*b, 3);
    CHECK(importer.used(0) == 0);
    CHECK_FALSE(importer.shares());
    CHECK(a.host[999] == std::byte{4});
}

TEST_CASE("shared memory: users of a file exclude who needs it alone", "[memory][shared]") {
    constexpr uint64_t kBytes = 4096;
    const int owner = machine::make_shared_file("test", kBytes);
    REQUIRE(owner >= 0);
    const auto open = [&] {
        return machine::open_shared_file(int(getpid()), owner, "test", kBytes);
    };
    const int one = open(), two = open();
    REQUIRE((one >= 0 && two >= 0));
    CHECK(machine::use_shared_file(one, FileUse::kShared));
    CHECK(machine::use_shared_file(two, FileUse::kShared));
    machine::close_shared_file(one);
    CHECK_FALSE(machine::use_shared_file(owner, FileUse::kAlone));
    machine::close_shared_file(two);
    CHECK(machine::use_shared_file(owner, FileUse::kAlone));
    const int three = open();
    CHECK_FALSE(machine::use_shared_file(three, FileUse::kShared));
    machine::close_shared_file(owner);
    CHECK(machine::use_shared_file(three, FileUse::kShared));
    machine::close_shared_file(three);
}
