// SPDX-License-Identifier: MIT
// Lesson 36: each rank has its rows of a regression, and all have the same weights to the last bit.
#include "checks.h"

namespace {

// Checks the rows of the matrix `name` that a rank has.
void check_rows(const char* name, const Doubles& all, const Doubles& got, int first, int rows,
                int columns) {
    const auto begin = all.begin() + size_t(first) * columns;
    const Doubles want(begin, begin + size_t(rows) * columns);
    INFO("d_" << name << " of this rank");
    CHECK_MATRIX(columns, got, want);
    wb::recognize<double>(
        got,
        want,
        {{"these are the first rows of all: every rank has got the same rows",
          [&] { return Doubles(all.begin(), all.begin() + got.size()); }},
         {"the rows begin too early: at the first row's number, not at its place in the "
          "matrix",
          [&] { return Doubles(all.begin() + first, all.begin() + first + got.size()); }}});
}

void check_start(int count, Shape shape, unsigned seed) {
    CAPTURE(count, shape.rows, shape.features, shape.outputs, seed);
    const Data data(shape, 60 + seed);
    const Ranks ranks(count);
    Pinned x(data.x), y(data.y);
    Shards shards(ranks, shape);
    const HostCommunicator communicator(ranks, 1);
    ranks.make_last_current();
    start(communicator, x.get(), y.get(), shape, seed, shards.get());
    int all = 0;
    for (int r = 0; r < count; ++r) all += std::max(shards[r].rows, 0);
    int first = 0;
    for (int r = 0; r < count; ++r) {
        CAPTURE(r);
        const int rows = shards[r].rows, fewest = shape.rows / count;
        {
            INFO("rank " << r << " has " << rows << " rows of " << shape.rows << ", want " << fewest
                         << (shape.rows % count ? " or one more" : ""));
            const bool fair_share = rows == fewest || (shape.rows % count && rows == fewest + 1);
            REQUIRE(fair_share);
        }
        {
            INFO("all ranks together have " << all << " rows, want " << shape.rows);
            const bool every_row_once = all == shape.rows;
            REQUIRE(every_row_once);
        }
        check_rows("x", data.x, shards.x(r), first, rows, shape.features);
        check_rows("y", data.y, shards.y(r), first, rows, shape.outputs);
        first += rows;
    }
    for (int r = 0; r < count; ++r) {
        CAPTURE(r);
        const Doubles got = shards.w(r), want = start_weights(shards.weights(), seed);
        CHECK_ARRAYS(got, want);
        wb::recognize<double>(got,
                              want,
                              {{"the start weights are those of another seed: the rank is part of "
                                "it, and each rank trains another model",
                                [&] { return start_weights(want.size(), seed + r); }}});
    }
}

// Checks the weights after `steps` steps, and returns whether they are right. Tolerance: each
// step's gradient is a mean of at most 1000 terms of magnitude below 100, each a sum of at most 33
// products: off by at most (1000 + 33) 2^-53 100 = 1.2e-11; after 20 steps of rate 0.2, by 4.6e-11.
bool check_weights(const Data& data, int count, double rate, int steps, const Doubles& before,
                   const Doubles& want, const std::vector<Doubles>& got) {
    CAPTURE(steps);
    const int rows = data.shape.rows;
    const auto tolerance = [](size_t) { return 4.6e-11; };
    const auto part = [&](int r) {
        const Slice own = standard_slice(rows, count, r);
        return data.gradient(before, own.first, own.count);
    };
    const auto moved = [&](const Doubles& gradient, double factor) {
        Doubles w = before;
        move(w, gradient, factor);
        return w;
    };
    const auto each_mean = [&](double share) {
        Doubles w = before;
        for (int r = 0; r < count; ++r) {
            const int own = standard_slice(rows, count, r).count;
            if (own) move(w, part(r), rate * share / own);
        }
        return w;
    };
    const auto own_rows = [&](int r) { return std::max(1, standard_slice(rows, count, r).count); };
    const std::string differs = disagreement(got, "weight");
    {
        INFO("after step " << steps << " " << differs << ": the ranks train different models");
        const bool same_weights_on_all_ranks = differs.empty();
        CHECK(same_weights_on_all_ranks);
    }
    bool right = differs.empty();
    for (int r = 0; r < count; ++r) {
        INFO("weights of rank " << r << " after step " << steps);
        if (differs.empty()) CHECK_ARRAYS(got[r], want, tolerance);
        right = right && wb::mismatch(got[r], want, tolerance).empty();
        wb::recognize<double>(
            got[r],
            want,
            {{"the weights are those of before: this rank has made no update",
              [&] { return before; }},
             {"the rank has used the gradient of its own rows only",
              [&] { return moved(part(r), rate / rows); }},
             {"the gradients of the rows are summed, not averaged",
              [&] { return moved(data.gradient(before, 0, rows), rate); }},
             {"the sum was divided by the number of ranks, not of rows",
              [&] { return moved(data.gradient(before, 0, rows), rate / count); }},
             {"each rank has divided by its own number of rows: rows of smaller slices count more, "
              "and the ranks are summed",
              [&] { return each_mean(1); }},
             {"each rank has divided by its own number of rows: the mean of means is the mean of "
              "all rows only if slices are equal",
              [&] { return each_mean(1.0 / count); }},
             {"the sum over the rows of all ranks is divided by the rank's own number of rows",
              [&] { return moved(data.gradient(before, 0, rows), rate / own_rows(r)); }},
             {"the sum over the rows of all ranks is divided by the rank's own number of rows, "
              "times "
              "the ranks: right only if slices are equal",
              [&] { return moved(data.gradient(before, 0, rows), rate / own_rows(r) / count); }},
             {"the gradients were combined several times, so they count several times",
              [&] { return moved(data.gradient(before, 0, rows), rate * count / rows); }},
             {"the weights move up the gradient, not down",
              [&] { return moved(data.gradient(before, 0, rows), -rate / rows); }}},
            tolerance);
        if (!right && differs.empty()) return false;
    }
    return right;
}

void check_training(int count, Shape shape, int steps, double rate = 0.05) {
    CAPTURE(count, shape.rows, shape.features, shape.outputs);
    Training training(count, shape);
    Doubles want = training.w;
    for (int k = 1; k <= steps; ++k) {
        training.make_step(rate);
        std::vector<Doubles> got;
        for (int r = 0; r < count; ++r) got.push_back(training.shards.w(r));
        const Doubles before = want;
        move(want, training.data.gradient(want, 0, shape.rows), rate / shape.rows);
        if (!check_weights(training.data, count, rate, k, before, want, got)) return;
    }
}

}  // namespace

