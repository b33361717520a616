// SPDX-License-Identifier: MIT
// Lesson 29: C = A B for every shape and pitch, written over what C held, with few loads.
//
// Tolerance: each sum of k products may differ by k 2^-24 times the sum of their magnitudes, which
// is what k rounded products and additions cost at most, in any order. The data are random, with
// NaN in the gaps between rows; outputs start as NaN.
#include "call_checks.h"
#include "lesson_test.h"
#include "matmul_tiled.h"
#include "reference_29_matmul_tiled.h"
#include "shared_work.h"
#include "sparse.h"

#include <algorithm>
#include <limits>

namespace {

constexpr size_t kGuard = 4096;  // elements on each side of every array, on a real GPU
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr int kMost = 65536;

using Matmul = void (*)(const float*, const float*, float*, Sizes);

void check_product(Matmul matmul, const Shape& shape) {
    const auto [m, n, k] = std::tuple(shape.m, shape.n, shape.k);
    const Sizes sizes = shape.sizes();
    const auto [a_pitch, b_pitch, c_pitch] =
        std::tuple(sizes.a_pitch, sizes.b_pitch, sizes.c_pitch);
    CAPTURE(m, n, k, a_pitch, b_pitch, c_pitch);
    const int before = shape.before;
    const Floats a = wb::random_floats(size_t(m) * k, 100 + m);
    const Floats b = wb::random_floats(size_t(k) * n, 200 + n);
    const Floats in_a = laid_out(a, m, k, sizes.a_pitch, before);
    const Floats in_b = laid_out(b, k, n, sizes.b_pitch, before);
    wb::GuardedBuffer<float> d_a(in_a, wb::guard(kGuard)), d_b(in_b, wb::guard(kGuard));
    wb::GuardedBuffer<float> d_c(before + size_t(m) * sizes.c_pitch, wb::guard(kGuard));
    matmul(d_a.get() + before, d_b.get() + before, d_c.get() + before, sizes);
    CUDA_CHECK(cudaGetLastError());
    const Floats c = d_c.download();
    const Floats got = packed(c, m, n, sizes.c_pitch, before);
    const Product want = product(a, b, m, n, k, 0, k);
    CHECK_MATRIX(n, got, want.values, [&](size_t i) { return want.tolerance[i]; });
    const auto run_on = [&](const Floats& all, size_t elements) {  // as if there were no gaps
        return Floats(all.begin() + before, all.begin() + before + elements);
    };
    recognize_mistakes(
        got,
        want,
        a,
        b,
        shape,
        {"rows of A and B are read as if they had no gaps: their pitches say where they begin",
         [&, m = m, n = n, k = k] {
             if (!shape.a_gap && !shape.b_gap) return Floats();
             return product(run_on(in_a, a.size()), run_on(in_b, b.size()), m, n, k, 0, k).values;
         }});
    size_t spoilt = 0;  // floats that are not part of C and no longer hold their filling
    for (size_t i = 0; i < c.size(); ++i) {
        const bool inside =
            i >= size_t(before) && int((i - before) % sizes.c_pitch) < n && sizes.c_pitch > 0;
        spoilt += !inside && !std::isnan(c[i]);
    }
    const bool gaps_unchanged = spoilt == 0;
    INFO(spoilt << " floats between the rows of C were overwritten");
    CHECK(gaps_unchanged);
    wb::check_unchanged(d_a.download(), in_a);
    wb::check_unchanged(d_b.download(), in_b);
    CHECK(d_c.intact());
}

// `make picture-29` draws one of these: all have full tiles.
constexpr Shape kSquare[] = {
    {32, 32, 32}, {64, 64, 64}, {33, 33, 33}, {65, 65, 65}, {96, 96, 96}, {129, 129, 129}};
constexpr Shape kOblong[] = {{1, 1, 1},
                             {1, 1, 1000},
                             {17, 17, 17},
                             {1, 1000, 1},
                             {1000, 1, 1},
                             {1, 33, 1000},
                             {1000, 17, 33},
                             {17, 1000, 32},
                             {33, 65, 129},
                             {129, 32, 17},
                             {65, 129, 31},
                             {32, 64, 96},
                             {128, 64, 16},
                             {64, 128, 48},
                             {31, 65, 300}};
constexpr Shape kParts[] = {{50, 50, 50, 14, 0, 0},
                            {50, 50, 50, 0, 14, 0},
                            {50, 50, 50, 0, 0, 14},
                            {33, 65, 40, 31, 1, 95},
                            {64, 64, 64, 64, 64, 64},
                            {64, 64, 64, 4, 4, 4, 1},
                            {128, 128, 64, 1, 2, 3},
                            {128, 128, 64, 0, 0, 0, 2},
                            {7, 200, 33, 3, 56, 5, 3}};

void check_shapes(Matmul matmul, const Shape* begin, const Shape* end) {
    for (const Shape* shape = begin; shape != end; ++shape) check_product(matmul, *shape);
}

// C holds numbers, and not the usual NaN: what is added to them can be recognised.
void check_overwrites(Matmul matmul) {
    const int m = 70, n = 40, k = 50;
    const Floats a = wb::random_floats(m * k, 11), b = wb::random_floats(k * n, 12);
    const Floats held = wb::random_floats(m * n, 13, 100, 200);
    wb::GuardedBuffer<float> d_a(a, wb::guard(kGuard)), d_b(b, wb::guard(kGuard));
    wb::GuardedBuffer<float> d_c(held, wb::guard(kGuard));
    matmul(d_a.get(), d_b.get(), d_c.get(), {m, n, k, k, n, n});
    CUDA_CHECK(cudaGetLastError());
    const Product want = product(a, b, m, n, k, 0, k);
    const Floats got = d_c.download();
    CHECK_MATRIX(n, got, want.values, [&](size_t i) { return want.tolerance[i]; });
    recognize_mistakes(got,
                       want,
                       a,
                       b,
                       {m, n, k},
                       {"the product is added to what C held before: it should replace that", [&] {
                            Floats sums = held;
                            for (size_t i = 0; i < sums.size(); ++i) sums[i] += want.values[i];
                            return sums;
                        }});
}

void check_no_products(Matmul matmul) {
    for (const auto& [m, n] : {std::pair{1, 1}, {33, 70}, {64, 64}})
        check_product(matmul, {m, n, 0, 0, 0, 3});
}

void check_empty(Matmul matmul) {
    const auto counters = wb::count([&] {
        matmul(nullptr, nullptr, nullptr, {0, 0, 0, 0, 0, 0});
        matmul(nullptr, nullptr, nullptr, {0, 5, 7, 7, 5, 5});
        matmul(nullptr, nullptr, nullptr, {5, 0, 7, 7, 0, 0});
    });
    CHECK(cudaGetLastError() == cudaSuccess);
    if (counters) CHECK(counters->launches == 0);
    check_product(matmul, {2, 3, 4});  // and afterwards the device is as usable as before
}

// Rows that begin 2^31 floats after the first and later, in all three. A little of the gap behind
// each row is looked at.
void check_far_rows(Matmul matmul) {
    const int m = 4, n = 40, k = 35, gap = 3;
    const Sizes sizes{m, n, k, 1 << 30, (1 << 26) + 1, (1 << 30) + 5};
    const Floats a = wb::random_floats(m * k, 31), b = wb::random_floats(k * n, 32);
    const Floats before(size_t(m) * (n + gap), -7.0f);
    wb::SparseMatrix<float> d_a(m, k + gap, sizes.a_pitch, laid_out(a, m, k, k + gap, 0));
    wb::SparseMatrix<float> d_b(k, n + gap, sizes.b_pitch, laid_out(b, k, n, n + gap, 0));
    wb::SparseMatrix<float> d_c(m, n + gap, sizes.c_pitch, before);
    NEED_MEMORY(d_a && d_b && d_c);
    matmul(d_a.get(), d_b.get(), d_c.get(), sizes);
    CUDA_CHECK(cudaGetLastError());
    const Product sums = product(a, b, m, n, k, 0, k);
    Floats want = before;
    for (int row = 0; row < m; ++row)
        std::copy_n(sums.values.begin() + row * n, n, want.begin() + row * (n + gap));
    CHECK_MATRIX(n + gap, d_c.download(), want, [&](size_t i) {
        const size_t row = i / (n + gap), col = i % (n + gap);
        return col < size_t(n) ? sums.tolerance[row * n + col] : 0.0;
    });
}

// An infinite element makes a row of C infinite, or a column, and no other. B and A are positive,
// so that no sum of infinities is left undefined.
void check_infinity(Matmul matmul, bool in_a) {
    const int m = 40, n = 37, k = 45;
    Floats a = wb::random_floats(m * k, 41, 0.5f, 1), b = wb::random_floats(k * n, 42, 0.5f, 1);
    (in_a ? a[3 * k + 30] : b[30 * n + 3]) = kInfinity;
    wb::GuardedBuffer<float> d_a(a, wb::guard(kGuard)), d_b(b, wb::guard(kGuard));
    wb::GuardedBuffer<float> d_c(m * n, wb::guard(kGuard));
    matmul(d_a.get(), d_b.get(), d_c.get(), {m, n, k, k, n, n});
    CUDA_CHECK(cudaGetLastError());
    const Product want = product(a, b, m, n, k, 0, k);
    CHECK_MATRIX(n, d_c.download(), want.values, [&](size_t i) {
        return std::isfinite(want.values[i]) ? want.tolerance[i] : 0.0;
    });
}

void check_refused(const char* name, Matmul matmul) {
    wb::DeviceBuffer<float> d_a(wb::random_floats(50, 8)), d_b(wb::random_floats(50, 9)), d_c(25);
    wb::check_refused_launch(name, [&] {
        matmul(d_a.get(), d_b.get(), d_c.get(), {5, 5, 10, 10, 5, 5});
    });
}

// What the property tests look at: whole tiles, and every row begins at a multiple of 32 bytes.
constexpr int kRows = 256, kCols = 128, kDepth = 64;
constexpr uint64_t kElements = uint64_t(kRows) * kCols, kProducts = kElements * kDepth;

std::optional<EmulatorCounters> counted(Matmul matmul, int m, int n, int k) {
    wb::DeviceBuffer<float> d_a(wb::random_floats(size_t(m) * k, 51));
    wb::DeviceBuffer<float> d_b(wb::random_floats(size_t(k) * n, 52)), d_c(size_t(m) * n);
    return wb::count([&] { matmul(d_a.get(), d_b.get(), d_c.get(), {m, n, k, k, n, n}); });
}

// Loads of floats from global memory, and products, of any shape.
void check_global_loads(Matmul matmul, int m, int n, int k, int tile) {
    CAPTURE(m, n, k);
    const auto counters = counted(matmul, m, n, k);
    NEED_COUNTERS(counters);
    const uint64_t most = loads(m, n, k, tile), floats = counters->global_load_bytes / 4;
    INFO(floats << " floats are loaded from global memory, want at most " << most);
    CHECK(counters->global_store_bytes == uint64_t(4) * m * n);
    CHECK(counters->launches == 1);
    CHECK(floats <= most);
    CHECK(counters->device_to_device_bytes + counters->device_to_host_bytes == 0);
    CHECK(counters->device_allocations == 0);
    CHECK(counters->global_atomics == 0);
}

// By what is requested: sectors that hold nothing else.
void check_sectors(Matmul matmul) {
    const auto counters = counted(matmul, kRows, kCols, kDepth);
    NEED_COUNTERS(counters);
    CHECK(counters->global_store_bytes == 4 * kElements);
    CHECK(counters->global_load_sectors <= counters->global_load_bytes / 32);
    CHECK(counters->global_store_sectors <= kElements / 8);
}

void check_banks(Matmul matmul) {
    for (const auto& [m, n, k] : {std::tuple{kRows, kCols, kDepth}, {97, 75, 50}}) {
        CAPTURE(m, n, k);
        const auto counters = counted(matmul, m, n, k);
        NEED_COUNTERS(counters);
        CHECK(counters->global_store_bytes == uint64_t(4) * m * n);
        CHECK(counters->shared_load_conflicts == 0);
        CHECK(counters->shared_store_conflicts == 0);
    }
}

}  // namespace

