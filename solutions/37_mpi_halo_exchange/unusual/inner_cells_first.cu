// Unusual: The inner cells are launched first, and both edges travel in one strided copy.
// SPDX-License-Identifier: MIT
// Lesson 37, MPI halo exchange: a rod is divided between ranks, which send each other their edge
// cells. Start with README.md in this directory; `make 37` checks this file.
#include "mpi_halo_exchange.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

static constexpr int kBlock = 256;

Slice slice_of(int cells, int rank, int ranks) {
    const int least = cells / ranks, more = cells % ranks;
    const int begin = rank * least + std::min(rank, more);
    return {begin, begin + least + (rank < more ? 1 : 0)};
}

Neighbours neighbours_of(int rank, int ranks, Ends ends) {
    Neighbours found{rank - 1, rank + 1};
    if (found.left < 0) found.left = ends == Ends::kPeriodic ? ranks - 1 : MPI_PROC_NULL;
    if (found.right >= ranks) found.right = ends == Ends::kPeriodic ? 0 : MPI_PROC_NULL;
    return found;
}

int local_rank_of(MPI_Comm comm) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm node;
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    int local = 0;
    MPI_Comm_rank(node, &local);
    MPI_Comm_free(&node);
    return local;
}

int device_for(int local_rank, int devices) {
    return local_rank % devices;
}

void agree(const char* error, MPI_Comm comm) {
    int mine = error != nullptr, any = 0;
    MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, comm);
    if (error) throw std::runtime_error(error);
    if (any) throw std::runtime_error("another rank has failed");
}

void exchange(const double* to_left, const double* to_right, double* from_left, double* from_right,
              Neighbours neighbours, MPI_Comm comm) {
    constexpr int kToLeft = 1, kToRight = 2;
    MPI_Request requests[4];
    MPI_Irecv(from_left, 1, MPI_DOUBLE, neighbours.left, kToRight, comm, &requests[0]);
    MPI_Irecv(from_right, 1, MPI_DOUBLE, neighbours.right, kToLeft, comm, &requests[1]);
    MPI_Isend(to_left, 1, MPI_DOUBLE, neighbours.left, kToLeft, comm, &requests[2]);
    MPI_Isend(to_right, 1, MPI_DOUBLE, neighbours.right, kToRight, comm, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

// The layout of a slice: cells 1 to `count`, with the ghosts 0 and count + 1 for the neighbours'
// cells. A cell at a fixed end of the rod keeps its heat.
struct Rod {
    int count;
    bool fixed_first, fixed_last;
    double rate;
};

// One step of the cells [first, last).
__global__ void step_kernel(const double* now, double* next, int first, int last, Rod rod) {
    const int i = first + blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= last) return;
    const bool fixed = (i == 1 && rod.fixed_first) || (i == rod.count && rod.fixed_last);
    next[i] = fixed ? now[i] : fma(rod.rate, now[i - 1] - 2 * now[i] + now[i + 1], now[i]);
}

// The largest |now - next|. Bits of doubles that are not negative are ordered like the numbers.
__global__ void change_kernel(const double* now, const double* next, int count,
                              unsigned long long* largest) {
    const int i = 1 + blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= count) atomicMax(largest, __double_as_longlong(fabs(now[i] - next[i])));
}

