// SPDX-License-Identifier: MIT
// The collectives as the program calls them: checks each rank's arguments, and groups.
#include <algorithm>

#include "collectives/communicator.h"

namespace collectives {
namespace {

struct Group {
    int depth = 0;
    uint64_t site = 0;  // of the outermost ncclGroupStart
    std::vector<RequestPtr> requests;
    ncclResult_t error = ncclSuccess;  // of a call in it
    Group();
    ~Group();
};

// Groups of all threads, for those that nobody ends.
std::set<Group*>& groups() {
    static auto& all = *new std::set<Group*>;
    return all;
}
Group::Group() {
    const std::lock_guard lock(state().mutex);
    groups().insert(this);
}

void report_open(const Group& group) {
    if (group.depth == 0) return;
    emulator::CollectiveFinding finding;
    finding.api = "ncclGroupStart";
    finding.detail = "group-open";
    const size_t calls = group.requests.size();
    finding.message =
        "`ncclGroupStart` has no `ncclGroupEnd`: " +
        (calls == 0   ? std::string("a call after it would never start")
         : calls == 1 ? "the call after it never starts"
                      : "the " + std::to_string(calls) + " calls after it never start");
    finding.site = group.site;
    for (const RequestPtr& request : group.requests) {
        if (finding.notes.size() == 8) break;
        finding.notes.push_back(
            {request->site,
             "rank " + std::to_string(request->rank) + " calls `" + request->api + '`'});
    }
    emulatorReportCollective(finding);
}

Group::~Group() {
    const std::lock_guard lock(state().mutex);
    groups().erase(this);
    report_open(*this);
}

Group& group() {
    thread_local Group own;
    return own;
}

// The thread that ends the process destroys its own before this; others may still have theirs.
[[gnu::destructor]] void look_for_groups() {
    for (const Group* one : groups()) report_open(*one);
}

ncclResult_t note(ncclResult_t result) {
    Group& own = group();
    if (own.depth && own.error == ncclSuccess) own.error = result;
    return result;
}

const void* end_of(const void* begin, size_t bytes) {
    return static_cast<const std::byte*>(begin) + bytes;
}

// What a rank reads and writes, in elements.
struct Sizes {
    size_t sent = 0, received = 0;
};
Sizes sizes_of(const Request& r) {
    const size_t all = r.count * size_t(r.clique->size);
    const bool root = r.rank == r.root;
    switch (r.kind) {
    case Kind::kAllReduce:
        return {r.count, r.count};
    case Kind::kReduce:
        return {r.count, root ? r.count : 0};
    case Kind::kBroadcast:
        return {root ? r.count : 0, r.count};
    case Kind::kAllGather:
        return {r.count, all};
    case Kind::kReduceScatter:
        return {all, r.count};
    case Kind::kSend:
        return {r.count, 0};
    case Kind::kReceive:
        return {0, r.count};
    case Kind::kInit:
        break;
    }
    return {};
}

// Whether the buffers overlap in a way that is not the collective's "in place".
bool overlaps(const Request& r, Sizes sizes, size_t bytes) {
    if (!sizes.sent || !sizes.received) return false;
    const void* const receive = r.receive;
    const size_t offset = size_t(r.rank) * r.count * bytes;
    const void* const in_place = r.kind == Kind::kAllGather ? end_of(receive, offset) : receive;
    const void* const from = r.kind == Kind::kReduceScatter ? end_of(r.send, offset) : r.send;
    if (from == in_place) return false;
    return r.send < end_of(receive, sizes.received * bytes) &&
           receive < end_of(r.send, sizes.sent * bytes);
}

ncclResult_t call(Kind kind, const char* api, const void* send, void* receive, size_t count,
                  ncclDataType_t type, ncclRedOp_t op, int root, ncclComm* comm,
                  cudaStream_t stream) {
    auto request = std::make_shared<Request>();
    {
        const std::lock_guard lock(state().mutex);
        const auto wrong = [&](const std::string& what) {
            return note(
                refuse(api, communicators().has(comm) ? comm : nullptr, ncclInvalidArgument, what));
        };
        if (!communicators().has(comm)) return wrong("this is no communicator, or no more");
        if (type < 0 || type >= ncclNumTypes)
            return wrong("no data type has the number " + std::to_string(int(type)));
        if (!bytes_of(type)) {
            emulatorLibraryLacks((std::string(api) + " of " + name_of(type)).c_str());
            return note(finish(api, ncclInvalidArgument));
        }
        if (root < 0 || root >= comm->clique->size)
            return wrong("rank " + std::to_string(root) + " of " +
                         std::to_string(comm->clique->size) + " as root or peer");
        *request = {kind,
                    api,
                    comm,
                    comm->clique,
                    comm->rank,
                    comm->device,
                    send,
                    receive,
                    count,
                    type,
                    {op, nullptr},
                    root,
                    stream,
                    emulatorLibraryCaller()};
        if (op < 0) return wrong("no operator has the number " + std::to_string(int(op)));
        if (op >= ncclNumOps) {
            const auto found = comm->operators.find(int(op));
            if (found == comm->operators.end() || found->second.type != type)
                return wrong("the operator belongs to another communicator or data type");
            request->scalar = found->second.value;
            request->reduction.scalar =
                request->scalar.empty() ? found->second.on_device : request->scalar.data();
        }
        const Sizes sizes = sizes_of(*request);
        if (sizes.sent && !send) return wrong("sendbuff is null");
        if (sizes.received && !receive) return wrong("recvbuff is null");
        if (overlaps(*request, sizes, bytes_of(type))) {
            emulator::CollectiveFinding finding;
            finding.api = api;
            finding.detail = "overlap";
            finding.message =
                '`' + std::string(api) + "` of rank " + std::to_string(comm->rank) +
                ": sendbuff and recvbuff overlap, and not in the way that is "
                "allowed (" +
                (kind == Kind::kAllGather       ? "sendbuff == recvbuff + rank * sendcount"
                 : kind == Kind::kReduceScatter ? "recvbuff == sendbuff + rank * recvcount"
                                                : "sendbuff == recvbuff") +
                "): the result would be undefined";
            finding.site = request->site;
            emulatorReportCollective(finding);
            return note(ncclInvalidArgument);
        }
        if (comm->clique->broken) return note(ncclInvalidUsage);
    }
    return enqueue(request);
}

}  // namespace

ncclResult_t enqueue(RequestPtr request) {
    Group& own = group();
    if (own.depth == 0) return post({std::move(request)});
    request->grouped = true;
    own.requests.push_back(std::move(request));
    return ncclSuccess;
}

}  // namespace collectives

