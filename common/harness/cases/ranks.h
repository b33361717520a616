// SPDX-License-Identifier: MIT
// For test cases that run in several processes, which mpirun starts: [ranks:1,2,7] among a case's
// tags lets the grader run it with one, two and seven. Each rank runs the whole case and checks its
// own results. Include it after the lesson's interface, which includes mpi.h. Started by hand
// (mpirun -np 4 program), all cases run with the ranks that there are.
#pragma once

#include <cstddef>
#include <exception>
#include <vector>

#include "lesson_test.h"
#include "mpi_watch.h"

namespace wb {
inline namespace of_test {

// MPI lives until the program ends. A rank that a case has left by an exception ends without
// MPI_Finalize, for which the others would wait: mpirun then ends them all.
struct MpiSession {
    bool broken = false;
    ~MpiSession() {
        int begun = 0;
        MPI_Initialized(&begun);
        if (begun && !broken) MPI_Finalize();
    }
};
inline MpiSession mpi_session;  // one for all files of a test

}  // namespace of_test

namespace {

// In the first line of a case.
class Ranks {
public:
    Ranks() : exceptions_(std::uncaught_exceptions()) {
        int begun = 0;
        MPI_Initialized(&begun);
        if (!begun) MPI_Init(nullptr, nullptr);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        MPI_Comm_size(MPI_COMM_WORLD, &size_);
    }
    ~Ranks() { mpi_session.broken |= std::uncaught_exceptions() > exceptions_; }
    Ranks(const Ranks&) = delete;
    Ranks& operator=(const Ranks&) = delete;

    int rank() const { return rank_; }
    int size() const { return size_; }
    MPI_Comm comm() const { return MPI_COMM_WORLD; }

private:
    int exceptions_, rank_ = 0, size_ = 1;
};

// What this rank has sent and called since its construction.
class MpiCalls {
public:
    MpiCalls() : collectives_(mpiWatchCollectives()) {
        for (mpi_watch::Message one; mpiWatchMessage(messages_, &one);) ++messages_;
    }
    std::vector<mpi_watch::Message> messages() const {
        std::vector<mpi_watch::Message> found;
        mpi_watch::Message one;
        for (uint64_t i = messages_; mpiWatchMessage(i, &one); ++i) found.push_back(one);
        return found;
    }
    size_t collectives() const { return size_t(mpiWatchCollectives() - collectives_); }

private:
    uint64_t messages_ = 0, collectives_;
};

}  // namespace
}  // namespace wb
