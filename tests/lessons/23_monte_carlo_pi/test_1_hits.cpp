// SPDX-License-Identifier: MIT
// Lesson 23, the hits: exactly the requested samples, and all bits of the count.
//
// Tolerance: counts are compared exactly, since points are whole numbers.
#include "checks.h"
#include "watches/call_checks.h"

#include <algorithm>
#include <array>

namespace {

uint64_t hits_of_threads(uint64_t seed, uint64_t first, uint64_t n, uint64_t threads) {
    uint64_t hits = 0;
    for (uint64_t thread = 0; thread < threads; ++thread)
        hits += thread_hits(seed, first, n, thread, threads);
    return hits;
}

// The counter after a call that started from `before`. Poison lies on both sides.
unsigned long long hits_of(uint64_t seed, uint64_t first, uint64_t n, int blocks, int threads,
                           unsigned long long before = 0) {
    wb::GuardedBuffer<unsigned long long> d_hits(std::vector<unsigned long long>{before},
                                                 wb::guard(64));
    count_hits(seed, first, n, d_hits.get(), blocks, threads);
    CUDA_CHECK(cudaGetLastError());
    CHECK(d_hits.intact());
    return d_hits.download()[0];
}

void check_point(uint32_t word, int x, int y) {
    const int2 got = point_of(word);
    const bool right = got.x == x && got.y == y;
    INFO("point_of(0x" << std::hex << word << std::dec << "): got (" << got.x << ", " << got.y
                       << "), want (" << x << ", " << y << ")");
    CHECK(right);
}

void check_circle(int x, int y) {
    const bool got = in_circle(make_int2(x, y)), want = inside(x, y);
    const bool right = got == want;
    INFO("point (" << x << ", " << y << "): got " << (got ? "inside" : "outside") << ", want "
                   << (want ? "inside" : "outside"));
    CHECK(right);
}

// For the diagnosis of wrong points: x of all words, then y of all words.
void recognize_points(const std::vector<uint32_t>& words, const std::vector<int>& got,
                      const std::vector<int>& want) {
    const auto by = [&](auto x, auto y) {
        return [&words, x, y] {
            std::vector<int> out;
            for (const uint32_t word : words) out.push_back(x(word));
            for (const uint32_t word : words) out.push_back(y(word));
            return out;
        };
    };
    const auto lower = [](uint32_t word) { return whole(word); };
    const auto upper = [](uint32_t word) { return whole(word >> 16); };
    wb::recognize<int>(got,
                       want,
                       {{"x and y are swapped", by(upper, lower)},
                        {"one of the halves is read without a sign",
                         by(lower, [](uint32_t word) { return int(word >> 16); })},
                        {"one of the halves is read without a sign",
                         by([](uint32_t word) { return int(word & 0xFFFF); }, upper)},
                        {"x and y come from the same half of the word", by(lower, lower)},
                        {"x and y come from the same half of the word", by(upper, upper)},
                        {"the halves are read without a sign",
                         by([](uint32_t word) { return int(word & 0xFFFF); },
                            [](uint32_t word) { return int(word >> 16); })},
                        {"the radius is subtracted from a half without a sign, which is not the "
                         "number that the same bits are with a sign",
                         by([](uint32_t word) { return int(word & 0xFFFF) - kRadius; },
                            [](uint32_t word) { return int(word >> 16) - kRadius; })}});
}

// The same for points inside (1) or outside (0).
void recognize_circle(const std::vector<int2>& points, const std::vector<int>& got) {
    const auto by = [&](auto is_inside) {
        return [&points, is_inside] {
            std::vector<int> out;
            for (const int2 p : points) out.push_back(is_inside(double(p.x), double(p.y)));
            return out;
        };
    };
    wb::recognize<int>(
        got,
        by(inside)(),
        {{"the squares are compared with the radius itself, not with its square",
          by([](double x, double y) { return x * x + y * y < kRadius; })},
         {"no squares: the sum of x and y is compared with the radius",
          by([](double x, double y) { return std::fabs(x) + std::fabs(y) < kRadius; })},
         {"squares in float, which holds 24 bits: too few near the circle",
          by([](double x, double y) { return float(x * x) + float(y * y) < 0x1p30f; })}});
}

// Mistakes that only a few points show.
void note_circle() {
    const int r = kRadius;
    const bool corner = in_circle(make_int2(-r, -r)), on_it = in_circle(make_int2(-r, 0)),
               inside_it = in_circle(make_int2(0, 1 - r)),
               beyond = in_circle(make_int2(r - 1, r - 1));
    if (corner && inside_it && !on_it && !beyond)
        wb::details::note_mistakes({"the sum of the squares does not fit in an int: in the corner "
                                    "it is 2^31, which becomes negative"},
                                   3);
    if (on_it && inside_it && in_circle(make_int2(0, -r)) && !corner && !beyond)
        wb::details::note_mistakes({"a point on the circle counts as inside"}, 3);
}

// The hits of n samples by all threads together, for each n, and the usual mistakes.
void check_threads(uint64_t seed, uint64_t first, const std::vector<uint64_t>& counts,
                   uint64_t threads) {
    std::vector<uint64_t> got, want;
    for (const uint64_t n : counts) {
        const uint64_t counted = hits_of_threads(seed, first, n, threads);
        const uint64_t true_count = true_hits(seed, first, n);
        check_hits(samples(first, n) + ", counted by " + std::to_string(threads) + " threads",
                   counted,
                   true_count);
        got.push_back(counted);
        want.push_back(true_count);
    }
    // hits(n): what a mistake counts.
    const auto by = [&](auto&& hits) {
        return [&, hits] {
            std::vector<uint64_t> out;
            for (const uint64_t n : counts) out.push_back(hits(n));
            return out;
        };
    };
    const auto whole = [&](uint64_t n) {  // the samples of whole quads: first one, end
        const uint64_t begin = (first + 3) / 4 * 4, end = (first + n) / 4 * 4;
        return std::pair(std::min(begin, first + n), std::max(std::min(begin, first + n), end));
    };
    wb::recognize<uint64_t>(
        got,
        want,
        {{"misses are counted instead of hits",
          by([&](uint64_t n) { return n - true_hits(seed, first, n); })},
         {"only whole quads are counted: the samples at the ends are left out", by([&](uint64_t n) {
              const auto [begin, end] = whole(n);
              return true_hits(seed, begin, end - begin);
          })},
         {"the samples after the last whole quad are left out",
          by([&](uint64_t n) { return true_hits(seed, first, whole(n).second - first); })},
         {"the samples before the first whole quad are left out", by([&](uint64_t n) {
              const uint64_t begin = whole(n).first;
              return true_hits(seed, begin, first + n - begin);
          })},
         {"samples before the first whole quad are counted that lie past the end: n may be smaller "
          "than what is left of a quad",
          by([&](uint64_t n) {
              const uint64_t begin = (first + 3) / 4 * 4;
              const uint64_t past = begin > first + n ? begin - (first + n) : 0;
              return true_hits(seed, first, n) + true_hits(seed, first + n, past);
          })},
         {"the quad of the first sample is counted as a whole, with the samples before the first",
          by([&](uint64_t n) {
              const uint64_t begin = first / 4 * 4, end = (first + n) / 4 * 4;
              const uint64_t last = std::max(begin, end);
              return true_hits(seed, begin, last - begin) +
                     (last < first + n ? true_hits(seed,
                                                   std::max(last, first),
                                                   first + n - std::max(last, first))
                                       : 0);
          })},
         {"every thread counts all samples",
          by([&](uint64_t n) { return threads * true_hits(seed, first, n); })},
         {"every thread counts the samples after the last whole quad", by([&](uint64_t n) {
              const uint64_t end = whole(n).second;
              return true_hits(seed, first, n) +
                     (threads - 1) * true_hits(seed, end, first + n - end);
          })},
         {"every thread counts the same number of samples, rounded up: more than n are drawn",
          by([&](uint64_t n) {
              return true_hits(seed, first, (n + threads - 1) / threads * threads);
          })},
         {"each thread has a seed of its own: the samples depend on the grid", by([&](uint64_t n) {
              uint64_t hits = 0;
              for (uint64_t i = 0; i < n; ++i) hits += true_hits(seed + i % threads, first + i, 1);
              return hits;
          })},
         {"each sample takes the quad of its own number, but four samples share one",
          by([&](uint64_t n) {
              uint64_t hits = 0;
              for (uint64_t i = first; i < first + n; ++i) hits += true_hits(seed, 4 * i, 1);
              return hits;
          })}});
}

}  // namespace

