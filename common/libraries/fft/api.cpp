// SPDX-License-Identifier: MIT
// The functions of cuFFT: plans by handle, and their execution by FFTW.
#include <fftw3.h>
#include <map>
#include <mutex>

#include "fft/plan.h"

namespace fft {
namespace {

// cuFFT's handles are small numbers.
class Plans {
public:
    int add(Plan plan) {
        std::lock_guard lock(mutex_);
        plans_[++last_] = std::move(plan);
        return last_;
    }
    Plan* find(int handle) {
        std::lock_guard lock(mutex_);
        const auto found = plans_.find(handle);
        return found == plans_.end() ? nullptr : &found->second;
    }
    bool remove(int handle) {
        std::lock_guard lock(mutex_);
        return plans_.erase(handle) == 1;
    }

private:
    std::mutex mutex_;
    std::map<int, Plan> plans_;
    int last_ = 0;
};

Plans& plans() {
    static auto& instance = *new Plans;
    return instance;
}

// A program may need a plan of every size, but not the same one again and again.
void note_plan(const char* name, const Plan& plan) {
    std::string kind = std::to_string(plan.type) + ' ' + std::to_string(plan.batch);
    for (const Side* side : {&plan.in, &plan.out}) {
        for (const std::vector<int>* list : {&side->n, &side->embed})
            for (const int size : *list) kind += ' ' + std::to_string(size);
        kind += ' ' + std::to_string(side->stride) + ' ' + std::to_string(side->distance);
    }
    stand_in::note_creation(name, "plan", kind);
}

cufftResult new_plan(const char* name, cufftHandle* handle, int rank, const int* n,
                     const int* inembed, int istride, int idist, const int* onembed, int ostride,
                     int odist, cufftType type, int batch) {
    if (!handle) return finish(name, CUFFT_INVALID_VALUE);
    Plan plan;
    const cufftResult status =
        make(plan, rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch);
    if (status != CUFFT_SUCCESS) return finish(name, status);
    note_plan(name, plan);
    *handle = plans().add(std::move(plan));
    return CUFFT_SUCCESS;
}

cufftResult remake(const char* name, cufftHandle handle, int rank, const int* n, const int* inembed,
                   int istride, int idist, const int* onembed, int ostride, int odist,
                   cufftType type, int batch, size_t* work) {
    Plan* plan = plans().find(handle);
    if (!plan || !plan->n.empty()) return finish(name, CUFFT_INVALID_PLAN);
    if (!work) return finish(name, CUFFT_INVALID_VALUE);
    *work = 0;
    const cufftResult status =
        make(*plan, rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch);
    if (status == CUFFT_SUCCESS) note_plan(name, *plan);
    return finish(name, status);
}

// FFTW's functions for one precision, under the same names for both.
struct Single {
    using Complex = fftwf_complex;
    using Real = float;
    static constexpr auto complex_plan = fftwf_plan_many_dft;
    static constexpr auto forward_plan = fftwf_plan_many_dft_r2c;
    static constexpr auto inverse_plan = fftwf_plan_many_dft_c2r;
    static void run(fftwf_plan plan) {
        fftwf_execute(plan);
        fftwf_destroy_plan(plan);
    }
};
struct Double {
    using Complex = fftw_complex;
    using Real = double;
    static constexpr auto complex_plan = fftw_plan_many_dft;
    static constexpr auto forward_plan = fftw_plan_many_dft_r2c;
    static constexpr auto inverse_plan = fftw_plan_many_dft_c2r;
    static void run(fftw_plan plan) {
        fftw_execute(plan);
        fftw_destroy_plan(plan);
    }
};

// FFTW_ESTIMATE creates a plan without accessing the arrays, and always the same one.
template <class P>
void transform(const Plan& plan, const Side& in, const Side& out, std::byte* from, std::byte* to,
               int direction) {
    const int rank = int(plan.n.size());
    const auto with = [&](auto make_plan, auto* source, auto* target, auto... more) {
        P::run(make_plan(rank,
                         plan.n.data(),
                         plan.batch,
                         source,
                         in.embed.data(),
                         in.stride,
                         in.distance,
                         target,
                         out.embed.data(),
                         out.stride,
                         out.distance,
                         more...,
                         FFTW_ESTIMATE));
    };
    using Complex = typename P::Complex;
    using Real = typename P::Real;
    switch (plan.type) {
    case CUFFT_C2C:
    case CUFFT_Z2Z:
        with(P::complex_plan,
             reinterpret_cast<Complex*>(from),
             reinterpret_cast<Complex*>(to),
             direction == CUFFT_FORWARD ? FFTW_FORWARD : FFTW_BACKWARD);
        break;
    case CUFFT_R2C:
    case CUFFT_D2Z:
        with(P::forward_plan, reinterpret_cast<Real*>(from), reinterpret_cast<Complex*>(to));
        break;
    default:
        with(P::inverse_plan, reinterpret_cast<Complex*>(from), reinterpret_cast<Real*>(to));
    }
}

cufftResult execute(const char* name, cufftHandle handle, cufftType type, const void* idata,
                    void* odata, int direction) {
    const Plan* found = plans().find(handle);
    if (!found || found->n.empty()) return finish(name, CUFFT_INVALID_PLAN);
    if (found->type != type) return finish(name, CUFFT_INVALID_TYPE);
    if (direction != CUFFT_FORWARD && direction != CUFFT_INVERSE)
        return finish(name, CUFFT_INVALID_VALUE);
    const Plan plan = *found;
    const bool in_place = idata == odata;
    const auto [in, out] = plan.sides(in_place);
    const bool real_in = type == CUFFT_R2C || type == CUFFT_D2Z;
    const bool real_out = type == CUFFT_C2R || type == CUFFT_Z2D;
    const uint64_t real = plan.is_double() ? 8 : 4;
    stand_in::Operand input = in.operand("idata", idata, real_in ? real : 2 * real, plan.batch);
    stand_in::Operand output =
        stand_in::written(out.operand("odata", odata, real_out ? real : 2 * real, plan.batch));
    const cudaError_t error = emulatorRunLibraryKernel(
        {name, plan.stream, {input, output}, [=, in = in, out = out](std::byte* const* at) {
             std::byte* from = at[0];
             std::vector<std::byte> copy;
             // FFTW's complex-to-real transforms overwrite their input.
             if (real_out && !in_place) {
                 const uint64_t last =
                     (input.slices - 1) * input.slice_pitch + (input.rows - 1) * input.pitch;
                 copy.assign(from, from + last + input.row_bytes);
                 from = copy.data();
             }
             if (plan.is_double()) {
                 transform<Double>(plan, in, out, from, at[1], direction);
             } else {
                 transform<Single>(plan, in, out, from, at[1], direction);
             }
         }});
    return finish(name, error == cudaSuccess ? CUFFT_SUCCESS : CUFFT_EXEC_FAILED);
}

}  // namespace
}  // namespace fft

