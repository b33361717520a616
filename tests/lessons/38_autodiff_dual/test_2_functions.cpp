// SPDX-License-Identifier: MIT
// Lesson 38: functions of one dual number, on the host, and their second derivatives.
#include "rules.h"

namespace {

// A function of one number, with its first and second derivatives.
struct Function {
    Dual2 (*call)(const Dual2&);
    Second2 (*call_second)(const Second2&);
    std::function<Real(Real)> f, slope, second;
    bool slope_is_absolute = false;  // the bound on its slope's error is absolute
    std::vector<std::pair<const char*, std::function<Real(Real)>>> wrong_slopes = {};
};

// Checks the function at each x, with unrelated tangents.
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
        {"the tangents of the argument are kept, without the slope",
         [&](size_t i, int k) { return x[i].tangent[k]; }},
        {"the slope alone, without the tangents of the argument",
         [&](size_t i, int) { return function.slope(x[i].value); }},
        {"the sign of the slope is wrong",
         [&](size_t i, int k) { return -function.slope(x[i].value) * x[i].tangent[k]; }},
        {"the tangents are multiplied by the function itself, not by its derivative",
         [&](size_t i, int k) { return function.f(x[i].value) * x[i].tangent[k]; }},
        {"the function is applied to the tangents: multiply them by its derivative",
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

// Checks the second derivative with a dual number of dual numbers.
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
     {"1 - x^2: the slope needs the square of tanh(x), not of x",
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
         {"the tangents of the argument are kept, without the slope",
          [&](size_t i, int k) { return x[i].tangent[k]; }},
         {"the slope alone, without the tangents of the argument",
          [&](size_t i, int) { return slope(x[i].value); }},
         {"the derivative by the exponent, not by the base", [&](size_t i, int k) {
              const Real a = x[i].value;
              return std::log(a) * std::pow(a, p) * x[i].tangent[k];
          }}});
}

}  // namespace

TEST_CASE("task 4: square roots", "[task4]") {
    check_function(kSqrt, random_duals(2000, 121, 0.01f, 9));
    auto wide = random_duals(200, 122, 1, 2);
    for (size_t i = 0; i < wide.size(); ++i) wide[i].value *= i % 2 ? 1e-20f : 1e20f;
    check_function(kSqrt, wide);
    Dual1 zero = 0.0f;
    zero.tangent[0] = 1;
    CHECK_RESULT(sqrt(zero).value, 0.0f);
    CHECK_RESULT(sqrt(zero).tangent[0], kInfinity);
}

TEST_CASE("task 4: sines and cosines", "[task4]") {
    check_function(kSin, random_duals(2000, 131, -7, 7));
    check_function(kCos, random_duals(2000, 141, -7, 7));
    check_function(kSin, random_duals(500, 142, -1000, 1000));
    check_function(kCos, random_duals(500, 143, -1000, 1000));
}

TEST_CASE("task 4: hyperbolic tangents", "[task4]") {
    check_function(kTanh, random_duals(2000, 151, -4, 4));
}

TEST_CASE("task 4: hyperbolic tangents of large numbers and infinities", "[task4]") {
    for (const float x : {-kInfinity, -100.0f, -20.0f, 20.0f, 100.0f, kInfinity}) {
        CAPTURE(x);
        Dual2 a = x;
        a.tangent[0] = 1;
        a.tangent[1] = -2;
        const Dual2 got = tanh(a);
        const Floats numbers{got.value, got.tangent[0], got.tangent[1]};
        const Floats want{x < 0 ? -1.0f : 1.0f, 0, 0};
        CHECK_ARRAYS(
            numbers, want, [](size_t) { return 24 * kU; }, "number");
    }
}

TEST_CASE("task 4: powers of positive numbers", "[task4]") {
    const float exponent = GENERATE(1.0f, 2.0f, 3.0f, 0.5f, -1.0f, -2.5f, 7.0f, 0.0f);
    check_power(exponent, random_duals(1000, 161, 0.1f, 4));
}

TEST_CASE("task 4: powers of negative numbers", "[task4]") {
    const float exponent = GENERATE(1.0f, 2.0f, 3.0f, -1.0f, -2.0f, 8.0f, 0.0f);
    check_power(exponent, random_duals(1000, 171, -4, -0.1f));
}

TEST_CASE("task 4: powers of 0", "[task4]") {
    const float exponent = GENERATE(0.0f, 1.0f, 2.0f, 3.0f, 1.5f);
    check_power(exponent, random_duals(5, 181, 0, 0));
}

TEST_CASE("task 4: second derivatives of the functions", "[task4]") {
    check_second(kSqrt, wb::random_floats(500, 191, 0.1f, 9));
    check_second(kSin, wb::random_floats(500, 192, -3, 3));
    check_second(kCos, wb::random_floats(500, 193, -3, 3));
    check_second(kTanh, wb::random_floats(500, 194, -3, 3));
    const Function cube{[](const Dual2& a) { return pow(a, 3.0f); },
                        [](const Second2& a) { return pow(a, 3.0f); },
                        [](Real x) { return x * x * x; },
                        [](Real x) { return 3 * x * x; },
                        [](Real x) { return 6 * x; }};
    check_second(cube, wb::random_floats(500, 195, -3, 3));
    // The slope of x is x^0, which is a power with the exponent 0.
    const Function itself{[](const Dual2& a) { return pow(a, 1.0f); },
                          [](const Second2& a) { return pow(a, 1.0f); },
                          [](Real x) { return x; },
                          [](Real) { return 1; },
                          [](Real) { return 0; }};
    check_second(itself, {0, 1, -2});
}

TEST_CASE("task 4: a NaN is passed on", "[task4]") {
    Dual2 a = kNan;
    a.tangent[0] = a.tangent[1] = 1;
    for (const Dual2& got : {sqrt(a), sin(a), cos(a), tanh(a), pow(a, 2.0f)}) {
        CHECK(std::isnan(got.value));
        CHECK(std::isnan(got.tangent[0]));
        CHECK(std::isnan(got.tangent[1]));
    }
}
