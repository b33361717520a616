// SPDX-License-Identifier: MIT
// MPI's collective calls: each is its non-blocking form and a wait, which can be watched.
#include "buffers.h"
#include "mpi_watch.h"
#include "watch.h"

namespace {

using mpi_watch::Blocks;
using mpi_watch::blocks;
using mpi_watch::Buffer;
using mpi_watch::elements;

uint64_t collectives = 0;

template <class Start>
int collective(const char* call, Start&& start) {
    ++collectives;
    MPI_Request request = MPI_REQUEST_NULL;
    mpi_watch::check(call, start(&request));
    mpi_watch::wait_for(
        call, std::string("the other ranks to call ") + call, request, MPI_STATUS_IGNORE);
    return MPI_SUCCESS;
}

int rank_in(MPI_Comm comm) {
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    return rank;
}

int ranks_of(MPI_Comm comm) {
    int ranks = 0;
    PMPI_Comm_size(comm, &ranks);
    return ranks;
}

// The blocks of all ranks, one after the other.
Blocks of_all(int count, MPI_Datatype type, MPI_Comm comm) {
    return elements(count * ranks_of(comm), type);
}

// With MPI_IN_PLACE a rank's own part of the result is what it sends.
Blocks own_part(const void* sent, const Blocks& result) {
    return sent == MPI_IN_PLACE ? result : Blocks{};
}
Blocks own_part(const void* sent, int count, MPI_Datatype type, MPI_Comm comm) {
    Blocks own = own_part(sent, elements(count, type));
    for (mpi_watch::Block& one : own) one.offset = uint64_t(rank_in(comm)) * one.bytes;
    return own;
}
Blocks own_part(const void* sent, const int counts[], const int at[], MPI_Datatype type,
                MPI_Comm comm) {
    const int rank = rank_in(comm);
    Blocks own = own_part(sent, elements(counts ? counts[rank] : 0, type));
    for (mpi_watch::Block& one : own)
        one.offset = uint64_t(at[rank]) * (one.bytes / uint64_t(counts[rank]));
    return own;
}

}  // namespace

uint64_t mpiWatchCollectives() {
    return collectives;
}

WATCHED int MPI_Barrier(MPI_Comm c) {
    return collective("MPI_Barrier", [&](MPI_Request* r) { return PMPI_Ibarrier(c, r); });
}

WATCHED int MPI_Bcast(void* b, int n, MPI_Datatype t, int root, MPI_Comm c) {
    const char* const call = "MPI_Bcast";
    const bool sends = rank_in(c) == root;
    const Blocks all = elements(n, t);
    const Buffer data(call, b, sends ? all : Blocks{}, sends ? Blocks{} : all);
    collective(call, [&](MPI_Request* r) { return PMPI_Ibcast(data.get(), n, t, root, c, r); });
    data.arrived();
    return MPI_SUCCESS;
}

WATCHED int MPI_Reduce(const void* b, void* out, int n, MPI_Datatype t, MPI_Op op, int root,
                       MPI_Comm c) {
    const char* const call = "MPI_Reduce";
    const Blocks all = elements(n, t), result = rank_in(c) == root ? all : Blocks{};
    const Buffer from(call, b, all), to(call, out, own_part(b, result), result);
    collective(call, [&](MPI_Request* r) {
        return PMPI_Ireduce(from.get(), to.get(), n, t, op, root, c, r);
    });
    to.arrived();
    return MPI_SUCCESS;
}

WATCHED int MPI_Allreduce(const void* b, void* out, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c) {
    const char* const call = "MPI_Allreduce";
    const Blocks all = elements(n, t);
    const Buffer from(call, b, all), to(call, out, own_part(b, all), all);
    collective(call, [&](MPI_Request* r) {
        return PMPI_Iallreduce(from.get(), to.get(), n, t, op, c, r);
    });
    to.arrived();
    return MPI_SUCCESS;
}

WATCHED int MPI_Gather(const void* b, int n, MPI_Datatype t, void* out, int m, MPI_Datatype u,
                       int root, MPI_Comm c) {
    const char* const call = "MPI_Gather";
    const bool gets = rank_in(c) == root;
    const Buffer from(call, b, elements(n, t));
    const Buffer to(
        call, out, gets ? own_part(b, m, u, c) : Blocks{}, gets ? of_all(m, u, c) : Blocks{});
    collective(call, [&](MPI_Request* r) {
        return PMPI_Igather(from.get(), n, t, to.get(), m, u, root, c, r);
    });
    to.arrived();
    return MPI_SUCCESS;
}

WATCHED int MPI_Gatherv(const void* b, int n, MPI_Datatype t, void* out, const int m[],
                        const int at[], MPI_Datatype u, int root, MPI_Comm c) {
    const char* const call = "MPI_Gatherv";
    const bool gets = rank_in(c) == root;
    const Buffer from(call, b, elements(n, t));
    const Buffer to(call,
                    out,
                    gets ? own_part(b, m, at, u, c) : Blocks{},
                    gets ? blocks(m, at, u, c) : Blocks{});
    collective(call, [&](MPI_Request* r) {
        return PMPI_Igatherv(from.get(), n, t, to.get(), m, at, u, root, c, r);
    });
    to.arrived();
    return MPI_SUCCESS;
}

WATCHED int MPI_Scatter(const void* b, int n, MPI_Datatype t, void* out, int m, MPI_Datatype u,
                        int root, MPI_Comm c) {
    const char* const call = "MPI_Scatter";
    const Buffer from(call, b, rank_in(c) == root ? of_all(n, t, c) : Blocks{});
    const Buffer to(call, out, {}, elements(m, u));
    collective(call, [&](MPI_Request* r) {
        return PMPI_Iscatter(from.get(), n, t, to.get(), m, u, root, c, r);
    });
    to.arrived();
    return MPI_SUCCESS;
}

WATCHED int MPI_Scatterv(const void* b, const int n[], const int at[], MPI_Datatype t, void* out,
                         int m, MPI_Datatype u, int root, MPI_Comm c) {
    const char* const call = "MPI_Scatterv";
    const Buffer from(call, b, rank_in(c) == root ? blocks(n, at, t, c) : Blocks{});
    const Buffer to(call, out, {}, elements(m, u));
    collective(call, [&](MPI_Request* r) {
        return PMPI_Iscatterv(from.get(), n, at, t, to.get(), m, u, root, c, r);
    });
    to.arrived();
    return MPI_SUCCESS;
}

WATCHED int MPI_Allgather(const void* b, int n, MPI_Datatype t, void* out, int m, MPI_Datatype u,
                          MPI_Comm c) {
    const char* const call = "MPI_Allgather";
    const Buffer from(call, b, elements(n, t));
    const Buffer to(call, out, own_part(b, m, u, c), of_all(m, u, c));
    collective(call, [&](MPI_Request* r) {
        return PMPI_Iallgather(from.get(), n, t, to.get(), m, u, c, r);
    });
    to.arrived();
    return MPI_SUCCESS;
}

WATCHED int MPI_Allgatherv(const void* b, int n, MPI_Datatype t, void* out, const int m[],
                           const int at[], MPI_Datatype u, MPI_Comm c) {
    const char* const call = "MPI_Allgatherv";
    const Buffer from(call, b, elements(n, t));
    const Buffer to(call, out, own_part(b, m, at, u, c), blocks(m, at, u, c));
    collective(call, [&](MPI_Request* r) {
        return PMPI_Iallgatherv(from.get(), n, t, to.get(), m, at, u, c, r);
    });
    to.arrived();
    return MPI_SUCCESS;
}
