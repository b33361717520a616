// SPDX-License-Identifier: MIT
// Lesson 12: every pixel is right, no pixel lands in the wrong row, and a warp's lanes finish at
// about the same time.
//
// Tolerance: none in double. Rounding differs by fma on the device and may differ by the order of
// the operations; twenty steps make 1e-10 of that at most, and no pixel of the pictures tested here
// has |z|^2 that close to 4. In float 11 to 13 of the 6,000,000 pixels come out differently: 60 are
// allowed.
#include "cases/shared_work.h"
#include "cases/sparse.h"
#include "lesson_test.h"
#include "reference.h"

#include <algorithm>
#include <numeric>

namespace {

constexpr size_t kGuard = 4096;  // elements on each side of every array, on a real GPU

// Compares answer(row, column) in these pixels.
void check_no_float_on_the_way(std::function<int(int row, int column)> answer) {
    for (const auto& [row, column] : kTooCoarseForFloat) {
        const double cr = spaced(-1.5, 0, column, 3000), ci = spaced(-1, 0, row, 2000);
        const int got = answer(row, column), want = true_escape_time(cr, ci);
        INFO("row " << row << ", column " << column << " of 2000 x 3000, in double: got " << got
                    << ", want " << want << "; float is too coarse for this pixel");
        const bool right = got == want;
        CHECK(right);
    }
}

template <class T>
std::vector<int> picture(int height, int width) {
    const std::vector<int> before(size_t(height) * width, -7);
    wb::GuardedBuffer<int> pixels(before, wb::guard(kGuard));
    mandelbrot<T>(pixels.get(), height, width, width);
    CUDA_CHECK(cudaGetLastError());
    CHECK(pixels.intact());
    return pixels.download();
}

// Of a wrong picture: whether only what lies past its right edge was touched.
void look_past_the_edge(const std::vector<int>& got, const std::vector<int>& want) {
    size_t wrong = 0, touched = 0;
    for (size_t i = 0; i < got.size(); ++i) {
        wrong += got[i] != want[i];
        touched += want[i] == -7 && got[i] != -7;
    }
    if (touched && touched == wrong)
        wb::details::note_mistakes(
            {"columns past the right edge of the picture were written: is each axis guarded?"},
            wrong);
}

template <class T>
void check_picture(int height, int width, int extra) {
    CAPTURE(height, width, extra);
    const int pitch = width + extra;
    wb::GuardedBuffer<int> pixels(std::vector<int>(size_t(height) * pitch, -7), wb::guard(kGuard));
    mandelbrot<T>(pixels.get(), height, width, pitch);
    CUDA_CHECK(cudaGetLastError());
    CHECK(pixels.intact());
    const auto got = pixels.download();
    const auto want = padded(true_picture(height, width), height, width, pitch);
    CHECK_MATRIX(pitch, got, want);
    look_past_the_edge(got, want);
    std::vector<wb::Mistake<int>> mistakes;
    const auto add = [&](const char* words, Rule rule, Grid grid) {
        mistakes.push_back(
            {words, [=] {
                 return padded(picture_by(rule, grid, height, width, pitch), height, width, pitch);
             }});
    };
    for (const auto& [rule, words] : kWrongRules) add(words, rule, Grid::kRight);
    mistakes.push_back({"rows are stored `width` elements apart, not `pitch`", [&] {
                            auto out = padded(true_picture(height, width), height, width, width);
                            out.resize(want.size(), -7);
                            return out;
                        }});
    for (const auto& [grid, words] : kWrongGrids) add(words, Rule::kRight, grid);
    wb::recognize(got, want, mistakes);
}

// One number of simt_efficiency, and what it is often made of instead.
void check_efficiency(const std::vector<int>& trips) {
    const int n = int(trips.size());
    double wanted = 0, most = 0;
    std::vector<double> slowest(n / 32 + 1), lanes(n / 32 + 1);
    for (int i = 0; i < n; ++i) {
        wanted += trips[i];
        slowest[i / 32] = std::max<double>(slowest[i / 32], trips[i]);
        ++lanes[i / 32];
        most = std::max<double>(most, trips[i]);
    }
    double next_too = 0, slowest_of_next = 0;
    for (int w = 0; w < n; w += 32) {
        const auto last = trips.begin() + std::min(n, w + 33);
        next_too = std::accumulate(trips.begin() + w, last, next_too);
        slowest_of_next += 32.0 * *std::max_element(trips.begin() + w, last);
    }
    double paid = 0, of_those_there = 0, whole = 0, whole_wanted = 0, running = 0, so_far = 0;
    for (size_t w = 0; w < slowest.size(); ++w) {
        paid += 32 * slowest[w];
        of_those_there += lanes[w] * slowest[w];
        if (lanes[w] == 32) whole += 32 * slowest[w];
        so_far = std::max(so_far, slowest[w]);
        running += lanes[w] ? 32 * so_far : 0;
    }
    for (int i = 0; i < n / 32 * 32; ++i) whole_wanted += trips[i];
    double paid_in_int = 0, wanted_in_int = 0;
    for (int w = 0; w < n; w += 32) {
        uint32_t sum = 0;
        for (int i = w; i < std::min(n, w + 32); ++i) sum += uint32_t(trips[i]);
        wanted_in_int += int32_t(sum);
        paid_in_int += int32_t(32 * uint32_t(slowest[w / 32]));
    }
    const auto share = [](double a, double b) { return std::vector{b > 0 ? a / b : 1.0}; };
    const auto want = share(wanted, paid);
    const auto near = [&](size_t) { return 1e-9; };
    CAPTURE(n);
    const std::vector got{simt_efficiency(trips.data(), n)};
    CHECK_ARRAYS(got, want, near, "efficiency of list");
    wb::recognize<double>(
        got,
        want,
        {{"lanes that are missing from the last warp cost nothing: they are paid like idle ones",
          [&] { return share(wanted, of_those_there); }},
         {"32 times the trips of the slowest lane are too many for an int",
          [&] { return share(wanted, paid_in_int); }},
         {"the trips of all lanes are too many for an int",
          [&] { return share(wanted_in_int, paid); }},
         {"the trips of all lanes are added up, where the slowest lane counts",
          [&] { return share(wanted, 32 * wanted); }},
         {"the last warp is ignored where it is not full",
          [&] { return share(whole_wanted, whole); }},
         {"the slowest lane of one warp is still the slowest of the next",
          [&] { return share(wanted, running); }},
         {"all warps wait for the slowest lane of all: each waits for its own only",
          [&] { return share(wanted, 32.0 * slowest.size() * most); }},
         {"a warp's trips are paid once, not by each of its 32 lanes",
          [&] { return share(wanted, paid / 32); }},
         {"each warp has 33 lanes here: the first of the next one is among them",
          [&] { return share(next_too, slowest_of_next); }},
         {"the mean of the warps' efficiencies, where all wanted trips are divided by all paid "
          "ones",
          [&] {
              double sum = 0;
              for (int w = 0; w < n; w += 32) {
                  double of_warp = 0;
                  for (int i = w; i < std::min(n, w + 32); ++i) of_warp += trips[i];
                  if (slowest[w / 32] > 0) sum += of_warp / (32 * slowest[w / 32]);
              }
              return std::vector{sum / ((n + 31) / 32)};
          }},
         {"all threads wait for the slowest of all: each warp waits for its own only",
          [&] { return share(wanted, n * most); }},
         {"paid over wanted, not wanted over paid", [&] { return share(paid, wanted); }},
         {"a warp pays for the mean of its lanes, not for the slowest",
          [&] { return std::vector{1.0}; }}},
        near);
}

// The sum of all pixels, and how many never escape.
void check_sums(const std::vector<int>& pixels, long long sum, long inside) {
    const auto got_sum = std::accumulate(pixels.begin(), pixels.end(), 0ll);
    const auto got_inside = std::count(pixels.begin(), pixels.end(), kMostSteps);
    INFO("the sum of all pixels: got " << got_sum << ", want " << sum
                                       << "; pixels that never escape: got " << got_inside
                                       << ", want " << inside);
    CHECK(got_sum == sum);
    CHECK(got_inside == inside);
}

std::optional<wb::Counters> count_picture(void (*draw)(int*, int, int, int), int height, int width,
                                          int pitch) {
    wb::DeviceBuffer<int> pixels(size_t(height) * pitch);
    return wb::count([&] { draw(pixels.get(), height, width, pitch); });
}

}  // namespace

