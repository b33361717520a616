// SPDX-License-Identifier: MIT
// Marks what the drop-in libcudart exports. The file that includes this defines the function under
// the exact name and type of the toolkit's cuda_runtime_api.h.
#pragma once

#include <cuda_runtime_api.h>

#define EMULATOR_API extern "C" __attribute__((visibility("default")))
