// SPDX-License-Identifier: MIT
// Lesson 37, MPI halo exchange: what mpi_halo_exchange.cu implements and the test calls.
//
// `mpirun -np P` starts the program P times. Each of these processes is a rank, with a device of
// its own. All ranks of `comm` call these functions together, with the same values, except where it
// says "of this rank". MPI reads and writes host memory only, unless MPIX_Query_cuda_support() is
// 1: then it is CUDA-aware, and takes pointers to device memory as well.
#pragma once

#define OMPI_SKIP_MPICXX 1  // Open MPI's former C++ classes, which need a library of their own
#include <mpi.h>

#include <memory>

#include <mpi-ext.h>  // MPIX_Query_cuda_support

#include "cuda_check.h"

// Task 1: the elements [begin, end) that a rank owns.
struct Slice {
    int begin, end;
    int size() const { return end - begin; }
};
// Splits `cells` elements, cells >= 0, between `ranks` ranks, in their order. Sizes differ by one
// at most, and larger slices come first: 10 cells for 4 ranks are 3, 3, 2 and 2.
Slice slice_of(int cells, int rank, int ranks);

// Task 2: the ranks that own the cells next to a slice, MPI_PROC_NULL where there is none.
struct Neighbours {
    int left, right;
};
enum class Ends {
    kFixed,    // the first and the last cell of the rod have one neighbour, and keep their heat
    kPeriodic  // the rod is a ring: the first and the last cell are neighbours
};
Neighbours neighbours_of(int rank, int ranks, Ends ends);

// Task 3: the number of this rank among those of `comm` on the same node, from 0, in the order of
// their ranks. Ranks that can share memory are on one node. Leaves no communicator behind.
int local_rank_of(MPI_Comm comm);
// The device for a rank on a node with `devices` devices, devices >= 1. Ranks share the devices
// evenly if there are more ranks: 0, 1, 0, 1, ... on two devices.
int device_for(int local_rank, int devices);

// Task 4: `error`, of this rank: null, or what has failed here. If no rank has failed, it returns.
// Else it throws an exception derived from std::exception on every rank, whose text on a rank that
// has failed contains its own error.
void agree(const char* error, MPI_Comm comm);

// Task 5: sends one number to each neighbour and receives one from each. All pointers are to one
// double in memory that MPI takes. Nothing is written for a neighbour that is MPI_PROC_NULL. A
// neighbour may be the rank itself, and both neighbours the same rank. No rank waits for ever,
// though MPI may have no buffers of its own. All four messages have arrived when it returns.
void exchange(const double* to_left, const double* to_right, double* from_left, double* from_right,
              Neighbours neighbours, MPI_Comm comm);

// One rank's slice of a rod of `cells` cells, cells >= the number of ranks, in device memory.
class HeatSlice {
public:
    // `mine`: the heat at the start of this rank's slice, slice_of(...).size() doubles in host
    // memory. Uses the current device. Throws on every rank if one has no memory for its slice.
    HeatSlice(const double* mine, int cells, Ends ends, double rate, MPI_Comm comm);
    ~HeatSlice();
    HeatSlice(const HeatSlice&) = delete;
    HeatSlice& operator=(const HeatSlice&) = delete;

    // Task 6: one step. Every cell, except ends that are fixed, becomes
    //     heat[i] + rate * (heat[i - 1] - 2 * heat[i] + heat[i + 1])
    // where all values on the right are those before the step: bit by bit the same for any number
    // of ranks. It may return before the device is done.
    void step();

    // Task 7: steps, until no cell of any rank has changed by more than `tolerance` in the last
    // one. That is looked for after every `every` steps, every >= 1, and it stops after `most`
    // steps at the latest. Returns the number of steps, the same on every rank.
    int settle(double tolerance, int every, int most);

    // Copies this rank's slice to host memory, and waits for it.
    void download(double* mine) const;

private:
    struct Parts;  // what it keeps is up to mpi_halo_exchange.cu
    std::unique_ptr<Parts> parts_;
};

// Task 8: c = a * b for n x n matrices in row-major order, n >= 1, in host memory of rank 0; on the
// other ranks the pointers are null. Each rank computes the rows slice_of(n, rank, ranks) of c on
// its device. On every rank the k products of an element are added in the order of k.
void multiply_rows(const double* a, const double* b, double* c, int n, MPI_Comm comm);
