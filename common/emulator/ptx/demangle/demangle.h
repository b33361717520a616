// SPDX-License-Identifier: MIT
// Names as the student wrote them, for messages, from the mangled names in PTX (Itanium C++ ABI).
#pragma once

#include <string>
#include <string_view>

namespace ptx {

// A function's name for messages: no parameters, no return type, no anonymous, versioned or
// internal-linkage namespaces. `_Z3fooIiEvPT_` is `foo<int>`; long arguments become `<...>`, and a
// name that is not mangled is returned as it is. Linear in the length of the name.
std::string demangled_function(std::string_view mangled);

// The same without template arguments: `foo`; for a lambda or operator its readable form.
std::string plain_function(std::string_view mangled);

// A variable's innermost component: `_ZZ14tree_reductionPKfPfiE4tile` is `tile`.
std::string demangled_variable(std::string_view mangled);

// The innermost name of the function that declares a variable: `tree_reduction` for the example
// above; empty for a variable outside of functions.
std::string function_of_variable(std::string_view mangled);

}  // namespace ptx
