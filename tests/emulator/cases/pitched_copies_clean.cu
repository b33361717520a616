// SPDX-License-Identifier: MIT
// Copies of boxes between host memory, pitched memory and arrays.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

#include "expect.h"

__global__ void twice(cudaPitchedPtr v, int w, int h, int d) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, z = blockIdx.z;
    if (x < w) {
        float* row = (float*)((char*)v.ptr + (size_t(z) * v.ysize + y) * v.pitch);
        row[x] *= 2;
    }
}
__global__ void rows(float* p, size_t pitch, int w, int h) {
    for (int y = threadIdx.y; y < h; y += blockDim.y)
        for (int x = threadIdx.x; x < w; x += blockDim.x) ((float*)((char*)p + y * pitch))[x] += y;
}
int main() {
    const int w = 37, h = 5, d = 3;
    std::vector<float> in(w * h * d), out(w * h * d);
    for (size_t i = 0; i < in.size(); ++i) in[i] = i;
    cudaPitchedPtr v;
    CHECK(cudaMalloc3D(&v, make_cudaExtent(w * 4, h, d)));
    cudaMemcpy3DParms p{};
    p.srcPtr = make_cudaPitchedPtr(in.data(), w * 4, w, h);
    p.dstPtr = v;
    p.extent = make_cudaExtent(w * 4, h, d);
    p.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&p));
    twice<<<dim3(2, h, d), 32>>>(v, w, h, d);
    cudaMemcpy3DParms q{};
    q.srcPtr = v;
    q.dstPtr = make_cudaPitchedPtr(out.data(), w * 4, w, h);
    q.extent = p.extent;
    q.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3D(&q));
    for (size_t i = 0; i < in.size(); ++i) EXPECT(out[i] == 2 * in[i]);
    cudaArray_t array;
    cudaChannelFormatDesc desc = cudaCreateChannelDesc<float>();
    CHECK(cudaMalloc3DArray(&array, &desc, make_cudaExtent(w, h, d)));
    cudaMemcpy3DParms r{};
    r.srcPtr = v;
    r.dstArray = array;
    r.extent = make_cudaExtent(w, h, d);
    r.kind = cudaMemcpyDeviceToDevice;
    CHECK(cudaMemcpy3D(&r));
    cudaMemcpy3DParms s{};
    s.srcArray = array;
    s.srcPos = make_cudaPos(1, 1, 1);
    s.dstPtr = make_cudaPitchedPtr(out.data(), 4 * 4, 4, 2);
    s.extent = make_cudaExtent(4, 2, 2);
    s.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3D(&s));
    EXPECT(out[0] == 2 * in[w * h + w + 1] && out[15] == 2 * in[2 * w * h + 2 * w + 4]);
    float* pp;
    size_t pitch;
    CHECK(cudaMallocPitch(&pp, &pitch, w * 4, h));
    EXPECT(pitch % 256 == 0 || pitch >= w * 4);
    CHECK(cudaMemset2D(pp, pitch, 0, w * 4, h));
    rows<<<1, dim3(32, 4)>>>(pp, pitch, w, h);
    CHECK(cudaMemcpy2D(out.data(), w * 4, pp, pitch, w * 4, h, cudaMemcpyDeviceToHost));
    for (int y = 0; y < h; ++y) EXPECT(out[y * w + w - 1] == y);
    cudaArray_t flat;
    CHECK(cudaMallocArray(&flat, &desc, w, h));
    CHECK(cudaMemcpy2DToArray(flat, 0, 0, pp, pitch, w * 4, h, cudaMemcpyDeviceToDevice));
    CHECK(cudaMemcpy2DFromArray(out.data(), 8, flat, 4, 1, 8, 2, cudaMemcpyDeviceToHost));
    EXPECT(out[0] == 1 && out[2] == 2);
    CHECK(cudaFreeArray(flat));
    CHECK(cudaFreeArray(array));
    CHECK(cudaFree(pp));
    CHECK(cudaFree(v.ptr));
    std::puts("ok");
}
