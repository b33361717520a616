// SPDX-License-Identifier: MIT
// Lesson 22, the points of streams that continue, by the student's generator and by cuRAND's, and
// what they cost.
#include "cases/shared_work.h"
#include "checks.h"

#include <algorithm>

namespace {

// Task 4 as one object: a number of streams and the position of each.
struct PhiloxPoints {
    PhiloxPoints(uint64_t seed, uint64_t first, int streams, int threads, uint64_t start = 0)
        : seed(seed), first(first), streams(streams), threads(threads),
          d_positions(std::vector<uint64_t>(streams, start), wb::guard(kGuard)) {}
    Points next(int points) {
        wb::GuardedBuffer<float2> d_points(size_t(streams) * points, wb::guard(kGuard));
        draw_points(seed, first, d_positions.get(), d_points.get(), streams, points, threads);
        CUDA_CHECK(cudaGetLastError());
        const Points out = flat(d_points.download());
        CHECK(d_points.intact());
        CHECK(d_positions.intact());
        drawn = drawn || std::any_of(out.begin(), out.end(), [](float v) { return v == v; });
        return out;
    }
    // Every position must have moved from `start` by `draws`.
    void check_moved(uint64_t start, uint64_t draws) const {
        std::vector<uint64_t> moved = d_positions.download();
        for (uint64_t& position : moved) position -= start;
        const std::vector<uint64_t> want(streams, draws);
        CHECK_ARRAYS(
            moved, want, [](size_t) { return 0.0; }, "draws counted in stream");
        const auto by = [&](uint64_t steps) {
            return [=] { return std::vector<uint64_t>(want.size(), steps); };
        };
        if (draws > 0 && drawn && moved == by(0)()) {
            wb::details::note_mistakes(
                {"the position is not saved: the next launch would draw the same words"},
                want.size() + 2);
            return;
        }
        wb::recognize<uint64_t>(
            moved,
            want,
            {{"the position is moved on by the number of points: each takes two draws",
              by(draws / 2)},
             {"the position is moved on by the number of philox blocks: it counts words",
              by((draws + 3) / 4)}});
    }
    uint64_t seed, first;
    int streams, threads;
    wb::GuardedBuffer<uint64_t> d_positions;
    bool drawn = false;  // something, whatever it is
};

// Task 5 likewise.
struct CurandPoints {
    CurandPoints(uint64_t seed, uint64_t first, int streams, int threads)
        : streams(streams), threads(threads), d_states(streams * kCurandStateBytes) {
        curand_start(seed, first, states(), streams, threads);
        CUDA_CHECK(cudaGetLastError());
    }
    Points next(int points) {
        wb::GuardedBuffer<float2> d_points(size_t(streams) * points, wb::guard(kGuard));
        curand_points(states(), d_points.get(), streams, points, threads);
        CUDA_CHECK(cudaGetLastError());
        const Points out = flat(d_points.download());
        CHECK(d_points.intact());
        return out;
    }
    CurandState* states() { return reinterpret_cast<CurandState*>(d_states.get()); }
    int streams, threads;
    wb::DeviceBuffer<unsigned char> d_states;
};

// chi2 / 64 of the hits in the quarter circle, over 64 seeds with 4096 streams of one point each:
// about 1 when streams are independent; sigma is sqrt(2 / 64) = 0.18. Streams that repeat each
// other scatter more, streams that are spread by a rule scatter less.
template <class Source>
void check_scatter() {
    const int batches = 64, streams = 4096;
    const double p = std::atan(1.0);
    double chi2 = 0;
    for (int batch = 0; batch < batches; ++batch) {
        const Points points = Source(kSeed + batch, 0, streams, 256).next(1);
        double hits = 0;
        for (size_t i = 0; i < points.size(); i += 2)
            hits += points[i] * points[i] + points[i + 1] * points[i + 1] < 1;
        chi2 += (hits - streams * p) * (hits - streams * p) / (streams * p * (1 - p));
    }
    check_within("chi2 / 64 of 64 estimates",
                 chi2 / batches,
                 0.55,
                 1.6,
                 "estimates of pi scatter more than chance does: streams repeat each other",
                 "estimates of pi scatter less than chance does: streams are spread by a rule");
}

template <class Source>
void check_shapes() {
    const int streams = 1000, points = 3;
    const Points want = Source(kSeed, 0, streams, 256).next(points);
    const Rows rows = rows_of(want, streams);
    check_range(rows);
    for (const int threads : {32, 250, 1000, 1024})
        CHECK_ARRAYS(Source(kSeed, 0, streams, threads).next(points), want);
    const Points tail = Source(kSeed, 300, streams - 300, 256).next(points);
    const bool same_streams = rows_of(tail, streams - 300) == Rows(rows.begin() + 300, rows.end());
    INFO("streams 300 to 999 have other draws when a launch begins with stream 300 than when it "
         "begins with stream 0");
    CHECK(same_streams);
}

template <class Source>
void check_continues() {
    const int streams = 300;
    const Points whole = Source(kSeed, 0, streams, 256).next(10);
    check_range(rows_of(whole, streams));
    Source source(kSeed, 0, streams, 256);
    Points parts = source.next(1);
    for (const int points : {3, 0, 2, 4}) parts = joined(parts, source.next(points));
    const auto repeated = [&] {
        Points all;
        for (const int points : {1, 3, 0, 2, 4})
            all.insert(all.end(), whole.begin(), whole.begin() + whole.size() / 10 * points);
        return all;
    };
    wb::recognize<Points::value_type>(
        parts,
        whole,
        {{"each launch draws what the first one drew: where it stopped is not saved", repeated}});
    INFO("five launches, of 1, 3, 0, 2 and 4 points, against one launch of 10");
    CHECK_ARRAYS(parts, whole);
}

}  // namespace

