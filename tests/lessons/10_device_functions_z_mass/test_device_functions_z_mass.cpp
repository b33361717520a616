// SPDX-License-Identifier: MIT
// Lesson 10: host and device compute the same mass, and it is right for wide and for tiny angles.
//
// The truth is computed in long double from the same float inputs. Tolerances, with u = 2^-24: the
// device's sinf, cosf, sinhf and coshf are good to 2 or 3 ULP (6 u at most), a square root halves
// relative errors, and the rest are single roundings: below 12 u for `mass`, allowed 1e-6 (16 u).
// phi1 - phi2 of angles up to pi is rounded by 4 u in absolute terms; where phi wraps around, that
// is not small compared with the opening angle, so 5e-7 / opening is allowed on top for such pairs.
// The textbook formula at openings of 1 and more loses 10 u by cancellation: allowed 2e-6.
#include "cases/shared_work.h"
#include "lesson_test.h"
#include "reference.h"

#include <algorithm>

namespace {

constexpr size_t kGuard = 1024;  // elements on each side of every array, on a real GPU

std::vector<float> on_host(Formula f, const Pairs& p) {
    std::vector<float> out;
    for (size_t i = 0; i < p.size(); ++i) out.push_back(value(f, p, i));
    return out;
}

wb::Output<float> on_device(const Pairs& p) {
    const auto buffer = [](const std::vector<float>& values) {
        return wb::GuardedBuffer<float>(values, wb::guard(kGuard));
    };
    auto pt1 = buffer(p.pt1), eta1 = buffer(p.eta1), phi1 = buffer(p.phi1);
    auto pt2 = buffer(p.pt2), eta2 = buffer(p.eta2), phi2 = buffer(p.phi2);
    return wb::output_of<float>(p.size(), wb::guard(kGuard), [&](float* out) {
        masses({pt1.get(), eta1.get(), phi1.get()},
               {pt2.get(), eta2.get(), phi2.get()},
               out,
               int(p.size()));
    });
}

void check(const std::vector<float>& got, const Pairs& p, double relative) {
    const auto want = true_masses(p);
    const auto tolerance = [&](size_t i) {
        const double at_the_wrap = wraps(p, i) ? 5e-7 / opening(p, i) : 0;
        return (relative + at_the_wrap) * want[i];
    };
    std::vector<wb::Mistake<float>> mistakes;
    for (const auto& [words, formula] : kWrong)
        mistakes.push_back({words, [&p, formula = formula] {
                                std::vector<float> out;
                                for (size_t i = 0; i < p.size(); ++i)
                                    out.push_back(float(formula({p.pt1[i],
                                                                 p.pt2[i],
                                                                 p.eta1[i],
                                                                 p.eta2[i],
                                                                 p.phi1[i],
                                                                 p.phi2[i],
                                                                 double(p.eta1[i]) - p.eta2[i],
                                                                 double(p.phi1[i]) - p.phi2[i]})));
                                return out;
                            }});
    // cosh - cos is the difference of two numbers that are rounded: good to 8 * 2^-24 of their sum.
    size_t wrong = 0, explained = 0, telling = 0;
    for (size_t i = 0; i < p.size(); ++i) {
        if (std::fabs(double(got[i]) - want[i]) <= tolerance(i)) continue;
        const double of_pt = 2.0 * p.pt1[i] * p.pt2[i], x = double(p.eta1[i]) - p.eta2[i];
        const double lost = std::fabs(double(got[i]) * got[i] - double(want[i]) * want[i]);
        const double rounding = 0x1p-21 * of_pt * (std::cosh(x) + 1);
        ++wrong;
        explained += lost <= rounding;
        telling += rounding < 0.01 * want[i] * want[i];  // of closer ones it leaves nothing
    }
    if (telling > 0 && explained == wrong)
        wb::details::note_mistakes({"cosh - cos is computed as it stands: the digits of close "
                                    "particles are lost in the subtraction"},
                                   wrong);
    else
        wb::recognize<float>(got, want, mistakes, tolerance);
    CHECK_ARRAYS(got, want, tolerance, "mass of pair");
}

}  // namespace

TEST_CASE("task 1: the textbook formula for particles far apart", "[task1]") {
    const auto pairs = far_pairs(20000, 1);
    check(on_host(mass_textbook, pairs), pairs, 2e-6);
}

