// SPDX-License-Identifier: MIT
// nvcc: -arch=compute_80
// Arithmetic on half and bfloat16, one by one and in pairs, against the same sums in float.
#include <cmath>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T, class Pair>
__global__ void arithmetic(const float* x, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const T a = T(x[i]), b = T(x[n - 1 - i]), c = T(0.5f);
    out[i] = float(a + b);
    out[n + i] = float(a * b);
    out[2 * n + i] = float(__hfma(a, b, c));
    out[3 * n + i] = float(__hmax(__habs(a), __hneg(b)));
    Pair p, q;
    p.x = a;
    p.y = b;
    q.x = c;
    q.y = a;
    const Pair r = __hadd2(__hmul2(p, q), p);
    out[4 * n + i] = float(r.x);
    out[5 * n + i] = float(r.y);
    out[6 * n + i] = a < b ? 1.0f : __hisnan(a) ? -1.0f : 0.0f;
}

template <class T, class Pair>
int run() {
    const int n = 300;
    float host[n], results[7 * n], *x, *out;
    for (int i = 0; i < n; ++i) host[i] = float(T(0.01f * float(i * 37 % 401 - 200)));
    cudaMalloc(&x, sizeof host);
    cudaMalloc(&out, sizeof results);
    cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
    arithmetic<T, Pair><<<3, 128>>>(x, out, n);
    int wrong = cudaDeviceSynchronize() != cudaSuccess;
    cudaMemcpy(results, out, sizeof results, cudaMemcpyDeviceToHost);
    cudaFree(x);
    cudaFree(out);
    const auto once = [](float v) { return float(T(v)); };  // exact, then rounded
    for (int i = 0; i < n; ++i) {
        const float a = host[i], b = host[n - 1 - i];
        wrong += results[i] != once(a + b);
        wrong += results[n + i] != once(a * b);
        wrong += std::fabs(results[2 * n + i] - (a * b + 0.5f)) > 0.01f * (1 + std::fabs(a * b));
        wrong += results[3 * n + i] != std::fmax(std::fabs(a), -b);
        wrong += results[4 * n + i] != once(once(a * 0.5f) + a);
        wrong += results[5 * n + i] != once(once(b * a) + b);
        wrong += results[6 * n + i] != float(a < b);
    }
    return wrong;
}

int main() {
    return run<half, half2>() + run<__nv_bfloat16, __nv_bfloat162>() != 0;
}
