// SPDX-License-Identifier: MIT
// Lesson 38: variables, products and quotients of dual numbers, on the host.
#include "rules.h"

namespace {

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
                {"the two terms are subtracted, not added",
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
                {"the two terms are added, not subtracted",
                 [=](size_t i, int k) {
                     const auto [p, q, dp, dq] = parts(i, k);
                     return (dp * q + p * dq) / (q * q);
                 }},
                {"only the numerator of the quotient rule: the division is missing",
                 [=](size_t i, int k) {
                     const auto [p, q, dp, dq] = parts(i, k);
                     return dp * q - p * dq;
                 }},
                {"the numerator of the quotient rule is divided by b, not by the square of b",
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

}  // namespace

TEST_CASE("task 1: a variable has tangent 1 by itself and 0 by the others", "[task1]") {
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

TEST_CASE("task 3: a constant as numerator or denominator", "[task3]") {
    std::vector<Dual2> constants;
    for (int i = 0; i < 200; ++i) constants.push_back(Dual2(0.25f * (i - 99) + 0.125f));
    check_quotients(constants, random_duals(200, 91, 0.5f, 4));
    check_quotients(random_duals(200, 92, 0.5f, 4), constants);
    check_quotients(std::vector<Dual2>(200, Dual2(0.0f)), random_duals(200, 93, -4, -0.5f));
}

TEST_CASE("task 3: denominators whose squares are 0 or infinite in float", "[task3]") {
    const int power_of_ten = GENERATE(-24, 24);
    CAPTURE(power_of_ten);
    const float scale = power_of_ten < 0 ? 1e-24f : 1e24f;
    auto a = random_duals(500, 101, 1, 2), b = random_duals(500, 111, 1, 2);
    for (size_t i = 0; i < b.size(); ++i) {
        for (Dual2* d : {&a[i], &b[i]}) {  // tangents in proportion to the values
            d->value *= scale;
            d->tangent[0] *= scale;
            d->tangent[1] *= scale;
        }
    }
    check_quotients(a, b);
}
