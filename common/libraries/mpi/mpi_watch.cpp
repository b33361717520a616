// SPDX-License-Identifier: MIT
// Messages between two ranks, and their requests.
#include "mpi_watch.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "buffers.h"
#include "common/emulator/emulator_api.h"
#include "watch.h"

namespace {

using namespace mpi_watch;

// What is known of a request that has not completed, and of a persistent one until it is freed.
struct Pending {
    std::string on;  // what a wait for it waits for
    Buffer buffer;
    bool persistent = false, started = true;
    int target = MPI_PROC_NULL;  // of a persistent message that is sent
    Blocks sent = {};
};

int pretended = 0;
bool unbuffered = false;
int64_t communicators = 0;
bool look_for_kernels = false;
std::vector<Message>& messages() {
    static auto& all = *new std::vector<Message>;
    return all;
}
std::map<MPI_Request, Pending>& pending() {
    static auto& all = *new std::map<MPI_Request, Pending>;
    return all;
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

// With MPI_PROC_NULL nothing is sent or received.
Blocks part(int rank, int count, MPI_Datatype type) {
    return rank == MPI_PROC_NULL ? Blocks{} : elements(count, type);
}

void note_message(int target, const Blocks& sent) {
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
    messages().push_back({target, sent.empty() ? 0 : sent[0].bytes, beside});
}

void complete(MPI_Request request) {
    const auto found = pending().find(request);
    if (found == pending().end()) return;
    if (found->second.persistent) {
        if (found->second.started) found->second.buffer.arrived();
        found->second.started = false;
        return;
    }
    const Pending one = std::move(found->second);
    pending().erase(found);
    one.buffer.arrived();
}

std::string words_of(MPI_Request request) {
    const auto found = pending().find(request);
    return found == pending().end() ? "a request" : found->second.on;
}

using Start = int (*)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

int init_send(const char* call, Start init, const void* b, int n, MPI_Datatype t, int target,
              int tag, MPI_Comm c, MPI_Request* request) {
    const Blocks sent = part(target, n, t);
    Buffer buffer = Buffer::persistent(b, sent, {});
    check(call, init(buffer.get(), n, t, target, tag, c, request));
    pending()[*request] = {to(target), std::move(buffer), true, false, target, sent};
    return MPI_SUCCESS;
}

int start(const char* call, MPI_Request* request) {
    const auto found = pending().find(*request);
    if (found != pending().end()) {
        found->second.started = true;
        found->second.buffer.begin(call);
        note_message(found->second.target, found->second.sent);
    }
    check(call, PMPI_Start(request));
    return MPI_SUCCESS;
}

void return_errors() {
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    PMPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
}

int send(const char* call, Start start, const void* b, int n, MPI_Datatype t, int target, int tag,
         MPI_Comm c) {
    const Blocks sent = part(target, n, t);
    const Buffer buffer(call, b, sent);
    note_message(target, sent);
    MPI_Request request = MPI_REQUEST_NULL;
    check(call, start(buffer.get(), n, t, target, tag, c, &request));
    wait_for(call, to(target), request, MPI_STATUS_IGNORE);
    return MPI_SUCCESS;
}

int begin_send(const char* call, Start start, const void* b, int n, MPI_Datatype t, int target,
               int tag, MPI_Comm c, MPI_Request* request) {
    const Blocks sent = part(target, n, t);
    Buffer buffer(call, b, sent);
    note_message(target, sent);
    check(call, start(buffer.get(), n, t, target, tag, c, request));
    pending()[*request] = {to(target), std::move(buffer)};
    return MPI_SUCCESS;
}

}  // namespace

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
void mpiWatchUnbuffered(bool on) {
    unbuffered = on;
}
int64_t mpiWatchCommunicators() {
    return communicators;
}
uint64_t mpiWatchRequests() {
    return uint64_t(std::count_if(pending().begin(), pending().end(), [](const auto& request) {
        return request.second.started;
    }));
}

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
    int code = MPI_SUCCESS;
    if (type != MPI_COMM_TYPE_SHARED || pretended <= 0) {
        code = PMPI_Comm_split_type(comm, type, key, info, made);
    } else {
        int rank = 0;
        PMPI_Comm_rank(comm, &rank);
        code = PMPI_Comm_split(comm, rank / pretended, key, made);
    }
    communicators += code == MPI_SUCCESS && *made != MPI_COMM_NULL;
    return code;
}

WATCHED int MPI_Comm_split(MPI_Comm comm, int colour, int key, MPI_Comm* made) {
    const int code = PMPI_Comm_split(comm, colour, key, made);
    communicators += code == MPI_SUCCESS && *made != MPI_COMM_NULL;
    return code;
}

WATCHED int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* made) {
    const int code = PMPI_Comm_dup(comm, made);
    communicators += code == MPI_SUCCESS;
    return code;
}

