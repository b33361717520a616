// SPDX-License-Identifier: MIT
// Lesson 24, many samples: any lane decides them, and the area comes with both of its errors,
// chance and undecided samples.
//
// Tolerance: counts are compared exactly. area, sigma and margin come from a few double operations:
// 1e-14, relative. The estimate may lie 5 sigma, sigma = sqrt(A (9 - A) / n) = 3.36 / sqrt(n), and
// the margin away from A = 1.50659 (Foerstemann, 2012). The seeds are fixed.
#include "cases/shared_work.h"
#include "lesson_test.h"
#include "reference.h"
#include "watches/call_checks.h"

namespace {

constexpr double kTrueArea = 1.50659;
constexpr uint64_t kFirsts[] = {
    1, 1001, (1ull << 32) - 6, 1ull << 40, 1ull << 62, (1ull << 63) - 501};

// The counters after a call that started from `before`. Poison lies on both sides.
using Count = void (*)(uint64_t, uint64_t, uint64_t, int, Counts*, int, int);
Counts counts_of(Count count, uint64_t seed, uint64_t first, uint64_t n, int most, int blocks,
                 int threads, Counts before = {0, 0}) {
    const std::vector<unsigned long long> values{before.inside, before.undecided};
    wb::GuardedBuffer<unsigned long long> d_counts(values, wb::guard(64));
    count(seed, first, n, most, reinterpret_cast<Counts*>(d_counts.get()), blocks, threads);
    CUDA_CHECK(cudaGetLastError());
    CHECK(d_counts.intact());
    const auto after = d_counts.download();
    return {after[0], after[1]};
}

void check_counts(const std::string& of, Counts got, Counts want) {
    const bool right = got.inside == want.inside && got.undecided == want.undecided;
    INFO(of << ": got " << got.inside << " inside and " << got.undecided << " undecided, want "
            << want.inside << " and " << want.undecided);
    CHECK(right);
}

// One launch of count_flat.
struct Launch {
    uint64_t seed, first, n;
    int most, blocks, threads;
    std::string words() const {
        return std::to_string(n) + (n == 1 ? " sample" : " samples") + " from number " +
               std::to_string(first) + ", trips at most: " + std::to_string(most) + ", by " +
               std::to_string(blocks) + " x " + std::to_string(threads) + " threads";
    }
};

void check_flat(const std::vector<Launch>& launches) {
    std::vector<Counts> got, want;
    for (const auto& [seed, first, n, most, blocks, threads] : launches) {
        got.push_back(counts_of(count_flat, seed, first, n, most, blocks, threads));
        want.push_back(true_counts(seed, first, n, most));
    }
    const auto numbers = [](const std::vector<Counts>& counts) {
        std::vector<unsigned long long> out;
        for (const Counts& c : counts) out.insert(out.end(), {c.inside, c.undecided});
        return out;
    };
    std::vector<wb::Mistake<unsigned long long>> mistakes;
    for (const NamedSlip& named : kOfFlatLoop)
        mistakes.push_back(
            {named.words, [&, slip = named.slip] {
                 std::vector<Counts> out;
                 for (const Launch& l : launches)
                     out.push_back(slip_counts(
                         l.seed, l.first, l.n, l.most, uint64_t(l.blocks) * l.threads, slip));
                 return numbers(out);
             }});
    wb::recognize<unsigned long long>(numbers(got), numbers(want), mistakes);
    for (size_t k = 0; k < launches.size(); ++k) check_counts(launches[k].words(), got[k], want[k]);
}

void check_within(const std::string& what, double value, double low, double high) {
    INFO(what << ": " << value << ", allowed " << low << " to " << high);
    const bool within = value >= low && value <= high;
    CHECK(within);
}

}  // namespace

TEST_CASE("task 4: counts exactly n samples", "[task4]") {
    std::vector<Launch> launches;
    for (const uint64_t n : {0, 1, 2, 31, 32, 33, 63, 64, 65, 255, 256, 257, 1021})
        launches.push_back({kSeed, 0, n, 50, 2, 128});
    launches.push_back({6, 0, 20011, 100, 3, 64});
    check_flat(launches);
}