TEST_CASE("task 4: draws the right points", "[task4]") {
    const int streams = GENERATE(1, 31, 33, 250, 1000);
    const uint64_t start = GENERATE(0, 1, 2, 3, 5);
    const uint64_t first = 1000;
    CAPTURE(streams, start);
    Points want;
    for (int k = 0; k < 5; ++k)
        for (int s = 0; s < streams; ++s)
            for (int j = 0; j < 2; ++j)
                want.push_back(reference_draw(kSeed, first + s, start + 2 * k + j));
    PhiloxPoints source(kSeed, first, streams, 256, start);
    const Points got = source.next(5);
    CHECK_ARRAYS(got, want);
    const auto by = [&](auto&& draw) {  // draw(s, k, j): x or y of point k of stream s
        return [&, draw] {
            Points out;
            for (int k = 0; k < 5; ++k)
                for (int s = 0; s < streams; ++s)
                    for (int j = 0; j < 2; ++j) out.push_back(draw(s, k, j));
            return out;
        };
    };
    wb::recognize<float>(
        got,
        want,
        {{"first_stream is left out",
          by([&](int s, int k, int j) { return reference_draw(kSeed, s, start + 2 * k + j); })},
         {"the points of one stream lie side by side: those of all streams should, point by point",
          by([&](int s, int k, int j) {
              const int at = k * streams + s;
              return reference_draw(kSeed, first + at / 5, start + at % 5 * 2 + j);
          })},
         {"each launch begins at position 0, whatever the saved one is",
          by([&](int s, int k, int j) { return reference_draw(kSeed, first + s, 2 * k + j); })},
         {"a launch begins with the first word of its block: where in the block is the position?",
          by([&](int s, int k, int j) {
              return reference_draw(kSeed, first + s, start / 4 * 4 + 2 * k + j);
          })},
         {"the rest of the block in use is discarded: each launch begins with a new one",
          by([&](int s, int k, int j) {
              return reference_draw(kSeed, first + s, (start + 3) / 4 * 4 + 2 * k + j);
          })},
         {"a point is one block, of which two words are lost", by([&](int s, int k, int j) {
              return reference_draw(kSeed, first + s, start / 4 * 4 + 4 * k + j);
          })},
         {"the next block is made a draw too late: its first word is taken from the old one",
          by([&](int s, int k, int j) {
              const uint64_t at = start + 2 * k + j;
              const uint64_t index = (at == start ? at : at - 1) / 4;
              return reference_draw(kSeed, first + s, 4 * index + at % 4);
          })},
         {"the block in use is never replaced by the next one", by([&](int s, int k, int j) {
              return reference_draw(kSeed, first + s, start / 4 * 4 + (start + 2 * k + j) % 4);
          })}});
    source.check_moved(start, 10);
}

TEST_CASE("task 4: works where 32 bits end", "[task4]") {
    // Streams that cross 2^32, and positions whose block number or own value crosses 2^31 or 2^32.
    const uint64_t start =
        GENERATE((1ull << 31) - 3, (1ull << 32) - 3, (1ull << 34) - 3, (1ull << 63) - 3, 0 - 3ull);
    const uint64_t first =
        GENERATE(as<uint64_t>{}, 0, (1ull << 31) - 20, (1ull << 32) - 20, 1ull << 60, 0 - 20ull);
    const int streams = 40;
    CAPTURE(start, first);
    Points want;
    for (int k = 0; k < 4; ++k)
        for (int s = 0; s < streams; ++s)
            for (int j = 0; j < 2; ++j)
                want.push_back(reference_draw(~kSeed, first + s, start + 2 * k + j));
    PhiloxPoints source(~kSeed, first, streams, 32, start);
    CHECK_ARRAYS(source.next(4), want);
    source.check_moved(start, 8);
}

