// SPDX-License-Identifier: MIT
// Texture and surface objects: checks descriptors by the rules in the documentation of
// cudaCreateTextureObject, and converts them for the machine.
#include <algorithm>
#include <cstring>
#include <map>

#include "runtime/core/array.h"

using namespace runtime;

namespace {

constexpr uint64_t kTextureAlign = 512, kTexturePitchAlign = 32;  // as in the device properties

struct Given {  // what the program may query later
    cudaResourceDesc resource{};
    cudaTextureDesc texture{};
};
std::map<uint64_t, Given>& given() {
    static auto& instance = *new std::map<uint64_t, Given>;
    return instance;
}

bool set_format(machine::TextureObject& object, const cudaChannelFormatDesc& format) {
    using Kind = machine::TexelFormat::Kind;
    const int bits[4] = {format.x, format.y, format.z, format.w};
    if (bits[0] != 8 && bits[0] != 16 && bits[0] != 32) return false;
    unsigned channels = 0;
    while (channels < 4 && bits[channels] == bits[0]) ++channels;
    for (unsigned i = channels; i < 4; ++i)
        if (bits[i]) return false;
    if (channels == 3 || format.f > cudaChannelFormatKindFloat ||
        (format.f == cudaChannelFormatKindFloat && bits[0] == 8))
        return false;
    object.format.bits = uint8_t(bits[0]);
    object.format.channels = uint8_t(channels);
    object.format.kind = format.f == cudaChannelFormatKindSigned     ? Kind::kSigned
                         : format.f == cudaChannelFormatKindUnsigned ? Kind::kUnsigned
                                                                     : Kind::kFloat;
    return true;
}

machine::TextureLevel level_of(const Array& array) {
    return {array.address,
            uint32_t(array.extent.width),
            uint32_t(array.extent.height),
            uint32_t(array.extent.depth),
            array.pitch(),
            array.pitch() * array.rows()};
}

cudaError_t refuse(const char* why) {
    warn_once(std::string("cudaCreateTextureObject: ") + why);
    return cudaErrorInvalidValue;
}

// Whether the whole range is in device memory, as the memory of a texture must be.
bool holds(Call& call, const void* pointer, uint64_t bytes) {
    const uint64_t address = reinterpret_cast<uint64_t>(pointer);
    const machine::Allocation* found = call.global.memory.find(address);
    return found && found->live && found->contains(address, bytes);
}

cudaError_t add_resource(Call& call, const cudaResourceDesc& resource,
                         machine::TextureObject& object) {
    switch (resource.resType) {
    case cudaResourceTypeArray: {
        const Array* array = find_array(resource.res.array.array);
        if (!array) return cudaErrorInvalidResourceHandle;
        object.levels.push_back(level_of(*array));
        return set_format(object, array->format) ? cudaSuccess : cudaErrorInvalidChannelDescriptor;
    }
    case cudaResourceTypeMipmappedArray: {
        const MipmappedArray* array = find_mipmapped(resource.res.mipmap.mipmap);
        if (!array) return cudaErrorInvalidResourceHandle;
        for (const Array* level : array->levels) object.levels.push_back(level_of(*level));
        return set_format(object, array->levels[0]->format) ? cudaSuccess
                                                            : cudaErrorInvalidChannelDescriptor;
    }
    case cudaResourceTypeLinear: {
        const auto& linear = resource.res.linear;
        if (!set_format(object, linear.desc)) return cudaErrorInvalidChannelDescriptor;
        if (reinterpret_cast<uint64_t>(linear.devPtr) % kTextureAlign)
            return refuse("the start of linear memory must be aligned to textureAlignment (512)");
        const uint64_t texels = linear.sizeInBytes / object.format.bytes();
        if (!texels || texels > 1u << 28 || !holds(call, linear.devPtr, linear.sizeInBytes))
            return refuse("linear memory of that size is not allocated at that address");
        object.is_buffer = true;
        object.levels.push_back({reinterpret_cast<uint64_t>(linear.devPtr),
                                 uint32_t(texels),
                                 0,
                                 0,
                                 linear.sizeInBytes,
                                 0});
        return cudaSuccess;
    }
    case cudaResourceTypePitch2D: {
        const auto& pitched = resource.res.pitch2D;
        if (!set_format(object, pitched.desc)) return cudaErrorInvalidChannelDescriptor;
        if (reinterpret_cast<uint64_t>(pitched.devPtr) % kTextureAlign ||
            pitched.pitchInBytes % kTexturePitchAlign)
            return refuse(
                "2D linear memory must be aligned to textureAlignment (512) and its pitch "
                "to texturePitchAlignment (32): cudaMallocPitch gives both");
        const uint64_t row = pitched.width * object.format.bytes();
        if (!pitched.width || !pitched.height || pitched.width > 131072 || pitched.height > 65000 ||
            row > pitched.pitchInBytes ||
            !holds(call, pitched.devPtr, (pitched.height - 1) * pitched.pitchInBytes + row))
            return refuse("2D linear memory of that size is not allocated at that address");
        object.levels.push_back({reinterpret_cast<uint64_t>(pitched.devPtr),
                                 uint32_t(pitched.width),
                                 uint32_t(pitched.height),
                                 0,
                                 pitched.pitchInBytes,
                                 0});
        return cudaSuccess;
    }
    default:
        return cudaErrorInvalidValue;
    }
}

cudaError_t add_sampling(const cudaTextureDesc& texture, machine::TextureObject& object) {
    for (unsigned axis = 0; axis < 3; ++axis) {
        if (texture.addressMode[axis] > cudaAddressModeBorder) return cudaErrorInvalidValue;
        object.address[axis] = machine::AddressMode(texture.addressMode[axis]);
    }
    if (texture.filterMode > cudaFilterModeLinear || texture.readMode > cudaReadModeNormalizedFloat)
        return cudaErrorInvalidValue;
    using Kind = machine::TexelFormat::Kind;
    // "32-bit integer format would not be promoted."
    object.normalized_read = texture.readMode == cudaReadModeNormalizedFloat &&
                             object.format.kind != Kind::kFloat && object.format.bits < 32;
    object.normalized_coordinates = texture.normalizedCoords != 0;
    object.srgb = texture.sRGB != 0;
    object.linear_mipmaps = texture.mipmapFilterMode == cudaFilterModeLinear;
    object.lod_bias = texture.mipmapLevelBias;
    object.least_lod = texture.minMipmapLevelClamp;
    object.greatest_lod = texture.maxMipmapLevelClamp;
    std::copy_n(texture.borderColor, 4, object.border.begin());
    // Linear memory is read by index, without filter and address mode.
    object.linear_filter = texture.filterMode == cudaFilterModeLinear && !object.is_buffer;
    if (object.linear_filter && !machine::reads_float(object)) {
        warn_once("cudaCreateTextureObject: linear filtering needs texels that are read as floats: "
                  "a float format, or cudaReadModeNormalizedFloat with 8- or 16-bit integers");
        return cudaErrorInvalidFilterSetting;
    }
    if (object.levels.size() > 1 && !object.normalized_coordinates)
        return refuse("mipmapped arrays need normalized coordinates");
    return cudaSuccess;
}

template <class F>
cudaError_t with_object(const char* name, uint64_t handle, bool surface, F&& body) {
    return api(name, [&](Call& call) -> cudaError_t {
        const machine::TextureObject* object = call.global.textures.find(handle);
        if (!object || object->is_surface != surface) return cudaErrorInvalidValue;
        return body(call);
    });
}

cudaError_t destroy(const char* name, uint64_t handle, bool surface) {
    return with_object(name, handle, surface, [&](Call& call) {
        call.global.textures.remove(handle);
        given().erase(handle);
        return cudaSuccess;
    });
}

cudaError_t resource_of(const char* name, cudaResourceDesc* resource, uint64_t handle,
                        bool surface) {
    return with_object(name, handle, surface, [&](Call&) {
        if (!resource) return cudaErrorInvalidValue;
        *resource = given()[handle].resource;
        return cudaSuccess;
    });
}

}  // namespace