TEST_CASE("task 4: takes exactly the allowed trips", "[task4]") {
    std::vector<Launch> launches;
    for (const int most : {0, 1, 2, 3, 30, 1000}) launches.push_back({7, 0, 3001, most, 1, 96});
    check_flat(launches);
}

TEST_CASE("task 4: begins with any sample", "[task4]") {
    std::vector<Launch> launches;
    for (const uint64_t first : kFirsts)
        for (const uint64_t n : {0, 1, 500}) launches.push_back({~kSeed, first, n, 20, 3, 64});
    check_flat(launches);
}

TEST_CASE("task 4: the counts do not depend on the grid", "[task4]") {
    std::vector<Launch> launches;
    for (const auto& [blocks, threads] : {std::pair(1, 32), {1, 1024}, {7, 96}, {30, 256}})
        launches.push_back({8, 0, 5003, 60, blocks, threads});
    check_flat(launches);
}

TEST_CASE("task 4: adds to the previous counts, beyond 32 bits", "[task4]") {
    const auto high = GENERATE(as<unsigned long long>{}, 1, (1ull << 32) - 100, 1ull << 40);
    const Counts before{high, high - 1};
    check_counts("3001 samples, added to " + std::to_string(high) +
                     " inside and one less undecided",
                 counts_of(count_flat, kSeed, 0, 3001, 3, 4, 256, before),
                 true_counts(kSeed, 0, 3001, 3, before));
}

TEST_CASE("task 4: agrees with the lanes that wait", "[task4]") {
    const auto want = counts_of(count_in_step, 9, 0, 4001, 200, 4, 128);
    check_counts("count_flat against count_in_step, 4001 samples",
                 counts_of(count_flat, 9, 0, 4001, 200, 4, 128),
                 want);
    check_counts("count_in_step, 4001 samples", want, true_counts(9, 0, 4001, 200));
}

TEST_CASE("task 4: a refused launch is an exception", "[task4]") {
    wb::DeviceBuffer<unsigned long long> d_counts(std::vector<unsigned long long>{0, 0});
    auto* counts = reinterpret_cast<Counts*>(d_counts.get());
    wb::check_refused_launch("count_flat", [&] { count_flat(1, 0, 100, 5, counts, 1, 32); });
    wb::check_refused_launch("count_in_step", [&] { count_in_step(1, 0, 100, 5, counts, 1, 32); });
    check_flat({{1, 0, 100, 5, 1, 32}});
}