TEST_CASE("task 1: multiplies square matrices", "[task1]") {
    check_shapes(matmul_naive, std::begin(kSquare), std::end(kSquare));
}

TEST_CASE("task 1: multiplies wide and tall matrices", "[task1]") {
    check_shapes(matmul_naive, std::begin(kOblong), std::end(kOblong));
}

TEST_CASE("task 1: multiplies parts of larger matrices", "[task1]") {
    check_shapes(matmul_naive, std::begin(kParts), std::end(kParts));
}

TEST_CASE("task 1: replaces what C held before", "[task1]") {
    check_overwrites(matmul_naive);
}

TEST_CASE("task 1: gives zeros where there is nothing to sum", "[task1]") {
    check_no_products(matmul_naive);
}

TEST_CASE("task 1: launches nothing for an empty matrix", "[task1]") {
    check_empty(matmul_naive);
}

TEST_CASE("task 1: as many rows and columns as allowed", "[task1]") {
    check_product(matmul_naive, {kMost, 1, 1});
    check_product(matmul_naive, {1, kMost, 1});
    check_product(matmul_naive, {1, 1, kMost});
}

TEST_CASE("task 1: rows that begin 2^31 floats after the first and later", "[task1]") {
    check_far_rows(matmul_naive);
}

TEST_CASE("task 1: a refused launch is an exception", "[task1]") {
    check_refused("matmul_naive", matmul_naive);
}

