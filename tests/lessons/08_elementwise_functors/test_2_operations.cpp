// SPDX-License-Identifier: MIT
// Lesson 08, the operations: they are computed in the type that was asked for, and no byte is moved
// twice.
//
// Tolerances, with u = 2^-24 for float and 2^-53 for double, relative to the true value: a squared
// plus b squared has up to three roundings; the device's sin, cos and exp are good to 2 ULP (4 u),
// so a sum of scale * sin and cos is off by (4 |scale| + 4) u or less, which is the relative error
// of its exp, and 4 u of its own; sigmoid has exp, + and /; a power takes |n| roundings by
// squaring, and twice that if x is inverted first.
#include "cases/shared_work.h"
#include "checks.h"

#include <limits>

namespace {

template <class T>
constexpr double unit() {
    return std::numeric_limits<T>::epsilon() / 2.0;
}

// A formula that is often written instead, of the inputs v(0), v(1), ..., and what is wrong with
// it.
using Inputs = std::function<long double(int)>;
using WrongFormula = std::pair<const char*, std::function<long double(const Inputs&)>>;

// Runs op(inputs, d_out, shape) on columns of values, and compares with want(values...) computed in
// long double; `units` is the tolerance in u, relative; `tiny` what may be lost to 0.
template <class T, class Op, class Want>
void check_values(std::vector<std::vector<T>> in, Op op, Want want, double units, double tiny = 0,
                  const std::vector<WrongFormula>& wrong = {}) {
    const int n = int(in[0].size());
    std::vector<Operand<T>> operands;
    for (auto& values : in) operands.emplace_back(values, 1, n);
    std::vector<T> exact(n);
    std::vector<double> bound(n);
    for (int i = 0; i < n; ++i) {
        const long double value = want([&](int k) -> long double { return in[k][i]; });
        exact[i] = T(value);
        bound[i] = (units + 1) * unit<T>() * std::fabs(double(value)) + tiny +
                   std::numeric_limits<T>::denorm_min();
    }
    const auto got = output<T>({1, n}, [&](T* d_out, Shape shape) { op(operands, d_out, shape); });
    std::vector<wb::Mistake<T>> mistakes;
    for (const auto& [words, formula] : wrong)
        mistakes.push_back({words, [&, formula = formula] {
                                std::vector<T> values(n);
                                for (int i = 0; i < n; ++i)
                                    values[i] = T(formula([&](int k) { return in[k][i]; }));
                                return values;
                            }});
    const auto tolerance = [&](size_t i) { return bound[i]; };
    wb::recognize<T>(got, exact, mistakes, tolerance);
    CHECK_ARRAYS(got, exact, tolerance);
}

// The results of a functor on single values.
template <class T, class Op>
wb::Output<T> results(const std::vector<T>& x, Op op) {
    Operand<T> operand(x, 1, int(x.size()));
    return output<T>({1, int(x.size())},
                     [&](T* d_out, Shape shape) { op(operand.matrix(), d_out, shape); });
}

void check_nan(const char* what, float got) {
    INFO(what << ": got " << got << ", want NaN");
    const bool is_nan = std::isnan(got);
    CHECK(is_nan);
}

template <class T>
void check_saxpy_trig(T scale) {
    check_values<T>(
        {numbers<T>(10007, 21, -9.0f, 9.0f), numbers<T>(10007, 22, -9.0f, 9.0f)},
        [&](auto& in, T* d_out, Shape shape) {
            saxpy_trig(scale, in[0].matrix(), in[1].matrix(), d_out, shape);
        },
        [&](auto v) { return std::exp(scale * std::sin(v(0)) + std::cos(v(1))); },
        4 * std::fabs(scale) + 8,
        0,
        {{"sin and cos are swapped",
          [=](const Inputs& v) { return std::exp(scale * std::cos(v(0)) + std::sin(v(1))); }},
         {"x is scaled, not its sine",
          [=](const Inputs& v) { return std::exp(std::sin(scale * v(0)) + std::cos(v(1))); }},
         {"exp is scaled, not the sine in it",
          [=](const Inputs& v) { return scale * std::exp(std::sin(v(0)) + std::cos(v(1))); }},
         {"both are scaled, the sine and the cosine",
          [=](const Inputs& v) { return std::exp(scale * (std::sin(v(0)) + std::cos(v(1)))); }},
         {"exp takes the sine alone, and the cosine is added after it",
          [=](const Inputs& v) { return std::exp(scale * std::sin(v(0))) + std::cos(v(1)); }},
         {"exp is missing",
          [=](const Inputs& v) { return scale * std::sin(v(0)) + std::cos(v(1)); }},
         {"the sine is not scaled",
          [](const Inputs& v) { return std::exp(std::sin(v(0)) + std::cos(v(1))); }}});
}

template <class T>
void check_sigmoid(float low, float high) {
    check_values<T>(
        {numbers<T>(10007, 31, low, high)},
        [](auto& in, T* d_out, Shape shape) { sigmoid(in[0].matrix(), d_out, shape); },
        [](auto v) { return 1 / (1 + std::exp(-v(0))); },
        8,
        std::numeric_limits<T>::min(),
        {{"a sign is wrong: exp(x) where exp(-x) is meant",
          [](const Inputs& v) { return 1 / (1 + std::exp(v(0))); }},
         {"the denominator is exp(-x) alone, without the 1",
          [](const Inputs& v) { return std::exp(v(0)); }},
         {"the division is missing: only the denominator is returned",
          [](const Inputs& v) { return 1 + std::exp(-v(0)); }}});
}

template <class T>
void check_intpow(int n, float low, float high) {
    CAPTURE(n);
    check_values<T>(
        {numbers<T>(1001, 41 + n, low, high)},
        [&](auto& in, T* d_out, Shape shape) { intpow(in[0].matrix(), n, d_out, shape); },
        [&](auto v) { return std::pow(v(0), (long double)n); },
        2.0 * std::abs(n) + 2,
        0,
        {{"one multiplication too many", [=](const Inputs& v) { return std::pow(v(0), n + 1.0L); }},
         {"one multiplication too few", [=](const Inputs& v) { return std::pow(v(0), n - 1.0L); }},
         {"x to the power of 2 n: squared before it is multiplied, not after",
          [=](const Inputs& v) { return std::pow(v(0), 2.0L * n); }},
         {"x is multiplied by n", [=](const Inputs& v) { return v(0) * n; }},
         {"the sign of n is lost", [=](const Inputs& v) { return std::pow(v(0), -1.0L * n); }}});
}

}  // namespace