TEST_CASE("task 5: area and both errors from the counts", "[task5]") {
    struct Counted {
        unsigned long long inside, undecided;
        uint64_t samples;
    };
    // None undecided, most of them, an odd number, all inside, shares that no float holds, all
    // above 2^32.
    const std::vector<Counted> counted{{30, 0, 90},
                                       {10, 40, 90},
                                       {0, 1, 2},
                                       {100, 7, 700},
                                       {50, 0, 50},
                                       {8000000001, 5000000000, 60000000000},
                                       {1234567, 88, 7654321}};
    const auto of = [&](auto slip) {
        return [&counted, slip] {
            std::vector<double> out;
            for (const Counted& c : counted)
                out.push_back(slip(double(c.inside), double(c.undecided), double(c.samples)));
            return out;
        };
    };
    const auto area_of = [](double hits, double n) { return 9 * hits / n; };
    const auto sigma_of = [](double area, double box, double n) {
        return std::sqrt(area * (box - area) / n);
    };
    const auto true_area = [=](double in, double un, double n) { return area_of(in + un / 2, n); };
    const auto true_sigma = [=](double in, double un, double n) {
        return sigma_of(true_area(in, un, n), 9, n);
    };
    std::vector<double> area, sigma, margin;
    for (const Counted& c : counted) {
        const Area got = area_from({c.inside, c.undecided}, c.samples);
        const bool samples_kept = got.samples == c.samples;
        INFO("area_from of " << c.samples << " samples returns " << got.samples << " samples");
        CHECK(samples_kept);
        check_counts("counts that area_from returns", got.counts, {c.inside, c.undecided});
        area.push_back(got.area);
        sigma.push_back(got.sigma);
        margin.push_back(got.margin);
    }
    const auto want_area = of(true_area)(), want_sigma = of(true_sigma)();
    const auto want_margin = of([](double, double un, double n) { return 9 * un / 2 / n; })();
    const auto bound = [](const std::vector<double>& values) {
        return [&values](size_t i) { return 1e-14 * std::fabs(values[i]); };
    };
    wb::recognize<double>(
        area,
        want_area,
        {{"undecided samples are left out, as if all were outside",
          of([=](double in, double, double n) { return area_of(in, n); })},
         {"all undecided samples are in the area, not half of them",
          of([=](double in, double un, double n) { return area_of(in + un, n); })},
         {"two whole numbers are divided: the fraction is lost",
          of([=](double in, double un, double n) { return 9 * std::floor((in + un / 2) / n); })},
         {"two whole numbers are divided: the fraction is lost",
          of([=](double in, double un, double n) {
              return std::floor(9 * std::floor(in + un / 2) / n);
          })},
         {"half of an odd number, in whole numbers: the other half is lost",
          of([=](double in, double un, double n) { return area_of(in + std::floor(un / 2), n); })},
         {"the share of the samples: the area of the box is missing",
          of([=](double in, double un, double n) { return true_area(in, un, n) / 9; })},
         {"the box is 3 x 3, and its area 9, not 16",
          of([=](double in, double un, double n) { return true_area(in, un, n) / 9 * 16; })},
         {"the box is 3 x 3, and its area 9, not 4",
          of([=](double in, double un, double n) { return true_area(in, un, n) / 9 * 4; })},
         {"the side of the box in place of its area",
          of([=](double in, double un, double n) { return true_area(in, un, n) / 3; })}},
        bound(want_area));
    bool area_is_right = true;  // else sigma is wrong for the same reason
    for (size_t i = 0; i < area.size(); ++i)
        area_is_right &= std::fabs(area[i] - want_area[i]) <= bound(want_area)(i);
    if (area_is_right)
        wb::recognize<double>(
            sigma,
            want_sigma,
            {{"the sigma of an area without the undecided samples",
              of([=](double in, double, double n) { return sigma_of(area_of(in, n), 9, n); })},
             {"sigma of the share, not of the area",
              of([=](double in, double un, double n) { return true_sigma(in, un, n) / 9; })},
             {"the variance: its root is missing", of([=](double in, double un, double n) {
                  return std::pow(true_sigma(in, un, n), 2);
              })},
             {"n is outside of the root", of([=](double in, double un, double n) {
                  return true_sigma(in, un, n) / std::sqrt(n);
              })},
             {"another box than that of the samples", of([=](double in, double un, double n) {
                  return sigma_of(true_area(in, un, n), 4, n);
              })}},
            bound(want_sigma));
    CHECK_ARRAYS(area, want_area, bound(want_area), "area of counts");
    CHECK_ARRAYS(sigma, want_sigma, bound(want_sigma), "sigma of counts");
    CHECK_ARRAYS(margin, want_margin, bound(want_margin), "margin of counts");
}

TEST_CASE("task 5: the estimate decides all samples", "[task5]") {
    const uint64_t n = GENERATE(as<uint64_t>{}, 1, 33, 1000, 10007);
    const Area got = estimate_area(10, n);
    check_counts("estimate_area(10, " + std::to_string(n) + ")",
                 got.counts,
                 true_counts(10, 0, n, kMostTrips));
    const double want = area_from(got.counts, n).area;
    const bool consistent = got.samples == n && got.area == want;
    INFO("estimate_area(10, " << n << "): got " << got.samples << " samples and area " << got.area
                              << ", want " << n << " and " << want);
    CHECK(consistent);
}

