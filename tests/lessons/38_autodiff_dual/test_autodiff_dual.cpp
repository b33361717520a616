// SPDX-License-Identifier: MIT
// Lesson 38: the rules of dual numbers on the host, and derivatives of whole functions on the
// device, compared with formulas that are differentiated by hand, in long double.
//
// Tolerances are stated in units of u = 2^-24: those of single rules in the header of the lesson,
// those of functions of two variables and of the network in reference.h.
#include "autodiff_dual.h"
#include "call_checks.h"
#include "lesson_test.h"
#include "reference.h"
#include "rules.h"
#include "shared_work.h"

#include <limits>

namespace {

constexpr size_t kGuard = 1024;  // elements on each side of every array, on a real GPU
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

wb::GuardedBuffer<float> upload(const Floats& values) {
    return wb::GuardedBuffer<float>(values, wb::guard(kGuard));
}

struct Points {
    Floats x, y;
};

// In the square whose sides are `side` away from the origin.
Points random_points(size_t n, uint64_t seed, float side = 2) {
    return {wb::random_floats(n, seed, -side, side), wb::random_floats(n, seed + 1, -side, side)};
}

// Points on the axes, where powers of 0 occur, and in corners.
const Points kSpecial{{0, 0, 1, -3}, {0, 1, 0, 3}};

Points and_at(Points p, const Points& more) {
    p.x.insert(p.x.end(), more.x.begin(), more.x.end());
    p.y.insert(p.y.end(), more.y.begin(), more.y.end());
    return p;
}

template <class F>
void check_part(F f, Part part, const char* what, const Points& p, const wb::Output<float>& got,
                std::vector<wb::Mistake<float>> mistakes = {}) {
    const Expected<F> want(f, part, p.x, p.y);
    const auto tolerance = [&](size_t i) { return want.bounds[i]; };
    const auto instead = [&](const char* words, auto formula) {
        mistakes.push_back({words, [&p, f, formula] {
                                Floats out;
                                for (size_t i = 0; i < p.x.size(); ++i)
                                    out.push_back(float(formula(truth(f, p.x[i], p.y[i]))));
                                return out;
                            }});
    };
    if (part == kDx || part == kDy) {
        instead("the sum of both derivatives: both variables change at once",
                [](const Parts& t) { return t[kDx] + t[kDy]; });
        instead("the derivative by the other variable",
                [part](const Parts& t) { return t[part == kDx ? kDy : kDx]; });
        instead("the value of f", [](const Parts& t) { return t[kF]; });
    }
    if (part >= kXx) {
        for (const Part other : {kXx, kXy, kYy})
            if (other != part)
                instead("another one of the three second derivatives",
                        [other](const Parts& t) { return t[other]; });
        instead("the first derivative by x", [](const Parts& t) { return t[kDx]; });
        instead("the first derivative by y", [](const Parts& t) { return t[kDy]; });
        instead("half of the second derivative", [part](const Parts& t) { return t[part] / 2; });
    }
    wb::recognize<float>(got, want.values, mistakes, tolerance);
    // A 0 everywhere has one likely cause, unless the terms of f could cancel.
    const bool is_zero = std::all_of(got.begin(), got.end(), [](float v) { return v == 0; });
    const bool never_changes = is_zero && part != kF && p.x.size() > 1;
    if (never_changes && !std::is_same_v<F, Rosenbrock>) {
        INFO(what << "s: 0 everywhere, as if what it is derived by did not change");
        CHECK(!never_changes);
    }
    CHECK_ARRAYS(got, want.values, tolerance, what);
}

// Both kernels that fill three arrays.
std::array<wb::Output<float>, 3>
three(const Points& p,
      const std::function<void(const float*, const float*, float*, float*, float*, int)>& run) {
    auto x = upload(p.x), y = upload(p.y);
    const size_t n = p.x.size();
    std::array<std::shared_ptr<wb::GuardedBuffer<float>>, 3> out;
    for (auto& memory : out)
        memory = std::make_shared<wb::GuardedBuffer<float>>(n, wb::guard(kGuard));
    run(x.get(), y.get(), out[0]->get(), out[1]->get(), out[2]->get(), int(n));
    CUDA_CHECK(cudaGetLastError());
    std::array<wb::Output<float>, 3> got;
    for (int k : {0, 1, 2}) {
        CHECK(out[k]->intact());
        static_cast<Floats&>(got[k]) = out[k]->download();
        got[k].memory = out[k];
    }
    wb::check_unchanged(x.download(), p.x);
    wb::check_unchanged(y.download(), p.y);
    return got;
}

template <class F>
void check_gradients(F f, const Points& p) {
    const auto got = three(p, [f](auto... arguments) { gradients(f, arguments...); });
    check_part(f, kF, "f at point", p, got[0]);
    check_part(f, kDx, "df/dx at point", p, got[1]);
    check_part(f, kDy, "df/dy at point", p, got[2]);
}

template <class F>
void check_second_derivatives(F f, const Points& p) {
    const auto got = three(p, [f](auto... arguments) { second_derivatives(f, arguments...); });
    check_part(f, kXx, "second derivative by x at point", p, got[0]);
    check_part(f, kXy, "derivative by x and y at point", p, got[1]);
    check_part(f, kYy, "second derivative by y at point", p, got[2]);
}

// What usual mistakes make of a descent, in double.
template <class F>
Floats wrongly_descended(F f, const Points& p, int steps, double rate, bool new_x, bool of_y) {
    Floats out;
    for (size_t i = 0; i < p.x.size(); ++i) {
        Real x = p.x[i], y = p.y[i];
        for (int step = 0; step < steps; ++step) {
            const Parts at = truth(f, x, y);
            const Real next = x - rate * at[kDx];
            y -= rate * (new_x ? truth(f, next, y) : at)[kDy];
            x = next;
        }
        out.push_back(float(of_y ? y : x));
    }
    return out;
}

template <class F>
void check_descent(F f, const Points& p, int steps, float rate) {
    CAPTURE(steps, rate);
    auto x = upload(p.x), y = upload(p.y);
    descend(f, x.get(), y.get(), int(p.x.size()), steps, rate);
    CUDA_CHECK(cudaGetLastError());
    CHECK(x.intact());
    CHECK(y.intact());
    Floats want_x, want_y;
    std::vector<double> bounds;
    for (size_t i = 0; i < p.x.size(); ++i) {
        const Point at = descended(f, p.x[i], p.y[i], steps, rate);
        want_x.push_back(float(at.x));
        want_y.push_back(float(at.y));
        bounds.push_back(double(at.error));
    }
    const auto tolerance = [&](size_t i) { return bounds[i]; };
    const Floats got_x = x.download(), got_y = y.download();
    for (const bool of_y : {false, true}) {
        const auto wrong = [&](const char* words, int trips, double by, bool new_x) {
            return wb::Mistake<float>{words, [&p, f, trips, by, new_x, of_y] {
                                          return wrongly_descended(f, p, trips, by, new_x, of_y);
                                      }};
        };
        wb::recognize<float>(
            of_y ? got_y : got_x,
            of_y ? want_y : want_x,
            {wrong("uphill: the gradient points where f grows", steps, -rate, false),
             wrong("y has moved by the derivative at the new x, not at the old point",
                   steps,
                   rate,
                   true),
             {"each step takes the derivatives at the starting point, not where it is",
              [&p, f, steps, rate, of_y] {
                  Floats out;
                  for (size_t i = 0; i < p.x.size(); ++i) {
                      const Parts at = truth(f, p.x[i], p.y[i]);
                      const Real moved = Real(steps) * rate * at[of_y ? kDy : kDx];
                      out.push_back(float((of_y ? p.y : p.x)[i] - moved));
                  }
                  return out;
              }},
             wrong("one step too few", steps - 1, rate, false),
             wrong("one step too many", steps + 1, rate, false),
             wrong("a single step", 1, rate, false),
             wrong("the rate is missing", steps, 1, false)},
            tolerance);
    }
    CHECK_ARRAYS(got_x, want_x, tolerance, "x of point");
    CHECK_ARRAYS(got_y, want_y, tolerance, "y of point");
}

Weights random_weights(int units, uint64_t seed) {
    return {wb::random_floats(units, seed, -2, 2),
            wb::random_floats(units, seed + 1),
            wb::random_floats(units, seed + 2),
            0.75f};
}

void check_residuals(int units, size_t n) {
    const uint64_t seed = 900 + units;
    const Weights net = random_weights(units, seed);
    const Floats xs = wb::random_floats(n, seed + 3, -3, 3);
    auto a = upload(net.a), b = upload(net.b), w = upload(net.w), x = upload(xs);
    const auto got = wb::output_of<float>(n, wb::guard(kGuard), [&](float* out) {
        residuals({a.get(), b.get(), w.get(), units, net.c}, x.get(), out, int(n));
    });
    const Residuals want(net, xs);
    const auto tolerance = [&](size_t i) { return want.bounds[i]; };
    // y and its derivatives by x and by the parameters, put together by `formula`.
    struct Sums {
        Real y, x, a, b, w, last;  // last: y + dy/dx of the last unit alone
    };
    const auto instead = [&](const char* words, Real (*formula)(const Sums&)) {
        return wb::Mistake<float>{words, [&net, &xs, formula] {
                                      Floats out;
                                      for (const float at : xs) {
                                          Sums s{net.c, 0, 0, 0, 0, net.c};
                                          for (size_t j = 0; j < net.w.size(); ++j) {
                                              const Real t =
                                                  std::tanh(Real(net.a[j]) * at + net.b[j]);
                                              const Real slope = net.w[j] * (1 - t * t);
                                              s.last = net.c + net.w[j] * t + slope * net.a[j];
                                              s.y += net.w[j] * t;
                                              s.x += slope * net.a[j];
                                              s.a += slope * at;
                                              s.b += slope;
                                              s.w += t;
                                          }
                                          out.push_back(float(formula(s)));
                                      }
                                      return out;
                                  }};
    };
    wb::recognize<float>(
        got,
        want.values,
        {instead("dy/dx is left out", [](const Sums& s) { return s.y; }),
         instead("each unit replaces the sum of those before it",
                 [](const Sums& s) { return s.last; }),
         instead("y is left out", [](const Sums& s) { return s.x; }),
         instead("y is subtracted: that is the residual of dy/dx = y",
                 [](const Sums& s) { return s.x - s.y; }),
         instead("the network is differentiated by the parameters a, not by x",
                 [](const Sums& s) { return s.a + s.y; }),
         instead("the network is differentiated by the parameters b, not by x",
                 [](const Sums& s) { return s.b + s.y; }),
         instead("the network is differentiated by the parameters w, not by x",
                 [](const Sums& s) { return s.w + s.y; }),
         instead("the network is differentiated by all of its parameters, not by x",
                 [](const Sums& s) { return s.a + s.b + s.w + 1 + s.y; })},
        tolerance);
    CHECK_ARRAYS(got, want.values, tolerance, "residual at point");
    wb::check_unchanged(x.download(), xs);
}

}  // namespace

