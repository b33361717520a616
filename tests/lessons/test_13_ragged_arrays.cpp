// SPDX-License-Identifier: MIT
// Lesson 13: lists of any length, none of them special. Each is summed from its own elements only,
// and its sum is stored once. The heaviest pair of an event, if there is one.
//
// Tolerances, with u = 2^-24: a sum of n floats in any order is off by n u (sum of the magnitudes)
// at most. A mass is good to 2e-6 (lesson 10: the device's sinhf and sinf, and the rounding of phi1
// - phi2, which adds 5e-7 / opening where phi wraps round).
#include "call_checks.h"
#include "lesson_test.h"
#include "ragged_arrays.h"
#include "shared_work.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace {

constexpr size_t kGuard = 1024;  // elements on each side of every array, on a real GPU
constexpr int kUnowned = 40;     // elements after the last list, where some come before the first
constexpr double kPi = 3.14159265358979323846;

using Sum = void (*)(const float*, const int*, float*, int);
using Lists = std::vector<std::vector<float>>;

// Lists of the given lengths, filled at random.
Lists lists_of(const std::vector<int>& lengths, uint64_t seed) {
    Lists out;
    for (size_t k = 0; k < lengths.size(); ++k)
        out.push_back(wb::random_floats(lengths[k], seed + 1000003 * k));
    return out;
}

// Offsets and content. `before` elements that belong to no list come first.
struct Ragged {
    explicit Ragged(const std::vector<int>& lengths, int before = 0)
        : offsets{before}, content_size(before) {
        for (const int length : lengths) offsets.push_back(content_size += length);
    }
    std::vector<int> offsets;
    int content_size;
};

std::vector<int> lengths_of(const Lists& lists) {
    std::vector<int> out;
    for (const auto& list : lists) out.push_back(int(list.size()));
    return out;
}

std::vector<float> sums(Sum sum, const Lists& lists, int before = 0) {
    const Ragged ragged(lengths_of(lists), before);
    std::vector<float> content(before, std::nanf(""));
    for (const auto& list : lists) content.insert(content.end(), list.begin(), list.end());
    if (before) content.insert(content.end(), kUnowned, std::nanf(""));
    wb::GuardedBuffer<float> d_content(content, wb::guard(kGuard));
    wb::GuardedBuffer<int> d_offsets(ragged.offsets, wb::guard(kGuard));
    wb::GuardedBuffer<float> d_sums(lists.size(), wb::guard(kGuard));
    sum(d_content.get(), d_offsets.get(), d_sums.get(), int(lists.size()));
    CUDA_CHECK(cudaGetLastError());
    CHECK(d_sums.intact());
    return d_sums.download();
}

// For each list the sum from its begin + first to its end + last, in steps of `step`.
std::vector<float> sums_of_ranges(const Lists& lists, int first, int last, int step = 1) {
    std::vector<float> all, out;
    for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
    int at = 0;
    for (const auto& list : lists) {
        double total = 0;
        const int end = at + int(list.size());
        for (int i = std::max(0, at + first); i < end + last && i < int(all.size()); i += step)
            total += all[i];
        out.push_back(float(total));
        at = end;
    }
    return out;
}

// For each list what `of` returns for it and for the place in the content where it begins.
template <class F>
std::vector<float> by_list(const Lists& lists, F of) {
    std::vector<float> out;
    size_t at = 0;
    for (const auto& list : lists) {
        out.push_back(float(of(list, at)));
        at += list.size();
    }
    return out;
}

// The sum of what the lanes `first` to 31 have added, each in steps of `step`.
double of_lanes(const std::vector<float>& list, size_t first, size_t step) {
    double total = 0;
    for (size_t lane = first; lane < 32; ++lane)
        for (size_t i = lane; i < list.size(); i += step) total += list[i];
    return total;
}

// The sum of the first `most` elements of each list.
std::vector<float> sums_of_some(const Lists& lists, size_t most) {
    std::vector<float> out;
    for (const auto& list : lists) {
        double total = 0;
        for (size_t i = 0; i < std::min(most, list.size()); ++i) total += list[i];
        out.push_back(float(total));
    }
    return out;
}