using namespace fft;

STAND_IN_API cufftResult cufftPlan1d(cufftHandle* plan, int nx, cufftType type, int batch) {
    return new_plan("cufftPlan1d", plan, 1, &nx, nullptr, 1, 0, nullptr, 1, 0, type, batch);
}
STAND_IN_API cufftResult cufftPlan2d(cufftHandle* plan, int nx, int ny, cufftType type) {
    const int n[] = {nx, ny};
    return new_plan("cufftPlan2d", plan, 2, n, nullptr, 1, 0, nullptr, 1, 0, type, 1);
}
STAND_IN_API cufftResult cufftPlan3d(cufftHandle* plan, int nx, int ny, int nz, cufftType type) {
    const int n[] = {nx, ny, nz};
    return new_plan("cufftPlan3d", plan, 3, n, nullptr, 1, 0, nullptr, 1, 0, type, 1);
}
STAND_IN_API cufftResult cufftPlanMany(cufftHandle* plan, int rank, int* n, int* inembed,
                                       int istride, int idist, int* onembed, int ostride, int odist,
                                       cufftType type, int batch) {
    return new_plan("cufftPlanMany",
                    plan,
                    rank,
                    n,
                    inembed,
                    istride,
                    idist,
                    onembed,
                    ostride,
                    odist,
                    type,
                    batch);
}

