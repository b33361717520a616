// SPDX-License-Identifier: MIT
// Shared by the tests of lesson 32: chunks in several streams give the results of one piece.
//
// Tolerance: none. The host computes the same operations in the same order, each rounded once.
// Buffers start as NaN; those of a stage have exactly the size of a chunk.
#pragma once

#include "cases/timeline.h"
#include "reference.h"
#include "watches/call_checks.h"

#include <algorithm>
#include <optional>

namespace {

using wb::Timeline;
using Kind = wb::Timeline::Kind;

// Checks that all work was done when the call returned. If it was not, the test waits for the
// device, so that it can read `out`.
inline void check_returned(const std::optional<Timeline>& timeline) {
    if (!timeline) return;
    const auto late = [&](const Timeline::Interval& one) {
        return one.kind != Kind::kWait && one.end > timeline->returned();
    };
    const auto& all = timeline->all();
    const auto unfinished = std::count_if(all.begin(), all.end(), late);
    const auto last = std::find_if(all.rbegin(), all.rend(), late);
    const unsigned line = last == all.rend() ? 0 : last->line;
    INFO("the function returned before all its work was done: `out` was not complete. The last of "
         << unfinished << " copies and kernels that were still under way was queued on line "
         << line);
    CHECK(unfinished == 0);
    if (unfinished) CUDA_CHECK(cudaDeviceSynchronize());
}

inline void check_nothing_queued(const std::optional<Timeline>& timeline) {
    if (!timeline) return;
    INFO(timeline->all().size() << " copies, kernels and waits for no samples, want none");
    const bool nothing_queued = timeline->all().empty();
    CHECK(nothing_queued);
}

// `stages`: the number of stages, or 0.
inline void check_values(const Floats& in, const Floats& got, int chunk, int stages = 0) {
    const Floats want = linear(in);
    CHECK_ARRAYS(got, want);
    const size_t n = in.size(), size = size_t(chunk);
    wb::recognize<float>(
        got,
        want,
        {{"the samples come back unchanged: the kernel is missing", [&] { return in; }},
         {"each sample was made linear twice", [&] { return linear(want); }},
         {"every chunk begins at the same place: the chunk's first element is missing from an "
          "address",
          [&] {
              Floats values(n);
              for (size_t i = 0; i < n; ++i) values[i] = want[i % size];
              return values;
          }},
         {"only the first quarter of each chunk came back: a number of samples, where a copy takes "
          "bytes?",
          [&] {
              Floats values = unwritten(n);
              for (size_t first = 0; first < n; first += size)
                  std::memcpy(&values[first], &want[first], std::min(size, n - first));
              return values;
          }},
         {"the last chunk, which is shorter, is missing",
          [&] {
              Floats values = want;
              const Floats missing = unwritten(n % size);
              std::copy(missing.begin(), missing.end(), values.end() - n % size);
              return values;
          }},
         {"the last chunks are missing, one for each stage: their results are still in the "
          "stages when all work is queued",
          [&] {
              if (stages == 0) return Floats();
              const size_t all = (n + size - 1) / size, left = all - std::min<size_t>(all, stages);
              Floats values = want;
              const Floats missing = unwritten(n - left * size);
              std::copy(missing.begin(), missing.end(), values.begin() + left * size);
              return values;
          }},
         {"a stage's results are stored at the place of its next chunk: they are the results "
          "of the chunk that used the stage before",
          [&] {
              if (stages == 0) return Floats();
              const size_t step = stages * size;
              Floats values = unwritten(n);
              for (size_t first = step; first < n; first += size)
                  std::memcpy(&values[first],
                              &want[first - step],
                              std::min(size, n - first) * sizeof(float));
              const size_t last =
                  (n + size - 1) / size - std::min((n + size - 1) / size, size_t(stages));
              std::copy(want.begin() + last * size, want.end(), values.begin() + last * size);
              return values;
          }}});
}

}  // namespace