EMULATOR_API cudaError_t cudaCreateTextureObject(cudaTextureObject_t* result,
                                                 const cudaResourceDesc* resource,
                                                 const cudaTextureDesc* texture,
                                                 const cudaResourceViewDesc* view) {
    return api("cudaCreateTextureObject", [&](Call& call) -> cudaError_t {
        if (!result || !resource || !texture) return cudaErrorInvalidValue;
        if (view && view->format != cudaResViewFormatNone) {
            warn_once("cudaCreateTextureObject: resource views are not supported by the emulated "
                      "device");
            return cudaErrorNotSupported;
        }
        machine::TextureObject object;
        if (const cudaError_t error = add_resource(call, *resource, object)) return error;
        if (const cudaError_t error = add_sampling(*texture, object)) return error;
        *result = call.global.textures.add(std::move(object));
        given()[*result] = {*resource, *texture};
        return cudaSuccess;
    });
}
EMULATOR_API cudaError_t cudaDestroyTextureObject(cudaTextureObject_t handle) {
    return destroy("cudaDestroyTextureObject", handle, false);
}
EMULATOR_API cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource,
                                                          cudaTextureObject_t handle) {
    return resource_of("cudaGetTextureObjectResourceDesc", resource, handle, false);
}
EMULATOR_API cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* texture,
                                                         cudaTextureObject_t handle) {
    return with_object("cudaGetTextureObjectTextureDesc", handle, false, [&](Call&) {
        if (!texture) return cudaErrorInvalidValue;
        *texture = given()[handle].texture;
        return cudaSuccess;
    });
}
// All objects here are created without a view.
EMULATOR_API cudaError_t cudaGetTextureObjectResourceViewDesc(cudaResourceViewDesc* view,
                                                              cudaTextureObject_t handle) {
    return with_object("cudaGetTextureObjectResourceViewDesc", handle, false, [&](Call&) {
        if (view) *view = {};
        return cudaErrorInvalidValue;
    });
}

