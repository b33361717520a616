// SPDX-License-Identifier: MIT
// Lesson 40, from masses to a spectrum and its three peaks.
#include "checks.h"

namespace {

// Checks the counts of the first `number` masses.
void check_histogram(const Floats& mass, int number) {
    const int n = int(mass.size());
    CAPTURE(n, number);
    auto d_mass = guarded(mass);
    auto d_number = guarded(Ints{number});
    auto d_counts = guarded(Counts(kBins, 7));  // the old contents must be overwritten
    CUDA_CHECK(cudaDeviceSynchronize());
    const TestStream stream;
    histogram(d_mass.get(), d_number.get(), n, d_counts.get(), stream);
    CUDA_CHECK(cudaStreamSynchronize(stream));
    Counts want(kBins), all(kBins);
    for (int i = 0; i < n; ++i) {
        count(all, mass[i]);
        if (i < number) count(want, mass[i]);
    }
    check_counts(d_counts.download(),
                 want,
                 {{"all elements are counted, not the first *d_number", [&] { return all; }},
                  {"the counts are added to what was there before",
                   [&] {
                       Counts more = want;
                       for (unsigned& c : more) c += 7;
                       return more;
                   }},
                  {"masses beyond the last bin are counted in it",
                   [&] {
                       Counts more = want;
                       for (int i = 0; i < number; ++i) more[kBins - 1] += mass[i] >= kLimit;
                       return more;
                   }},
                  {"masses below 0 are counted in the first bin", [&] {
                       Counts more = want;
                       for (int i = 0; i < number; ++i) more[0] += mass[i] < 0;
                       return more;
                   }}});
    CHECK(d_counts.intact());
}

void check_peaks(const Counts& counts) {
    auto d_counts = guarded(counts);
    auto d_peaks = guarded<Peak>(kPeaks);
    CUDA_CHECK(cudaDeviceSynchronize());
    const TestStream stream;
    find_peaks(d_counts.get(), d_peaks.get(), stream);
    CUDA_CHECK(cudaStreamSynchronize(stream));
    const std::vector<Peak> got = d_peaks.download(), want = peaks_of(counts);
    Ints bins, want_bins;
    std::vector<unsigned> events, want_events;
    for (int w = 0; w < kPeaks; ++w) {
        bins.push_back(got[w].bin);
        events.push_back(got[w].events);
        want_bins.push_back(want[w].bin);
        want_events.push_back(want[w].events);
    }
    const auto with = [&](auto&& base_of, bool negative = false) {
        std::vector<unsigned> all;
        for (const Window& w : kWindows) {
            const unsigned base = base_of(counts[w.first], counts[w.last - 1]);
            unsigned sum = 0;
            for (int b = w.first; b < w.last; ++b)
                if (negative || counts[b] > base) sum += counts[b] - base;
            all.push_back(sum);
        }
        return all;
    };
    CHECK_ARRAYS(events, want_events, exact, "events of peak");
    wb::recognize<unsigned>(
        events,
        want_events,
        {{"all events of the window are counted, not those above its base",
          [&] { return with([](unsigned, unsigned) { return 0u; }); }},
         {"the base is the smaller of the two counts at the ends of the window",
          [&] { return with([](unsigned a, unsigned b) { return std::min(a, b); }); }},
         {"the base is the count of the first bin, even if the last has more",
          [&] { return with([](unsigned a, unsigned) { return a; }); }},
         {"bins below the base are subtracted",
          [&] { return with([](unsigned a, unsigned b) { return std::max(a, b); }, true); }},
         {"differences of counts are int, which overflows at 2^31", [&] {
              std::vector<unsigned> all;
              for (const Window& w : kWindows) {
                  const unsigned base = std::max(counts[w.first], counts[w.last - 1]);
                  unsigned sum = 0;
                  for (int b = w.first; b < w.last; ++b)
                      sum += unsigned(std::max(int(counts[b] - base), 0));
                  all.push_back(sum);
              }
              return all;
          }}});
    CHECK_ARRAYS(bins, want_bins, exact, "bin of peak");
    CHECK(d_peaks.intact());
}

}  // namespace

TEST_CASE("task 4: counts masses in 1200 bins", "[task4]") {
    for (const int n : kSizes) check_histogram(wb::random_floats(n, 400 + n, 0, 125), n);
    check_histogram(wb::random_floats(200003, 41, -5, 130), 200003);
}

TEST_CASE("task 4: counts the first *d_number masses only", "[task4]") {
    const Floats mass = wb::random_floats(30000, 42, 0, 120);
    for (const int number : {0, 1, 999, 29999}) check_histogram(mass, number);
}

TEST_CASE("task 4: each mass at an edge is in the right bin, or in none", "[task4]") {
    Floats edges{0.0f,
                 -0.0f,
                 kLimit,
                 std::nextafter(kLimit, 0.0f),
                 std::nextafter(kLimit, 200.0f),
                 -0.05f,
                 -1.0f,
                 std::nanf(""),
                 INFINITY,
                 -INFINITY,
                 1e30f,
                 -1e30f,
                 1e-30f};
    for (int b = 1; b < kBins; b += 7)
        for (const float edge : {float(b / 10.0)})
            edges.insert(edges.end(),
                         {edge, std::nextafter(edge, 0.0f), std::nextafter(edge, 200.0f)});
    check_histogram(edges, int(edges.size()));
}

TEST_CASE("task 5: finds the peaks of a spectrum", "[task5]") {
    for (const int seed : {1, 2, 3}) check_peaks(make_events(20000, 500 + seed).counts);
    Counts noise;
    for (const int c : wb::random_ints(kBins, 51, 0, 1000)) noise.push_back(unsigned(c));
    check_peaks(noise);
}

TEST_CASE("task 5: no peak, a peak of one bin, and one at each end", "[task5]") {
    check_peaks(Counts(kBins, 5));
    Counts single(kBins, 3);
    for (const Window& window : kWindows) single[window.first + 4] = 10;
    check_peaks(single);
    Counts falling(kBins), rising(kBins);
    for (int b = 0; b < kBins; ++b) {
        falling[b] = unsigned(3 * (kBins - b));
        rising[b] = unsigned(2 * b);
    }
    check_peaks(falling);
    check_peaks(rising);
    for (const Window& window : kWindows) {
        falling[window.last - 2] = 90000;
        rising[window.first + 1] = 90000;
    }
    check_peaks(falling);
    check_peaks(rising);
}

TEST_CASE("task 5: counts so large that the products need 64 bits", "[task5]") {
    Counts large(kBins, 1000);
    for (const Window& window : kWindows)
        for (int b = window.first + 1; b < window.last - 1; ++b) large[b] = 15'000'000u + 9973u * b;
    check_peaks(large);
}

TEST_CASE("task 5: differences that need all 32 bits", "[task5]") {
    Counts large(kBins, 1000);
    // More than 2^31 above the base, and a base that lies as far above most bins.
    large[kWindows[0].first + 3] = 3'000'000'000u;
    large[kWindows[1].last - 1] = 3'000'000'000u;
    large[kWindows[2].first + 70] = 2'500'000'000u;
    check_peaks(large);
}