TEST_CASE("task 3: adds squares", "[task3]") {
    const auto check = [](auto zero) {
        using T = decltype(zero);
        check_values<T>(
            {numbers<T>(10007, 11, -5.0f, 5.0f), numbers<T>(10007, 12, -5.0f, 5.0f)},
            [](auto& in, T* d_out, Shape shape) {
                sum_of_squares(in[0].matrix(), in[1].matrix(), d_out, shape);
            },
            [](auto v) { return v(0) * v(0) + v(1) * v(1); },
            3,
            0,
            {{"the square of the sum, not the sum of the squares",
              [](const Inputs& v) { return (v(0) + v(1)) * (v(0) + v(1)); }},
             {"the squares are subtracted, not added",
              [](const Inputs& v) { return v(0) * v(0) - v(1) * v(1); }},
             {"a + b, without the squares", [](const Inputs& v) { return v(0) + v(1); }},
             {"b is not squared", [](const Inputs& v) { return v(0) * v(0) + v(1); }},
             {"a * b twice, without squares", [](const Inputs& v) { return 2 * v(0) * v(1); }}});
    };
    check(0.0f);
    check(0.0);
}

TEST_CASE("task 3: squares of zero, infinity and NaN", "[task3]") {
    const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
    const auto twice = [](auto x, auto* d_out, Shape s) { sum_of_squares(x, x, d_out, s); };
    const auto got = results<float>({0.0f, -3.0f, inf, -inf, 1e20f, 1e-40f, nan}, twice);
    CHECK_ARRAYS(std::vector<float>(got.begin(), got.end() - 1),
                 {0.0f, 18.0f, inf, inf, inf, 0.0f});
    check_nan("sum_of_squares of NaN", got.back());
}

TEST_CASE("task 4: computes with sin, cos and exp", "[task4]") {
    const float scale = GENERATE(2.5f, -1.0f, 0.0f);
    check_saxpy_trig<float>(scale);
}

TEST_CASE("task 4: computes with sin, cos and exp in double", "[task4]") {
    check_saxpy_trig<double>(2.5);
}

TEST_CASE("task 5: the sigmoid of ordinary numbers", "[task5]") {
    check_sigmoid<float>(-20.0f, 20.0f);
    check_sigmoid<double>(-20.0f, 20.0f);
}

TEST_CASE("task 5: the sigmoid where exp is tiny or huge", "[task5]") {
    check_sigmoid<float>(-110.0f, 110.0f);
    check_sigmoid<double>(-800.0f, 800.0f);
}

