// SPDX-License-Identifier: MIT
// Lesson 08, the shapes: one kernel serves operands of every shape and type. a - b is exact to the
// last bit.
#include "checks.h"

namespace {

struct Steps {
    size_t row, column;
};

// a - b where the inputs are read at place(i, shape) and with the steps of steps(rows, columns);
// what lies outside of an input is NaN.
template <class T, class Place, class StepsOf>
std::vector<T> difference_with(const Operand<T>& a, const Operand<T>& b, Shape shape, Place place,
                               StepsOf steps) {
    const auto read = [&](const Operand<T>& from, Shape at) {
        const Steps step = steps(from.rows, from.columns);
        const size_t index = at.rows * step.row + at.columns * step.column;
        return index < from.values.size() ? from.values[index] : T(NAN);
    };
    std::vector<T> out(size_t(shape.rows) * shape.columns);
    for (size_t i = 0; i < out.size(); ++i) {
        const Shape at = place(int(i), shape);
        out[i] = read(a, at) - read(b, at);
    }
    return out;
}

// What a wrong place or wrong steps make of a - b.
template <class T>
std::vector<wb::Mistake<T>> mistakes_of_reading(const Operand<T>& a, const Operand<T>& b,
                                                Shape shape) {
    const auto right_place = [](int i, Shape s) { return Shape{i / s.columns, i % s.columns}; };
    const auto right_steps = [](int rows, int columns) {
        return Steps{rows == 1 ? size_t(0) : size_t(columns), columns == 1 ? size_t(0) : 1};
    };
    const auto place = [&a, &b, shape, right_steps](const char* words, auto f) {
        return wb::Mistake<T>{words, [&a, &b, shape, f, right_steps] {
                                  return difference_with(a, b, shape, f, right_steps);
                              }};
    };
    const auto steps = [&a, &b, shape, right_place](const char* words, auto f) {
        return wb::Mistake<T>{words, [&a, &b, shape, f, right_place] {
                                  return difference_with(a, b, shape, right_place, f);
                              }};
    };
    return {
        place("row and column are swapped where the inputs are read",
              [](int i, Shape s) {
                  return Shape{i % s.columns, i / s.columns};
              }),
        place("the index is divided by the number of rows, where the columns belong",
              [](int i, Shape s) {
                  return Shape{i / s.rows, i % s.rows};
              }),
        steps("nothing is repeated: an axis of length 1 needs a step of 0",
              [](int, int columns) {
                  return Steps{size_t(columns), 1};
              }),
        steps("a single column is not repeated: its step is not 0",
              [](int rows, int columns) {
                  return Steps{rows == 1 ? 0 : size_t(columns), 1};
              }),
        steps("a single row is not repeated: its step is not 0",
              [](int, int columns) {
                  return Steps{size_t(columns), columns == 1 ? 0u : 1u};
              }),
        steps("the step of a single row is 1, not 0",
              [=](int rows, int columns) {
                  return Steps{rows == 1 ? 1 : size_t(columns), columns == 1 ? 0u : 1u};
              }),
        steps("a step is 0 on the wrong axis: rows and columns are mixed up in the conditions",
              [](int rows, int columns) {
                  return Steps{columns == 1 ? 0 : size_t(columns), rows == 1 ? 0u : 1u};
              }),
        steps("everything is repeated: both steps are always 0",
              [](int, int) {
                  return Steps{0, 0};
              }),
    };
}

// Subtraction, which has an order, on operands of any shape that fits.
template <class T>
void check_subtract(Shape shape, int a_rows, int a_columns, int b_rows, int b_columns) {
    const auto by = [](int rows, int columns) {
        return std::to_string(rows) + " x " + std::to_string(columns);
    };
    const std::string shapes = by(shape.rows, shape.columns) + " from " + by(a_rows, a_columns) +
                               " - " + by(b_rows, b_columns);
    CAPTURE(shapes);
    Operand<T> a(numbers<T>(size_t(a_rows) * a_columns, 1), a_rows, a_columns);
    Operand<T> b(numbers<T>(size_t(b_rows) * b_columns, 2), b_rows, b_columns);
    std::vector<T> want;
    for (int r = 0; r < shape.rows; ++r)
        for (int c = 0; c < shape.columns; ++c) want.push_back(a.at(r, c) - b.at(r, c));
    const auto got =
        output<T>(shape, [&](T* d_out, Shape s) { subtract(a.matrix(), b.matrix(), d_out, s); });
    wb::recognize<T>(got, want, mistakes_of_reading(a, b, shape));
    CHECK_ARRAYS(got, want);
}

}  // namespace

