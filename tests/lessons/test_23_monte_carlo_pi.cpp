// SPDX-License-Identifier: MIT
// Lesson 23: exactly the samples that were asked for, all bits of the count, and an error bar that
// is true.
//
// Tolerance: counts are compared exactly, since points are whole numbers. pi and sigma come from
// five double operations at most: 1e-14, relative. How far an estimate lies from pi is bounded at 5
// sigma, sigma = sqrt(pi (4 - pi) / n), and looked at last: wrong samples give pi, too. The seeds
// are fixed, so a run never depends on luck.
#include <array>

#include "lesson_test.h"
#include "monte_carlo_pi.h"

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

// What the counter shows after a call that found `before` in it. Poison lies on both sides.
unsigned long long hits_of(uint64_t seed, uint64_t first, uint64_t n, int blocks, int threads,
                           unsigned long long before = 0) {
    wb::GuardedBuffer<unsigned long long> d_hits(std::vector<unsigned long long>{before},
                                                 wb::guard(64));
    count_hits(seed, first, n, d_hits.get(), blocks, threads);
    CUDA_CHECK(cudaGetLastError());
    CHECK(d_hits.intact());
    return d_hits.download()[0];
}

void check_within(const std::string& what, double value, double low, double high) {
    INFO(what << ": " << value << ", allowed " << low << " to " << high);
    const bool within = value >= low && value <= high;
    CHECK(within);
}

double true_sigma(uint64_t n) {
    return std::sqrt(kPi * (4 - kPi) / double(n));
}

}  // namespace

TEST_CASE("task 1: makes a point of a word", "[task1]") {
    std::vector<int> x, y, want_x, want_y;
    for (uint64_t i = 0; i < 500; ++i) {
        const uint4 quad = random_quad(kSeed, i);
        for (const uint32_t word : {quad.x, quad.y, quad.z, quad.w}) {
            const int2 point = point_of(word);
            x.push_back(point.x);
            y.push_back(point.y);
            want_x.push_back(whole(word));
            want_y.push_back(whole(word >> 16));
        }
    }
    const auto exactly = [](size_t) { return 0.0; };
    CHECK_ARRAYS(x, want_x, exactly, "x of word");
    CHECK_ARRAYS(y, want_y, exactly, "y of word");
}

TEST_CASE("task 1: the square has four quarters, and ends where it should", "[task1]") {
    CHECK(point_of(0x00008000).x == -kRadius);
    CHECK(point_of(0x80000000).y == -kRadius);
    CHECK(point_of(0x12347FFF).x == kRadius - 1);
    CHECK(point_of(0x7FFF0000).y == kRadius - 1);
    CHECK(point_of(0xFFFF0000).x == 0);
    CHECK(point_of(0xFFFF0000).y == -1);
    std::array<int, 4> quarters{};
    for (uint64_t i = 0; i < 1000; ++i) {
        const int2 point = point_of(random_quad(7, i).x);
        ++quarters[2 * (point.y < 0) + (point.x < 0)];
    }
    for (const int points : quarters)  // 250, sigma sqrt(1000 / 4 * 3 / 4) = 14
        check_within("points in one quarter of the square, of 1000", points, 180, 320);
}

TEST_CASE("task 1: knows the circle to the last bit", "[task1]") {
    const int r = kRadius;
    CHECK(in_circle(make_int2(0, 0)));
    CHECK_FALSE(in_circle(make_int2(-r, 0)));
    CHECK_FALSE(in_circle(make_int2(0, -r)));
    CHECK(in_circle(make_int2(0, 1 - r)));
    CHECK_FALSE(in_circle(make_int2(-r, -r)));  // 2^31, which no int holds
    CHECK_FALSE(in_circle(make_int2(r - 1, r - 1)));
    CHECK_FALSE(in_circle(make_int2(r - 1, 256)));  // 2^30 + 1
    CHECK(in_circle(make_int2(r - 1, 255)));
    CHECK(in_circle(make_int2(23170, 23170)));
    CHECK_FALSE(in_circle(make_int2(23171, -23170)));
    CHECK_FALSE(in_circle(make_int2(19660, 26215)));  // 2^30 + 1
    for (int i = 0; i < 2000; ++i) {
        const int x = int(wb::splitmix64(i) % (2 * r)) - r;
        const int y = int(wb::splitmix64(~uint64_t(i)) % (2 * r)) - r;
        // Anywhere, and along the circle, where all depends on one unit.
        const int edge = int(std::sqrt(0x1p30 - double(x) * x)) + i % 3 - 1;
        CAPTURE(x, y, edge);
        REQUIRE(in_circle(make_int2(x, y)) == inside(x, y));
        if (edge < r) REQUIRE(in_circle(make_int2(x, edge)) == inside(x, edge));
    }
}