struct HeatSlice::Parts {
    Parts(int cells, Ends ends, double rate, MPI_Comm the_comm) : comm(the_comm) {
        int rank = 0, ranks = 1;
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &ranks);
        neighbours = neighbours_of(rank, ranks, ends);
        rod = {slice_of(cells, rank, ranks).size(),
               ends == Ends::kFixed && rank == 0,
               ends == Ends::kFixed && rank == ranks - 1,
               rate};
    }
    void allocate() {
        for (double** one : {&now, &next}) {
            CUDA_CHECK(cudaMalloc(one, (rod.count + 2) * sizeof(double)));
            CUDA_CHECK(cudaMemset(*one, 0, (rod.count + 2) * sizeof(double)));
        }
        CUDA_CHECK(cudaMalloc(&largest, sizeof *largest));
        CUDA_CHECK(cudaMallocHost(&edges, sizeof *edges));
        *edges = {};
        for (cudaStream_t* one : {&inner, &border})
            CUDA_CHECK(cudaStreamCreateWithFlags(one, cudaStreamNonBlocking));
        for (cudaEvent_t* one : {&inner_done, &border_done})
            CUDA_CHECK(cudaEventCreateWithFlags(one, cudaEventDisableTiming));
    }
    ~Parts() {
        cudaDeviceSynchronize();
        cudaFree(now), cudaFree(next), cudaFree(largest), cudaFreeHost(edges);
        for (cudaStream_t one : {inner, border})
            if (one) cudaStreamDestroy(one);
        for (cudaEvent_t one : {inner_done, border_done})
            if (one) cudaEventDestroy(one);
    }

    // Launches a step of the cells [first, last) in the stream, from `now` to `next`.
    void launch(int first, int last, cudaStream_t stream) {
        if (first >= last) return;
        const int blocks = (last - first + kBlock - 1) / kBlock;
        step_kernel<<<blocks, kBlock, 0, stream>>>(now, next, first, last, rod);
        CUDA_CHECK(cudaGetLastError());
    }
    // Later work in either stream waits for all earlier work in both.
    void join() {
        CUDA_CHECK(cudaEventRecord(inner_done, inner));
        CUDA_CHECK(cudaEventRecord(border_done, border));
        CUDA_CHECK(cudaStreamWaitEvent(inner, border_done));
        CUDA_CHECK(cudaStreamWaitEvent(border, inner_done));
    }
    // The largest change of a cell of this rank in the last step.
    double largest_change() {
        double found = 0;
        CUDA_CHECK(cudaMemsetAsync(largest, 0, sizeof *largest, inner));
        const int blocks = (rod.count + kBlock - 1) / kBlock;
        change_kernel<<<blocks, kBlock, 0, inner>>>(now, next, rod.count, largest);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaMemcpyAsync(&found, largest, sizeof found, cudaMemcpyDeviceToHost, inner));
        CUDA_CHECK(cudaStreamSynchronize(inner));
        return found;
    }

    // Buffers for the messages, in pinned host memory.
    struct Edges {
        double to_left, to_right, from_left, from_right;
    };

    MPI_Comm comm;
    // Whether MPI takes pointers to device memory. Most builds of MPI do not.
    bool cuda_aware = MPIX_Query_cuda_support() == 1;
    Neighbours neighbours{};
    Rod rod{};
    double *now = nullptr, *next = nullptr;  // rod.count + 2 doubles each
    unsigned long long* largest = nullptr;
    Edges* edges = nullptr;
    cudaStream_t inner = nullptr, border = nullptr;
    cudaEvent_t inner_done = nullptr, border_done = nullptr;
};

HeatSlice::HeatSlice(const double* mine, int cells, Ends ends, double rate, MPI_Comm comm)
    : parts_(new Parts(cells, ends, rate, comm)) {
    std::string error;
    try {
        parts_->allocate();
        CUDA_CHECK(cudaMemcpy(
            parts_->now + 1, mine, parts_->rod.count * sizeof(double), cudaMemcpyHostToDevice));
        // The streams do not wait for the default stream, which may still be copying.
        CUDA_CHECK(cudaDeviceSynchronize());
    } catch (const std::exception& failure) {
        error = failure.what();
    }
    agree(error.empty() ? nullptr : error.c_str(), comm);
}

HeatSlice::~HeatSlice() = default;

void HeatSlice::download(double* mine) const {
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaMemcpy(
        mine, parts_->now + 1, parts_->rod.count * sizeof(double), cudaMemcpyDeviceToHost));
}

