// SPDX-License-Identifier: MIT
// Making, asking and destroying communicators.
#include "collectives/communicator.h"

#include <algorithm>
#include <cstdio>

namespace collectives {

State& state() {
    static auto& only = *new State;
    return only;
}

stand_in::Handles<ncclComm>& communicators() {
    static auto& instance = *new stand_in::Handles<ncclComm>;
    return instance;
}

const char* name_of(ncclResult_t result) {
    static const char* const names[] = {"ncclSuccess",
                                        "ncclUnhandledCudaError",
                                        "ncclSystemError",
                                        "ncclInternalError",
                                        "ncclInvalidArgument",
                                        "ncclInvalidUsage",
                                        "ncclRemoteError",
                                        "ncclInProgress"};
    return result >= 0 && result < ncclNumResults ? names[result] : "an error of NCCL";
}

ncclResult_t finish(const char* api, ncclResult_t result) {
    if (result != ncclSuccess) emulatorLibraryFailed(api, name_of(result));
    return result;
}

namespace {
std::string& last_error() {
    static auto& text = *new std::string;
    return text;
}

int device_count() {
    int count = 0;
    return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

std::string key_of(const ncclUniqueId& id) {
    return std::string(id.internal, sizeof id.internal);
}

// With the lock held.
ncclComm* add_communicator(const std::shared_ptr<Clique>& clique, int rank, uint64_t site) {
    ncclComm* const comm = communicators().add(new ncclComm);
    comm->clique = clique;
    comm->rank = rank;
    comm->device = clique->devices[size_t(rank)];
    comm->site = site;
    return comm;
}

std::shared_ptr<Clique> make_clique(int size) {
    auto clique = std::make_shared<Clique>();
    clique->size = size;
    clique->devices.assign(size_t(size), -1);
    clique->calls.resize(size_t(size));
    clique->joined.resize(size_t(size));
    return clique;
}

ncclResult_t twice_on_a_device(const char* api, int one, int other, int device, uint64_t site,
                               std::vector<emulator::CollectiveFinding::Note> notes) {
    emulator::CollectiveFinding finding;
    finding.api = api;
    finding.detail = "same-device";
    finding.message = "ranks " + std::to_string(one) + " and " + std::to_string(other) +
                      " both use device " + std::to_string(device) +
                      ", but NCCL has one rank for each device: select the rank's own device "
                      "with `cudaSetDevice` before `ncclCommInitRank`";
    finding.site = site;
    finding.notes = std::move(notes);
    emulatorReportCollective(finding);
    return ncclInvalidUsage;
}

template <class T>
ncclResult_t ask(const char* api, ncclComm* comm, T* to, T ncclComm::*member) {
    if (!communicators().has(comm) || !to) return finish(api, ncclInvalidArgument);
    *to = comm->*member;
    return ncclSuccess;
}

ncclResult_t destroy(const char* api, ncclComm* comm) {
    const std::lock_guard lock(state().mutex);
    if (!communicators().remove(comm))
        return refuse(api, nullptr, ncclInvalidArgument, "this is no communicator, or no more");
    delete comm;
    return ncclSuccess;
}

// At the end of the program, after its own destructors.
[[gnu::destructor]] void look_for_communicators() {
    for (const ncclComm* comm : communicators().all()) {
        emulator::CollectiveFinding finding;
        finding.api = "ncclCommDestroy";
        finding.detail = "not-destroyed";
        finding.message = "the communicator of rank " + std::to_string(comm->rank) + " of " +
                          std::to_string(comm->clique->size) +
                          ", which was made here, is never destroyed: call `ncclCommDestroy` for "
                          "each rank";
        finding.site = comm->site;
        emulatorReportCollective(finding);
    }
}

}  // namespace

ncclResult_t refuse(const char* api, ncclComm* comm, ncclResult_t result,
                    const std::string& message) {
    last_error() = std::string(api) + ": " + message;
    if (comm) comm->last_error = last_error();
    return finish(api, result);
}

void join(const std::shared_ptr<Clique>& clique) {
    if (std::any_of(clique->joined.begin(), clique->joined.end(), [](auto& r) { return !r; }))
        return;
    clique->gathering = false;
    ncclResult_t result = ncclSuccess;
    for (int i = 0; i < clique->size && result == ncclSuccess; ++i)
        for (int j = 0; j < i && result == ncclSuccess; ++j)
            if (clique->devices[size_t(i)] == clique->devices[size_t(j)]) {
                const Request &one = *clique->joined[size_t(j)], &two = *clique->joined[size_t(i)];
                result = twice_on_a_device(
                    two.api,
                    j,
                    i,
                    two.device,
                    two.site,
                    {{one.site, "rank " + std::to_string(j) + " calls `" + one.api + '`'}});
            }
    for (RequestPtr& request : clique->joined) {
        if (result == ncclSuccess)
            *request->created = add_communicator(clique, request->rank, request->site);
        request->result = result;
        request->done = true;
        request.reset();
    }
}

}  // namespace collectives

using namespace collectives;

STAND_IN_API ncclResult_t ncclGetVersion(int* version) {
    if (!version) return finish("ncclGetVersion", ncclInvalidArgument);
    *version = NCCL_VERSION_CODE;
    return ncclSuccess;
}

STAND_IN_API const char* ncclGetErrorString(ncclResult_t result) {
    switch (result) {
    case ncclSuccess:
        return "no error";
    case ncclUnhandledCudaError:
        return "unhandled cuda error (run with NCCL_DEBUG=INFO for details)";
    case ncclSystemError:
        return "unhandled system error (run with NCCL_DEBUG=INFO for details)";
    case ncclInternalError:
        return "internal error - please report this issue to the NCCL developers";
    case ncclInvalidArgument:
        return "invalid argument (run with NCCL_DEBUG=WARN for details)";
    case ncclInvalidUsage:
        return "invalid usage (run with NCCL_DEBUG=WARN for details)";
    case ncclRemoteError:
        return "remote process exited or there was a network error";
    case ncclInProgress:
        return "NCCL operation in progress";
    default:
        return "unknown result code";
    }
}

STAND_IN_API const char* ncclGetLastError(ncclComm_t comm) {
    const std::lock_guard lock(state().mutex);
    return communicators().has(comm) ? comm->last_error.c_str() : last_error().c_str();
}

STAND_IN_API ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
    const char* name = "ncclGetUniqueId";
    if (!id) return finish(name, ncclInvalidArgument);
    const std::lock_guard lock(state().mutex);
    *id = {};
    std::snprintf(id->internal,
                  sizeof id->internal,
                  "emulated clique %llu",
                  static_cast<unsigned long long>(state().next_id++));
    state().known_ids.insert(key_of(*id));
    return ncclSuccess;
}

