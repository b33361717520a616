// SPDX-License-Identifier: MIT
// Shared by all stand-ins for NVIDIA's libraries: handles, operands, and scalars in host or device
// memory.
//
// A stand-in has the soname and the functions of NVIDIA's library, computes on the host with an
// established library, and lets the emulated device check every operand
// (runtime/core/library_kernel.h). Functions that it does not implement print their name.
#pragma once

#include <cuComplex.h>

#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <mutex>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "runtime/core/library_kernel.h"

#define STAND_IN_API extern "C" __attribute__((visibility("default")))

namespace stand_in {

using emulator::LibraryKernel;
using emulator::Operand;

// Called by functions that create a handle, a plan or a generator (`thing`): a program that creates
// one in every iteration of a loop gets a finding. `kind`: what makes two of them equal, if a
// program may need several, such as a plan's sizes.
void note_creation(const char* name, const char* thing, const std::string& kind = "");

// The handles that the program holds: a stale or foreign one is refused and not dereferenced.
template <class T>
class Handles {
public:
    T* add(T* handle) {
        std::lock_guard lock(mutex_);
        live_.insert(handle);
        return handle;
    }
    bool has(const T* handle) {
        std::lock_guard lock(mutex_);
        return handle && live_.contains(const_cast<T*>(handle));
    }
    bool remove(T* handle) {
        std::lock_guard lock(mutex_);
        return live_.erase(handle) == 1;
    }
    std::vector<T*> all() {
        std::lock_guard lock(mutex_);
        return {live_.begin(), live_.end()};
    }

private:
    std::mutex mutex_;
    std::unordered_set<T*> live_;
};

// `count` elements of T, `stride` elements apart; a negative stride visits them in reverse order.
template <class T>
Operand vector_of(const char* name, const T* x, int64_t count, int64_t stride = 1) {
    Operand operand{name, x};
    if (count <= 0) return operand;
    if (stride == 1 || count == 1) {
        operand.row_bytes = uint64_t(count) * sizeof(T);
        return operand;
    }
    if (stride == 0) count = 1;
    operand.row_bytes = sizeof(T);
    operand.rows = uint64_t(count);
    operand.pitch = uint64_t(stride < 0 ? -stride : stride) * sizeof(T);
    return operand;
}

// A column-major matrix: `columns` columns of `rows` elements, `leading` elements apart.
inline Operand matrix_of(const char* name, const void* a, uint64_t element_bytes, int64_t rows,
                         int64_t columns, int64_t leading) {
    Operand operand{name, a};
    if (rows <= 0 || columns <= 0) return operand;
    operand.row_bytes = uint64_t(rows) * element_bytes;
    operand.rows = uint64_t(columns);
    operand.pitch = uint64_t(leading) * element_bytes;
    operand.element_bytes = uint32_t(element_bytes);
    return operand;
}
template <class T>
Operand matrix_of(const char* name, const T* a, int64_t rows, int64_t columns, int64_t leading) {
    return matrix_of(name, static_cast<const void*>(a), sizeof(T), rows, columns, leading);
}

inline Operand written(Operand operand) {
    operand.reads = false;
    operand.writes = true;
    return operand;
}
inline Operand updated(Operand operand) {
    operand.reads = operand.writes = true;
    return operand;
}

// The type in which numbers of type T of the API are computed, and that of their magnitudes.
template <class T>
struct Computed {
    using Number = T;
    using Real = T;
};
template <>
struct Computed<cuComplex> {
    using Number = std::complex<float>;
    using Real = float;
};
template <>
struct Computed<cuDoubleComplex> {
    using Number = std::complex<double>;
    using Real = double;
};
template <class T>
using Number = typename Computed<T>::Number;
template <class T>
using Real = typename Computed<T>::Real;

// Pointers of the API as pointers to what is computed with: the layouts are the same.
template <class T>
Number<T>* num(T* pointer) {
    return reinterpret_cast<Number<T>*>(pointer);
}
template <class T>
const Number<T>* num(const T* pointer) {
    return reinterpret_cast<const Number<T>*>(pointer);
}

template <class T>
T conjugate(T value) {
    return value;
}
template <class T>
std::complex<T> conjugate(std::complex<T> value) {
    return std::conj(value);
}

// A scalar argument: in host memory it is read at the call, in device memory when the kernel runs.
template <class T>
class Scalar {
public:
    Scalar() = default;
    Scalar(const T* pointer, bool on_device) : device_(on_device ? pointer : nullptr) {
        if (!on_device) value_ = *pointer;
    }
    bool on_device() const { return device_ != nullptr; }
    Operand operand(const char* name) const {
        return on_device() ? vector_of(name, device_, 1) : Operand{name, nullptr};
    }
    // `at`: where operand(...) begins in this process.
    T value(const std::byte* at) const {
        T value = value_;
        if (on_device()) std::memcpy(&value, at, sizeof value);
        return value;
    }
    bool is_certainly(T value) const { return !on_device() && value_ == value; }

private:
    T value_{};
    const T* device_ = nullptr;
};

}  // namespace stand_in
