// SPDX-License-Identifier: MIT
// Checks that the tests of lesson 34 share: of heat, with the results of usual mistakes on the same
// rod; of calls that fail; and of the stream that work is put into.
//
// Tolerance: see tolerance_of. Launches, captures and waits are counted from the calls to the
// runtime, which works on a card too.
#pragma once

#include "reference.h"
#include "watches/call_checks.h"

namespace {

// Work without a kernel: copies the first array to the second, and this one to the third.
struct Copies {
    explicit Copies(size_t n) : a(wb::random_floats(n, 7)), b(n), c(n) {
        CUDA_CHECK(cudaDeviceSynchronize());  // the fills above, which not every stream waits for
    }
    void put_into(cudaStream_t stream) {
        ++calls;
        const size_t bytes = a.size() * sizeof(float);
        CUDA_CHECK(cudaMemcpyAsync(b.get(), a.get(), bytes, cudaMemcpyDeviceToDevice, stream));
        CUDA_CHECK(cudaMemcpyAsync(c.get(), b.get(), bytes, cudaMemcpyDeviceToDevice, stream));
    }
    // Fills both copies with NaN again.
    void clear() {
        for (auto* copy : {&b, &c})
            CUDA_CHECK(cudaMemset(copy->get(), 0xFF, copy->size() * sizeof(float)));
        CUDA_CHECK(cudaDeviceSynchronize());
    }
    wb::DeviceBuffer<float> a, b, c;
    int calls = 0;
};

// The result if d_heat still holds the heat before the last step.
inline Floats one_step_less(const Floats& start, std::vector<Leg> legs) {
    while (!legs.empty() && legs.back().steps == 0) legs.pop_back();
    if (legs.empty()) return {};
    --legs.back().steps;
    return on_host(start, legs);
}

// Compares, and names usual mistakes. `replayed`: the steps of one replay, or 0 without replays.
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
        {"as after a single step: each step reads the heat before the first step",
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
        // The first `of` kernels of each replay have the new rate.
        const auto changed_first = [&](int of) {
            std::vector<Leg> changed;
            for (const Leg& leg : legs) {
                for (int k = 0; k < leg.steps / replayed; ++k) {
                    changed.push_back({of, leg.rate});
                    changed.push_back({replayed - of, legs[0].rate});
                }
                changed.push_back({leg.steps % replayed, leg.rate});
            }
            return on_host(start, changed);
        };
        mistakes.push_back({"the first kernel of the recording has the new rate, and the others "
                            "still have the first one",
                            [=] { return changed_first(1); }});
        mistakes.push_back({"the first kernels of the recording have the new rate, and those after "
                            "them still have the first one",
                            [=] {
                                for (int of = 2; of < replayed; ++of) {
                                    Floats made = changed_first(of);
                                    if (std::fabs(made[made.size() / 2] - got[made.size() / 2]) <=
                                        tolerance)
                                        return made;
                                }
                                return Floats();  // not even nearly
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
                                "graph keeps the pointers that it was recorded with, even if the "
                                "host swaps its own",
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
        mistakes.push_back({"there is one replay, for any number of steps", [&] {
                                std::vector<Leg> once = legs;
                                for (Leg& leg : once)
                                    leg.steps =
                                        std::min(leg.steps, replayed) + leg.steps % replayed;
                                return on_host(start, once);
                            }});
        mistakes.push_back({"advance() makes a whole replay for every step", [&] {
                                std::vector<Leg> many = legs;
                                for (Leg& leg : many) leg.steps *= replayed;
                                return on_host(start, many);
                            }});
    }
    wb::recognize<float>(got, want, mistakes, each);
}

// Runs `work` once for each of its calls about captures, graphs or launches, with that call
// failing.
inline void check_failing_graph_calls(const char* name, const std::function<void()>& work) {
    std::vector<wb::CudaCall> calls;
    {
        wb::CallWatch watch;
        work();
        calls = watch.calls;
    }
    const auto has = [](const wb::CudaCall& call, const char* part) {
        return call.name.find(part) != std::string::npos;
    };
    std::string dropped;
    size_t failed = 0;
    for (size_t k = 0; k < calls.size() && dropped.empty(); ++k) {
        const wb::CudaCall& call = calls[k];
        if (has(call, "Destroy") ||
            !(has(call, "Graph") || has(call, "Begin") || has(call, "EndCapture") ||
              has(call, "Launch") || has(call, "Mem") || has(call, "StreamCreate")))
            continue;
        ++failed;
        wb::CallWatch watch;
        watch.fail_call = k;
        watch.error = cudaErrorUnknown;
        if (!wb::throws_cuda_error(work)) dropped = call.name;
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

// The first call that names another stream than `stream` or one that captures, or "".
inline std::string elsewhere(const wb::CallWatch& watch, cudaStream_t stream) {
    std::vector<cudaStream_t> own{stream};
    for (const wb::CudaCall& call : watch.calls) {
        if (call.name.find("BeginCapture") != std::string::npos) own.push_back(call.stream);
        const bool launch = call.name.find("LaunchKernel") != std::string::npos;
        if (!launch && call.name != "cudaGraphLaunch" &&
            call.name.find("Async") == std::string::npos)
            continue;
        if (std::find(own.begin(), own.end(), call.stream) == own.end())
            return launch ? "<<<>>>" : call.name;
    }
    return "";
}

inline void check_stream(const char* name, const std::function<void(cudaStream_t)>& work) {
    const TestStream stream;
    wb::CallWatch watch;
    work(stream);
    const std::string other = elsewhere(watch, stream);
    {
        INFO(name << " launches nothing");
        const bool something_was_launched = watch.launches() > 0;
        CHECK(something_was_launched);
    }
    INFO(name << " uses " << other << " with another stream than the one it was given");
    const bool all_in_the_stream = other.empty();
    CHECK(all_in_the_stream);
}

}  // namespace
