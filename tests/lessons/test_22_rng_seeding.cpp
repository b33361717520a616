// SPDX-License-Identifier: MIT
// Lesson 22: the right words, and streams that are independent of each other.
//
// Tolerance: words and fractions are compared exactly. Statistics are bounded at 5 sigma, with the
// formula of sigma beside each; the seeds are fixed, so a run never depends on luck. The value of
// pi is not tested, since streams that are all alike give it too. The scatter of estimates is.
#include <array>
#include <set>
#include <unordered_set>

#include "lesson_test.h"
#include "philox_reference.h"
#include "rng_seeding.h"
#include "shared_work.h"

namespace {

constexpr size_t kGuard = 1024;  // elements on each side of every array, on a real GPU
constexpr uint64_t kSeed = 0x0123456789ABCDEFull;

// Stream 0 of these seeds has the word 0 and the word 0xFFFFFFFF at these positions.
constexpr uint64_t kSeedOfZero = 1343428, kPositionOfZero = 3;
constexpr uint64_t kSeedOfOnes = 454088803, kPositionOfOnes = 1;

uint32_t reference_word(uint64_t seed, uint64_t stream, uint64_t position) {
    const uint64_t index = position / 4;
    return wb::philox_reference(
        {uint32_t(index), uint32_t(index >> 32), uint32_t(stream), uint32_t(stream >> 32)},
        uint32_t(seed),
        uint32_t(seed >> 32))[position % 4];
}

float reference_draw(uint64_t seed, uint64_t stream, uint64_t position) {
    return float(reference_word(seed, stream, position) >> 8) / 16777216.0f;
}

// Whether philox gives the right words; if not, the grader gets the slip that explains them.
bool right_words(const wb::PhiloxWords& c, uint32_t k0, uint32_t k1, const wb::PhiloxWords& want) {
    const uint4 got = philox({c[0], c[1], c[2], c[3]}, {k0, k1});
    std::vector<wb::Mistake<uint32_t>> mistakes;
    for (const auto& [slip, words] : wb::kPhiloxSlips)
        mistakes.push_back({words, [&, slip = slip] {
                                const auto w = wb::philox_reference(c, k0, k1, slip);
                                return std::vector<uint32_t>(w.begin(), w.end());
                            }});
    wb::recognize<uint32_t>(
        {got.x, got.y, got.z, got.w}, {want[0], want[1], want[2], want[3]}, mistakes);
    UNSCOPED_INFO(std::hex << "got  " << got.x << " " << got.y << " " << got.z << " " << got.w);
    UNSCOPED_INFO(std::hex << "want " << want[0] << " " << want[1] << " " << want[2] << " "
                           << want[3]);
    return std::array<uint32_t, 4>{got.x, got.y, got.z, got.w} == want;
}

// Draws of several streams, one row each.
using Rows = std::vector<std::vector<float>>;

// Points in the device's order, as floats: x, y of point 0 of all streams, then point 1 ...
using Points = std::vector<float>;

Points flat(const std::vector<float2>& points) {
    Points out;
    for (const float2 point : points) out.insert(out.end(), {point.x, point.y});
    return out;
}

Rows rows_of(const Points& points, int streams) {
    Rows rows(streams);
    for (size_t i = 0; i < points.size(); ++i) rows[i / 2 % streams].push_back(points[i]);
    return rows;
}

Points joined(Points first, const Points& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

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
        if (draws > 0 && moved == by(0)()) {
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

// --- The battery ------------------------------------------------------------------------------

// Checks that low <= value <= high, which a NaN is not. `below` and `above` say what is wrong with
// the streams otherwise.
void check_within(const char* what, double value, double low, double high, const char* above,
                  const char* below) {
    const bool within = value >= low && value <= high;
    INFO((value > high ? above : below)
         << ": " << what << " is " << value << ", and chance allows " << low << " to " << high);
    CHECK(within);
}
void check_within(const char* what, double value, double low, double high, const char* wrong) {
    check_within(what, value, low, high, wrong, wrong);
}

void check_word(uint64_t seed, uint64_t stream, uint64_t position, uint32_t want) {
    const uint32_t got = random_word(seed, stream, position);
    const bool right = got == want;
    INFO(std::hex << "random_word(0x" << seed << ", 0x" << stream << ", 0x" << position
                  << "): got 0x" << got << ", want 0x" << want);
    CHECK(right);
}

void check_range(const Rows& rows) {
    size_t outside = 0, count = 0;
    for (const auto& row : rows) {
        count += row.size();
        for (const float draw : row) outside += !(draw >= 0 && draw <= 1);
    }
    const bool all_inside = outside == 0;
    INFO(outside << " of " << count << " draws were never written, or are outside [0, 1]");
    REQUIRE(all_inside);
}

// Whether all draws together are uniform: mean, variance, and chi2 of 100 bins.
void check_uniform(const Rows& rows) {
    std::vector<double> bins(100);
    double count = 0, sum = 0, squares = 0;
    for (const auto& row : rows) {
        for (const float draw : row) {
            ++count;
            sum += draw;
            squares += (draw - 0.5) * (draw - 0.5);
            ++bins[std::min(99, int(draw * 100))];
        }
    }
    const double mean_sigma = std::sqrt(1 / (12 * count));
    check_within("the mean of all",
                 sum / count,
                 0.5 - 5 * mean_sigma,
                 0.5 + 5 * mean_sigma,
                 "the draws are too large",
                 "the draws are too small");
    const double variance = 1 / 12.0, sigma = std::sqrt(1 / (180 * count));
    check_within("the variance of all",
                 squares / count,
                 variance - 5 * sigma,
                 variance + 5 * sigma,
                 "too many draws are near 0 and 1",
                 "too many draws are near 1/2");
    double chi2 = 0;  // 99 degrees of freedom: mean 99, sigma sqrt(2 * 99)
    for (const double bin : bins) chi2 += (bin - count / 100) * (bin - count / 100) / (count / 100);
    const double chi2_sigma = std::sqrt(2 * 99.0);
    check_within("chi2 of 100 bins",
                 chi2,
                 99 - 5 * chi2_sigma,
                 99 + 5 * chi2_sigma,
                 "the draws are not uniform: some ranges of [0, 1) have too many, others too few",
                 "the draws fill [0, 1) more evenly than chance does: they follow a pattern");
}

// Whether draw k of a stream is related to draw k of the next stream.
void check_neighbours(const Rows& rows) {
    const size_t length = rows[0].size(), pairs = rows.size() - 1;
    size_t fewest = pairs;
    for (size_t k = 0; k < length; ++k) {
        std::set<float> differences;  // modulo 1
        for (size_t s = 1; s < rows.size(); ++s) {
            const float difference = rows[s][k] - rows[s - 1][k];
            differences.insert(difference < 0 ? difference + 1 : difference);
        }
        fewest = std::min(fewest, differences.size());
    }
    check_within("the number of distinct differences between neighbours at one draw",
                 double(fewest),
                 0.9 * double(pairs),
                 double(pairs),
                 "neighbouring streams differ by the same few constants");
    double all = 0, worst = 0;  // 12 times a product of deviations has mean 0 and sigma 1
    for (size_t s = 1; s < rows.size(); ++s) {
        double sum = 0;
        for (size_t k = 0; k < length; ++k) sum += 12 * (rows[s][k] - 0.5) * (rows[s - 1][k] - 0.5);
        worst = std::max(worst, std::fabs(sum / double(length)));
        all += sum;
    }
    const double count = double(pairs * length), bound = 5 / std::sqrt(count);
    check_within("the correlation of the worst pair",
                 worst,
                 0,
                 5 / std::sqrt(double(length)),
                 "two neighbouring streams are related");
    check_within("the correlation of all pairs",
                 all / count,
                 -bound,
                 bound,
                 "neighbouring streams are related: their draws rise and fall together",
                 "neighbouring streams are related: where one has large draws, the other has small "
                 "ones");
}

// Whether two successive draws of a stream are equal or related.
void check_successive(const Rows& rows) {
    double equal = 0, sum = 0, count = 0;
    for (const auto& row : rows) {
        for (size_t k = 0; k + 1 < row.size(); ++k, ++count) {
            equal += row[k] == row[k + 1];  // 24 bits: by chance once in 16 million
            sum += 12 * (row[k] - 0.5) * (row[k + 1] - 0.5);
        }
    }
    check_within("the number of draws that equal the one before",
                 equal,
                 0,
                 1,
                 "a stream gives the same draw twice in a row");
    const double bound = 5 / std::sqrt(count);
    check_within("the correlation of successive draws",
                 sum / count,
                 -bound,
                 bound,
                 "a draw is related to the one before it");
}

// Counts runs of three draws (72 bits: a chance of 1e-12 in all) that have occurred before.
size_t repeats(const std::vector<Rows>& seeds) {
    std::unordered_set<uint64_t> seen;
    size_t again = 0;
    for (const Rows& rows : seeds) {
        for (const auto& row : rows) {
            for (size_t k = 0; k + 2 < row.size(); ++k) {
                uint64_t hash = 0;
                for (size_t j = k; j < k + 3; ++j)
                    hash = wb::splitmix64(hash ^ uint64_t(row[j] * 16777216.0f));
                again += !seen.insert(hash).second;
            }
        }
    }
    return again;
}

// All of the above, the most telling first. `seeds` holds the streams of each of several seeds.
void check_independent(const std::vector<Rows>& seeds) {
    for (const Rows& rows : seeds) check_range(rows);
    check_within("the number of runs of three draws that occur again, in any stream or seed",
                 double(repeats(seeds)),
                 0,
                 0,
                 "streams overlap: the same draws occur in two places");
    for (const Rows& rows : seeds) {
        check_neighbours(rows);
        check_successive(rows);
    }
    for (const Rows& rows : seeds) check_uniform(rows);
}

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

TEST_CASE("task 1: philox gives the published answers", "[task1]") {
    CHECK(right_words({0, 0, 0, 0}, 0, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
    CHECK(right_words(
        {~0u, ~0u, ~0u, ~0u}, ~0u, ~0u, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
    CHECK(right_words({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                      0xa4093822,
                      0x299f31d0,
                      {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST_CASE("task 1: philox is right for any counter and key", "[task1]") {
    for (uint64_t i = 0; i < 1000; ++i) {
        uint32_t r[6];
        for (int j = 0; j < 6; ++j) r[j] = uint32_t(wb::splitmix64(6 * i + j));
        CAPTURE(i);
        const wb::PhiloxWords counter{r[0], r[1], r[2], r[3]};
        REQUIRE(right_words(counter, r[4], r[5], wb::philox_reference(counter, r[4], r[5])));
    }
}

TEST_CASE("task 2: finds the word at a position", "[task2]") {
    check_word(0, 0, 0, 0x6627e8d5);
    check_word(0, 0, 1, 0xe169c58d);
    check_word(0, 0, 3, 0x9b00dbd8);
    std::vector<uint32_t> got, want;
    for (uint64_t position = 0; position < 40; ++position) {
        got.push_back(random_word(kSeed, 7, position));
        want.push_back(reference_word(kSeed, 7, position));
    }
    const auto words_by = [](auto&& word) {
        std::vector<uint32_t> out;
        for (uint64_t position = 0; position < 40; ++position) out.push_back(word(position));
        return out;
    };
    wb::recognize<uint32_t>(
        got,
        want,
        {{"each position has a block of its own: four words share one",
          [&] {
              return words_by([](uint64_t position) {
                  return reference_word(kSeed, 7, 4 * position + position % 4);
              });
          }},
         {"all positions of a block give the same word",
          [&] { return words_by([](uint64_t p) { return reference_word(kSeed, 7, p / 4 * 4); }); }},
         {"the words of a block come in the opposite order",
          [&] {
              return words_by(
                  [](uint64_t p) { return reference_word(kSeed, 7, p / 4 * 4 + 3 - p % 4); });
          }},
         {"stream and position are swapped in the counter",
          [&] {
              return words_by([](uint64_t p) {
                  return wb::philox_reference(
                      {7, 0, uint32_t(p / 4), 0}, uint32_t(kSeed), uint32_t(kSeed >> 32))[p % 4];
              });
          }},
         {"the stream is added to the seed",
          [&] { return words_by([](uint64_t p) { return reference_word(kSeed + 7, 7, p); }); }},
         {"the stream is added to the seed",
          [&] { return words_by([](uint64_t p) { return reference_word(kSeed + 7, 0, p); }); }},
         {"the stream is left out of the counter",
          [&] { return words_by([](uint64_t p) { return reference_word(kSeed, 0, p); }); }},
         {"the halves of the seed are swapped", [&] {
              return words_by(
                  [](uint64_t p) { return reference_word(kSeed << 32 | kSeed >> 32, 7, p); });
          }}});
    for (uint64_t position = 0; position < 40; ++position)
        check_word(kSeed, 7, position, reference_word(kSeed, 7, position));
}

TEST_CASE("task 2: uses all 64 bits of seed, stream and position", "[task2]") {
    const uint64_t value =
        GENERATE(as<uint64_t>{}, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x100000000, 1ull << 63);
    const auto check_against_reference = [](uint64_t seed, uint64_t stream, uint64_t position) {
        check_word(seed, stream, position, reference_word(seed, stream, position));
    };
    check_against_reference(value, 2, 3);
    check_against_reference(1, value, 3);
    for (const uint64_t position : {value, 4 * value, 4 * value - 1})
        check_against_reference(1, 2, position);
    check_against_reference(~value, ~value, ~value);
    // Which half of an argument is lost, where one is.
    std::vector<std::array<uint64_t, 3>> asked;
    for (const uint64_t v : {value, ~value})
        for (const auto& arguments :
             {std::array<uint64_t, 3>{v, 2, 3}, {1, v, 3}, {1, 2, v}, {v, v, v}})
            asked.push_back(arguments);
    const auto words = [&](auto&& word) {
        std::vector<uint32_t> out;
        for (const auto& [seed, stream, position] : asked)
            out.push_back(word(seed, stream, position));
        return out;
    };
    const auto low = [](uint64_t v) { return v & 0xFFFFFFFF; };
    wb::recognize<uint32_t>(
        words(random_word),
        words(reference_word),
        {{"the upper half of the seed is lost",
          [&] {
              return words([&](uint64_t seed, uint64_t stream, uint64_t position) {
                  return reference_word(low(seed), stream, position);
              });
          }},
         {"the upper half of the stream's number is lost",
          [&] {
              return words([&](uint64_t seed, uint64_t stream, uint64_t position) {
                  return reference_word(seed, low(stream), position);
              });
          }},
         {"the upper half of the position is lost: it is cut to 32 bits before the division",
          [&] {
              return words([&](uint64_t seed, uint64_t stream, uint64_t position) {
                  return reference_word(seed, stream, low(position));
              });
          }},
         {"the upper half of the block's number is lost", [&] {
              return words([&](uint64_t seed, uint64_t stream, uint64_t position) {
                  return reference_word(seed, stream, low(position / 4) * 4 + position % 4);
              });
          }}});
}

TEST_CASE("task 2: finds the words 0 and 0xFFFFFFFF", "[task2]") {
    check_word(kSeedOfZero, 0, kPositionOfZero, 0);
    check_word(kSeedOfOnes, 0, kPositionOfOnes, 0xFFFFFFFFu);
    for (uint64_t k = 0; k < 4; ++k)
        check_word(kSeedOfOnes, 0, k, reference_word(kSeedOfOnes, 0, k));
}

TEST_CASE("task 3: the words 0 and 0xFFFFFFFF are fractions in [0, 1)", "[task3]") {
    for (const uint64_t seed : {kSeedOfZero, kSeedOfOnes}) {
        CAPTURE(seed);
        wb::GuardedBuffer<float> d_out(4, wb::guard(kGuard));
        fill(seed, d_out.get(), 1, 4, 1, 32);
        CUDA_CHECK(cudaGetLastError());
        std::vector<float> want;
        for (uint64_t k = 0; k < 4; ++k) want.push_back(reference_draw(seed, 0, k));
        CHECK_ARRAYS(d_out.download(), want);
    }
}

TEST_CASE("task 3: fills a matrix on any grid", "[task3]") {
    const auto [streams, draws] = GENERATE(
        table<int, int>({{1, 1}, {1, 1000}, {1000, 1}, {3, 7}, {33, 31}, {10, 64}, {257, 40}}));
    std::vector<float> want;
    for (int s = 0; s < streams; ++s)
        for (int k = 0; k < draws; ++k) want.push_back(reference_draw(kSeed, s, k));
    for (const auto& [blocks, threads] :
         {std::pair(1, 1), {1, 32}, {4, 250}, {20, 256}, {64, 1024}}) {
        if (blocks * threads == 1 && want.size() > 1000) continue;
        CAPTURE(streams, draws, blocks, threads);
        wb::GuardedBuffer<float> d_out(want.size(), wb::guard(kGuard));
        fill(kSeed, d_out.get(), streams, draws, blocks, threads);
        CUDA_CHECK(cudaGetLastError());
        const auto got = d_out.download();
        CHECK_MATRIX(draws, got, want);
        const auto by = [&, streams = streams, draws = draws](auto&& draw) {
            return [=] {
                std::vector<float> out;
                for (int s = 0; s < streams; ++s)
                    for (int k = 0; k < draws; ++k) out.push_back(draw(s, k));
                return out;
            };
        };
        if (streams > 1)
            wb::recognize<float>(
                got,
                want,
                {{"the number of the row is added to the seed: row 1 of this seed is row 0 of the "
                  "next one",
                  by([](int s, int k) { return reference_draw(kSeed + s, 0, k); })},
                 {"the number of the row is added to the seed: row 1 of this seed is row 0 of the "
                  "next one",
                  by([](int s, int k) { return reference_draw(kSeed + s, s, k); })},
                 {"the number of the row is added to the position: each row is the one before, "
                  "shifted by one",
                  by([](int s, int k) { return reference_draw(kSeed, 0, s + k); })},
                 {"all rows hold the same stream",
                  by([](int, int k) { return reference_draw(kSeed, 0, k); })}});
        CHECK(d_out.intact());
    }
}

TEST_CASE("task 3: writes 10,000 rows with 10,240 threads", "[task3]") {
    const int streams = 10000, draws = 9;
    std::vector<float> want;
    for (int s = 0; s < streams; ++s)
        for (int k = 0; k < draws; ++k) want.push_back(reference_draw(5, s, k));
    wb::GuardedBuffer<float> d_out(want.size(), wb::guard(300 * draws));
    fill(5, d_out.get(), streams, draws, 40, 256);
    CUDA_CHECK(cudaGetLastError());
    CHECK_ARRAYS(d_out.download(), want);
    CHECK(d_out.intact());
}

TEST_CASE("task 3: the rows are independent", "[task3]") {
    const int streams = 400, draws = 128;
    std::vector<Rows> seeds;
    for (const uint64_t seed : {kSeed, kSeed + 1}) {
        wb::DeviceBuffer<float> d_out(streams * draws);
        fill(seed, d_out.get(), streams, draws, 40, 256);
        const std::vector<float> out = d_out.download();
        Rows rows;
        for (int s = 0; s < streams; ++s)
            rows.emplace_back(out.begin() + s * draws, out.begin() + (s + 1) * draws);
        seeds.push_back(rows);
    }
    check_independent(seeds);
}

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
