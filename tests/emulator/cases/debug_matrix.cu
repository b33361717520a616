// SPDX-License-Identifier: MIT
// nvcc: -G -arch=compute_80
// The same without optimisation.
#include "matrix_clean.cu"
