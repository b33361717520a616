// SPDX-License-Identifier: MIT
// Launches whose counters are known by hand: sectors, wavefronts, atomics, branches, copies,
// doubles, products of matrices.
#include <cstdint>
#include <cstdio>
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <mma.h>

#include "../../../common/emulator/emulator_api.h"

using namespace nvcuda;

static EmulatorCounters counters;
static int wrong = 0;

static void reset() {
    auto call = (void (*)())dlsym(RTLD_DEFAULT, "emulatorCountersReset");
    if (call) call();
}

static bool get() {
    auto call = (int (*)(EmulatorCounters*))dlsym(RTLD_DEFAULT, "emulatorCountersGet");
    counters.size = sizeof counters;
    if (call && call(&counters) == 0) return true;
    std::printf("no counters\n");
    ++wrong;
    return false;
}

#define SAME(field, want)                                                                          \
    if (counters.field != (want)) {                                                                \
        std::printf("line %d: %s is %llu, want %llu\n",                                            \
                    __LINE__,                                                                      \
                    #field,                                                                        \
                    (unsigned long long)counters.field,                                            \
                    (unsigned long long)(want));                                                   \
        ++wrong;                                                                                   \
    }

__global__ void copy(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i];
}

__global__ void strided(const float* in, float* out, int stride) {
    out[threadIdx.x] = in[threadIdx.x * stride];
}

__global__ void wide(const float4* in, float4* out) {
    out[threadIdx.x] = in[threadIdx.x];
}

__global__ void transpose(const float* in, float* out) {
    __shared__ float tile[32][32];
    tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

__global__ void count(int* bins) {
    atomicAdd(&bins[threadIdx.x % 4], 1);
}

// A literal without its f: the float becomes a double, is multiplied, and becomes a float again.
__global__ void scale(const float* in, float* out) {
    out[threadIdx.x] = in[threadIdx.x] * 0.1;
}

__global__ void pick(const double* in, double* out, bool first) {
    out[threadIdx.x] = first ? in[threadIdx.x] : in[threadIdx.x + 64];
}

// Two products of a warp: of matrices in shared memory, in rows of kPitch halves, and in global.
template <int kPitch>
__global__ void multiply(const half* in, float* out) {
    __shared__ alignas(32) half tile[16 * kPitch];
    for (int i = threadIdx.x; i < 8 * kPitch; i += 32) reinterpret_cast<unsigned*>(tile)[i] = 0;
    __syncwarp();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    wmma::load_matrix_sync(a, tile, kPitch);
    wmma::load_matrix_sync(b, tile, kPitch);
    wmma::mma_sync(sum, a, b, sum);
    wmma::load_matrix_sync(a, in, 16);
    wmma::load_matrix_sync(b, in, 16);
    wmma::mma_sync(sum, a, b, sum);
    wmma::store_matrix_sync(out, sum, 16, wmma::mem_row_major);
}

int main() {
    const int n = 1000;
    float *in, *out;
    reset();
    cudaMalloc(&in, 4096 * sizeof(float));
    cudaMalloc(&out, 4096 * sizeof(float));
    cudaMemset(in, 0, 4096 * sizeof(float));
    static float host[n];
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    if (!get()) return 1;
    SAME(device_allocations, 2)
    SAME(host_to_device_bytes, sizeof host)
    SAME(launches, 0)

    reset();
    copy<<<4, 256>>>(in, out, n);
    get();
    SAME(launches, 1)
    SAME(blocks, 4)
    SAME(warps, 32)
    SAME(threads, 1024)
    SAME(global_load_requests, 32)
    SAME(global_load_sectors, 125)
    SAME(global_store_bytes, n * sizeof(float))
    SAME(global_store_sectors, 125)
    SAME(branches, 32)
    SAME(divergent_branches, 1)
    SAME(device_allocations, 0)

    reset();
    strided<<<1, 32>>>(in, out, 2);
    strided<<<1, 32>>>(in, out, 32);
    strided<<<1, 32>>>(in + 1, out, 1);
    get();
    SAME(launches, 3)
    SAME(global_load_sectors, 8 + 32 + 5)
    SAME(global_store_sectors, 12)

    reset();
    wide<<<1, 32>>>((const float4*)in, (float4*)out);
    get();
    SAME(global_load_requests, 1)
    SAME(global_load_sectors, 16)
    SAME(global_load_bytes, 512)

    reset();
    transpose<<<1, dim3(32, 32)>>>(in, out);
    get();
    SAME(shared_store_requests, 32)
    SAME(shared_store_conflicts, 0)
    SAME(shared_load_requests, 32)
    SAME(shared_load_wavefronts, 32 * 32)
    SAME(shared_load_conflicts, 32 * 31)
    SAME(block_barriers, 1)

    reset();
    cudaMemset(in, 0, 16);
    count<<<2, 64>>>((int*)in);
    cudaMemcpy(host, in, 16, cudaMemcpyDeviceToHost);
    get();
    SAME(global_atomics, 128)
    SAME(global_atomic_requests, 4)
    SAME(device_to_host_bytes, 16)

    reset();
    scale<<<1, 64>>>(in, out);
    get();
    SAME(double_instructions, 2 * 3)

    // Each launch counts with the warp that executed the most, all of its instructions.
    reset();
    scale<<<1, 32>>>(in, out);
    get();
    const uint64_t one_warp = counters.warp_instructions;
    SAME(busiest_warp_instructions, one_warp)
    scale<<<3, 64>>>(in, out);
    get();
    SAME(warp_instructions, 7 * one_warp)
    SAME(busiest_warp_instructions, 2 * one_warp)

    reset();
    pick<<<1, 64>>>((double*)in, (double*)out, true);
    copy<<<1, 64>>>(in, out, 64);
    get();
    SAME(double_instructions, 0)

    reset();
    multiply<40><<<2, 32>>>((half*)in, out);
    get();
    SAME(matrix_products, 2 * 2 * 4096)
    SAME(shared_load_requests, 2 * 2)
    SAME(shared_load_wavefronts, 2 * 2 * 4)
    SAME(shared_load_conflicts, 0)
    SAME(shared_store_conflicts, 0)
    SAME(global_load_requests, 2 * 2 * 4)
    SAME(global_load_sectors, 2 * 2 * 4 * 8)
    SAME(global_store_requests, 2 * 4)
    SAME(global_store_sectors, 2 * 4 * 8)

    reset();
    multiply<32><<<1, 32>>>((half*)in, out);  // every other row begins in the same bank
    get();
    SAME(shared_load_conflicts, 2 * 4 * 3)

    cudaFree(in);
    cudaFree(out);
    return wrong;
}
