// SPDX-License-Identifier: MIT
#include "ptx/demangle/demangle.h"

#include "ptx/demangle/itanium.h"

namespace ptx {
namespace {

// How messages show `<...>`.
std::string readable_arguments(const NameComponent& component) {
    if (!component.is_template) return {};
    if (component.arguments.find("__nv_dl_wrapper_t") != std::string::npos ||
        component.arguments.find("__nv_hdl_wrapper_t") != std::string::npos) {
        return "<lambda>";
    }
    return component.arguments;
}

std::string function_name(std::string_view mangled, bool with_arguments) {
    const std::vector<NameComponent> parts = read_mangled(mangled);
    if (parts.empty()) return std::string(mangled);
    std::string out;
    for (size_t i = 0; i < parts.size(); ++i) {
        const bool last = i + 1 == parts.size();
        if (!last && is_noise(parts[i].name)) continue;
        if (!out.empty()) out += "::";
        out += parts[i].name;
        if (with_arguments && last) out += readable_arguments(parts[i]);
    }
    return out;
}

}  // namespace

std::string demangled_function(std::string_view mangled) {
    return function_name(mangled, true);
}

std::string plain_function(std::string_view mangled) {
    return function_name(mangled, false);
}

std::string demangled_variable(std::string_view mangled) {
    const std::vector<NameComponent> parts = read_mangled(mangled);
    return parts.empty() ? std::string(mangled) : parts.back().name;
}

std::string function_of_variable(std::string_view mangled) {
    if (mangled.substr(0, 3) != "_ZZ") return {};  // a <local-name>
    const std::vector<NameComponent> parts = read_mangled(mangled);
    return parts.size() < 2 ? std::string() : parts[parts.size() - 2].name;
}

}  // namespace ptx
