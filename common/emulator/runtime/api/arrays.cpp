// SPDX-License-Identifier: MIT
// CUDA arrays in the runtime API: allocation, queries, and copies of rectangles.
#include "runtime/core/array.h"

using namespace runtime;

namespace {

// Where the rectangle starts in the array; reports a rectangle that does not fit.
cudaError_t part_of(Call& call, cudaArray_const_t handle, size_t x, size_t y, const Extent& extent,
                    Box& box) {
    ArrayView view;
    if (!array_view(handle, view)) return cudaErrorInvalidResourceHandle;
    if (!inside(view, x, y, 0, extent))
        return call.misuse(
            machine::ApiEvent::Kind::kInvalidCopy,
            Call::Reason::kOutOfRange,
            cudaErrorInvalidValue,
            "`" + std::string(call.name) + "` copies " + std::to_string(extent.height) +
                " rows of " + std::to_string(extent.width) + " bytes, starting at row " +
                std::to_string(y) + ", byte " + std::to_string(x) + ", but the array has " +
                std::to_string(view.height) + " rows of " + std::to_string(view.width) + " bytes",
            view.address,
            call.global.memory.find(view.address));
    box = {view.address + y * view.pitch + x, view.pitch, view.slice};
    return cudaSuccess;
}

struct Where {
    cudaStream_t stream;
    bool wait;
};

cudaError_t to_array(const char* name, cudaArray_t to, size_t x, size_t y, const void* from,
                     size_t pitch, size_t width, size_t height, cudaMemcpyKind kind, Where where) {
    return api(name, where.wait ? kSynchronises : kPlain, [&](Call& call) -> cudaError_t {
        const Extent extent{width, height, 1};
        if (height > 1 && width > pitch) return cudaErrorInvalidPitchValue;
        if (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost)
            return cudaErrorInvalidMemcpyDirection;
        Box box;
        if (const cudaError_t error = part_of(call, to, x, y, extent, box)) return error;
        return copy(call, box, linear_box(from, pitch), extent, kind, where.stream, where.wait);
    });
}

cudaError_t from_array(const char* name, void* to, size_t pitch, cudaArray_const_t from, size_t x,
                       size_t y, size_t width, size_t height, cudaMemcpyKind kind, Where where) {
    return api(name, where.wait ? kSynchronises : kPlain, [&](Call& call) -> cudaError_t {
        const Extent extent{width, height, 1};
        if (height > 1 && width > pitch) return cudaErrorInvalidPitchValue;
        if (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost)
            return cudaErrorInvalidMemcpyDirection;
        Box box;
        if (const cudaError_t error = part_of(call, from, x, y, extent, box)) return error;
        return copy(call, linear_box(to, pitch), box, extent, kind, where.stream, where.wait);
    });
}

cudaError_t array_to_array(const char* name, cudaArray_t to, size_t to_x, size_t to_y,
                           cudaArray_const_t from, size_t from_x, size_t from_y, size_t width,
                           size_t height, cudaMemcpyKind kind) {
    return api(name, kSynchronises, [&](Call& call) -> cudaError_t {
        const Extent extent{width, height, 1};
        if (kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
            return cudaErrorInvalidMemcpyDirection;
        Box target, source;
        if (const cudaError_t error = part_of(call, to, to_x, to_y, extent, target)) return error;
        if (const cudaError_t error = part_of(call, from, from_x, from_y, extent, source))
            return error;
        return copy(call, target, source, extent, cudaMemcpyDeviceToDevice, nullptr, true);
    });
}

// The one-dimensional copies continue across the ends of rows: arrays here are packed.
cudaError_t run_of(cudaArray_const_t handle, size_t x, size_t y, size_t bytes, Box& box) {
    ArrayView view;
    if (!array_view(handle, view)) return cudaErrorInvalidResourceHandle;
    const uint64_t start = y * view.pitch + x;
    if (x > view.width || start > view.slice || bytes > view.slice - start)
        return cudaErrorInvalidValue;
    box = {view.address + start, 0, 0};
    return cudaSuccess;
}

cudaError_t copy_run(const char* name, cudaArray_const_t array, size_t x, size_t y,
                     const void* other, bool to_array, size_t bytes, cudaMemcpyKind kind,
                     Where where) {
    return api(name, where.wait ? kSynchronises : kPlain, [&](Call& call) -> cudaError_t {
        Box box;
        if (const cudaError_t error = run_of(array, x, y, bytes, box)) return error;
        return copy(call,
                    to_array ? box : linear_box(other, 0),
                    to_array ? linear_box(other, 0) : box,
                    {bytes, 1, 1},
                    kind,
                    where.stream,
                    where.wait);
    });
}

}  // namespace

EMULATOR_API cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format,
                                         size_t width, size_t height, unsigned flags) {
    return api("cudaMallocArray", [&](Call& call) {
        return make_array(call, array, format, {width, height, 0}, flags);
    });
}
EMULATOR_API cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* format,
                                           cudaExtent extent, unsigned flags) {
    return api("cudaMalloc3DArray",
               [&](Call& call) { return make_array(call, array, format, extent, flags); });
}
EMULATOR_API cudaError_t cudaFreeArray(cudaArray_t array) {
    return api("cudaFreeArray", kIgnoresFault, [&](Call& call) {
        const cudaError_t error = free_array(call, array);
        return call.device().fault != cudaSuccess ? call.device().fault : error;
    });
}
EMULATOR_API cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t* array,
                                                  const cudaChannelFormatDesc* format,
                                                  cudaExtent extent, unsigned levels,
                                                  unsigned flags) {
    return api("cudaMallocMipmappedArray", [&](Call& call) {
        return make_mipmapped(call, array, format, extent, levels, flags);
    });
}
EMULATOR_API cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t array) {
    return api("cudaFreeMipmappedArray", kIgnoresFault, [&](Call& call) {
        const cudaError_t error = free_mipmapped(call, array);
        return call.device().fault != cudaSuccess ? call.device().fault : error;
    });
}
EMULATOR_API cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t* level,
                                                    cudaMipmappedArray_const_t handle,
                                                    unsigned number) {
    return api("cudaGetMipmappedArrayLevel", [&](Call&) -> cudaError_t {
        const MipmappedArray* array = find_mipmapped(handle);
        if (!level || !array || number >= array->levels.size()) return cudaErrorInvalidValue;
        *level = reinterpret_cast<cudaArray_t>(array->levels[number]);
        return cudaSuccess;
    });
}
EMULATOR_API cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent,
                                          unsigned* flags, cudaArray_t handle) {
    return api("cudaArrayGetInfo", [&](Call&) -> cudaError_t {
        const Array* array = find_array(handle);
        if (!array) return cudaErrorInvalidResourceHandle;
        if (format) *format = array->format;
        if (extent) *extent = array->extent;
        if (flags) *flags = array->flags;
        return cudaSuccess;
    });
}
EMULATOR_API cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* format,
                                            cudaArray_const_t handle) {
    return api("cudaGetChannelDesc", [&](Call&) -> cudaError_t {
        const Array* array = find_array(handle);
        if (!format || !array) return cudaErrorInvalidValue;
        *format = array->format;
        return cudaSuccess;
    });
}