TEST_CASE("task 2: the threads share out exactly the samples asked for", "[task2]") {
    const uint64_t threads = GENERATE(as<uint64_t>{}, 32, 33, 64, 100, 1024);
    for (const uint64_t n : {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 31, 127, 128, 129, 1021}) {
        CAPTURE(threads, n);
        CHECK(hits_of_threads(kSeed, 0, n, threads) == true_hits(kSeed, 0, n));
    }
}

TEST_CASE("task 2: the first sample may be any", "[task2]") {
    const uint64_t first =
        GENERATE(as<uint64_t>{}, 1, 2, 3, 4, 5, (1ull << 32) - 3, (1ull << 34) - 5, 1ull << 62);
    for (uint64_t n = 0; n < 20; ++n) {
        CAPTURE(first, n);
        CHECK(hits_of_threads(~kSeed, first, n, 32) == true_hits(~kSeed, first, n));
    }
}

TEST_CASE("task 3: counts exactly the samples asked for", "[task3]") {
    for (const uint64_t n : {0, 1, 2, 3, 31, 32, 33, 63, 64, 65, 255, 256, 257, 511, 513, 1021}) {
        CAPTURE(n);
        CHECK(hits_of(kSeed, 0, n, 2, 128) == true_hits(kSeed, 0, n));
    }
    CHECK(hits_of(3, 0, 100003, 40, 256) == true_hits(3, 0, 100003));
}

TEST_CASE("task 3: begins where it is told", "[task3]") {
    const uint64_t first = GENERATE(as<uint64_t>{},
                                    1,
                                    2,
                                    1003,
                                    (1ull << 31) - 7,
                                    (1ull << 32) - 6,
                                    (1ull << 34) - 5,
                                    1ull << 62);
    for (const uint64_t n : {0, 1, 2, 3, 64, 1000}) {
        CAPTURE(first, n);
        CHECK(hits_of(~kSeed, first, n, 3, 64) == true_hits(~kSeed, first, n));
    }
}

TEST_CASE("task 3: the count does not depend on the grid", "[task3]") {
    const uint64_t n = 20011;
    const auto want = true_hits(5, 0, n);
    for (const auto& [blocks, threads] :
         {std::pair(1, 32), {1, 1024}, {7, 96}, {64, 256}, {200, 64}}) {
        CAPTURE(blocks, threads);
        CHECK(hits_of(5, 0, n, blocks, threads) == want);
    }
}

TEST_CASE("task 3: adds to the count that is there, beyond 32 bits", "[task3]") {
    const auto before = GENERATE(1ull, (1ull << 31) - 100, (1ull << 32) - 100, 1ull << 40);
    const auto want = before + true_hits(kSeed, 0, 5001);
    CAPTURE(before);
    CHECK(hits_of(kSeed, 0, 5001, 4, 256, before) == want);
}

TEST_CASE("task 4: the grid fills every multiprocessor once", "[task4]") {
    cudaDeviceProp device{};
    CUDA_CHECK(cudaGetDeviceProperties(&device, 0));
    for (const int threads : {32, 64, 256, 512, 1024}) {
        CAPTURE(threads, device.multiProcessorCount);
        const int blocks = full_grid(threads);
        const int most = std::min(device.maxThreadsPerMultiProcessor / threads,
                                  device.maxBlocksPerMultiProcessor);
        check_within("blocks for each multiprocessor",
                     double(blocks) / device.multiProcessorCount,
                     most / 8.0,  // 255 registers for each thread leave that many
                     most);
        const bool same_for_all = blocks % device.multiProcessorCount == 0;
        CHECK(same_for_all);
    }
}

