// SPDX-License-Identifier: MIT
// Lesson 09: the fused kernels compute the same root in one launch, four transfers for each
// equation and no temporary memory; the stable one keeps its digits.
//
// Tolerances, with u = 2^-24 for float and 2^-53 for double. The textbook formula loses up to
// u |b| / |a| by cancellation: its six roundings are allowed 8 u (|b| + s) / |2 a| in absolute
// terms, s = sqrt(b b - 4 a c). The stable root has no cancellation beyond that in b b - 4 a c:
// where 4 |a c| <= b b / 2, which holds for all data of those tests, that is at most 3 of the
// relative roundings, halved by the root, and five more: 4e-7 (6.7 u) in float.
#include "cases/shared_work.h"
#include "kernel_fusion.h"
#include "lesson_test.h"

#include <limits>

namespace {

constexpr size_t kGuard = 1024;  // elements on each side of every array, on a real GPU

template <class T>
constexpr double unit() {
    return std::numeric_limits<T>::epsilon() / 2.0;
}

template <class T>
struct Equations {
    std::vector<T> a, b, c;
    size_t size() const { return a.size(); }
};

template <class T>
std::vector<T> numbers(size_t n, uint64_t seed, float low, float high) {
    const auto floats = wb::random_floats(n, seed, low, high);
    std::vector<T> out(floats.begin(), floats.end());
    if (sizeof(T) == 8)  // digits that a float does not have
        for (size_t i = 0; i < n; ++i) out[i] *= T(1 + 1e-9 * wb::uniform_float(seed + 99, i));
    return out;
}

// The classic exercise: a in (5, 10), b in (10, 20), c in (-0.1, 0.1).
template <class T>
Equations<T> classic(size_t n, uint64_t seed = 1) {
    return {numbers<T>(n, seed, 5, 10),
            numbers<T>(n, seed + 1, 10, 20),
            numbers<T>(n, seed + 2, -0.1f, 0.1f)};
}

template <class T>
using Solver = void (*)(const T*, const T*, const T*, T*, int);

template <class T>
wb::Output<T> solved(Solver<T> solver, const Equations<T>& e) {
    wb::GuardedBuffer<T> a(e.a, wb::guard(kGuard)), b(e.b, wb::guard(kGuard));
    wb::GuardedBuffer<T> c(e.c, wb::guard(kGuard));
    return wb::output_of<T>(e.size(), wb::guard(kGuard), [&](T* root) {
        solver(a.get(), b.get(), c.get(), root, int(e.size()));
    });
}

// The true root: 64 binary digits, and no cancellation for b > 0 either.
long double true_root(long double a, long double b, long double c) {
    const long double s = std::sqrt(b * b - 4 * a * c);
    return b > 0 ? 2 * c / (-b - s) : (-b + s) / (2 * a);
}

template <class T>
std::vector<T> true_roots(const Equations<T>& e) {
    std::vector<T> out;
    for (size_t i = 0; i < e.size(); ++i) out.push_back(T(true_root(e.a[i], e.b[i], e.c[i])));
    return out;
}

// What the usual mistakes make of the same equations.
template <class T>
std::vector<wb::Mistake<T>> usual_mistakes(const Equations<T>& e) {
    using Formula = long double (*)(long double a, long double b, long double c, long double s);
    static constexpr std::pair<const char*, Formula> kWrong[] = {
        {"divided by 2 and multiplied by a: the denominator needs parentheses",
         [](auto a, auto b, auto, auto s) { return (-b + s) / 2 * a; }},
        {"4 a c is added under the root, not subtracted",
         [](auto a, auto b, auto c, auto) {
             return (-b + std::sqrt(b * b + 4 * a * c)) / (2 * a);
         }},
        {"it is the other root of the equation: the square root has the wrong sign",
         [](auto a, auto b, auto, auto s) { return (-b - s) / (2 * a); }},
        {"b is used instead of -b", [](auto a, auto b, auto, auto s) { return (b + s) / (2 * a); }},
        {"the square root is not taken",
         [](auto a, auto b, auto, auto s) { return (-b + s * s) / (2 * a); }},
        {"b is doubled, not squared",
         [](auto a, auto b, auto c, auto) {
             return (-b + std::sqrt(2 * b - 4 * a * c)) / (2 * a);
         }},
        {"b and c are swapped",
         [](auto a, auto b, auto c, auto) {
             return (-c + std::sqrt(c * c - 4 * a * b)) / (2 * a);
         }},
        {"the denominator 2 a is missing", [](auto, auto b, auto, auto s) { return -b + s; }},
        {"the numerator is 4 a c, but 2 a should have been cancelled",
         [](auto a, auto b, auto c, auto s) {
             return b > 0 ? 4 * a * c / (-b - s) : (-b + s) / (2 * a);
         }},
        {"the denominator has a factor 2 a that should have been cancelled",
         [](auto a, auto b, auto c, auto s) {
             return b > 0 ? 2 * c / (2 * a * (-b - s)) : (-b + s) / (2 * a);
         }},
        {"the denominator below 2 c needs parentheses", [](auto a, auto b, auto c, auto s) {
             return b > 0 ? 2 * c / -b - s : (-b + s) / (2 * a);
         }}};
    std::vector<wb::Mistake<T>> mistakes;
    if (sizeof(T) == 8)
        mistakes.push_back({"the square root is taken of a float, where T is double", [&e] {
                                std::vector<T> out;
                                for (size_t i = 0; i < e.size(); ++i) {
                                    const T a = e.a[i], b = e.b[i];
                                    const float inside = float(b * b - 4 * a * e.c[i]);
                                    out.push_back((-b + std::sqrt(inside)) / (2 * a));
                                }
                                return out;
                            }});
    for (const auto& [words, formula] : kWrong)
        mistakes.push_back({words, [&e, formula = formula] {
                                std::vector<T> out;
                                for (size_t i = 0; i < e.size(); ++i) {
                                    const long double a = e.a[i], b = e.b[i], c = e.c[i];
                                    out.push_back(
                                        T(formula(a, b, c, std::sqrt(b * b - 4 * a * c))));
                                }
                                return out;
                            }});
    return mistakes;
}

// As good as the textbook formula can be.
template <class T>
void check_textbook(Solver<T> solver, const Equations<T>& e) {
    const auto got = solved(solver, e);
    const auto want = true_roots(e);
    const auto tolerance = [&](size_t i) {
        const double a = e.a[i], b = e.b[i], s = std::sqrt(b * b - 4 * a * double(e.c[i]));
        return 8 * unit<T>() * (std::fabs(b) + s) / std::fabs(2 * a);
    };
    wb::recognize<T>(got, want, usual_mistakes(e), tolerance);
    CHECK_ARRAYS(got, want, tolerance);
}

// Good to a relative error of 4e-7 in float, and as many units in double.
template <class T>
void check_stable(const Equations<T>& e) {
    const auto want = true_roots(e);
    const auto got = solved<T>(roots_stable, e);
    const double bound = 4e-7 / unit<float>() * unit<T>();
    const auto tolerance = [&](size_t i) { return bound * std::fabs(double(want[i])); };
    // Where |b| and the root are subtracted, rounding costs as many digits as they have in common.
    size_t wrong = 0, above = 0, explained = 0;
    for (size_t i = 0; i < e.size(); ++i) {
        const double error = std::fabs(double(got[i]) - double(want[i]));
        if (error <= tolerance(i) || std::isnan(want[i])) continue;
        const double b = std::fabs(double(e.b[i]));
        const double s = std::sqrt(b * b - 4.0 * e.a[i] * e.c[i]);
        const double lost = 8 * unit<T>() * (b + s) / std::fabs(b - s);
        ++wrong, above += e.b[i] > 0;
        explained += error <= lost * std::fabs(double(want[i]));
    }
    const char* words =
        "the two formulas are in each other's place: the terms of each cancel there";
    if (above == wrong) words = "for b > 0, -b and the root still cancel";
    if (above == 0) words = "for b < 0, -b - s cancels, and -b + s does not";
    if (wrong > 0 && explained == wrong)
        wb::details::note_mistakes({words}, wrong);
    else
        wb::recognize<T>(got, want, usual_mistakes(e), tolerance);
    CHECK_ARRAYS(got, want, tolerance);
}

void check_none_launched(const std::optional<wb::Counters>& counted) {
    if (!counted) return;
    INFO("for n = 0: launched kernels: " << counted->launches << ", want none");
    CHECK(counted->launches == 0);
}

template <class T>
void check_nan(Solver<T> solver) {
    const auto got = solved<T>(solver, {{1, 5, 2, -3}, {1, -1, 0, 2}, {1, 1, 3, -2}});
    for (size_t i = 0; i < got.size(); ++i) {
        INFO("equation " << i << " has no root: got " << got[i] << ", want NaN");
        const bool is_nan = std::isnan(got[i]);
        CHECK(is_nan);
    }
    // NaN must come from the equation, not from an output that was never written.
    CHECK_ARRAYS(solved<T>(solver, {{1}, {-3}, {2}}), std::vector<T>{2});
    // Two roots in one place: the number under the root is 0, exactly.
    CHECK_ARRAYS(solved<T>(solver, {{1, 1, -2}, {2, -6, 8}, {1, 9, -8}}), std::vector<T>{-1, 3, 2});
}

}  // namespace

