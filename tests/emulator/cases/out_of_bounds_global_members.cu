// SPDX-License-Identifier: MIT
// Arrays of structs that were allocated as if for their members: an element is named, and its
// member.
#include <cuda_runtime.h>

struct P {
    float x, y, z;
};

struct Body {
    P at;
    char tag;
    double mass[2];
};

__global__ void move(P* p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // expect: out-of-bounds-global "`p[33].z` is read, but `p` has 33 elements"
    if (i < n) p[i].z += 1;
}

__global__ void weigh(Body* bodies, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // expect: out-of-bounds-global "`bodies[10].mass[1]`"
    if (i <= n) bodies[i].mass[1] = i;
}

typedef struct {
    double re, im;
} Complex;

struct alignas(16) Ray {
    float origin[3], direction[3];
};

__global__ void conjugate(Complex* z, int n) {
    int i = threadIdx.x;
    // expect: out-of-bounds-global "`z[20].im` is written, but `z` has 20 elements"
    if (i <= n) z[i].im = -i;
}

__global__ void aim(Ray* rays, int n) {
    int i = threadIdx.x;
    // expect: out-of-bounds-global "`rays[5].direction[2]`"
    if (i <= n) rays[i].direction[2] = 1;
}

__global__ void best(const float* in, float* out) {
    __shared__ P found[64];
    int t = threadIdx.x;
    found[t] = {in[t], float(t), 0};
    out[t] = found[63 - t].x;  // expect: race-shared "`found[32].x`"
}

int main() {
    const int n = 100;
    P* points;
    Body* bodies;
    float* out;
    cudaMalloc(&points, n * sizeof(float));
    cudaMemset(points, 0, n * sizeof(float));
    cudaMalloc(&bodies, 10 * sizeof(Body));
    cudaMalloc(&out, 64 * sizeof(float));
    cudaMemset(out, 0, 64 * sizeof(float));
    // twin: out-of-bounds-global
    move<<<1, 64>>>(points, 33);
    move<<<2, 64>>>(points, n);
    weigh<<<1, 32>>>(bodies, 10);
    best<<<1, 64>>>(out, out);
    Complex* z;
    Ray* rays;
    cudaMalloc(&z, 20 * sizeof(Complex));
    cudaMalloc(&rays, 5 * sizeof(Ray));
    conjugate<<<1, 32>>>(z, 20);
    aim<<<1, 32>>>(rays, 5);
    cudaDeviceSynchronize();
    cudaFree(z);
    cudaFree(rays);
    cudaFree(points);
    cudaFree(bodies);
    cudaFree(out);
}
