// SPDX-License-Identifier: MIT
// Lesson 29, through tiles in shared memory.
#include "checks.h"

TEST_CASE("task 3: multiplies square matrices", "[task3]") {
    check_shapes(matmul_tiled, std::begin(kSquare), std::end(kSquare));
}

TEST_CASE("task 3: multiplies wide and tall matrices", "[task3]") {
    check_shapes(matmul_tiled, std::begin(kOblong), std::end(kOblong));
}

TEST_CASE("task 3: multiplies parts of larger matrices", "[task3]") {
    check_shapes(matmul_tiled, std::begin(kParts), std::end(kParts));
}

TEST_CASE("task 3: replaces the old contents of C", "[task3]") {
    check_overwrites(matmul_tiled);
}

TEST_CASE("task 3: gives zeros where there is nothing to sum", "[task3]") {
    check_no_products(matmul_tiled);
}

TEST_CASE("task 3: launches nothing for an empty matrix", "[task3]") {
    check_empty(matmul_tiled);
}

TEST_CASE("task 3: an infinity stays in its row or column", "[task3]") {
    check_infinity(matmul_tiled);
}

TEST_CASE("task 3: as many rows and columns as allowed", "[task3]") {
    check_product(matmul_tiled, {kMost, 1, 0});
    check_product(matmul_tiled, {1, kMost, 0});
    check_product(matmul_tiled, {1, 1, kMost});
}

TEST_CASE("task 3: rows that begin 2^31 floats after the first and later", "[task3]") {
    check_far_rows(matmul_tiled);
}

TEST_CASE("task 3: a refused launch is an exception", "[task3]") {
    check_refused("matmul_tiled", matmul_tiled);
}
