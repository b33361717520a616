// SPDX-License-Identifier: MIT
// Copies: between addresses, arrays, and the boxes that CUDA_MEMCPY2D and CUDA_MEMCPY3D describe.
#include "driver/frame.h"
#include "runtime/core/array.h"
#include "runtime/core/copy.h"

using namespace driver;
using runtime::Box;

namespace {

template <class F>
CUresult copy(const char* name, bool wait, F&& body) {
    return run(name, [&] {
        return runtime::api(
            name, wait ? runtime::kSynchronises : runtime::kPlain, static_cast<F&&>(body));
    });
}

CUresult copy_bytes(const char* name, const void* to, const void* from, size_t bytes,
                    cudaMemcpyKind kind, CUstream stream, bool wait) {
    return copy(name, wait, [&](runtime::Call& call) {
        return runtime::copy(call,
                             {reinterpret_cast<uint64_t>(to), 0, 0},
                             {reinterpret_cast<uint64_t>(from), 0, 0},
                             {bytes, 1, 1},
                             kind,
                             stream,
                             wait);
    });
}

// One end of a box: its start, and the kind of memory that the program specifies.
struct End {
    CUmemorytype type;
    const void* host;
    CUdeviceptr device;
    CUarray array;
    size_t x, y, z;        // x in bytes
    size_t pitch, height;  // 0: as in the copy
};

cudaError_t box_of(const End& end, const runtime::Extent& extent, Box& box) {
    runtime::ArrayView view;
    uint64_t start = 0;
    switch (end.type) {
    case CU_MEMORYTYPE_HOST:
        start = reinterpret_cast<uint64_t>(end.host);
        break;
    case CU_MEMORYTYPE_DEVICE:
    case CU_MEMORYTYPE_UNIFIED:
        start = end.device;
        break;
    case CU_MEMORYTYPE_ARRAY:
        if (!runtime::array_view(reinterpret_cast<cudaArray_t>(end.array), view))
            return cudaErrorInvalidResourceHandle;
        if (!runtime::inside(view, end.x, end.y, end.z, extent)) return cudaErrorInvalidValue;
        box = {
            view.address + end.z * view.slice + end.y * view.pitch + end.x, view.pitch, view.slice};
        return cudaSuccess;
    default:
        return cudaErrorInvalidValue;
    }
    if (!start) return cudaErrorInvalidValue;
    const uint64_t pitch = end.pitch ? end.pitch : extent.width + end.x;
    const uint64_t height = end.height ? end.height : extent.height + end.y;
    if (extent.height * extent.depth > 1 && pitch < extent.width) return cudaErrorInvalidValue;
    box = {start + end.z * pitch * height + end.y * pitch + end.x, pitch, pitch * height};
    return cudaSuccess;
}

cudaMemcpyKind kind_of(CUmemorytype to, CUmemorytype from) {
    const auto host = [](CUmemorytype type) { return type == CU_MEMORYTYPE_HOST; };
    if (to == CU_MEMORYTYPE_UNIFIED || from == CU_MEMORYTYPE_UNIFIED) return cudaMemcpyDefault;
    return host(from) ? (host(to) ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice)
                      : (host(to) ? cudaMemcpyDeviceToHost : cudaMemcpyDeviceToDevice);
}

cudaError_t copy_box(runtime::Call& call, const End& to, const End& from,
                     const runtime::Extent& extent, CUstream stream, bool wait) {
    if (extent.empty()) return cudaSuccess;
    Box target, source;
    if (const cudaError_t error = box_of(to, extent, target)) return error;
    if (const cudaError_t error = box_of(from, extent, source)) return error;
    return runtime::copy(call, target, source, extent, kind_of(to.type, from.type), stream, wait);
}

template <class P>
End target_of(const P& p) {
    return {p.dstMemoryType,
            p.dstHost,
            p.dstDevice,
            p.dstArray,
            p.dstXInBytes,
            p.dstY,
            0,
            p.dstPitch,
            0};
}
template <class P>
End source_of(const P& p) {
    return {p.srcMemoryType,
            p.srcHost,
            p.srcDevice,
            p.srcArray,
            p.srcXInBytes,
            p.srcY,
            0,
            p.srcPitch,
            0};
}
template <class P>
End target_3d(const P& p) {
    End end = target_of(p);
    end.z = p.dstZ;
    end.height = p.dstHeight;
    return end;
}
template <class P>
End source_3d(const P& p) {
    End end = source_of(p);
    end.z = p.srcZ;
    end.height = p.srcHeight;
    return end;
}

CUresult copy_2d(const char* name, const CUDA_MEMCPY2D* p, CUstream stream, bool wait) {
    return copy(name, wait, [&](runtime::Call& call) -> cudaError_t {
        if (!p) return cudaErrorInvalidValue;
        return copy_box(
            call, target_of(*p), source_of(*p), {p->WidthInBytes, p->Height, 1}, stream, wait);
    });
}
template <class P>
CUresult copy_3d(const char* name, const P* p, CUstream stream, bool wait) {
    return copy(name, wait, [&](runtime::Call& call) -> cudaError_t {
        if (!p) return cudaErrorInvalidValue;
        return copy_box(call,
                        target_3d(*p),
                        source_3d(*p),
                        {p->WidthInBytes, p->Height, p->Depth},
                        stream,
                        wait);
    });
}

// A one-dimensional part of an array.
End piece(CUarray array, size_t offset) {
    return {CU_MEMORYTYPE_ARRAY, nullptr, 0, array, offset, 0, 0, 0, 0};
}
End host_end(const void* host) {
    return {CU_MEMORYTYPE_HOST, host, 0, nullptr, 0, 0, 0, 0, 0};
}
End device_end(CUdeviceptr device) {
    return {CU_MEMORYTYPE_DEVICE, nullptr, device, nullptr, 0, 0, 0, 0, 0};
}
CUresult copy_piece(const char* name, const End& to, const End& from, size_t bytes, CUstream stream,
                    bool wait) {
    return copy(name, wait, [&](runtime::Call& call) {
        return copy_box(call, to, from, {bytes, 1, 1}, stream, wait);
    });
}

}  // namespace

