// SPDX-License-Identifier: MIT
// The references of lesson 31's tests: products, residuals, singular values and spectra in double,
// the mistakes that the tests recognise, and the tests' own handles.
#pragma once

#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lesson_test.h"
#include "libraries.h"
#include "watches/call_checks.h"
#include "watches/library_calls.h"

namespace {

using Floats = std::vector<float>;
using Doubles = std::vector<double>;
constexpr size_t kGuard = 1024;  // elements on each side of every array, on a real GPU
constexpr double kRounding = 0x1p-24;

// A check whose failure is a sentence.
#define CHECK_SAID(holds, words)                                                                   \
    do {                                                                                           \
        const bool as_promised = holds;                                                            \
        INFO(words);                                                                               \
        CHECK(as_promised);                                                                        \
    } while (false)

// The test's own handles, made once for each number of samples: a task does not need task 1.
const Libraries& libraries_for(int samples) {
    static std::map<int, Libraries> all;
    const auto found = all.find(samples);
    if (found != all.end()) return found->second;
    Libraries made{nullptr, nullptr, nullptr, 0, 0, samples};
    CUDA_CHECK(cudaStreamCreateWithFlags(&made.stream, cudaStreamNonBlocking));
    LIBRARY_CHECK(cublasCreate(&made.blas));
    LIBRARY_CHECK(cublasSetStream(made.blas, made.stream));
    LIBRARY_CHECK(cusolverDnCreate(&made.solver));
    LIBRARY_CHECK(cusolverDnSetStream(made.solver, made.stream));
    LIBRARY_CHECK(cufftPlan1d(&made.forward, samples, CUFFT_R2C, 1));
    LIBRARY_CHECK(cufftSetStream(made.forward, made.stream));
    LIBRARY_CHECK(cufftPlan1d(&made.inverse, samples, CUFFT_C2R, 1));
    LIBRARY_CHECK(cufftSetStream(made.inverse, made.stream));
    return all.emplace(samples, made).first->second;
}

// An array that is filled and read in a stream: work in another stream is not ordered with either.
class InStream {
public:
    InStream(size_t size, cudaStream_t stream)
        : buffer_(std::make_shared<wb::GuardedBuffer<float>>(size, wb::guard(kGuard))),
          stream_(stream) {
        CUDA_CHECK(cudaDeviceSynchronize());  // the buffer is poisoned in the default stream
    }
    InStream(const Floats& values, cudaStream_t stream) : InStream(values.size(), stream) {
        CUDA_CHECK(cudaMemcpyAsync(
            get(), values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice, stream));
    }
    float* get() { return buffer_->get(); }
    Floats download() const {
        Floats values(buffer_->size());
        CUDA_CHECK(cudaMemcpyAsync(values.data(),
                                   buffer_->get(),
                                   values.size() * sizeof(float),
                                   cudaMemcpyDeviceToHost,
                                   stream_));
        CUDA_CHECK(cudaStreamSynchronize(stream_));
        wb::note_download({values.data(), buffer_->get(), values.size()});
        return values;
    }
    bool intact() const { return buffer_->intact(); }

private:
    std::shared_ptr<wb::GuardedBuffer<float>> buffer_;
    cudaStream_t stream_;
};

// --- matrices by rows ----------------------------------------------------------------------------

Floats to_floats(const Doubles& values) {
    return Floats(values.begin(), values.end());
}

template <class T>
std::vector<T> turned(const std::vector<T>& a, int rows, int columns) {
    std::vector<T> out(a.size());
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j) out[size_t(j) * rows + i] = a[size_t(i) * columns + j];
    return out;
}

template <class A, class B>
Doubles product(const A& a, const B& b, int m, int n, int k) {
    Doubles c(size_t(m) * n);
    for (int i = 0; i < m; ++i)
        for (int p = 0; p < k; ++p)
            for (int j = 0; j < n; ++j)
                c[size_t(i) * n + j] += double(a[size_t(i) * k + p]) * b[size_t(p) * n + j];
    return c;
}

