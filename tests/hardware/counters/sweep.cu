// SPDX-License-Identifier: MIT
// Launches one warp for each line of a file of patterns.py: one memory instruction whose lanes
// touch the bytes that the line says. On a card Nsight Compute counts; on the emulated device the
// program prints that device's own counters. Usage: sweep FILE
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>

#include <dlfcn.h>

#include "common/emulator/emulator_api.h"
#include "cuda_check.h"

namespace {

constexpr int kSpan = 40 * 1024;

__constant__ uint32_t c_offset[32];

// The instructions. What is loaded is compared with `use`, which it never equals: else the
// assembler would leave the load out.
#define PLAIN_KERNELS(width, type, load, store, ...)                                               \
    __global__ void ld_global_##width(char* base, unsigned mask, unsigned use) {                   \
        const unsigned lane = threadIdx.x;                                                         \
        if (!(mask >> lane & 1)) return;                                                           \
        type v[4] = {};                                                                            \
        asm volatile("ld.global." load:__VA_ARGS__ : "l"(base + c_offset[lane]));                  \
        if (v[0] + v[1] + v[2] + v[3] == use) *reinterpret_cast<type*>(base) = v[0];               \
    }                                                                                              \
    __global__ void ld_shared_##width(char* base, unsigned mask, unsigned use) {                   \
        __shared__ __align__(16) char tile[kSpan];                                                 \
        const unsigned lane = threadIdx.x;                                                         \
        if (!(mask >> lane & 1)) return;                                                           \
        type v[4] = {};                                                                            \
        const char* p = tile + c_offset[lane];                                                     \
        asm volatile("ld.shared." load:__VA_ARGS__ : "l"(__cvta_generic_to_shared(p)));            \
        if (v[0] + v[1] + v[2] + v[3] == use) *reinterpret_cast<type*>(base) = v[0];               \
    }                                                                                              \
    __global__ void st_global_##width(char* base, unsigned mask, unsigned use) {                   \
        const unsigned lane = threadIdx.x;                                                         \
        if (!(mask >> lane & 1)) return;                                                           \
        const type v = type(use);                                                                  \
        asm volatile("st.global." store ::"l"(base + c_offset[lane]), STORED_##width(v));          \
    }                                                                                              \
    __global__ void st_shared_##width(char* base, unsigned mask, unsigned use) {                   \
        __shared__ __align__(16) char tile[kSpan];                                                 \
        const unsigned lane = threadIdx.x;                                                         \
        if (!(mask >> lane & 1)) return;                                                           \
        const type v = type(use);                                                                  \
        char* p = tile + c_offset[lane];                                                           \
        asm volatile("st.shared." store ::"l"(__cvta_generic_to_shared(p)), STORED_##width(v));    \
    }

#define STORED_1(v) "h"(v)
#define STORED_2(v) "h"(v)
#define STORED_4(v) "r"(v)
#define STORED_8(v) "r"(v), "r"(v)
#define STORED_16(v) "r"(v), "r"(v), "r"(v), "r"(v)

PLAIN_KERNELS(1, uint16_t, "u8 %0, [%1];", "u8 [%0], %1;", "=h"(v[0]))
PLAIN_KERNELS(2, uint16_t, "u16 %0, [%1];", "u16 [%0], %1;", "=h"(v[0]))
PLAIN_KERNELS(4, uint32_t, "u32 %0, [%1];", "u32 [%0], %1;", "=r"(v[0]))
PLAIN_KERNELS(8, uint32_t, "v2.u32 {%0, %1}, [%2];", "v2.u32 [%0], {%1, %2};", "=r"(v[0]),
              "=r"(v[1]))
