// SPDX-License-Identifier: MIT
// nvcc: -G -arch=compute_80 -diag-suppress 20054
// The same without optimisation.
#include "async_copy_clean.cu"
