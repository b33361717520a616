// SPDX-License-Identifier: MIT
// Lesson 23, the estimates: a grid that fills the card, pi with a correct error bar, and what a
// sample costs.
//
// Tolerance: pi and sigma come from five double operations at most: 1e-14, relative. How far an
// estimate lies from pi is bounded at 5 sigma, sigma = sqrt(pi (4 - pi) / n), and tested last:
// wrong samples give pi too. The seeds are fixed, so a run never depends on luck.
#include "cases/shared_work.h"
#include "checks.h"
#include "watches/call_checks.h"

#include <algorithm>

namespace {

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
