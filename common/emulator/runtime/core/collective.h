// SPDX-License-Identifier: MIT
// The interface between the emulated device and the stand-in for NCCL: work of several devices that
// begins when all have arrived, and findings about calls of several ranks.
#pragma once

#include "runtime/core/library_kernel.h"

namespace emulator {

// What one rank does in a collective: a kernel in a stream of its device.
struct CollectivePart {
    const char* api = nullptr;
    int device = 0;
    cudaStream_t stream = nullptr;  // null: the default stream of `device`
    uint64_t site = 0;              // emulatorLibraryCaller() in the rank's own call
    int rank = 0;
    std::vector<Operand> operands;
    // The part that takes has waited for all parts that give: a root gives in a broadcast, and
    // takes in a reduction.
    bool gives = true, takes = true;
};

struct Collective {
    std::vector<CollectivePart> parts;
    // For the model timeline: what each device sends over its links, and how many messages have to
    // follow one another.
    uint64_t link_bytes = 0;
    uint32_t steps = 0;
    // Computes for all ranks; at[i][k] is where operand k of part i begins in this process.
    std::function<void(const std::vector<std::vector<std::byte*>>& at)> compute;
};

// A mistake that concerns several ranks.
struct CollectiveFinding {
    enum class Kind : uint8_t { kDeadlock, kMismatch, kMisuse } kind = Kind::kMisuse;
    const char* api = nullptr;
    std::string detail;  // what is wrong, in one word, for programs that read findings
    std::string message;
    uint64_t site = 0;
    // What each rank does; its line is added: "rank 0 waits in `ncclAllReduce`" + " on line 12".
    struct Note {
        uint64_t site;
        std::string text;
    };
    std::vector<Note> notes;
};

}  // namespace emulator

// Checks the operands of all parts, then runs each part as a kernel in its stream. Nothing is
// computed if an operand is not memory that its device may access: there is a finding then, and the
// result is cudaErrorInvalidValue. A stream of another device: cudaErrorInvalidResourceHandle.
EMULATOR_API cudaError_t emulatorRunCollective(const emulator::Collective& collective);

EMULATOR_API void emulatorReportCollective(const emulator::CollectiveFinding& finding);
