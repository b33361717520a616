// SPDX-License-Identifier: MIT
// A plan of the stand-in for cuFFT: the kind of transform, and the layout of its elements.
#pragma once

#include <optional>
#include <vector>

#include "cufft.h"
#include "stand_in.h"

namespace fft {

// The layout of the input or the output, in elements (cuFFT, "Advanced Data Layout"): the elements
// of a transform are `stride` apart, in rows of `embed` elements, and the transforms of a batch are
// `distance` apart.
struct Side {
    std::vector<int> n;      // accessed, by dimension; the last may be n/2 + 1
    std::vector<int> embed;  // allocated, by dimension; the first has no meaning
    int stride = 1, distance = 0;

    stand_in::Operand operand(const char* name, const void* data, uint64_t element_bytes,
                              int batch) const;
    // Whether operand() can describe the layout: no more than three levels of regular gaps.
    bool describable(int batch) const;
};

struct Plan {
    cufftType type{};
    std::vector<int> n;  // empty: not planned yet
    int batch = 1;
    bool packed = true;  // the default layout, in which an in-place transform pads its rows
    Side in, out;        // of a transform from one array to another
    cudaStream_t stream = nullptr;

    bool is_double() const { return type & 0x40; }
    // The layouts of input and output. In place, rows of real numbers are padded.
    std::pair<Side, Side> sides(bool in_place) const;
};

// Implements cufftMakePlanMany; null embeds select the default layout.
cufftResult make(Plan& plan, int rank, const int* n, const int* inembed, int istride, int idist,
                 const int* onembed, int ostride, int odist, cufftType type, int batch);

const char* status_name(cufftResult status);
cufftResult finish(const char* name, cufftResult status);

}  // namespace fft
