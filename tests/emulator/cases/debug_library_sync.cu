// SPDX-License-Identifier: MIT
// nvcc: -G
// The same without optimisation.
#include "library_sync_clean.cu"