EMULATOR_API cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* result,
                                                 const cudaResourceDesc* resource) {
    return api("cudaCreateSurfaceObject", [&](Call& call) -> cudaError_t {
        if (!result || !resource || resource->resType != cudaResourceTypeArray)
            return cudaErrorInvalidValue;
        const Array* array = find_array(resource->res.array.array);
        if (!array) return cudaErrorInvalidResourceHandle;
        if (!(array->flags & cudaArraySurfaceLoadStore)) {
            warn_once("cudaCreateSurfaceObject: the array was not made with "
                      "cudaArraySurfaceLoadStore");
            return cudaErrorInvalidValue;
        }
        machine::TextureObject object;
        object.is_surface = true;
        if (const cudaError_t error = add_resource(call, *resource, object)) return error;
        *result = call.global.textures.add(std::move(object));
        given()[*result] = {*resource, {}};
        return cudaSuccess;
    });
}
EMULATOR_API cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t handle) {
    return destroy("cudaDestroySurfaceObject", handle, true);
}
EMULATOR_API cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* resource,
                                                          cudaSurfaceObject_t handle) {
    return resource_of("cudaGetSurfaceObjectResourceDesc", resource, handle, true);
}

EMULATOR_API cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t* texels,
                                                              const cudaChannelFormatDesc* format,
                                                              int device) {
    return api("cudaDeviceGetTexture1DLinearMaxWidth", [&](Call& call) -> cudaError_t {
        if (!texels || !format) return cudaErrorInvalidValue;
        if (device < 0 || device >= call.global.device_count()) return cudaErrorInvalidDevice;
        *texels = 1u << 28;
        return cudaSuccess;
    });
}
