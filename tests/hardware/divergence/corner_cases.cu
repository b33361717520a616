// SPDX-License-Identifier: MIT
// What a device does where PTX leaves it open or textbooks disagree: barriers that not every thread
// reaches, masks after branches meet, exited lanes in a mask, locks taken by all lanes of a warp.
// One case a process, because some may hang: corner_cases NAME, or corner_cases --list.
// Prints `NAME: values`, the values of the 64 or 32 threads shortened as runs: `32 x 5`.
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "cuda_check.h"

namespace {

constexpr int kMost = 64;

__device__ __forceinline__ unsigned lane() {
    return threadIdx.x % 32;
}

// A barrier that also counts the arrived threads whose predicate is set.
__device__ __forceinline__ int count_at_barrier(int predicate) {
    return __syncthreads_count(predicate);
}

// --- barriers ------------------------------------------------------------------------------------

// Half of a warp waits at one barrier, the other half at another one.
__global__ void barrier_in_both_branches(int* out, const int* zero) {
    if (lane() < 16) {
        __syncthreads();
        out[threadIdx.x] = 1 + zero[0];
    } else {
        __syncthreads();
        out[threadIdx.x] = 2 + zero[1];
    }
}

// The same with a count: does a barrier see all threads of the block, or those of one branch?
__global__ void count_in_both_branches(int* out, const int* zero) {
    if (lane() < 16)
        out[threadIdx.x] = 100 + count_at_barrier(1) + zero[0];
    else
        out[threadIdx.x] = 200 + count_at_barrier(1) + zero[1];
}

// Half of every warp waits; the others go on to a second barrier further down.
__global__ void barrier_in_one_branch(int* out, const int*) {
    if (lane() < 16) __syncthreads();
    out[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = 2;
}

// Half of every warp waits at the only barrier; the others run to the end of the kernel.
__global__ void barrier_others_end(int* out, const int*) {
    if (lane() < 16) {
        __syncthreads();
        out[threadIdx.x] = 1;
        return;
    }
    out[threadIdx.x] = 2;
}

// Half of every warp has returned before the barrier.
__global__ void barrier_after_return(int* out, const int*) {
    out[threadIdx.x] = 1;
    if (lane() >= 16) return;
    __syncthreads();
    out[threadIdx.x] = 2;
}

// A whole warp has returned before a barrier that counts.
__global__ void count_after_warp_returned(int* out, const int*) {
    if (threadIdx.x >= 32) return;
    out[threadIdx.x] = count_at_barrier(1);
}

// Half of every warp has returned before a barrier that counts.
__global__ void count_after_half_returned(int* out, const int*) {
    if (lane() >= 16) return;
    out[threadIdx.x] = count_at_barrier(1);
}

// Each warp waits in its own branch.
__global__ void barrier_per_warp(int* out, const int* zero) {
    if (threadIdx.x < 32) {
        __syncthreads();
        out[threadIdx.x] = 1 + zero[0];
    } else {
        __syncthreads();
        out[threadIdx.x] = 2 + zero[1];
    }
}

// A loop with a barrier whose number of rounds differs by lane, all threads ending by return.
__global__ void barrier_in_uneven_loop(int* out, const int*) {
    int rounds = 0;
#pragma unroll 1
    for (unsigned i = 0; i <= threadIdx.x % 3; ++i) {
        __syncthreads();
        ++rounds;
    }
    out[threadIdx.x] = rounds;
}

// barrier.sync without .aligned, in a divergent branch, with the others at another such barrier.
__global__ void unaligned_in_both_branches(int* out, const int* zero) {
    if (lane() < 16) {
        asm volatile("barrier.sync 0;" ::: "memory");
        out[threadIdx.x] = 1 + zero[0];
    } else {
        asm volatile("barrier.sync 0;" ::: "memory");
        out[threadIdx.x] = 2 + zero[1];
    }
}

// --- masks ---------------------------------------------------------------------------------------

__global__ void mask_after_if(int* out, const int* zero) {
    int value = 0;
    if (lane() & 1)
        value = zero[lane()] * 3;
    else
        value = zero[lane()] * 5;
    out[threadIdx.x] = value + __popc(__activemask());
}

__global__ void mask_after_loop(int* out, const int* zero) {
    int sum = 0;
#pragma unroll 1
    for (unsigned i = 0; i < lane(); ++i) sum += zero[i];
    out[threadIdx.x] = sum + __popc(__activemask());
}

__global__ void mask_after_switch(int* out, const int* zero) {
    int value = 0;
    switch (lane() % 4) {
    case 0:
        value = zero[0] + 1 - 1;
        break;
    case 1:
        value = zero[1] * 2;
        break;
    case 2:
        value = zero[2] * zero[3];
        break;
    default:
        value = zero[5] - zero[4];
    }
    out[threadIdx.x] = value + __popc(__activemask());
}

__global__ void mask_after_return(int* out, const int*) {
    if (lane() % 4 == 0) return;
    out[threadIdx.x] = __popc(__activemask());
}

__global__ void mask_after_break(int* out, const int* zero) {
    int rounds = 0;
#pragma unroll 1
    for (int i = 0; i < 8; ++i) {
        if (lane() % 8 == unsigned(i + zero[i])) break;
        ++rounds;
    }
    out[threadIdx.x] = rounds * 0 + __popc(__activemask());
}

__noinline__ __device__ int halves(int value, const int* zero) {
    if (value & 1) return zero[0] + 1;
    return zero[1] + 2;
}
__global__ void mask_after_call(int* out, const int* zero) {
    const int value = halves(int(lane()), zero);
    out[threadIdx.x] = (value & 0) + __popc(__activemask());
}

__global__ void mask_in_branches(int* out, const int* zero) {
    if (lane() < 10)
        out[threadIdx.x] = __popc(__activemask()) + zero[0];
    else
        out[threadIdx.x] = __popc(__activemask()) + zero[1];
}

// --- operations of a warp ------------------------------------------------------------------------

// The mask names lanes that have returned.
__global__ void vote_with_exited_lanes(int* out, const int*) {
    if (lane() >= 16) return;
    out[threadIdx.x] = int(__ballot_sync(0xffffffff, 1));
}

// Both branches vote with the full mask: one vote of 32 lanes, or two of 16?
__global__ void vote_in_both_branches(int* out, const int* zero) {
    if (lane() < 16)
        out[threadIdx.x] = __popc(__ballot_sync(0xffffffff, 1)) + 100 + zero[0];
    else
        out[threadIdx.x] = __popc(__ballot_sync(0xffffffff, 1)) + 200 + zero[1];
}

// Different operations with the full mask in the two branches.
__global__ void vote_and_shuffle(int* out, const int* zero) {
    if (lane() < 16)
        out[threadIdx.x] = int(__popc(__ballot_sync(0xffffffff, 1))) + 100 + zero[0];
    else
        out[threadIdx.x] = __shfl_sync(0xffffffff, int(lane()), 20) + 200 + zero[1];
}

// A shuffle that reads a lane outside its mask, in a branch.
__global__ void shuffle_from_outside(int* out, const int*) {
    int got = -1;
    const int mine = int(lane()) + 100;
    if (lane() < 16) got = __shfl_sync(0x0000ffff, mine, 20);
    out[threadIdx.x] = got;
}

// A shuffle beyond the segment: lanes keep their own.
__global__ void shuffle_down_segment(int* out, const int*) {
    out[threadIdx.x] = __shfl_down_sync(0xffffffff, int(lane()), 3, 8);
}

// __syncwarp() in both branches: each with all lanes in its mask.
__global__ void syncwarp_in_both_branches(int* out, const int* zero) {
    if (lane() < 16) {
        __syncwarp();
        out[threadIdx.x] = 1 + zero[0];
    } else {
        __syncwarp();
        out[threadIdx.x] = 2 + zero[1];
    }
}

// --- progress ------------------------------------------------------------------------------------

__device__ int d_lock;
__device__ int d_counter;

// Every lane takes the lock in a loop of its own.
__global__ void lock_by_every_lane(int* out, const int*) {
    while (atomicCAS(&d_lock, 0, 1) != 0) {
    }
    __threadfence();
    const int seen = *(volatile int*)&d_counter;
    *(volatile int*)&d_counter = seen + 1;
    __threadfence();
    atomicExch(&d_lock, 0);
    out[threadIdx.x] = seen >= 0;
}

// The form that also worked before Volta: lock and unlock in one iteration.
__global__ void lock_with_done_flag(int* out, const int*) {
    bool done = false;
    while (!done) {
        if (atomicCAS(&d_lock, 0, 1) == 0) {
            __threadfence();
            *(volatile int*)&d_counter = *(volatile int*)&d_counter + 1;
            __threadfence();
            atomicExch(&d_lock, 0);
            done = true;
        }
    }
    out[threadIdx.x] = 1;
}

// One lane waits for a flag that another lane of the same warp sets after the branch.
__global__ void lane_waits_for_lane(int* out, const int*) {
    if (lane() == 0) {
        while (*(volatile int*)&d_lock == 0) {
        }
        out[threadIdx.x] = 1;
    } else {
        if (lane() == 5) *(volatile int*)&d_lock = 1;
        out[threadIdx.x] = 2;
    }
}

struct Case {
    const char* name;
    void (*kernel)(int*, const int*);
    int threads;
};
#define CASE(name, threads)                                                                        \
    { #name, name, threads }
const Case kCases[] = {
    CASE(barrier_in_both_branches, 64),
    CASE(count_in_both_branches, 64),
    CASE(barrier_in_one_branch, 64),
    CASE(barrier_others_end, 64),
    CASE(barrier_after_return, 64),
    CASE(count_after_warp_returned, 64),
    CASE(count_after_half_returned, 64),
    CASE(barrier_per_warp, 64),
    CASE(barrier_in_uneven_loop, 64),
    CASE(unaligned_in_both_branches, 64),
    CASE(mask_after_if, 32),
    CASE(mask_after_loop, 32),
    CASE(mask_after_switch, 32),
    CASE(mask_after_return, 32),
    CASE(mask_after_break, 32),
    CASE(mask_after_call, 32),
    CASE(mask_in_branches, 32),
    CASE(vote_with_exited_lanes, 32),
    CASE(vote_in_both_branches, 32),
    CASE(vote_and_shuffle, 32),
    CASE(shuffle_from_outside, 32),
    CASE(shuffle_down_segment, 32),
    CASE(syncwarp_in_both_branches, 32),
    CASE(lock_by_every_lane, 64),
    CASE(lock_with_done_flag, 64),
    CASE(lane_waits_for_lane, 32),
};

std::string runs(const std::vector<int>& values) {
    std::string text;
    for (size_t i = 0; i < values.size();) {
        size_t same = 1;
        while (i + same < values.size() && values[i + same] == values[i]) ++same;
        if (!text.empty()) text += ' ';
        if (same > 1) text += std::to_string(same) + " x ";
        text += std::to_string(values[i]);
        i += same;
        if (i < values.size()) text += ';';
    }
    return text;
}

void run(const Case& each) {
    int *out = nullptr, *zero = nullptr;
    CUDA_CHECK(cudaMalloc(&out, kMost * sizeof(int)));
    CUDA_CHECK(cudaMalloc(&zero, kMost * sizeof(int)));
    CUDA_CHECK(cudaMemset(out, 0xff, kMost * sizeof(int)));
    CUDA_CHECK(cudaMemset(zero, 0, kMost * sizeof(int)));
    const int free_lock = 0;
    CUDA_CHECK(cudaMemcpyToSymbol(d_lock, &free_lock, sizeof free_lock));
    CUDA_CHECK(cudaMemcpyToSymbol(d_counter, &free_lock, sizeof free_lock));
    each.kernel<<<1, each.threads>>>(out, zero);
    const cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        std::printf("%s: %s\n", each.name, cudaGetErrorName(error));
        return;
    }
    std::vector<int> values(each.threads);
    int counter = 0;
    CUDA_CHECK(cudaMemcpy(values.data(), out, values.size() * 4, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpyFromSymbol(&counter, d_counter, sizeof counter));
    std::printf("%s: %s", each.name, runs(values).c_str());
    if (std::strncmp(each.name, "lock_", 5) == 0) std::printf(" counter %d", counter);
    std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
    const std::string wanted = argc > 1 ? argv[1] : "--list";
    for (const Case& each : kCases) {
        if (wanted == "--list") std::printf("%s\n", each.name);
        if (wanted != each.name) continue;
        run(each);
        return 0;
    }
    return wanted == "--list" ? 0 : 2;
}