void HeatSlice::step() {
    Parts& own = *parts_;
    const int n = own.rod.count;
    constexpr size_t kCell = sizeof(double);
    // Inner cells first, then the edges by 2D copy: two cells with a pitch.
    own.launch(2, n, own.inner);
    Parts::Edges& e = *own.edges;
    if (own.cuda_aware) {
        CUDA_CHECK(cudaStreamSynchronize(own.border));
        exchange(own.now + 1, own.now + n, own.now, own.now + n + 1, own.neighbours, own.comm);
    } else {
        if (n > 1) {
            CUDA_CHECK(cudaMemcpy2DAsync(&e.to_left,
                                         kCell,
                                         own.now + 1,
                                         (n - 1) * kCell,
                                         kCell,
                                         2,
                                         cudaMemcpyDeviceToHost,
                                         own.border));
        } else {
            CUDA_CHECK(cudaMemcpyAsync(
                &e.to_left, own.now + 1, kCell, cudaMemcpyDeviceToHost, own.border));
        }
        CUDA_CHECK(cudaStreamSynchronize(own.border));
        if (n == 1) e.to_right = e.to_left;
        exchange(&e.to_left, &e.to_right, &e.from_left, &e.from_right, own.neighbours, own.comm);
        CUDA_CHECK(cudaMemcpy2DAsync(own.now,
                                     (n + 1) * kCell,
                                     &e.from_left,
                                     kCell,
                                     kCell,
                                     2,
                                     cudaMemcpyHostToDevice,
                                     own.border));
    }
    own.launch(1, 2, own.border);
    own.launch(std::max(2, n), n + 1, own.border);
    own.join();
    std::swap(own.now, own.next);
}

int HeatSlice::settle([[maybe_unused]] double tolerance, [[maybe_unused]] int every,
                      [[maybe_unused]] int most) {
    int steps = 0;
    while (steps < most) {
        step();
        ++steps;
        if (steps % every != 0) continue;
        const double mine = parts_->largest_change();
        double largest = 0;
        MPI_Allreduce(&mine, &largest, 1, MPI_DOUBLE, MPI_MAX, parts_->comm);
        if (largest <= tolerance) break;
    }
    return steps;
}

__global__ void multiply_kernel(const double* a, const double* b, double* c, int rows, int n) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    if (column >= n || row >= rows) return;
    double sum = 0;
    for (int k = 0; k < n; ++k) sum = fma(a[row * n + k], b[k * n + column], sum);
    c[row * n + column] = sum;
}

// c = a * b for `rows` rows of a, all in host memory.
[[maybe_unused]] static void multiply_on_device(const std::vector<double>& a,
                                                const std::vector<double>& b,
                                                std::vector<double>& c, int rows, int n) {
    if (rows == 0) return;
    const size_t bytes[] = {a.size() * sizeof(double), b.size() * sizeof(double)};
    double *d_a, *d_b, *d_c;
    CUDA_CHECK(cudaMalloc(&d_a, bytes[0]));
    CUDA_CHECK(cudaMalloc(&d_b, bytes[1]));
    CUDA_CHECK(cudaMalloc(&d_c, bytes[0]));
    CUDA_CHECK(cudaMemcpy(d_a, a.data(), bytes[0], cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_b, b.data(), bytes[1], cudaMemcpyHostToDevice));
    multiply_kernel<<<dim3((n + kBlock - 1) / kBlock, rows), kBlock>>>(d_a, d_b, d_c, rows, n);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(c.data(), d_c, bytes[0], cudaMemcpyDeviceToHost));
    cudaFree(d_a), cudaFree(d_b), cudaFree(d_c);
}

void multiply_rows([[maybe_unused]] const double* a, [[maybe_unused]] const double* b,
                   [[maybe_unused]] double* c, [[maybe_unused]] int n,
                   [[maybe_unused]] MPI_Comm comm) {
    int rank = 0, ranks = 1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    std::vector<int> numbers(ranks), places(ranks);
    for (int r = 0; r < ranks; ++r) {
        const Slice slice = slice_of(n, r, ranks);
        numbers[r] = slice.size() * n;
        places[r] = slice.begin * n;
    }
    const int rows = slice_of(n, rank, ranks).size();
    std::vector<double> my_a(rows * n), all_b(n * n), my_c(rows * n);
    if (rank == 0) std::copy(b, b + n * n, all_b.begin());
    MPI_Scatterv(
        a, numbers.data(), places.data(), MPI_DOUBLE, my_a.data(), rows * n, MPI_DOUBLE, 0, comm);
    MPI_Bcast(all_b.data(), n * n, MPI_DOUBLE, 0, comm);
    multiply_on_device(my_a, all_b, my_c, rows, n);
    MPI_Gatherv(
        my_c.data(), rows * n, MPI_DOUBLE, c, numbers.data(), places.data(), MPI_DOUBLE, 0, comm);
}
