// Unusual: A grid of two dimensions: x runs along the row, y over the rows, both in steps of the
// grid; no division.
// SPDX-License-Identifier: MIT
// Lesson 08, elementwise functors: one kernel for every operation that works element by element.
// Start with README.md in this directory; `make 08` checks this file.
#include "elementwise_functors.h"

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
    [[maybe_unused]] const size_t columns = shape.columns;
    for (size_t row = blockIdx.y * blockDim.y + threadIdx.y; row < size_t(shape.rows);
         row += gridDim.y * blockDim.y)
        for (size_t column = size_t(blockIdx.x) * blockDim.x + threadIdx.x; column < columns;
             column += size_t(gridDim.x) * blockDim.x)
            out[row * columns + column] = op(in.at(row, column)...);
}

// The steps of an input.
template <class T>
Input<T> broadcast(Matrix<T> m) {
    const size_t columns = m.columns;
    const size_t row_step = m.rows == 1 ? 0 : columns;
    const size_t column_step = m.columns == 1 ? 0 : 1;
    return {m.d_data, row_step, column_step};
}

template <class T, class Op, class... In>
void transform(T* d_out, Shape shape, Op op, Matrix<In>... in) {
    const size_t size = size_t(shape.rows) * shape.columns;
    if (size == 0) return;
    const dim3 threads(32, 8), blocks((shape.columns + 31) / 32, min((shape.rows + 7) / 8, 65535));
    transform_kernel<<<blocks, threads>>>(d_out, shape, op, broadcast(in)...);
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
    __device__ T operator()(T x) const { return T(1) / (T(1) + exp(-x)); }
};

template <class T>
struct IntPow {
    int n;
    __device__ T operator()(T x) const {
        unsigned left = n < 0 ? 0u - unsigned(n) : unsigned(n);
        T result = 1;
        for (T square = x; left > 0; left /= 2) {
            if (left % 2 == 1) result *= square;
            square *= square;
        }
        return n < 0 ? T(1) / result : result;
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