TEST_CASE("task 2: counts the loads of whole tiles", "[task2]") {
    // By hand: 4 tiles, each with 32 rows and 32 columns of 64 floats; and without a tile, two
    // floats for each product.
    CHECK_RESULT(floats_loaded(64, 64, 64, 32), 4 * 2 * 32 * 64);
    CHECK_RESULT(floats_loaded(100, 100, 100, 1), 2000000);
    check_loads({{64, 64, 64, 32}, {1, 1, 1, 1}, {100, 100, 100, 1}, {96, 32, 500, 32}});
}

TEST_CASE("task 2: counts the loads of tiles that are not full", "[task2]") {
    std::vector<Count> counts;
    for (const int m : {0, 1, 31, 32, 33, 65, 100})
        for (const int n : {0, 1, 31, 32, 33, 65, 97})
            for (const int k : {0, 1, 50})
                for (const int tile : {1, 16, 32, 64}) counts.push_back({m, n, k, tile});
    check_loads(counts);
}

TEST_CASE("task 2: counts the loads of matrices as large as allowed", "[task2]") {
    check_loads({{4096, 4096, 4096, 32},
                 {kMost, kMost, kMost, 1},
                 {kMost, kMost, kMost, 32},
                 {kMost, kMost - 1, kMost - 2, 64},
                 {kMost, 1, kMost, kMost},
                 {kMost, kMost, 1, kMost},
                 {50000, 40000, 30000, 7}});
}

