// SPDX-License-Identifier: MIT
// What the tests of lesson 08 share: operands of any shape and type, and outputs on the device.
#pragma once

#include "elementwise_functors.h"
#include "lesson_test.h"

namespace {

constexpr size_t kGuard = 1024;  // elements on each side of every array, on a real GPU

template <class T>
std::vector<T> numbers(size_t n, uint64_t seed, float low = -1.0f, float high = 1.0f) {
    const auto floats = wb::random_floats(n, seed, low, high);
    std::vector<T> out(floats.begin(), floats.end());
    if (sizeof(T) == 8)  // digits that a float does not have
        for (size_t i = 0; i < n; ++i) out[i] *= T(1 + 1e-9 * wb::uniform_float(seed + 99, i));
    return out;
}

// A matrix on the device with its values on the host.
template <class T>
struct Operand {
    Operand(std::vector<T> v, int rows, int columns)
        : values(std::move(v)), buffer(values, wb::guard(kGuard)), rows(rows), columns(columns) {}
    Matrix<T> matrix() { return {buffer.get(), rows, columns}; }
    // The element that (row, column) of the output reads.
    T at(int row, int column) const {
        return values[size_t(rows == 1 ? 0 : row) * columns + (columns == 1 ? 0 : column)];
    }
    std::vector<T> values;
    wb::GuardedBuffer<T> buffer;
    int rows, columns;
};

// The output of run(d_out, shape).
template <class T, class Run>
wb::Output<T> output(Shape shape, Run run) {
    return wb::output_of<T>(size_t(shape.rows) * shape.columns, wb::guard(kGuard), [&](T* d_out) {
        run(d_out, shape);
    });
}

}  // namespace
