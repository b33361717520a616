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
    // TODO 1 (about 2 lines): loop over the `size` elements of out, which are stored row by row, in
    // grid strides. Find each element's row and column, and apply op to the inputs there.
    // END 1
}

// The steps of an input.
template <class T>
Input<T> broadcast(Matrix<T> m) {
    const size_t columns = m.columns;
    // TODO 2 (about 3 lines): choose the steps so that an axis of length 1 is repeated: a matrix of
    // one row is read at row 0, whatever the row is, and likewise for columns.
    return {m.d_data, columns, 1};  // placeholder: repeats nothing
    // END 2
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
    __device__ T operator()(T a, T b) const {
        // TODO 3 (1 line): return a squared plus b squared. Do not use `pow`: it is slow.
        return a - b;  // placeholder
        // END 3
    }
};

template <class T>
struct SaxpyTrig {
    T scale;
    __device__ T operator()(T x, T y) const {
        // TODO 4 (1 line): return exp(scale * sin(x) + cos(y)). These names work for float and
        // double.
        return scale - x - y;  // placeholder
        // END 4
    }
};

template <class T>
struct Sigmoid {
    __device__ T operator()(T x) const {
        // TODO 5 (1 line): return 1 / (1 + exp(-x)), in T: a literal such as 1.0 is a double and
        // turns the whole expression into double arithmetic.
        return x;  // placeholder
        // END 5
    }
};

template <class T>
struct IntPow {
    int n;
    __device__ T operator()(T x) const {
        // TODO 6 (about 8 lines): compute x to the power of n by squaring: x^13 = x^8 * x^4 * x^1,
        // since 13 is 1101 in binary. n may be negative, and for n = -2^31 there is no int -n.
        return x - T(n);  // placeholder
        // END 6
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
