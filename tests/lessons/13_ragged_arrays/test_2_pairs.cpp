// SPDX-License-Identifier: MIT
// Lesson 13, the heaviest pair of an event, if there is one, and what all three functions cost.
//
// Tolerance: a mass is good to 2e-6 (lesson 10: the device's sinhf and sinf, and the rounding of
// the difference of two phi, which adds 5e-7 / opening where phi wraps round).
#include "cases/shared_work.h"
#include "lesson_test.h"
#include "reference.h"
#include "watches/call_checks.h"

#include <numeric>

namespace {

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

// Counters of sum on lists of these lengths.
std::optional<wb::Counters> count_sums(Sum sum, const std::vector<int>& lengths) {
    const Ragged ragged(lengths);
    wb::DeviceBuffer<float> content(wb::random_floats(ragged.content_size, 5));
    wb::DeviceBuffer<int> offsets(ragged.offsets);
    wb::DeviceBuffer<float> out(lengths.size());
    return wb::count([&] { sum(content.get(), offsets.get(), out.get(), int(lengths.size())); });
}

}  // namespace

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
