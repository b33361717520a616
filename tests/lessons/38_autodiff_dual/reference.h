// SPDX-License-Identifier: MIT
// Lesson 38: the exact derivatives of the three functions and of the network, in long double, and
// the bounds for float. The derivatives are written out by hand.
//
// Bounds have the form k u S: u = 2^-24, S is the formula with the magnitudes of all terms added,
// where each sine, cosine and hyperbolic tangent, and each slope of the latter, counts as 1. k is
// the number of roundings on the longest way from the inputs.
#pragma once

#include "autodiff_dual.h"
#include "lesson_test.h"

#include <array>
#include <limits>

namespace {

using Real = long double;
using Floats = std::vector<float>;
constexpr double kU = 0x1p-24;

enum Part { kF, kDx, kDy, kXx, kXy, kYy, kParts };
using Parts = std::array<Real, kParts>;

inline Parts truth(Quadratic, Real x, Real y) {
    return {x * x + 3 * x * y + 5 * y * y, 2 * x + 3 * y, 3 * x + 10 * y, 2, 3, 10};
}

// 8 roundings: three products on the way to 3 x y, and two sums, with tangents twice as many.
inline Parts bound(Quadratic f, Real x, Real y) {
    Parts out = truth(f, std::fabs(x), std::fabs(y));
    for (Real& part : out) part *= 8 * kU;
    return out;
}

inline Parts truth(Rosenbrock, Real x, Real y) {
    const Real a = 1 - x, b = y - x * x;
    return {a * a + 100 * b * b,
            -2 * a - 400 * x * b,
            200 * b,
            2 - 400 * y + 1200 * x * x,
            -400 * x,
            200};
}

inline Parts bound(Rosenbrock, Real x, Real y) {
    const Real p = std::fabs(x), a = 1 + p, b = std::fabs(y) + p * p;
    Parts out{a * a + 100 * b * b,
              2 * a + 400 * p * b,
              200 * b,
              2 + 400 * std::fabs(y) + 1200 * p * p,
              400 * p,
              200};
    for (Real& part : out) part *= 16 * kU;
    return out;
}

inline Parts truth(Waves, Real x, Real y) {
    const Real e = std::exp(-y * y / 4), t = std::tanh(x * y), s = 1 - t * t;
    const Real r = std::sqrt(1 + x * x), r3 = r * r * r, r5 = r3 * r * r;
    const Real sx = std::sin(x), cx = std::cos(x), sy = std::sin(y), cy = std::cos(y);
    return {
        sx * e + t / r + cy * x * x * x / 2,
        cx * e + y * s / r - t * x / r3 + 1.5L * cy * x * x,
        -y / 2 * sx * e + x * s / r - sy * x * x * x / 2,
        -sx * e - 2 * t * s * y * y / r - 2 * y * s * x / r3 - t / r3 + 3 * t * x * x / r5 +
            3 * cy * x,
        -y / 2 * cx * e + s / r - 2 * t * s * x * y / r - s * x * x / r3 - 1.5L * sy * x * x,
        (y * y / 4 - 0.5L) * sx * e - 2 * t * s * x * x / r - cy * x * x * x / 2,
    };
}

// 64 roundings: powf alone is allowed 16, and the argument of exp adds up to 9.
inline Parts bound(Waves, Real x, Real y) {
    x = std::fabs(x), y = std::fabs(y);
    const Real e = std::exp(-y * y / 4), r = std::sqrt(1 + x * x), r3 = r * r * r;
    const Real cube = x * x * x / 2;
    Parts out{e + 1 / r + cube,
              e + y / r + x / r3 + 3 * x * x / 2,
              y / 2 * e + x / r + cube,
              e + 2 * y * y / r + 2 * x * y / r3 + 1 / r3 + 3 / r3 + 3 * x,
              y / 2 * e + 1 / r + 2 * x * y / r + 1 / r + 3 * x * x / 2,
              (y * y / 4 + 0.5L) * e + 2 * x * x / r + cube};
    for (Real& part : out) part *= 64 * kU;
    return out;
}

inline Parts truth(Ripples, Real x, Real y) {
    const Real sx = std::sin(x), cx = std::cos(x), sy = std::sin(y), cy = std::cos(y);
    return {sx * cy, cx * cy, -sx * sy, -sx * cy, -cx * sy, -sx * cy};
}

// Every part is one product: 24 u for either factor, and 16 u for the rules of products.
inline Parts bound(Ripples f, Real x, Real y) {
    Parts out = truth(f, x, y);
    for (Real& part : out) part = 64 * kU * std::fabs(part);
    return out;
}

// One part for each point, as float, and its bound. If a point is NaN, so is its result.
template <class F>
struct Expected {
    Floats values;
    std::vector<double> bounds;
    Expected(F f, Part part, const Floats& x, const Floats& y) {
        for (size_t i = 0; i < x.size(); ++i) {
            values.push_back(float(truth(f, x[i], y[i])[part]));
            bounds.push_back(double(bound(f, x[i], y[i])[part]) + kU * std::fabs(values[i]));
        }
    }
};

struct Point {
    Real x, y, error;  // error: the bound for float, in either coordinate
};

// Gradient descent, and the bound of its error e. One step turns e into (1 - rate H) e, with the
// second derivatives H, and adds the errors of one gradient, one product and one difference.
template <class F>
Point descended(F f, Real x, Real y, int steps, float rate) {
    Real error = 0;
    for (int step = 0; step < steps; ++step) {
        const Parts at = truth(f, x, y), off = bound(f, x, y);
        const Real middle = (at[kXx] + at[kYy]) / 2;
        const Real radius = std::hypot((at[kXx] - at[kYy]) / 2, at[kXy]);  // eigenvalues of H
        const Real grows = std::max(std::fabs(1 - rate * (middle + radius)),
                                    std::fabs(1 - rate * (middle - radius)));
        const Real gradient = std::hypot(at[kDx], at[kDy]);
        error = grows * error + rate * std::hypot(off[kDx], off[kDy]) +
                2 * kU * (std::hypot(x, y) + rate * gradient) +
                8 * 0x1p-149L;  // numbers near 0 have fewer digits
        x -= rate * at[kDx];
        y -= rate * at[kDy];
    }
    return {x, y, error + kU * std::hypot(x, y)};
}

struct Weights {
    Floats a, b, w;
    float c;
};

// Residuals of the network, and their bounds. The argument of tanh has an error of
// 2 u (|a x| + |b|), its value and slope 8 u and 16 u more; then come the sums.
struct Residuals {
    Floats values;
    std::vector<double> bounds;
    Residuals(const Weights& net, const Floats& xs) {
        for (const float x : xs) {
            Real sum = net.c, slopes = 0, off = 0, size = std::fabs(net.c);
            for (size_t j = 0; j < net.w.size(); ++j) {
                const Real inner = Real(net.a[j]) * x + net.b[j], t = std::tanh(inner);
                sum += net.w[j] * t;
                slopes += net.w[j] * (net.a[j] * (1 - t * t));
                const Real weight = std::fabs(net.w[j]) * (1 + std::fabs(net.a[j]));
                off += weight * (4 * (std::fabs(Real(net.a[j]) * x) + std::fabs(net.b[j])) + 24);
                size += weight;
            }
            values.push_back(float(sum + slopes));
            bounds.push_back(double(kU * (off + (net.w.size() + 2) * size)));
        }
    }
};

constexpr size_t kGuard = 1024;  // elements on each side of every array, on a real GPU
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

inline wb::GuardedBuffer<float> upload(const Floats& values) {
    return wb::GuardedBuffer<float>(values, wb::guard(kGuard));
}

struct Points {
    Floats x, y;
};

// Random points in the square |x|, |y| <= side.
inline Points random_points(size_t n, uint64_t seed, float side = 2) {
    return {wb::random_floats(n, seed, -side, side), wb::random_floats(n, seed + 1, -side, side)};
}

inline Weights random_weights(int units, uint64_t seed) {
    return {wb::random_floats(units, seed, -2, 2),
            wb::random_floats(units, seed + 1),
            wb::random_floats(units, seed + 2),
            0.75f};
}

// Dual numbers whose tangents are unrelated.
inline std::vector<Dual2> random_duals(size_t n, uint64_t seed, float low, float high) {
    std::vector<Dual2> out(n);
    for (size_t i = 0; i < n; ++i) {
        out[i].value = low + (high - low) * wb::uniform_float(seed, i);
        for (int k : {0, 1}) out[i].tangent[k] = 4 * wb::uniform_float(seed + 1 + k, i) - 2;
    }
    return out;
}

}  // namespace
