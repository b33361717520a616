// SPDX-License-Identifier: MIT
// Lesson 22, words and fractions: philox, the word at a position, and rows that are filled with
// draws.
//
// Tolerance: words and fractions are compared exactly.
#include "cases/philox_reference.h"
#include "checks.h"

#include <array>

namespace {

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

void check_word(uint64_t seed, uint64_t stream, uint64_t position, uint32_t want) {
    const uint32_t got = random_word(seed, stream, position);
    const bool right = got == want;
    INFO(std::hex << "random_word(0x" << seed << ", 0x" << stream << ", 0x" << position
                  << "): got 0x" << got << ", want 0x" << want);
    CHECK(right);
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