TEST_CASE("task 1: makes a point of a word", "[task1]") {
    std::vector<int> x, y, want_x, want_y;
    std::vector<uint32_t> words;
    for (uint64_t i = 0; i < 500; ++i) {
        const uint4 quad = random_quad(kSeed, i);
        for (const uint32_t word : {quad.x, quad.y, quad.z, quad.w}) {
            const int2 point = point_of(word);
            words.push_back(word);
            x.push_back(point.x);
            y.push_back(point.y);
            want_x.push_back(whole(word));
            want_y.push_back(whole(word >> 16));
        }
    }
    std::vector<int> both = x, want_both = want_x;
    both.insert(both.end(), y.begin(), y.end());
    want_both.insert(want_both.end(), want_y.begin(), want_y.end());
    recognize_points(words, both, want_both);
    const auto exactly = [](size_t) { return 0.0; };
    CHECK_ARRAYS(x, want_x, exactly, "x of word");
    CHECK_ARRAYS(y, want_y, exactly, "y of word");
}

TEST_CASE("task 1: the square has four quarters and the right ends", "[task1]") {
    check_point(0x00008000, -kRadius, 0);
    check_point(0x80000000, 0, -kRadius);
    check_point(0x12347FFF, kRadius - 1, 0x1234);
    check_point(0x7FFF0000, 0, kRadius - 1);
    check_point(0xFFFF0000, 0, -1);
    check_point(0xFFFFFFFF, -1, -1);
    std::array<int, 4> quarters{};
    for (uint64_t i = 0; i < 1000; ++i) {
        const int2 point = point_of(random_quad(7, i).x);
        ++quarters[2 * (point.y < 0) + (point.x < 0)];
    }
    for (const int points : quarters)  // 250, sigma sqrt(1000 / 4 * 3 / 4) = 14
        check_within("points in one quarter of the square, of 1000", points, 180, 320);
}