DRIVER_API CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
    return copy_bytes(
        "cuMemcpy", pointer(to), pointer(from), bytes, cudaMemcpyDefault, nullptr, true);
}
DRIVER_API CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
    return copy_bytes(
        "cuMemcpyAsync", pointer(to), pointer(from), bytes, cudaMemcpyDefault, stream, false);
}
DRIVER_API CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, size_t bytes) {
    return copy_bytes(
        "cuMemcpyHtoD", pointer(to), from, bytes, cudaMemcpyHostToDevice, nullptr, true);
}
DRIVER_API CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t bytes,
                                         CUstream stream) {
    return copy_bytes(
        "cuMemcpyHtoDAsync", pointer(to), from, bytes, cudaMemcpyHostToDevice, stream, false);
}
DRIVER_API CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, size_t bytes) {
    return copy_bytes(
        "cuMemcpyDtoH", to, pointer(from), bytes, cudaMemcpyDeviceToHost, nullptr, true);
}
DRIVER_API CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t bytes,
                                         CUstream stream) {
    return copy_bytes(
        "cuMemcpyDtoHAsync", to, pointer(from), bytes, cudaMemcpyDeviceToHost, stream, false);
}
DRIVER_API CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
    return copy_bytes(
        "cuMemcpyDtoD", pointer(to), pointer(from), bytes, cudaMemcpyDeviceToDevice, nullptr, true);
}
DRIVER_API CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                                         CUstream stream) {
    return copy_bytes("cuMemcpyDtoDAsync",
                      pointer(to),
                      pointer(from),
                      bytes,
                      cudaMemcpyDeviceToDevice,
                      stream,
                      false);
}
DRIVER_API CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                                 CUcontext from_context, size_t bytes) {
    if (!find_context(to_context) || !find_context(from_context)) return CUDA_ERROR_INVALID_CONTEXT;
    return cuMemcpyDtoD_v2(to, from, bytes);
}
DRIVER_API CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                                      CUcontext from_context, size_t bytes, CUstream stream) {
    if (!find_context(to_context) || !find_context(from_context)) return CUDA_ERROR_INVALID_CONTEXT;
    return cuMemcpyDtoDAsync_v2(to, from, bytes, stream);
}
DRIVER_API CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D* p) {
    return copy_2d("cuMemcpy2D", p, nullptr, true);
}
DRIVER_API CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D* p) {
    return copy_2d("cuMemcpy2DUnaligned", p, nullptr, true);
}
DRIVER_API CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* p, CUstream stream) {
    return copy_2d("cuMemcpy2DAsync", p, stream, false);
}
DRIVER_API CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D* p) {
    return copy_3d("cuMemcpy3D", p, nullptr, true);
}
DRIVER_API CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* p, CUstream stream) {
    return copy_3d("cuMemcpy3DAsync", p, stream, false);
}
DRIVER_API CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER* p) {
    return copy_3d("cuMemcpy3DPeer", p, nullptr, true);
}
DRIVER_API CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* p, CUstream stream) {
    return copy_3d("cuMemcpy3DPeerAsync", p, stream, false);
}

// ---- one row of an array -----------------------------------------------------------------------

DRIVER_API CUresult cuMemcpyHtoA_v2(CUarray to, size_t offset, const void* from, size_t bytes) {
    return copy_piece("cuMemcpyHtoA", piece(to, offset), host_end(from), bytes, nullptr, true);
}
DRIVER_API CUresult cuMemcpyHtoAAsync_v2(CUarray to, size_t offset, const void* from, size_t bytes,
                                         CUstream stream) {
    return copy_piece("cuMemcpyHtoAAsync", piece(to, offset), host_end(from), bytes, stream, false);
}
DRIVER_API CUresult cuMemcpyAtoH_v2(void* to, CUarray from, size_t offset, size_t bytes) {
    return copy_piece("cuMemcpyAtoH", host_end(to), piece(from, offset), bytes, nullptr, true);
}
DRIVER_API CUresult cuMemcpyAtoHAsync_v2(void* to, CUarray from, size_t offset, size_t bytes,
                                         CUstream stream) {
    return copy_piece("cuMemcpyAtoHAsync", host_end(to), piece(from, offset), bytes, stream, false);
}
DRIVER_API CUresult cuMemcpyDtoA_v2(CUarray to, size_t offset, CUdeviceptr from, size_t bytes) {
    return copy_piece("cuMemcpyDtoA", piece(to, offset), device_end(from), bytes, nullptr, true);
}
DRIVER_API CUresult cuMemcpyAtoD_v2(CUdeviceptr to, CUarray from, size_t offset, size_t bytes) {
    return copy_piece("cuMemcpyAtoD", device_end(to), piece(from, offset), bytes, nullptr, true);
}
DRIVER_API CUresult cuMemcpyAtoA_v2(CUarray to, size_t to_offset, CUarray from, size_t from_offset,
                                    size_t bytes) {
    return copy_piece(
        "cuMemcpyAtoA", piece(to, to_offset), piece(from, from_offset), bytes, nullptr, true);
}