STAND_IN_API ncclResult_t ncclCommInitAll(ncclComm_t* comms, int count, const int* devices) {
    const char* name = "ncclCommInitAll";
    const int available = device_count();
    if (!comms || count < 1) return refuse(name, nullptr, ncclInvalidArgument, "no communicators");
    const uint64_t site = emulatorLibraryCaller();
    auto clique = make_clique(count);
    for (int i = 0; i < count; ++i) {
        const int device = clique->devices[size_t(i)] = devices ? devices[i] : i;
        if (device < 0 || device >= available)
            return refuse(name,
                          nullptr,
                          devices ? ncclUnhandledCudaError : ncclInvalidArgument,
                          "device " + std::to_string(device) + " of " + std::to_string(available));
        for (int j = 0; j < i; ++j)
            if (clique->devices[size_t(j)] == device)
                return twice_on_a_device(name, j, i, device, site, {});
    }
    stand_in::note_creation(name, "clique");
    const std::lock_guard lock(state().mutex);
    for (int i = 0; i < count; ++i) comms[i] = add_communicator(clique, i, site);
    return ncclSuccess;
}

STAND_IN_API ncclResult_t ncclCommInitRank(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank) {
    const char* name = "ncclCommInitRank";
    if (!comm || ranks < 1 || rank < 0 || rank >= ranks)
        return refuse(name,
                      nullptr,
                      ncclInvalidArgument,
                      "rank " + std::to_string(rank) + " of " + std::to_string(ranks));
    auto request = std::make_shared<Request>();
    request->kind = Kind::kInit;
    request->api = name;
    request->rank = rank;
    request->created = comm;
    request->site = emulatorLibraryCaller();
    if (cudaGetDevice(&request->device) != cudaSuccess) return ncclUnhandledCudaError;
    {
        const std::lock_guard lock(state().mutex);
        const std::string key = key_of(id);
        if (!state().known_ids.contains(key))
            return refuse(
                name, nullptr, ncclInvalidArgument, "ncclGetUniqueId has not made this id");
        auto& clique = state().gathering[key];
        if (!clique || !clique->gathering) {
            clique = make_clique(ranks);
            clique->gathering = true;
        }
        if (clique->size != ranks)
            return refuse(name,
                          nullptr,
                          ncclInvalidArgument,
                          std::to_string(ranks) + " ranks, but another rank says " +
                              std::to_string(clique->size));
        if (clique->devices[size_t(rank)] >= 0)
            return refuse(name,
                          nullptr,
                          ncclInvalidUsage,
                          "rank " + std::to_string(rank) + " has called it already");
        clique->devices[size_t(rank)] = request->device;
        request->clique = clique;
    }
    return enqueue(request);
}

