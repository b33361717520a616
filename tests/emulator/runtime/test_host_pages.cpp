// SPDX-License-Identifier: MIT
// Pages that are closed to the host: what is reported, what is not, and that the program continues.
#include <algorithm>
#include <cstring>
#include <functional>
#include <vector>

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "catch/catch.h"
#include "runtime/host_watch/fault_handler.h"
#include "runtime/host_watch/host_calls.h"
#include "runtime/host_watch/host_pages.h"

using namespace runtime;

namespace {

std::function<void()> review;
bool news = false, single_threaded = true;
std::vector<PageTouch> told;
uint32_t next_id = 1'000'000;

struct Pages {
    machine::Allocation allocation;
    void* mapped = nullptr;
    volatile unsigned char* bytes = nullptr;

    explicit Pages(machine::MemoryKind kind = machine::MemoryKind::kPinned) {
        static const bool once = [] {
            PagePolicy judge{};
            judge.has_news = [] { return news; };
            judge.in_flight = [] { return true; };
            judge.review = [] {
                news = false;
                review();
            };
            judge.on_touch = [](const PageTouch& touch) { told.push_back(touch); };
            judge.single_threaded = [] { return single_threaded; };
            prepare_host_calls();
            watch_host_pages(judge);
            FaultHooks hooks{};
            hooks.is_device_address = [](uint64_t) { return false; };
            hooks.on_dying = [](int) {};
            hooks.on_closed_page = open_closed_page;
            hooks.on_step = close_after_step;
            install_fault_handler(hooks);
            return true;
        }();
        (void)once;
        told.clear();
        single_threaded = true;
        constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS;
        mapped = mmap(nullptr, 3 * kPageBytes, PROT_READ | PROT_WRITE, kFlags, -1, 0);
        const uint64_t aligned = (uint64_t(mapped) + kPageBytes - 1) / kPageBytes * kPageBytes;
        bytes = reinterpret_cast<unsigned char*>(aligned);
        allocation.id = ++next_id;
        allocation.kind = kind;
        allocation.address = uint64_t(bytes);
        allocation.bytes = 2 * kPageBytes - 100;
    }
    ~Pages() {
        enter_host_pages();
        forget_host_pages(allocation);
        leave_host_pages();
        munmap(mapped, 3 * kPageBytes);
    }

    // Work in flight has written bytes of the first page, and read others.
    void use(uint64_t written, uint64_t read_until) {
        PageBits w{}, t{};
        for (uint64_t i = 0; i < read_until; ++i) t[i / 64] |= uint64_t(1) << i % 64;
        for (uint64_t i = 0; i < written; ++i) w[i / 64] |= uint64_t(1) << i % 64;
        for (size_t i = 0; i < t.size(); ++i) t[i] |= w[i];
        call([this, w, t] { use_page(allocation, allocation.address, w, t); });
    }
    static void call(std::function<void()> change = nullptr) {
        enter_host_pages();
        if (change) {
            review = std::move(change);
            news = true;
        }
        leave_host_pages();
    }
    // Addresses in the allocation, those that were written with a minus.
    std::vector<int64_t> touches() {
        call();
        std::vector<int64_t> out;
        for (const PageTouch& t : told)
            out.push_back(int64_t(t.address - allocation.address) * (t.writes ? -1 : 1));
        told.clear();
        return out;
    }
};

using Offsets = std::vector<int64_t>;

}  // namespace

TEST_CASE("host pages: bytes that are in use", "[runtime][host_pages]") {
    Pages p;
    p.bytes[7] = 5;
    p.use(kPageBytes, 0);
    CHECK(p.bytes[7] == 5);
    CHECK(p.touches() == Offsets{7});
    p.bytes[8] = 6;
    CHECK(p.bytes[8] == 6);  // open until the next call
    CHECK(p.touches() == Offsets{-8});
    CHECK(p.bytes[8] == 6);
    CHECK(p.touches() == Offsets{8});
}

TEST_CASE("host pages: bytes beside those in use", "[runtime][host_pages]") {
    Pages p;
    p.use(100, 200);
    for (int i = 100; i < 300; ++i) CHECK(p.bytes[i] == 0);
    for (int i = 200; i < 300; ++i) p.bytes[i] = 1;
    CHECK(p.touches().empty());
    CHECK(p.bytes[250] == 1);
    p.bytes[150] = 1;  // is read by the work
    CHECK(p.touches() == Offsets{-150});
    CHECK(p.bytes[250] == 1);
    CHECK(p.bytes[99] == 0);  // closed again after each of the others
    CHECK(p.touches() == Offsets{99});
}

TEST_CASE("host pages: the end of a string beside bytes in use", "[runtime][host_pages]") {
    Pages p;
    auto* const text = const_cast<unsigned char*>(p.bytes);
    size_t (*volatile length)(const char*) = std::strlen;
    for (uint64_t size = 11; size < 1100; size += 43) {  // several vectors at a time, if it is long
        Pages::call([&] { use_nothing(); });
        std::fill(text, text + size, 'a');
        text[size] = 0;
        PageBits w{};
        for (uint64_t i = size + 1; i < kPageBytes; ++i) w[i / 64] |= uint64_t(1) << i % 64;
        Pages::call([&] { use_page(p.allocation, p.allocation.address, w, w); });
        CHECK(length(reinterpret_cast<char*>(text)) == size);
        CHECK(p.touches().empty());
    }
    void* (*volatile copy)(void*, const void*, size_t) = std::memcpy;
    char to[500];
    copy(to, text + 1500, sizeof to);
    CHECK_FALSE(p.touches().empty());
}