// `exact`: with these values no order of additions rounds.
void check_sums(Sum sum, const Lists& lists, int before = 0, bool exact = false) {
    std::vector<float> want;
    std::vector<double> bound;
    for (const auto& list : lists) {
        double total = 0, magnitude = 0;
        for (const float value : list) {
            total += value;
            magnitude += std::fabs(value);
        }
        want.push_back(float(total));
        bound.push_back(exact ? 0 : (double(list.size()) + 1) * 0x1p-24 * magnitude);
    }
    const auto tolerance = [&](size_t k) { return bound[k]; };
    const auto got = sums(sum, lists, before);
    CHECK_ARRAYS(got, want, tolerance, "list");
    if (before) {
        // An output that was never written is NaN everywhere.
        const auto is_nan = [](float value) { return std::isnan(value); };
        if (!got.empty() && is_nan(got[0]) && !std::all_of(got.begin(), got.end(), is_nan))
            wb::details::note_mistakes(
                {"elements before the first offset are read, which belong to no list"}, 4);
        return;
    }
    wb::recognize<float>(
        got,
        want,
        {{"the last element of each list is left out",
          [&] { return sums_of_ranges(lists, 0, -1); }},
         {"the first element of each list is left out",
          [&] { return sums_of_ranges(lists, 1, 0); }},
         {"each list takes the first element of the next one as well",
          [&] { return sums_of_ranges(lists, 0, 1); }},
         {"only the elements 0, 32, 64, ... of each list are in the sum: those of one lane",
          [&] { return sums_of_ranges(lists, 0, 0, 32); }},
         {"only the first 32 elements of each list are in the sum",
          [&] { return sums_of_some(lists, 32); }},
         {"only the first element of each list is in the sum",
          [&] { return sums_of_some(lists, 1); }},
         {"computed in whole numbers: fractions are lost",
          [&] {
              return by_list(lists, [](const std::vector<float>& list, size_t) {
                  int total = 0;
                  for (const float value : list) total = int(float(total) + value);
                  return total;
              });
          }},
         {"divided by the number of elements: the mean, and not the sum",
          [&] {
              return by_list(lists, [](const std::vector<float>& list, size_t) {
                  return std::accumulate(list.begin(), list.end(), 0.0) / double(list.size());
              });
          }},
         {"each list is taken to begin at the first element of all",
          [&] {
              return by_list(lists, [&](const std::vector<float>& list, size_t) {
                  double total = 0;
                  size_t left = list.size();
                  for (const auto& from : lists)
                      for (const float value : from)
                          if (left > 0) total += value, --left;
                  return total;
              });
          }},
         {"the same element is added each time: the loop's index is not used",
          [&] {
              std::vector<float> all, out;
              for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
              for (size_t k = 0; k < lists.size(); ++k)
                  out.push_back(k < all.size() ? float(lists[k].size()) * all[k] : 0);
              return out;
          }},
         {"every lane begins at the first element of its list",
          [&] {
              return by_list(lists, [](const std::vector<float>& list, size_t) {
                  double total = 0;
                  for (size_t i = 0; i < list.size(); i += 32) total += list[i];
                  return 32 * total;
              });
          }},
         {"a lane moves on by 1 element, not by the size of the warp",
          [&] {
              return by_list(lists, [](const std::vector<float>& list, size_t) {
                  return of_lanes(list, 0, 1);
              });
          }},
         {"the last lane stores, but only lane 0 has the whole sum",
          [&] {
              size_t longest = 0;
              for (const auto& list : lists) longest = std::max(longest, list.size());
              if (longest < 32) return std::vector<float>();
              return by_list(lists, [](const std::vector<float>& list, size_t) {
                  return 32 * of_lanes(list, 31, 32);
              });
          }},
         {"a lane moves on by the size of the block, not of the warp",
          [&] {
              std::vector<float> out;
              for (const auto& list : lists) {
                  double total = 0;
                  for (size_t i = 0; i < list.size(); ++i)
                      if (i % 128 < 32) total += list[i];
                  out.push_back(float(total));
              }
              return out;
          }}},
        tolerance);
}

struct Event {
    std::vector<float> pt, eta, phi;
    std::vector<int> charge;
    int size() const { return int(pt.size()); }
    void add(double p, double e, double f, int q) {
        pt.push_back(float(p));
        eta.push_back(float(e));
        phi.push_back(float(f));
        charge.push_back(q);
    }
};