STAND_IN_API ncclResult_t ncclCommFinalize(ncclComm_t comm) {
    return communicators().has(comm) ? ncclSuccess
                                     : finish("ncclCommFinalize", ncclInvalidArgument);
}
STAND_IN_API ncclResult_t ncclCommDestroy(ncclComm_t comm) {
    return comm ? destroy("ncclCommDestroy", comm) : ncclSuccess;
}
STAND_IN_API ncclResult_t ncclCommAbort(ncclComm_t comm) {
    return comm ? destroy("ncclCommAbort", comm) : ncclSuccess;
}
STAND_IN_API ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error) {
    return ask("ncclCommGetAsyncError", comm, error, &ncclComm::error);
}
STAND_IN_API ncclResult_t ncclCommCuDevice(ncclComm_t comm, int* device) {
    return ask("ncclCommCuDevice", comm, device, &ncclComm::device);
}
STAND_IN_API ncclResult_t ncclCommUserRank(ncclComm_t comm, int* rank) {
    return ask("ncclCommUserRank", comm, rank, &ncclComm::rank);
}
STAND_IN_API ncclResult_t ncclCommCount(ncclComm_t comm, int* count) {
    if (!communicators().has(comm) || !count) return finish("ncclCommCount", ncclInvalidArgument);
    *count = comm->clique->size;
    return ncclSuccess;
}

STAND_IN_API ncclResult_t ncclRedOpCreatePreMulSum(ncclRedOp_t* op, void* scalar,
                                                   ncclDataType_t type,
                                                   ncclScalarResidence_t residence,
                                                   ncclComm_t comm) {
    const char* name = "ncclRedOpCreatePreMulSum";
    const std::lock_guard lock(state().mutex);
    if (!op || !scalar || !bytes_of(type) || !communicators().has(comm))
        return finish(name, ncclInvalidArgument);
    ncclComm::Operator made{type, {}, nullptr};
    if (residence == ncclScalarHostImmediate) {
        const auto* bytes = static_cast<const std::byte*>(scalar);
        made.value.assign(bytes, bytes + bytes_of(type));
    } else {
        made.on_device = scalar;
    }
    const int number = state().next_operator++;
    comm->operators.emplace(number, made);
    *op = ncclRedOp_t(number);
    return ncclSuccess;
}

STAND_IN_API ncclResult_t ncclRedOpDestroy(ncclRedOp_t op, ncclComm_t comm) {
    const std::lock_guard lock(state().mutex);
    if (!communicators().has(comm) || comm->operators.erase(int(op)) != 1)
        return finish("ncclRedOpDestroy", ncclInvalidArgument);
    return ncclSuccess;
}
