// SPDX-License-Identifier: MIT
// Lesson 23: exactly the requested samples, all bits of the count, and a correct error bar.
//
// Tolerance: counts are compared exactly, since points are whole numbers. pi and sigma come from
// five double operations at most: 1e-14, relative. How far an estimate lies from pi is bounded at 5
// sigma, sigma = sqrt(pi (4 - pi) / n), and tested last: wrong samples give pi too. The seeds are
// fixed, so a run never depends on luck.
#include <array>

#include "call_checks.h"
#include "lesson_test.h"
#include "monte_carlo_pi.h"
#include "shared_work.h"

namespace {

constexpr uint64_t kSeed = 0x0123456789ABCDEFull;
const double kPi = 4 * std::atan(1.0);

// 16 bits, the highest of which counts -2^15.
int whole(uint32_t half) {
    return int(half % 32768) - (half % 65536 >= 32768 ? 32768 : 0);
}

// x * x + y * y < 2^30, in doubles, which hold all of it.
bool inside(double x, double y) {
    return x * x + y * y < 0x1p30;
}

uint64_t true_hits(uint64_t seed, uint64_t first, uint64_t n) {
    uint64_t hits = 0;
    uint4 quad{};
    for (uint64_t i = first; i < first + n; ++i) {
        if (i == first || i % 4 == 0) quad = random_quad(seed, i / 4);
        const uint32_t words[] = {quad.x, quad.y, quad.z, quad.w};
        hits += inside(whole(words[i % 4]), whole(words[i % 4] >> 16));
    }
    return hits;
}

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

// `of`: which samples, in words.
void check_hits(const std::string& of, uint64_t got, uint64_t want) {
    const bool right = got == want;
    INFO("hits of " << of << ": got " << got << ", want " << want);
    CHECK(right);
}

std::string samples(uint64_t first, uint64_t n) {
    return std::to_string(n) + (n == 1 ? " sample" : " samples") + " from number " +
           std::to_string(first);
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

void check_within(const std::string& what, double value, double low, double high) {
    INFO(what << ": " << value << ", allowed " << low << " to " << high);
    const bool within = value >= low && value <= high;
    CHECK(within);
}

double true_sigma(uint64_t n) {
    return std::sqrt(kPi * (4 - kPi) / double(n));
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

// For the diagnosis of a wrong pi or sigma: the same counts with one mistake.
using Counted = std::vector<std::pair<uint64_t, uint64_t>>;  // hits, samples
template <class Slip>
std::function<std::vector<double>()> of_counts(const Counted& counted, Slip slip) {
    return [&counted, slip] {
        std::vector<double> out;
        for (const auto& [hits, samples] : counted) out.push_back(slip(hits, samples));
        return out;
    };
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

TEST_CASE("task 4: the grid fills every multiprocessor once", "[task4]") {
    cudaDeviceProp device{};
    CUDA_CHECK(cudaGetDeviceProperties(&device, 0));
    for (const int threads : {32, 64, 256, 512, 1024}) {
        CAPTURE(threads, device.multiProcessorCount);
        const int blocks = full_grid(threads);
        const int most = std::min(device.maxThreadsPerMultiProcessor / threads,
                                  device.maxBlocksPerMultiProcessor);
        INFO("a multiprocessor can hold at most "
             << device.maxThreadsPerMultiProcessor << " threads and "
             << device.maxBlocksPerMultiProcessor << " blocks");
        check_within("blocks for each multiprocessor",
                     double(blocks) / device.multiProcessorCount,
                     most / 8.0,  // 255 registers for each thread leave that many
                     most);
        const bool same_for_all = blocks % device.multiProcessorCount == 0;
        CHECK(same_for_all);
    }
}

TEST_CASE("task 4: asks for the multiprocessors and for the blocks that fit", "[task4]") {
    cudaDeviceProp device{};
    CUDA_CHECK(cudaGetDeviceProperties(&device, 0));
    for (const auto& [multiprocessors, fit] : {std::pair(37, 5), {132, 3}, {1, 7}}) {
        wb::CallWatch watch;
        watch.card = device;
        watch.card->multiProcessorCount = multiprocessors;
        watch.blocks_that_fit = fit;
        const int got = full_grid(256), want = multiprocessors * fit;
        const bool right = got == want;
        INFO("full_grid(256) on a card with " << multiprocessors << " multiprocessors, where "
                                              << fit << " blocks fit on each: got " << got
                                              << ", want " << want);
        CHECK(right);
    }
    wb::check_failing_calls("full_grid", [] { full_grid(256); });
}

TEST_CASE("task 5: pi and sigma from a count", "[task5]") {
    // Round shares, shares that no float holds, both counts above 2^32, all and none.
    const Counted counted{{50, 100},
                          {1, 3},
                          {785, 1000},
                          {8235200000, 10485760000},
                          {8000000001, 10485760001},
                          {7, 7}};
    const double none = estimate_from(0, 3).pi;
    const bool none_is_zero = none == 0;
    {
        INFO("pi of 0 hits of 3 samples: got " << none << ", want 0");
        CHECK(none_is_zero);
    }
    std::vector<double> pi, sigma;
    for (const auto& [hits, samples] : counted) {
        const Estimate got = estimate_from(hits, samples);
        const bool counts_kept = got.hits == hits && got.samples == samples;
        INFO("estimate_from(" << hits << ", " << samples << ") returns " << got.hits << " hits of "
                              << got.samples << " samples");
        CHECK(counts_kept);
        pi.push_back(got.pi);
        sigma.push_back(got.sigma);
    }
    const auto of = [&](auto slip) { return of_counts(counted, slip); };
    const auto share = [](double hits, double samples) { return hits / samples; };
    const auto spread = [](double hits, double samples) {
        return 4 * hits / samples * (4 - 4 * hits / samples);
    };
    const auto want = of([&](double h, double n) { return 4 * share(h, n); })();
    const auto want_sigma = of([&](double h, double n) { return std::sqrt(spread(h, n) / n); })();
    const auto bound = [](const std::vector<double>& values) {
        return [&values](size_t i) { return 1e-14 * std::fabs(values[i]); };
    };
    wb::recognize<double>(
        pi,
        want,
        {{"two whole numbers are divided: the fraction is lost",
          of([](uint64_t h, uint64_t n) { return double(4 * h / n); })},
         {"two whole numbers are divided: the fraction is lost",
          of([](uint64_t h, uint64_t n) { return 4 * double(h / n); })},
         {"the share of hits, which is a quarter of pi", of(share)},
         {"pi and sigma are swapped",
          of([&](double h, double n) { return std::sqrt(spread(h, n) / n); })},
         {"computed with 32-bit numbers, which hold less than 4.3 billion",
          of([](uint64_t h, uint64_t n) { return 4 * double(int(h)) / double(n); })}},
        bound(want));
    bool pi_is_right = true;  // else sigma is wrong for the same reason
    for (size_t i = 0; i < pi.size(); ++i)
        pi_is_right &= std::fabs(pi[i] - want[i]) <= bound(want)(i);
    if (pi_is_right)
        wb::recognize<double>(
            sigma,
            want_sigma,
            {{"the variance: its root is missing",
              of([&](double h, double n) { return spread(h, n) / n; })},
             {"the sigma of the true pi instead of the sigma of the estimate",
              of([](double, double n) { return std::sqrt(kPi * (4 - kPi) / n); })},
             {"the sigma of the true pi instead of the sigma of the estimate",
              of([](double, double n) { return 1.64 / std::sqrt(n); })},
             {"n is outside of the root",
              of([&](double h, double n) { return std::sqrt(spread(h, n)) / n; })},
             {"n - 1 in place of n",
              of([&](double h, double n) { return std::sqrt(spread(h, n) / (n - 1)); })},
             {"the sigma of the share of hits, which is a quarter of that of pi",
              of([&](double h, double n) { return std::sqrt(spread(h, n) / n) / 4; })}},
            bound(want_sigma));
    CHECK_ARRAYS(pi, want, bound(want), "pi of count");
    CHECK_ARRAYS(sigma, want_sigma, bound(want_sigma), "sigma of count");
}

TEST_CASE("task 5: the estimate divides by the number of its samples", "[task5]") {
    const uint64_t n = GENERATE(as<uint64_t>{}, 1, 33, 1000, 100003, 1 << 20);
    const Estimate got = estimate_pi(11, n);
    check_hits(samples(0, n), got.hits, true_hits(11, 0, n));
    const double want = estimate_from(got.hits, n).pi;
    const bool consistent = got.samples == n && got.pi == want;
    INFO("estimate_pi(11, " << n << "): got " << got.samples << " samples and pi " << got.pi
                            << ", want " << n << " and " << want);
    CHECK(consistent);
}

TEST_CASE("task 5: error bars are right", "[task5]") {
    // Squared distances from pi in units of sigma: their mean over 64 seeds is 1, and its own sigma
    // sqrt(2 / 64) = 0.18.
    double chi2 = 0;
    for (uint64_t seed = 0; seed < 64; ++seed) {
        const Estimate e = estimate_pi(seed, 4001);
        chi2 += (e.pi - kPi) * (e.pi - kPi) / (e.sigma * e.sigma);
    }
    check_within("estimates are as far from pi as their error bars say: mean squared distance in "
                 "sigmas",
                 chi2 / 64,
                 0.35,
                 1.9);
}

TEST_CASE("task 5: is within 5 sigma of pi", "[task5]") {
    std::vector<uint64_t> sizes{1 << 20, 10 << 20};
    if (!wb::on_emulator()) sizes.push_back(1000 << 20);
    for (const uint64_t n : sizes) {
        CAPTURE(n);
        const double sigma = true_sigma(n);
        check_within("pi, allowed +- 5 sqrt(pi (4 - pi) / n)",
                     estimate_pi(12345, n).pi,
                     kPi - 5 * sigma,
                     kPi + 5 * sigma);
    }
}

TEST_CASE("efficient: one atomic for each block, and nothing in the loop",
          "[efficient][task1][task2][task3]") {
    const uint64_t n = 1 << 18;
    wb::DeviceBuffer<unsigned long long> d_hits(std::vector<unsigned long long>{0});
    const auto counters = wb::count([&] { count_hits(kSeed, 0, n, d_hits.get(), 16, 256); });
    NEED_COUNTERS(counters);
    check_hits(samples(0, n), d_hits.download()[0], true_hits(kSeed, 0, n));
    CHECK(counters->launches == 1);
    CHECK(counters->global_atomics <= 16);
    CHECK(counters->global_store_bytes <= 8 * 16 * 256);
    CHECK(counters->global_load_bytes <= 8 * 16 * 256);
    CHECK(counters->shared_atomics <= 16 * 256);
    CHECK(counters->local_load_requests == 0);
}

TEST_CASE("efficient: four samples share a quad", "[efficient][task1][task2][task3]") {
    const uint64_t n = 1 << 18;
    wb::DeviceBuffer<unsigned long long> d_hits(std::vector<unsigned long long>{0});
    const auto counters = wb::count([&] { count_hits(kSeed, 0, n, d_hits.get(), 16, 256); });
    NEED_COUNTERS(counters);
    check_hits(samples(0, n), d_hits.download()[0], true_hits(kSeed, 0, n));
    CHECK(counters->thread_instructions <= 55 * n);
    CHECK(counters->double_instructions == 0);
    // 2,300 instructions for the 64 samples of a thread. A warp that draws for its whole block
    // needs eight times as many.
    wb::check_shared_work(*counters, 16 * 256, 24, 7000);
}

TEST_CASE("efficient: the threads take about the same number of samples",
          "[efficient][task1][task2]") {
    const uint64_t n = 60011, threads = 96;
    uint64_t most = 0;
    for (uint64_t thread = 0; thread < threads; ++thread)
        most = std::max(most, thread_hits(kSeed, 7, n, thread, threads));
    const bool shared_evenly = most <= 2 * (n / threads);
    INFO("of " << threads << " threads one counts " << most << " hits among " << n
               << " samples, which are " << n / threads << " samples for each thread");
    CHECK(shared_evenly);
}

TEST_CASE("efficient: all lanes share the sum of a block", "[efficient][task1][task2][task3]") {
    // No samples: what is left is the sum of 256 zeros in each block.
    wb::DeviceBuffer<unsigned long long> d_hits(std::vector<unsigned long long>{5});
    const auto counters = wb::count([&] { count_hits(kSeed, 0, 0, d_hits.get(), 16, 256); });
    NEED_COUNTERS(counters);
    check_hits("no samples, added to 5", d_hits.download()[0], 5);
    // 140 to 300 instructions. A thread that adds its block's 256 numbers needs 900.
    wb::check_shared_work(*counters, 16 * 256, 16, 700);
}

TEST_CASE("efficient: an estimate uses the whole card", "[efficient]") {
    cudaDeviceProp device{};
    CUDA_CHECK(cudaGetDeviceProperties(&device, 0));
    const auto counters = wb::count([&] { estimate_pi(1, 1 << 18); });
    NEED_COUNTERS(counters);
    CHECK(counters->blocks >= uint64_t(device.multiProcessorCount));
    CHECK(counters->device_to_host_bytes <= 4096);
    CHECK(counters->device_allocations == counters->device_frees);
}
