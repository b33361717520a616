// SPDX-License-Identifier: MIT
// The interface between the emulated device and stand-ins for NVIDIA's libraries (cuBLAS, cuFFT,
// ...). A stand-in computes on the host; the device checks the operands first, so that accesses out
// of bounds or to freed or unwritten memory, and races between streams, are reported as for any
// kernel.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runtime/core/export.h"

namespace emulator {

// Device memory that a library's kernel reads or writes: `slices` slices of `rows` rows of
// `row_bytes`, the rows `pitch` bytes apart. (A column of BLAS is a row here, since it is
// contiguous.)
struct Operand {
    const char* name;     // of the function's parameter: "A"
    const void* address;  // as the program passed it
    uint64_t row_bytes = 0;
    uint64_t rows = 1;
    uint64_t pitch = 0;
    bool reads = true, writes = false;
    // For an operand that is read depending on the value of another one (a `beta` in device
    // memory): at[i] is where operand i begins in this process. Null: `reads` decides.
    std::function<bool(std::byte* const* at)> reads_if = nullptr;
    uint64_t slices = 1, slice_pitch = 0;
    // Only one triangle of a triangular matrix is accessed, with or without the diagonal.
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
    // Computes; at[i] is where operands[i] begins in this process. May run later and repeatedly,
    // if a graph has captured it.
    std::function<void(std::byte* const* at)> compute;
    bool waits =
        false;  // the call returns when the work is done, since it returns a result to the host
};

}  // namespace emulator

// Checks the operands, reports the accesses, and computes. Returns cudaErrorInvalidValue, with a
// finding and without computing, if an operand is not in live device memory; otherwise the errors
// of a launch.
EMULATOR_API cudaError_t emulatorRunLibraryKernel(const emulator::LibraryKernel& kernel);

// Registers the shared library that contains this code address as a stand-in: calls from it are
// attributed to its callers.
EMULATOR_API void emulatorAddLibrary(const void* address);

// Reports that `api` has failed with the status of that name. If the program ignores the result,
// that is a finding.
EMULATOR_API void emulatorLibraryFailed(const char* api, const char* status);

// Prints once that `api` is not implemented.
EMULATOR_API void emulatorLibraryLacks(const char* api);

// Reports a `library-misuse` finding with this message. `kind`: what is wrong, in one word, for
// programs that read findings.
EMULATOR_API void emulatorLibraryMisuse(const char* api, const char* kind,
                                        const std::string& message);

// Identifies the place in the program that called the library.
EMULATOR_API uint64_t emulatorLibraryCaller();
