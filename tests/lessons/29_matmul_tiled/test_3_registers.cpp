// SPDX-License-Identifier: MIT
// Lesson 29, with several elements in the registers of each thread.
#include "checks.h"

TEST_CASE("task 4: multiplies square matrices", "[task4]") {
    check_shapes(matmul_registers, std::begin(kSquare), std::end(kSquare));
}

TEST_CASE("task 4: multiplies wide and tall matrices", "[task4]") {
    check_shapes(matmul_registers, std::begin(kOblong), std::end(kOblong));
}

TEST_CASE("task 4: multiplies parts of larger matrices", "[task4]") {
    check_shapes(matmul_registers, std::begin(kParts), std::end(kParts));
}

TEST_CASE("task 4: replaces the old contents of C", "[task4]") {
    check_overwrites(matmul_registers);
}

TEST_CASE("task 4: gives zeros where there is nothing to sum", "[task4]") {
    check_no_products(matmul_registers);
}

TEST_CASE("task 4: launches nothing for an empty matrix", "[task4]") {
    check_empty(matmul_registers);
}

TEST_CASE("task 4: an infinity stays in its row or column", "[task4]") {
    check_infinity(matmul_registers);
}

TEST_CASE("task 4: as many rows and columns as allowed", "[task4]") {
    check_product(matmul_registers, {kMost, 1, 0});
    check_product(matmul_registers, {1, kMost, 0});
    check_product(matmul_registers, {1, 1, kMost});
}

TEST_CASE("task 4: rows that begin 2^31 floats after the first and later", "[task4]") {
    check_far_rows(matmul_registers);
}

TEST_CASE("task 4: a refused launch is an exception", "[task4]") {
    check_refused("matmul_registers", matmul_registers);
}