Event random_event(int size, uint64_t seed) {
    Event out;
    const auto number = [&](uint64_t k) { return wb::uniform_float(seed, k); };
    for (int i = 0; i < size; ++i)
        out.add(-20 * std::log(1 - 0.999 * number(5 * i)),
                -2.4 + 4.8 * number(5 * i + 1),
                kPi * (2 * number(5 * i + 2) - 1),
                number(5 * i + 3) < 0.5f ? -1 : 1);
    return out;
}

// Which pair of an event is taken: the right one, or what is often written instead.
enum class Pick {
    kHeaviest,
    kAnyCharge,
    kEqual,
    kFirst,
    kLast,
    kLightest,
    kNeighbours,
    kWithFirst,
    kNotZero,
    kBreaksOff,     // the pairs of an electron, at the first one of equal charge
    kReturns,       // at the first pair of equal charge
    kSwapped,       // eta and phi
    kSameMomentum,  // pt of the first electron for both
};

// What heaviest_pairs must find, in double; bound: how far off a float may be.
struct Answer {
    double mass = 0, bound = 0;
    bool valid = false;
};
Answer answer(const Event& e, Pick pick = Pick::kHeaviest) {
    Answer best;
    for (int i = 0; i < e.size(); ++i)
        for (int j = i + 1; j < e.size(); ++j) {
            if (pick == Pick::kBreaksOff && e.charge[i] == e.charge[j]) break;
            if (pick == Pick::kReturns && e.charge[i] == e.charge[j]) return best;
            if (pick != Pick::kAnyCharge && (e.charge[i] == e.charge[j]) != (pick == Pick::kEqual))
                continue;
            if (pick == Pick::kNeighbours && j != i + 1) continue;
            if (pick == Pick::kWithFirst && i > 0) continue;
            double deta = double(e.eta[i]) - e.eta[j], dphi = double(e.phi[i]) - e.phi[j];
            if (pick == Pick::kSwapped) std::swap(deta, dphi);
            const double other = e.pt[pick == Pick::kSameMomentum ? i : j];
            const double a = std::sinh(deta / 2), b = std::sin(dphi / 2);
            const double mass = 2 * std::sqrt(e.pt[i] * other * (a * a + b * b));
            const double opening = std::hypot(deta, std::remainder(dphi, 2 * kPi));
            const double wrap = std::fabs(dphi) > kPi ? 5e-7 / opening : 0;
            best.bound = std::max(best.bound, mass * (2e-6 + wrap));
            const bool better = pick == Pick::kLast       ? true
                                : pick == Pick::kFirst    ? !best.valid
                                : pick == Pick::kLightest ? !best.valid || mass < best.mass
                                                          : mass > best.mass;
            if (better) best.mass = mass;
            best.valid |= pick != Pick::kNotZero || mass > 0;
        }
    return best;
}

constexpr std::pair<Pick, const char*> kWrongPicks[] = {
    {Pick::kAnyCharge, "pairs of equal charge are taken as well"},
    {Pick::kEqual, "pairs of equal charge are taken, and opposite ones are not"},
    {Pick::kFirst, "the first pair of opposite charge is taken, not the heaviest"},
    {Pick::kLast, "the last pair of opposite charge is taken, not the heaviest"},
    {Pick::kLightest, "the lightest pair is taken"},
    {Pick::kNeighbours, "only neighbours in the list are paired"},
    {Pick::kWithFirst, "only pairs with the first electron of an event are looked at"},
    {Pick::kNotZero, "a pair whose mass is 0 is not counted as a pair"},
    {Pick::kBreaksOff, "the pairs of an electron end at the first one of equal charge"},
    {Pick::kReturns, "the search ends at the first pair of equal charge"},
    {Pick::kSwapped, "eta and phi are swapped"},
    {Pick::kSameMomentum, "both electrons of a pair have the pt of the first"},
};

