// SPDX-License-Identifier: MIT
// Lets the runtime API return functions of the driver API, which is built on top of it.
#pragma once

namespace runtime {

// The function `symbol` for CUDA `version` (12050 for 12.5); null if there is none.
using DriverEntryPoints = void* (*)(const char* symbol, unsigned version, bool per_thread);
// Set by the driver API when it is linked in.
void set_driver_entry_points(DriverEntryPoints entry_points);

}  // namespace runtime
