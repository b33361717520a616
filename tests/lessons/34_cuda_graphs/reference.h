// SPDX-License-Identifier: MIT
// What lesson 34's test compares with: the steps of a rod on the host, in double, and what usual
// mistakes make of the same rod.
#pragma once

#include "cuda_graphs.h"
#include "lesson_test.h"

#include <algorithm>
#include <cmath>

namespace {

using Floats = std::vector<float>;

// Steps with one rate.
struct Leg {
    int steps;
    float rate;
};

inline void step_on_host(std::vector<double>& heat, float rate) {
    const std::vector<double> was = heat;
    for (size_t i = 1; i + 1 < heat.size(); ++i)
        heat[i] = was[i] + double(rate) * (was[i - 1] - 2 * was[i] + was[i + 1]);
}

inline Floats on_host(const Floats& start, const std::vector<Leg>& legs) {
    std::vector<double> heat(start.begin(), start.end());
    for (const Leg& leg : legs)
        for (int step = 0; step < leg.steps; ++step) step_on_host(heat, leg.rate);
    return Floats(heat.begin(), heat.end());
}

inline int steps_of(const std::vector<Leg>& legs) {
    int steps = 0;
    for (const Leg& leg : legs) steps += leg.steps;
    return steps;
}

// With 0 <= rate <= 1/2 a step does not enlarge differences. It adds less than 4 roundings of a
// number that is at most 4 times the largest heat.
inline double tolerance_of(const Floats& start, int steps) {
    float largest = 0;
    for (const float heat : start) largest = std::max(largest, std::fabs(heat));
    return 4.0 * 0x1p-24 * 4 * largest * (steps + 1);
}

// As if the step before the last one had left its result where it is looked for.
inline Floats one_step_less(const Floats& start, std::vector<Leg> legs) {
    while (!legs.empty() && legs.back().steps == 0) legs.pop_back();
    if (legs.empty()) return {};
    --legs.back().steps;
    return on_host(start, legs);
}

// Compares, and names usual mistakes. `replayed`: the steps of one replay, 0: there are none.
// `moved`: d_scratch holds the result of some step.
inline void check_heat(const Floats& got, const Floats& start, const std::vector<Leg>& legs,
                       int replayed = 0, bool moved = false) {
    const double tolerance = tolerance_of(start, steps_of(legs));
    const auto each = [tolerance](size_t) { return tolerance; };
    const Floats want = on_host(start, legs);
    CHECK_ARRAYS(got, want, each);
    std::vector<wb::Mistake<float>> mistakes{
        {"as after one step less: the last one wrote to d_scratch, and its result is still there",
         [&] { return one_step_less(start, legs); }},
        {"as after a single step: each step reads what was there before the first",
         [&] {
             return on_host(start, {{1, legs[0].rate}});
         }},
        {"the rate has the wrong sign",
         [&] {
             std::vector<Leg> turned = legs;
             for (Leg& leg : turned) leg.rate = -leg.rate;
             return on_host(start, turned);
         }},
        {"neighbours after the step are used as well as those before it: it is made in place", [&] {
             std::vector<double> heat(start.begin(), start.end());
             for (const Leg& leg : legs)
                 for (int s = 0; s < leg.steps; ++s)
                     for (size_t i = 1; i + 1 < heat.size(); ++i)
                         heat[i] += leg.rate * (heat[i - 1] - 2 * heat[i] + heat[i + 1]);
             return Floats(heat.begin(), heat.end());
         }}};
    bool some_remain = !replayed;
    for (size_t i = 1; i < legs.size() && replayed; ++i)
        some_remain |= legs[i].steps % replayed != 0;
    if (legs.size() > 1 && some_remain)
        mistakes.push_back({"all steps have the first rate, as if it had never been changed", [&] {
                                return on_host(start, {{steps_of(legs), legs[0].rate}});
                            }});
    const auto with_rates = [&](bool new_replays, bool new_rest) {
        std::vector<Leg> changed;
        for (const Leg& leg : legs) {
            const int rest = leg.steps % replayed;
            changed.push_back({leg.steps - rest, new_replays ? leg.rate : legs[0].rate});
            changed.push_back({rest, new_rest ? leg.rate : legs[0].rate});
        }
        return on_host(start, changed);
    };
    if (replayed && legs.size() > 1) {
        mistakes.push_back(
            {"the steps that are replayed still have the first rate: a graph keeps the arguments "
             "that its kernels had when they were recorded",
             [=] { return with_rates(false, true); }});
        mistakes.push_back({"the steps that remain after the replays still have the first rate",
                            [=] { return with_rates(true, false); }});
    }
    if (replayed && legs.size() > 1) {
        mistakes.push_back(
            {"the first kernel of the recording has the new rate, and the others "
             "still have the first one",
             [&] {
                 std::vector<Leg> changed;
                 for (const Leg& leg : legs) {
                     const int replays = leg.steps / replayed;
                     changed.push_back({leg.steps - replays * (replayed - 1), leg.rate});
                     changed.push_back({replays * (replayed - 1), legs[0].rate});
                 }
                 return on_host(start, changed);
             }});
        mistakes.push_back({"replays with the new rate leave d_heat as it was: does each node "
                            "still have its own two pointers?",
                            [&] {
                                std::vector<Leg> left_out = legs;
                                for (size_t i = 1; i < legs.size(); ++i)
                                    left_out[i].steps %= replayed;
                                return on_host(start, left_out);
                            }});
    }
    if (replayed) {
        if (moved)
            mistakes.push_back({"the steps were made, but d_heat holds what it held before: a "
                                "graph keeps the pointers that it was recorded with, whatever the "
                                "host does with its own",
                                [&] { return start; }});
        mistakes.push_back({"the steps that remain after the replays are missing", [&] {
                                std::vector<Leg> full = legs;
                                for (Leg& leg : full) leg.steps -= leg.steps % replayed;
                                return on_host(start, full);
                            }});
        mistakes.push_back({"the steps that remain are made by one more whole replay", [&] {
                                std::vector<Leg> more = legs;
                                for (Leg& leg : more)
                                    leg.steps = (leg.steps + replayed - 1) / replayed * replayed;
                                return on_host(start, more);
                            }});
        mistakes.push_back({"there is one replay, however many steps there should be", [&] {
                                std::vector<Leg> once = legs;
                                for (Leg& leg : once)
                                    leg.steps =
                                        std::min(leg.steps, replayed) + leg.steps % replayed;
                                return on_host(start, once);
                            }});
        mistakes.push_back({"every step that was asked for is a whole replay", [&] {
                                std::vector<Leg> many = legs;
                                for (Leg& leg : many) leg.steps *= replayed;
                                return on_host(start, many);
                            }});
    }
    wb::recognize<float>(got, want, mistakes, each);
}

// A rod in device memory, random in [0, 100), with its scratch memory full of NaN.
struct TestRod {
    explicit TestRod(int n, uint64_t seed = 1)
        : start(wb::random_floats(n, seed, 0, 100)), heat(start, wb::guard(1024)),
          scratch(n, wb::guard(1024)) {
        CUDA_CHECK(cudaDeviceSynchronize());  // the fills above, for streams that do not wait
    }
    Rod rod() { return {heat.get(), scratch.get(), int(start.size())}; }
    Floats download() {
        CUDA_CHECK(cudaDeviceSynchronize());
        CHECK(heat.intact());
        CHECK(scratch.intact());
        return heat.download();
    }
    // Whether a step has written to d_scratch.
    bool moved() const {
        const Floats values = scratch.download();
        return std::any_of(values.begin(), values.end(), [](float v) { return !std::isnan(v); });
    }
    Floats start;
    wb::GuardedBuffer<float> heat, scratch;
};

struct TestStream {
    explicit TestStream(unsigned flags = cudaStreamNonBlocking) {
        CUDA_CHECK(cudaStreamCreateWithFlags(&stream, flags));
    }
    ~TestStream() { cudaStreamDestroy(stream); }
    TestStream(const TestStream&) = delete;
    TestStream& operator=(const TestStream&) = delete;
    operator cudaStream_t() const { return stream; }
    cudaStream_t stream = nullptr;
};

}  // namespace