TEST_CASE("task 1: a variable changes with itself alone", "[task1]") {
    CHECK(variable<1>(2.5f, 0).value == 2.5f);
    for (int k = 0; k < 5; ++k) {
        const Dual<float, 5> got = variable<5>(-1.5f, k);
        CHECK(got.value == -1.5f);
        for (int j = 0; j < 5; ++j) {
            const float want = j == k ? 1 : 0;
            const bool right = got.tangent[j] == want;
            INFO("variable<5>(-1.5f, " << k << "): tangent[" << j << "] is " << got.tangent[j]
                                       << ", want " << want);
            CHECK(right);
        }
    }
}

TEST_CASE("task 1: a variable whose value is a variable", "[task1]") {
    for (int k : {0, 1}) {
        Dual2 inner = 3.0f;
        inner.tangent[k] = 1;
        const Second2 got = variable<2>(inner, k);
        const auto check = [&](const std::string& name, float number, float want) {
            const bool right = number == want;
            INFO("variable<2>(inner, " << k << "): " << name << " is " << number << ", want "
                                       << want);
            CHECK(right);
        };
        check("value.value", got.value.value, 3);
        for (int i : {0, 1}) {
            const std::string outer = "tangent[" + std::to_string(i) + "]";
            check("value." + outer, got.value.tangent[i], i == k);
            check(outer + ".value", got.tangent[i].value, i == k);
            for (int j : {0, 1})
                check(outer + ".tangent[" + std::to_string(j) + "]", got.tangent[i].tangent[j], 0);
        }
    }
}

