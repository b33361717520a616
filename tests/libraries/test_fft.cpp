// SPDX-License-Identifier: MIT
// cuFFT: values against the sum that defines the transform, layouts, and round trips.
#include <complex>
#include <cufft.h>

#include "lab.h"

using namespace lab;
using Complex = std::complex<double>;

namespace {

constexpr double kTwoPi = 6.283185307179586476925;

std::vector<Complex> transform(const std::vector<Complex>& in, int sign) {
    std::vector<Complex> out(in.size());
    for (size_t k = 0; k < in.size(); ++k)
        for (size_t j = 0; j < in.size(); ++j)
            out[k] += in[j] * std::polar(1.0, sign * kTwoPi * double(j * k) / double(in.size()));
    return out;
}

std::vector<double> flat(const std::vector<Complex>& values) {
    std::vector<double> out;
    for (const Complex& value : values) {
        out.push_back(value.real());
        out.push_back(value.imag());
    }
    return out;
}

std::vector<Complex> signal(size_t n, uint64_t seed = 1) {
    const auto parts = numbers<double>(2 * n, seed);
    std::vector<Complex> out;
    for (size_t i = 0; i < n; ++i) out.emplace_back(parts[2 * i], parts[2 * i + 1]);
    return out;
}

template <class To, class From>
To* as(From* pointer) {
    return reinterpret_cast<To*>(pointer);
}

}  // namespace

TEST_CASE("Z2Z: forward and back, n times the input", "[fft]") {
    const int n = GENERATE(1, 2, 8, 15, 17);
    const auto in = signal(size_t(n));
    cufftHandle plan;
    REQUIRE(cufftPlan1d(&plan, n, CUFFT_Z2Z, 1) == CUFFT_SUCCESS);
    Device<double> data(flat(in)), spectrum(size_t(2 * n));
    auto* from = as<cufftDoubleComplex>(static_cast<double*>(data));
    auto* to = as<cufftDoubleComplex>(static_cast<double*>(spectrum));
    REQUIRE(cufftExecZ2Z(plan, from, to, CUFFT_FORWARD) == CUFFT_SUCCESS);
    CHECK(difference(spectrum.values(), flat(transform(in, -1))) < 1e-12 * n);
    REQUIRE(cufftExecZ2Z(plan, to, to, CUFFT_INVERSE) == CUFFT_SUCCESS);
    auto scaled = in;
    for (Complex& value : scaled) value *= n;
    CHECK(difference(spectrum.values(), flat(scaled)) < 1e-12 * n);
    CHECK(cufftDestroy(plan) == CUFFT_SUCCESS);
}

TEST_CASE("R2C and C2R: half a spectrum, batched and in place", "[fft]") {
    const int n = 6, batch = 3, half = n / 2 + 1;
    const bool in_place = GENERATE(false, true);
    const int pitch = in_place ? 2 * half : n;
    std::vector<float> rows(size_t(pitch * batch), 0.0f);
    std::vector<double> want;
    for (int b = 0; b < batch; ++b) {
        const auto row = numbers<float>(size_t(n), uint64_t(b + 1));
        std::vector<Complex> wide(row.begin(), row.end());
        std::copy(row.begin(), row.end(), rows.begin() + b * pitch);
        auto all = transform(wide, -1);
        all.resize(size_t(half));
        const auto parts = flat(all);
        want.insert(want.end(), parts.begin(), parts.end());
    }
    cufftHandle forward, inverse;
    REQUIRE(cufftPlan1d(&forward, n, CUFFT_R2C, batch) == CUFFT_SUCCESS);
    REQUIRE(cufftPlan1d(&inverse, n, CUFFT_C2R, batch) == CUFFT_SUCCESS);
    Device<float> data(rows), other(size_t(2 * half * batch));
    float* const to = in_place ? static_cast<float*>(data) : static_cast<float*>(other);
    REQUIRE(cufftExecR2C(forward, data, as<cufftComplex>(to)) == CUFFT_SUCCESS);
    CHECK(difference(in_place ? data.values() : other.values(), want) < 1e-5);
    REQUIRE(cufftExecC2R(inverse, as<cufftComplex>(to), data) == CUFFT_SUCCESS);
    const auto back = data.values();
    for (int b = 0; b < batch; ++b)
        for (int i = 0; i < n; ++i) {
            const size_t at = size_t(b * pitch + i);
            CHECK(back[at] == Approx(n * rows[at]).margin(1e-5));
        }
    cufftDestroy(forward);
    cufftDestroy(inverse);
}

