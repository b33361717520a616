// SPDX-License-Identifier: MIT
// Lesson 30, rounding floats to halves, and its errors.
#include "checks.h"

namespace {

// `values`: rows x cols. The rows begin cols + gap floats apart.
void check_rounded(const Floats& values, int rows, int cols, int gap = 0) {
    CAPTURE(rows, cols, gap);
    const Floats in = laid_out(values, rows, cols, cols + gap, 0);
    wb::GuardedBuffer<float> d_in(in, wb::guard(kGuard));
    const int out_rows = up(rows), out_cols = up(cols);
    wb::GuardedBuffer<half> d_out(size_t(out_rows) * out_cols, wb::guard(kGuard));
    round_and_pad(d_in.get(), d_out.get(), rows, cols, cols + gap);
    CUDA_CHECK(cudaGetLastError());
    const Floats got = widened_output(d_out.download());
    const auto padded = [&](const std::function<float(float)>& round) {
        Floats out(size_t(out_rows) * out_cols, 0.0f);
        for (int row = 0; row < rows; ++row)
            for (int col = 0; col < cols; ++col)
                out[size_t(row) * out_cols + col] = round(values[size_t(row) * cols + col]);
        return out;
    };
    const auto nearest = [](float x) { return __half2float(__float2half_rn(x)); };
    const Floats want = padded(nearest);
    CHECK_MATRIX(out_cols, got, want);
    wb::recognize<float>(
        got,
        want,
        {{"fractions are cut off: they should be rounded to the nearest half",
          [&] { return padded([](float x) { return __half2float(__float2half_rz(x)); }); }},
         {"values are rounded upwards",
          [&] { return padded([](float x) { return __half2float(__float2half_ru(x)); }); }},
         {"values that are too large for a half become 65,504: they should become infinite",
          [&] {
              return padded([&](float x) {
                  return std::isnan(x) ? x : nearest(std::clamp(x, -kLargest, kLargest));
              });
          }},
         {"whole numbers are stored: an int lies on the way",
          [&] { return padded([](float x) { return std::trunc(x); }); }},
         {"rows are read as if they had no gaps: their pitch says where they begin", [&] {
              if (!gap) return Floats();
              Floats out(size_t(out_rows) * out_cols, 0.0f);
              for (int row = 0; row < rows; ++row)
                  for (int col = 0; col < cols; ++col)
                      out[size_t(row) * out_cols + col] = nearest(in[size_t(row) * cols + col]);
              return out;
          }}});
    wb::check_unchanged(d_in.download(), in);
    CHECK(d_out.intact());
}

// Checks one of the errors for many numbers of products and magnitudes, to within 1 %.
void check_errors(const char* name, double Errors::*error, double (*right)(int, double)) {
    std::vector<double> got, want, counts, magnitudes;
    for (const auto& [k, magnitude] :
         {std::pair{1, 1.0}, {16, 16.0}, {4096, 1365.3}, {16384, 3e9}}) {
        got.push_back(largest_errors(k, magnitude).*error);
        want.push_back(right(k, magnitude));
        counts.push_back(k);
        magnitudes.push_back(magnitude);
        INFO("largest_errors(" << k << ", " << magnitude << ")." << name << ": got " << got.back()
                               << ", want " << want.back());
        const bool near = std::fabs(got.back() - want.back()) <= want.back() / 100;
        CHECK(near);
    }
    const auto each = [&](const char* words, auto&& of) {
        return wb::Mistake<double>{words, [&, of] {
                                       std::vector<double> out;
                                       for (size_t i = 0; i < got.size(); ++i)
                                           out.push_back(of(want[i], counts[i], magnitudes[i]));
                                       return out;
                                   }};
    };
    wb::recognize<double>(
        got,
        want,
        {each("twice as much: rounding to the nearest changes a value by at most half of the "
              "distance of two "
              "halves",
              [](double right, double, double) { return 2 * right; }),
         each("half as much: both factors of a product may be off",
              [](double right, double, double) { return right / 2; }),
         each("k times as much: `magnitude` is the sum for all products already",
              [](double right, double k, double) { return k * right; }),
         each("the errors of one product of magnitude 1: each is a part of the magnitude",
              [](double right, double, double magnitude) { return right / magnitude; }),
         each("2^-24, as for floats: a half has 11 significant bits",
              [](double, double, double magnitude) { return 0x1p-23 * magnitude; })},
        [&](size_t i) { return want[i] / 100; });
}

}  // namespace

