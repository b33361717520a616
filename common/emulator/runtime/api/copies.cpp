// SPDX-License-Identifier: MIT
// The cudaMemcpy and cudaMemset families, in every spelling.
#include "runtime/core/array.h"
#include "runtime/core/copy.h"

using namespace runtime;

namespace {

cudaError_t copy_1d(const char* name, void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                    cudaStream_t stream, bool wait) {
    return api(name, wait ? kSynchronises : kPlain, [&](Call& call) {
        return copy(call, linear_box(to), linear_box(from), {bytes, 1, 1}, kind, stream, wait);
    });
}

std::string bytes_text(size_t bytes) {
    return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

// Rows that overlap: the pitch is the distance between them.
cudaError_t bad_pitch(Call& call, const char* does, size_t width, size_t pitch) {
    return call.misuse(machine::ApiEvent::Kind::kInvalidCopy,
                       Call::Reason::kOutOfRange,
                       cudaErrorInvalidPitchValue,
                       "`" + std::string(call.name) + "` " + does + " rows of " +
                           bytes_text(width) + ", but the pitch puts them only " +
                           bytes_text(pitch) + " apart");
}

cudaError_t copy_2d(const char* name, void* to, size_t to_pitch, const void* from,
                    size_t from_pitch, size_t width, size_t height, cudaMemcpyKind kind,
                    cudaStream_t stream, bool wait) {
    return api(name, wait ? kSynchronises : kPlain, [&](Call& call) -> cudaError_t {
        if (width > to_pitch) return bad_pitch(call, "writes", width, to_pitch);
        if (width > from_pitch) return bad_pitch(call, "reads", width, from_pitch);
        return copy(call,
                    linear_box(to, to_pitch),
                    linear_box(from, from_pitch),
                    {width, height, 1},
                    kind,
                    stream,
                    wait);
    });
}

cudaError_t fill_1d(const char* name, void* to, int value, size_t bytes, cudaStream_t stream,
                    bool wait) {
    return api(name, wait ? kSynchronises : kPlain, [&](Call& call) {
        return fill(call, linear_box(to), {bytes, 1, 1}, uint8_t(value), stream, wait);
    });
}

cudaError_t fill_2d(const char* name, void* to, size_t pitch, int value, size_t width,
                    size_t height, cudaStream_t stream, bool wait) {
    return api(name, wait ? kSynchronises : kPlain, [&](Call& call) -> cudaError_t {
        if (height > 1 && width > pitch) return bad_pitch(call, "fills", width, pitch);
        return fill(call, linear_box(to, pitch), {width, height, 1}, uint8_t(value), stream, wait);
    });
}

cudaError_t fill_3d(const char* name, cudaPitchedPtr to, int value, cudaExtent extent,
                    cudaStream_t stream, bool wait) {
    return api(name, wait ? kSynchronises : kPlain, [&](Call& call) -> cudaError_t {
        if (extent.width > to.pitch) return bad_pitch(call, "fills", extent.width, to.pitch);
        Box box = linear_box(to.ptr, to.pitch);
        box.slice = to.pitch * to.ysize;
        return fill(
            call, box, {extent.width, extent.height, extent.depth}, uint8_t(value), stream, wait);
    });
}

// One end of a 3D copy. Positions and widths are in elements when an array takes part, else in
// bytes.
struct End3D {
    cudaArray_t array;
    cudaPos position;
    cudaPitchedPtr pointer;
};

cudaError_t box_of(const End3D& end, const Extent& extent, Box& box) {
    if (end.array) {
        ArrayView view;
        if (end.pointer.ptr || !array_view(end.array, view)) return cudaErrorInvalidValue;
        const uint64_t x = end.position.x * view.element_bytes;
        if (!inside(view, x, end.position.y, end.position.z, extent)) return cudaErrorInvalidValue;
        box = {view.address + end.position.z * view.slice + end.position.y * view.pitch +
                   end.position.x * view.element_bytes,
               view.pitch,
               view.slice};
        return cudaSuccess;
    }
    if (!end.pointer.ptr) return cudaErrorInvalidValue;
    const uint64_t slice = end.pointer.pitch * end.pointer.ysize;
    box = {reinterpret_cast<uint64_t>(end.pointer.ptr) + end.position.z * slice +
               end.position.y * end.pointer.pitch + end.position.x,
           end.pointer.pitch,
           slice};
    return cudaSuccess;
}

cudaError_t copy_3d(Call& call, const End3D& to, const End3D& from, cudaExtent size,
                    cudaMemcpyKind kind, cudaStream_t stream, bool wait) {
    uint64_t unit = 1;
    for (const cudaArray_t array : {to.array, from.array}) {
        ArrayView view;
        if (!array) continue;
        if (!array_view(array, view)) return cudaErrorInvalidResourceHandle;
        unit = view.element_bytes;
    }
    const Extent extent{size.width * unit, size.height, size.depth};
    if (extent.empty()) return cudaSuccess;
    Box target, source;
    // A position in linear memory is in bytes, also if the other end is an array.
    if (const cudaError_t error = box_of(to, extent, target)) return error;
    if (const cudaError_t error = box_of(from, extent, source)) return error;
    if ((extent.height > 1 || extent.depth > 1) &&
        (extent.width > target.pitch || extent.width > source.pitch)) {
        const bool target_is_bad = extent.width > target.pitch;
        return bad_pitch(call,
                         target_is_bad ? "writes" : "reads",
                         extent.width,
                         target_is_bad ? target.pitch : source.pitch);
    }
    return copy(call, target, source, extent, kind, stream, wait);
}

cudaError_t copy_3d(const char* name, const cudaMemcpy3DParms* p, cudaStream_t stream, bool wait) {
    return api(name, wait ? kSynchronises : kPlain, [&](Call& call) -> cudaError_t {
        if (!p) return cudaErrorInvalidValue;
        return copy_3d(call,
                       {p->dstArray, p->dstPos, p->dstPtr},
                       {p->srcArray, p->srcPos, p->srcPtr},
                       p->extent,
                       p->kind,
                       stream,
                       wait);
    });
}

bool valid_device(Call& call, int device) {
    return device >= 0 && device < call.global.device_count();
}

cudaError_t copy_3d_peer(const char* name, const cudaMemcpy3DPeerParms* p, cudaStream_t stream,
                         bool wait) {
    return api(name, wait ? kSynchronises : kPlain, [&](Call& call) -> cudaError_t {
        if (!p) return cudaErrorInvalidValue;
        if (!valid_device(call, p->dstDevice) || !valid_device(call, p->srcDevice))
            return cudaErrorInvalidDevice;
        return copy_3d(call,
                       {p->dstArray, p->dstPos, p->dstPtr},
                       {p->srcArray, p->srcPos, p->srcPtr},
                       p->extent,
                       cudaMemcpyDeviceToDevice,
                       stream,
                       wait);
    });
}

cudaError_t copy_peer(const char* name, void* to, int to_device, const void* from, int from_device,
                      size_t bytes, cudaStream_t stream, bool wait) {
    return api(name, wait ? kSynchronises : kPlain, [&](Call& call) -> cudaError_t {
        if (!valid_device(call, to_device) || !valid_device(call, from_device))
            return cudaErrorInvalidDevice;
        return copy(call,
                    linear_box(to),
                    linear_box(from),
                    {bytes, 1, 1},
                    cudaMemcpyDeviceToDevice,
                    stream,
                    wait);
    });
}

}  // namespace

EMULATOR_API cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
    return copy_1d("cudaMemcpy", to, from, bytes, kind, nullptr, true);
}
EMULATOR_API cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes,
                                         cudaMemcpyKind kind, cudaStream_t stream) {
    return copy_1d("cudaMemcpyAsync", to, from, bytes, kind, stream, false);
}