TEST_CASE("task 1: escape times of well-known points", "[task1]") {
    CHECK_RESULT(escape_time(0.0, 0.0), 20);
    CHECK_RESULT(escape_time(-1.0, 0.0), 20);
    CHECK_RESULT(escape_time(-2.0, 0.0), 20);  // |z|^2 is 4 for ever, never above
    CHECK_RESULT(escape_time(0.0, 1.0), 20);
    CHECK_RESULT(escape_time(2.0, 0.0), 0);  // 6
    CHECK_RESULT(escape_time(1.0, 0.0), 1);  // 2, then 5
    CHECK_RESULT(escape_time(-0.75, 1.0), 1);
    CHECK_RESULT(escape_time(0.5f, 0.5f), 3);
}

TEST_CASE("task 1: escape times anywhere", "[task1]") {
    const auto cr = wb::random_floats(20000, 1, -2.2f, 1.2f);
    const auto ci = wb::random_floats(20000, 2, -1.5f, 1.5f);
    std::vector<int> got, want;
    for (size_t i = 0; i < cr.size(); ++i) {
        got.push_back(escape_time<double>(cr[i], ci[i]));
        want.push_back(true_escape_time<double>(cr[i], ci[i]));
    }
    CHECK_ARRAYS(
        got, want, [](size_t) { return 0.0; }, "point");
    std::vector<wb::Mistake<int>> mistakes;
    for (const auto& [rule, words] : kWrongRules)
        mistakes.push_back({words, [&, rule = rule] {
                                std::vector<int> out;
                                for (size_t i = 0; i < cr.size(); ++i)
                                    out.push_back(escape_by<double>(rule, cr[i], ci[i]));
                                return out;
                            }});
    wb::recognize(got, want, mistakes);
}