using namespace collectives;

STAND_IN_API ncclResult_t ncclGroupStart() {
    Group& own = group();
    if (own.depth++ == 0) {
        own.site = emulatorLibraryCaller();
        own.error = ncclSuccess;
    }
    return ncclSuccess;
}

STAND_IN_API ncclResult_t ncclGroupEnd() {
    Group& own = group();
    if (own.depth == 0)
        return refuse("ncclGroupEnd", nullptr, ncclInvalidUsage, "there is no ncclGroupStart");
    if (--own.depth) return ncclSuccess;
    const std::vector<RequestPtr> requests = std::move(own.requests);
    own.requests.clear();
    if (own.error != ncclSuccess) return own.error;
    return post(requests);
}

STAND_IN_API ncclResult_t ncclAllReduce(const void* send, void* receive, size_t count,
                                        ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
                                        cudaStream_t stream) {
    return call(Kind::kAllReduce, "ncclAllReduce", send, receive, count, type, op, 0, comm, stream);
}
STAND_IN_API ncclResult_t ncclReduce(const void* send, void* receive, size_t count,
                                     ncclDataType_t type, ncclRedOp_t op, int root, ncclComm_t comm,
                                     cudaStream_t stream) {
    return call(Kind::kReduce, "ncclReduce", send, receive, count, type, op, root, comm, stream);
}
STAND_IN_API ncclResult_t ncclBroadcast(const void* send, void* receive, size_t count,
                                        ncclDataType_t type, int root, ncclComm_t comm,
                                        cudaStream_t stream) {
    return call(
        Kind::kBroadcast, "ncclBroadcast", send, receive, count, type, ncclSum, root, comm, stream);
}
STAND_IN_API ncclResult_t ncclBcast(void* buffer, size_t count, ncclDataType_t type, int root,
                                    ncclComm_t comm, cudaStream_t stream) {
    return call(
        Kind::kBroadcast, "ncclBcast", buffer, buffer, count, type, ncclSum, root, comm, stream);
}
STAND_IN_API ncclResult_t ncclAllGather(const void* send, void* receive, size_t count,
                                        ncclDataType_t type, ncclComm_t comm, cudaStream_t stream) {
    return call(
        Kind::kAllGather, "ncclAllGather", send, receive, count, type, ncclSum, 0, comm, stream);
}
STAND_IN_API ncclResult_t ncclReduceScatter(const void* send, void* receive, size_t count,
                                            ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
                                            cudaStream_t stream) {
    return call(
        Kind::kReduceScatter, "ncclReduceScatter", send, receive, count, type, op, 0, comm, stream);
}
STAND_IN_API ncclResult_t ncclSend(const void* send, size_t count, ncclDataType_t type, int peer,
                                   ncclComm_t comm, cudaStream_t stream) {
    return call(Kind::kSend, "ncclSend", send, nullptr, count, type, ncclSum, peer, comm, stream);
}
STAND_IN_API ncclResult_t ncclRecv(void* receive, size_t count, ncclDataType_t type, int peer,
                                   ncclComm_t comm, cudaStream_t stream) {
    return call(
        Kind::kReceive, "ncclRecv", nullptr, receive, count, type, ncclSum, peer, comm, stream);
}
