// SPDX-License-Identifier: MIT
// Lesson 10: host and device compute the same mass, and it is right for wide and for tiny angles.
//
// The truth is computed in long double from the same float inputs. Tolerances, with u = 2^-24: the
// device's sinf, cosf, sinhf and coshf are good to 2 or 3 ULP (6 u at most), a square root halves
// relative errors, and the rest are single roundings: below 12 u for `mass`, allowed 1e-6 (16 u).
// phi1 - phi2 of angles up to pi is rounded by 4 u in absolute terms; where phi wraps around, that
// is not small compared with the opening angle, so 5e-7 / opening is allowed on top for such pairs.
// The textbook formula at openings of 1 and more loses 10 u by cancellation: allowed 2e-6.
#include "device_functions_z_mass.h"
#include "lesson_test.h"
#include "shared_work.h"

#include <algorithm>
#include <cstring>

namespace {

constexpr size_t kGuard = 1024;  // elements on each side of every array, on a real GPU
constexpr double kPi = 3.14159265358979323846;

// n pairs of particles, as six columns.
struct Pairs {
    std::vector<float> pt1, eta1, phi1, pt2, eta2, phi2;
    size_t size() const { return pt1.size(); }
    void add(double a, double b, double c, double d, double e, double f) {
        pt1.push_back(float(a));
        eta1.push_back(float(b));
        phi1.push_back(float(c));
        pt2.push_back(float(d));
        eta2.push_back(float(e));
        phi2.push_back(float(f));
    }
};

using Formula = float (*)(float, float, float, float, float, float);

float value(Formula f, const Pairs& p, size_t i) {
    return f(p.pt1[i], p.eta1[i], p.phi1[i], p.pt2[i], p.eta2[i], p.phi2[i]);
}

double true_mass(const Pairs& p, size_t i) {
    const long double deta = (long double)p.eta1[i] - p.eta2[i];
    const long double dphi = (long double)p.phi1[i] - p.phi2[i];
    const long double a = std::sinh(deta / 2), b = std::sin(dphi / 2);
    return 2 * std::sqrt((long double)p.pt1[i] * p.pt2[i] * (a * a + b * b));
}

// The distance of the two directions in eta and phi, the short way round.
double opening(const Pairs& p, size_t i) {
    const double deta = double(p.eta1[i]) - p.eta2[i];
    const double dphi = std::remainder(double(p.phi1[i]) - p.phi2[i], 2 * kPi);
    return std::hypot(deta, dphi);
}

bool wraps(const Pairs& p, size_t i) {
    return std::fabs(double(p.phi1[i]) - p.phi2[i]) > kPi;
}

std::vector<float> true_masses(const Pairs& p) {
    std::vector<float> out;
    for (size_t i = 0; i < p.size(); ++i) out.push_back(float(true_mass(p, i)));
    return out;
}

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

// What the usual mistakes make of one pair: p is pt1 * pt2, x and y the differences of eta and phi.
struct Numbers {
    double pt1, pt2, eta1, eta2, phi1, phi2, x, y;
    double p() const { return pt1 * pt2; }
};
constexpr std::pair<const char*, double (*)(const Numbers&)> kWrong[] = {
    {"the square root is missing",
     [](const Numbers& n) { return 2 * n.p() * (std::cosh(n.x) - std::cos(n.y)); }},
    {"cos is added to cosh, not subtracted",
     [](const Numbers& n) { return std::sqrt(2 * n.p() * (std::cosh(n.x) + std::cos(n.y))); }},
    {"cosh takes the sum of the two eta, not the difference",
     [](const Numbers& n) {
         return std::sqrt(2 * n.p() * (std::cosh(n.eta1 + n.eta2) - std::cos(n.y)));
     }},
    {"cos takes the sum of the two phi, not the difference",
     [](const Numbers& n) {
         return std::sqrt(2 * n.p() * (std::cosh(n.x) - std::cos(n.phi1 + n.phi2)));
     }},
    {"a factor 2 under the square root is missing",
     [](const Numbers& n) { return std::sqrt(n.p() * (std::cosh(n.x) - std::cos(n.y))); }},
    {"eta and phi of the first particle are swapped",
     [](const Numbers& n) {
         return std::sqrt(2 * n.p() * (std::cosh(n.phi1 - n.eta2) - std::cos(n.eta1 - n.phi2)));
     }},
    {"eta and phi of the second particle are swapped",
     [](const Numbers& n) {
         return std::sqrt(2 * n.p() * (std::cosh(n.eta1 - n.phi2) - std::cos(n.phi1 - n.eta2)));
     }},
    {"the sine of half the difference of eta, where the hyperbolic sine belongs",
     [](const Numbers& n) {
         const double a = std::sin(n.x / 2), b = std::sin(n.y / 2);
         return 2 * std::sqrt(n.p() * (a * a + b * b));
     }},
    {"half the difference of eta itself, without its hyperbolic sine",
     [](const Numbers& n) {
         const double a = n.x / 2, b = std::sin(n.y / 2);
         return 2 * std::sqrt(n.p() * (a * a + b * b));
     }},
    {"parentheses are missing: only cosh is multiplied",
     [](const Numbers& n) { return std::sqrt(2 * n.p() * std::cosh(n.x) - std::cos(n.y)); }},
    {"cosh - cos is outside the square root",
     [](const Numbers& n) { return std::sqrt(2 * n.p()) * (std::cosh(n.x) - std::cos(n.y)); }},
    {"the two pt are added, not multiplied",
     [](const Numbers& n) {
         return std::sqrt(2 * (n.pt1 + n.pt2) * (std::cosh(n.x) - std::cos(n.y)));
     }},
    {"pt of the first particle is taken twice",
     [](const Numbers& n) { return n.pt1 * std::sqrt(2 * (std::cosh(n.x) - std::cos(n.y))); }},
    {"the differences of eta and phi are swapped",
     [](const Numbers& n) {
         const double a = std::sinh(n.y / 2), b = std::sin(n.x / 2);
         return 2 * std::sqrt(n.p() * (a * a + b * b));
     }},
    {"the squares are subtracted, not added",
     [](const Numbers& n) {
         const double a = std::sinh(n.x / 2), b = std::sin(n.y / 2);
         return 2 * std::sqrt(n.p() * (a * a - b * b));
     }},
    {"sinh and sin are not squared",
     [](const Numbers& n) {
         return 2 * std::sqrt(n.p() * (std::sinh(n.x / 2) + std::sin(n.y / 2)));
     }},
    {"the differences are not halved",
     [](const Numbers& n) {
         const double a = std::sinh(n.x), b = std::sin(n.y);
         return 2 * std::sqrt(n.p() * (a * a + b * b));
     }},
    {"the difference of eta is not halved",
     [](const Numbers& n) {
         const double a = std::sinh(n.x), b = std::sin(n.y / 2);
         return 2 * std::sqrt(n.p() * (a * a + b * b));
     }},
    {"the difference of phi is not halved",
     [](const Numbers& n) {
         const double a = std::sinh(n.x / 2), b = std::sin(n.y);
         return 2 * std::sqrt(n.p() * (a * a + b * b));
     }},
    {"the cosine of the difference of eta, where its hyperbolic cosine belongs",
     [](const Numbers& n) { return std::sqrt(2 * n.p() * (std::cos(n.x) - std::cos(n.y))); }},
    {"the same eta is taken for both particles",
     [](const Numbers& n) { return 2 * std::sqrt(n.p()) * std::fabs(std::sin(n.y / 2)); }},
    {"the same phi is taken for both particles",
     [](const Numbers& n) { return 2 * std::sqrt(n.p()) * std::fabs(std::sinh(n.x / 2)); }},
    {"the squares of the differences themselves: right only for tiny angles",
     [](const Numbers& n) { return std::sqrt(n.p() * (n.x * n.x + n.y * n.y)); }}};

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

double uniform(uint64_t seed, size_t i, double low, double high) {
    return low + (high - low) * wb::uniform_float(seed, i);
}

// Anything that a detector sees: pt 5 to 150 GeV, |eta| up to 2.4, all of phi.
Pairs any_pairs(size_t n, uint64_t seed) {
    Pairs p;
    for (size_t i = 0; i < n; ++i)
        p.add(uniform(seed, i, 5, 150),
              uniform(seed + 1, i, -2.4, 2.4),
              uniform(seed + 2, i, -kPi, kPi),
              uniform(seed + 3, i, 5, 150),
              uniform(seed + 4, i, -2.4, 2.4),
              uniform(seed + 5, i, -kPi, kPi));
    return p;
}

Pairs far_pairs(size_t n, uint64_t seed) {
    const Pairs all = any_pairs(2 * n, seed);
    Pairs p;
    for (size_t i = 0; i < all.size() && p.size() < n; ++i)
        if (opening(all, i) >= 1)
            p.add(all.pt1[i], all.eta1[i], all.phi1[i], all.pt2[i], all.eta2[i], all.phi2[i]);
    return p;
}

// Two particles that are `angle` apart, in any direction; phi does not wrap around.
Pairs close_pairs(size_t n, double angle, uint64_t seed) {
    Pairs p;
    for (size_t i = 0; i < n; ++i) {
        const double eta = uniform(seed, i, -2, 2), phi = uniform(seed + 1, i, -2, 2);
        const double turn = uniform(seed + 2, i, 0, 2 * kPi);
        p.add(uniform(seed + 3, i, 5, 150),
              eta,
              phi,
              uniform(seed + 4, i, 5, 150),
              eta + angle * std::cos(turn),
              phi + angle * std::sin(turn));
    }
    return p;
}

// Z bosons that decay into two muons: mass by Breit and Wigner, direction of the decay at random,
// then boosted by the boson's own motion.
Pairs z_decays(size_t n, uint64_t seed) {
    Pairs p;
    for (size_t i = 0; i < n; ++i) {
        const double share = uniform(seed, i, 0.02, 0.98);
        const double m = 91.1876 + 0.5 * 2.4952 * std::tan(kPi * (share - 0.5));
        const double pt = -20 * std::log(1 - uniform(seed + 1, i, 0, 0.99));
        const double phi = uniform(seed + 2, i, -kPi, kPi), y = uniform(seed + 3, i, -1.5, 1.5);
        const double mt = std::hypot(m, pt);
        const double boson[4] = {
            mt * std::cosh(y), pt * std::cos(phi), pt * std::sin(phi), mt * std::sinh(y)};
        const double cosine = uniform(seed + 4, i, -0.95, 0.95),
                     sine = std::sqrt(1 - cosine * cosine);
        const double turn = uniform(seed + 5, i, 0, 2 * kPi);
        const double in_rest[3] = {sine * std::cos(turn), sine * std::sin(turn), cosine};
        double muon[2][4];
        for (int k : {0, 1}) {
            double along = 0, momentum[3];
            for (int j : {0, 1, 2}) {
                momentum[j] = (k ? -0.5 : 0.5) * m * in_rest[j];
                along += momentum[j] * boson[j + 1];
            }
            const double factor = along / (m * (boson[0] + m)) + 0.5;
            muon[k][0] = (boson[0] * 0.5 * m + along) / m;
            for (int j : {0, 1, 2}) muon[k][j + 1] = momentum[j] + factor * boson[j + 1];
        }
        const auto pt_of = [](const double* v) { return std::hypot(v[1], v[2]); };
        p.add(pt_of(muon[0]),
              std::asinh(muon[0][3] / pt_of(muon[0])),
              std::atan2(muon[0][2], muon[0][1]),
              pt_of(muon[1]),
              std::asinh(muon[1][3] / pt_of(muon[1])),
              std::atan2(muon[1][2], muon[1][1]));
    }
    return p;
}

// The distance of two floats in units of the last place.
int ulps(float a, float b) {
    int32_t x, y;
    std::memcpy(&x, &a, 4);
    std::memcpy(&y, &b, 4);
    return std::abs(x - y);
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
