// SPDX-License-Identifier: MIT
// Loops that run on and on behind the end of an array: a card stops such a kernel where no page is.
// One bug, and not a hang as well.
// env: EMULATOR_BUDGET=2000000000
#include <cstdio>

__global__ void length(const char* text, int* out) {
    int n = 0;
    while (text[n]) ++n;  // expect: out-of-bounds-global "`text[16]`"
    *out = n;
}

// twin: out-of-bounds-global
__global__ void bounded_length(const char* text, int size, int* out) {
    int n = 0;
    while (n < size && text[n]) ++n;
    *out = n;
}

int main() {
    char *text, letters[16];
    int* out;
    for (char& c : letters) c = 'x';
    if (cudaMalloc(&text, 16) || cudaMalloc(&out, 4)) return 1;
    cudaMemcpy(text, letters, 16, cudaMemcpyHostToDevice);
    bounded_length<<<1, 1>>>(text, 16, out);
    if (cudaDeviceSynchronize() != cudaSuccess) return 2;
    length<<<1, 1>>>(text, out);
    const cudaError_t error = cudaDeviceSynchronize();
    std::printf("%s\n", cudaGetErrorName(error));
    return error == cudaErrorIllegalAddress ? 0 : 3;
}
