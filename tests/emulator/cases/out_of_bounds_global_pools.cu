// SPDX-License-Identifier: MIT
// Elements instead of bytes, from a memory pool, managed and pitched memory, and in a graph.
#include <cuda_runtime.h>

struct Particle {
    float3 position, velocity;
    int cell;
};

__global__ void move(Particle* particles, int n, float dt) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Particle& p = particles[i];
    p.cell = i;  // expect: out-of-bounds-global
}

__global__ void fill(int* values, int n, int value) {
    for (int i = threadIdx.x; i <= n; i += blockDim.x)
        values[i] = value;  // expect: out-of-bounds-global
}

__global__ void fill_rows(char* image, size_t pitch, int width, int height) {
    int x = threadIdx.x, y = blockIdx.x;
    float* row = reinterpret_cast<float*>(image + y * pitch);
    if (x < width && y <= height) row[x] = x;  // expect: out-of-bounds-global
}

__global__ void count_up(int* counter) {
    counter[blockIdx.x] += 1;  // expect: out-of-bounds-global
}

int main() {
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    const int n = 100;
    Particle* particles;
    cudaMallocAsync(&particles, n, stream);
    move<<<1, 128, 0, stream>>>(particles, n, 0.1f);
    cudaFreeAsync(particles, stream);

    int* managed;
    cudaMallocManaged(&managed, n * sizeof(int));
    fill<<<1, 32, 0, stream>>>(managed, n, 7);
    cudaStreamSynchronize(stream);

    char* image;
    size_t pitch;
    cudaMallocPitch(reinterpret_cast<void**>(&image), &pitch, 30 * sizeof(float), 10);
    fill_rows<<<11, 32, 0, stream>>>(image, pitch, 30, 10);

    int* counter;
    cudaMalloc(&counter, 4 * sizeof(int));
    cudaMemset(counter, 0, 4 * sizeof(int));
    cudaDeviceSynchronize();
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    count_up<<<5, 1, 0, stream>>>(counter);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, stream);
    cudaGraphLaunch(exec, stream);
    cudaStreamSynchronize(stream);
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
    cudaFree(counter);
    cudaFree(image);
    cudaFree(managed);
    cudaStreamDestroy(stream);
}