TEST_CASE("task 5: the sigmoid of 0, infinity, NaN and -1000", "[task5]") {
    const auto op = [](auto x, auto* d_out, Shape s) { sigmoid(x, d_out, s); };
    const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
    const auto got = results<float>({0.0f, -0.0f, 1e-40f, 1000.0f, -1000.0f, inf, -inf, nan}, op);
    CHECK_ARRAYS(std::vector<float>(got.begin(), got.end() - 1),
                 {0.5f, 0.5f, 0.5f, 1.0f, 0.0f, 1.0f, 0.0f});
    check_nan("sigmoid of NaN", got.back());
}

TEST_CASE("task 6: small powers", "[task6]") {
    const int n = GENERATE(1, 2, 3, 5, 13, 31, 100);
    check_intpow<float>(n, 0.5f, 2.0f);
    check_intpow<float>(n, -2.0f, -0.5f);
    check_intpow<double>(n, -2.0f, 2.0f);
}

TEST_CASE("task 6: large powers", "[task6]") {
    const int n = GENERATE(1000, 1023, 1024, 4095);
    check_intpow<float>(n, 0.99f, 1.01f);
    check_intpow<double>(n, -1.1f, -0.95f);
}

TEST_CASE("task 6: negative powers", "[task6]") {
    const int n = GENERATE(-1, -2, -3, -31, -100);
    check_intpow<float>(n, 0.5f, 2.0f);
    check_intpow<double>(n, -2.0f, -0.5f);
}

TEST_CASE("task 6: to the power of 0 everything is 1", "[task6]") {
    const float inf = std::numeric_limits<float>::infinity();
    const auto op = [](auto x, auto* d_out, Shape s) { intpow(x, 0, d_out, s); };
    CHECK_ARRAYS(results<float>({2.0f, -7.5f, 0.0f, inf, -inf, std::nanf("")}, op),
                 std::vector<float>(6, 1.0f));
}

TEST_CASE("task 6: powers of zero, infinity and NaN", "[task6]") {
    const float inf = std::numeric_limits<float>::infinity();
    const std::vector<float> x{0.0f, inf, -inf, std::nanf("")};
    const auto cube = [](auto v, auto* d_out, Shape s) { intpow(v, 3, d_out, s); };
    const auto cubes = results<float>(x, cube);
    CHECK_ARRAYS(std::vector<float>(cubes.begin(), cubes.end() - 1), {0.0f, inf, -inf});
    check_nan("intpow of NaN, n = 3", cubes.back());
    const auto inverse = [](auto v, auto* d_out, Shape s) { intpow(v, -2, d_out, s); };
    const auto inverses = results<float>(x, inverse);
    CHECK_ARRAYS(std::vector<float>(inverses.begin(), inverses.end() - 1), {inf, 0.0f, 0.0f});
    check_nan("intpow of NaN, n = -2", inverses.back());
}

TEST_CASE("task 6: odd powers past 2^24", "[task6]") {
    // As a float, n would be even, and the sign lost.
    const float inf = std::numeric_limits<float>::infinity();
    const int n = (1 << 24) + 1;
    CAPTURE(n);
    const std::vector<float> x{1.0f, -1.0f, 2.0f, -2.0f, 0.5f, -0.5f};
    const auto up = [=](auto v, auto* d_out, Shape s) { intpow(v, n, d_out, s); };
    const std::vector<float> want{1.0f, -1.0f, inf, -inf, 0.0f, 0.0f};
    const auto got = results<float>(x, up);
    const auto power = [&](double exponent) {
        return [&x, exponent] {
            std::vector<float> values;
            for (const float v : x) values.push_back(float(std::pow(double(v), exponent)));
            return values;
        };
    };
    wb::recognize<float>(
        got,
        want,
        {{"n is rounded to a float, and is even then", power(n - 1)},
         {"x to the power of 2 n: squared before it is multiplied, not after", power(2.0 * n)}});
    CHECK_ARRAYS(got, want);
    const auto down = [=](auto v, auto* d_out, Shape s) { intpow(v, -n, d_out, s); };
    CHECK_ARRAYS(results<float>(x, down), {1.0f, -1.0f, 0.0f, 0.0f, inf, -inf});
}

TEST_CASE("task 6: the most negative power", "[task6]") {
    const float inf = std::numeric_limits<float>::infinity();
    const auto op = [](auto x, auto* d_out, Shape s) { intpow(x, INT32_MIN, d_out, s); };
    INFO("n is -2^31, and an int cannot hold -n");
    CHECK_ARRAYS(results<float>({1.0f, -1.0f, 2.0f, -2.0f, 0.5f, -0.5f}, op),
                 {1.0f, 1.0f, 0.0f, 0.0f, inf, inf});
}

