// SPDX-License-Identifier: MIT
// Memory that is not plain device memory leaks as well.
#include <cuda_runtime.h>

int main() {
    void *pinned, *managed, *pitched;
    size_t pitch;
    cudaMallocHost(&pinned, 100);                // expect: leak "cudaFreeHost"
    cudaMallocManaged(&managed, 200);            // expect: leak "cudaFree"
    cudaMallocPitch(&pitched, &pitch, 100, 10);  // expect: leak
}