TEST_CASE("task 1: solves the classic equations", "[task1]") {
    const int n = GENERATE(1, 31, 32, 33, 255, 256, 257, 1000, 100003);
    CAPTURE(n);
    check_textbook<float>(roots_fused, classic<float>(n));
}

TEST_CASE("task 1: solves in double", "[task1]") {
    check_textbook<double>(roots_fused, classic<double>(10007));
}

TEST_CASE("task 1: solves with negative a and b", "[task1]") {
    const size_t n = 10007;
    check_textbook<float>(
        roots_fused,
        {numbers<float>(n, 4, -10, -1), numbers<float>(n, 5, -20, 20), numbers<float>(n, 6, 1, 9)});
    check_textbook<float>(
        roots_fused,
        {numbers<float>(n, 7, 1, 10), numbers<float>(n, 8, -20, -10), numbers<float>(n, 9, -9, 2)});
}

TEST_CASE("task 1: NaN where there is no root", "[task1]") {
    check_nan<float>(roots_fused);
    check_nan<double>(roots_fused);
}

TEST_CASE("task 1: nothing is launched for no equations", "[task1]") {
    const auto e = classic<float>(777);
    wb::DeviceBuffer<float> a(e.a), b(e.b), c(e.c), root(777);
    const auto solve = [&](int n) { roots_fused(a.get(), b.get(), c.get(), root.get(), n); };
    const auto none = wb::count([&] { solve(0); });
    CHECK(cudaGetLastError() == cudaSuccess);
    check_none_launched(none);
    solve(777);
    CHECK_ARRAYS(root.download(), true_roots(e), [](size_t) { return 1e-5; });
}

