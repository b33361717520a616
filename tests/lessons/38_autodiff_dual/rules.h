// SPDX-License-Identifier: MIT
// Lesson 38: compares results of a rule on the host, by value and by tangent. The bounds are those
// of the lesson's header, plus two units for the value of each result.
#pragma once

#include "reference.h"

namespace {

// Compares a rule's result for each element: one array for the value and one for each of the two
// tangents. `mistakes`: the tangents that usual mistakes give.
struct Ruled {
    Real value, tangent[2];
    double value_bound, tangent_bound[2];
};
using Wrong = std::function<Real(size_t i, int k)>;
inline void check_rule(const std::vector<Dual2>& got, const std::vector<Ruled>& want,
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
    // If the values are wrong, so are the tangents.
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

}  // namespace