TEST_CASE("task 3: multiplies square matrices", "[task3]") {
    check_shapes(matmul_tiled, std::begin(kSquare), std::end(kSquare));
}

TEST_CASE("task 3: multiplies wide and tall matrices", "[task3]") {
    check_shapes(matmul_tiled, std::begin(kOblong), std::end(kOblong));
}

TEST_CASE("task 3: multiplies parts of larger matrices", "[task3]") {
    check_shapes(matmul_tiled, std::begin(kParts), std::end(kParts));
}

TEST_CASE("task 3: replaces what C held before", "[task3]") {
    check_overwrites(matmul_tiled);
}

TEST_CASE("task 3: gives zeros where there is nothing to sum", "[task3]") {
    check_no_products(matmul_tiled);
}

TEST_CASE("task 3: launches nothing for an empty matrix", "[task3]") {
    check_empty(matmul_tiled);
}

TEST_CASE("task 3: an infinity stays in its row or column", "[task3]") {
    check_infinity(matmul_tiled, true);
    check_infinity(matmul_tiled, false);
}

TEST_CASE("task 3: as many rows and columns as allowed", "[task3]") {
    check_product(matmul_tiled, {kMost, 1, 0});
    check_product(matmul_tiled, {1, kMost, 0});
    check_product(matmul_tiled, {1, 1, kMost});
}

TEST_CASE("task 3: rows that begin 2^31 floats after the first and later", "[task3]") {
    check_far_rows(matmul_tiled);
}

TEST_CASE("task 3: a refused launch is an exception", "[task3]") {
    check_refused("matmul_tiled", matmul_tiled);
}

TEST_CASE("task 4: multiplies square matrices", "[task4]") {
    check_shapes(matmul_registers, std::begin(kSquare), std::end(kSquare));
}

TEST_CASE("task 4: multiplies wide and tall matrices", "[task4]") {
    check_shapes(matmul_registers, std::begin(kOblong), std::end(kOblong));
}

TEST_CASE("task 4: multiplies parts of larger matrices", "[task4]") {
    check_shapes(matmul_registers, std::begin(kParts), std::end(kParts));
}

TEST_CASE("task 4: replaces what C held before", "[task4]") {
    check_overwrites(matmul_registers);
}

TEST_CASE("task 4: gives zeros where there is nothing to sum", "[task4]") {
    check_no_products(matmul_registers);
}

TEST_CASE("task 4: launches nothing for an empty matrix", "[task4]") {
    check_empty(matmul_registers);
}

TEST_CASE("task 4: an infinity stays in its row or column", "[task4]") {
    check_infinity(matmul_registers, true);
    check_infinity(matmul_registers, false);
}

TEST_CASE("task 4: as many rows and columns as allowed", "[task4]") {
    check_product(matmul_registers, {kMost, 1, 0});
    check_product(matmul_registers, {1, kMost, 0});
    check_product(matmul_registers, {1, 1, kMost});
}