TEST_CASE("task 2: keeps its digits in float", "[task2]") {
    const int n = GENERATE(1, 33, 257, 100003);
    CAPTURE(n);
    check_stable(classic<float>(n, 10));
    // b below 1: what matters is the sign of b, and how small 4 a c is beside b * b.
    check_stable<float>({numbers<float>(n, 13, 0.5f, 1),
                         numbers<float>(n, 14, 0.05f, 0.95f),
                         numbers<float>(n, 15, -1e-4f, 1e-4f)});
}

TEST_CASE("task 2: keeps its digits in double", "[task2]") {
    check_stable(classic<double>(20011, 20));
    const auto got = solved<double>(roots_stable, {{5}, {10}, {-0.1}});
    const double want = 0.00995049383620779534;
    // The textbook formula is off by 5.5e-15.
    CHECK_ARRAYS(got, std::vector<double>{want}, [&](size_t) { return 1e-15 * want; });
}

TEST_CASE("task 2: keeps its digits for negative a and b", "[task2]") {
    const size_t n = 20011;
    const auto a = numbers<float>(n, 31, 5, 10), c = numbers<float>(n, 33, -0.1f, 0.1f);
    const auto negative = numbers<float>(n, 32, -20, -10), both = numbers<float>(n, 34, 10, 20);
    check_stable<float>({a, negative, c});
    check_stable<float>({numbers<float>(n, 35, -10, -5), both, c});
    check_stable<float>({numbers<float>(n, 36, -10, -5), negative, c});
    check_stable<float>({numbers<float>(n, 37, 0.5f, 1),
                         numbers<float>(n, 38, -0.95f, -0.05f),
                         numbers<float>(n, 39, -1e-4f, 1e-4f)});
}

