// SPDX-License-Identifier: MIT
// Names and texts of the runtime's error codes.
#pragma once

#include "runtime/core/export.h"

namespace runtime {

const char* error_name(cudaError_t error);  // "cudaErrorInvalidValue"; "unrecognized error code"
const char* error_text(cudaError_t error);

}  // namespace runtime
