// SPDX-License-Identifier: MIT
// Parses mangled names (Itanium C++ ABI, "Mangling") and keeps what a message needs: the chain of
// names, with short template arguments. Linear in the length of the name. abi::__cxa_demangle is
// not used, because a short name with substitutions can expand to gigabytes of text.
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

// The components of `_Z...`, outermost first. If parsing fails, those before the failure; possibly
// none.
std::vector<NameComponent> read_mangled(std::string_view mangled);

// Namespaces that compilers and libraries add: anonymous ones, versions.
bool is_noise(std::string_view name);

}  // namespace ptx
