// SPDX-License-Identifier: MIT
// A plan of the stand-in for cuFFT: which transform, and where its elements lie.
#pragma once

#include <optional>
#include <vector>

#include "cufft.h"
#include "stand_in.h"

namespace fft {

// Where one side's elements lie, in elements: those of one transform `stride` apart in rows of
// `embed` of them, the transforms of a batch `distance` apart (cuFFT, "Advanced Data Layout").
struct Side {
    std::vector<int> n;      // accessed, by dimension; the last may be n/2 + 1
    std::vector<int> embed;  // allocated, by dimension; the first has no meaning
    int stride = 1, distance = 0;

    stand_in::Operand operand(const char* name, const void* data, uint64_t element_bytes,
                              int batch) const;
    // Whether operand() can say where the elements lie.
    bool describable() const;
};

struct Plan {
    cufftType type{};
    std::vector<int> n;  // empty: not made yet
    int batch = 1;
    bool packed = true;  // the default layout, in which an in-place transform pads its rows
    Side in, out;        // of a transform from one array to another
    cudaStream_t stream = nullptr;

    bool is_double() const { return type & 0x40; }
    // The two sides for these arrays: rows of reals are padded if they are the same.
    std::pair<Side, Side> sides(bool in_place) const;
};

// Fills `plan` as cufftMakePlanMany does; null embeds mean the default layout.
cufftResult make(Plan& plan, int rank, const int* n, const int* inembed, int istride, int idist,
                 const int* onembed, int ostride, int odist, cufftType type, int batch);

const char* status_name(cufftResult status);
cufftResult finish(const char* name, cufftResult status);

}  // namespace fft