template <class T>
Doubles sizes_of(const std::vector<T>& a) {
    Doubles out(a.size());
    for (size_t i = 0; i < a.size(); ++i) out[i] = std::fabs(double(a[i]));
    return out;
}

// x alpha + y beta; for beta = 0 y is not read.
Floats sum_of(const Doubles& x, double alpha, const Floats& y, double beta) {
    Floats out(x.size());
    for (size_t i = 0; i < out.size(); ++i)
        out[i] = float(alpha * x[i] + (beta == 0 ? 0 : beta * y[i]));
    return out;
}

// `rows` rows of `columns` values, `pitch` apart, with NaN between them.
Floats laid_out(const Floats& values, int rows, int columns, int pitch) {
    Floats out(size_t(rows) * pitch, std::numeric_limits<float>::quiet_NaN());
    for (int row = 0; row < rows; ++row)
        std::copy_n(
            values.begin() + size_t(row) * columns, columns, out.begin() + size_t(row) * pitch);
    return out;
}
Floats packed(const Floats& all, int rows, int columns, int pitch) {
    Floats out(size_t(rows) * columns);
    for (int row = 0; row < rows; ++row)
        std::copy_n(
            all.begin() + size_t(row) * pitch, columns, out.begin() + size_t(row) * columns);
    return out;
}

Floats identity(int n) {
    Floats out(size_t(n) * n);
    for (int i = 0; i < n; ++i) out[size_t(i) * n + i] = 1;
    return out;
}

// A matrix with the singular values 1 to 10^-decades: products of rotations on both sides.
Floats matrix_of_condition(int n, double decades, uint64_t seed) {
    Doubles a(size_t(n) * n);
    for (int i = 0; i < n; ++i)
        a[size_t(i) * n + i] = std::pow(10.0, n > 1 ? -decades * i / (n - 1) : 0.0);
    const Floats angles = wb::random_floats(size_t(n) * n * 2, seed, -3, 3);
    size_t next = 0;
    for (int p = 0; p < n; ++p)
        for (int q = p + 1; q < n; ++q) {
            const double c = std::cos(angles[next]), s = std::sin(angles[next]);
            const double d = std::cos(angles[next + 1]), t = std::sin(angles[next + 1]);
            next += 2;
            for (int i = 0; i < n; ++i) {
                double &x = a[size_t(p) * n + i], &y = a[size_t(q) * n + i];
                std::tie(x, y) = std::pair(c * x - s * y, s * x + c * y);
            }
            for (int i = 0; i < n; ++i) {
                double &x = a[size_t(i) * n + p], &y = a[size_t(i) * n + q];
                std::tie(x, y) = std::pair(d * x - t * y, t * x + d * y);
            }
        }
    return to_floats(a);
}

// The singular values of an n x n matrix, the largest first, by one-sided Jacobi rotations.
Doubles singular_values_of(const Floats& a, int n) {
    Doubles rows(a.begin(), a.end());
    for (int sweep = 0; sweep < 40; ++sweep) {
        double worst = 0;
        for (int p = 0; p < n; ++p)
            for (int q = p + 1; q < n; ++q) {
                double *x = &rows[size_t(p) * n], *y = &rows[size_t(q) * n];
                double xx = 0, yy = 0, xy = 0;
                for (int i = 0; i < n; ++i) xx += x[i] * x[i], yy += y[i] * y[i], xy += x[i] * y[i];
                if (xx == 0 || yy == 0 || std::fabs(xy) <= 1e-15 * std::sqrt(xx * yy)) continue;
                worst = std::max(worst, std::fabs(xy) / std::sqrt(xx * yy));
                const double zeta = (yy - xx) / (2 * xy);
                const double t =
                    (zeta < 0 ? -1 : 1) / (std::fabs(zeta) + std::sqrt(1 + zeta * zeta));
                const double c = 1 / std::sqrt(1 + t * t), s = c * t;
                for (int i = 0; i < n; ++i)
                    std::tie(x[i], y[i]) = std::pair(c * x[i] - s * y[i], s * x[i] + c * y[i]);
            }
        if (worst < 1e-14) break;
    }
    Doubles values;
    for (int p = 0; p < n; ++p) {
        double sum = 0;
        for (int i = 0; i < n; ++i) sum += rows[size_t(p) * n + i] * rows[size_t(p) * n + i];
        values.push_back(std::sqrt(sum));
    }
    std::sort(values.rbegin(), values.rend());
    return values;
}