TEST_CASE("host pages: a second thread", "[runtime][host_pages]") {
    Pages p;
    p.use(100, 200);
    SECTION("from the start") {
        single_threaded = false;
        p.use(100, 200);
    }
    SECTION("later") {
        single_threaded = false;
        Pages::call();
    }
    CHECK(syscall(SYS_getrandom, p.bytes + 200, 10, 0) == 10);
    p.use(kPageBytes, 0);  // what is in use as a whole is closed all the same
    CHECK(p.bytes[3] == p.bytes[3]);
    CHECK(p.touches() == Offsets{3});
}

TEST_CASE("host pages: what is only read may be read", "[runtime][host_pages]") {
    Pages p;
    p.use(0, kPageBytes);
    CHECK(p.bytes[3] == 0);
    CHECK(p.touches().empty());
    p.bytes[3] = 1;
    CHECK(p.touches() == Offsets{-3});
}

TEST_CASE("host pages: memory of the program's own", "[runtime][host_pages]") {
    Pages p(machine::MemoryKind::kRegistered);
    SECTION("is closed in whole pages") {
        p.use(kPageBytes, 0);
        CHECK(p.bytes[3] == 0);
        CHECK(p.touches() == Offsets{3});
    }
    SECTION("and else left alone") {
        p.use(kPageBytes - 1, 0);
        CHECK(syscall(SYS_getrandom, p.bytes, 10, 0) == 10);
        CHECK(p.touches().empty());
    }
    SECTION("also where the rest of the page is not of the allocation") {
        const uint64_t page = p.allocation.address;
        p.allocation.address += 100;
        p.allocation.bytes = kPageBytes - 100;
        PageBits all;
        all.fill(~0ull);
        all[0] = 0;
        all[1] = ~0ull << 36;
        Pages::call([&] { use_page(p.allocation, page, all, all); });
        CHECK(syscall(SYS_getrandom, p.bytes, 10, 0) == 10);
        CHECK(p.bytes[3] == p.bytes[3]);
        CHECK(p.touches().empty());
    }
}

TEST_CASE("host pages: the last page belongs to the allocation", "[runtime][host_pages]") {
    Pages p;
    PageBits all;
    all.fill(~0ull);
    for (uint64_t i = kPageBytes - 100; i < kPageBytes; ++i)
        all[i / 64] &= ~(uint64_t(1) << i % 64);
    Pages::call([&] { use_page(p.allocation, p.allocation.address + kPageBytes, all, all); });
    CHECK(p.bytes[kPageBytes + 5] == 0);
    CHECK(p.touches() == Offsets{int64_t(kPageBytes) + 5});
}

TEST_CASE("host pages: a call's own accesses", "[runtime][host_pages]") {
    Pages p;
    p.use(kPageBytes, 0);
    Pages::call();
    enter_host_pages();
    p.bytes[3] = 1;
    leave_host_pages();
    CHECK(p.touches().empty());
    CHECK(p.bytes[3] == 1);  // closed again after it
    CHECK(p.touches() == Offsets{3});
    enter_host_pages();
    const int calls = suspend_host_pages();
    CHECK(p.bytes[4] == 0);  // a function of the program
    resume_host_pages(calls);
    leave_host_pages();
    CHECK(p.touches() == Offsets{4});
}

TEST_CASE("host pages: nothing in use any more", "[runtime][host_pages]") {
    Pages p;
    p.use(kPageBytes, 0);
    SECTION("of the page") {
        p.use(0, 0);
    }
    SECTION("at all") {
        Pages::call(use_nothing);
    }
    SECTION("of the allocation") {
        Pages::call();
        enter_host_pages();
        forget_host_pages(p.allocation);
        leave_host_pages();
    }
    CHECK(syscall(SYS_getrandom, p.bytes, 10, 0) == 10);
    CHECK(p.bytes[10] == 0);
    CHECK(p.touches().empty());
}

TEST_CASE("host pages: ranges that the system accesses", "[runtime][host_pages]") {
    Pages p;
    p.use(100, 100);
    auto* const start = const_cast<unsigned char*>(p.bytes);
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    SECTION("beside what is in use") {
        CHECK(write(ends[1], start + 100, 50) == 50);
        CHECK(read(ends[0], start + 200, 50) == 50);
        CHECK(p.bytes[99] == 0);  // the page has closed again
        CHECK(p.touches() == Offsets{99});
    }
    SECTION("in use") {
        CHECK(write(ends[1], start + 80, 50) == 50);
        CHECK(p.touches() == Offsets{80});
        CHECK(read(ends[0], start + 90, 50) == 50);
        CHECK(p.touches() == Offsets{-90});
    }
    SECTION("in use, had there been more to read") {
        CHECK(write(ends[1], "abc", 3) == 3);
        p.use(0, 0);
        PageBits w{};
        w[2] = 1;
        Pages::call([&] { use_page(p.allocation, p.allocation.address, w, w); });
        CHECK(read(ends[0], start + 100, 50) == 3);
        CHECK(p.touches().empty());
    }
    close(ends[0]);
    close(ends[1]);
}
