// SPDX-License-Identifier: MIT
// What the tests of lesson 04 work with: matrices of several shapes, their rows and padding, and
// matrices whose last rows are far from the first.
#pragma once

#include "cases/sparse.h"
#include "indexing_2d.h"
#include "lesson_test.h"

#include <cmath>

namespace {

constexpr size_t kGuard = 4096;  // elements on each side of every array, on a real GPU

struct Shape {
    int height, width;
};
inline const std::vector<Shape> kShapes{
    {17, 33}, {1, 1}, {1, 1000}, {1000, 1}, {32, 32}, {31, 257}, {8, 32}};

// Rows and padding of a matrix, each in one piece.
struct Parts {
    std::vector<float> elements, padding;
};
inline Parts parts(const std::vector<float>& all, Shape shape, size_t pitch) {
    Parts result;
    result.elements.reserve(all.size());
    for (size_t i = 0; i < all.size(); ++i)
        (i % pitch < size_t(shape.width) ? result.elements : result.padding).push_back(all[i]);
    return result;
}

// The parts of a matrix on the device; a message about an element then says who wrote it.
inline Parts download_parts(const wb::GuardedBuffer<float>& d_data, Shape shape, size_t pitch) {
    Parts result = parts(d_data.download(), shape, pitch);
    const size_t width = shape.width, padding = pitch - width;
    wb::note_download({result.elements.data(), d_data.get(), result.elements.size(), width, pitch});
    if (padding)
        wb::note_download(
            {result.padding.data(), d_data.get() + width, result.padding.size(), padding, pitch});
    return result;
}

inline std::vector<float> matrix(Shape shape, size_t pitch, uint64_t seed) {
    return wb::random_floats(size_t(shape.height) * pitch, seed, -50.0f, 50.0f);
}

// Matrices of 2^31 floats and more, of which only the first columns and a little padding are
// touched. The last rows begin at 2^31 and above.
constexpr size_t kFarPitch = 1 << 20;
constexpr Shape kTall{2060, 3};
constexpr size_t kWithPadding = 5;

inline std::vector<float> rows_of_tall(uint64_t seed) {
    return wb::random_floats(kTall.height * kWithPadding, seed, -50.0f, 50.0f);
}

}  // namespace