TEST_CASE("task 1: the textbook formula is computed in float", "[task1]") {
    // In float, cosh - cos of particles 0.004 apart, 1.6e-5, is a multiple of 2^-24: hardly a mass
    // is within 1e-4 of the truth. In double all are.
    const auto pairs = close_pairs(1000, 4e-3, 5);
    const auto got = on_host(mass_textbook, pairs), want = true_masses(pairs);
    size_t right = 0, far_off = 0;
    for (size_t i = 0; i < want.size(); ++i) {
        const double of_pt = 2.0 * pairs.pt1[i] * pairs.pt2[i];
        const double off = std::fabs(double(got[i]) * got[i] - double(want[i]) * want[i]);
        right += std::fabs(got[i] - want[i]) <= 1e-4 * want[i];
        far_off += !(off <= 0x1p-20 * of_pt * 2);
    }
    {
        INFO(far_off << " of " << want.size() << " masses of particles 0.004 apart are further off "
                     << "than rounding explains, even in this formula");
        CHECK(far_off == 0);
    }
    INFO(right << " of " << want.size()
               << " masses of particles 0.004 apart have four digits, and in float "
               << "cosh - cos has two or three there: is a part computed in double?");
    const bool computed_in_float = right < want.size() / 2;
    CHECK(computed_in_float);
}

TEST_CASE("task 1: the textbook formula where phi wraps around", "[task1]") {
    Pairs p;
    p.add(40, 1.5, 3.1, 30, 0.0, -3.1);
    p.add(40, 0.0, -2.9, 30, 1.2, 3.0);
    check(on_host(mass_textbook, p), p, 2e-6);
}

TEST_CASE("task 2: any pair of particles", "[task2]") {
    const auto pairs = any_pairs(20000, 11);
    check(on_host(mass, pairs), pairs, 1e-6);
}

TEST_CASE("task 2: particles close together", "[task2]") {
    const double angle = GENERATE(1.0, 0.1, 0.01, 1e-3, 1e-4, 1e-6);
    CAPTURE(angle);
    const auto pairs = close_pairs(2000, angle, 21);
    check(on_host(mass, pairs), pairs, 1e-6);
}

TEST_CASE("task 2: the same direction gives 0", "[task2]") {
    Pairs p;
    for (int i = 0; i < 1000; ++i) {
        const double eta = uniform(31, i, -5, 5), phi = uniform(32, i, -kPi, kPi);
        p.add(uniform(33, i, 0, 900), eta, phi, uniform(34, i, 0, 900), eta, phi);
    }
    CHECK_ARRAYS(on_host(mass, p), std::vector<float>(p.size(), 0.0f));
}

TEST_CASE("task 2: momenta of 0 and of a million GeV", "[task2]") {
    Pairs p;
    for (const double one : {0.0, 0.001, 1e6})
        for (const double other : {0.0, 0.5, 1e6}) p.add(one, 0.5, 1.25, other, -0.25, 0.75);
    check(on_host(mass, p), p, 1e-6);
}

TEST_CASE("task 2: phi = 3.1 and phi = -3.1 are neighbours", "[task2]") {
    Pairs p;
    p.add(45, 0.3, 3.1, 45, 0.3, -3.1);
    p.add(45, 0.3, -3.1, 45, 0.3, 3.1);
    p.add(20, -1, 3.0, 60, -1, -3.0);
    p.add(20, -1, 3.0, 60, -1.1, -3.0);
    check(on_host(mass, p), p, 1e-6);
}

TEST_CASE("task 2: only eta differs, or only phi", "[task2]") {
    Pairs p;
    for (int i = 0; i < 1000; ++i) {
        p.add(30, uniform(41, i, -5, 5), 0.5, 40, uniform(42, i, -5, 5), 0.5);
        p.add(30, 0.5, uniform(43, i, -1.5, 1.5), 40, 0.5, uniform(44, i, -1.5, 1.5));
    }
    check(on_host(mass, p), p, 1e-6);
}

TEST_CASE("task 3: masses of any number of pairs", "[task3]") {
    const int n = GENERATE(1, 31, 32, 33, 255, 256, 257, 1000, 100003);
    CAPTURE(n);
    const auto pairs = any_pairs(n, 50 + n);
    check(on_device(pairs), pairs, 1e-6);
}

TEST_CASE("task 3: close pairs on the device", "[task3]") {
    const double angle = GENERATE(0.1, 0.01, 1e-3, 1e-4);
    CAPTURE(angle);
    const auto pairs = close_pairs(2000, angle, 61);
    check(on_device(pairs), pairs, 1e-6);
}