TEST_CASE("task 3: each rank has its slice of the rows", "[task3]") {
    check_start(1, {10, 3, 2}, 5);
    check_start(2, {100, 4, 1}, 5);
    check_start(3, {99, 2, 3}, 5);
    check_start(4, {1000, 10, 4}, 5);
}

TEST_CASE("task 3: slices of different sizes", "[task3]") {
    check_start(2, {101, 3, 3}, 6);
    check_start(3, {100, 5, 2}, 6);
    check_start(4, {1003, 2, 7}, 6);
}

TEST_CASE("task 3: fewer rows than ranks", "[task3]") {
    check_start(4, {3, 5, 2}, 6);
    check_start(2, {1, 1, 1}, 6);
}

TEST_CASE("task 3: the start weights are those of the seed", "[task3]") {
    for (const unsigned seed : {0u, 1u, 12345u, 0xFFFFFFFFu}) check_start(3, {30, 6, 4}, seed);
}

TEST_CASE("task 3: a failed call is an exception", "[task3]") {
    const Shape shape{20, 3, 2};
    const Ranks ranks(2);
    const Data data(shape);
    Pinned x(data.x), y(data.y);
    Shards shards(ranks, shape);
    const HostCommunicator communicator(ranks, 1);
    const auto work = [&] {
        start(communicator, x.get(), y.get(), shape, 1, shards.get());
        ranks.wait();
    };
    wb::check_refused_launch("start", work);
    check_failing("start", {"Memcpy", "SetDevice"}, work);
}

TEST_CASE("task 4: one rank makes a step", "[task4]") {
    check_training(1, {1, 1, 1}, 1);
    check_training(1, {100, 3, 2}, 2);
    check_training(1, {257, 33, 4}, 2);
}

TEST_CASE("task 4: several ranks make the same step as one rank", "[task4]") {
    check_training(2, {100, 3, 2}, 1);
    check_training(3, {99, 5, 1}, 1);
    check_training(4, {1000, 33, 3}, 1);
}

TEST_CASE("task 4: every row counts the same if slices differ", "[task4]") {
    check_training(2, {3, 2, 2}, 1);
    check_training(3, {100, 4, 2}, 1);
    check_training(4, {7, 3, 1}, 1);
}

TEST_CASE("task 4: more ranks than rows", "[task4]") {
    check_training(4, {3, 2, 1}, 2);
    check_training(2, {1, 1, 3}, 2);
}

TEST_CASE("task 4: all ranks have the same weights after each step", "[task4]") {
    check_training(2, {50, 4, 2}, 20, 0.2);
    check_training(4, {103, 6, 3}, 20, 0.2);
}

TEST_CASE("task 4: finds the weights that made the data", "[task4]") {
    const Shape shape{400, 5, 2};
    Training training(4, shape);
    for (int k = 0; k < 120; ++k) training.make_step(0.4);
    const Doubles got = training.shards.w(3);
    double worst = 0;
    for (size_t i = 0; i < got.size(); ++i) {
        const double off = std::fabs(got[i] - training.data.truth[i]);
        if (!(off <= worst)) worst = off;
    }
    INFO("after 120 steps a weight is off by " << worst << ", want at most 0.01: the noise of y");
    const bool weights_found = worst <= 0.01;
    CHECK(weights_found);
}

TEST_CASE("task 4: all work is in the streams of the ranks", "[task4]") {
    Training training(3, {30, 3, 2});
    check_streams_of("step", training.ranks, [&] { training.make_step(0.1); });
}

TEST_CASE("task 4: a failed call is an exception", "[task4]") {
    Training training(2, {30, 3, 2});
    const auto work = [&] {
        training.make_step(0.1);
        training.ranks.wait();
    };
    wb::check_refused_launch("step", work);
    check_failing("step", {"SetDevice"}, work);
}
