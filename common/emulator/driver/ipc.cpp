// SPDX-License-Identifier: MIT
// Memory and events of other processes: the runtime API's functions under other names.
#include <cstring>

#include "driver/frame.h"

using namespace driver;

namespace {

// The handles of both APIs are the same bytes.
template <class To, class From>
To handle_as(const From& handle) {
    static_assert(sizeof(To) == sizeof(From));
    To to;
    std::memcpy(&to, &handle, sizeof to);
    return to;
}

}  // namespace

DRIVER_API CUresult cuIpcGetMemHandle(CUipcMemHandle* handle, CUdeviceptr address) {
    return run("cuIpcGetMemHandle", [&] {
        return cudaIpcGetMemHandle(reinterpret_cast<cudaIpcMemHandle_t*>(handle), pointer(address));
    });
}
DRIVER_API CUresult cuIpcOpenMemHandle_v2(CUdeviceptr* address, CUipcMemHandle handle,
                                          unsigned flags) {
    return run("cuIpcOpenMemHandle", [&] {
        return cudaIpcOpenMemHandle(
            reinterpret_cast<void**>(address), handle_as<cudaIpcMemHandle_t>(handle), flags);
    });
}
DRIVER_API CUresult cuIpcOpenMemHandle(CUdeviceptr* address, CUipcMemHandle handle,
                                       unsigned flags) {
    return cuIpcOpenMemHandle_v2(address, handle, flags);
}
DRIVER_API CUresult cuIpcCloseMemHandle(CUdeviceptr address) {
    return run("cuIpcCloseMemHandle", [&] { return cudaIpcCloseMemHandle(pointer(address)); });
}
DRIVER_API CUresult cuIpcGetEventHandle(CUipcEventHandle* handle, CUevent event) {
    return run("cuIpcGetEventHandle", [&] {
        return cudaIpcGetEventHandle(reinterpret_cast<cudaIpcEventHandle_t*>(handle), event);
    });
}
DRIVER_API CUresult cuIpcOpenEventHandle(CUevent* event, CUipcEventHandle handle) {
    return run("cuIpcOpenEventHandle", [&] {
        return cudaIpcOpenEventHandle(event, handle_as<cudaIpcEventHandle_t>(handle));
    });
}
