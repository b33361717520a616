// SPDX-License-Identifier: MIT
// Zeroed memory from the system, which costs nothing until it is touched: what the checkers know
// about an array of many gigabytes of which a kernel uses a few pages.
#pragma once

#include <cstdint>
#include <utility>

namespace checks {

class ZeroedMemory {
public:
    // With large pages scattered accesses miss less often in the translation cache, but a single
    // byte costs 2 MiB: none above kSparse, where programs touch far less than they allocate.
    enum class Pages : uint8_t { kSmall, kLarge };
    static constexpr uint64_t kSparse = 1ull << 30;

    ZeroedMemory() = default;
    // Throws std::bad_alloc.
    explicit ZeroedMemory(uint64_t bytes, Pages pages = Pages::kLarge);
    ZeroedMemory(ZeroedMemory&& other) noexcept
        : at_(std::exchange(other.at_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
    ZeroedMemory& operator=(ZeroedMemory&& other) noexcept {
        std::swap(at_, other.at_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~ZeroedMemory();
    void* get() const { return at_; }
    uint64_t bytes() const { return bytes_; }

private:
    void* at_ = nullptr;  // aligned to 64 bytes
    uint64_t bytes_ = 0;
};

}  // namespace checks