TEST_CASE("task 1: rounds to the nearest half", "[task1]") {
    check_rounded(wb::random_floats(64 * 64, 61), 64, 64);
    check_rounded(wb::random_floats(48 * 80, 62, -70000, 70000), 48, 80);
    // Values halfway between two halves, and just beside: at 1, at 2048 and among the smallest.
    Floats values;
    for (const float one : {1.0f, 2048.0f, 0x1p-14f, 0x1p-20f, 0x1p-24f})
        for (const float next : {one, -one})
            for (const float part : {0.0f, 0.25f, 0.5f, 0.75f, 1.0f, 1.25f, 1.5f, 1.75f}) {
                const float step = std::max(one * 0x1p-10f, 0x1p-24f);
                const float value = next + std::copysign(part * step, next);
                values.push_back(value);
                values.push_back(std::nextafter(value, kInfinity));
                values.push_back(std::nextafter(value, -kInfinity));
            }
    check_rounded(values, int(values.size()) / 16, 16);
}

TEST_CASE("task 1: values near 65,504 and beyond", "[task1]") {
    check_rounded({65504,
                   65519.996f,
                   65520,
                   65536,
                   1e9f,
                   kInfinity,
                   2,
                   -65504,
                   -65519.996f,
                   -65520,
                   -3e38f,
                   -kInfinity,
                   65472,
                   65488,
                   0,
                   1},
                  1,
                  16);
    check_rounded(wb::random_floats(32 * 32, 63, 65000, 66000), 32, 32);
}

TEST_CASE("task 1: pads with zeros to multiples of 16", "[task1]") {
    for (const auto& [rows, cols] :
         {std::pair{1, 1}, {15, 16}, {16, 15}, {17, 17}, {1, 100}, {100, 1}, {33, 50}, {129, 200}})
        check_rounded(wb::random_floats(size_t(rows) * cols, 64 + rows), rows, cols);
}

TEST_CASE("task 1: rounds parts of larger matrices", "[task1]") {
    check_rounded(wb::random_floats(32 * 32, 65), 32, 32, 16);
    check_rounded(wb::random_floats(33 * 17, 66), 33, 17, 1);
    check_rounded(wb::random_floats(7 * 60, 67), 7, 60, 68);
}

TEST_CASE("task 1: launches nothing for an empty matrix", "[task1]") {
    const auto counters = wb::count([&] {
        round_and_pad(nullptr, nullptr, 0, 0, 0);
        round_and_pad(nullptr, nullptr, 0, 5, 5);
        round_and_pad(nullptr, nullptr, 5, 0, 0);
    });
    CHECK(cudaGetLastError() == cudaSuccess);
    if (counters) CHECK(counters->launches == 0);
    check_rounded(wb::random_floats(6, 68), 2, 3);
}

TEST_CASE("task 1: as many rows and columns as allowed", "[task1]") {
    check_rounded(wb::random_floats(kMost, 69), kMost, 1);
    check_rounded(wb::random_floats(kMost, 70), 1, kMost);
}

TEST_CASE("task 1: rows that begin 2^31 floats after the first and later", "[task1]") {
    const int rows = 4, cols = 20, pitch = 1 << 30;
    const Floats values = wb::random_floats(rows * cols, 71);
    wb::SparseMatrix<float> d_in(rows, cols, pitch, values);
    NEED_MEMORY(bool(d_in));
    wb::DeviceBuffer<half> d_out(size_t(up(rows)) * up(cols));
    round_and_pad(d_in.get(), d_out.get(), rows, cols, pitch);
    CUDA_CHECK(cudaGetLastError());
    Floats want(size_t(up(rows)) * up(cols), 0.0f);
    for (int row = 0; row < rows; ++row)
        for (int col = 0; col < cols; ++col)
            want[size_t(row) * up(cols) + col] =
                __half2float(__float2half_rn(values[size_t(row) * cols + col]));
    CHECK_MATRIX(up(cols), widened_output(d_out.download()), want);
}

TEST_CASE("task 1: a refused launch is an exception", "[task1]") {
    wb::DeviceBuffer<float> d_in(wb::random_floats(256, 8));
    wb::DeviceBuffer<half> d_out(256);
    wb::check_refused_launch("round_and_pad",
                             [&] { round_and_pad(d_in.get(), d_out.get(), 16, 16, 16); });
}

TEST_CASE("task 2: the error from rounding the inputs", "[task2]") {
    check_errors(
        "inputs", &Errors::inputs, [](int, double magnitude) { return 0x1p-10 * magnitude; });
}

TEST_CASE("task 2: the error of the sum", "[task2]") {
    check_errors("sum", &Errors::sum, [](int k, double magnitude) {
        return (k + 1.0) * 0x1p-23 * magnitude;
    });
}