TEST_CASE("task 4: rows that begin 2^31 floats after the first and later", "[task4]") {
    check_far_rows(matmul_registers);
}

TEST_CASE("task 4: a refused launch is an exception", "[task4]") {
    check_refused("matmul_registers", matmul_registers);
}

TEST_CASE("efficient: the naive kernel loads two floats for each product, side by side",
          "[efficient][task1]") {
    check_global_loads(matmul_naive, kRows, kCols, kDepth, 1);
    const auto counters = counted(matmul_naive, kRows, kCols, kDepth);
    NEED_COUNTERS(counters);
    // For 32 products: one sector of A, which all lanes share, and four of B.
    CHECK(counters->global_load_sectors <= 5 * kProducts / 32);
    CHECK(counters->global_store_sectors <= kElements / 8);
    CHECK(counters->shared_store_requests + counters->shared_load_requests == 0);
    CHECK(counters->double_instructions == 0);
    wb::check_shared_work(*counters, kElements, 31, 4000);
}

TEST_CASE("efficient: a tile is loaded once for all threads of a block", "[efficient][task3]") {
    check_global_loads(matmul_tiled, kRows, kCols, kDepth, kTile);
    check_global_loads(matmul_tiled, 97, 75, 50, kTile);
}

TEST_CASE("efficient: tiles are loaded and stored by neighbouring threads, side by side",
          "[efficient][task3]") {
    check_sectors(matmul_tiled);
}

TEST_CASE("efficient: no two lanes read different words of one bank", "[efficient][task3]") {
    check_banks(matmul_tiled);
}

TEST_CASE("efficient: two barriers for each tile, and all threads multiply", "[efficient][task3]") {
    const auto counters = counted(matmul_tiled, kRows, kCols, kDepth);
    NEED_COUNTERS(counters);
    CHECK(counters->global_store_bytes == 4 * kElements);
    // And one more of each block, for what comes after its tiles.
    CHECK(counters->block_barriers <= 2 * kProducts / (kTile * kTile * kTile) + counters->blocks);
    CHECK(counters->double_instructions == 0);
    CHECK(counters->local_load_requests + counters->local_store_requests == 0);
    CHECK(counters->warp_instructions <= 6 * kProducts / 32);
    wb::check_shared_work(*counters, kElements / 8, 31, 2500);
}

TEST_CASE("efficient: 64 x 64 elements share what their block loads", "[efficient][task4]") {
    check_global_loads(matmul_registers, kRows, kCols, kDepth, 64);
    check_global_loads(matmul_registers, 97, 75, 50, 64);
}

TEST_CASE("efficient: slabs are loaded and stored by neighbouring threads, side by side",
          "[efficient][task4]") {
    check_sectors(matmul_registers);
}

TEST_CASE("efficient: slabs are read without bank conflicts", "[efficient][task4]") {
    check_banks(matmul_registers);
}

TEST_CASE("efficient: what a thread has in registers serves several products",
          "[efficient][task4]") {
    const auto counters = counted(matmul_registers, kRows, kCols, kDepth);
    NEED_COUNTERS(counters);
    const double each = 32.0 * double(counters->shared_load_requests) / double(kProducts);
    INFO(each << " loads from shared memory for each product, want at most 0.7");
    CHECK(counters->global_store_bytes == 4 * kElements);
    CHECK(each <= 0.7);
    CHECK(counters->warp_instructions <= 5 * kProducts / 32);
    CHECK(counters->double_instructions == 0);
}

TEST_CASE("efficient: sums are in registers, and not in local memory", "[efficient][task4]") {
    const auto counters = counted(matmul_registers, kRows, kCols, kDepth);
    NEED_COUNTERS(counters);
    CHECK(counters->global_store_bytes == 4 * kElements);
    CHECK(counters->local_load_requests == 0);
    CHECK(counters->local_store_requests == 0);
}

TEST_CASE("efficient: two barriers for each slab, and all threads share the work",
          "[efficient][task4]") {
    const auto counters = counted(matmul_registers, kRows, kCols, kDepth);
    NEED_COUNTERS(counters);
    CHECK(counters->global_store_bytes == 4 * kElements);
    // A slab of 64 x 64 elements has at least 8 columns of A.
    CHECK(counters->block_barriers <= 2 * kProducts / (64 * 64 * 8) + counters->blocks);
    wb::check_shared_work(*counters, kElements / 64, 30, 9000);
}
