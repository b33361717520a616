// SPDX-License-Identifier: MIT
// What a collective does, once all its ranks have called it.
#include <cstring>

#include "collectives/communicator.h"

namespace collectives {
namespace {

using emulator::Collective;
using emulator::CollectivePart;
using Begins = std::vector<std::vector<std::byte*>>;

emulator::Operand operand(const char* name, const void* address, size_t bytes, bool writes) {
    emulator::Operand out{name, address};
    out.row_bytes = bytes;
    return writes ? stand_in::written(out) : out;
}

CollectivePart part_of(const Request& r) {
    CollectivePart part;
    part.api = r.api;
    part.device = r.device;
    part.stream = r.stream;
    part.site = r.site;
    part.rank = r.rank;
    return part;
}

// A PreMulSum's scalar in device memory is read when the kernel runs.
void add_scalar(const Request& r, CollectivePart& part) {
    if (r.reduction.scalar && r.scalar.empty())
        part.operands.push_back(operand("scalar", r.reduction.scalar, bytes_of(r.type), false));
}

// operands[0] of each part is sendbuff, [1] is recvbuff.
std::vector<std::byte> reduced(const std::vector<RequestPtr>& ranks, const Begins& at,
                               size_t count) {
    const Request& first = *ranks.front();
    std::vector<const std::byte*> from;
    std::vector<Reduction> reductions;
    for (size_t i = 0; i < ranks.size(); ++i) {
        from.push_back(at[i][0]);
        reductions.push_back(ranks[i]->reduction);
        if (at[i].size() > 2) reductions.back().scalar = at[i][2];
    }
    std::vector<std::byte> out(count * bytes_of(first.type));
    reduce(first.type, reductions, from, out.data(), count);
    return out;
}

void put(std::byte* to, const void* from, size_t bytes) {
    if (bytes) std::memmove(to, from, bytes);
}

Collective collective_of(const std::vector<RequestPtr>& ranks) {
    const Request& first = *ranks.front();
    const size_t n = ranks.size(), bytes = first.count * bytes_of(first.type);
    const size_t root = size_t(first.root);
    Collective out;
    for (const RequestPtr& r : ranks) {
        CollectivePart part = part_of(*r);
        const bool is_root = r->rank == first.root;
        size_t sent = bytes, received = bytes;
        if (r->kind == Kind::kReduce && !is_root) received = 0;
        if (r->kind == Kind::kBroadcast && !is_root) sent = 0;
        if (r->kind == Kind::kAllGather) received *= n;
        if (r->kind == Kind::kReduceScatter) sent *= n;
        if (r->kind == Kind::kReduce) part.takes = is_root;
        if (r->kind == Kind::kBroadcast) part.gives = is_root;
        part.operands = {operand("sendbuff", r->send, sent, false),
                         operand("recvbuff", r->receive, received, true)};
        add_scalar(*r, part);
        out.parts.push_back(std::move(part));
    }
    // Round a ring: every device sends to the next one.
    out.steps = uint32_t(n - 1);
    out.link_bytes = n == 1 ? 0 : bytes;
    switch (first.kind) {
    case Kind::kAllReduce:
        out.steps *= 2;
        out.link_bytes = 2 * bytes * (n - 1) / n;
        out.compute = [=](const Begins& at) {
            const auto result = reduced(ranks, at, first.count);
            for (const auto& begins : at) put(begins[1], result.data(), bytes);
        };
        break;
    case Kind::kReduce:
        out.compute = [=](const Begins& at) {
            put(at[root][1], reduced(ranks, at, first.count).data(), bytes);
        };
        break;
    case Kind::kReduceScatter:
        out.link_bytes = bytes * (n - 1);
        out.compute = [=](const Begins& at) {
            const auto result = reduced(ranks, at, first.count * n);
            for (size_t i = 0; i < n; ++i) put(at[i][1], result.data() + i * bytes, bytes);
        };
        break;
    case Kind::kBroadcast:
        out.compute = [=](const Begins& at) {
            const std::vector<std::byte> values(at[root][0], at[root][0] + bytes);
            for (const auto& begins : at) put(begins[1], values.data(), bytes);
        };
        break;
    default:
        out.link_bytes = bytes * (n - 1);
        out.compute = [=](const Begins& at) {
            std::vector<std::byte> all(bytes * n);
            for (size_t i = 0; i < n; ++i) put(all.data() + i * bytes, at[i][0], bytes);
            for (const auto& begins : at) put(begins[1], all.data(), all.size());
        };
    }
    return out;
}

Collective message_of(const std::vector<RequestPtr>& ends) {
    const Request &from = *ends[0], &to = *ends[1];
    const size_t bytes = from.count * bytes_of(from.type);
    Collective out;
    out.parts = {part_of(from), part_of(to)};
    out.parts[0].operands = {operand("sendbuff", from.send, bytes, false)};
    out.parts[0].takes = false;
    out.parts[1].operands = {operand("recvbuff", to.receive, bytes, true)};
    out.parts[1].gives = false;
    out.link_bytes = from.rank == to.rank ? 0 : bytes;
    out.steps = 1;
    out.compute = [=](const Begins& at) { put(at[1][0], at[0][0], bytes); };
    return out;
}

}  // namespace

void run(const std::vector<RequestPtr>& requests) {
    const Request& first = *requests.front();
    ncclResult_t result = ncclSuccess;
    if (first.count > 0) {
        const cudaError_t error = emulatorRunCollective(
            first.kind == Kind::kSend ? message_of(requests) : collective_of(requests));
        if (error == cudaErrorStreamCaptureUnsupported)
            emulatorLibraryLacks(
                (std::string(first.api) + " in a stream that is captured").c_str());
        result = error == cudaSuccess             ? ncclSuccess
                 : error == cudaErrorInvalidValue ? ncclInvalidArgument
                                                  : ncclUnhandledCudaError;
    }
    for (const RequestPtr& request : requests) {
        request->done = true;
        request->result = result;
        if (result != ncclSuccess && communicators().has(request->comm))
            request->comm->error = result;
    }
}

}  // namespace collectives
