// SPDX-License-Identifier: MIT
// nvcc: -G
// The same without optimisation.
#include "functions_clean.cu"