TEST_CASE("task 2: the product rule", "[task2]") {
    check_products(random_duals(5000, 11, -3, 3), random_duals(5000, 21, -3, 3));
}

TEST_CASE("task 2: a constant factor, and factors of 0", "[task2]") {
    std::vector<Dual2> constants, numbers = random_duals(200, 31, -3, 3);
    for (int i = 0; i < 200; ++i) constants.push_back(Dual2(i % 4 == 0 ? 0.0f : 0.25f * (i - 99)));
    check_products(constants, numbers);
    check_products(numbers, constants);
}

TEST_CASE("task 2: large and small factors", "[task2]") {
    auto large = random_duals(500, 41, 1, 2), small = random_duals(500, 51, 1, 2);
    for (size_t i = 0; i < large.size(); ++i) {
        large[i] = {large[i].value * 1e20f};
        small[i].value *= 1e-20f;
        small[i].tangent[0] *= 1e-20f;
        small[i].tangent[1] *= 1e-20f;
    }
    check_products(large, small);
    check_products(small, large);
}

TEST_CASE("task 2: products of dual numbers of dual numbers", "[task2]") {
    // (x^2) (y^2): x and y are variables, and so are their values. 8 roundings, no cancellation.
    const Points p = random_points(200, 55);
    std::array<Floats, 6> got, want;
    for (size_t i = 0; i < p.x.size(); ++i) {
        const float x = p.x[i], y = p.y[i];
        Second2 a = 0.0f, b = 0.0f;
        a.value = x, b.value = y;
        a.value.tangent[0] = b.value.tangent[1] = 1;
        a.tangent[0].value = b.tangent[1].value = 1;
        const Second2 f = (a * a) * (b * b);
        const float numbers[] = {f.value.value,
                                 f.value.tangent[0],
                                 f.tangent[1].value,
                                 f.tangent[0].tangent[0],
                                 f.tangent[0].tangent[1],
                                 f.tangent[1].tangent[0]};
        const Real u = x, v = y;
        const Real exact[] = {
            u * u * v * v, 2 * u * v * v, 2 * u * u * v, 2 * v * v, 4 * u * v, 4 * u * v};
        for (int k = 0; k < 6; ++k) {
            got[k].push_back(numbers[k]);
            want[k].push_back(float(exact[k]));
        }
    }
    const char* names[] = {"value.value of product",
                           "value.tangent[0] of product",
                           "tangent[1].value of product",
                           "tangent[0].tangent[0] of product",
                           "tangent[0].tangent[1] of product",
                           "tangent[1].tangent[0] of product"};
    for (int k = 0; k < 6; ++k) {
        const auto tolerance = [&](size_t i) { return 8 * kU * std::fabs(want[k][i]); };
        CHECK_ARRAYS(got[k], want[k], tolerance, names[k]);
    }
}

