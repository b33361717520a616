// SPDX-License-Identifier: MIT
// Lesson 30, matrices of any size.
#include "checks.h"

TEST_CASE("task 4: multiplies square matrices", "[task4]") {
    check_shapes(multiply_any_in_rows, kSquare);
}

TEST_CASE("task 4: multiplies wide and tall matrices", "[task4]") {
    check_shapes(multiply_any_in_rows, kOblong);
}

TEST_CASE("task 4: multiplies parts of larger matrices", "[task4]") {
    check_shapes(multiply_any_in_rows, kParts);
}

TEST_CASE("task 4: replaces the old contents of C", "[task4]") {
    check_overwrites(multiply_any_in_rows, 70, 40, 50);
}

TEST_CASE("task 4: sums that a half cannot hold", "[task4]") {
    check_long_sums(multiply_any_in_rows, Order::kRows);
}

TEST_CASE("task 4: the largest and the smallest halves", "[task4]") {
    check_extremes(multiply_any_in_rows, Order::kRows);
}

TEST_CASE("task 4: gives zeros where there is nothing to sum", "[task4]") {
    check_no_products(multiply_any_in_rows, {{1, 1}, {33, 70}, {64, 64}});
}

TEST_CASE("task 4: launches nothing for an empty matrix", "[task4]") {
    check_empty(multiply_any_in_rows);
}

TEST_CASE("task 4: an infinity stays in its row or column", "[task4]") {
    check_infinity(multiply_any_in_rows, 40, 37, 45);
}

TEST_CASE("task 4: as many rows and columns as allowed", "[task4]") {
    check_product(multiply_any_in_rows, {kMost, 1, 0});
    check_product(multiply_any_in_rows, {1, kMost, 0});
    check_product(multiply_any_in_rows, {1, 1, kDeepest});
}

TEST_CASE("task 4: rows that begin 2^31 elements after the first and later", "[task4]") {
    check_far_rows(
        multiply_any_in_rows, 4, 40, 35, {4, 40, 35, 1 << 30, (1 << 26) + 1, (1 << 30) + 5});
}

TEST_CASE("task 4: a refused launch is an exception", "[task4]") {
    check_refused("multiply_any", multiply_any_in_rows);
}
