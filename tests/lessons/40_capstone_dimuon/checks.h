// SPDX-License-Identifier: MIT
// Helpers for the tests of lesson 40: samples in device memory, and checks of counts, with the
// results of usual mistakes.
//
// Tolerance of a mass: 1e-6 of it, as in lesson 10, and 5e-7 / opening where phi wraps around,
// which is below 4e-6. Everything else is exact: see reference.h.
#pragma once

#include "capstone_dimuon.h"
#include "lesson_test.h"
#include "reference.h"

using namespace dimuon;

namespace {

using Counts = std::vector<unsigned>;

constexpr int kSizes[] = {0, 1, 31, 32, 33, 255, 256, 257, 2047, 2048, 2049, 5000};
constexpr size_t kGuard = 1024;

inline const auto exact = [](size_t) { return 0.0; };

struct TestStream {
    TestStream() { CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)); }
    ~TestStream() { cudaStreamDestroy(stream); }
    TestStream(const TestStream&) = delete;
    TestStream& operator=(const TestStream&) = delete;
    operator cudaStream_t() const { return stream; }
    cudaStream_t stream = nullptr;
};

template <class T>
wb::GuardedBuffer<T> guarded(const std::vector<T>& host) {
    return {host, wb::guard(kGuard)};
}
template <class T>
wb::GuardedBuffer<T> guarded(size_t n) {
    return {n, wb::guard(kGuard)};
}

// A sample in device memory.
struct DeviceSample {
    explicit DeviceSample(const Sample& s)
        : counts(guarded(s.counts)), charge(guarded(s.charge)), pt(guarded(s.pt)),
          eta(guarded(s.eta)), phi(guarded(s.phi)), events(s.events()), muons(s.muons()) {}
    Events view() const {
        return {events, muons, counts.get(), pt.get(), eta.get(), phi.get(), charge.get()};
    }
    wb::GuardedBuffer<int> counts, charge;
    wb::GuardedBuffer<float> pt, eta, phi;
    int events, muons;
};

// Compares counts exactly, and names usual mistakes. `others`: further mistakes.
inline void check_counts(const Counts& got, const Counts& want,
                         std::vector<wb::Mistake<unsigned>> others = {}) {
    CHECK_ARRAYS(got, want, exact, "bin");
    others.push_back({"every count is twice too large: the bins were not cleared, or every mass "
                      "was counted twice",
                      [&] {
                          Counts twice = want;
                          for (unsigned& n : twice) n *= 2;
                          return twice;
                      }});
    others.push_back({"each bin holds the count of its left neighbour", [&] {
                          Counts moved(want.size());
                          std::copy(want.begin(), want.end() - 1, moved.begin() + 1);
                          return moved;
                      }});
    wb::recognize<unsigned>(got, want, others);
}

}  // namespace