PLAIN_KERNELS(16, uint32_t, "v4.u32 {%0, %1, %2, %3}, [%4];", "v4.u32 [%0], {%1, %2, %3, %4};",
              "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]))

#define ATOMIC_KERNEL(name, space, setup, type, letter, text)                                      \
    __global__ void name(char* base, unsigned mask, unsigned use) {                                \
        setup;                                                                                     \
        const unsigned lane = threadIdx.x;                                                         \
        if (!(mask >> lane & 1)) return;                                                           \
        type old = type(0), one = type(1);                                                         \
        asm volatile(text : "+" letter(old) : "l"(space(at + c_offset[lane])), letter(one));       \
        if (old == type(use)) *reinterpret_cast<type*>(base) = old;                                \
    }
#define SHARED_ARRAY                                                                               \
    __shared__ __align__(16) char tile[kSpan];                                                     \
    char* at = tile
#define GLOBAL_ARRAY char* at = base

ATOMIC_KERNEL(red_shared_add_u32, __cvta_generic_to_shared, SHARED_ARRAY, uint32_t, "r",
              "red.shared.add.u32 [%1], %2;")
ATOMIC_KERNEL(atom_shared_add_u32, __cvta_generic_to_shared, SHARED_ARRAY, uint32_t, "r",
              "atom.shared.add.u32 %0, [%1], %2;")
ATOMIC_KERNEL(atom_shared_cas_b32, __cvta_generic_to_shared, SHARED_ARRAY, uint32_t, "r",
              "atom.shared.cas.b32 %0, [%1], %0, %2;")
ATOMIC_KERNEL(atom_shared_exch_b32, __cvta_generic_to_shared, SHARED_ARRAY, uint32_t, "r",
              "atom.shared.exch.b32 %0, [%1], %2;")
ATOMIC_KERNEL(atom_shared_add_u64, __cvta_generic_to_shared, SHARED_ARRAY, uint64_t, "l",
              "atom.shared.add.u64 %0, [%1], %2;")
ATOMIC_KERNEL(atom_shared_add_f32, __cvta_generic_to_shared, SHARED_ARRAY, float, "f",
              "atom.shared.add.f32 %0, [%1], %2;")
ATOMIC_KERNEL(red_global_add_u32, , GLOBAL_ARRAY, uint32_t, "r", "red.global.add.u32 [%1], %2;")
ATOMIC_KERNEL(red_global_add_f32, , GLOBAL_ARRAY, float, "f", "red.global.add.f32 [%1], %2;")
ATOMIC_KERNEL(red_global_add_u64, , GLOBAL_ARRAY, uint64_t, "l", "red.global.add.u64 [%1], %2;")
ATOMIC_KERNEL(atom_global_add_u32, , GLOBAL_ARRAY, uint32_t, "r",
              "atom.global.add.u32 %0, [%1], %2;")
ATOMIC_KERNEL(atom_global_cas_b32, , GLOBAL_ARRAY, uint32_t, "r",
              "atom.global.cas.b32 %0, [%1], %0, %2;")
ATOMIC_KERNEL(atom_global_exch_b64, , GLOBAL_ARRAY, uint64_t, "l",
              "atom.global.exch.b64 %0, [%1], %2;")

using Kernel = void (*)(char*, unsigned, unsigned);

#define PLAIN_ENTRIES(width)                                                                       \
    {"ld.global " #width, ld_global_##width}, {"st.global " #width, st_global_##width},            \
        {"ld.shared " #width, ld_shared_##width}, {                                                \
        "st.shared " #width, st_shared_##width                                                     \
    }

const std::map<std::string, Kernel> kKernels = {
    PLAIN_ENTRIES(1),
    PLAIN_ENTRIES(2),
    PLAIN_ENTRIES(4),
    PLAIN_ENTRIES(8),
    PLAIN_ENTRIES(16),
    {"red.shared.add.u32 4", red_shared_add_u32},
    {"atom.shared.add.u32 4", atom_shared_add_u32},
    {"atom.shared.cas.b32 4", atom_shared_cas_b32},
    {"atom.shared.exch.b32 4", atom_shared_exch_b32},
    {"atom.shared.add.u64 8", atom_shared_add_u64},
    {"atom.shared.add.f32 4", atom_shared_add_f32},
    {"red.global.add.u32 4", red_global_add_u32},
    {"red.global.add.f32 4", red_global_add_f32},
    {"red.global.add.u64 8", red_global_add_u64},
    {"atom.global.add.u32 4", atom_global_add_u32},
    {"atom.global.cas.b32 4", atom_global_cas_b32},
    {"atom.global.exch.b64 8", atom_global_exch_b64},
};

}  // namespace

int main(int argc, char** argv) {
    std::ifstream file(argc > 1 ? argv[1] : "");
    if (!file) {
        std::fprintf(stderr, "usage: sweep FILE, which patterns.py writes\n");
        return 2;
    }
    const auto reset = (void (*)())dlsym(RTLD_DEFAULT, "emulatorCountersReset");
    const auto get = (int (*)(EmulatorCounters*))dlsym(RTLD_DEFAULT, "emulatorCountersGet");
    char* base = nullptr;
    CUDA_CHECK(cudaMalloc(&base, kSpan));
    CUDA_CHECK(cudaMemset(base, 0, kSpan));
    int id, width;
    unsigned mask;
    std::string kind;
    if (get) std::printf("id,global_load,global_store,shared_load,shared_store,shared_atomic\n");
    while (file >> id >> kind >> width >> mask) {
        uint32_t offset[32];
        for (uint32_t& each : offset) file >> each;
        CUDA_CHECK(cudaMemcpyToSymbol(c_offset, offset, sizeof offset));
        const auto kernel = kKernels.find(kind + " " + std::to_string(width));
        if (kernel == kKernels.end()) {
            std::fprintf(stderr, "sweep: no kernel for %s of %d bytes\n", kind.c_str(), width);
            return 2;
        }
        if (reset) reset();
        kernel->second<<<1, 32>>>(base, mask, 0x5a5a5a5a);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaDeviceSynchronize());
        EmulatorCounters c{};
        c.size = sizeof c;
        if (get && get(&c) == 0) {
            std::printf("%d,%llu %llu,%llu %llu,%llu %llu,%llu %llu\n",
                        id,
                        (unsigned long long)c.global_load_requests,
                        (unsigned long long)c.global_load_sectors,
                        (unsigned long long)c.global_store_requests,
                        (unsigned long long)c.global_store_sectors,
                        (unsigned long long)c.shared_load_wavefronts,
                        (unsigned long long)c.shared_load_conflicts,
                        (unsigned long long)c.shared_store_wavefronts,
                        (unsigned long long)c.shared_store_conflicts);
        }
    }
    CUDA_CHECK(cudaFree(base));
}
