// SPDX-License-Identifier: MIT
// Streams, events, host functions and stream capture: those of the runtime API under other names.
#include "driver/frame.h"

using namespace driver;

DRIVER_API CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
    return run("cuStreamCreate", [&] { return cudaStreamCreateWithFlags(stream, flags); });
}
DRIVER_API CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
    return run("cuStreamCreateWithPriority",
               [&] { return cudaStreamCreateWithPriority(stream, flags, priority); });
}
DRIVER_API CUresult cuStreamDestroy_v2(CUstream stream) {
    return run("cuStreamDestroy", [&] { return cudaStreamDestroy(stream); });
}
DRIVER_API CUresult cuStreamSynchronize(CUstream stream) {
    return run("cuStreamSynchronize", [&] { return cudaStreamSynchronize(stream); });
}
DRIVER_API CUresult cuStreamQuery(CUstream stream) {
    return run("cuStreamQuery", [&] { return cudaStreamQuery(stream); });
}
DRIVER_API CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
    return run("cuStreamWaitEvent", [&] { return cudaStreamWaitEvent(stream, event, flags); });
}
DRIVER_API CUresult cuStreamGetPriority(CUstream stream, int* priority) {
    return run("cuStreamGetPriority", [&] { return cudaStreamGetPriority(stream, priority); });
}
DRIVER_API CUresult cuStreamGetFlags(CUstream stream, unsigned* flags) {
    return run("cuStreamGetFlags", [&] { return cudaStreamGetFlags(stream, flags); });
}
DRIVER_API CUresult cuStreamGetId(CUstream stream, unsigned long long* id) {
    return run("cuStreamGetId", [&] { return cudaStreamGetId(stream, id); });
}
DRIVER_API CUresult cuStreamGetDevice(CUstream stream, CUdevice* device) {
    return run("cuStreamGetDevice", [&] { return cudaStreamGetDevice(stream, device); });
}
// Streams belong to a device here: returns its current context, or else its primary one.
DRIVER_API CUresult cuStreamGetCtx(CUstream stream, CUcontext* result) {
    return run("cuStreamGetCtx", [&]() -> CUresult {
        int device = 0;
        if (!result) return CUDA_ERROR_INVALID_VALUE;
        if (const cudaError_t error = cudaStreamGetDevice(stream, &device)) return result_of(error);
        runtime::DriverContext* current = current_context();
        *result = handle_of(current->device == device
                                ? current
                                : runtime::context().devices[size_t(device)].primary);
        return CUDA_SUCCESS;
    });
}
DRIVER_API CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback function, void* data,
                                        unsigned flags) {
    return run("cuStreamAddCallback", [&] {
        return cudaStreamAddCallback(
            stream, reinterpret_cast<cudaStreamCallback_t>(function), data, flags);
    });
}
DRIVER_API CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
    return run("cuLaunchHostFunc", [&] { return cudaLaunchHostFunc(stream, function, data); });
}
DRIVER_API CUresult cuStreamAttachMemAsync(CUstream stream, CUdeviceptr address, size_t bytes,
                                           unsigned flags) {
    return run("cuStreamAttachMemAsync",
               [&] { return cudaStreamAttachMemAsync(stream, pointer(address), bytes, flags); });
}
DRIVER_API CUresult cuStreamCopyAttributes(CUstream to, CUstream from) {
    return run("cuStreamCopyAttributes", [&] { return cudaStreamCopyAttributes(to, from); });
}
DRIVER_API CUresult cuStreamGetAttribute(CUstream stream, CUstreamAttrID id,
                                         CUstreamAttrValue* value) {
    return run("cuStreamGetAttribute", [&] {
        return cudaStreamGetAttribute(
            stream, cudaLaunchAttributeID(id), reinterpret_cast<cudaLaunchAttributeValue*>(value));
    });
}
DRIVER_API CUresult cuStreamSetAttribute(CUstream stream, CUstreamAttrID id,
                                         const CUstreamAttrValue* value) {
    return run("cuStreamSetAttribute", [&] {
        return cudaStreamSetAttribute(stream,
                                      cudaLaunchAttributeID(id),
                                      reinterpret_cast<const cudaLaunchAttributeValue*>(value));
    });
}

// ---- capture -------------------------------------------------------------------------------

DRIVER_API CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode) {
    return run("cuStreamBeginCapture",
               [&] { return cudaStreamBeginCapture(stream, cudaStreamCaptureMode(mode)); });
}
DRIVER_API CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
    return run("cuStreamEndCapture", [&] { return cudaStreamEndCapture(stream, graph); });
}
DRIVER_API CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
    return run("cuStreamIsCapturing", [&] {
        return cudaStreamIsCapturing(stream, reinterpret_cast<cudaStreamCaptureStatus*>(status));
    });
}
DRIVER_API CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
    return run("cuThreadExchangeStreamCaptureMode", Needs::kInit, [&] {
        return cudaThreadExchangeStreamCaptureMode(reinterpret_cast<cudaStreamCaptureMode*>(mode));
    });
}

// ---- events --------------------------------------------------------------------------------

DRIVER_API CUresult cuEventCreate(CUevent* event, unsigned flags) {
    return run("cuEventCreate", [&] { return cudaEventCreateWithFlags(event, flags); });
}
DRIVER_API CUresult cuEventDestroy_v2(CUevent event) {
    return run("cuEventDestroy", [&] { return cudaEventDestroy(event); });
}
DRIVER_API CUresult cuEventRecord(CUevent event, CUstream stream) {
    return run("cuEventRecord", [&] { return cudaEventRecord(event, stream); });
}
DRIVER_API CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
    return run("cuEventRecordWithFlags",
               [&] { return cudaEventRecordWithFlags(event, stream, flags); });
}
DRIVER_API CUresult cuEventSynchronize(CUevent event) {
    return run("cuEventSynchronize", [&] { return cudaEventSynchronize(event); });
}
DRIVER_API CUresult cuEventQuery(CUevent event) {
    return run("cuEventQuery", [&] { return cudaEventQuery(event); });
}
DRIVER_API CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
    return run("cuEventElapsedTime",
               [&] { return cudaEventElapsedTime(milliseconds, start, end); });
}
DRIVER_API CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent start, CUevent end) {
    return cuEventElapsedTime(milliseconds, start, end);
}
