// SPDX-License-Identifier: MIT
// The contract between a lesson and the programs that time it: tests/lessons/NN_slug/workload.cpp
// registers what is run for a clock. The program bench_main.cpp runs it, once for each linked .cu
// file. Libraries that do the same work stand in tests/peers, under the same names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace wb {

// One timed piece of work on `n` elements. The constructor allocates and fills with seeded random
// data, so that everything here is ready for run().
class Workload {
public:
    virtual ~Workload() = default;
    // Restores what run() destroys; not timed. Called before every run().
    virtual void prepare() {}
    // What the clock measures, in the default stream: calls of the student's functions and nothing
    // else. May be called again and again, and gives the same result each time.
    virtual void run() = 0;
    // Computes on the host what run() must give, on at most wb::host_threads() threads; called once
    // after the last run. Its own time is what one core of a CPU needs for the same work, where
    // reference_elements() says how much of the work it does.
    virtual void reference() = 0;
    virtual size_t reference_elements() const = 0;
    // After reference(): "" when the last run's results are right, else what is wrong. Compares
    // everything.
    virtual std::string verify() = 0;
    // The least bytes that run() must move to and from device memory; the share of the card's copy
    // bandwidth is computed from it.
    virtual double bytes() const = 0;
    // What run() makes, for work that computing limits and not memory ("points"): its rate is then
    // elements per second of these, and no share of the copy bandwidth is shown.
    virtual const char* unit() const { return ""; }
    // Useful arithmetic operations of run(), for work that memory does not limit; 0: not told.
    virtual double operations() const { return 0; }
    // Whether run() works or waits on the host, so that the host's clock is the right one.
    virtual bool on_host() const { return false; }
    // After verify(): a number that is the same whenever the results have the same bits, for work
    // whose results must not depend on the number of cards; 0: not told.
    virtual uint64_t digest() { return 0; }
    // The library that does the work, or part of it, with its version; "": not told.
    virtual std::string library() const { return ""; }
};

struct RegisteredWorkload {
    std::string name;      // in words: "adds two vectors"
    size_t elements;       // on a card; halved while the card's memory is too small
    size_t tiny_elements;  // on the emulator, where only the values count; odd sizes are best
    bool in_sweep;         // timed with --sweep, as one point of a curve
    std::function<std::unique_ptr<Workload>(size_t)> make;
};

// Of work by several processes: what those do that are not timed, in place of everything else.
// Returns their exit code.
inline std::function<int()> helper_main;

// How many devices the work of several may use; 0: all there are.
inline int& cards() {
    static int count = 0;
    return count;
}

inline std::vector<RegisteredWorkload>& workloads() {
    static std::vector<RegisteredWorkload> all;
    return all;
}

template <class Type>
struct RegisterWorkload {
    RegisterWorkload(std::string name, size_t elements, size_t tiny_elements, bool sweep = false) {
        workloads().push_back({std::move(name), elements, tiny_elements, sweep, [](size_t n) {
                                   return std::unique_ptr<Workload>(std::make_unique<Type>(n));
                               }});
    }
};

}  // namespace wb

// WORKLOAD(AddVectors, "adds two vectors", 1 << 28, 1001); at namespace scope, after the class,
// whose constructor takes the number of elements. SWEEP_WORKLOAD: the same, for a point of a curve.
#define WORKLOAD(Type, name, elements, tiny_elements)                                              \
    const ::wb::RegisterWorkload<Type> registered_##Type(name, elements, tiny_elements)
#define SWEEP_WORKLOAD(Type, name, elements, tiny_elements)                                        \
    const ::wb::RegisterWorkload<Type> registered_##Type(name, elements, tiny_elements, true)