TEST_CASE("PlanMany: the columns of a matrix", "[fft]") {
    const int rows = 4, columns = 3;
    int n[] = {rows}, embed[] = {rows};
    const auto in = signal(size_t(rows * columns));
    std::vector<Complex> want(in.size());
    for (int c = 0; c < columns; ++c) {
        std::vector<Complex> column;
        for (int r = 0; r < rows; ++r) column.push_back(in[size_t(r * columns + c)]);
        const auto out = transform(column, -1);
        for (int r = 0; r < rows; ++r) want[size_t(r * columns + c)] = out[size_t(r)];
    }
    cufftHandle plan;
    REQUIRE(cufftPlanMany(&plan, 1, n, embed, columns, 1, embed, columns, 1, CUFFT_Z2Z, columns) ==
            CUFFT_SUCCESS);
    Device<double> data(flat(in));
    auto* at = as<cufftDoubleComplex>(static_cast<double*>(data));
    REQUIRE(cufftExecZ2Z(plan, at, at, CUFFT_FORWARD) == CUFFT_SUCCESS);
    CHECK(difference(data.values(), flat(want)) < 1e-12);
    cufftDestroy(plan);
}

// Three planes of 3 x 4 numbers, number by number: those of a plane are 3 apart.
TEST_CASE("PlanMany: planes whose numbers alternate", "[fft]") {
    const int nx = 3, ny = 4, planes = 3;
    int n[] = {nx, ny};
    const auto in = signal(size_t(nx * ny * planes));
    std::vector<Complex> want(in.size());
    for (int p = 0; p < planes; ++p)
        for (int kx = 0; kx < nx; ++kx)
            for (int ky = 0; ky < ny; ++ky)
                for (int x = 0; x < nx; ++x)
                    for (int y = 0; y < ny; ++y)
                        want[size_t((kx * ny + ky) * planes + p)] +=
                            in[size_t((x * ny + y) * planes + p)] *
                            std::polar(1.0, -kTwoPi * (double(kx * x) / nx + double(ky * y) / ny));
    cufftHandle plan;
    REQUIRE(cufftPlanMany(&plan, 2, n, n, planes, 1, n, planes, 1, CUFFT_Z2Z, planes) ==
            CUFFT_SUCCESS);
    Device<double> data(flat(in));
    auto* at = as<cufftDoubleComplex>(static_cast<double*>(data));
    REQUIRE(cufftExecZ2Z(plan, at, at, CUFFT_FORWARD) == CUFFT_SUCCESS);
    CHECK(difference(data.values(), flat(want)) < 1e-12);
    cufftDestroy(plan);
}

TEST_CASE("Plan2d: rows, then columns", "[fft]") {
    const int nx = 3, ny = 4;
    const auto in = signal(size_t(nx * ny));
    std::vector<Complex> want(in.size());
    for (int kx = 0; kx < nx; ++kx)
        for (int ky = 0; ky < ny; ++ky)
            for (int x = 0; x < nx; ++x)
                for (int y = 0; y < ny; ++y)
                    want[size_t(kx * ny + ky)] +=
                        in[size_t(x * ny + y)] *
                        std::polar(1.0, -kTwoPi * (double(kx * x) / nx + double(ky * y) / ny));
    cufftHandle plan;
    REQUIRE(cufftPlan2d(&plan, nx, ny, CUFFT_Z2Z) == CUFFT_SUCCESS);
    Device<double> data(flat(in));
    auto* at = as<cufftDoubleComplex>(static_cast<double*>(data));
    REQUIRE(cufftExecZ2Z(plan, at, at, CUFFT_FORWARD) == CUFFT_SUCCESS);
    CHECK(difference(data.values(), flat(want)) < 1e-12);
    cufftDestroy(plan);
}

TEST_CASE("a wrong plan, size or type is refused", "[fft]") {
    cufftHandle plan;
    CHECK(cufftPlan1d(&plan, 0, CUFFT_C2C, 1) == CUFFT_INVALID_SIZE);
    REQUIRE(cufftPlan1d(&plan, 4, CUFFT_C2C, 1) == CUFFT_SUCCESS);
    Device<float> data(std::vector<float>(8, 0.0f));
    if (lab::emulated())  // cuFFT 12.0 itself says success, and what it computes is undefined
        CHECK(cufftExecR2C(plan, data, as<cufftComplex>(static_cast<float*>(data))) !=
              CUFFT_SUCCESS);
    cufftDestroy(plan);
    CHECK(cufftDestroy(plan) == CUFFT_INVALID_PLAN);
}