void check_events(const std::vector<Event>& events, int before = 0) {
    std::vector<int> lengths;
    for (const Event& e : events) lengths.push_back(e.size());
    const Ragged ragged(lengths, before);
    Event all;
    for (int i = 0; i < before; ++i) all.add(1e6, 0.1 * i - 2.4, 0.1 * i, i % 2 * 2 - 1);
    for (const Event& e : events)
        for (int i = 0; i < e.size(); ++i) all.add(e.pt[i], e.eta[i], e.phi[i], e.charge[i]);
    // Unowned electrons of both charges, heavier than any other with each.
    for (int i = 0; before && i < kUnowned; ++i)
        all.add(1e6, 2.4 - 0.1 * i, 0.1 * i, i % 2 * 2 - 1);
    const size_t n = events.size();
    wb::GuardedBuffer<float> pt(all.pt, wb::guard(kGuard)), eta(all.eta, wb::guard(kGuard));
    wb::GuardedBuffer<float> phi(all.phi, wb::guard(kGuard)), mass(n, wb::guard(kGuard));
    wb::GuardedBuffer<int> charge(all.charge, wb::guard(kGuard));
    wb::GuardedBuffer<int> offsets(ragged.offsets, wb::guard(kGuard));
    wb::GuardedBuffer<unsigned char> valid(n, wb::guard(kGuard));
    heaviest_pairs({pt.get(), eta.get(), phi.get(), charge.get()},
                   offsets.get(),
                   mass.get(),
                   valid.get(),
                   int(n));
    CUDA_CHECK(cudaGetLastError());
    CHECK((mass.intact() && valid.intact()));
    std::vector<float> want_mass;
    std::vector<unsigned char> want_valid;
    std::vector<double> bound;
    for (const Event& e : events) {
        const Answer a = answer(e);
        want_mass.push_back(float(a.mass));
        want_valid.push_back(a.valid);
        bound.push_back(a.bound);
    }
    const auto got_valid = valid.download();
    const auto got_mass = mass.download();
    const auto near = [&](size_t k) { return bound[k]; };
    CHECK_ARRAYS(
        got_valid, want_valid, [](size_t) { return 0.0; }, "valid of event");
    CHECK_ARRAYS(got_mass, want_mass, near, "mass of event");
    std::vector<wb::Mistake<float>> of_mass;
    std::vector<wb::Mistake<unsigned char>> of_valid;
    for (const auto& [pick, words] : kWrongPicks) {
        of_mass.push_back({words, [&, pick = pick] {
                               std::vector<float> out;
                               for (const Event& e : events)
                                   out.push_back(float(answer(e, pick).mass));
                               return out;
                           }});
        of_valid.push_back({words, [&, pick = pick] {
                                std::vector<unsigned char> out;
                                for (const Event& e : events) out.push_back(answer(e, pick).valid);
                                return out;
                            }});
    }
    const auto at_the_beginning = [&] {  // each event made of the first electrons of all
        std::vector<Answer> out;
        for (const Event& e : events) {
            Event head;
            for (int i = before; i < before + e.size(); ++i)
                head.add(all.pt[i], all.eta[i], all.phi[i], all.charge[i]);
            out.push_back(answer(head));
        }
        return out;
    };
    const char* const beginning = "each event is taken to begin at the first electron of all";
    of_mass.push_back({beginning, [&] {
                           std::vector<float> out;
                           for (const Answer& a : at_the_beginning()) out.push_back(float(a.mass));
                           return out;
                       }});
    of_valid.push_back({beginning, [&] {
                            std::vector<unsigned char> out;
                            for (const Answer& a : at_the_beginning()) out.push_back(a.valid);
                            return out;
                        }});
    of_mass.push_back(
        {"-1 stands for no pair, and must be 0: `valid` says that there is none", [&] {
             auto out = want_mass;
             for (size_t k = 0; k < n; ++k)
                 if (!want_valid[k]) out[k] = -1;
             return out;
         }});
    of_valid.push_back({"each event with two electrons is valid, whatever their charges", [&] {
                            std::vector<unsigned char> out;
                            for (const Event& e : events) out.push_back(e.size() > 1);
                            return out;
                        }});
    of_valid.push_back({"each event with an electron is valid: is one paired with itself?", [&] {
                            std::vector<unsigned char> out;
                            for (const Event& e : events) out.push_back(e.size() > 0);
                            return out;
                        }});
    wb::recognize(got_valid, want_valid, of_valid);
    wb::recognize(got_mass, want_mass, of_mass, near);
}

std::vector<Event> random_events(int n, int most, uint64_t seed) {
    std::vector<Event> out;
    const auto sizes = wb::random_ints(n, seed, 0, most);
    for (int k = 0; k < n; ++k) out.push_back(random_event(sizes[k], seed + 7919 * (k + 1)));
    return out;
}