TEST_CASE("task 3: the quotient rule", "[task3]") {
    const auto a = random_duals(5000, 61, -3, 3);
    check_quotients(a, random_duals(5000, 71, 0.5f, 4));
    check_quotients(a, random_duals(5000, 81, -4, -0.5f));
}

TEST_CASE("task 3: a constant above or below the line", "[task3]") {
    std::vector<Dual2> constants;
    for (int i = 0; i < 200; ++i) constants.push_back(Dual2(0.25f * (i - 99) + 0.125f));
    check_quotients(constants, random_duals(200, 91, 0.5f, 4));
    check_quotients(random_duals(200, 92, 0.5f, 4), constants);
    check_quotients(std::vector<Dual2>(200, Dual2(0.0f)), random_duals(200, 93, -4, -0.5f));
}

TEST_CASE("task 3: denominators whose squares no float can hold", "[task3]") {
    const int power_of_ten = GENERATE(-24, 24);
    CAPTURE(power_of_ten);
    const float scale = power_of_ten < 0 ? 1e-24f : 1e24f;
    auto a = random_duals(500, 101, 1, 2), b = random_duals(500, 111, 1, 2);
    for (size_t i = 0; i < b.size(); ++i) {
        for (Dual2* d : {&a[i], &b[i]}) {  // tangents in proportion: a ratio of two lengths
            d->value *= scale;
            d->tangent[0] *= scale;
            d->tangent[1] *= scale;
        }
    }
    check_quotients(a, b);
}

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
    // The slope of x is x^0: another power, at 0.
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

