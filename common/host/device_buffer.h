// SPDX-License-Identifier: MIT
// An owning array in device memory, with guard zones on both sides so that a stray write is seen
// even where no checker watches (on a real GPU).
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include "cuda_check.h"

namespace wb {

// Which device array a downloaded copy came from, so that a message about a wrong element can say
// who wrote it. The last few downloads are remembered. A copy that holds only `columns` of the
// `pitch` elements of each row on the device has both; otherwise they are 0.
struct Download {
    const void* copy = nullptr;  // the vector's data()
    const void* device = nullptr;
    size_t elements = 0;  // of the copy: another vector may get its memory later
    size_t columns = 0, pitch = 0;
    // Where on the device element i of the copy is, in elements.
    size_t place(size_t i) const { return columns ? i / columns * pitch + i % columns : i; }
};
inline std::array<Download, 4>& recent_downloads() {
    static std::array<Download, 4> recent;
    return recent;
}
inline void note_download(const Download& download) {
    auto& recent = recent_downloads();
    for (size_t i = recent.size() - 1; i > 0; --i) recent[i] = recent[i - 1];
    recent[0] = download;
}

// `size` elements of T, every byte 0xFF at first (a NaN for floats, -1 for integers), so that an
// element that nobody writes cannot look right. Move-only; frees on destruction.
template <class T>
class DeviceBuffer {
public:
    explicit DeviceBuffer(size_t size) : size_(size) {
        CUDA_CHECK(cudaMalloc(&data_, size_ ? size_ * sizeof(T) : 1));
        CUDA_CHECK(cudaMemset(data_, 0xFF, size_ ? size_ * sizeof(T) : 1));
    }
    explicit DeviceBuffer(const std::vector<T>& host) : DeviceBuffer(host.size()) { upload(host); }
    ~DeviceBuffer() { cudaFree(data_); }
    DeviceBuffer(DeviceBuffer&& other) noexcept { swap(other); }
    DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
        swap(other);
        return *this;
    }
    DeviceBuffer(const DeviceBuffer&) = delete;
    DeviceBuffer& operator=(const DeviceBuffer&) = delete;

    T* get() { return data_; }
    const T* get() const { return data_; }
    size_t size() const { return size_; }

    void upload(const std::vector<T>& host) {
        if (!host.empty())
            CUDA_CHECK(
                cudaMemcpy(data_, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    }
    // Waits for all work on the device, so a kernel's own fault surfaces here.
    std::vector<T> download() const {
        std::vector<T> host(size_);
        CUDA_CHECK(cudaDeviceSynchronize());
        if (size_)
            CUDA_CHECK(cudaMemcpy(host.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost));
        note_download({host.data(), data_, size_});
        return host;
    }

private:
    void swap(DeviceBuffer& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
    }
    T* data_ = nullptr;
    size_t size_ = 0;
};

// Like DeviceBuffer, with `guard` extra poisoned elements before and after the array. The array
// handed to a kernel is get(); intact() says whether the guards still hold their poison.
// On the emulator the guards are not needed (bounds are exact), and `guard` is 0 unless forced,
// so that an overrun is out of bounds there instead of landing in a guard.
template <class T>
class GuardedBuffer {
public:
    GuardedBuffer(size_t size, size_t guard)
        : guard_(guard), buffer_(size + 2 * guard), size_(size) {}
    GuardedBuffer(const std::vector<T>& host, size_t guard) : GuardedBuffer(host.size(), guard) {
        if (size_)
            CUDA_CHECK(cudaMemcpy(get(), host.data(), size_ * sizeof(T), cudaMemcpyHostToDevice));
    }
    T* get() { return buffer_.get() + guard_; }
    const T* get() const { return buffer_.get() + guard_; }
    size_t size() const { return size_; }
    std::vector<T> download() const {
        if (guard_ == 0) return buffer_.download();
        const std::vector<T> all = buffer_.download();
        std::vector<T> host(all.begin() + guard_, all.begin() + guard_ + size_);
        note_download({host.data(), get(), size_});
        return host;
    }
    bool intact() const {
        if (guard_ == 0) {
            CUDA_CHECK(cudaDeviceSynchronize());
            return true;
        }
        const std::vector<T> all = buffer_.download();
        std::vector<unsigned char> poison(guard_ * sizeof(T), 0xFF);
        return std::memcmp(all.data(), poison.data(), poison.size()) == 0 &&
               std::memcmp(all.data() + guard_ + size_, poison.data(), poison.size()) == 0;
    }

private:
    size_t guard_;
    DeviceBuffer<T> buffer_;
    size_t size_;
};

}  // namespace wb