// Lists of eighths, 1/8 to 1: the sum of 100,000 is below 2^24 eighths. The bound above would let
// a long list of values of both signs lose many of them.
Lists eighths_of(const std::vector<int>& lengths, uint64_t seed) {
    Lists lists;
    for (size_t k = 0; k < lengths.size(); ++k) {
        lists.emplace_back();
        for (const int eighth : wb::random_ints(lengths[k], seed + k, 1, 8))
            lists.back().push_back(float(eighth) / 8);
    }
    return lists;
}

const Lists kThreeLists{{1.1f, 2.2f, 3.3f}, {}, {4.4f, 5.5f}};  // 6.6, 0, 9.9

void check_shapes(Sum sum) {
    check_sums(sum, lists_of({5}, 1));
    check_sums(sum, lists_of({0}, 1));
    check_sums(sum, lists_of(std::vector<int>(300, 0), 2));  // all empty
    check_sums(sum, lists_of({0, 3, 0, 0, 40, 1, 0}, 3));    // first and last empty
    check_sums(sum, lists_of({31, 32, 33, 63, 64, 65, 1}, 4));
}

// Counters of sum on lists of these lengths.
std::optional<EmulatorCounters> count_sums(Sum sum, const std::vector<int>& lengths) {
    const Ragged ragged(lengths);
    wb::DeviceBuffer<float> content(wb::random_floats(ragged.content_size, 5));
    wb::DeviceBuffer<int> offsets(ragged.offsets);
    wb::DeviceBuffer<float> out(lengths.size());
    return wb::count([&] { sum(content.get(), offsets.get(), out.get(), int(lengths.size())); });
}

}  // namespace

TEST_CASE("task 1: sums three lists", "[task1]") {
    check_sums(list_sums, kThreeLists);
}

TEST_CASE("task 1: sums lists of any number and length", "[task1]") {
    check_shapes(list_sums);
    const int n = GENERATE(1, 31, 32, 33, 127, 128, 129, 1000, 20011);
    CAPTURE(n);
    check_sums(list_sums, lists_of(wb::random_ints(n, 10 + n, 0, 9), 20 + n));
}

TEST_CASE("task 1: sums a slice, with elements before and after it", "[task1]") {
    const int before = GENERATE(1, 3, 100);
    CAPTURE(before);
    check_sums(list_sums, kThreeLists, before);
    check_sums(list_sums, lists_of(wb::random_ints(500, 31, 0, 9), 32), before);
}

TEST_CASE("task 1: one very long list among short ones", "[task1]") {
    auto lengths = wb::random_ints(100, 33, 0, 5);
    lengths[50] = 100000;
    check_sums(list_sums, lists_of(lengths, 34));
    check_sums(list_sums, eighths_of(lengths, 37), 0, true);
}

TEST_CASE("task 1: the same sums with the lists in reverse order", "[task1]") {
    const auto lists = lists_of(wb::random_ints(700, 35, 0, 20), 36);
    Lists turned(lists.rbegin(), lists.rend());
    auto got = sums(list_sums, turned);
    std::reverse(got.begin(), got.end());
    check_sums(list_sums, turned);
    const auto want = sums(list_sums, lists);
    if (!want.empty() && !std::isnan(want[0])) CHECK_ARRAYS(got, want);
}

TEST_CASE("task 2: a warp sums three lists", "[task2]") {
    check_sums(long_list_sums, kThreeLists);
}

TEST_CASE("task 2: a warp sums lists of any number and length", "[task2]") {
    check_shapes(long_list_sums);
    const int n = GENERATE(1, 2, 3, 4, 5, 33, 1000);
    CAPTURE(n);
    check_sums(long_list_sums, lists_of(wb::random_ints(n, 40 + n, 0, 150), 50 + n));
}

TEST_CASE("task 2: a warp sums a slice, with elements before and after it", "[task2]") {
    const int before = GENERATE(1, 3, 100);
    CAPTURE(before);
    check_sums(long_list_sums, lists_of(wb::random_ints(200, 61, 0, 90), 62), before);
}

TEST_CASE("task 2: very long lists", "[task2]") {
    check_sums(long_list_sums, lists_of({100000, 0, 99999, 7, 65536}, 63));
    check_sums(long_list_sums, eighths_of({100000, 0, 99999, 7, 65536}, 64), 0, true);
}