TEST_CASE("task 5: the gradient of x^2 + 3xy + 5y^2 at (1, 2) is (8, 23)", "[task5]") {
    check_gradients(Quadratic{}, {{1}, {2}});
}

TEST_CASE("task 5: gradients at any number of points", "[task5]") {
    const int n = GENERATE(1, 31, 32, 33, 255, 256, 257, 1000, 100003);
    CAPTURE(n);
    check_gradients(Quadratic{}, random_points(n, 200 + n));
}

TEST_CASE("task 5: gradients of Rosenbrock's valley", "[task5]") {
    check_gradients(Rosenbrock{}, and_at(random_points(3000, 211), {{0, 1, -1, 0}, {0, 1, 1, 1}}));
}

TEST_CASE("task 5: gradients of functions of functions", "[task5]") {
    check_gradients(Waves{}, and_at(random_points(3000, 221, 3), kSpecial));
}

TEST_CASE("task 5: a NaN stays at its point", "[task5]") {
    Points p = random_points(300, 231);
    p.x[3] = kNan;
    const auto got = three(p, [](auto... arguments) { gradients(Waves{}, arguments...); });
    for (const auto& array : got) CHECK(std::isnan(array[3]));
    Points others = p;
    auto kept = got;
    others.x[3] = others.y[3] = 0;
    for (int k : {0, 1, 2}) kept[k][3] = float(truth(Waves{}, 0, 0)[k]);
    check_part(Waves{}, kF, "f at point", others, kept[0]);
    check_part(Waves{}, kDx, "df/dx at point", others, kept[1]);
    check_part(Waves{}, kDy, "df/dy at point", others, kept[2]);
}

TEST_CASE("task 5: nothing is launched for no points", "[task5]") {
    const auto counted = wb::count([] {
        gradients(Quadratic{}, nullptr, nullptr, nullptr, nullptr, nullptr, 0);
        descend(Quadratic{}, nullptr, nullptr, 0, 10, 0.1f);
        second_derivatives(Quadratic{}, nullptr, nullptr, nullptr, nullptr, nullptr, 0);
        residuals({nullptr, nullptr, nullptr, 0, 0}, nullptr, nullptr, 0);
    });
    CHECK(cudaGetLastError() == cudaSuccess);
    if (counted) {
        INFO("for n = 0: launched kernels: " << counted->launches << ", want none");
        CHECK(counted->launches == 0);
    }
}