EMULATOR_API cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from,
                                      size_t from_pitch, size_t width, size_t height,
                                      cudaMemcpyKind kind) {
    return copy_2d(
        "cudaMemcpy2D", to, to_pitch, from, from_pitch, width, height, kind, nullptr, true);
}
EMULATOR_API cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from,
                                           size_t from_pitch, size_t width, size_t height,
                                           cudaMemcpyKind kind, cudaStream_t stream) {
    return copy_2d(
        "cudaMemcpy2DAsync", to, to_pitch, from, from_pitch, width, height, kind, stream, false);
}

EMULATOR_API cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* p) {
    return copy_3d("cudaMemcpy3D", p, nullptr, true);
}
EMULATOR_API cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* p, cudaStream_t stream) {
    return copy_3d("cudaMemcpy3DAsync", p, stream, false);
}

EMULATOR_API cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                                        size_t bytes) {
    return copy_peer("cudaMemcpyPeer", to, to_device, from, from_device, bytes, nullptr, true);
}
EMULATOR_API cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from,
                                             int from_device, size_t bytes, cudaStream_t stream) {
    return copy_peer("cudaMemcpyPeerAsync", to, to_device, from, from_device, bytes, stream, false);
}
EMULATOR_API cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* p) {
    return copy_3d_peer("cudaMemcpy3DPeer", p, nullptr, true);
}
EMULATOR_API cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* p,
                                               cudaStream_t stream) {
    return copy_3d_peer("cudaMemcpy3DPeerAsync", p, stream, false);
}

EMULATOR_API cudaError_t cudaMemcpyBatchAsync(void* const* to, const void* const* from,
                                              const size_t* bytes, size_t count,
                                              cudaMemcpyAttributes*, size_t*, size_t,
                                              cudaStream_t stream) {
    return api("cudaMemcpyBatchAsync", [&](Call& call) -> cudaError_t {
        if (!to || !from || !bytes || !count) return cudaErrorInvalidValue;
        for (size_t i = 0; i < count; ++i) {
            const cudaError_t error = copy(call,
                                           linear_box(to[i]),
                                           linear_box(from[i]),
                                           {bytes[i], 1, 1},
                                           cudaMemcpyDefault,
                                           stream,
                                           false);
            if (error != cudaSuccess) return error;
        }
        return cudaSuccess;
    });
}

EMULATOR_API cudaError_t cudaMemset(void* to, int value, size_t bytes) {
    return fill_1d("cudaMemset", to, value, bytes, nullptr, true);
}
EMULATOR_API cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t stream) {
    return fill_1d("cudaMemsetAsync", to, value, bytes, stream, false);
}
EMULATOR_API cudaError_t cudaMemset2D(void* to, size_t pitch, int value, size_t width,
                                      size_t height) {
    return fill_2d("cudaMemset2D", to, pitch, value, width, height, nullptr, true);
}
EMULATOR_API cudaError_t cudaMemset2DAsync(void* to, size_t pitch, int value, size_t width,
                                           size_t height, cudaStream_t stream) {
    return fill_2d("cudaMemset2DAsync", to, pitch, value, width, height, stream, false);
}
EMULATOR_API cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent) {
    return fill_3d("cudaMemset3D", to, value, extent, nullptr, true);
}
EMULATOR_API cudaError_t cudaMemset3DAsync(cudaPitchedPtr to, int value, cudaExtent extent,
                                           cudaStream_t stream) {
    return fill_3d("cudaMemset3DAsync", to, value, extent, stream, false);
}