TEST_CASE("efficient: reads each input once and writes once", "[efficient]") {
    const uint64_t n = 100000;
    Operand<float> a(numbers<float>(n, 1), 100, 1000), b(numbers<float>(n, 2), 100, 1000);
    wb::DeviceBuffer<float> d_out(n);
    const Shape shape{100, 1000};
    const auto two = wb::count([&] { sum_of_squares(a.matrix(), b.matrix(), d_out.get(), shape); });
    NEED_COUNTERS(two);
    CHECK(two->launches == 1);
    CHECK(two->global_load_bytes == 8 * n);
    CHECK(two->global_store_bytes == 4 * n);
    CHECK(two->global_load_sectors <= 8 * n / 32 + 8);
    CHECK(two->global_store_sectors <= 4 * n / 32 + 8);
    CHECK(two->device_allocations == 0);
    CHECK(two->warp_instructions <= 4 * n);  // serial code needs 8 or more each
    CHECK(two->threads >= 2048);             // one block is not enough
    const auto one = wb::count([&] { sigmoid(a.matrix(), d_out.get(), shape); });
    CHECK(one->global_load_bytes == 4 * n);
    CHECK(one->global_store_bytes == 4 * n);
}

TEST_CASE("efficient: a repeated row or number is not copied", "[efficient]") {
    const uint64_t n = 100000;
    Operand<float> row(numbers<float>(1000, 3), 1, 1000), number(numbers<float>(1, 4), 1, 1);
    wb::DeviceBuffer<float> d_out(n);
    const auto counted = wb::count([&] {
        subtract(row.matrix(), number.matrix(), d_out.get(), {100, 1000});
    });
    NEED_COUNTERS(counted);
    CHECK(counted->launches == 1);
    CHECK(counted->device_allocations == 0);
    CHECK(counted->host_to_device_bytes + counted->device_to_device_bytes == 0);
    // A warp reads 128 bytes of the row (4 sectors, 5 or 6 where it meets the row's end) and one
    // number (1 sector).
    CHECK(counted->global_load_sectors <= 7 * (n / 32));
    CHECK(counted->global_store_sectors <= 4 * n / 32 + 8);
}

TEST_CASE("efficient: the warps of the grid share the work", "[efficient]") {
    const int n = 100000;
    Operand<float> a(numbers<float>(n, 8), 100, 1000), row(numbers<float>(1000, 9), 1, 1000);
    wb::DeviceBuffer<float> d_out(n);
    sum_of_squares(a.matrix(), row.matrix(), d_out.get(), {100, 1000});
    wb::check_shared_work("sum_of_squares", d_out.get(), n);
}

TEST_CASE("efficient: float arithmetic stays float", "[efficient]") {
    const int n = 4096;
    Operand<float> x(numbers<float>(n, 5, -9.0f, 9.0f), 1, n);
    wb::DeviceBuffer<float> d_out(n);
    const auto counted = wb::count([&] {
        sum_of_squares(x.matrix(), x.matrix(), d_out.get(), {1, n});
        saxpy_trig(0.5f, x.matrix(), x.matrix(), d_out.get(), {1, n});
        sigmoid(x.matrix(), d_out.get(), {1, n});
        intpow(x.matrix(), -7, d_out.get(), {1, n});
    });
    NEED_COUNTERS(counted);
    CHECK(counted->double_instructions == 0);
}

TEST_CASE("efficient: a square costs one multiplication", "[efficient]") {
    const uint64_t n = 4096;
    Operand<float> x(numbers<float>(n, 6), 1, n);
    wb::DeviceBuffer<float> d_out(n);
    const auto plain = wb::count([&] {
        subtract(x.matrix(), x.matrix(), d_out.get(), {1, int(n)});
    });
    NEED_COUNTERS(plain);
    const auto squares = wb::count([&] {
        sum_of_squares(x.matrix(), x.matrix(), d_out.get(), {1, int(n)});
    });
    CHECK(squares->warp_instructions <= plain->warp_instructions + 8 * n / 32);
}

TEST_CASE("efficient: a power takes about log n multiplications", "[efficient]") {
    const uint64_t n = 4096;
    Operand<float> x(numbers<float>(n, 7), 1, n);
    wb::DeviceBuffer<float> d_out(n);
    const auto plain = wb::count([&] {
        subtract(x.matrix(), x.matrix(), d_out.get(), {1, int(n)});
    });
    NEED_COUNTERS(plain);
    const auto power = wb::count([&] { intpow(x.matrix(), 1023, d_out.get(), {1, int(n)}); });
    // At most 32 squarings and as many products, since some ways go over all bits of n, and the
    // loop round them. 1023 multiplications are far more.
    CHECK(power->warp_instructions <= plain->warp_instructions + 400 * n / 32);
}
