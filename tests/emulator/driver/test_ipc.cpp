// SPDX-License-Identifier: MIT
// cuIpc*: memory and events of another process. The hidden test case is what that process does.
#include "driver_lab.h"
#include "runtime/process_lab.h"

namespace {

constexpr unsigned kLazy = CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS;

int capable(CUdeviceptr memory) {
    int value = -1;
    CHECK(cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, memory) ==
          CUDA_SUCCESS);
    return value;
}

}  // namespace

TEST_CASE("driver ipc: role doubles what it opens", "[.role]") {
    lab::Driver driver;
    lab::Peer peer = lab::parent();
    const auto handle = peer.receive<CUipcMemHandle>();
    CUdeviceptr memory = 0, again = 0;
    REQUIRE(cuIpcOpenMemHandle_v2(&memory, handle, kLazy) == CUDA_SUCCESS);
    REQUIRE(cuIpcOpenMemHandle(&again, handle, kLazy) == CUDA_SUCCESS);
    CHECK(again == memory);
    CHECK(cuIpcCloseMemHandle(again) == CUDA_SUCCESS);
    CHECK(capable(memory) == 0);
    CUevent event = nullptr;
    REQUIRE(cuIpcOpenEventHandle(&event, peer.receive<CUipcEventHandle>()) == CUDA_SUCCESS);
    CHECK(cuStreamWaitEvent(nullptr, event, 0) == CUDA_SUCCESS);
    int value = 0;
    REQUIRE(cuMemcpyDtoH_v2(&value, memory, 4) == CUDA_SUCCESS);
    value *= 2;
    REQUIRE(cuMemcpyHtoD_v2(memory, &value, 4) == CUDA_SUCCESS);
    CHECK(cuEventRecord(event, nullptr) == CUDA_SUCCESS);
    CHECK(cuEventDestroy_v2(event) == CUDA_SUCCESS);
    CHECK(cuMemFree_v2(memory) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuIpcCloseMemHandle(memory) == CUDA_SUCCESS);
    CHECK(cuIpcOpenMemHandle_v2(&memory, {}, kLazy) == CUDA_ERROR_INVALID_VALUE);
    peer.send('d');
}

TEST_CASE("driver ipc: handles work as those of the runtime", "[ipc][forks]") {
    lab::Driver driver;
    lab::Process other("driver ipc: role doubles what it opens");
    CUdeviceptr memory = 0;
    int value = 21;
    CUipcMemHandle handle{};
    REQUIRE(cuMemAlloc_v2(&memory, 4) == CUDA_SUCCESS);
    REQUIRE(cuMemcpyHtoD_v2(memory, &value, 4) == CUDA_SUCCESS);
    CHECK(capable(memory) == 1);
    REQUIRE(cuIpcGetMemHandle(&handle, memory) == CUDA_SUCCESS);
    other.send(handle);
    CUevent event = nullptr;
    CUipcEventHandle shared{};
    REQUIRE(cuEventCreate(&event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS);
    REQUIRE(cuEventRecord(event, nullptr) == CUDA_SUCCESS);
    REQUIRE(cuIpcGetEventHandle(&shared, event) == CUDA_SUCCESS);
    other.send(shared);
    other.receive<char>();
    CHECK(cuEventSynchronize(event) == CUDA_SUCCESS);
    CHECK(cuMemcpyDtoH_v2(&value, memory, 4) == CUDA_SUCCESS);
    CHECK(value == 42);
    CHECK(other.succeeds());
}

TEST_CASE("driver ipc: what is refused has the documented codes", "[ipc]") {
    lab::Driver driver;
    CUdeviceptr memory = 0, managed = 0, opened = 0;
    CUipcMemHandle handle{};
    CUevent event = nullptr;
    CUipcEventHandle shared{};
    REQUIRE(cuMemAlloc_v2(&memory, 4) == CUDA_SUCCESS);
    REQUIRE(cuMemAllocManaged(&managed, 4, CU_MEM_ATTACH_GLOBAL) == CUDA_SUCCESS);
    CHECK(capable(managed) == 0);
    CHECK(cuIpcGetMemHandle(&handle, managed) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(cuIpcGetMemHandle(&handle, memory) == CUDA_SUCCESS);
    CHECK(cuIpcOpenMemHandle_v2(&opened, handle, kLazy) == CUDA_ERROR_INVALID_CONTEXT);
    REQUIRE(cuEventCreate(&event, CU_EVENT_DEFAULT) == CUDA_SUCCESS);
    CHECK(cuIpcGetEventHandle(&shared, event) == CUDA_ERROR_INVALID_HANDLE);
    int supported = 0;
    CHECK(cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED, 0) ==
          CUDA_SUCCESS);
    CHECK(supported == 1);
}