STAND_IN_API cufftResult cufftCreate(cufftHandle* plan) {
    if (!plan) return finish("cufftCreate", CUFFT_INVALID_VALUE);
    *plan = plans().add({});
    return CUFFT_SUCCESS;
}
STAND_IN_API cufftResult cufftMakePlan1d(cufftHandle plan, int nx, cufftType type, int batch,
                                         size_t* work) {
    const char* name = "cufftMakePlan1d";
    return remake(name, plan, 1, &nx, nullptr, 1, 0, nullptr, 1, 0, type, batch, work);
}
STAND_IN_API cufftResult cufftMakePlan2d(cufftHandle plan, int nx, int ny, cufftType type,
                                         size_t* work) {
    const int n[] = {nx, ny};
    return remake("cufftMakePlan2d", plan, 2, n, nullptr, 1, 0, nullptr, 1, 0, type, 1, work);
}
STAND_IN_API cufftResult cufftMakePlan3d(cufftHandle plan, int nx, int ny, int nz, cufftType type,
                                         size_t* work) {
    const int n[] = {nx, ny, nz};
    return remake("cufftMakePlan3d", plan, 3, n, nullptr, 1, 0, nullptr, 1, 0, type, 1, work);
}
STAND_IN_API cufftResult cufftMakePlanMany(cufftHandle plan, int rank, int* n, int* inembed,
                                           int istride, int idist, int* onembed, int ostride,
                                           int odist, cufftType type, int batch, size_t* work) {
    return remake("cufftMakePlanMany",
                  plan,
                  rank,
                  n,
                  inembed,
                  istride,
                  idist,
                  onembed,
                  ostride,
                  odist,
                  type,
                  batch,
                  work);
}

// The stand-in needs no work area.
STAND_IN_API cufftResult cufftGetSize(cufftHandle plan, size_t* work) {
    if (!plans().find(plan)) return finish("cufftGetSize", CUFFT_INVALID_PLAN);
    if (!work) return finish("cufftGetSize", CUFFT_INVALID_VALUE);
    *work = 0;
    return CUFFT_SUCCESS;
}
STAND_IN_API cufftResult cufftSetWorkArea(cufftHandle plan, void*) {
    return finish("cufftSetWorkArea", plans().find(plan) ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN);
}
STAND_IN_API cufftResult cufftSetAutoAllocation(cufftHandle plan, int) {
    const Plan* found = plans().find(plan);
    return finish("cufftSetAutoAllocation", found ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN);
}
STAND_IN_API cufftResult cufftGetVersion(int* version) {
    if (!version) return finish("cufftGetVersion", CUFFT_INVALID_VALUE);
    *version = 12000;
    return CUFFT_SUCCESS;
}
STAND_IN_API cufftResult cufftSetStream(cufftHandle plan, cudaStream_t stream) {
    Plan* found = plans().find(plan);
    if (!found) return finish("cufftSetStream", CUFFT_INVALID_PLAN);
    found->stream = stream;
    return CUFFT_SUCCESS;
}
STAND_IN_API cufftResult cufftDestroy(cufftHandle plan) {
    return finish("cufftDestroy", plans().remove(plan) ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN);
}

STAND_IN_API cufftResult cufftExecC2C(cufftHandle plan, cufftComplex* idata, cufftComplex* odata,
                                      int direction) {
    return execute("cufftExecC2C", plan, CUFFT_C2C, idata, odata, direction);
}
STAND_IN_API cufftResult cufftExecZ2Z(cufftHandle plan, cufftDoubleComplex* idata,
                                      cufftDoubleComplex* odata, int direction) {
    return execute("cufftExecZ2Z", plan, CUFFT_Z2Z, idata, odata, direction);
}
STAND_IN_API cufftResult cufftExecR2C(cufftHandle plan, cufftReal* idata, cufftComplex* odata) {
    return execute("cufftExecR2C", plan, CUFFT_R2C, idata, odata, CUFFT_FORWARD);
}
STAND_IN_API cufftResult cufftExecD2Z(cufftHandle plan, cufftDoubleReal* idata,
                                      cufftDoubleComplex* odata) {
    return execute("cufftExecD2Z", plan, CUFFT_D2Z, idata, odata, CUFFT_FORWARD);
}
STAND_IN_API cufftResult cufftExecC2R(cufftHandle plan, cufftComplex* idata, cufftReal* odata) {
    return execute("cufftExecC2R", plan, CUFFT_C2R, idata, odata, CUFFT_INVERSE);
}
STAND_IN_API cufftResult cufftExecZ2D(cufftHandle plan, cufftDoubleComplex* idata,
                                      cufftDoubleReal* odata) {
    return execute("cufftExecZ2D", plan, CUFFT_Z2D, idata, odata, CUFFT_INVERSE);
}
