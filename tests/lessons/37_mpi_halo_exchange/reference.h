// SPDX-License-Identifier: MIT
// References for the tests of lesson 37: the whole rod, which every rank computes on the host, and
// the rank's part of it.
#pragma once

#include "mpi_halo_exchange.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "cases/ranks.h"

namespace {

using Rod = std::vector<double>;

inline Slice right_slice(int cells, int rank, int ranks) {
    const int each = cells / ranks, more = cells % ranks;
    const int begin = rank * each + std::min(rank, more);
    return {begin, begin + each + (rank < more)};
}

inline Rod part(const Rod& all, const wb::Ranks& world) {
    const Slice own = right_slice(int(all.size()), world.rank(), world.size());
    Rod mine;
    mine.reserve(all.size());  // an answer may read past its slice
    mine.assign(all.begin() + own.begin, all.begin() + own.end);
    return mine;
}

// A communicator of every second rank, in reverse order, so that it differs from MPI_COMM_WORLD.
class Half {
public:
    explicit Half(const wb::Ranks& world) : number(world.rank() % 2) {
        MPI_Comm_split(world.comm(), number, -world.rank(), &comm);
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &ranks);
    }
    ~Half() { MPI_Comm_free(&comm); }
    Half(const Half&) = delete;
    Half& operator=(const Half&) = delete;
    Rod part(const Rod& all) const {
        const Slice own = right_slice(int(all.size()), rank, ranks);
        Rod mine;
        mine.reserve(all.size());
        mine.assign(all.begin() + own.begin, all.begin() + own.end);
        return mine;
    }
    const int number;  // 0 or 1
    MPI_Comm comm = MPI_COMM_NULL;
    int rank = 0, ranks = 1;
};

inline Rod random_rod(int cells, unsigned seed) {
    Rod rod;
    for (const float one : wb::random_floats(size_t(cells), seed)) rod.push_back(one / 0.9);
    return rod;
}

inline Rod stepped(const Rod& now, Ends ends, double rate) {
    const size_t n = now.size();
    Rod next = now;
    for (size_t i = 0; i < n; ++i) {
        if (ends == Ends::kFixed && (i == 0 || i == n - 1)) continue;
        next[i] = std::fma(rate, now[(i + n - 1) % n] - 2 * now[i] + now[(i + 1) % n], now[i]);
    }
    return next;
}

inline Rod stepped(Rod rod, Ends ends, double rate, int steps) {
    for (int i = 0; i < steps; ++i) rod = stepped(rod, ends, rate);
    return rod;
}

}  // namespace