TEST_CASE("task 5: a refused launch is an exception", "[task5]") {
    wb::DeviceBuffer<float> x(Floats(10, 1.0f)), y(Floats(10, 2.0f)), f(10), dx(10), dy(10);
    wb::check_refused_launch("gradients", [&] {
        gradients(Quadratic{}, x.get(), y.get(), f.get(), dx.get(), dy.get(), 10);
    });
}

TEST_CASE("task 6: a thousand steps along Rosenbrock's valley", "[task6]") {
    // Ends near (0.363640, 0.129199), where f is 0.405875.
    check_descent(Rosenbrock{}, {{-1}, {1}}, 1000, 0.001f);
}

TEST_CASE("task 6: any number of steps", "[task6]") {
    const int steps = GENERATE(0, 1, 2, 3, 10, 100, 10000);
    check_descent(Quadratic{}, random_points(40, 301), steps, 0.0625f);
    check_descent(Rosenbrock{}, random_points(40, 311, 1), steps, 0.0005f);
}

TEST_CASE("task 6: any number of points", "[task6]") {
    const int n = GENERATE(1, 31, 32, 33, 255, 256, 257, 1000, 10007);
    CAPTURE(n);
    check_descent(Waves{}, random_points(n, 320 + n), 4, 0.03f);
}

TEST_CASE("task 6: the lowest point stays where it is", "[task6]") {
    check_descent(Rosenbrock{}, {Floats(40, 1), Floats(40, 1)}, 50, 0.001f);
    check_descent(Quadratic{}, {Floats(40), Floats(40)}, 50, 0.1f);
}

TEST_CASE("task 6: a NaN stays at its point", "[task6]") {
    Points p = random_points(100, 331, 1);
    auto x = upload(p.x), y = upload(p.y);
    p.x[40] = kNan;
    auto spoilt = upload(p.x), other = upload(p.y);
    descend(Rosenbrock{}, x.get(), y.get(), 100, 5, 0.0005f);
    descend(Rosenbrock{}, spoilt.get(), other.get(), 100, 5, 0.0005f);
    CUDA_CHECK(cudaGetLastError());
    Floats got = spoilt.download(), want = x.download();
    CHECK(std::isnan(got[40]));
    const bool moved = want[0] != p.x[0];
    INFO("descend() has left point 0 where it was");
    CHECK(moved);
    got[40] = want[40];
    CHECK_ARRAYS(
        got, want, [](size_t) { return 0.0; }, "x of point");
}

TEST_CASE("task 7: second derivatives at any number of points", "[task7]") {
    const int n = GENERATE(1, 31, 32, 33, 255, 256, 257, 1000, 10007);
    CAPTURE(n);
    check_second_derivatives(Rosenbrock{}, random_points(n, 400 + n));
}

TEST_CASE("task 7: second derivatives of x^2 + 3xy + 5y^2 are 2, 3 and 10", "[task7]") {
    check_second_derivatives(Quadratic{}, {{1}, {2}});
}

TEST_CASE("task 7: second derivatives of Rosenbrock's valley", "[task7]") {
    check_second_derivatives(Rosenbrock{},
                             and_at(random_points(2000, 411), {{0, 1, -1}, {0, 1, 1}}));
}

TEST_CASE("task 7: second derivatives of functions of functions", "[task7]") {
    check_second_derivatives(Waves{}, and_at(random_points(2000, 421, 3), kSpecial));
}

TEST_CASE("task 8: residuals of networks of any size", "[task8]") {
    const int units = GENERATE(5, 0, 1, 2, 32, 100, 1024);
    CAPTURE(units);
    check_residuals(units, 500);
}

TEST_CASE("task 8: residuals at any number of points", "[task8]") {
    const int n = GENERATE(1, 31, 32, 33, 255, 256, 257, 1000, 10007);
    CAPTURE(n);
    check_residuals(6, n);
}

