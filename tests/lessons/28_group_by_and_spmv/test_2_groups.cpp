// SPDX-License-Identifier: MIT
// Lesson 28, groups: the sums of runs of equal keys, also of runs that span many tiles.
#include "checks.h"

namespace {

constexpr int kMillion = (1 << 20) + 1;  // one tile more than the scan takes in a round

void check_sums(const Ints& keys, uint64_t seed, bool whole = false) {
    const int n = int(keys.size());
    CAPTURE(n);
    const Ints begins = begins_of(keys);
    const int groups = int(begins.size()) - 1;
    int longest = 0;
    for (int g = 0; whole && g < groups; ++g)
        longest = std::max(longest, begins[g + 1] - begins[g]);
    DeviceTable table(n, seed, longest, groups);
    wb::GuardedBuffer<int> d_key(keys, wb::guard(kGuard)), d_group_key(groups, wb::guard(kGuard));
    Scratch scratch(n);
    const int got =
        sum_by_key(d_key.get(), table.input(), n, d_group_key.get(), table.output(), scratch.get());
    CUDA_CHECK(cudaGetLastError());
    CHECK_ARRAYS(Ints{got}, Ints{groups}, exact, "the returned number");
    Ints want_keys(groups);
    for (int g = 0; g < groups; ++g) want_keys[g] = keys[begins[g]];
    const Ints got_keys = d_group_key.download();
    CHECK_ARRAYS(got_keys, want_keys, exact, "key of group");
    wb::recognize<int>(got_keys, want_keys, {{"the number of the group, not its key", [&] {
                                                  Ints out(groups);
                                                  std::iota(out.begin(), out.end(), 0);
                                                  return out;
                                              }}});
    for (int c = 0; c < kColumns; ++c) {
        const Floats& x = table.host[c];
        const auto begin = [&](int g) { return begins[g]; };
        const auto end = [&](int g) { return begins[g + 1]; };
        const Floats want = sums_over(x, groups, begin, end), out = table.sums[c].download();
        const auto near = [&](size_t g) {
            if (whole) return 0.0;
            double magnitude = 0;
            for (int i = begins[g]; i < begins[g + 1]; ++i) magnitude += std::fabs(x[i]);
            return bound_of_sum(magnitude, begins[g + 1] - begins[g]);
        };
        const std::string what = "column " + std::to_string(c) + " of group";
        CHECK_ARRAYS(out, want, near, what.c_str());
        auto mistakes = mistakes_of_groups(keys, begins, x);
        if (c > 0)
            mistakes.push_back({"the sums of column 0: each column has its own",
                                [&] { return sums_over(table.host[0], groups, begin, end); }});
        wb::recognize<float>(out, want, mistakes, near);
        wb::check_unchanged(table.in[c].download(), x);
        CHECK(table.sums[c].intact());
    }
    wb::check_unchanged(d_key.download(), keys);
    CHECK(d_group_key.intact());
}

// If keys are not sorted, kNotSorted is returned and nothing is written.
void check_not_sorted(const Ints& keys) {
    const int n = int(keys.size());
    CAPTURE(n);
    DeviceTable table(n, 5, n, n);
    wb::GuardedBuffer<int> d_key(keys, wb::guard(kGuard)), d_group_key(n, wb::guard(kGuard));
    Scratch scratch(n);
    const int got =
        sum_by_key(d_key.get(), table.input(), n, d_group_key.get(), table.output(), scratch.get());
    CUDA_CHECK(cudaGetLastError());
    CHECK_ARRAYS(Ints{got}, Ints{kNotSorted}, exact, "the returned number");
    const Ints out = d_group_key.download();
    size_t written = std::count_if(out.begin(), out.end(), [](int key) { return key != -1; });
    for (int c = 0; c < kColumns; ++c)
        for (const float sum : table.sums[c].download()) written += !std::isnan(sum);
    INFO(written << " places of the output are written, though the keys are not sorted");
    const bool nothing_is_written = written == 0;
    CHECK(nothing_is_written);
}

}  // namespace

TEST_CASE("task 3: sums the groups of a tile", "[task3]") {
    for (const int n : kSizes) {
        check_sums(sorted_keys(n, 300 + n, 15), 301, true);
        check_sums(sorted_keys(n, 310 + n, 40), 311);
    }
}

TEST_CASE("task 3: groups that are longer than a round, or end where it ends", "[task3]") {
    check_sums(keys_of_lengths({32, 32, 64, 1, 31, 33, 95, 2}), 320, true);
    check_sums(keys_of_lengths({1, 200, 1, 300, 522}), 321, true);
    check_sums(keys_of_lengths({31, 1, 1, 31, 960}), 322, true);
}

