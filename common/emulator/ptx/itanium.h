// SPDX-License-Identifier: MIT
// A reader of mangled names (Itanium C++ ABI, "Mangling") that keeps what a message needs: the
// chain of names, with short template arguments. It takes time linear in the name.
// abi::__cxa_demangle is not used because a short name with substitutions can stand for gigabytes
// of text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ptx {

struct NameComponent {
    std::string name;       // "foo", "operator()", "~A", "lambda"
    std::string arguments;  // "<int>"; "<...>" where they are long; empty for none
    bool is_template = false;
};

// The components of `_Z...` from the outside in; those up to where reading failed, if it did.
// Empty when not even the first is readable.
std::vector<NameComponent> read_mangled(std::string_view mangled);

// Namespaces that compilers and libraries add for their own purposes: anonymous ones, versions.
bool is_noise(std::string_view name);

}  // namespace ptx
