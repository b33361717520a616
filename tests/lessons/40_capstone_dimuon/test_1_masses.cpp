// SPDX-License-Identifier: MIT
// Lesson 40, from events to masses: offsets, the heaviest pair of each event, and the kept masses.
#include "checks.h"

namespace {

void check_scan(const Ints& in) {
    const int n = int(in.size());
    CAPTURE(n);
    auto d_in = guarded(in), d_out = guarded<int>(n + 1), d_sums = guarded<int>(tiles_of(n));
    CUDA_CHECK(cudaDeviceSynchronize());
    const TestStream stream;
    scan(d_in.get(), n, d_out.get(), d_sums.get(), stream);
    CUDA_CHECK(cudaStreamSynchronize(stream));
    const Ints want = scanned(in), got = d_out.download();
    CHECK_ARRAYS(got, want, exact, "offset");
    wb::recognize<int>(got,
                       want,
                       {{"each offset includes its own element: an inclusive scan",
                         [&] {
                             Ints all(want.begin() + 1, want.end());
                             all.push_back(want.back());
                             return all;
                         }},
                        {"the last offset, after all elements, is missing",
                         [&] {
                             Ints all = want;
                             all.back() = -1;
                             return all;
                         }},
                        {"every round of a tile begins with the sum before the tile",
                         [&] {
                             Ints all = want;
                             for (int i = 0; i <= n; ++i)
                                 all[i] -= want[i / kThreads * kThreads] - want[i / kTile * kTile];
                             return all;
                         }},
                        {"every tile begins at 0", [&] {
                             Ints all = want;
                             for (int i = 0; i <= n; ++i) all[i] -= want[i / kTile * kTile];
                             return all;
                         }}});
    wb::check_unchanged(d_in.download(), in);
    CHECK(d_out.intact());
    CHECK(d_sums.intact());
}

// `before`: the number of muons in front that belong to no event.
void check_masses(const Known& known, int before = 0) {
    Sample s = known.sample;
    Ints offsets = scanned(s.counts);
    for (int& offset : offsets) offset += before;
    Sample shifted = s;
    for (auto* column : {&shifted.pt, &shifted.eta, &shifted.phi})
        column->insert(column->begin(), before, 50.0f);
    for (int k = 0; k < before; ++k) shifted.charge.insert(shifted.charge.begin(), k % 2 ? 1 : -1);
    const int events = s.events();
    CAPTURE(events);
    DeviceSample d(shifted);
    auto d_offsets = guarded(offsets), d_valid = guarded<int>(events);
    auto d_mass = guarded<float>(events);
    CUDA_CHECK(cudaDeviceSynchronize());
    const TestStream stream;
    pair_masses(d.view(), d_offsets.get(), d_mass.get(), d_valid.get(), stream);
    CUDA_CHECK(cudaStreamSynchronize(stream));
    CHECK_ARRAYS(d_valid.download(), known.valid, exact, "valid of event");
    const auto close = [&](size_t e) { return 4e-6 * known.mass[e]; };
    const Floats got = d_mass.download();
    CHECK_ARRAYS(got, known.mass, close, "mass of event");
    const auto by = [&](auto&& choose) {
        Floats all;
        const Ints at = scanned(s.counts);
        for (int e = 0; e < events; ++e) all.push_back(choose(at[e], at[e + 1]));
        return all;
    };
    wb::recognize<float>(
        got,
        known.mass,
        {{"pairs of equal charge are accepted as well",
          [&] {
              return by([&](int first, int last) {
                  double best = 0;
                  for (int i = first; i < last; ++i)
                      for (int j = i + 1; j < last; ++j)
                          best = std::max(best, mass_on_host(s, i, j));
                  return float(best);
              });
          }},
         {"the last pair of opposite charge is taken, not the heaviest one",
          [&] {
              return by([&](int first, int last) {
                  double mass = 0;
                  for (int i = first; i < last; ++i)
                      for (int j = i + 1; j < last; ++j)
                          if (s.charge[i] != s.charge[j]) mass = mass_on_host(s, i, j);
                  return float(mass);
              });
          }},
         {"the lightest pair of opposite charge is taken, not the heaviest one",
          [&] {
              return by([&](int first, int last) {
                  double mass = 1e30;
                  for (int i = first; i < last; ++i)
                      for (int j = i + 1; j < last; ++j)
                          if (s.charge[i] != s.charge[j])
                              mass = std::min(mass, mass_on_host(s, i, j));
                  return mass < 1e30 ? float(mass) : 0.0f;
              });
          }},
         {"the first two muons are taken if their charges differ, and no other pair",
          [&] {
              return by([&](int first, int last) {
                  return last - first > 1 && s.charge[first] != s.charge[first + 1]
                             ? float(mass_on_host(s, first, first + 1))
                             : 0.0f;
              });
          }},
         {"only neighbouring muons are paired",
          [&] {
              return by([&](int first, int last) {
                  double best = 0;
                  for (int i = first; i + 1 < last; ++i)
                      if (s.charge[i] != s.charge[i + 1])
                          best = std::max(best, mass_on_host(s, i, i + 1));
                  return float(best);
              });
          }}},
        close);
    CHECK(d_mass.intact());
    CHECK(d_valid.intact());
}

void check_compact(const Floats& mass, const Ints& valid) {
    const int n = int(mass.size());
    CAPTURE(n);
    Floats want;
    for (int e = 0; e < n; ++e)
        if (valid[e]) want.push_back(mass[e]);
    auto d_mass = guarded(mass);
    auto d_valid = guarded(valid), d_places = guarded<int>(n + 1);
    auto d_sums = guarded<int>(tiles_of(n));
    // Room for exactly the kept masses: one more would be out of bounds.
    auto d_kept = guarded<float>(want.size());
    CUDA_CHECK(cudaDeviceSynchronize());
    const TestStream stream;
    compact(d_mass.get(), d_valid.get(), n, d_places.get(), d_kept.get(), d_sums.get(), stream);
    CUDA_CHECK(cudaStreamSynchronize(stream));
    const Ints number{d_places.download().back()};
    CHECK_ARRAYS(number, Ints{int(want.size())}, exact, "number of kept masses, element");
    const Floats got = d_kept.download();
    CHECK_ARRAYS(got, want, exact, "kept mass");
    wb::recognize<float>(got, want, {{"all kept masses are present, but not in their order", [&] {
                                          Floats a = got, b = want;
                                          std::sort(a.begin(), a.end());
                                          std::sort(b.begin(), b.end());
                                          return a == b ? got : Floats{};
                                      }}});
    wb::check_unchanged(d_valid.download(), valid);
    CHECK(d_kept.intact());
    CHECK(d_places.intact());
}

}  // namespace