TEST_CASE("task 2: b or c may be 0", "[task2]") {
    //       2x^2 - 8        -2x^2 + 8          x^2 + 4x     x^2 - 4x         3x^2
    CHECK_ARRAYS(
        solved<float>(roots_stable, {{2, -2, 1, 1, 3}, {0, 0, 4, -4, 0}, {-8, 8, 0, 0, 0}}),
        {2, -2, 0, 4, 0});
}

TEST_CASE("task 2: NaN where there is no root", "[task2]") {
    check_nan<float>(roots_stable);
    check_nan<double>(roots_stable);
}

TEST_CASE("task 2: nothing to do for no equations", "[task2]") {
    const auto e = classic<float>(1);
    wb::DeviceBuffer<float> a(e.a), b(e.b), c(e.c), root(1);
    const auto none = wb::count([&] { roots_stable(a.get(), b.get(), c.get(), root.get(), 0); });
    CHECK(cudaGetLastError() == cudaSuccess);
    check_none_launched(none);
}

TEST_CASE("efficient: four transfers for each equation, and one launch", "[efficient]") {
    const uint64_t n = 100000;
    const auto e = classic<float>(n);
    wb::DeviceBuffer<float> a(e.a), b(e.b), c(e.c), root(n);
    const Solver<float> solvers[] = {roots_fused, roots_stable};
    for (const auto solver : solvers) {
        const auto counted =
            wb::count([&] { solver(a.get(), b.get(), c.get(), root.get(), int(n)); });
        NEED_COUNTERS(counted);
        CHECK(counted->launches == 1);
        CHECK(counted->threads >= 2048);  // one block is not enough
        CHECK(counted->global_load_bytes == 12 * n);
        CHECK(counted->global_store_bytes == 4 * n);
        CHECK(counted->global_load_sectors <= 12 * n / 32 + 8);
        CHECK(counted->global_store_sectors <= 4 * n / 32 + 8);
    }
}

TEST_CASE("efficient: the warps of the grid share the work", "[efficient]") {
    const size_t n = 100000;
    const auto e = classic<float>(n);
    wb::DeviceBuffer<float> a(e.a), b(e.b), c(e.c), root(n);
    roots_fused(a.get(), b.get(), c.get(), root.get(), int(n));
    wb::check_shared_work("roots_fused", root.get(), n);
    roots_stable(a.get(), b.get(), c.get(), root.get(), int(n));
    wb::check_shared_work("roots_stable", root.get(), n);
}

TEST_CASE("efficient: no temporary memory and no copies", "[efficient]") {
    const uint64_t n = 10000;
    const auto e = classic<float>(n);
    wb::DeviceBuffer<float> a(e.a), b(e.b), c(e.c), root(n);
    const Solver<float> solvers[] = {roots_fused, roots_stable};
    for (const auto solver : solvers) {
        const auto counted =
            wb::count([&] { solver(a.get(), b.get(), c.get(), root.get(), int(n)); });
        NEED_COUNTERS(counted);
        CHECK(counted->device_allocations == 0);
        CHECK(counted->local_store_requests == 0);
        CHECK(counted->host_to_device_bytes + counted->device_to_host_bytes == 0);
        CHECK(counted->device_to_device_bytes == 0);
    }
}

TEST_CASE("efficient: float arithmetic stays float, and is short", "[efficient]") {
    const uint64_t n = 10000;
    const auto e = classic<float>(n);
    wb::DeviceBuffer<float> a(e.a), b(e.b), c(e.c), root(n);
    const Solver<float> solvers[] = {roots_fused, roots_stable};
    for (const auto solver : solvers) {
        const auto counted =
            wb::count([&] { solver(a.get(), b.get(), c.get(), root.get(), int(n)); });
        NEED_COUNTERS(counted);
        CHECK(counted->double_instructions == 0);
        // About 40 for each warp of 32 equations; pow would add 70 and more.
        CHECK(counted->warp_instructions <= 80 * (n / 32 + 8));
    }
}
