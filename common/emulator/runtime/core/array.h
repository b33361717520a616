// SPDX-License-Identifier: MIT
// CUDA arrays: storage with an opaque layout that copies, textures and surfaces access. Here it is
// plain rows of elements in an allocation of its own.
#pragma once

#include "runtime/core/copy.h"

namespace runtime {

struct Array {
    machine::Allocation* memory = nullptr;
    uint64_t address = 0;  // a level of a mipmapped array starts within the allocation
    cudaChannelFormatDesc format{};
    cudaExtent extent{};  // in elements; 0 for a missing dimension; depth includes layers
    unsigned flags = 0;
    bool is_level = false;  // of a mipmapped array, and not freed separately
    uint64_t element_bytes() const;
    uint64_t rows() const { return extent.height ? extent.height : 1; }
    uint64_t slices() const { return extent.depth ? extent.depth : 1; }
    uint64_t pitch() const { return extent.width * element_bytes(); }
    uint64_t bytes() const { return pitch() * rows() * slices(); }
};
struct MipmappedArray {
    std::vector<Array*> levels;
    machine::Allocation* memory = nullptr;
};

// Null when the handle does not refer to a live array.
Array* find_array(cudaArray_const_t handle);
MipmappedArray* find_mipmapped(cudaMipmappedArray_const_t handle);

// An array as linear storage, for copies.
struct ArrayView {
    uint64_t address = 0, pitch = 0, slice = 0;
    uint64_t element_bytes = 1;
    uint64_t width = 0, height = 0, depth = 0;  // width in bytes; 1 for a missing dimension
};
bool array_view(cudaArray_const_t array, ArrayView& view);
// Whether a box of `extent` (width in bytes) that starts at (x bytes, y, z) is inside the array.
bool inside(const ArrayView& view, uint64_t x, uint64_t y, uint64_t z, const Extent& extent);

// Implements an allocation function. Layers and faces are in `extent.depth`; the documentation of
// cudaMalloc3DArray has the rules for flags and extents.
cudaError_t make_array(Call& call, cudaArray_t* result, const cudaChannelFormatDesc* format,
                       cudaExtent extent, unsigned flags);
cudaError_t make_mipmapped(Call& call, cudaMipmappedArray_t* result,
                           const cudaChannelFormatDesc* format, cudaExtent extent, unsigned levels,
                           unsigned flags);
cudaError_t free_array(Call& call, cudaArray_t handle);
cudaError_t free_mipmapped(Call& call, cudaMipmappedArray_t handle);

}  // namespace runtime
