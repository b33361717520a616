// SPDX-License-Identifier: MIT
// What stand-ins for NVIDIA's libraries (cuBLAS, cuFFT, ...) ask of the emulated device: to run one
// of their kernels. The stand-in computes on the host; the device checks the operands first, so
// that bounds, freed and unwritten memory, and races between streams are found as in any kernel.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runtime/core/export.h"

namespace emulator {

// Device memory that a kernel of a library reads or writes: `rows` rows of `row_bytes`, `pitch`
// bytes apart, and that `slices` times. (What BLAS calls a column is a row here: it is contiguous.)
struct Operand {
    const char* name;     // of the function's parameter: "A"
    const void* address;  // as the program passed it
    uint64_t row_bytes = 0;
    uint64_t rows = 1;
    uint64_t pitch = 0;
    bool reads = true, writes = false;
    // Where only the run-time value of another operand says whether this one is read (a `beta` in
    // device memory): at[i] is where operand i begins in this process. Null: as `reads` says.
    std::function<bool(std::byte* const* at)> reads_if = nullptr;
    uint64_t slices = 1, slice_pitch = 0;
    // Of a triangular matrix only one triangle is accessed, with the diagonal or without.
    enum class Part : uint8_t {
        kAll,
        kFromDiagonal,
        kAfterDiagonal,
        kToDiagonal,
        kBeforeDiagonal,
    } part = Part::kAll;
    uint32_t element_bytes = 0;  // with a part
};

struct LibraryKernel {
    const char* api = nullptr;  // the function that the program called: "cublasSgemm_v2"
    cudaStream_t stream = nullptr;
    std::vector<Operand> operands;
    // Computes; at[i] is where operands[i] begins in this process. May run many times, and later:
    // a graph may have captured it.
    std::function<void(std::byte* const* at)> compute;
    bool waits = false;  // the call returns when the work is done: its result goes to the host
};

}  // namespace emulator

// Checks the operands, reports the accesses, and computes. cudaErrorInvalidValue: an operand does
// not lie in live memory of the device; nothing has been computed, and there is a finding. Else
// the errors of a launch.
EMULATOR_API cudaError_t emulatorRunLibraryKernel(const emulator::LibraryKernel& kernel);

// The shared library with this address in its code is a stand-in: calls from it are attributed to
// its callers.
EMULATOR_API void emulatorAddLibrary(const void* address);

// `api` has failed, with the status of that name. If the program ignores the result, that is a
// finding.
EMULATOR_API void emulatorLibraryFailed(const char* api, const char* status);

// `api` is not implemented: says so once.
EMULATOR_API void emulatorLibraryLacks(const char* api);

// A finding about how a library is used, with the code `library-misuse`: the message is a sentence.
EMULATOR_API void emulatorLibraryMisuse(const char* api, const std::string& message);

// Identifies the place in the program that has called the library.
EMULATOR_API uint64_t emulatorLibraryCaller();
