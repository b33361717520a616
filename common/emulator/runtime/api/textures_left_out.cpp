// SPDX-License-Identifier: MIT
// Replaces textures.cpp in builds without textures and surfaces (EMULATOR_TEXTURES=OFF): each call
// prints that and fails.
#include "runtime/core/array.h"

using namespace runtime;

namespace {

cudaError_t left_out(const char* name) {
    return api(name, [&](Call&) {
        warn_once(std::string(name) +
                  ": this build of the emulated device has no textures and surfaces "
                  "(EMULATOR_TEXTURES is OFF)");
        return cudaErrorNotSupported;
    });
}

}  // namespace

EMULATOR_API cudaError_t cudaCreateTextureObject(cudaTextureObject_t*, const cudaResourceDesc*,
                                                 const cudaTextureDesc*,
                                                 const cudaResourceViewDesc*) {
    return left_out("cudaCreateTextureObject");
}
EMULATOR_API cudaError_t cudaDestroyTextureObject(cudaTextureObject_t) {
    return left_out("cudaDestroyTextureObject");
}
EMULATOR_API cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc*, cudaTextureObject_t) {
    return left_out("cudaGetTextureObjectResourceDesc");
}
EMULATOR_API cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc*, cudaTextureObject_t) {
    return left_out("cudaGetTextureObjectTextureDesc");
}
EMULATOR_API cudaError_t cudaGetTextureObjectResourceViewDesc(cudaResourceViewDesc*,
                                                              cudaTextureObject_t) {
    return left_out("cudaGetTextureObjectResourceViewDesc");
}
EMULATOR_API cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t*, const cudaResourceDesc*) {
    return left_out("cudaCreateSurfaceObject");
}
EMULATOR_API cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t) {
    return left_out("cudaDestroySurfaceObject");
}
EMULATOR_API cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc*, cudaSurfaceObject_t) {
    return left_out("cudaGetSurfaceObjectResourceDesc");
}
EMULATOR_API cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t*, const cudaChannelFormatDesc*,
                                                              int) {
    return left_out("cudaDeviceGetTexture1DLinearMaxWidth");
}
