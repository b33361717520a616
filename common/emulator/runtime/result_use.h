// SPDX-License-Identifier: MIT
// Whether a caller looks at what an API function returns. The library cannot see that a program
// drops the error of a call; the machine code behind the call can.
#pragma once

#include <cstdint>
#include <span>

namespace runtime {

// `return_addresses`: of a call that is running, innermost first; a function that passes the
// result on to its own caller (as the toolkit's templates do) is followed there. True only when it
// is certain that nobody reads the result: the register that holds it is overwritten first. What
// this reader of x86-64 code does not know counts as a look. False on other processors.
bool result_is_ignored(std::span<const uint64_t> return_addresses);

}  // namespace runtime