TEST_CASE("task 1: finds the circle to the last bit", "[task1]") {
    const int r = kRadius;
    check_circle(0, 0);
    check_circle(-r, 0);
    check_circle(0, -r);
    check_circle(0, 1 - r);
    check_circle(-r, -r);  // the sum is 2^31, which no int holds
    check_circle(r - 1, r - 1);
    check_circle(r - 1, 255);
    check_circle(r - 1, 256);  // 2^30 + 1
    check_circle(23170, 23170);
    check_circle(23171, -23170);
    check_circle(19660, 26215);  // 2^30 + 1
    note_circle();
    std::vector<int2> points;
    std::vector<int> got;
    for (int i = 0; i < 2000; ++i) {
        const int x = int(wb::splitmix64(i) % (2 * r)) - r;
        const int y = int(wb::splitmix64(~uint64_t(i)) % (2 * r)) - r;
        // Anywhere, and along the circle, where one unit decides.
        const int edge = int(std::sqrt(0x1p30 - double(x) * x)) + i % 3 - 1;
        points.push_back(make_int2(x, y));
        if (edge < r) points.push_back(make_int2(x, edge));
        points.push_back(make_int2(x / 128, y / 128));  // and near the centre
    }
    for (int x = 0; x < r; ++x) {  // so near that 24 bits are not enough
        const int edge = int(std::sqrt(0x1p30 - double(x) * x));
        for (const int y : {edge, edge + 1})
            if (y < r && std::fabs(double(x) * x + double(y) * y - 0x1p30) < 48)
                points.push_back(make_int2(x, y));
    }
    for (const int2 point : points) got.push_back(in_circle(point));
    recognize_circle(points, got);
    for (size_t i = 0; i < points.size(); ++i) {
        const bool want = inside(points[i].x, points[i].y);
        INFO("point (" << points[i].x << ", " << points[i].y << "): got "
                       << (got[i] ? "inside" : "outside") << ", want "
                       << (want ? "inside" : "outside"));
        const bool is_right = bool(got[i]) == want;
        REQUIRE(is_right);
    }
}