EMULATOR_API cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void* from,
                                             size_t pitch, size_t width, size_t height,
                                             cudaMemcpyKind kind) {
    return to_array(
        "cudaMemcpy2DToArray", to, x, y, from, pitch, width, height, kind, {nullptr, true});
}
EMULATOR_API cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y,
                                                  const void* from, size_t pitch, size_t width,
                                                  size_t height, cudaMemcpyKind kind,
                                                  cudaStream_t stream) {
    return to_array(
        "cudaMemcpy2DToArrayAsync", to, x, y, from, pitch, width, height, kind, {stream, false});
}
EMULATOR_API cudaError_t cudaMemcpy2DFromArray(void* to, size_t pitch, cudaArray_const_t from,
                                               size_t x, size_t y, size_t width, size_t height,
                                               cudaMemcpyKind kind) {
    return from_array(
        "cudaMemcpy2DFromArray", to, pitch, from, x, y, width, height, kind, {nullptr, true});
}
EMULATOR_API cudaError_t cudaMemcpy2DFromArrayAsync(void* to, size_t pitch, cudaArray_const_t from,
                                                    size_t x, size_t y, size_t width, size_t height,
                                                    cudaMemcpyKind kind, cudaStream_t stream) {
    return from_array(
        "cudaMemcpy2DFromArrayAsync", to, pitch, from, x, y, width, height, kind, {stream, false});
}
EMULATOR_API cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x, size_t to_y,
                                                  cudaArray_const_t from, size_t from_x,
                                                  size_t from_y, size_t width, size_t height,
                                                  cudaMemcpyKind kind) {
    return array_to_array(
        "cudaMemcpy2DArrayToArray", to, to_x, to_y, from, from_x, from_y, width, height, kind);
}
EMULATOR_API cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void* from,
                                           size_t bytes, cudaMemcpyKind kind) {
    return copy_run("cudaMemcpyToArray", to, x, y, from, true, bytes, kind, {nullptr, true});
}
EMULATOR_API cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, size_t x, size_t y,
                                                const void* from, size_t bytes, cudaMemcpyKind kind,
                                                cudaStream_t stream) {
    return copy_run("cudaMemcpyToArrayAsync", to, x, y, from, true, bytes, kind, {stream, false});
}
EMULATOR_API cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, size_t x, size_t y,
                                             size_t bytes, cudaMemcpyKind kind) {
    return copy_run("cudaMemcpyFromArray", from, x, y, to, false, bytes, kind, {nullptr, true});
}
EMULATOR_API cudaError_t cudaMemcpyFromArrayAsync(void* to, cudaArray_const_t from, size_t x,
                                                  size_t y, size_t bytes, cudaMemcpyKind kind,
                                                  cudaStream_t stream) {
    return copy_run(
        "cudaMemcpyFromArrayAsync", from, x, y, to, false, bytes, kind, {stream, false});
}
