// SPDX-License-Identifier: MIT
// Every function of the driver API by name and by the CUDA version that introduced it, for
// cuGetProcAddress. The table is generated (generate_driver.py).
#pragma once

#include <cstddef>

namespace driver {

struct EntryPoint {
    const char* name;  // without _vN and _ptsz
    int version;       // 12050 for CUDA 12.5
    bool per_thread;   // the spelling for per-thread default streams
    void* function;
};
// Sorted by name, newest first; must live as long as the process. Empty until the table registers
// itself.
void set_entry_points(const EntryPoint* entries, size_t count);

}  // namespace driver