// U diag(s) V^T.
Floats rebuilt(const Floats& u, const Floats& s, const Floats& vt, int n) {
    Doubles scaled(vt.begin(), vt.end());
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) scaled[size_t(i) * n + j] *= s[i];
    return to_floats(product(u, scaled, n, n, n));
}

bool near(const Floats& got, const Floats& want, double tolerance) {
    for (size_t i = 0; i < got.size(); ++i)
        if (!(std::fabs(double(got[i]) - want[i]) <= tolerance)) return false;
    return true;
}

// --- spectra -------------------------------------------------------------------------------------

// The samples of a spectrum of which only the first `keep` numbers stay, by the definition.
Doubles filtered(const Floats& in, int keep) {
    const size_t n = in.size();
    Doubles cosine(n), sine(n), out(n);
    for (size_t i = 0; i < n; ++i) {
        cosine[i] = std::cos(2 * M_PI * double(i) / double(n));
        sine[i] = std::sin(2 * M_PI * double(i) / double(n));
    }
    for (size_t f = 0; f < size_t(keep) && f <= n / 2; ++f) {
        double real = 0, imaginary = 0;
        for (size_t i = 0, at = 0; i < n; ++i, at = (at + f) % n) {
            real += in[i] * cosine[at];
            imaginary -= in[i] * sine[at];
        }
        // Of the frequencies f and n - f, which are conjugate, only the first is stored.
        const double weight = (f == 0 || 2 * f == n ? 1.0 : 2.0) / double(n);
        for (size_t i = 0, at = 0; i < n; ++i, at = (at + f) % n)
            out[i] += weight * (real * cosine[at] - imaginary * sine[at]);
    }
    return out;
}

Floats times(const Doubles& values, double factor) {
    Floats out;
    for (const double value : values) out.push_back(float(value * factor));
    return out;
}

// --- failing calls -------------------------------------------------------------------------------

bool throws_library_error(const std::function<void()>& work) {
    try {
        work();
    } catch (const LibraryError&) {
        return true;
    } catch (...) {
    }
    return false;
}

// Makes each call of a library in `work` fail once, while the others work as usual. Each failure
// must become a LibraryError. `name`: the function under test.
void check_failing_library_calls(const char* name, const std::function<void()>& work) {
    std::vector<wb::LibraryCall> calls;
    {
        wb::LibraryWatch watch;
        work();
        calls = watch.calls;
    }
    CHECK_SAID(!calls.empty(), name << "() calls no library: where is the work done?");
    std::string dropped;
    for (size_t k = 0; k < calls.size() && dropped.empty(); ++k) {
        if (calls[k].name.find("Destroy") != std::string::npos) continue;
        wb::LibraryWatch watch;
        watch.fail_call = k;
        if (!throws_library_error(work)) dropped = calls[k].name;
        // The next call may fail as a consequence, and be the one that is reported.
        for (size_t next = k + 1; next < watch.calls.size(); ++next)
            if (watch.calls[next].name.find("Destroy") == std::string::npos)
                dropped = calls[k].name;
    }
    CHECK_SAID(dropped.empty(),
               "when " << dropped << " fails, " << name
                       << "() goes on as if it had succeeded: its status is ignored");
}

}  // namespace
