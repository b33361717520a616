// SPDX-License-Identifier: MIT
// Functions of the emulated device beyond the CUDA runtime API. Only the emulator's
// libcudart exports these functions: look them up with dlsym, so that the same program also runs on
// NVIDIA's library (as common/harness/lesson_test.h does).
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Sums over all launches since the last reset. Definitions: COUNTERS.md.
typedef struct EmulatorCounters {
    uint64_t size;  // set by the caller to sizeof(EmulatorCounters)
    uint64_t launches, blocks, warps, threads;
    uint64_t warp_instructions, thread_instructions;
    uint64_t branches, divergent_branches;  // conditional, per warp (PTX model)
    uint64_t global_load_requests, global_load_sectors,
        global_load_bytes;  // bytes that the threads requested
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
    uint64_t double_instructions;        // warp instructions of 64-bit floating-point arithmetic
    uint64_t busiest_warp_instructions;  // of the busiest warp of each launch, summed over launches
    uint64_t matrix_products;            // of two elements, by wmma and mma: 4096 for one m16n16k16
} EmulatorCounters;

void emulatorCountersReset(void);                     // also starts to count
int emulatorCountersGet(EmulatorCounters* counters);  // 0: ok, 1: counters are switched off

// The counts of one line of the user's source within one kernel, since the last reset.
typedef struct EmulatorLine {
    uint64_t size;  // set by the caller to sizeof(EmulatorLine)
    uint64_t line;
    uint64_t warp_instructions, thread_instructions;
    uint64_t global_load_requests, global_load_sectors, global_load_bytes;
    uint64_t global_store_requests, global_store_sectors, global_store_bytes;
    uint64_t shared_load_conflicts, shared_store_conflicts;
    uint64_t atomics;  // global and shared, one per active thread
    uint64_t barriers, branches, divergent_branches;
    char kernel[96];
    char file[96];  // without its folder
} EmulatorLine;
// `index`: start with 0, which computes the list. 0: ok, 1: there is no such line.
int emulatorCountersLine(uint32_t index, EmulatorLine* line);
// The number of errors and of warnings reported since the process began.
void emulatorFindingsCount(uint64_t* errors, uint64_t* warnings);

// For a program that grades other code: findings are passed to `sink` as JSON lines as soon as they
// are found, instead of being written to a file, and counters are never reset: a reset only starts
// counting. Works once, before the library's constructors have run. 0: ok, 1: too late.
//   {"event": "device"}                                   the device works; nothing has run yet
//   {"event": "finding", "index": 0, "finding": {...}}    the same index again: its count has grown
//   {"event": "device-end", "findings": 1, "launches": 3} with last = 1: the process is ending
int emulatorReportTo(void (*sink)(const char* line, uint64_t bytes, int last));

// Sets the memory of each device in bytes, like EMULATOR_MEMORY: 1 MiB to 1 TiB. Only pages that a
// program touches take host memory. 0: ok, 1: not in that range.
int emulatorMemorySet(uint64_t bytes);

// Gives the program this many devices, like EMULATOR_DEVICES: up to 16, and not fewer than there
// are. 0: ok, 1: not in that range.
int emulatorDevicesSet(uint32_t devices);

// For libraries whose code on the host uses memory that the program gave them (MPI): `api`, the
// function that was called, reads or writes these bytes now. Reports host-dereference if they are
// in device memory, and race-global if they are in managed or pinned memory that a kernel or a copy
// still uses. 0: host code can access them, 1: it cannot.
int emulatorHostUse(const char* api, const void* address, uint64_t bytes, int writes);

// The source of device code that the program compiles at run time: `file` is its name, as the
// compiler was given it. Findings then show its lines and the names of its parameters.
void emulatorSourceSet(const char* file, const char* text);

// When the work of a program would run on a card, by the model of TIMELINE.md. Times are in
// nanoseconds of a clock that begins with emulatorTimelineStart.
typedef enum EmulatorIntervalKind {
    EMULATOR_INTERVAL_KERNEL,
    EMULATOR_INTERVAL_TO_DEVICE,  // a copy from the host
    EMULATOR_INTERVAL_TO_HOST,
    EMULATOR_INTERVAL_ON_DEVICE,  // a copy within a device or between two
    EMULATOR_INTERVAL_FILL,
    EMULATOR_INTERVAL_HOST_WAIT  // the host waits: not work of a stream
} EmulatorIntervalKind;
typedef struct EmulatorInterval {
    uint64_t size;    // set by the caller to sizeof(EmulatorInterval)
    uint32_t kind;    // EmulatorIntervalKind
    uint32_t device;  // its number
    uint64_t stream;  // as cudaStreamGetId gives it; 0 is the default stream
    uint64_t begin, end;
    uint64_t bytes;     // copied or filled; of a kernel: of the sectors that it accesses
    uint32_t pageable;  // 1: a copy from or to memory that is not pinned
    uint32_t line;      // of the call, 0 if unknown
    char name[96];      // of the kernel, or of the function that was called
    char file[96];      // without its folder
} EmulatorInterval;
void emulatorTimelineStart(void);  // forgets what there was
// `index`: 0, 1, 2, ... in the order of the calls. 0: ok, 1: there is no such interval.
int emulatorTimelineGet(uint32_t index, EmulatorInterval* interval);
uint64_t emulatorTimelineHost(void);  // the time that the host has reached

// The last writer of a word of device memory. Only with EMULATOR_WRITERS=1.
typedef struct EmulatorWriter {
    uint64_t size;    // set by the caller to sizeof(EmulatorWriter)
    uint64_t launch;  // 1, 2, 3, ... in the process
    // 0: not written since its allocation, 1: a kernel, 2: the host (copy or memset), 3: a kernel
    // of a library, of which no more is known
    uint32_t by;
    uint32_t line;  // of the store, 0 if unknown; this and the members below are for kernels only
    uint32_t grid[3], block_size[3], block[3], thread[3];
    char kernel[96];
    char file[96];  // without its folder
} EmulatorWriter;
int emulatorWriterOf(uint64_t address, EmulatorWriter* writer);  // 0: ok, 1: not known

// The launches of this process, counted back from the last one (ago = 0); the last 16 are kept.
// Only with EMULATOR_WRITERS=1.
typedef struct EmulatorLaunch {
    uint64_t size;  // set by the caller to sizeof(EmulatorLaunch)
    uint64_t serial;
    uint32_t grid[3], block_size[3];
    char kernel[96];
} EmulatorLaunch;
int emulatorRecentLaunch(uint32_t ago, EmulatorLaunch* launch);  // 0: ok, 1: there is none

// The line of the user's own source for a place in host code, from the program's debug information.
// `path`: addresses of instructions, innermost first, then those of its callers.
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
