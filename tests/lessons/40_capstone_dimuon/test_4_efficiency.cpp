// SPDX-License-Identifier: MIT
// Lesson 40: the cost of each stage and of the whole analysis. Only the events and the spectrum
// cross the bus.
#include "checks.h"
#include "watches/host_calls.h"

namespace {

// Bytes of a sample's five arrays.
uint64_t bytes_of(const Sample& s) {
    return 4 * (uint64_t(s.events()) + 4 * uint64_t(s.muons()));
}

}  // namespace

TEST_CASE("efficient: only the inputs and the counts cross the bus, by few launches",
          "[efficient][task1][task2][task3][task4][task5][task6][task7][task8]") {
    const Known known = make_events(20003, 1001);
    Analysis analysis(known.sample.events(), known.sample.muons());
    Counts counts(kBins);
    wb::HostCalls calls;
    const auto counters = wb::count(
        [&] { calls = wb::host_calls([&] { analysis.run(known.sample.view(), counts.data()); }); });
    CHECK(calls.host_launches <= 1);
    CHECK(calls.host_waits <= 1);
    NEED_COUNTERS(counters);
    const uint64_t inputs = bytes_of(known.sample);
    INFO("inputs: " << inputs << " bytes, to the device: " << counters->host_to_device_bytes
                    << "; counts: 4800 bytes, to the host: " << counters->device_to_host_bytes);
    CHECK(counters->host_to_device_bytes == inputs);
    CHECK(counters->device_to_host_bytes == kBins * sizeof(unsigned));
    CHECK(counters->global_load_bytes >= inputs);  // so the device has done the work
    CHECK(counters->launches <= 12);
    CHECK(counters->device_allocations == 0);
    CHECK(counters->threads >= 5000);
}

TEST_CASE("efficient: a replay is one launch, which records nothing",
          "[efficient][task1][task2][task3][task4][task5][task6][task7]") {
    const Known known = make_events(300, 72);
    Analysis analysis(known.sample.events(), known.sample.muons());
    analysis.upload(known.sample.view(), nullptr);
    const auto calls = wb::host_calls([&] { analysis.replay(nullptr); });
    CUDA_CHECK(cudaDeviceSynchronize());
    CHECK(calls.host_launches == 1);
    CHECK(calls.stream_captures == 0);
    CHECK(calls.graph_instantiations == 0);
    CHECK(calls.host_waits == 0);
}

TEST_CASE("efficient: offsets without atomics, each count loaded twice", "[efficient][task1]") {
    const int n = 200003;
    wb::DeviceBuffer<int> d_in(wb::random_ints(n, 1002, 0, 6)), d_out(n + 1), d_sums(tiles_of(n));
    const auto counters =
        wb::count([&] { scan(d_in.get(), n, d_out.get(), d_sums.get(), nullptr); });
    NEED_COUNTERS(counters);
    CHECK(counters->global_store_bytes >= 4 * uint64_t(n));
    CHECK(counters->global_store_sectors <= uint64_t(n) / 8 + 4096);
    CHECK(counters->global_load_sectors <= uint64_t(n) / 4 + 8192);
    CHECK(counters->global_atomics == 0);
    CHECK(counters->busiest_warp_instructions <= 6000);
}

TEST_CASE("efficient: masses in float, each result stored once", "[efficient][task2]") {
    const Known known = make_events(20003, 1003);
    const DeviceSample d(known.sample);
    wb::DeviceBuffer<int> d_offsets(scanned(known.sample.counts)), d_valid(20003);
    wb::DeviceBuffer<float> d_mass(20003);
    const auto counters = wb::count(
        [&] { pair_masses(d.view(), d_offsets.get(), d_mass.get(), d_valid.get(), nullptr); });
    NEED_COUNTERS(counters);
    CHECK(counters->double_instructions == 0);
    CHECK(counters->global_store_bytes == 8 * 20003);
    CHECK(counters->threads >= 5000);
    CHECK(counters->global_atomics == 0);
}

TEST_CASE("efficient: exactly the kept masses are stored", "[efficient][task1][task3]") {
    const int n = 200003;
    Ints valid(n);
    for (int i = 0; i < n; ++i) valid[i] = wb::random_bits(1004, i) % 10 < 6;
    const uint64_t kept = uint64_t(std::count(valid.begin(), valid.end(), 1));
    wb::DeviceBuffer<float> d_mass(wb::random_floats(n, 1005, 0, 100)), d_kept(kept);
    wb::DeviceBuffer<int> d_valid(valid), d_places(n + 1), d_sums(tiles_of(n));
    const auto counters = wb::count([&] {
        compact(
            d_mass.get(), d_valid.get(), n, d_places.get(), d_kept.get(), d_sums.get(), nullptr);
    });
    NEED_COUNTERS(counters);
    CHECK(counters->global_store_bytes >= 4 * kept);
    CHECK(counters->global_store_bytes <= 4 * kept + 4 * (uint64_t(n) + 1) + 4096);
    CHECK(counters->global_atomics == 0);
    CHECK(counters->threads >= uint64_t(n) / 64);
}

TEST_CASE("efficient: blocks count in bins of their own", "[efficient][task4]") {
    const int n = 200003;
    wb::DeviceBuffer<float> d_mass(wb::random_floats(n, 1006, 0, 120));
    wb::DeviceBuffer<int> d_number(Ints{n});
    wb::DeviceBuffer<unsigned> d_counts(kBins);
    const auto counters =
        wb::count([&] { histogram(d_mass.get(), d_number.get(), n, d_counts.get(), nullptr); });
    NEED_COUNTERS(counters);
    CHECK(counters->global_atomics <= uint64_t(n) / 8);
    CHECK(counters->global_load_bytes <= 4 * uint64_t(n) + 65536);
    CHECK(counters->busiest_warp_instructions <= 8000);
}

TEST_CASE("efficient: each bin of a window has a thread", "[efficient][task5]") {
    wb::DeviceBuffer<unsigned> d_counts(make_events(5000, 1007).counts);
    wb::DeviceBuffer<Peak> d_peaks(kPeaks);
    const auto counters = wb::count([&] { find_peaks(d_counts.get(), d_peaks.get(), nullptr); });
    NEED_COUNTERS(counters);
    CHECK(counters->launches == 1);
    CHECK(counters->busiest_warp_instructions <= 1500);
}