TEST_CASE("task 5: pi and sigma from a count", "[task5]") {
    const auto near = [](double got, double want) {
        INFO("got " << wb::shown(got) << ", want " << wb::shown(want));
        const bool is_near = std::fabs(got - want) <= 1e-14 * std::fabs(want);
        CHECK(is_near);
    };
    const Estimate half = estimate_from(50, 100);
    near(half.pi, 2);
    near(half.sigma, 0.2);
    CHECK(half.hits == 50);
    CHECK(half.samples == 100);
    const Estimate many = estimate_from(8235200000, 10485760000);  // both above 2^32
    near(many.pi, 32940.8 / 10485.76);
    near(many.sigma, std::sqrt(many.pi * (4 - many.pi) / 10485760000.0));
    near(estimate_from(7, 7).pi, 4);
    CHECK(estimate_from(7, 7).sigma == 0);
    CHECK(estimate_from(0, 3).pi == 0);
}

TEST_CASE("task 5: the estimate counts what it divides by", "[task5]") {
    const uint64_t n = GENERATE(as<uint64_t>{}, 1, 33, 1000, 100003, 1 << 20);
    CAPTURE(n);
    const Estimate got = estimate_pi(11, n);
    CHECK(got.samples == n);
    CHECK(got.hits == true_hits(11, 0, n));
    CHECK(got.pi == estimate_from(got.hits, n).pi);
}

TEST_CASE("task 5: error bars are true", "[task5]") {
    // Squared distances from pi in units of sigma: their mean over 64 seeds is 1, and its own sigma
    // sqrt(2 / 64) = 0.18.
    double chi2 = 0;
    for (uint64_t seed = 0; seed < 64; ++seed) {
        const Estimate e = estimate_pi(seed, 4001);
        chi2 += (e.pi - kPi) * (e.pi - kPi) / (e.sigma * e.sigma);
    }
    check_within("mean squared distance from pi, in sigmas", chi2 / 64, 0.35, 1.9);
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

TEST_CASE("efficient: one atomic for each block, and nothing in the loop", "[efficient]") {
    const uint64_t n = 1 << 18;
    wb::DeviceBuffer<unsigned long long> d_hits(std::vector<unsigned long long>{0});
    const auto counters = wb::count([&] { count_hits(kSeed, 0, n, d_hits.get(), 16, 256); });
    NEED_COUNTERS(counters);
    CHECK(d_hits.download()[0] == true_hits(kSeed, 0, n));
    CHECK(counters->launches == 1);
    CHECK(counters->global_atomics <= 16);
    CHECK(counters->global_store_bytes <= 8 * 16 * 256);
    CHECK(counters->global_load_bytes <= 8 * 16 * 256);
    CHECK(counters->shared_atomics <= 16 * 256);
    CHECK(counters->local_load_requests == 0);
}

TEST_CASE("efficient: four samples share a quad", "[efficient]") {
    const uint64_t n = 1 << 18;
    wb::DeviceBuffer<unsigned long long> d_hits(std::vector<unsigned long long>{0});
    const auto counters = wb::count([&] { count_hits(kSeed, 0, n, d_hits.get(), 16, 256); });
    NEED_COUNTERS(counters);
    CHECK(d_hits.download()[0] == true_hits(kSeed, 0, n));
    CHECK(counters->thread_instructions <= 55 * n);
    CHECK(counters->double_instructions == 0);
}

TEST_CASE("efficient: an estimate uses the whole card", "[efficient]") {
    cudaDeviceProp device{};
    CUDA_CHECK(cudaGetDeviceProperties(&device, 0));
    const auto counters = wb::count([&] { estimate_pi(1, 1 << 18); });
    NEED_COUNTERS(counters);
    CHECK(counters->blocks >= uint64_t(device.multiProcessorCount));
    CHECK(counters->device_to_host_bytes <= 4096);
}