TEST_CASE("task 3: keys that are all equal, all different, far apart or negative", "[task3]") {
    for (const int n : {1, 33, 1000, 1024}) {
        check_sums(Ints(n, 7), 330, true);
        check_sums(sorted_keys(n, 331, 100, 1), 332, true);
        check_sums(sorted_keys(n, 333, 10, 100000, -300000000), 334, true);
    }
    check_sums({INT_MIN, INT_MIN, -1, 0, INT_MAX, INT_MAX}, 335, true);
}

TEST_CASE("task 4: sums the groups of any number of rows", "[task4]") {
    for (const int n : kLargeSizes) {
        check_sums(sorted_keys(n, 400 + n, 15), 401, true);
        check_sums(sorted_keys(n, 410 + n, 1), 411);
    }
}

TEST_CASE("task 4: groups that go on over many tiles", "[task4]") {
    for (const int n : {1025, 5000, 33 * kTile, 70 * kTile + 5}) check_sums(Ints(n, 3), 420, true);
    check_sums(keys_of_lengths({500, 40 * kTile, 100, 31 * kTile, 33 * kTile, 9}), 421, true);
    check_sums(keys_of_lengths({32 * kTile, 65 * kTile, 1}), 422, true);
}

TEST_CASE("task 4: groups that begin or end where a tile does", "[task4]") {
    check_sums(keys_of_lengths({kTile, kTile, 2 * kTile, 1, kTile - 1, 3 * kTile}), 430, true);
    check_sums(keys_of_lengths({kTile - 1, 1, 1, kTile - 1, kTile + 1, kTile - 1}), 431, true);
    check_sums(keys_of_lengths({kTile + 1, 2 * kTile - 1, kTile, 2}), 432, true);
    check_sums(sorted_keys(5000, 433, 100, 1), 434, true);
}

TEST_CASE("task 4: sums a million rows whose keys have gaps", "[task4]") {
    check_sums(poisson_keys(kMillion, 440), 441);
}

TEST_CASE("task 4: small sums after large ones keep their digits", "[task4]") {
    const int n = 20000;
    const Ints keys = sorted_keys(n, 450, 10);
    const Ints begins = begins_of(keys);
    DeviceTable table(n, 451, 1000, int(begins.size()) - 1);
    for (int i = 0; i < begins[5]; ++i) table.host[0][i] = 1e9f;  // the first five groups
    table.in[0] = wb::GuardedBuffer<float>(table.host[0], wb::guard(kGuard));
    wb::DeviceBuffer<int> d_key(keys), d_group_key(begins.size() - 1);
    Scratch scratch(n);
    sum_by_key(d_key.get(), table.input(), n, d_group_key.get(), table.output(), scratch.get());
    Floats got = table.sums[0].download();
    Floats want = sums_over(
        table.host[0],
        int(got.size()),
        [&](int g) { return begins[g]; },
        [&](int g) { return begins[g + 1]; });
    got.erase(got.begin(), got.begin() + 5);
    want.erase(want.begin(), want.begin() + 5);
    CHECK_ARRAYS(got, want, exact, "after five groups of large values, group");

    // An infinity in the middle of a round changes only the sum of its own group.
    table.host[0][begins[9]] = std::numeric_limits<float>::infinity();
    table.in[0] = wb::GuardedBuffer<float>(table.host[0], wb::guard(kGuard));
    sum_by_key(d_key.get(), table.input(), n, d_group_key.get(), table.output(), scratch.get());
    got = table.sums[0].download();
    got.erase(got.begin(), got.begin() + 5);
    want[4] = std::numeric_limits<float>::infinity();
    CHECK_ARRAYS(got, want, exact, "after an infinity in group 4, group");
}

TEST_CASE("task 4: writes nothing where the keys are not sorted", "[task4]") {
    check_sums(sorted_keys(3000, 460, 20), 461, true);
    for (const int n : {2, 1000, 1024, 1025, 4000}) {
        Ints keys = sorted_keys(n, 462, 20);
        keys[n - 1] = keys[n - 2] - 1;
        check_not_sorted(keys);
    }
}

TEST_CASE("task 4: gives the same bits in every run", "[task4]") {
    const int n = 50000;
    const Ints keys = sorted_keys(n, 470, 1);
    const int groups = int(begins_of(keys).size()) - 1;
    wb::DeviceBuffer<int> d_key(keys), d_group_key(groups);
    std::vector<Ints> first;
    for (int run = 0; run < 3; ++run) {
        DeviceTable table(n, 471, 0, groups);
        Scratch scratch(n);
        sum_by_key(d_key.get(), table.input(), n, d_group_key.get(), table.output(), scratch.get());
        for (int c = 0; c < kColumns; ++c) {
            const Ints bits = bits_of(table.sums[c].download());
            if (run == 0) first.push_back(bits);
            CHECK_ARRAYS(bits, first[c], exact, "in another run, bits of group");
        }
    }
    check_sums(keys, 471);
}
