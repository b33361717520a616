// SPDX-License-Identifier: MIT
// A class template for matrices: rows and columns are swapped in the kernel of a matrix that is
// not square.
#include <cuda_runtime.h>

template <typename T>
class MatrixView {
public:
    __host__ __device__ MatrixView(T* data, int rows, int columns)
        : data_(data), rows_(rows), columns_(columns) {}
    __device__ T& operator()(int r, int c) const { return data_[r * columns_ + c]; }
    __device__ int rows() const { return rows_; }
    __device__ int columns() const { return columns_; }

private:
    T* data_;
    int rows_, columns_;
};

template <typename T, bool kSwapped>
__global__ void scale(MatrixView<T> in, MatrixView<T> out, T factor) {
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    if constexpr (kSwapped) {
        if (c < in.rows() && r < in.columns())
            out(r, c) = factor * in(r, c);  // expect: out-of-bounds-global
    } else {
        // twin: out-of-bounds-global
        if (r < in.rows() && c < in.columns()) out(r, c) = factor * in(r, c);
    }
}

int main() {
    const int rows = 10, columns = 24;
    double *a, *b;
    cudaMalloc(&a, rows * columns * sizeof(double));
    cudaMalloc(&b, rows * columns * sizeof(double));
    cudaMemset(a, 0, rows * columns * sizeof(double));
    dim3 block(8, 8), grid(3, 3);
    scale<double, false><<<grid, block>>>({a, rows, columns}, {b, rows, columns}, 2.0);
    scale<double, true><<<grid, block>>>({a, rows, columns}, {b, rows, columns}, 2.0);
    cudaDeviceSynchronize();
    cudaFree(a);
    cudaFree(b);
}