TEST_CASE("task 1: sums before each element, and of all", "[task1]") {
    for (const int n : kSizes) check_scan(wb::random_ints(n, 100 + n, 0, 6));
    check_scan(Ints(5000, 0));
}

TEST_CASE("task 1: more tiles than threads scan their sums", "[task1]") {
    check_scan(wb::random_ints(kTile * (2 * kThreads + 3) + 17, 9, 0, 1));
}

TEST_CASE("task 2: the heaviest pair of each event", "[task2]") {
    for (const int n : kSizes) check_masses(make_events(n, 200 + n));
}

TEST_CASE("task 2: muons that belong to no event are ignored", "[task2]") {
    check_masses(make_events(500, 21), 3);
}

TEST_CASE("task 2: a mass of 0 is valid", "[task2]") {
    Known known;
    for (const int charge : {1, -1}) {
        known.sample.add(20, 0.5, 1, 1);
        known.sample.add(30, 0.5, 1, charge);
        known.sample.counts.push_back(2);
        known.mass.push_back(0);
        known.valid.push_back(charge < 0);
    }
    check_masses(known);
}

TEST_CASE("task 2: muons close together", "[task2]") {
    for (const double opening : {0.1, 0.01, 0.001}) {
        CAPTURE(opening);
        Known known;
        Dice dice(23, uint64_t(1 / opening));
        for (int e = 0; e < 300; ++e) {
            const double eta = dice(-2, 2), phi = dice(-2, 2), turn = dice(-3, 3);
            known.sample.add(dice(5, 50), eta, phi, 1);
            known.sample.add(
                dice(5, 50), eta + opening * std::cos(turn), phi + opening * std::sin(turn), -1);
            known.sample.counts.push_back(2);
            known.mass.push_back(float(mass_on_host(known.sample, 2 * e, 2 * e + 1)));
            known.valid.push_back(1);
        }
        check_masses(known);
    }
}

TEST_CASE("task 2: an event of 1024 muons among small ones", "[task2]") {
    Known known = make_events(100, 22);
    const int first = known.sample.muons();
    Dice dice(22, 1000);
    for (int i = 0; i < 1024; ++i)
        known.sample.add(dice(1, 50), dice(-2.4, 2.4), dice(-3.1, 3.1), i % 3 ? 1 : -1);
    known.sample.counts.push_back(1024);
    const Found best = heaviest(known.sample, first, known.sample.muons());
    known.mass.push_back(float(best.mass));
    known.valid.push_back(1);
    check_masses(known);
}

TEST_CASE("task 3: keeps the masses of events that have a pair", "[task3]") {
    for (const int n : kSizes) {
        const Known known = make_events(n, 300 + n);
        check_compact(known.mass, known.valid);
    }
}

TEST_CASE("task 3: keeps none, all, every second, and the last", "[task3]") {
    const int n = 5000;
    const Floats mass = wb::random_floats(n, 31, 0, 100);
    Ints some(n), last(n);
    for (int i = 0; i < n; i += 2) some[i] = 1;
    last.back() = 1;
    for (const Ints& valid : {Ints(n, 0), Ints(n, 1), some, last}) check_compact(mass, valid);
}
