// SPDX-License-Identifier: MIT
// Lesson 37, MPI halo exchange: what mpi_halo_exchange.cu implements and the test calls.
//
// `mpirun -np P` starts the program P times. Each of these processes is a rank and uses one device.
// All ranks of `comm` call these functions together, with the same arguments, except for those
// marked "of this rank". MPI reads and writes host memory only, unless MPIX_Query_cuda_support() is
// 1: then it is CUDA-aware, and takes pointers to device memory as well.
#pragma once

#define OMPI_SKIP_MPICXX 1  // leaves out Open MPI's former C++ classes, which need another library
#include <mpi.h>

#include <memory>

#include <mpi-ext.h>  // MPIX_Query_cuda_support

#include "cuda_check.h"

// Task 1: the elements [begin, end) that a rank owns.
struct Slice {
    int begin, end;
    int size() const { return end - begin; }
};
// Splits `cells` elements, cells >= 0, between `ranks` ranks, in their order. Sizes differ by at
// most one, and larger slices come first: 10 cells for 4 ranks are 3, 3, 2 and 2.
Slice slice_of(int cells, int rank, int ranks);

// Task 2: the ranks that own the cells next to a slice, or MPI_PROC_NULL at an end without a
// neighbour.
struct Neighbours {
    int left, right;
};
enum class Ends {
    kFixed,    // the first and the last cell of the rod have one neighbour, and keep their heat
    kPeriodic  // the rod is a ring: the first and the last cell are neighbours
};
Neighbours neighbours_of(int rank, int ranks, Ends ends);

// Task 3: the number of this rank among the ranks of `comm` on the same node, from 0, in the order
// of their ranks. Ranks that can share memory are on one node. Frees every communicator that it
// makes.
int local_rank_of(MPI_Comm comm);
// The device for a rank on a node with `devices` devices, devices >= 1. If there are more ranks
// than devices, they share them evenly: 0, 1, 0, 1, ... on two devices.
int device_for(int local_rank, int devices);

// Task 4: `error`, of this rank, is null or describes a failure of this rank. Returns if no rank
// has failed. Otherwise throws an exception derived from std::exception on every rank; on a rank
// that has failed, its text contains that rank's error.
void agree(const char* error, MPI_Comm comm);

// Task 5: sends one number to each neighbour and receives one from each. Each pointer is to one
// double in memory that MPI takes. If a neighbour is MPI_PROC_NULL, its number is not written. A
// neighbour may be the rank itself, and both may be the same rank. No rank may wait for ever, even
// if MPI has no buffers of its own. When the function returns, all four messages have arrived.
void exchange(const double* to_left, const double* to_right, double* from_left, double* from_right,
              Neighbours neighbours, MPI_Comm comm);

// One rank's slice of a rod of `cells` cells, cells >= the number of ranks, in device memory.
class HeatSlice {
public:
    // `mine`, of this rank: the start values of its slice, slice_of(...).size() doubles in host
    // memory. Uses the current device. Throws on every rank if one rank has too little memory for
    // its slice.
    HeatSlice(const double* mine, int cells, Ends ends, double rate, MPI_Comm comm);
    ~HeatSlice();
    HeatSlice(const HeatSlice&) = delete;
    HeatSlice& operator=(const HeatSlice&) = delete;

    // Task 6: one step. Every cell, except a fixed end, becomes
    //     heat[i] + rate * (heat[i - 1] - 2 * heat[i] + heat[i + 1])
    // where all values on the right are those before the step: the result is bit by bit the same
    // for any number of ranks. May return before the device is done.
    void step();

    // Task 7: makes steps until no cell of any rank has changed by more than `tolerance` in the
    // last step. Checks this after every `every` steps, every >= 1, and stops after at most `most`
    // steps. Returns the number of steps, the same on every rank.
    int settle(double tolerance, int every, int most);

    // Copies this rank's slice to host memory, and waits for the copy.
    void download(double* mine) const;

private:
    struct Parts;  // its members are defined in mpi_halo_exchange.cu
    std::unique_ptr<Parts> parts_;
};

// Task 8: c = a * b for n x n matrices in row-major order, n >= 1, in host memory of rank 0; on the
// other ranks the pointers are null. Each rank computes the rows slice_of(n, rank, ranks) of c on
// its device. Every rank adds the products of an element in the order of k.
void multiply_rows(const double* a, const double* b, double* c, int n, MPI_Comm comm);
