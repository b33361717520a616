// SPDX-License-Identifier: MIT
// Names for messages: what the student wrote, from the mangled names in PTX (Itanium C++ ABI).
#pragma once

#include <string>
#include <string_view>

namespace ptx {

// A function as messages call it: no parameters, no return type, no anonymous, versioned or
// internal-linkage namespaces. `_Z3fooIiEvPT_` is `foo<int>`; long arguments read `<...>`, and a
// name that is not mangled stays itself. Takes time linear in the name, whatever is in it.
std::string demangled_function(std::string_view mangled);

// The same without template arguments: `foo`; for a lambda or operator its own readable form.
std::string plain_function(std::string_view mangled);

// A variable's innermost component: `_ZZ14tree_reductionPKfPfiE4tile` is `tile`.
std::string demangled_variable(std::string_view mangled);

// The innermost name of the function that declares a variable: `tree_reduction` of the same; empty
// for a variable that no function declares.
std::string function_of_variable(std::string_view mangled);

}  // namespace ptx
