// SPDX-License-Identifier: MIT
// Creates, finds and frees CUDA arrays.
#include "runtime/core/array.h"

#include <algorithm>
#include <unordered_set>

namespace runtime {
namespace {

struct Arrays {
    std::unordered_set<const void*> live, freed;
    std::unordered_set<const void*> mipmapped;
};
Arrays& arrays() {
    static auto& instance = *new Arrays;
    return instance;
}

// PTX has texels of 1, 2 or 4 channels of 8, 16 or 32 bits.
bool valid_format(const cudaChannelFormatDesc& format) {
    if (format.f != cudaChannelFormatKindSigned && format.f != cudaChannelFormatKindUnsigned &&
        format.f != cudaChannelFormatKindFloat)
        return false;
    const int bits[4] = {format.x, format.y, format.z, format.w};
    const int width = bits[0];
    if (width != 8 && width != 16 && width != 32) return false;
    if (format.f == cudaChannelFormatKindFloat && width == 8) return false;
    int channels = 0;
    while (channels < 4 && bits[channels]) ++channels;
    for (int i = 0; i < 4; ++i)
        if (bits[i] != (i < channels ? width : 0)) return false;
    return channels != 3;
}

constexpr unsigned kKnownFlags =
    cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayCubemap | cudaArrayTextureGather;

// The rules for extents and flags from the documentation of cudaMalloc3DArray.
bool valid_extent(const cudaExtent& extent, unsigned flags) {
    const bool layered = flags & cudaArrayLayered, cube = flags & cudaArrayCubemap;
    if (!extent.width) return false;
    if (cube && (extent.width != extent.height || !extent.depth || extent.depth % 6)) return false;
    if (cube && !layered && extent.depth != 6) return false;
    if (layered && !extent.depth) return false;
    if (!layered && !cube && extent.depth && !extent.height) return false;
    if ((flags & cudaArrayTextureGather) && (!extent.height || (extent.depth && !layered)))
        return false;
    constexpr size_t kWidest = 131072;
    return extent.width <= kWidest && extent.height <= kWidest && extent.depth <= kWidest;
}

Array* add_array(Array array) {
    auto* made = new Array(array);
    arrays().live.insert(made);
    arrays().freed.erase(made);
    return made;
}

cudaError_t check(const cudaChannelFormatDesc* format, const cudaExtent& extent, unsigned flags) {
    if (!format || (flags & ~kKnownFlags)) return cudaErrorInvalidValue;
    if (!valid_format(*format)) {
        warn_once("arrays of this channel format are not supported: the emulated device has texels "
                  "of 1, 2 or 4 equal channels of 8, 16 or 32 bits");
        return cudaErrorInvalidChannelDescriptor;
    }
    return valid_extent(extent, flags) ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t take_memory(Call& call, uint64_t bytes, machine::Allocation*& memory) {
    memory = call.global.memory.allocate(
        machine::MemoryKind::kArray, bytes, call.thread.device, call.site(), 512);
    if (!memory) return cudaErrorMemoryAllocation;
    call.global.fire_alloc(*memory);
    return cudaSuccess;
}

}  // namespace

uint64_t Array::element_bytes() const {
    return uint64_t(format.x + format.y + format.z + format.w) / 8;
}

Array* find_array(cudaArray_const_t handle) {
    auto* array = reinterpret_cast<Array*>(const_cast<cudaArray_t>(handle));
    return arrays().live.contains(array) && array->memory->live ? array : nullptr;
}
MipmappedArray* find_mipmapped(cudaMipmappedArray_const_t handle) {
    auto* array = reinterpret_cast<MipmappedArray*>(const_cast<cudaMipmappedArray_t>(handle));
    return arrays().mipmapped.contains(array) && array->memory->live ? array : nullptr;
}

bool array_view(cudaArray_const_t handle, ArrayView& view) {
    const Array* array = find_array(handle);
    if (!array) return false;
    view.address = array->address;
    view.element_bytes = array->element_bytes();
    view.width = view.pitch = array->pitch();
    view.height = array->rows();
    view.depth = array->slices();
    view.slice = view.pitch * view.height;
    return true;
}

bool inside(const ArrayView& view, uint64_t x, uint64_t y, uint64_t z, const Extent& extent) {
    const auto fits = [](uint64_t start, uint64_t count, uint64_t size) {
        return start <= size && count <= size - start;
    };
    return fits(x, extent.width, view.width) && fits(y, extent.height, view.height) &&
           fits(z, extent.depth, view.depth);
}

cudaError_t make_array(Call& call, cudaArray_t* result, const cudaChannelFormatDesc* format,
                       cudaExtent extent, unsigned flags) {
    if (!result) return cudaErrorInvalidValue;
    if (const cudaError_t error = check(format, extent, flags)) return error;
    Array array;
    array.format = *format;
    array.extent = extent;
    array.flags = flags;
    if (const cudaError_t error = take_memory(call, array.bytes(), array.memory)) return error;
    array.address = array.memory->address;
    *result = reinterpret_cast<cudaArray_t>(add_array(array));
    return cudaSuccess;
}

cudaError_t make_mipmapped(Call& call, cudaMipmappedArray_t* result,
                           const cudaChannelFormatDesc* format, cudaExtent extent, unsigned levels,
                           unsigned flags) {
    if (!result) return cudaErrorInvalidValue;
    if (const cudaError_t error = check(format, extent, flags)) return error;
    // Layers and faces keep their number at each level.
    const bool slices = flags & (cudaArrayLayered | cudaArrayCubemap);
    const size_t longest =
        std::max({extent.width, extent.height, slices ? size_t(0) : extent.depth});
    unsigned most = 1;
    while (longest >> most) ++most;
    levels = std::clamp(levels, 1u, most);
    auto mipmapped = std::make_unique<MipmappedArray>();
    std::vector<Array> made;
    uint64_t bytes = 0;
    for (unsigned level = 0; level < levels; ++level) {
        const auto half = [&](size_t size) {
            return size ? std::max<size_t>(1, size >> level) : 0;
        };
        Array array;
        array.format = *format;
        array.extent = {
            half(extent.width), half(extent.height), slices ? extent.depth : half(extent.depth)};
        array.flags = flags;
        array.is_level = true;
        array.address = bytes;
        bytes += (array.bytes() + 511) / 512 * 512;
        made.push_back(array);
    }
    if (const cudaError_t error = take_memory(call, bytes, mipmapped->memory)) return error;
    for (Array& array : made) {
        array.memory = mipmapped->memory;
        array.address += mipmapped->memory->address;
        mipmapped->levels.push_back(add_array(array));
    }
    arrays().mipmapped.insert(mipmapped.get());
    *result = reinterpret_cast<cudaMipmappedArray_t>(mipmapped.release());
    return cudaSuccess;
}

cudaError_t free_array(Call& call, cudaArray_t handle) {
    if (!handle) return cudaSuccess;
    auto* array = reinterpret_cast<Array*>(handle);
    if (arrays().freed.contains(array))
        return call.misuse(machine::ApiEvent::Kind::kDoubleFree,
                           Call::Reason::kFreed,
                           cudaErrorInvalidValue,
                           "`" + std::string(call.name) +
                               "` frees a CUDA array that has already been freed",
                           reinterpret_cast<uint64_t>(handle));
    if (!find_array(handle) || array->is_level) return cudaErrorInvalidResourceHandle;
    call.global.release(*array->memory, call.site());
    arrays().live.erase(array);
    arrays().freed.insert(array);  // the object is kept so that its address is not reused
    return cudaSuccess;
}

cudaError_t free_mipmapped(Call& call, cudaMipmappedArray_t handle) {
    if (!handle) return cudaSuccess;
    MipmappedArray* array = find_mipmapped(handle);
    if (!array) return cudaErrorInvalidResourceHandle;
    call.global.release(*array->memory, call.site());
    for (Array* level : array->levels) arrays().live.erase(level);
    arrays().mipmapped.erase(array);
    return cudaSuccess;
}

}  // namespace runtime
