// SPDX-License-Identifier: MIT
// Lesson 20, one value: it is in its own bin, and values outside follow the rule. The edges of bins
// are tested where they are exact floats.
#include "lesson_test.h"
#include "reference.h"

#include <algorithm>

namespace {

std::string bin_in_words(int bin) {
    return bin == kNoBin ? "no bin" : "bin " + std::to_string(bin);
}

// Checks the bin of one value, in words.
void check_bin(float x, Axis axis, Overflow overflow, int want) {
    const int got = bin_index(x, axis, overflow);
    INFO("x = " << wb::shown(x) << " on " << axis.bins
                << (axis.bins == 1 ? " bin from " : " bins from ") << axis.low << " to "
                << axis.high << (overflow == Overflow::kDrop ? ", dropped" : ", clamped")
                << " outside: got " << bin_in_words(got) << ", want " << bin_in_words(want));
    const bool right = got == want;
    CHECK(right);
}

// Bins by a wrong formula, which gives the position in bins.
using Formula = std::function<double(float x, const Axis& axis)>;
struct Binned {
    std::vector<float> x;
    std::vector<Axis> axis;
    std::vector<int> got, want;
    void add(float value, Axis on, Overflow overflow, int bin) {
        x.push_back(value);
        axis.push_back(on);
        got.push_back(bin_index(value, on, overflow));
        want.push_back(bin);
    }
    std::function<std::vector<int>()> by(Formula formula) const {
        return [this, formula] {
            std::vector<int> out;
            for (size_t i = 0; i < x.size(); ++i)
                out.push_back(std::min(int(formula(x[i], axis[i])), axis[i].bins - 1));
            return out;
        };
    }
    void recognize() const {
        const char* const divided = "divided before multiplied: the quotient is rounded, and an "
                                    "edge falls into the bin below";
        wb::recognize<int>(
            got,
            want,
            {{divided,
              by([](float v, const Axis& a) { return (v - a.low) / (a.high - a.low) * a.bins; })},
             {divided,
              by([](float v, const Axis& a) { return (v - a.low) / ((a.high - a.low) / a.bins); })},
             {divided,
              by([](float v, const Axis& a) { return (v - a.low) * (a.bins / (a.high - a.low)); })},
             {divided, by([](float v, const Axis& a) {
                  return (double(v) - a.low) / (double(a.high) - a.low) * a.bins;
              })},
             {"rounded to the nearest bin instead of cut off",
              by([](float v, const Axis& a) { return std::round(in_bins(v, a)); })},
             {"x is cut to a whole number before it is multiplied", by([](float v, const Axis& a) {
                  return int(v - a.low) * a.bins / std::max(1, int(a.high - a.low));
              })},
             {"the low end of the axis is not subtracted",
              by([](float v, const Axis& a) { return v * a.bins / a.high; })},
             {"the low end of the axis is not subtracted",
              by([](float v, const Axis& a) { return v * a.bins / (a.high - a.low); })},
             {"a value just below the end falls after the last bin: x - low rounds up to the "
              "width, and the result is not limited",
              [this] {
                  auto out = want;
                  for (size_t i = 0; i < x.size(); ++i)
                      out[i] = int((x[i] - axis[i].low) * float(axis[i].bins) /
                                   (axis[i].high - axis[i].low));
                  return out;
              }},
             {"a value just below the end counts as outside: x - low rounds up to the width: "
              "compare x itself",
              [this] {
                  auto out = want;
                  for (size_t i = 0; i < x.size(); ++i)
                      if (x[i] - axis[i].low >= axis[i].high - axis[i].low) out[i] = kNoBin;
                  return out;
              }}});
    }
};

}  // namespace

TEST_CASE("task 1: finds the bin of a mass", "[task1]") {
    check_bin(91.19f, masses_axis(120), Overflow::kDrop, 91);
    check_bin(91.19f, masses_axis(1200), Overflow::kDrop, 911);
    for (const Overflow rule : kRules) {
        for (const Axis axis : {masses_axis(1),
                                masses_axis(64),
                                masses_axis(1200),
                                Axis{1000, -4.0f, 4.0f},
                                Axis{7, 250.0f, 251.0f},
                                Axis{1200, -0x1p100f, 0x1p100f}}) {
            auto x = wb::random_floats(2000, axis.bins, axis.low, axis.high);
            clear_of_edges(x, axis);
            Binned binned;
            for (const float value : x) binned.add(value, axis, rule, bin_of(value, axis, rule));
            CAPTURE(axis.bins, axis.low, axis.high, rule);
            CHECK_ARRAYS(binned.got, binned.want);
            binned.recognize();
        }
    }
}

TEST_CASE("task 1: drops values outside", "[task1]") {
    const Axis axis = masses_axis(GENERATE(1, 120, 1200));
    const float x =
        GENERATE(-1.0f, -0.05f, -1e-40f, -1e30f, -kInfinity, 120.0f, 120.5f, 1e30f, kInfinity);
    check_bin(x, axis, Overflow::kDrop, kNoBin);
    check_bin(axis.low, axis, Overflow::kDrop, 0);
}

TEST_CASE("task 1: clamps values outside", "[task1]") {
    const Axis axis = masses_axis(GENERATE(1, 120, 1200));
    const float below = GENERATE(-1.0f, -0.05f, -1e-40f, -1e30f, -kInfinity);
    const float above = GENERATE(120.0f, 120.5f, 1e30f, kInfinity);
    check_bin(below, axis, Overflow::kClamp, 0);
    check_bin(above, axis, Overflow::kClamp, axis.bins - 1);
}

TEST_CASE("task 1: a NaN has no bin", "[task1]") {
    const Axis axis = GENERATE(Axis{120, 0.0f, 120.0f}, Axis{1, -4.0f, 4.0f});
    for (const Overflow rule : kRules) {
        check_bin(kNan, axis, rule, kNoBin);
        check_bin(-kNan, axis, rule, kNoBin);
        check_bin(axis.low, axis, rule, 0);
    }
}

TEST_CASE("task 1: the last float below the end is in the last bin", "[task1]") {
    for (const Overflow rule : kRules) {
        Binned last;
        for (const auto& [low, high] : {std::pair{0.0f, 120.0f}, {-4.0f, 4.0f}, {0.0f, 1.0f}})
            for (int bins = 1; bins <= 4096; ++bins)
                last.add(std::nextafter(high, low), {bins, low, high}, rule, bins - 1);
        CHECK_ARRAYS(last.got, last.want);
        last.recognize();
    }
}

TEST_CASE("task 1: a value on an edge belongs to the bin above", "[task1]") {
    for (const auto& [low, high] : {std::pair{0.0f, 120.0f}, {-4.0f, 4.0f}}) {
        Binned edges;
        for (int bins = 1; bins <= 256; ++bins) {
            for (int k = 0; k < bins; ++k) {
                const float edge = low + float((double(high) - low) * k / bins);
                if (in_bins(edge, {bins, low, high}) != k) continue;  // this edge is no float
                edges.add(edge, {bins, low, high}, Overflow::kDrop, k);
            }
        }
        CHECK_ARRAYS(
            edges.got, edges.want, [](size_t) { return 0.0; }, "edge");
        edges.recognize();
    }
}