TEST_CASE("task 1: subtracts arrays of any length", "[task1]") {
    const int n = GENERATE(1, 2, 31, 32, 33, 255, 256, 257, 1000, 100003);
    check_subtract<float>({1, n}, 1, n, 1, n);
}

TEST_CASE("task 1: subtracts matrices, also in double", "[task1]") {
    for (const Shape s : {Shape{2, 2}, {3, 5}, {31, 33}, {257, 129}, {1000, 2}}) {
        check_subtract<float>(s, s.rows, s.columns, s.rows, s.columns);
        check_subtract<double>(s, s.rows, s.columns, s.rows, s.columns);
    }
}

TEST_CASE("task 1: nothing is launched for an empty array", "[task1]") {
    wb::DeviceBuffer<float> d_in(wb::random_floats(1000, 8)), d_out(1000);
    const Matrix<float> rows{d_in.get(), 20, 50}, none{d_in.get(), 0, 50};
    const auto empty = wb::count([&] { subtract(none, none, d_out.get(), {0, 50}); });
    CHECK(cudaGetLastError() == cudaSuccess);
    if (empty) {
        INFO("for 0 rows: launched kernels: " << empty->launches << ", want none");
        CHECK(empty->launches == 0);
    }
    subtract(rows, rows, d_out.get(), {20, 50});
    CHECK_ARRAYS(d_out.download(), std::vector<float>(1000, 0.0f));  // x - x
}

TEST_CASE("task 2: repeats a number", "[task2]") {
    for (const Shape s : {Shape{1, 33}, {1, 1000}, {31, 7}, {100, 100}}) {
        check_subtract<float>(s, s.rows, s.columns, 1, 1);
        check_subtract<float>(s, 1, 1, s.rows, s.columns);
        check_subtract<double>(s, 1, 1, 1, 1);
    }
}

TEST_CASE("task 2: repeats a row", "[task2]") {
    for (const Shape s : {Shape{2, 3}, {33, 32}, {5, 1000}, {1000, 5}}) {
        check_subtract<float>(s, s.rows, s.columns, 1, s.columns);
        check_subtract<double>(s, 1, s.columns, s.rows, s.columns);
    }
}

TEST_CASE("task 2: repeats a column", "[task2]") {
    for (const Shape s : {Shape{2, 3}, {33, 32}, {5, 1000}, {1000, 5}}) {
        check_subtract<float>(s, s.rows, s.columns, s.rows, 1);
        check_subtract<double>(s, s.rows, 1, s.rows, s.columns);
    }
}

TEST_CASE("task 2: makes a table of a column and a row", "[task2]") {
    for (const Shape s : {Shape{2, 3}, {3, 2}, {33, 65}, {1, 40}, {40, 1}, {300, 200}}) {
        check_subtract<float>(s, s.rows, 1, 1, s.columns);
        check_subtract<float>(s, 1, s.columns, s.rows, 1);
    }
}

TEST_CASE("task 2: more elements than a launch has threads", "[task2]") {
    // The loop is task 1's, but only repeated inputs are small enough for 16.8 million elements,
    // which is more than kMostBlocks blocks of kThreads.
    const Shape shape{4099, 4100};
    const std::vector<float> row = numbers<float>(shape.columns, 3);
    Operand<float> a(row, 1, shape.columns), b(numbers<float>(1, 4), 1, 1);
    const auto got = output<float>(
        shape, [&](float* d_out, Shape s) { subtract(a.matrix(), b.matrix(), d_out, s); });
    std::vector<float> want(got.size());
    for (size_t i = 0; i < want.size(); ++i) want[i] = row[i % shape.columns] - b.at(0, 0);
    CHECK_ARRAYS(got, want);
}
