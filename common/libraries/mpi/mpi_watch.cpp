// SPDX-License-Identifier: MIT
#include "mpi_watch.h"

#include <mpi.h>

#include <chrono>
#include <ctime>
#include <map>
#include <mutex>
#include <vector>

#include <dlfcn.h>
#include <execinfo.h>
#include <mpi-ext.h>

#include "common/emulator/emulator_api.h"

namespace {

using mpi_watch::Error;
using mpi_watch::Message;

// What is known of a request that has not completed.
struct Pending {
    std::string call, on;
    void* writes = nullptr;  // a buffer of this many bytes
    uint64_t bytes = 0;
};

using Sink = void (*)(const char*, uint64_t);
constinit Sink report_to = nullptr;  // may be set before the constructors run
uint64_t collectives = 0;
int pretended = 0;
bool look_for_kernels = false;
std::vector<Message>& messages() {
    static auto& all = *new std::vector<Message>;
    return all;
}
std::map<MPI_Request, Pending>& pending() {
    static auto& all = *new std::map<MPI_Request, Pending>;
    return all;
}

template <class Function>
Function* of_emulator(const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

// Calls from this library are attributed to its callers.
[[gnu::constructor]] void announce() {
    if (const auto add = of_emulator<void(const void*)>("emulatorAddLibrary"))
        add(reinterpret_cast<const void*>(&announce));
}

bool cuda_aware() {
#if defined(MPIX_CUDA_AWARE_SUPPORT)
    return MPIX_Query_cuda_support() == 1;
#else
    return false;
#endif
}

uint64_t size_of(int count, MPI_Datatype type) {
    MPI_Aint lower = 0, extent = 0;
    if (count <= 0 || type == MPI_DATATYPE_NULL) return 0;
    PMPI_Type_get_extent(type, &lower, &extent);
    return uint64_t(count) * uint64_t(extent);
}

// Host code reads or writes this memory now.
void uses(const char* call, const void* buffer, uint64_t bytes, bool writes) {
    static const auto use =
        of_emulator<int(const char*, const void*, uint64_t, int)>("emulatorHostUse");
    if (!use || bytes == 0 || buffer == MPI_IN_PLACE || !buffer) return;
    static const bool aware = cuda_aware();
    if (aware) return;
    if (use(call, buffer, bytes, writes ? 1 : 0) != 0)
        throw Error(std::string(call) +
                    ": the buffer is device memory, and this MPI is not CUDA-aware");
}

void check(const char* call, int code) {
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    PMPI_Error_string(code, text, &length);
    throw Error(std::string(call) + ": " + text);
}

std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return out + '"';
}

void tell(const std::string& record) {
    if (report_to) report_to(record.data(), record.size());
}

void tell_wait(const std::string& call, const std::string& on) {
    EmulatorSource source{};
    source.size = sizeof source;
    void* frames[32];
    const int found = backtrace(frames, 32);
    uint64_t path[32];
    // Return addresses are those of the next instructions.
    for (int i = 0; i < found; ++i) path[i] = reinterpret_cast<uint64_t>(frames[i]) - 1;
    const auto of =
        of_emulator<int(const uint64_t*, uint32_t, EmulatorSource*)>("emulatorSourceOf");
    // After the frames of this library, which is nobody's own source.
    Dl_info own{}, info{};
    dladdr(reinterpret_cast<const void*>(&announce), &own);
    int first = 0;
    for (int i = 0; i < found; ++i)
        if (dladdr(frames[i], &info) && info.dli_fbase == own.dli_fbase) first = i + 1;
    if (of && first < found) of(path + first, uint32_t(found - first), &source);
    tell("{\"event\": \"waits\", \"call\": " + quoted(call) + ", \"on\": " + quoted(on) +
         ", \"file\": " + quoted(source.file) + ", \"line\": " + std::to_string(source.line) + "}");
}

// Waits for `done`, which makes progress. Sleeps between two looks: with more ranks than cores, the
// rank that is waited for needs the core.
template <class Done>
void wait(const char* call, const std::string& on, Done&& done) {
    using Clock = std::chrono::steady_clock;
    const auto begun = Clock::now();
    bool told = false;
    for (int looks = 0; !done(); ++looks) {
        if (looks < 20) continue;
        const timespec pause{0, looks < 200 ? 20'000 : 200'000};
        nanosleep(&pause, nullptr);
        if (!told && Clock::now() - begun > std::chrono::seconds(1)) {
            told = true;
            tell_wait(call, on);
        }
    }
    if (told) tell("{\"event\": \"goes-on\"}");
}

void wait_for(const char* call, const std::string& on, MPI_Request& request, MPI_Status* status) {
    wait(call, on, [&] {
        int flag = 0;
        check(call, PMPI_Test(&request, &flag, status));
        return flag != 0;
    });
}

std::string rank_words(int rank) {
    return rank == MPI_ANY_SOURCE ? "any rank" : "rank " + std::to_string(rank);
}
std::string from(int source) {
    return "a message from " + rank_words(source);
}
std::string to(int target) {
    return "the receiver of a message to " + rank_words(target);
}

void note_message(int target, uint64_t bytes) {
    if (target == MPI_PROC_NULL) return;
    static const auto host = of_emulator<uint64_t()>("emulatorTimelineHost");
    static const auto get = of_emulator<int(uint32_t, EmulatorInterval*)>("emulatorTimelineGet");
    bool beside = false;
    if (look_for_kernels && host && get) {
        EmulatorInterval one{};
        one.size = sizeof one;
        for (uint32_t i = 0; get(i, &one) == 0; ++i)
            beside |= one.kind == EMULATOR_INTERVAL_KERNEL && one.end > host();
    }
    messages().push_back({target, bytes, beside});
}

void complete(MPI_Request request) {
    const auto found = pending().find(request);
    if (found == pending().end()) return;
    const Pending one = found->second;
    pending().erase(found);
    if (one.writes) uses(one.call.c_str(), one.writes, one.bytes, true);
}

std::string words_of(MPI_Request request) {
    const auto found = pending().find(request);
    return found == pending().end() ? "a request" : found->second.on;
}

// A collective call: its non-blocking form, so that the wait can be watched.
template <class Start>
int collective(const char* call, const char* with, Start&& start) {
    ++collectives;
    MPI_Request request = MPI_REQUEST_NULL;
    check(call, start(&request));
    wait_for(call, std::string("the other ranks to call ") + with, request, MPI_STATUS_IGNORE);
    return MPI_SUCCESS;
}

void return_errors() {
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    PMPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
}

}  // namespace