TEST_CASE("task 3: one pair, and more than one", "[task3]") {
    Event one, three;
    one.add(45.6, 0, 0, 1);
    one.add(45.6, 0, 3.1415927, -1);  // back to back: 91.2
    three.add(20, 0.1, 0.0, 1);       // the heaviest pair is neither the first nor the last
    three.add(30, 0.2, 0.3, -1);
    three.add(50, -1.0, 2.5, 1);
    three.add(5, -1.0, 2.0, -1);
    check_events({one, three, one});
}

TEST_CASE("task 3: no electron, or only one", "[task3]") {
    Event none, one;
    one.add(30, 1, 1, -1);
    check_events({none});
    check_events({one});
    check_events({none, one, none, one, none});
}

TEST_CASE("task 3: equal charges are no pair", "[task3]") {
    Event plus, mixed;
    for (int i = 0; i < 4; ++i) plus.add(30 + i, 0.3 * i, 0.7 * i, 1);
    mixed.add(100, 2, 0, 1);  // the heaviest pair of all has equal charges
    mixed.add(100, -2, 3, 1);
    mixed.add(10, 1.5, 0.2, -1);
    check_events({plus, mixed});
}

TEST_CASE("task 3: a mass of 0 is a mass", "[task3]") {
    Event same, light;
    same.add(30, 1, 1, 1);
    same.add(20, 1, 1, -1);  // same direction: mass 0, and valid
    light.add(0, 1, 1, 1);
    light.add(0, -1, 2, -1);
    Event heavy;
    heavy.add(45.6, 0, 0, 1);
    heavy.add(45.6, 0, 3, -1);
    check_events({same, light, same, heavy});
}

TEST_CASE("task 3: random events of any number", "[task3]") {
    const int n = GENERATE(1, 33, 128, 129, 5000);
    CAPTURE(n);
    check_events(random_events(n, 6, 70 + n));
}

TEST_CASE("task 3: one large event, and a slice with electrons before and after it", "[task3]") {
    auto events = random_events(40, 5, 81);
    events[20] = random_event(300, 82);
    check_events(events);
    check_events(random_events(300, 6, 83), 17);
}

// As many electrons as an event may have. All but four have the same charge, so that few pairs need
// a mass: the four come late, where an index or a local array that is too small would miss them.
TEST_CASE("task 3: an event of 1024 electrons among small ones", "[task3]") {
    auto events = random_events(5, 5, 84);
    Event large = random_event(1024, 85);
    for (int i = 0; i < large.size(); ++i)
        large.charge[i] = i == 255 || i == 511 || i == 1022 || i == 1023 ? -1 : 1;
    large.pt[900] = 900;  // the heaviest pair: 900 and 1023, nearly back to back
    large.pt[1023] = 900;
    large.eta[900] = large.eta[1023] = 0.5f;
    large.phi[900] = -1.5f;
    large.phi[1023] = 1.5f;
    events[2] = large;
    check_events(events, 9);
}

TEST_CASE("task 3: a refused launch of any of the three is an exception", "[task3]") {
    wb::DeviceBuffer<int> offsets(std::vector<int>{0, 2}), charge(std::vector<int>{1, -1});
    wb::DeviceBuffer<float> content(wb::random_floats(2, 86)), out(1);
    wb::DeviceBuffer<unsigned char> valid(1);
    const Electrons two{content.get(), content.get(), content.get(), charge.get()};
    wb::check_refused_launch("list_sums",
                             [&] { list_sums(content.get(), offsets.get(), out.get(), 1); });
    wb::check_refused_launch("long_list_sums",
                             [&] { long_list_sums(content.get(), offsets.get(), out.get(), 1); });
    wb::check_refused_launch(
        "heaviest_pairs", [&] { heaviest_pairs(two, offsets.get(), out.get(), valid.get(), 1); });
}

TEST_CASE("task 3: nothing is launched for no lists", "[task3]") {
    wb::DeviceBuffer<int> offsets(std::vector<int>{0});
    const auto counted = wb::count([&] {
        list_sums(nullptr, offsets.get(), nullptr, 0);
        long_list_sums(nullptr, offsets.get(), nullptr, 0);
        heaviest_pairs({}, offsets.get(), nullptr, nullptr, 0);
    });
    CHECK(cudaGetLastError() == cudaSuccess);
    if (counted) CHECK(counted->launches == 0);
    check_events(random_events(2, 6, 91));
}

