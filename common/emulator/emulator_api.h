// SPDX-License-Identifier: MIT
// What a program may ask the emulated device beyond the CUDA runtime API. The functions are
// exported by the emulator's libcudart only: look them up with dlsym, so that the same program
// also runs on NVIDIA's library (tests/support/lesson_test.h does).
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Sums over all launches since the last reset. Definitions: common/README.md, "Counters".
typedef struct EmulatorCounters {
    uint64_t size;  // set by the caller to sizeof(EmulatorCounters)
    uint64_t launches, blocks, warps, threads;
    uint64_t warp_instructions, thread_instructions;
    uint64_t branches, divergent_branches;  // conditional, per warp (PTX model)
    uint64_t global_load_requests, global_load_sectors,
        global_load_bytes;  // bytes the threads asked for
    uint64_t global_store_requests, global_store_sectors, global_store_bytes;
    uint64_t global_atomics;          // one per active thread, atom and red
    uint64_t global_atomic_requests;  // one per warp instruction
    uint64_t shared_load_requests, shared_load_wavefronts, shared_load_conflicts;
    uint64_t shared_store_requests, shared_store_wavefronts, shared_store_conflicts;
    uint64_t shared_atomics, shared_atomic_requests;
    uint64_t local_load_requests, local_store_requests;
    uint64_t block_barriers;  // completed barriers, once per block
    uint64_t warp_syncs;
    uint64_t host_to_device_bytes, device_to_host_bytes, device_to_device_bytes;
    uint64_t device_allocations, device_frees;
    uint64_t double_instructions;  // warp instructions of 64-bit floating-point arithmetic
} EmulatorCounters;

void emulatorCountersReset(void);
int emulatorCountersGet(EmulatorCounters* counters);  // 0: ok, 1: counters are switched off
// Findings reported so far with severity error; warnings; both since the process began.
void emulatorFindingsCount(uint64_t* errors, uint64_t* warnings);

// Who wrote a word of device memory last. Only with EMULATOR_WRITERS=1.
typedef struct EmulatorWriter {
    uint64_t size;    // set by the caller to sizeof(EmulatorWriter)
    uint64_t launch;  // 1, 2, 3, ... in the process
    uint32_t by;      // 0: nobody since it was allocated, 1: a kernel, 2: the host (copy or memset)
    uint32_t line;    // of the store, 0 if unknown; like all that follows: of a kernel only
    uint32_t grid[3], block_size[3], block[3], thread[3];
    char kernel[96];
    char file[96];  // without its folder
} EmulatorWriter;
int emulatorWriterOf(uint64_t address, EmulatorWriter* writer);  // 0: ok, 1: not known

// The launches of this process, the last one is 0 ago; the last 16 are kept. Likewise.
typedef struct EmulatorLaunch {
    uint64_t size;  // set by the caller to sizeof(EmulatorLaunch)
    uint64_t serial;
    uint32_t grid[3], block_size[3];
    char kernel[96];
} EmulatorLaunch;
int emulatorRecentLaunch(uint32_t ago, EmulatorLaunch* launch);  // 0: ok, 1: there is none

// The line of the user's own source in which host code stands, from the program's debug
// information. `path`: addresses of instructions, the innermost first, then those of its callers.
typedef struct EmulatorSource {
    uint64_t size;  // set by the caller to sizeof(EmulatorSource)
    uint32_t line;
    char file[96];  // without its folder
} EmulatorSource;
int emulatorSourceOf(const uint64_t* path, uint32_t length,
                     EmulatorSource* source);  // 0: ok, 1: not known

#ifdef __cplusplus
}
#endif