WATCHED int MPI_Comm_free(MPI_Comm* comm) {
    const int code = PMPI_Comm_free(comm);
    communicators -= code == MPI_SUCCESS;
    return code;
}

WATCHED int MPI_Send(const void* b, int n, MPI_Datatype t, int target, int tag, MPI_Comm c) {
    return send("MPI_Send", unbuffered ? PMPI_Issend : PMPI_Isend, b, n, t, target, tag, c);
}
WATCHED int MPI_Ssend(const void* b, int n, MPI_Datatype t, int target, int tag, MPI_Comm c) {
    return send("MPI_Ssend", PMPI_Issend, b, n, t, target, tag, c);
}
WATCHED int MPI_Rsend(const void* b, int n, MPI_Datatype t, int target, int tag, MPI_Comm c) {
    return send("MPI_Rsend", PMPI_Irsend, b, n, t, target, tag, c);
}

WATCHED int MPI_Isend(const void* b, int n, MPI_Datatype t, int target, int tag, MPI_Comm c,
                      MPI_Request* request) {
    return begin_send("MPI_Isend", PMPI_Isend, b, n, t, target, tag, c, request);
}
WATCHED int MPI_Issend(const void* b, int n, MPI_Datatype t, int target, int tag, MPI_Comm c,
                       MPI_Request* request) {
    return begin_send("MPI_Issend", PMPI_Issend, b, n, t, target, tag, c, request);
}

WATCHED int MPI_Recv(void* b, int n, MPI_Datatype t, int source, int tag, MPI_Comm c,
                     MPI_Status* status) {
    const Buffer buffer("MPI_Recv", b, {}, part(source, n, t));
    MPI_Request request = MPI_REQUEST_NULL;
    check("MPI_Recv", PMPI_Irecv(buffer.get(), n, t, source, tag, c, &request));
    wait_for("MPI_Recv", from(source), request, status);
    buffer.arrived();
    return MPI_SUCCESS;
}

WATCHED int MPI_Irecv(void* b, int n, MPI_Datatype t, int source, int tag, MPI_Comm c,
                      MPI_Request* request) {
    Buffer buffer("MPI_Irecv", b, {}, part(source, n, t));
    check("MPI_Irecv", PMPI_Irecv(buffer.get(), n, t, source, tag, c, request));
    pending()[*request] = {from(source), std::move(buffer)};
    return MPI_SUCCESS;
}

WATCHED int MPI_Send_init(const void* b, int n, MPI_Datatype t, int target, int tag, MPI_Comm c,
                          MPI_Request* request) {
    return init_send("MPI_Send_init", PMPI_Send_init, b, n, t, target, tag, c, request);
}
WATCHED int MPI_Ssend_init(const void* b, int n, MPI_Datatype t, int target, int tag, MPI_Comm c,
                           MPI_Request* request) {
    return init_send("MPI_Ssend_init", PMPI_Ssend_init, b, n, t, target, tag, c, request);
}
WATCHED int MPI_Recv_init(void* b, int n, MPI_Datatype t, int source, int tag, MPI_Comm c,
                          MPI_Request* request) {
    Buffer buffer = Buffer::persistent(b, {}, part(source, n, t));
    check("MPI_Recv_init", PMPI_Recv_init(buffer.get(), n, t, source, tag, c, request));
    pending()[*request] = {from(source), std::move(buffer), true, false};
    return MPI_SUCCESS;
}
WATCHED int MPI_Start(MPI_Request* request) {
    return start("MPI_Start", request);
}
WATCHED int MPI_Startall(int count, MPI_Request requests[]) {
    for (int i = 0; i < count; ++i) start("MPI_Startall", &requests[i]);
    return MPI_SUCCESS;
}

WATCHED int MPI_Request_free(MPI_Request* request) {
    const MPI_Request before = *request;
    check("MPI_Request_free", PMPI_Request_free(request));
    // What MPI still sends must stay where it is.
    static auto& freed = *new std::vector<Pending>;
    if (auto found = pending().extract(before)) freed.push_back(std::move(found.mapped()));
    return MPI_SUCCESS;
}

WATCHED int MPI_Sendrecv(const void* b, int n, MPI_Datatype t, int target, int tag, void* rb,
                         int rn, MPI_Datatype rt, int source, int rtag, MPI_Comm c,
                         MPI_Status* status) {
    const char* const call = "MPI_Sendrecv";
    const Blocks sent = part(target, n, t);
    const Buffer out(call, b, sent), in(call, rb, {}, part(source, rn, rt));
    note_message(target, sent);
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    check(call, PMPI_Irecv(in.get(), rn, rt, source, rtag, c, &requests[0]));
    check(call, PMPI_Isend(out.get(), n, t, target, tag, c, &requests[1]));
    wait_for(call, from(source), requests[0], status);
    in.arrived();
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