TEST_CASE("efficient: one store for each list, each element loaded once", "[efficient][task1]") {
    const auto lengths = wb::random_ints(10000, 92, 0, 9);
    const uint64_t lists = lengths.size();
    const uint64_t elements = std::accumulate(lengths.begin(), lengths.end(), 0);
    const auto counted = count_sums(list_sums, lengths);
    NEED_COUNTERS(counted);
    CHECK(counted->launches == 1);
    CHECK(counted->global_store_bytes == 4 * lists);
    CHECK(counted->global_load_bytes >= 4 * elements);
    CHECK(counted->global_load_bytes <= 4 * elements + 8 * lists);
    CHECK(counted->global_atomics == 0);
    CHECK(counted->host_to_device_bytes + counted->device_to_host_bytes == 0);
    // 21 lanes where each thread has a list. A warp with 32 lists executes some 100 instructions,
    // so 400 with four for each thread. One warp with all lists needs 10,000, one thread 400,000.
    wb::check_shared_work(*counted, lists / 4, 12, 1000);
}

TEST_CASE("efficient: a warp reads its list side by side", "[efficient][task2]") {
    const auto lengths = wb::random_ints(60, 93, 500, 1500);
    const uint64_t lists = lengths.size();
    const uint64_t elements = std::accumulate(lengths.begin(), lengths.end(), 0);
    const auto counted = count_sums(long_list_sums, lengths);
    NEED_COUNTERS(counted);
    CHECK(counted->launches == 1);
    CHECK(counted->global_store_bytes == 4 * lists);
    CHECK(counted->global_atomics == 0);
    // 4 sectors for 32 elements, 5 where the list does not start at a multiple of 8; and the
    // offsets.
    CHECK(counted->global_load_sectors >= elements / 8);
    CHECK(counted->global_load_sectors <= 5 * elements / 32 + 24 * lists);
    // The longest list has 47 rounds of 32 elements: 300 to 500 instructions. A lane that adds a
    // list alone needs 4,500, a warp with all lists 15,000.
    wb::check_shared_work(*counted, 32 * lists, 24, 1500);
}

TEST_CASE("efficient: a long list occupies all lanes of its warp", "[efficient][task2]") {
    const uint64_t elements = 100000;
    const auto counted = count_sums(long_list_sums, {int(elements)});
    NEED_COUNTERS(counted);
    CHECK(counted->global_store_bytes == 4);
    // About 8 instructions for 32 elements. One lane at a time would need 4 and more for each.
    CHECK(counted->warp_instructions <= elements);
}

TEST_CASE("efficient: five bytes are stored for each event, and no doubles used",
          "[efficient][task3]") {
    const auto lengths = wb::random_ints(5000, 94, 0, 6);
    const Ragged ragged(lengths);
    const size_t events = lengths.size(), n = ragged.content_size;
    wb::DeviceBuffer<float> pt(wb::random_floats(n, 95, 5, 50)),
        eta(wb::random_floats(n, 96, -2, 2));
    wb::DeviceBuffer<float> phi(wb::random_floats(n, 97, -3, 3)), mass(events);
    std::vector<int> charges = wb::random_ints(n, 98, 0, 1);
    for (int& charge : charges) charge = 2 * charge - 1;
    wb::DeviceBuffer<int> charge(charges), offsets(ragged.offsets);
    wb::DeviceBuffer<unsigned char> valid(events);
    const auto counted = wb::count([&] {
        heaviest_pairs({pt.get(), eta.get(), phi.get(), charge.get()},
                       offsets.get(),
                       mass.get(),
                       valid.get(),
                       int(events));
    });
    NEED_COUNTERS(counted);
    CHECK(counted->launches == 1);
    CHECK(counted->global_store_bytes == 5 * events);
    CHECK(counted->global_atomics == 0);
    CHECK(counted->double_instructions == 0);
    // A pair takes some 70 instructions on average, since half of them need a mass. In both orders
    // it takes twice as many.
    uint64_t pairs = 0;
    for (const int length : lengths) pairs += length * (length - 1) / 2;
    CHECK(counted->thread_instructions <= 120 * pairs);
    // A warp with 32 events executes 1,700 to 3,300 instructions, so up to 13,000 with four for
    // each thread. One warp with all events needs 250,000.
    wb::check_shared_work(*counted, events / 4, 3, 30000);
}