TEST_CASE("task 3: nothing is launched for no pairs", "[task3]") {
    const Particles none{nullptr, nullptr, nullptr};
    const auto counted = wb::count([&] { masses(none, none, nullptr, 0); });
    CHECK(cudaGetLastError() == cudaSuccess);
    if (counted) {
        INFO("for n = 0: launched kernels: " << counted->launches << ", want none");
        CHECK(counted->launches == 0);
    }
}

TEST_CASE("task 3: host and device agree to a few units in the last place", "[task3]") {
    // sinhf is good to 3 ULP on the device and 2 on the host; the rest are single roundings.
    const auto pairs = any_pairs(20000, 71);
    const auto host = on_host(mass, pairs);
    const auto device = on_device(pairs);
    size_t worst = 0;
    for (size_t i = 0; i < pairs.size(); ++i)
        if (ulps(host[i], device[i]) > ulps(host[worst], device[worst])) worst = i;
    INFO("pair " << worst << ": " << wb::shown(host[worst]) << " on the host, "
                 << wb::shown(device[worst]) << " on the device");
    const bool at_most_6_units_apart = ulps(host[worst], device[worst]) <= 6;
    CHECK(at_most_6_units_apart);
}

TEST_CASE("task 3: Z bosons peak at 91 GeV", "[task3]") {
    const auto pairs = z_decays(20000, 81);
    const auto got = on_device(pairs);
    check(got, pairs, 1e-6);
    std::vector<int> bins(240);  // half a GeV each
    for (const float m : got)
        if (m >= 0 && m < 120) ++bins[int(2 * m)];
    const auto peak = std::max_element(bins.begin(), bins.end()) - bins.begin();
    const double at = 0.5 * (double(peak) + 0.5);
    INFO("the histogram of the masses has its peak at " << at << " GeV, want 91.19 within 0.5");
    CHECK(std::fabs(at - 91.19) <= 0.5);
}

TEST_CASE("efficient: seven floats for each pair, in one launch", "[efficient][task2][task3]") {
    const uint64_t n = 100000;
    const auto p = any_pairs(n, 91);
    wb::DeviceBuffer<float> pt1(p.pt1), eta1(p.eta1), phi1(p.phi1);
    wb::DeviceBuffer<float> pt2(p.pt2), eta2(p.eta2), phi2(p.phi2), out(n);
    const auto counted = wb::count([&] {
        masses({pt1.get(), eta1.get(), phi1.get()},
               {pt2.get(), eta2.get(), phi2.get()},
               out.get(),
               int(n));
    });
    NEED_COUNTERS(counted);
    CHECK(counted->launches == 1);
    CHECK(counted->threads >= 2048);           // one block is not enough
    CHECK(counted->double_instructions == 0);  // those of sin and cos load tables
    CHECK(counted->global_load_bytes == 24 * n);
    CHECK(counted->global_store_bytes == 4 * n);
    CHECK(counted->global_load_sectors <= 24 * n / 32 + 8);
    CHECK(counted->global_store_sectors <= 4 * n / 32 + 8);
    CHECK(counted->host_to_device_bytes + counted->device_to_host_bytes == 0);
}

TEST_CASE("efficient: the warps of the grid share the work", "[efficient][task2][task3]") {
    const auto p = any_pairs(100000, 93);
    const auto got = on_device(p);
    wb::check_shared_work("masses", got.memory->get(), p.size());
}

TEST_CASE("efficient: no doubles, and every lane at work", "[efficient][task2][task3]") {
    const uint64_t n = 100000;
    const auto p = any_pairs(n, 92);
    wb::DeviceBuffer<float> pt1(p.pt1), eta1(p.eta1), phi1(p.phi1);
    wb::DeviceBuffer<float> pt2(p.pt2), eta2(p.eta2), phi2(p.phi2), out(n);
    const auto counted = wb::count([&] {
        masses({pt1.get(), eta1.get(), phi1.get()},
               {pt2.get(), eta2.get(), phi2.get()},
               out.get(),
               int(n));
    });
    NEED_COUNTERS(counted);
    CHECK(counted->global_store_bytes == 4 * n);
    CHECK(counted->double_instructions == 0);
    // Serial code needs more than 100 for each pair, one thread per pair about 5.
    CHECK(counted->warp_instructions <= 20 * n);
}
