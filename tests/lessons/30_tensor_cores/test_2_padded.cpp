// SPDX-License-Identifier: MIT
// Lesson 30, a fragment for each warp.
#include "checks.h"

TEST_CASE("task 3: multiplies whole fragments", "[task3]") {
    check_shapes(multiply_padded, kWhole);
}

TEST_CASE("task 3: multiplies by a matrix stored by columns", "[task3]") {
    check_shapes(multiply_padded, kWhole, Order::kColumns);
}

TEST_CASE("task 3: multiplies parts of larger matrices", "[task3]") {
    check_shapes(multiply_padded, kWholeParts);
    check_shapes(multiply_padded, kWholeParts, Order::kColumns);
}

TEST_CASE("task 3: replaces the old contents of C", "[task3]") {
    check_overwrites(multiply_padded, 64, 48, 32);
}

TEST_CASE("task 3: sums that a half cannot hold", "[task3]") {
    check_long_sums(multiply_padded, Order::kRows);
    check_long_sums(multiply_padded, Order::kColumns);
}

TEST_CASE("task 3: the largest and the smallest halves", "[task3]") {
    check_extremes(multiply_padded, Order::kRows);
}

TEST_CASE("task 3: gives zeros where there is nothing to sum", "[task3]") {
    check_no_products(multiply_padded, {{16, 16}, {48, 80}});
}

TEST_CASE("task 3: launches nothing for an empty matrix", "[task3]") {
    check_empty(multiply_padded);
}

TEST_CASE("task 3: an infinity stays in its row or column", "[task3]") {
    check_infinity(multiply_padded, 48, 32, 64);
}

TEST_CASE("task 3: as many rows and columns as allowed", "[task3]") {
    check_product(multiply_padded, {kMost, 16, 0});
    check_product(multiply_padded, {16, kMost, 0});
    check_product(multiply_padded, {16, 16, kDeepest});
}

TEST_CASE("task 3: rows that begin 2^31 elements after the first and later", "[task3]") {
    const int pitch = 1 << 27;
    check_far_rows(multiply_padded, 32, 16, 32, {32, 16, 32, pitch, pitch, pitch});
}

TEST_CASE("task 3: a refused launch is an exception", "[task3]") {
    check_refused("multiply_padded", multiply_padded);
}
