// SPDX-License-Identifier: MIT
// Arrays, texture and surface objects: those of the runtime, with the driver's descriptors
// converted.
#include <cstring>

#include "driver/frame.h"
#include "runtime/core/array.h"

using namespace driver;

namespace {

struct Format {
    CUarray_format format;
    int bits;
    cudaChannelFormatKind kind;
};
constexpr Format kFormats[] = {
    {CU_AD_FORMAT_UNSIGNED_INT8, 8, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_UNSIGNED_INT16, 16, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_UNSIGNED_INT32, 32, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_SIGNED_INT8, 8, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_SIGNED_INT16, 16, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_SIGNED_INT32, 32, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_HALF, 16, cudaChannelFormatKindFloat},
    {CU_AD_FORMAT_FLOAT, 32, cudaChannelFormatKindFloat},
};

bool format_of(CUarray_format format, unsigned channels, cudaChannelFormatDesc& out) {
    for (const Format& known : kFormats) {
        if (known.format != format || (channels != 1 && channels != 2 && channels != 4)) continue;
        out = {known.bits,
               channels > 1 ? known.bits : 0,
               channels > 2 ? known.bits : 0,
               channels > 2 ? known.bits : 0,
               known.kind};
        return true;
    }
    return false;
}
CUarray_format format_of(const cudaChannelFormatDesc& format) {
    for (const Format& known : kFormats)
        if (known.bits == format.x && known.kind == format.f) return known.format;
    return CU_AD_FORMAT_UNSIGNED_INT8;
}

// The flags have the same values; unknown ones are passed on and refused.
CUresult make(const char* name, CUarray* result, const CUDA_ARRAY3D_DESCRIPTOR& d) {
    return run(name, [&] {
        return runtime::api(name, [&](runtime::Call& call) -> cudaError_t {
            cudaChannelFormatDesc format;
            if (!format_of(d.Format, d.NumChannels, format)) return cudaErrorInvalidValue;
            return runtime::make_array(call,
                                       reinterpret_cast<cudaArray_t*>(result),
                                       &format,
                                       {d.Width, d.Height, d.Depth},
                                       d.Flags);
        });
    });
}

CUresult describe(const char* name, CUarray handle, CUDA_ARRAY3D_DESCRIPTOR* out) {
    return run(name, [&] {
        return runtime::api(name, [&](runtime::Call&) -> cudaError_t {
            const runtime::Array* array =
                runtime::find_array(reinterpret_cast<cudaArray_t>(handle));
            if (!array) return cudaErrorInvalidResourceHandle;
            if (!out) return cudaErrorInvalidValue;
            out->Width = array->extent.width;
            out->Height = array->extent.height;
            out->Depth = array->extent.depth;
            out->Format = format_of(array->format);
            out->NumChannels = unsigned(array->element_bytes() * 8 / unsigned(array->format.x));
            out->Flags = array->flags;
            return cudaSuccess;
        });
    });
}

bool resource_of(const CUDA_RESOURCE_DESC& given, cudaResourceDesc& out,
                 cudaChannelFormatDesc& format) {
    std::memset(&out, 0, sizeof out);
    switch (given.resType) {
    case CU_RESOURCE_TYPE_ARRAY: {
        out.resType = cudaResourceTypeArray;
        out.res.array.array = reinterpret_cast<cudaArray_t>(given.res.array.hArray);
        const runtime::Array* array = runtime::find_array(out.res.array.array);
        if (array) format = array->format;
        return true;
    }
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY: {
        out.resType = cudaResourceTypeMipmappedArray;
        out.res.mipmap.mipmap =
            reinterpret_cast<cudaMipmappedArray_t>(given.res.mipmap.hMipmappedArray);
        const runtime::MipmappedArray* array = runtime::find_mipmapped(out.res.mipmap.mipmap);
        if (array) format = array->levels[0]->format;
        return true;
    }
    case CU_RESOURCE_TYPE_LINEAR:
        if (!format_of(given.res.linear.format, given.res.linear.numChannels, format)) return false;
        out.resType = cudaResourceTypeLinear;
        out.res.linear = {pointer(given.res.linear.devPtr), format, given.res.linear.sizeInBytes};
        return true;
    case CU_RESOURCE_TYPE_PITCH2D:
        if (!format_of(given.res.pitch2D.format, given.res.pitch2D.numChannels, format))
            return false;
        out.resType = cudaResourceTypePitch2D;
        out.res.pitch2D = {pointer(given.res.pitch2D.devPtr),
                           format,
                           given.res.pitch2D.width,
                           given.res.pitch2D.height,
                           given.res.pitch2D.pitchInBytes};
        return true;
    default:
        return false;
    }
}

cudaTextureDesc texture_of(const CUDA_TEXTURE_DESC& given, const cudaChannelFormatDesc& format) {
    cudaTextureDesc out;
    std::memset(&out, 0, sizeof out);
    for (int axis = 0; axis < 3; ++axis)
        out.addressMode[axis] = cudaTextureAddressMode(given.addressMode[axis]);
    out.filterMode = cudaTextureFilterMode(given.filterMode);
    const bool integers = format.f != cudaChannelFormatKindFloat && format.x < 32;
    out.readMode = integers && !(given.flags & CU_TRSF_READ_AS_INTEGER)
                       ? cudaReadModeNormalizedFloat
                       : cudaReadModeElementType;
    out.sRGB = (given.flags & CU_TRSF_SRGB) != 0;
    out.normalizedCoords = (given.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
    out.maxAnisotropy = given.maxAnisotropy;
    out.mipmapFilterMode = cudaTextureFilterMode(given.mipmapFilterMode);
    out.mipmapLevelBias = given.mipmapLevelBias;
    out.minMipmapLevelClamp = given.minMipmapLevelClamp;
    out.maxMipmapLevelClamp = given.maxMipmapLevelClamp;
    std::memcpy(out.borderColor, given.borderColor, sizeof out.borderColor);
    return out;
}

}  // namespace

DRIVER_API CUresult cuArrayCreate_v2(CUarray* result, const CUDA_ARRAY_DESCRIPTOR* given) {
    if (!given) return CUDA_ERROR_INVALID_VALUE;
    return make("cuArrayCreate",
                result,
                {given->Width, given->Height, 0, given->Format, given->NumChannels, 0});
}
DRIVER_API CUresult cuArray3DCreate_v2(CUarray* result, const CUDA_ARRAY3D_DESCRIPTOR* given) {
    if (!given) return CUDA_ERROR_INVALID_VALUE;
    return make("cuArray3DCreate", result, *given);
}
DRIVER_API CUresult cuArrayDestroy(CUarray array) {
    return run("cuArrayDestroy", [&]() -> CUresult {
        if (!array) return CUDA_ERROR_INVALID_HANDLE;
        return result_of(cudaFreeArray(reinterpret_cast<cudaArray_t>(array)));
    });
}
DRIVER_API CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR* result, CUarray array) {
    return describe("cuArray3DGetDescriptor", array, result);
}
DRIVER_API CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR* result, CUarray array) {
    CUDA_ARRAY3D_DESCRIPTOR all;
    if (!result) return CUDA_ERROR_INVALID_VALUE;
    const CUresult error = describe("cuArrayGetDescriptor", array, &all);
    if (error == CUDA_SUCCESS) *result = {all.Width, all.Height, all.Format, all.NumChannels};
    return error;
}
DRIVER_API CUresult cuMipmappedArrayCreate(CUmipmappedArray* result,
                                           const CUDA_ARRAY3D_DESCRIPTOR* given, unsigned levels) {
    return run("cuMipmappedArrayCreate", [&]() -> CUresult {
        cudaChannelFormatDesc format;
        if (!given || !format_of(given->Format, given->NumChannels, format))
            return CUDA_ERROR_INVALID_VALUE;
        return result_of(cudaMallocMipmappedArray(reinterpret_cast<cudaMipmappedArray_t*>(result),
                                                  &format,
                                                  {given->Width, given->Height, given->Depth},
                                                  levels,
                                                  given->Flags));
    });
}
DRIVER_API CUresult cuMipmappedArrayGetLevel(CUarray* level, CUmipmappedArray array,
                                             unsigned number) {
    return run("cuMipmappedArrayGetLevel", [&] {
        return cudaGetMipmappedArrayLevel(reinterpret_cast<cudaArray_t*>(level),
                                          reinterpret_cast<cudaMipmappedArray_t>(array),
                                          number);
    });
}
DRIVER_API CUresult cuMipmappedArrayDestroy(CUmipmappedArray array) {
    return run("cuMipmappedArrayDestroy", [&] {
        return cudaFreeMipmappedArray(reinterpret_cast<cudaMipmappedArray_t>(array));
    });
}

