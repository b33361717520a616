// SPDX-License-Identifier: MIT
// Lesson 10 on the host: pairs of particles, wide, close and from Z bosons, their true
// masses, and what common mistakes make of them, so that the grader can name the mistake.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "common/host/data.h"
#include "device_functions_z_mass.h"

namespace {

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

inline float value(Formula f, const Pairs& p, size_t i) {
    return f(p.pt1[i], p.eta1[i], p.phi1[i], p.pt2[i], p.eta2[i], p.phi2[i]);
}

inline double true_mass(const Pairs& p, size_t i) {
    const long double deta = (long double)p.eta1[i] - p.eta2[i];
    const long double dphi = (long double)p.phi1[i] - p.phi2[i];
    const long double a = std::sinh(deta / 2), b = std::sin(dphi / 2);
    return 2 * std::sqrt((long double)p.pt1[i] * p.pt2[i] * (a * a + b * b));
}

// The distance of the two directions in eta and phi, the short way round.
inline double opening(const Pairs& p, size_t i) {
    const double deta = double(p.eta1[i]) - p.eta2[i];
    const double dphi = std::remainder(double(p.phi1[i]) - p.phi2[i], 2 * kPi);
    return std::hypot(deta, dphi);
}

inline bool wraps(const Pairs& p, size_t i) {
    return std::fabs(double(p.phi1[i]) - p.phi2[i]) > kPi;
}

inline std::vector<float> true_masses(const Pairs& p) {
    std::vector<float> out;
    for (size_t i = 0; i < p.size(); ++i) out.push_back(float(true_mass(p, i)));
    return out;
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

inline double uniform(uint64_t seed, size_t i, double low, double high) {
    return low + (high - low) * wb::uniform_float(seed, i);
}

// Anything that a detector sees: pt 5 to 150 GeV, |eta| up to 2.4, all of phi.
inline Pairs any_pairs(size_t n, uint64_t seed) {
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

inline Pairs far_pairs(size_t n, uint64_t seed) {
    const Pairs all = any_pairs(2 * n, seed);
    Pairs p;
    for (size_t i = 0; i < all.size() && p.size() < n; ++i)
        if (opening(all, i) >= 1)
            p.add(all.pt1[i], all.eta1[i], all.phi1[i], all.pt2[i], all.eta2[i], all.phi2[i]);
    return p;
}

// Two particles that are `angle` apart, in any direction; phi does not wrap around.
inline Pairs close_pairs(size_t n, double angle, uint64_t seed) {
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
inline Pairs z_decays(size_t n, uint64_t seed) {
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
inline int ulps(float a, float b) {
    int32_t x, y;
    std::memcpy(&x, &a, 4);
    std::memcpy(&y, &b, 4);
    return std::abs(x - y);
}

}  // namespace