TEST_CASE("task 5: error bars are right", "[task5]") {
    // Squared distances in units of sigma: their mean over 32 seeds is 1, its own sigma 0.25.
    double chi2 = 0;
    for (uint64_t seed = 0; seed < 32; ++seed) {
        const Area e = estimate_area(seed << 32, 1000);
        chi2 += (e.area - kTrueArea) * (e.area - kTrueArea) / (e.sigma * e.sigma);
    }
    check_within("estimates are as far from 1.50659 as their error bars say: mean squared distance "
                 "in sigmas",
                 chi2 / 32,
                 0.25,
                 2.25);
}

TEST_CASE("task 5: is within 5 sigma and the margin of the area", "[task5]") {
    const uint64_t n = wb::on_emulator() ? 1 << 16 : 1 << 26;
    const Area got = estimate_area(11, n);
    const double allowed = 5 * 3.36 / std::sqrt(double(n)) + got.margin;
    CAPTURE(n, got.margin);
    check_within("area, allowed 1.50659 +- (5 * 3.36 / sqrt(n) + margin)",
                 got.area,
                 kTrueArea - allowed,
                 kTrueArea + allowed);
    check_within("share of undecided samples", double(got.counts.undecided) / double(n), 0, 1e-3);
}

namespace {

std::optional<wb::Counters> cost(Count count) {
    wb::DeviceBuffer<unsigned long long> d_counts(std::vector<unsigned long long>{0, 0});
    const auto counters = wb::count(
        [&] { count(12, 0, 1 << 16, 1000, reinterpret_cast<Counts*>(d_counts.get()), 1, 32); });
    const auto got = d_counts.download();
    check_counts("65536 samples in one warp", {got[0], got[1]}, true_counts(12, 0, 1 << 16, 1000));
    return counters;
}

wb::Counted<double> efficiency(const wb::Counters& counters) {
    return wb::measured("efficiency",
                        counters.thread_instructions / (32.0 * counters.warp_instructions));
}

}  // namespace

TEST_CASE("efficient: lanes stay busy, five times as many as in step",
          "[efficient][task1][task2][task3][task4]") {
    const auto flat = cost(count_flat), in_step = cost(count_in_step);
    NEED_COUNTERS(flat);
    REQUIRE(in_step->warp_instructions > 0);
    REQUIRE(flat->warp_instructions > 0);
    INFO("share of busy lanes: " << efficiency(*flat) << ", in step " << efficiency(*in_step));
    CHECK(efficiency(*flat) >= 5 * efficiency(*in_step));
    CHECK(3 * flat->warp_instructions <= in_step->warp_instructions);
}

TEST_CASE("efficient: one atomic for each warp and counter, in float",
          "[efficient][task1][task2][task3][task4]") {
    const auto counters = cost(count_flat);
    NEED_COUNTERS(counters);
    CHECK(counters->launches == 1);
    CHECK(counters->global_atomics <= 2);
    CHECK(counters->global_store_bytes + counters->global_load_bytes <= 64);
    CHECK(counters->local_load_requests == 0);
    CHECK(counters->double_instructions == 0);
}

TEST_CASE("efficient: points in the cardioid or the disc cost no trips",
          "[efficient][task1][task2][task3][task4]") {
    // Without them a sample takes some 25 trips, with them 8.
    const auto counters = cost(count_flat);
    NEED_COUNTERS(counters);
    CHECK(counters->thread_instructions <= 600ull << 16);
}

TEST_CASE("efficient: the warps of the grid share the samples",
          "[efficient][task1][task2][task3][task4]") {
    // 512 warps with 128 samples each, of at most 200 trips: in step up to 800 trips with some 20
    // instructions. A single warp with all 65,536 samples executes more than 500,000 instructions.
    for (const Count count_samples : {count_in_step, count_flat}) {
        wb::DeviceBuffer<unsigned long long> d_counts(std::vector<unsigned long long>{0, 0});
        const auto counters = wb::count([&] {
            count_samples(12, 0, 1 << 16, 200, reinterpret_cast<Counts*>(d_counts.get()), 64, 256);
        });
        NEED_COUNTERS(counters);
        wb::check_shared_work(*counters, 64 * 256, 1, 60000);
    }
}
