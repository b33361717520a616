// SPDX-License-Identifier: MIT
// The layouts of transforms.
#include "fft/plan.h"

#include <algorithm>

namespace fft {
namespace {

int64_t product(const std::vector<int>& sizes, size_t first = 0) {
    int64_t all = 1;
    for (size_t i = first; i < sizes.size(); ++i) all *= sizes[i];
    return all;
}

bool is_real_input(cufftType type) {
    return type == CUFFT_R2C || type == CUFFT_D2Z;
}
bool is_real_output(cufftType type) {
    return type == CUFFT_C2R || type == CUFFT_Z2D;
}

std::vector<int> halved(std::vector<int> n) {
    n.back() = n.back() / 2 + 1;
    return n;
}

Side packed_side(std::vector<int> n, std::vector<int> embed) {
    const int distance = int(product(embed));
    return {std::move(n), std::move(embed), 1, distance};
}

}  // namespace

namespace {

// `count` elements, or groups of them, that are `pitch` elements apart.
struct Level {
    int64_t count, pitch;
};

// All accessed elements of a batch, from the smallest pitch to the largest; levels that follow each
// other without a gap are one.
std::vector<Level> levels(const Side& side, int batch) {
    std::vector<Level> all = {{batch, side.distance}};
    int64_t pitch = side.stride;
    for (size_t i = side.n.size(); i-- > 0; pitch *= side.embed[i])
        all.push_back({side.n[i], pitch});
    all.erase(std::remove_if(all.begin(), all.end(), [](Level one) { return one.count == 1; }),
              all.end());
    std::stable_sort(all.begin(), all.end(), [](Level a, Level b) { return a.pitch < b.pitch; });
    std::vector<Level> merged = {{1, 1}};  // an element
    for (const Level& next : all) {
        Level& last = merged.back();
        if (next.pitch == last.count * last.pitch)
            last.count *= next.count;
        else
            merged.push_back(next);
    }
    return merged;
}

}  // namespace

bool Side::describable(int batch) const {
    return levels(*this, batch).size() <= 3;
}

stand_in::Operand Side::operand(const char* name, const void* data, uint64_t element_bytes,
                                int batch) const {
    std::vector<Level> all = levels(*this, batch);
    all.resize(3, {1, 0});
    stand_in::Operand operand{name, data};
    operand.row_bytes = uint64_t(all[0].count) * element_bytes;
    operand.rows = uint64_t(all[1].count);
    operand.pitch = uint64_t(all[1].pitch) * element_bytes;
    operand.slices = uint64_t(all[2].count);
    operand.slice_pitch = uint64_t(all[2].pitch) * element_bytes;
    return operand;
}

std::pair<Side, Side> Plan::sides(bool in_place) const {
    if (!packed || !in_place || type == CUFFT_C2C || type == CUFFT_Z2Z) return {in, out};
    std::vector<int> padded = n;
    padded.back() = 2 * (n.back() / 2 + 1);
    const Side reals = packed_side(n, padded);
    return is_real_input(type) ? std::pair{reals, out} : std::pair{in, reals};
}

cufftResult make(Plan& plan, int rank, const int* n, const int* inembed, int istride, int idist,
                 const int* onembed, int ostride, int odist, cufftType type, int batch) {
    if (type != CUFFT_C2C && type != CUFFT_R2C && type != CUFFT_C2R && type != CUFFT_Z2Z &&
        type != CUFFT_D2Z && type != CUFFT_Z2D)
        return CUFFT_INVALID_TYPE;
    if (rank < 1 || rank > 3 || !n) return CUFFT_INVALID_SIZE;
    for (int i = 0; i < rank; ++i)
        if (n[i] < 1) return CUFFT_INVALID_SIZE;
    if (batch < 1) return CUFFT_INVALID_SIZE;
    Plan made = plan;
    made.type = type;
    made.n.assign(n, n + rank);
    made.batch = batch;
    made.packed = !inembed || !onembed;
    const std::vector<int> half = halved(made.n);
    const std::vector<int>& in = is_real_output(type) ? half : made.n;
    const std::vector<int>& out = is_real_input(type) ? half : made.n;
    if (made.packed) {
        made.in = packed_side(in, in);
        made.out = packed_side(out, out);
    } else {
        if (istride < 1 || ostride < 1 || idist < 0 || odist < 0) return CUFFT_INVALID_VALUE;
        made.in = {in, {inembed, inembed + rank}, istride, idist};
        made.out = {out, {onembed, onembed + rank}, ostride, odist};
        for (int i = 1; i < rank; ++i)
            if (inembed[i] < in[size_t(i)] || onembed[i] < out[size_t(i)])
                return CUFFT_INVALID_SIZE;
        if (!made.in.describable(batch) || !made.out.describable(batch)) return CUFFT_NOT_SUPPORTED;
    }
    plan = std::move(made);
    return CUFFT_SUCCESS;
}

const char* status_name(cufftResult status) {
    switch (status) {
    case CUFFT_SUCCESS:
        return "CUFFT_SUCCESS";
    case CUFFT_INVALID_PLAN:
        return "CUFFT_INVALID_PLAN";
    case CUFFT_ALLOC_FAILED:
        return "CUFFT_ALLOC_FAILED";
    case CUFFT_INVALID_TYPE:
        return "CUFFT_INVALID_TYPE";
    case CUFFT_INVALID_VALUE:
        return "CUFFT_INVALID_VALUE";
    case CUFFT_EXEC_FAILED:
        return "CUFFT_EXEC_FAILED";
    case CUFFT_SETUP_FAILED:
        return "CUFFT_SETUP_FAILED";
    case CUFFT_INVALID_SIZE:
        return "CUFFT_INVALID_SIZE";
    case CUFFT_NOT_SUPPORTED:
        return "CUFFT_NOT_SUPPORTED";
    default:
        return "an error of cuFFT";
    }
}

cufftResult finish(const char* name, cufftResult status) {
    if (status != CUFFT_SUCCESS) emulatorLibraryFailed(name, status_name(status));
    return status;
}

}  // namespace fft