TEST_CASE("task 1: escape times where a float is too coarse", "[task1]") {
    check_no_float_on_the_way([](int row, int column) {
        return escape_time<double>(spaced(-1.5, 0, column, 3000), spaced(-1, 0, row, 2000));
    });
}

TEST_CASE("task 2: a picture that one block can draw", "[task2]") {
    for (const int height : {1, 2, 3, 8})
        for (const int width : {1, 2, 5, 31, 32}) check_picture<double>(height, width, 0);
}

TEST_CASE("task 2: leaves the columns past the picture alone", "[task2]") {
    for (const int height : {2, 7, 8})
        for (const int width : {1, 13, 30}) check_picture<double>(height, width, 5);
}

TEST_CASE("task 3: pictures of any shape", "[task3]") {
    for (const auto& [height, width] : {std::pair{31, 33}, {33, 31}, {8, 64}, {9, 65}, {257, 129}})
        check_picture<double>(height, width, 0);
    check_picture<float>(101, 203, 0);
}

TEST_CASE("task 3: one row, one column", "[task3]") {
    check_picture<double>(1, 1000, 0);
    check_picture<double>(1000, 1, 0);
    check_picture<double>(1000, 1, 1);
}

TEST_CASE("task 3: a very tall and a very wide picture", "[task3]") {
    check_picture<double>(65535, 2, 0);
    check_picture<double>(2, 65536, 3);
}

TEST_CASE("task 3: leaves the columns past the picture alone", "[task3]") {
    const int extra = GENERATE(1, 13, 32);
    check_picture<double>(100, 150, extra);
    check_picture<double>(67, 1000, extra);
}

TEST_CASE("task 3: rows that begin 2^31 pixels after the first and later", "[task3]") {
    const int height = 6, width = 70, extra = 3, pitch = 1 << 29;
    const std::vector<int> before(size_t(height) * (width + extra), -7);
    wb::SparseMatrix<int> pixels(height, width + extra, pitch, before);
    NEED_MEMORY(pixels);
    mandelbrot<double>(pixels.get(), height, width, pitch);
    CUDA_CHECK(cudaGetLastError());
    const auto want = padded(true_picture(height, width), height, width, width + extra);
    CHECK_MATRIX(width + extra, pixels.download(), want);
}

TEST_CASE("task 3: 200 x 300 pixels", "[task3]") {
    check_sums(picture<double>(200, 300), 644684, 25170);
}

TEST_CASE("task 3: 2000 x 3000 pixels", "[task3]") {
    const auto got = picture<double>(2000, 3000);
    check_sums(got, 64467103, 2513990);
    check_no_float_on_the_way([&](int row, int column) { return got[row * 3000 + column]; });
}

