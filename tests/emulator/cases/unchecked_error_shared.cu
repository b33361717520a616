// SPDX-License-Identifier: MIT
// Too much shared memory, then a second launch, which works.
#include <cuda_runtime.h>

__global__ void kernel() {}

int main() {
    kernel<<<1, 32, 1 << 20>>>();  // expect: invalid-launch, unchecked-error
    kernel<<<1, 32>>>();
}
