// SPDX-License-Identifier: MIT
// A struct of arrays: the array is named by the member that points to it.
// also: -G
#include <cuda_runtime.h>

struct Particles {
    float *x, *y;
    int n;
};

struct Level {
    int depth;
    double* rows[2];
};

struct Scene {
    char tag;
    Particles moving;
    Level levels[2];
};

template <class T>
class View {
public:
    View(T* values, int n) : size_(n), values_(values) {}
    __device__ T& operator[](int i) const { return values_[i]; }
    __device__ int size() const { return size_; }

private:
    int size_;
    T* values_;
};

__global__ void move(Particles p, float dt, int limit) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < limit) {
        // expect: out-of-bounds-global "`p.x[40]` is read, but `p.x` has 40 elements"
        float x = p.x[i];
        // expect: out-of-bounds-global "`p.y[40]` is written, but `p.y` has 40 elements"
        p.y[i] = x * dt;
    }
}

__global__ void sum(const Scene scene, float* out, int n) {
    float s = 0;
    // expect: out-of-bounds-global "`scene.moving.y[40]`"
    for (int i = 0; i < n; ++i) s += scene.moving.y[i];
    // expect: out-of-bounds-global "`scene.levels[1].rows[1][5]`"
    for (int i = 0; i < n - 35; ++i) s += scene.levels[1].rows[1][i];
    *out = s;
}

__global__ void shift(View<int> view, int from, int* out) {
    int i = threadIdx.x;
    // expect: out-of-bounds-global "`view.values_[29]`"
    if (i < view.size()) out[i] = view[i + from];
}

int main() {
    Particles p{nullptr, nullptr, 40};
    cudaMalloc(&p.x, 40 * sizeof(float));
    cudaMalloc(&p.y, 40 * sizeof(float));
    cudaMemset(p.x, 0, 40 * sizeof(float));
    cudaMemset(p.y, 0, 40 * sizeof(float));
    Scene scene{'s', p, {}};
    double* rows;
    cudaMalloc(&rows, 5 * sizeof(double));
    cudaMemset(rows, 0, 5 * sizeof(double));
    scene.levels[1].rows[1] = rows;
    int* values;
    cudaMalloc(&values, 30 * sizeof(int));
    cudaMemset(values, 0, 30 * sizeof(int));
    // twin: out-of-bounds-global
    move<<<1, 64>>>(p, 0.5f, p.n);
    move<<<1, 64>>>(p, 0.5f, p.n + 1);
    float* out;
    cudaMalloc(&out, sizeof(float));
    sum<<<1, 1>>>(scene, out, 40);
    sum<<<1, 1>>>(scene, out, 41);
    shift<<<1, 32>>>(View<int>(values, 30), 0, (int*)p.x);
    cudaDeviceSynchronize();
    shift<<<1, 32>>>(View<int>(values + 1, 29), 1, (int*)p.y);
    cudaDeviceSynchronize();
    cudaFree(p.x);
    cudaFree(p.y);
    cudaFree(rows);
    cudaFree(values);
    cudaFree(out);
}
