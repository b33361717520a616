// SPDX-License-Identifier: MIT
// Lesson 38: checks of single rules on the host: products, quotients, functions of one number. The
// bounds are those of the lesson's header, and two units more for the value of each result.
#pragma once

#include "reference.h"

namespace {

// Dual numbers whose tangents are unrelated.
std::vector<Dual2> random_duals(size_t n, uint64_t seed, float low, float high) {
    std::vector<Dual2> out(n);
    for (size_t i = 0; i < n; ++i) {
        out[i].value = low + (high - low) * wb::uniform_float(seed, i);
        for (int k : {0, 1}) out[i].tangent[k] = 4 * wb::uniform_float(seed + 1 + k, i) - 2;
    }
    return out;
}

// Compares what a rule made of each element: its value and its two tangents, one array for each.
// `mistakes`: what the tangent becomes of the usual errors.
struct Ruled {
    Real value, tangent[2];
    double value_bound, tangent_bound[2];
};
using Wrong = std::function<Real(size_t i, int k)>;
void check_rule(const std::vector<Dual2>& got, const std::vector<Ruled>& want,
                const std::vector<std::pair<const char*, Wrong>>& wrong) {
    Floats values, wanted;
    for (const Dual2& d : got) values.push_back(d.value);
    for (const Ruled& r : want) wanted.push_back(float(r.value));
    const auto value_bound = [&](size_t i) { return want[i].value_bound; };
    CHECK_ARRAYS(values, wanted, value_bound, "value of number");
    Floats tangents, expected;  // both tangents of a number, one after the other
    for (size_t i = 0; i < got.size(); ++i)
        for (int k : {0, 1}) {
            tangents.push_back(got[i].tangent[k]);
            expected.push_back(float(want[i].tangent[k]));
        }
    const auto tolerance = [&](size_t i) { return want[i / 2].tangent_bound[i % 2]; };
    std::vector<wb::Mistake<float>> mistakes;
    for (const auto& [words, formula] : wrong)
        mistakes.push_back({words, [&expected, formula = formula] {
                                Floats out;
                                for (size_t i = 0; i < expected.size(); ++i)
                                    out.push_back(float(formula(i / 2, int(i % 2))));
                                return out;
                            }});
    // Where the values are wrong, the tangents follow from them.
    if (wb::mismatch(values, wanted, value_bound).empty())
        wb::recognize<float>(tangents, expected, mistakes, tolerance);
    const auto tangent_is_right = [&](int k) {
        Floats got_k, want_k;
        for (size_t i = k; i < tangents.size(); i += 2) {
            got_k.push_back(tangents[i]);
            want_k.push_back(expected[i]);
        }
        const char* what = k == 0 ? "tangent[0] of number" : "tangent[1] of number";
        CHECK_ARRAYS(
            got_k, want_k, [&](size_t i) { return want[i].tangent_bound[k]; }, what);
    };
    tangent_is_right(0);
    tangent_is_right(1);
}

void check_products(const std::vector<Dual2>& a, const std::vector<Dual2>& b) {
    std::vector<Dual2> got;
    std::vector<Ruled> want;
    for (size_t i = 0; i < a.size(); ++i) {
        got.push_back(a[i] * b[i]);
        Ruled r;
        r.value = Real(a[i].value) * b[i].value;
        r.value_bound = 2 * kU * double(std::fabs(r.value));
        for (int k : {0, 1}) {
            const Real one = Real(a[i].value) * b[i].tangent[k];
            const Real other = Real(a[i].tangent[k]) * b[i].value;
            r.tangent[k] = one + other;
            r.tangent_bound[k] = double(4 * kU * (std::fabs(one) + std::fabs(other)));
        }
        want.push_back(r);
    }
    check_rule(got,
               want,
               {{"the term a' b is missing: only b changes",
                 [&](size_t i, int k) { return Real(a[i].value) * b[i].tangent[k]; }},
                {"the term a b' is missing: only a changes",
                 [&](size_t i, int k) { return Real(a[i].tangent[k]) * b[i].value; }},
                {"the tangents are multiplied, a' b'",
                 [&](size_t i, int k) { return Real(a[i].tangent[k]) * b[i].tangent[k]; }},
                {"each value is multiplied by its own tangent, a a' + b b'",
                 [&](size_t i, int k) {
                     return Real(a[i].value) * a[i].tangent[k] + Real(b[i].value) * b[i].tangent[k];
                 }},
                {"the two terms are subtracted: they belong added",
                 [&](size_t i, int k) {
                     return Real(a[i].tangent[k]) * b[i].value - Real(a[i].value) * b[i].tangent[k];
                 }},
                {"the tangents are added, as in a sum",
                 [&](size_t i, int k) { return Real(a[i].tangent[k]) + b[i].tangent[k]; }}});
}

void check_quotients(const std::vector<Dual2>& a, const std::vector<Dual2>& b) {
    std::vector<Dual2> got;
    std::vector<Ruled> want;
    for (size_t i = 0; i < a.size(); ++i) {
        got.push_back(a[i] / b[i]);
        Ruled r;
        r.value = Real(a[i].value) / b[i].value;
        r.value_bound = 4 * kU * double(std::fabs(r.value));
        for (int k : {0, 1}) {
            const Real one = a[i].tangent[k], other = r.value * b[i].tangent[k];
            r.tangent[k] = (one - other) / b[i].value;
            const Real size = std::fabs(one) + std::fabs(other);
            r.tangent_bound[k] = double(8 * kU * size / std::fabs(b[i].value));
        }
        want.push_back(r);
    }
    const auto parts = [&](size_t i, int k) {
        return std::array<Real, 4>{a[i].value, b[i].value, a[i].tangent[k], b[i].tangent[k]};
    };
    check_rule(got,
               want,
               {{"the two terms are swapped: the sign is wrong",
                 [=](size_t i, int k) {
                     const auto [p, q, dp, dq] = parts(i, k);
                     return (p * dq - dp * q) / (q * q);
                 }},
                {"the two terms are added: one of them is negative",
                 [=](size_t i, int k) {
                     const auto [p, q, dp, dq] = parts(i, k);
                     return (dp * q + p * dq) / (q * q);
                 }},
                {"only the numerator of the quotient rule: it is not divided",
                 [=](size_t i, int k) {
                     const auto [p, q, dp, dq] = parts(i, k);
                     return dp * q - p * dq;
                 }},
                {"the numerator of the quotient rule is divided by b, not by its square",
                 [=](size_t i, int k) {
                     const auto [p, q, dp, dq] = parts(i, k);
                     return (dp * q - p * dq) / q;
                 }},
                {"the tangents are divided, a' / b'",
                 [=](size_t i, int k) {
                     const auto [p, q, dp, dq] = parts(i, k);
                     return dp / dq;
                 }},
                {"b is treated as a constant", [=](size_t i, int k) {
                     const auto [p, q, dp, dq] = parts(i, k);
                     return dp / q;
                 }}});
}

// A function of one number, with its first and second derivatives.
struct Function {
    Dual2 (*call)(const Dual2&);
    Second2 (*call_second)(const Second2&);
    std::function<Real(Real)> f, slope, second;
    bool slope_is_absolute = false;  // the error of its slope is relative to 1
    std::vector<std::pair<const char*, std::function<Real(Real)>>> wrong_slopes = {};
};

// Each at `x`, with unrelated tangents.
void check_function(const Function& function, const std::vector<Dual2>& x) {
    std::vector<Dual2> got;
    std::vector<Ruled> want;
    for (const Dual2& a : x) {
        got.push_back(function.call(a));
        Ruled r;
        r.value = function.f(a.value);
        r.value_bound = 24 * kU * double(std::fabs(r.value));
        const Real slope = function.slope(a.value);
        for (int k : {0, 1}) {
            r.tangent[k] = slope * a.tangent[k];
            const Real size = function.slope_is_absolute ? a.tangent[k] : r.tangent[k];
            r.tangent_bound[k] = 24 * kU * double(std::fabs(size));
        }
        want.push_back(r);
    }
    std::vector<std::pair<const char*, Wrong>> wrong = {
        {"the tangents of the argument are kept: where is the slope?",
         [&](size_t i, int k) { return x[i].tangent[k]; }},
        {"the slope alone: where are the tangents of the argument?",
         [&](size_t i, int) { return function.slope(x[i].value); }},
        {"the sign of the slope is wrong",
         [&](size_t i, int k) { return -function.slope(x[i].value) * x[i].tangent[k]; }},
        {"the tangents are multiplied by the function itself, not by its derivative",
         [&](size_t i, int k) { return function.f(x[i].value) * x[i].tangent[k]; }},
        {"the function is applied to the tangents: they are multiplied by its derivative",
         [&](size_t i, int k) { return function.f(x[i].tangent[k]); }},
        {"a factor 2 too many",
         [&](size_t i, int k) { return 2 * function.slope(x[i].value) * x[i].tangent[k]; }},
        {"divided by the slope, not multiplied by it",
         [&](size_t i, int k) { return x[i].tangent[k] / function.slope(x[i].value); }}};
    for (const auto& [words, slope] : function.wrong_slopes)
        wrong.push_back({words, [&x, slope = slope](size_t i, int k) {
                             return slope(x[i].value) * x[i].tangent[k];
                         }});
    check_rule(got, want, wrong);
}

// The second derivative, by a dual number of dual numbers.
void check_second(const Function& function, const Floats& xs) {
    Floats got, want;
    for (const float x : xs) {
        Second2 a = 0.0f;
        a.value.value = x;
        a.value.tangent[0] = 1;
        a.tangent[0].value = 1;
        got.push_back(function.call_second(a).tangent[0].tangent[0]);
        want.push_back(float(function.second(x)));
    }
    const auto tolerance = [&](size_t i) {
        return 64 * kU * (function.slope_is_absolute ? 1.0 : std::fabs(want[i]));
    };
    CHECK_ARRAYS(got, want, tolerance, "second derivative of number");
}

#define CALLS(name) [](const Dual2& a) { return name(a); }, [](const Second2& a) { return name(a); }
const Function kSqrt{
    CALLS(sqrt),
    [](Real x) { return std::sqrt(x); },
    [](Real x) { return 0.5L / std::sqrt(x); },
    [](Real x) { return -0.25L / (x * std::sqrt(x)); },
    false,
    {{"half of the root: its slope is half of the reciprocal of the root",
      [](Real x) { return 0.5L * std::sqrt(x); }},
     {"the slope is twice as large as that of a root", [](Real x) { return 1 / std::sqrt(x); }}}};
const Function kSin{CALLS(sin),
                    [](Real x) { return std::sin(x); },
                    [](Real x) { return std::cos(x); },
                    [](Real x) { return -std::sin(x); }};
const Function kCos{CALLS(cos),
                    [](Real x) { return std::cos(x); },
                    [](Real x) { return -std::sin(x); },
                    [](Real x) { return -std::cos(x); }};
const Function kTanh{
    CALLS(tanh),
    [](Real x) { return std::tanh(x); },
    [](Real x) { return 1 / (std::cosh(x) * std::cosh(x)); },
    [](Real x) { return -2 * std::tanh(x) / (std::cosh(x) * std::cosh(x)); },
    true,
    {{"1 - t: in the slope of tanh, t is squared", [](Real x) { return 1 - std::tanh(x); }},
     {"1 + t^2: in the slope of tanh, the square is subtracted",
      [](Real x) { return 1 + std::tanh(x) * std::tanh(x); }},
     {"1 - x^2: the slope needs the square of tanh(x), not that of x",
      [](Real x) { return 1 - x * x; }}}};

void check_power(float exponent, const std::vector<Dual2>& x) {
    CAPTURE(exponent);
    const Real p = exponent;
    std::vector<Dual2> got;
    std::vector<Ruled> want;
    const auto slope = [&](Real a) { return p == 0 ? 0 : p * std::pow(a, p - 1); };
    for (const Dual2& a : x) {
        got.push_back(pow(a, exponent));
        Ruled r;
        r.value = std::pow(Real(a.value), p);
        r.value_bound = 24 * kU * double(std::fabs(r.value));
        for (int k : {0, 1}) {
            r.tangent[k] = slope(a.value) * a.tangent[k];
            r.tangent_bound[k] = 24 * kU * double(std::fabs(r.tangent[k]));
        }
        want.push_back(r);
    }
    check_rule(
        got,
        want,
        {{"the factor in front, the exponent, is missing",
          [&](size_t i, int k) { return std::pow(Real(x[i].value), p - 1) * x[i].tangent[k]; }},
         {"the exponent of the slope is not reduced by one",
          [&](size_t i, int k) { return p * std::pow(Real(x[i].value), p) * x[i].tangent[k]; }},
         {"the tangents of the argument are kept: where is the slope?",
          [&](size_t i, int k) { return x[i].tangent[k]; }},
         {"the slope alone: where are the tangents of the argument?",
          [&](size_t i, int) { return slope(x[i].value); }},
         {"the derivative by the exponent, not by the base", [&](size_t i, int k) {
              const Real a = x[i].value;
              return std::log(a) * std::pow(a, p) * x[i].tangent[k];
          }}});
}

}  // namespace