uint64_t mpiWatchCollectives() {
    return collectives;
}
bool mpiWatchMessage(uint64_t index, Message* message) {
    if (index >= messages().size()) return false;
    *message = messages()[index];
    return true;
}
void mpiWatchKernels(bool on) {
    look_for_kernels = on;
}
void mpiWatchPretendNodes(int ranks_per_node) {
    pretended = ranks_per_node;
}
void mpiWatchReportTo(void (*sink)(const char* record, uint64_t bytes)) {
    report_to = sink;
}

#define WATCHED extern "C" __attribute__((visibility("default")))

WATCHED int MPI_Init(int* argc, char*** argv) {
    const int code = PMPI_Init(argc, argv);
    if (code == MPI_SUCCESS) return_errors();
    return code;
}

WATCHED int MPI_Init_thread(int* argc, char*** argv, int wanted, int* given) {
    const int code = PMPI_Init_thread(argc, argv, wanted, given);
    if (code == MPI_SUCCESS) return_errors();
    return code;
}

WATCHED int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made) {
    if (type != MPI_COMM_TYPE_SHARED || pretended <= 0)
        return PMPI_Comm_split_type(comm, type, key, info, made);
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    return PMPI_Comm_split(comm, rank / pretended, key, made);
}

// Messages.

#define SEND(name, start)                                                                          \
    WATCHED int name(const void* b, int n, MPI_Datatype t, int target, int tag, MPI_Comm c) {      \
        uses(#name, b, target == MPI_PROC_NULL ? 0 : size_of(n, t), false);                        \
        note_message(target, size_of(n, t));                                                       \
        MPI_Request request = MPI_REQUEST_NULL;                                                    \
        check(#name, start(b, n, t, target, tag, c, &request));                                    \
        wait_for(#name, to(target), request, MPI_STATUS_IGNORE);                                   \
        return MPI_SUCCESS;                                                                        \
    }
SEND(MPI_Send, PMPI_Isend)
SEND(MPI_Ssend, PMPI_Issend)
SEND(MPI_Rsend, PMPI_Irsend)

#define ISEND(name)                                                                                \
    WATCHED int name(const void* b,                                                                \
                     int n,                                                                        \
                     MPI_Datatype t,                                                               \
                     int target,                                                                   \
                     int tag,                                                                      \
                     MPI_Comm c,                                                                   \
                     MPI_Request* request) {                                                       \
        uses(#name, b, target == MPI_PROC_NULL ? 0 : size_of(n, t), false);                        \
        note_message(target, size_of(n, t));                                                       \
        check(#name, P##name(b, n, t, target, tag, c, request));                                   \
        pending()[*request] = {#name, to(target), nullptr, 0};                                     \
        return MPI_SUCCESS;                                                                        \
    }
ISEND(MPI_Isend)
ISEND(MPI_Issend)

WATCHED int MPI_Recv(void* b, int n, MPI_Datatype t, int source, int tag, MPI_Comm c,
                     MPI_Status* status) {
    uses("MPI_Recv", b, source == MPI_PROC_NULL ? 0 : size_of(n, t), true);
    MPI_Request request = MPI_REQUEST_NULL;
    check("MPI_Recv", PMPI_Irecv(b, n, t, source, tag, c, &request));
    wait_for("MPI_Recv", from(source), request, status);
    return MPI_SUCCESS;
}

WATCHED int MPI_Irecv(void* b, int n, MPI_Datatype t, int source, int tag, MPI_Comm c,
                      MPI_Request* request) {
    const uint64_t bytes = source == MPI_PROC_NULL ? 0 : size_of(n, t);
    uses("MPI_Irecv", b, bytes, true);
    check("MPI_Irecv", PMPI_Irecv(b, n, t, source, tag, c, request));
    pending()[*request] = {"MPI_Irecv", from(source), bytes ? b : nullptr, bytes};
    return MPI_SUCCESS;
}

WATCHED int MPI_Sendrecv(const void* b, int n, MPI_Datatype t, int target, int tag, void* rb,
                         int rn, MPI_Datatype rt, int source, int rtag, MPI_Comm c,
                         MPI_Status* status) {
    const char* const call = "MPI_Sendrecv";
    if (target != MPI_PROC_NULL) uses(call, b, size_of(n, t), false);
    if (source != MPI_PROC_NULL) uses(call, rb, size_of(rn, rt), true);
    note_message(target, size_of(n, t));
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    check(call, PMPI_Irecv(rb, rn, rt, source, rtag, c, &requests[0]));
    check(call, PMPI_Isend(b, n, t, target, tag, c, &requests[1]));
    wait_for(call, from(source), requests[0], status);
    wait_for(call, to(target), requests[1], MPI_STATUS_IGNORE);
    return MPI_SUCCESS;
}

WATCHED int MPI_Wait(MPI_Request* request, MPI_Status* status) {
    const MPI_Request before = *request;
    wait_for("MPI_Wait", words_of(before), *request, status);
    complete(before);
    return MPI_SUCCESS;
}

WATCHED int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
    for (int i = 0; i < count; ++i) {
        const MPI_Request before = requests[i];
        MPI_Status* const status =
            statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
        wait_for("MPI_Waitall", words_of(before), requests[i], status);
        complete(before);
    }
    return MPI_SUCCESS;
}

WATCHED int MPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
    const std::vector<MPI_Request> before(requests, requests + count);
    wait("MPI_Waitany", "one of its requests", [&] {
        int flag = 0;
        check("MPI_Waitany", PMPI_Testany(count, requests, index, &flag, status));
        return flag != 0;
    });
    if (*index != MPI_UNDEFINED) complete(before[size_t(*index)]);
    return MPI_SUCCESS;
}

WATCHED int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
    const MPI_Request before = *request;
    check("MPI_Test", PMPI_Test(request, flag, status));
    if (*flag) complete(before);
    return MPI_SUCCESS;
}

WATCHED int MPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
    const std::vector<MPI_Request> before(requests, requests + count);
    check("MPI_Testall", PMPI_Testall(count, requests, flag, statuses));
    for (int i = 0; *flag && i < count; ++i) complete(before[size_t(i)]);
    return MPI_SUCCESS;
}

// Collective calls.

WATCHED int MPI_Barrier(MPI_Comm c) {
    return collective(
        "MPI_Barrier", "MPI_Barrier", [&](MPI_Request* r) { return PMPI_Ibarrier(c, r); });
}

WATCHED int MPI_Bcast(void* b, int n, MPI_Datatype t, int root, MPI_Comm c) {
    int rank = 0;
    PMPI_Comm_rank(c, &rank);
    uses("MPI_Bcast", b, size_of(n, t), rank != root);
    return collective(
        "MPI_Bcast", "MPI_Bcast", [&](MPI_Request* r) { return PMPI_Ibcast(b, n, t, root, c, r); });
}

WATCHED int MPI_Reduce(const void* b, void* out, int n, MPI_Datatype t, MPI_Op op, int root,
                       MPI_Comm c) {
    int rank = 0;
    PMPI_Comm_rank(c, &rank);
    uses("MPI_Reduce", b, size_of(n, t), false);
    if (rank == root) uses("MPI_Reduce", out, size_of(n, t), true);
    return collective("MPI_Reduce", "MPI_Reduce", [&](MPI_Request* r) {
        return PMPI_Ireduce(b, out, n, t, op, root, c, r);
    });
}

WATCHED int MPI_Allreduce(const void* b, void* out, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c) {
    uses("MPI_Allreduce", b, size_of(n, t), false);
    uses("MPI_Allreduce", out, size_of(n, t), true);
    return collective("MPI_Allreduce", "MPI_Allreduce", [&](MPI_Request* r) {
        return PMPI_Iallreduce(b, out, n, t, op, c, r);
    });
}

WATCHED int MPI_Gather(const void* b, int n, MPI_Datatype t, void* out, int m, MPI_Datatype u,
                       int root, MPI_Comm c) {
    uses("MPI_Gather", b, size_of(n, t), false);
    return collective("MPI_Gather", "MPI_Gather", [&](MPI_Request* r) {
        return PMPI_Igather(b, n, t, out, m, u, root, c, r);
    });
}

WATCHED int MPI_Gatherv(const void* b, int n, MPI_Datatype t, void* out, const int m[],
                        const int at[], MPI_Datatype u, int root, MPI_Comm c) {
    uses("MPI_Gatherv", b, size_of(n, t), false);
    return collective("MPI_Gatherv", "MPI_Gatherv", [&](MPI_Request* r) {
        return PMPI_Igatherv(b, n, t, out, m, at, u, root, c, r);
    });
}

WATCHED int MPI_Scatter(const void* b, int n, MPI_Datatype t, void* out, int m, MPI_Datatype u,
                        int root, MPI_Comm c) {
    uses("MPI_Scatter", out, size_of(m, u), true);
    return collective("MPI_Scatter", "MPI_Scatter", [&](MPI_Request* r) {
        return PMPI_Iscatter(b, n, t, out, m, u, root, c, r);
    });
}

WATCHED int MPI_Scatterv(const void* b, const int n[], const int at[], MPI_Datatype t, void* out,
                         int m, MPI_Datatype u, int root, MPI_Comm c) {
    uses("MPI_Scatterv", out, size_of(m, u), true);
    return collective("MPI_Scatterv", "MPI_Scatterv", [&](MPI_Request* r) {
        return PMPI_Iscatterv(b, n, at, t, out, m, u, root, c, r);
    });
}

WATCHED int MPI_Allgather(const void* b, int n, MPI_Datatype t, void* out, int m, MPI_Datatype u,
                          MPI_Comm c) {
    uses("MPI_Allgather", b, size_of(n, t), false);
    return collective("MPI_Allgather", "MPI_Allgather", [&](MPI_Request* r) {
        return PMPI_Iallgather(b, n, t, out, m, u, c, r);
    });
}

WATCHED int MPI_Allgatherv(const void* b, int n, MPI_Datatype t, void* out, const int m[],
                           const int at[], MPI_Datatype u, MPI_Comm c) {
    uses("MPI_Allgatherv", b, size_of(n, t), false);
    return collective("MPI_Allgatherv", "MPI_Allgatherv", [&](MPI_Request* r) {
        return PMPI_Iallgatherv(b, n, t, out, m, at, u, c, r);
    });
}
