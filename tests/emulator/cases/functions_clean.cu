// SPDX-License-Identifier: MIT
// Virtual functions, function pointers, recursion, a long switch, and memory from in-kernel malloc.
struct Shape {
    __device__ virtual ~Shape() {}
    __device__ virtual int area() const = 0;
};
struct Square final : Shape {
    int side;
    __device__ explicit Square(int s) : side(s) {}
    __device__ int area() const override { return side * side; }
};
struct Strip final : Shape {
    int length;
    __device__ explicit Strip(int l) : length(l) {}
    __device__ int area() const override { return length; }
};

__device__ int twice(int x) {
    return 2 * x;
}
__device__ int negated(int x) {
    return -x;
}
__device__ int (*const kFunctions[])(int) = {twice, negated};

__device__ __noinline__ int fibonacci(int n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__device__ __noinline__ int choose(int k) {
    switch (k % 9) {
    case 0:
        return 5;
    case 1:
        return k * k;
    case 2:
        return k - 100;
    case 3:
        return k ^ 0x55;
    case 4:
        return -k;
    case 5:
        return k << 3;
    case 6:
        return k / 3;
    case 7:
        return 7777;
    default:
        return k;
    }
}

__global__ void kernel(int* out) {
    const int t = threadIdx.x;
    Shape* shape = t % 2 ? static_cast<Shape*>(new Square(t)) : static_cast<Shape*>(new Strip(t));
    int* row = static_cast<int*>(malloc((t % 7 + 1) * sizeof(int)));
    for (int i = 0; i <= t % 7; ++i) row[i] = kFunctions[(t + i) % 2](t + i);
    int sum = shape->area() + fibonacci(t % 9) + choose(t);
    for (int i = 0; i <= t % 7; ++i) sum += row[i];
    out[t] = sum;
    free(row);
    delete shape;
}

int expected(int t) {
    const int kFibonacci[] = {0, 1, 1, 2, 3, 5, 8, 13, 21};
    const int kChoices[] = {5, t * t, t - 100, t ^ 0x55, -t, t << 3, t / 3, 7777, t};
    int sum = (t % 2 ? t * t : t) + kFibonacci[t % 9] + kChoices[t % 9];
    for (int i = 0; i <= t % 7; ++i) sum += (t + i) % 2 ? -(t + i) : 2 * (t + i);
    return sum;
}

int main() {
    int *out, lines[96], wrong = 0;
    cudaMalloc(&out, sizeof lines);
    kernel<<<1, 96>>>(out);
    const cudaError_t error = cudaDeviceSynchronize();
    cudaMemcpy(lines, out, sizeof lines, cudaMemcpyDeviceToHost);
    cudaFree(out);
    for (int t = 0; t < 96; ++t) wrong += lines[t] != expected(t);
    return error != cudaSuccess || wrong;
}