TEST_CASE("task 3: 2000 x 3000 pixels in float", "[task3]") {
    const auto got = picture<float>(2000, 3000), want = true_picture(2000, 3000);
    size_t different = 0;
    for (size_t i = 0; i < want.size(); ++i) different += got[i] != want[i];
    INFO("of 6,000,000 pixels in float, " << different
                                          << " differ from those in double, want 60 at most");
    CHECK(different <= 60);
}

TEST_CASE("task 4: efficiency of a few warps", "[task4]") {
    check_efficiency(std::vector<int>(64, 7));
    std::vector<int> one(32, 0), two(64, 1);
    one[17] = 5;
    two[40] = 9;  // a slow lane costs its own warp only
    check_efficiency(one);
    check_efficiency(two);
}

TEST_CASE("task 4: efficiency when lanes are missing", "[task4]") {
    check_efficiency({4, 4, 4});
    check_efficiency(std::vector<int>(33, 2));
    check_efficiency({});
    check_efficiency(std::vector<int>(50, 0));
}

TEST_CASE("task 4: efficiency of random trips", "[task4]") {
    for (const int n : {31, 32, 33, 1000, 100003}) check_efficiency(wb::random_ints(n, 9, 0, 50));
}

TEST_CASE("task 4: efficiency when trips are many", "[task4]") {
    for (const int n : {32, 100})  // a few of them pass any int
        check_efficiency(wb::random_ints(n, 10, 1 << 29, INT32_MAX));
}

TEST_CASE("efficient: one launch, few threads without a pixel, coalesced stores",
          "[efficient][task1][task2][task3]") {
    const uint64_t height = 256, width = 1024, pixels = height * width;  // blocks fit exactly
    const auto counted = count_picture(mandelbrot<double>, height, width, width);
    NEED_COUNTERS(counted);
    CHECK(counted->launches == 1);
    CHECK(counted->threads <= pixels + pixels / 50);
    CHECK(counted->threads >= 2048);  // one block is not enough
    CHECK(counted->global_store_bytes == 4 * pixels);
    CHECK(counted->global_store_sectors <= 4 * pixels / 32 + pixels / 256);
    CHECK(counted->global_load_bytes == 0);
    CHECK(counted->host_to_device_bytes + counted->device_to_host_bytes == 0);
}

TEST_CASE("efficient: the warps of the grid share the work", "[efficient][task1][task2][task3]") {
    const int height = 128, width = 1024;
    wb::DeviceBuffer<int> pixels(height * width);
    mandelbrot<float>(pixels.get(), height, width, width);
    wb::check_shared_work("mandelbrot", pixels.get(), height * width);
}

TEST_CASE("efficient: the lanes of a warp finish at about the same time",
          "[efficient][task1][task2][task3]") {
    const uint64_t pixels = 2000 * 3000;
    const auto counted = count_picture(mandelbrot<float>, 2000, 3000, 3000);
    NEED_COUNTERS(counted);
    CHECK(counted->global_store_bytes == 4 * pixels);
    REQUIRE(counted->warp_instructions > 0);
    const auto busy = wb::measured(
        "lanes_at_work", counted->thread_instructions / (32.0 * counted->warp_instructions));
    CHECK(busy >= 0.95);
}

TEST_CASE("efficient: a lane that is done stops computing", "[efficient][task1][task2][task3]") {
    // One row has ci = -1, two rows have -1 and 0: the second one lies inside, 20 steps each.
    const auto one = count_picture(mandelbrot<float>, 1, 3000, 3000);
    const auto two = count_picture(mandelbrot<float>, 2, 3000, 3000);
    const auto all = count_picture(mandelbrot<float>, 500, 750, 750);
    NEED_COUNTERS(all);
    CHECK(all->global_store_bytes == 4 * 500 * 750);
    const auto inside = wb::measured(
        "instructions_inside", (1.0 * two->thread_instructions - one->thread_instructions) / 3000);
    // The mean pixel takes 11 steps.
    CHECK(all->thread_instructions <= 0.8 * inside * 500 * 750);
}

TEST_CASE("efficient: float arithmetic stays float", "[efficient][task1][task2][task3]") {
    const auto counted = count_picture(mandelbrot<float>, 100, 320, 320);
    NEED_COUNTERS(counted);
    CHECK(counted->global_store_bytes == 4 * 100 * 320);
    CHECK(counted->double_instructions == 0);
}
