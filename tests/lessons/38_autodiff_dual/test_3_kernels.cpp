// SPDX-License-Identifier: MIT
// Lesson 38: derivatives of functions of two variables and of a network on the device, compared
// with derivatives by hand. Tolerances: see reference.h.
#include "checks.h"
#include "watches/call_checks.h"

namespace {

// Points on the axes, where powers of 0 occur, and in corners.
const Points kSpecial{{0, 0, 1, -3}, {0, 1, 0, 3}};

// Points where sines or cosines are nearly 0, and the fast functions have no correct digit.
const Points kNearZeros{{355, -22, 3.1415927f, 710, -1.5707964f, 11},
                        {1.5707964f, 11, -355, 22, 699.0044f, 3}};

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
    // If all results are 0, there is one likely cause, unless the terms of f could cancel.
    const bool is_zero = std::all_of(got.begin(), got.end(), [](float v) { return v == 0; });
    const bool never_changes = is_zero && part != kF && p.x.size() > 1;
    if (never_changes && !std::is_same_v<F, Rosenbrock>) {
        INFO(what << "s: 0 everywhere, as if no variable had a tangent of 1");
        CHECK(!never_changes);
    }
    CHECK_ARRAYS(got, want.values, tolerance, what);
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

// The results of a descent with usual mistakes, in double.
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
            {wrong("uphill: the gradient points to where f grows", steps, -rate, false),
             wrong("y has moved by the derivative at the new x, not at the old point",
                   steps,
                   rate,
                   true),
             {"each step takes the derivatives at the start, not at the current point",
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
    // y and its derivatives by x and by the parameters, which `formula` combines.
    struct Sums {
        Real y, x, a, b, w, last, c;  // last: y + dy/dx of the last unit alone
    };
    const auto instead = [&](const char* words, Real (*formula)(const Sums&)) {
        return wb::Mistake<float>{words, [&net, &xs, formula] {
                                      Floats out;
                                      for (const float at : xs) {
                                          Sums s{net.c, 0, 0, 0, 0, net.c, net.c};
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
         // c belongs to y, not to dy/dx.
         instead("the constant c is left out", [](const Sums& s) { return s.x + s.y - s.c; }),
         instead("each unit replaces the sum of those before it",
                 [](const Sums& s) { return s.last; }),
         instead("y is left out", [](const Sums& s) { return s.x; }),
         instead("y is subtracted, which is the residual of dy/dx = y",
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

TEST_CASE("task 5: sines and cosines as exact as promised, far from 0 and near their zeros",
          "[task5]") {
    check_gradients(Ripples{}, and_at(random_points(3000, 241, 1000), kNearZeros));
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
    Floats got_y = other.download(), want_y = y.download();
    CHECK(std::isnan(got[40]));
    {
        // f and both derivatives are NaN there, so that y becomes NaN with the first step.
        INFO("x of point 40 is NaN, and y is still " << got_y[40] << " after 5 steps, want NaN");
        const bool both_are_nan = std::isnan(got_y[40]);
        CHECK(both_are_nan);
    }
    const bool moved = want[0] != p.x[0];
    INFO("descend() has left point 0 where it was");
    CHECK(moved);
    got[40] = want[40];
    got_y[40] = want_y[40];
    CHECK_ARRAYS(
        got, want, [](size_t) { return 0.0; }, "x of point");
    CHECK_ARRAYS(
        got_y, want_y, [](size_t) { return 0.0; }, "y of point");
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

TEST_CASE("task 7: second derivatives of sines and cosines, far from 0 and near their zeros",
          "[task7]") {
    check_second_derivatives(Ripples{}, and_at(random_points(2000, 431, 1000), kNearZeros));
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
