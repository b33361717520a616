// SPDX-License-Identifier: MIT
// Lesson 29, one thread for each element, and how many floats are loaded.
#include "checks.h"

TEST_CASE("task 1: multiplies square matrices", "[task1]") {
    check_shapes(matmul_naive, std::begin(kSquare), std::end(kSquare));
}

TEST_CASE("task 1: multiplies wide and tall matrices", "[task1]") {
    check_shapes(matmul_naive, std::begin(kOblong), std::end(kOblong));
}

TEST_CASE("task 1: multiplies parts of larger matrices", "[task1]") {
    check_shapes(matmul_naive, std::begin(kParts), std::end(kParts));
}

TEST_CASE("task 1: replaces the old contents of C", "[task1]") {
    check_overwrites(matmul_naive);
}

TEST_CASE("task 1: gives zeros where there is nothing to sum", "[task1]") {
    check_no_products(matmul_naive);
}

TEST_CASE("task 1: launches nothing for an empty matrix", "[task1]") {
    check_empty(matmul_naive);
}

TEST_CASE("task 1: as many rows and columns as allowed", "[task1]") {
    check_product(matmul_naive, {kMost, 1, 1});
    check_product(matmul_naive, {1, kMost, 1});
    check_product(matmul_naive, {1, 1, kMost});
}

TEST_CASE("task 1: rows that begin 2^31 floats after the first and later", "[task1]") {
    check_far_rows(matmul_naive);
}

TEST_CASE("task 1: a refused launch is an exception", "[task1]") {
    check_refused("matmul_naive", matmul_naive);
}

TEST_CASE("task 2: counts the loads of whole tiles", "[task2]") {
    // Computed by hand: 4 tiles, each with 32 rows and 32 columns of 64 floats; and, without a
    // tile, two floats for each product.
    CHECK_RESULT(floats_loaded(64, 64, 64, 32), 4 * 2 * 32 * 64);
    CHECK_RESULT(floats_loaded(100, 100, 100, 1), 2000000);
    check_loads({{64, 64, 64, 32}, {1, 1, 1, 1}, {100, 100, 100, 1}, {96, 32, 500, 32}});
}

TEST_CASE("task 2: counts the loads of tiles that are not full", "[task2]") {
    std::vector<Count> counts;
    for (const int m : {0, 1, 31, 32, 33, 65, 100})
        for (const int n : {0, 1, 31, 32, 33, 65, 97})
            for (const int k : {0, 1, 50})
                for (const int tile : {1, 16, 32, 64}) counts.push_back({m, n, k, tile});
    check_loads(counts);
}

TEST_CASE("task 2: counts the loads of matrices as large as allowed", "[task2]") {
    check_loads({{4096, 4096, 4096, 32},
                 {kMost, kMost, kMost, 1},
                 {kMost, kMost, kMost, 32},
                 {kMost, kMost - 1, kMost - 2, 64},
                 {kMost, 1, kMost, kMost},
                 {kMost, kMost, 1, kMost},
                 {50000, 40000, 30000, 7}});
}