TEST_CASE("task 4: streams may be at different positions", "[task4]") {
    const int streams = 100, points = 3;
    std::vector<uint64_t> positions;
    for (int s = 0; s < streams; ++s) positions.push_back(wb::splitmix64(s) % 100);
    wb::DeviceBuffer<uint64_t> d_positions(positions);
    wb::DeviceBuffer<float2> d_points(streams * points);
    draw_points(9, 0, d_positions.get(), d_points.get(), streams, points, 64);
    Points want(streams * points * 2);
    for (int i = 0; i < streams * points * 2; ++i) {
        const int s = i / 2 % streams;
        want[i] = reference_draw(9, s, positions[s] + i / 2 / streams * 2 + i % 2);
    }
    CHECK_ARRAYS(flat(d_points.download()), want);
}

TEST_CASE("task 4: draws the words 0 and 0xFFFFFFFF like any other", "[task4]") {
    for (const uint64_t seed : {kSeedOfZero, kSeedOfOnes}) {
        CAPTURE(seed);
        PhiloxPoints source(seed, 0, 1, 32);
        Points want;
        for (uint64_t k = 0; k < 8; ++k) want.push_back(reference_draw(seed, 0, k));
        CHECK_ARRAYS(source.next(4), want);
        source.check_moved(0, 8);
    }
}

TEST_CASE("task 4: changes nothing for no streams or no points", "[task4]") {
    PhiloxPoints source(kSeed, 0, 40, 32, 7);
    source.next(0);
    source.check_moved(7, 0);
    draw_points(kSeed, 0, source.d_positions.get(), nullptr, 0, 3, 32);
    curand_start(kSeed, 0, nullptr, 0, 32);
    curand_points(nullptr, nullptr, 0, 3, 32);
    CUDA_CHECK(cudaGetLastError());
    source.check_moved(7, 0);
    source.next(2);
    source.check_moved(7, 4);
}

TEST_CASE("task 4: a second launch continues where the first stopped", "[task4]") {
    check_continues<PhiloxPoints>();
}

TEST_CASE("task 4: the points do not depend on the block size", "[task4]") {
    check_shapes<PhiloxPoints>();
}

TEST_CASE("task 4: 64 batches scatter as chance does", "[task4]") {
    check_scatter<PhiloxPoints>();
}

TEST_CASE("task 5: cuRAND's streams are the sequences of one seed", "[task5]") {
    // cuRAND's Philox has seed, sequence and offset in the places of seed, stream and position.
    // A draw is (word + 1/2) / 2^32, rounded to a float.
    const int streams = 100, points = 3;
    const uint64_t first = GENERATE(as<uint64_t>{}, 0, 1000, 1ull << 40);
    CAPTURE(first);
    const auto by = [&](auto&& word) {  // word(stream in the launch, draw)
        return [&, word] {
            Points out;
            for (int i = 0; i < 2 * points * streams; ++i) {
                const uint64_t s = i / 2 % streams, k = i / 2 / streams * 2 + i % 2;
                out.push_back(float((double(word(s, k)) + 0.5) * 0x1p-32));
            }
            return out;
        };
    };
    const auto near = [](size_t) { return 0x1p-23; };
    const Points got = CurandPoints(kSeed, first, streams, 64).next(points);
    const Points want =
        by([&](uint64_t s, uint64_t k) { return reference_word(kSeed, first + s, k); })();
    CHECK_ARRAYS(got, want, near, "draw");
    wb::recognize<float>(
        got,
        want,
        {{"seed and sequence are swapped",
          by([&](uint64_t s, uint64_t k) { return reference_word(first + s, kSeed, k); })},
         {"all threads have sequence 0: their streams are one",
          by([&](uint64_t, uint64_t k) { return reference_word(kSeed, 0, k); })},
         {"the number of the stream is the offset: all of them are parts of sequence 0",
          by([&](uint64_t s, uint64_t k) { return reference_word(kSeed, 0, first + s + k); })},
         {"the number of the stream is added to the seed",
          by([&](uint64_t s, uint64_t k) { return reference_word(kSeed + first + s, 0, k); })},
         {"the number of the stream is the seed",
          by([&](uint64_t s, uint64_t k) { return reference_word(first + s, 0, k); })},
         {"the number of the thread in its block is the sequence",
          by([&](uint64_t s, uint64_t k) { return reference_word(kSeed, first + s % 64, k); })},
         {"first_stream is left out",
          by([&](uint64_t s, uint64_t k) { return reference_word(kSeed, s, k); })}},
        near);
}