DRIVER_API CUresult cuTexObjectCreate(CUtexObject* result, const CUDA_RESOURCE_DESC* resource,
                                      const CUDA_TEXTURE_DESC* texture,
                                      const CUDA_RESOURCE_VIEW_DESC* view) {
    return run("cuTexObjectCreate", [&]() -> CUresult {
        cudaResourceDesc shown;
        cudaChannelFormatDesc format{};
        if (!resource || !texture || !resource_of(*resource, shown, format))
            return CUDA_ERROR_INVALID_VALUE;
        if (view && view->format != CU_RES_VIEW_FORMAT_NONE) return CUDA_ERROR_NOT_SUPPORTED;
        const cudaTextureDesc sampling = texture_of(*texture, format);
        return result_of(cudaCreateTextureObject(result, &shown, &sampling, nullptr));
    });
}
DRIVER_API CUresult cuTexObjectDestroy(CUtexObject object) {
    return run("cuTexObjectDestroy", [&] { return cudaDestroyTextureObject(object); });
}
DRIVER_API CUresult cuSurfObjectCreate(CUsurfObject* result, const CUDA_RESOURCE_DESC* resource) {
    return run("cuSurfObjectCreate", [&]() -> CUresult {
        cudaResourceDesc shown;
        cudaChannelFormatDesc format{};
        if (!resource || !resource_of(*resource, shown, format)) return CUDA_ERROR_INVALID_VALUE;
        return result_of(cudaCreateSurfaceObject(result, &shown));
    });
}
DRIVER_API CUresult cuSurfObjectDestroy(CUsurfObject object) {
    return run("cuSurfObjectDestroy", [&] { return cudaDestroySurfaceObject(object); });
}
