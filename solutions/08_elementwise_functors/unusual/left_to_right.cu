// Unusual: Powers from the highest bit down, over all 32 bits; a sigmoid with two branches; row and
// column counted up instead of divided.
// SPDX-License-Identifier: MIT
// Lesson 08, elementwise functors: one kernel for every operation that works element by element.
// Start with README.md in this directory; `make 08` checks this file.
#include "elementwise_functors.h"

constexpr int kThreads = 256;
constexpr size_t kMostBlocks = 65536;  // the loop in the kernel handles the rest

// An input as the kernel sees it. A step is the distance, in elements, to the next row or column.
template <class T>
struct Input {
    const T* data;
    size_t row_step, column_step;
    __device__ T at(size_t row, size_t column) const {
        return data[row * row_step + column * column_step];
    }
};

// The one kernel: out gets op(in...) for every element. `in...` is a parameter pack (lesson 02) of
// inputs: with two of them, f(in.at(r, c)...) stands for f(first.at(r, c), second.at(r, c)).
template <class T, class Op, class... In>
__global__ void transform_kernel(T* out, Shape shape, Op op, In... in) {
    [[maybe_unused]] const size_t columns = shape.columns, size = columns * shape.rows;
    [[maybe_unused]] const size_t first = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    [[maybe_unused]] const size_t threads = size_t(gridDim.x) * blockDim.x;
    size_t row = first / columns, column = first % columns;
    const size_t down = threads / columns, across = threads % columns;
    for (size_t i = first; i < size; i += threads) {
        out[i] = op(in.at(row, column)...);
        row += down;
        column += across;
        if (column >= columns) {
            column -= columns;
            ++row;
        }
    }
}

// The steps of an input.
template <class T>
Input<T> broadcast(Matrix<T> m) {
    const size_t columns = m.columns;
    Input<T> input{m.d_data, columns, 1};
    if (m.rows == 1) input.row_step = 0;
    if (m.columns == 1) input.column_step = 0;
    return input;
}

template <class T, class Op, class... In>
void transform(T* d_out, Shape shape, Op op, Matrix<In>... in) {
    const size_t size = size_t(shape.rows) * shape.columns;
    if (size == 0) return;
    const size_t needed = (size + kThreads - 1) / kThreads;
    const unsigned blocks = unsigned(needed < kMostBlocks ? needed : kMostBlocks);
    transform_kernel<<<blocks, kThreads>>>(d_out, shape, op, broadcast(in)...);
    CUDA_CHECK(cudaGetLastError());
}

// A functor: an object that is called like a function. The kernel gets a copy of it, with its data.
// This one is complete and shows the form.
template <class T>
struct Subtract {
    __device__ T operator()(T a, T b) const { return a - b; }
};

template <class T>
struct SumOfSquares {
    __device__ T operator()(T a, T b) const { return a * a + b * b; }
};

template <class T>
struct SaxpyTrig {
    T scale;
    __device__ T operator()(T x, T y) const { return exp(scale * sin(x) + cos(y)); }
};

template <class T>
struct Sigmoid {
    __device__ T operator()(T x) const {
        if (x < 0) {
            const T e = exp(x);
            return e / (1 + e);
        }
        return 1 / (1 + exp(-x));
    }
};

template <class T>
struct IntPow {
    int n;
    __device__ T operator()(T x) const {
        T result = T(1);
        long long m = n;
        if (m < 0) m = -m;
        for (int bit = 31; bit >= 0; --bit) {
            result *= result;
            if (m >> bit & 1) result *= x;
        }
        return n >= 0 ? result : 1 / result;
    }
};

template <class T>
void subtract(Matrix<T> a, Matrix<T> b, T* d_out, Shape shape) {
    transform(d_out, shape, Subtract<T>{}, a, b);
}

template <class T>
void sum_of_squares(Matrix<T> a, Matrix<T> b, T* d_out, Shape shape) {
    transform(d_out, shape, SumOfSquares<T>{}, a, b);
}

template <class T>
void saxpy_trig(T scale, Matrix<T> x, Matrix<T> y, T* d_out, Shape shape) {
    transform(d_out, shape, SaxpyTrig<T>{scale}, x, y);
}

template <class T>
void sigmoid(Matrix<T> x, T* d_out, Shape shape) {
    transform(d_out, shape, Sigmoid<T>{}, x);
}

template <class T>
void intpow(Matrix<T> x, int n, T* d_out, Shape shape) {
    transform(d_out, shape, IntPow<T>{n}, x);
}

// The test is compiled separately and cannot see these templates, so both versions are made here.
template void subtract(Matrix<float>, Matrix<float>, float*, Shape);
template void subtract(Matrix<double>, Matrix<double>, double*, Shape);
template void sum_of_squares(Matrix<float>, Matrix<float>, float*, Shape);
template void sum_of_squares(Matrix<double>, Matrix<double>, double*, Shape);
template void saxpy_trig(float, Matrix<float>, Matrix<float>, float*, Shape);
template void saxpy_trig(double, Matrix<double>, Matrix<double>, double*, Shape);
template void sigmoid(Matrix<float>, float*, Shape);
template void sigmoid(Matrix<double>, double*, Shape);
template void intpow(Matrix<float>, int, float*, Shape);
template void intpow(Matrix<double>, int, double*, Shape);
