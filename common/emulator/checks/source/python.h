// SPDX-License-Identifier: MIT
// Names in Python: what the parameters of a Numba kernel and its shared arrays are called. Numba
// passes an array as several parameters, and its mangled names tell which.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "checks/source/source.h"
#include "machine/events.h"

namespace checks {

bool is_python(std::string_view file);

// One per PTX parameter: for the pointer of an array the script's name of the array, nothing for
// its other parts. Empty: not a kernel of Numba, or its `def` was not found.
std::vector<ParameterText> python_parameters(const machine::LaunchInfo& launch);

// The script's name of the array that Numba calls `_cudapy_smem_3`; empty when it is not clear.
std::string python_shared_name(const machine::LaunchInfo& launch, std::string_view name);

// How many PTX parameters each parameter of a mangled Numba kernel takes, and the pointers among
// them. Stops before the first type that it does not know.
struct MangledParameter {
    unsigned count = 1;
    bool array = false;   // the fifth of them is its pointer
    std::string element;  // of an array: the C++ type; empty when it has none
};
std::vector<MangledParameter> numba_parameters(std::string_view mangled);

}  // namespace checks