TEST_CASE("task 5: cuRAND's draws of the words 0 and 0xFFFFFFFF are in (0, 1]", "[task5]") {
    for (const uint64_t seed : {kSeedOfZero, kSeedOfOnes}) {
        CAPTURE(seed);
        Points want;
        for (uint64_t k = 0; k < 8; ++k)
            want.push_back(float((double(reference_word(seed, 0, k)) + 0.5) * 0x1p-32));
        CHECK_ARRAYS(
            CurandPoints(seed, 0, 1, 32).next(4), want, [](size_t) { return 0x1p-23; }, "draw");
    }
}

TEST_CASE("task 5: cuRAND's streams are independent", "[task5]") {
    const int streams = 400;
    std::vector<Rows> seeds;
    for (const uint64_t seed : {kSeed, kSeed + 1}) {
        CurandPoints source(seed, 0, streams, 256);
        const Points early = source.next(32);
        seeds.push_back(rows_of(joined(early, source.next(32)), streams));
    }
    check_independent(seeds);
}

TEST_CASE("task 5: cuRAND uses all 64 bits of seed and stream", "[task5]") {
    std::vector<Rows> seeds;
    for (const uint64_t seed : {uint64_t(1), uint64_t(1) << 32 | 1})
        for (const uint64_t first : {uint64_t(0), uint64_t(1) << 31, uint64_t(1) << 32})
            seeds.push_back(rows_of(CurandPoints(seed, first, 50, 64).next(8), 50));
    check_independent(seeds);
}

TEST_CASE("task 5: cuRAND's second launch continues where the first stopped", "[task5]") {
    check_continues<CurandPoints>();
}

TEST_CASE("task 5: cuRAND's points do not depend on the block size", "[task5]") {
    check_shapes<CurandPoints>();
}

TEST_CASE("task 5: cuRAND's 64 batches scatter as chance does", "[task5]") {
    check_scatter<CurandPoints>();
}

TEST_CASE("efficient: a fill stores each draw once, 32 neighbours in 4 sectors",
          "[efficient][task1][task2][task3]") {
    const int streams = 100, draws = 1000;
    const uint64_t n = uint64_t(streams) * draws;
    wb::DeviceBuffer<float> d_out(n);
    const auto counters = wb::count([&] { fill(kSeed, d_out.get(), streams, draws, 40, 256); });
    NEED_COUNTERS(counters);
    CHECK(counters->launches == 1);
    CHECK(counters->global_store_bytes == 4 * n);
    CHECK(counters->global_store_sectors <= n / 8 + n / 80);
    CHECK(counters->global_load_bytes == 0);
    CHECK(counters->host_to_device_bytes == 0);
    // 400 to 1,900 instructions for a warp's ten rounds of 32 draws. One warp that fills the matrix
    // executes 110,000 and more.
    wb::check_shared_work(*counters, 40 * 256, 12, 10000);
}

TEST_CASE("efficient: a point costs one philox at most", "[efficient][task1][task2][task4]") {
    const uint64_t streams = 1024, points = 100;
    wb::DeviceBuffer<uint64_t> d_positions(std::vector<uint64_t>(streams, 0));
    wb::DeviceBuffer<float2> d_points(streams * points);
    const auto counters = wb::count([&] {
        draw_points(kSeed, 0, d_positions.get(), d_points.get(), int(streams), int(points), 256);
    });
    NEED_COUNTERS(counters);
    CHECK(counters->launches == 1);
    CHECK(counters->global_load_bytes <= 8 * streams);
    CHECK(counters->global_store_bytes == 8 * streams + 8 * streams * points);
    CHECK(counters->global_store_sectors <= (streams + streams * points) / 4 * 11 / 10);
    CHECK(counters->local_load_requests == 0);
    CHECK(counters->thread_instructions <= 160 * streams * points);
    // 9,000 to 13,000 instructions for a warp with 32 streams. One warp with all 1,024 executes
    // 270,000 and more.
    wb::check_shared_work(*counters, streams, 24, 50000);
    CHECK(counters->host_to_device_bytes == 0);
}

TEST_CASE("efficient: cuRAND's state is loaded and stored once a launch", "[efficient][task5]") {
    const uint64_t streams = 1024, points = 100;
    CurandPoints source(kSeed, 0, int(streams), 256);
    wb::DeviceBuffer<float2> d_points(streams * points);
    const auto counters = wb::count(
        [&] { curand_points(source.states(), d_points.get(), int(streams), int(points), 256); });
    NEED_COUNTERS(counters);
    CHECK(counters->launches == 1);
    CHECK(counters->global_load_bytes <= kCurandStateBytes * streams);
    CHECK(counters->global_store_bytes <= kCurandStateBytes * streams + 8 * streams * points);
    // 6,000 to 8,000 instructions for a warp with 32 streams, 200,000 and more for one with all.
    wb::check_shared_work(*counters, streams, 12, 50000);
    CHECK(counters->local_load_requests == 0);
    CHECK(counters->host_to_device_bytes == 0);
}
