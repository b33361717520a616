// SPDX-License-Identifier: MIT
// Checks that the tests of lesson 35 share: of roots, with the results of usual mistakes; of
// exceptions; and of calls that fail.
//
// Compilations and loads are counted from the calls of NVRTC and of the driver. The test makes the
// inputs of tasks 2 to 4. Whole numbers are exact.
#pragma once

#include "reference.h"
#include "watches/freed_memory.h"

#include <cmath>
#include <limits>

namespace {

template <class T>
std::string roots_of() {
    const std::string t = type_name<T>();
    return t + " a, " + t + " b, " + t + " c";
}

// If `one` is set, all equations have the same c. Tolerance, as in lesson 09, with u = 2^-24 for
// float and 2^-53 for double: the six roundings are allowed 8 u (|b| + s) / |2 a|, s = sqrt(b b - 4
// a c).
template <class T>
void check_roots(const std::vector<T>& got, const Equations<T>& e, const T* one = nullptr) {
    std::vector<T> want;
    std::vector<double> bound;
    const double u = std::numeric_limits<T>::epsilon() / 2.0;
    for (size_t i = 0; i < e.size(); ++i) {
        const long double a = e.a[i], b = e.b[i], c = one ? *one : e.c[i];
        const long double s = std::sqrt(b * b - 4 * a * c);
        want.push_back(T(2 * c / (-b - s)));
        bound.push_back(8 * u * double((b + s) / (2 * a)));
    }
    const auto formula = [&](auto f) {
        return [&, f] {
            std::vector<T> out;
            for (size_t i = 0; i < e.size(); ++i)
                out.push_back(T(f(
                    (long double)e.a[i], (long double)e.b[i], (long double)(one ? *one : e.c[i]))));
            return out;
        };
    };
    const auto root = [](auto a, auto b, auto c) {
        return (-b + std::sqrt(b * b - 4 * a * c)) / (2 * a);
    };
    const auto tolerance = [&](size_t i) { return bound[i]; };
    wb::recognize<T>(got,
                     want,
                     {{"the arguments arrive in another order: a, b and c have moved by one",
                       formula([=](auto a, auto b, auto c) { return root(b, c, a); })},
                      {"the arguments arrive in another order: a, b and c have moved by two",
                       formula([=](auto a, auto b, auto c) { return root(c, a, b); })},
                      {"the arguments arrive in the reverse order",
                       formula([=](auto a, auto b, auto c) { return root(c, b, a); })},
                      {"every element is computed from the first element of each array",
                       [&] {
                           return std::vector<T>(e.size(),
                                                 T(root((long double)e.a[0],
                                                        (long double)e.b[0],
                                                        (long double)(one ? *one : e.c[0]))));
                       }}},
                     tolerance);
    CHECK_ARRAYS(got, want, tolerance);
}

// Fails if `work` does not throw E. `what` begins the message: "compile() of a wrong text".
template <class E>
std::string thrown_by(const char* what, const std::function<void()>& work) {
    std::string text, other = "returned as if nothing had happened";
    bool thrown = false;
    try {
        work();
    } catch (const E& error) {
        thrown = true;
        text = error.what();
    } catch (const std::exception& error) {
        other = std::string("threw `") + error.what() + "`, which is of another class";
    }
    INFO(what << " " << other);
    CHECK(thrown);
    return text;
}

// Runs `work` once for each of its calls with `part` in the name; that call fails, and `work` must
// throw.
inline void check_failing_jit_calls(const char* name, const char* part,
                                    const std::function<void()>& work) {
    std::vector<wb::JitCall> calls;
    {
        wb::JitWatch watch;
        work();
        calls = watch.calls;
    }
    std::string dropped;
    size_t failed = 0;
    for (size_t k = 0; k < calls.size() && dropped.empty(); ++k) {
        const std::string& call = calls[k].name;
        if (call.find(part) == std::string::npos || call.find("Destroy") != std::string::npos ||
            call.find("Unload") != std::string::npos)
            continue;
        ++failed;
        wb::JitWatch watch;
        watch.fail_call = k;
        try {
            work();
            dropped = call;
        } catch (const std::exception&) {
        }
    }
    {
        INFO(name << " makes no call that could fail: where is the work done?");
        const bool calls_were_made = failed > 0;
        CHECK(calls_were_made);
    }
    INFO("when " << dropped << " fails, " << name << " goes on as if it had not");
    const bool every_call_is_checked = dropped.empty();
    CHECK(every_call_is_checked);
}

}  // namespace
