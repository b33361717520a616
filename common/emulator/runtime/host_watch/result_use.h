// SPDX-License-Identifier: MIT
// Whether a caller uses the result of an API function. The library cannot observe that a program
// ignores an error code, but the machine code after the call shows it.
#pragma once

#include <cstdint>
#include <span>

namespace runtime {

// `return_addresses`: of a running call, innermost first; if a function returns the result to its
// own caller (as the toolkit's templates do), the analysis continues there. True only if the result
// is certainly unused: the register that holds it is overwritten first. Unknown x86-64 code counts
// as a use. False on other processors.
bool result_is_ignored(std::span<const uint64_t> return_addresses);

}  // namespace runtime