TEST_CASE("task 2: the threads together count exactly n samples", "[task2]") {
    const uint64_t threads = GENERATE(as<uint64_t>{}, 32, 33, 64, 100, 1024);
    check_threads(kSeed, 0, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 31, 127, 128, 129, 1021}, threads);
}

TEST_CASE("task 2: the first sample may be any", "[task2]") {
    const uint64_t first = GENERATE(as<uint64_t>{},
                                    1,
                                    2,
                                    3,
                                    4,
                                    5,
                                    (1ull << 32) - 3,
                                    (1ull << 34) - 5,
                                    1ull << 62,
                                    (1ull << 63) - 20);
    std::vector<uint64_t> counts(20);
    for (size_t n = 0; n < counts.size(); ++n) counts[n] = n;
    check_threads(~kSeed, first, counts, 32);
}

TEST_CASE("task 3: counts exactly n samples", "[task3]") {
    for (const uint64_t n : {0, 1, 2, 3, 31, 32, 33, 63, 64, 65, 255, 256, 257, 511, 513, 1021}) {
        check_hits(samples(0, n), hits_of(kSeed, 0, n, 2, 128), true_hits(kSeed, 0, n));
    }
    check_hits(samples(0, 100003), hits_of(3, 0, 100003, 40, 256), true_hits(3, 0, 100003));
}

TEST_CASE("task 3: begins with any sample", "[task3]") {
    const uint64_t first = GENERATE(as<uint64_t>{},
                                    1,
                                    2,
                                    1003,
                                    (1ull << 31) - 7,
                                    (1ull << 32) - 6,
                                    (1ull << 34) - 5,
                                    1ull << 62,
                                    (1ull << 63) - 1001);
    for (const uint64_t n : {0, 1, 2, 3, 64, 1000}) {
        check_hits(
            samples(first, n), hits_of(~kSeed, first, n, 3, 64), true_hits(~kSeed, first, n));
    }
}

TEST_CASE("task 3: the count does not depend on the grid", "[task3]") {
    const uint64_t n = 20011;
    const auto want = true_hits(5, 0, n);
    for (const auto& [blocks, threads] :
         {std::pair(1, 32), {1, 1024}, {7, 96}, {64, 256}, {200, 64}}) {
        check_hits(samples(0, n) + " by " + std::to_string(blocks) + " x " +
                       std::to_string(threads) + " threads",
                   hits_of(5, 0, n, blocks, threads),
                   want);
    }
}

TEST_CASE("task 3: adds to the previous count, beyond 32 bits", "[task3]") {
    const auto before = GENERATE(1ull, (1ull << 31) - 100, (1ull << 32) - 100, 1ull << 40);
    const auto want = before + true_hits(kSeed, 0, 5001);
    check_hits(samples(0, 5001) + ", added to " + std::to_string(before),
               hits_of(kSeed, 0, 5001, 4, 256, before),
               want);
}

TEST_CASE("task 3: a refused launch is an exception", "[task3]") {
    wb::DeviceBuffer<unsigned long long> d_hits(std::vector<unsigned long long>{0});
    wb::check_refused_launch("count_hits", [&] { count_hits(1, 0, 100, d_hits.get(), 1, 32); });
    check_hits(samples(0, 100), hits_of(1, 0, 100, 1, 32), true_hits(1, 0, 100));
}