TEST_CASE("efficient: tangents stay in registers", "[efficient][task5][task6][task7][task8]") {
    const uint64_t n = 4096;
    const Points p = random_points(n, 541);
    const Weights net = random_weights(8, 551);
    wb::DeviceBuffer<float> x(p.x), y(p.y), one(n), two(n), three(n);
    wb::DeviceBuffer<float> a(net.a), b(net.b), w(net.w);
    const auto counted = wb::count([&] {
        gradients(Waves{}, x.get(), y.get(), one.get(), two.get(), three.get(), int(n));
        second_derivatives(Waves{}, x.get(), y.get(), one.get(), two.get(), three.get(), int(n));
        residuals({a.get(), b.get(), w.get(), 8, net.c}, x.get(), one.get(), int(n));
        descend(Waves{}, x.get(), y.get(), int(n), 3, 0.01f);
    });
    NEED_COUNTERS(counted);
    CHECK(counted->global_store_bytes >= (12 + 12 + 4 + 8) * n);
    CHECK(counted->local_load_requests == 0);
    CHECK(counted->local_store_requests == 0);
    CHECK(counted->double_instructions == 0);
}

TEST_CASE("efficient: two loads and three stores for each point, in one launch",
          "[efficient][task5]") {
    const uint64_t n = 100000;
    const Points p = random_points(n, 501);
    wb::DeviceBuffer<float> x(p.x), y(p.y), f(n), dx(n), dy(n);
    const auto counted = wb::count(
        [&] { gradients(Rosenbrock{}, x.get(), y.get(), f.get(), dx.get(), dy.get(), int(n)); });
    NEED_COUNTERS(counted);
    CHECK(counted->launches == 1);
    CHECK(counted->threads >= 2048);  // one block is not enough
    CHECK(counted->global_load_bytes == 8 * n);
    CHECK(counted->global_store_bytes == 12 * n);
    CHECK(counted->global_load_sectors <= 8 * n / 32 + 16);
    CHECK(counted->global_store_sectors <= 12 * n / 32 + 24);
    CHECK(counted->double_instructions == 0);
    CHECK(counted->host_to_device_bytes + counted->device_to_host_bytes == 0);
}

TEST_CASE("efficient: one evaluation gives the value and both derivatives", "[efficient][task5]") {
    const uint64_t n = 32768;
    const Points p = random_points(n, 511);
    wb::DeviceBuffer<float> x(p.x), y(p.y), f(n), dx(n), dy(n);
    const auto counted = wb::count(
        [&] { gradients(Waves{}, x.get(), y.get(), f.get(), dx.get(), dy.get(), int(n)); });
    NEED_COUNTERS(counted);
    CHECK(counted->global_store_bytes == 12 * n);
    CHECK(counted->double_instructions == 0);
    CHECK(counted->warp_instructions <= 600 * n / 32);
}

TEST_CASE("efficient: the warps of the grid share the work", "[efficient][task5]") {
    const Points p = random_points(100000, 521);
    const auto got = three(p, [](auto... arguments) { gradients(Rosenbrock{}, arguments...); });
    wb::check_shared_work("gradients", got[1].memory->get(), p.x.size());
}

TEST_CASE("efficient: a point stays in registers for all steps", "[efficient][task6]") {
    const uint64_t n = 32768;
    const int steps = 20;
    const Points p = random_points(n, 531, 1);
    wb::DeviceBuffer<float> x(p.x), y(p.y);
    const auto counted =
        wb::count([&] { descend(Rosenbrock{}, x.get(), y.get(), int(n), steps, 0.0005f); });
    NEED_COUNTERS(counted);
    CHECK(counted->launches == 1);
    CHECK(counted->threads >= 2048);
    CHECK(counted->global_load_bytes == 8 * n);
    CHECK(counted->global_store_bytes == 8 * n);
    CHECK(counted->double_instructions == 0);
    CHECK(counted->device_allocations == 0);
    CHECK(counted->warp_instructions <= 40 * steps * n / 32);
}
