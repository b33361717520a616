// SPDX-License-Identifier: MIT
// DWARF line numbers and inlining of the running program, and the choice of the reported line.
#include "runtime/host_watch/host_source.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <filesystem>
#include <memory>
#include <string_view>
#include <unistd.h>

#include "runtime/host_watch/host_scopes.h"
#include "runtime/host_watch/host_tail_calls.h"

namespace runtime {
namespace {

struct Free {
    void operator()(void* pointer) const { std::free(pointer); }
};

std::string demangled(const std::string& name) {
    int status = 0;
    const std::unique_ptr<char, Free> text(
        abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status));
    return status == 0 && text ? text.get() : name;
}

// `ns::f<int>(float*)` and `void ns::f<int>(float*)` -> `f`; a lambda -> the function it is in.
std::string base_name(std::string text) {
    if (text.starts_with("operator()")) return "operator()";
    if (const size_t lambda = text.find("::{lambda"); lambda != std::string::npos)
        text.resize(lambda);
    std::string out;
    int depth = 0;
    for (size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (text.compare(i, 21, "(anonymous namespace)") == 0) {
            i += 20;
            out += "_anonymous_";
        } else if (c == '<') {
            ++depth;
        } else if (c == '>') {
            --depth;
        } else if (depth == 0) {
            if (c == '(') break;
            out += c;
        }
    }
    const size_t start = out.find_last_of(": ");
    return start == std::string::npos ? out : out.substr(start + 1);
}

// Reads debug information from the program's own files only: no search elsewhere, and no download
// from a debuginfod server.
int no_separate_file(Dwfl_Module*, void**, const char*, Dwarf_Addr, const char*, const char*,
                     GElf_Word, char**) {
    return -1;
}

// The process as libdw sees it. Loaded again when an address is in no known module (after dlopen).
class Program {
public:
    Dwfl_Module* module_at(uint64_t pc) {
        if (!dwfl_) open();
        if (!dwfl_) return nullptr;
        Dwfl_Module* module = dwfl_addrmodule(dwfl_, pc);
        if (!module) {
            forget_scopes();
            dwfl_end(dwfl_);
            open();
            module = dwfl_ ? dwfl_addrmodule(dwfl_, pc) : nullptr;
        }
        return module;
    }

private:
    void open() {
        static const Dwfl_Callbacks callbacks = {
            dwfl_linux_proc_find_elf, no_separate_file, nullptr, nullptr};
        dwfl_ = dwfl_begin(&callbacks);
        if (!dwfl_) return;
        dwfl_report_begin(dwfl_);
        if (dwfl_linux_proc_report(dwfl_, getpid()) != 0 ||
            dwfl_report_end(dwfl_, nullptr, nullptr) != 0) {
            dwfl_end(dwfl_);
            dwfl_ = nullptr;
        }
    }
    Dwfl* dwfl_ = nullptr;
};

Program& program() {
    static auto& instance = *new Program;
    return instance;
}

std::string linkage_name(Dwarf_Die* die) {
    Dwarf_Attribute attribute;
    const char* text = nullptr;
    if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute))
        text = dwarf_formstring(&attribute);
    return text ? text : "";
}

uint32_t number(Dwarf_Die* die, unsigned name) {
    Dwarf_Attribute attribute;
    Dwarf_Word value = 0;
    if (dwarf_attr(die, name, &attribute) && dwarf_formudata(&attribute, &value) == 0)
        return uint32_t(value);
    return 0;
}

void add_levels(Dwarf_Die* unit, uint64_t pc, std::vector<HostFrame>& frames) {
    Dwarf_Files* files = nullptr;
    size_t file_count = 0;
    dwarf_getsrcfiles(unit, &files, &file_count);
    for (Dwarf_Die& one : scopes_at(unit, pc)) {
        Dwarf_Die* const scope = &one;
        const int tag = dwarf_tag(scope);
        if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram) continue;
        const char* name = dwarf_diename(scope);
        frames.back().function = name ? name : "";
        frames.back().linkage = linkage_name(scope);
        if (tag == DW_TAG_subprogram) return;
        HostFrame caller{.file = "",
                         .line = number(scope, DW_AT_call_line),
                         .column = number(scope, DW_AT_call_column),
                         .function = "",
                         .linkage = "",
                         .module = frames.back().module};
        const uint32_t file = number(scope, DW_AT_call_file);
        if (files && file < file_count)
            if (const char* path = dwarf_filesrc(files, file, nullptr, nullptr)) caller.file = path;
        frames.push_back(std::move(caller));
    }
}

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> prefixes) {
    for (const auto prefix : prefixes)
        if (text.starts_with(prefix)) return true;
    return false;
}

bool is_library_module(const std::string& module) {
    // The last one is where Debian's cross compilers put the C library, for qemu.
    return starts_with_any(
               module,
               {"/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/", "/usr/aarch64-linux-gnu/lib/"}) ||
           module.starts_with("[");
}

// Wrappers of the toolkit and of the C++ library, known by name where there are no line numbers.
bool is_library_function(const std::string& name) {
    return starts_with_any(name,
                           {"cuda",
                            "__cuda",
                            "__device_stub__",
                            "__wrapper__device_stub_",
                            "std::",
                            "__gnu_cxx::",
                            "thrust::",
                            "cub::",
                            "_start"});
}

constexpr std::string_view kStub = "__device_stub__", kWrapper = "__wrapper__device_stub_";

// nvcc makes `kernel<<<...>>>(...)` call a host function with the kernel's name and line, which
// calls __device_stub__<mangled name>. The launch was written in neither of them.
struct LaunchStub {
    std::string mangled, base;
    bool enter(const HostFrame& frame) {
        if (const size_t at = frame.function.find(kWrapper); at != std::string::npos) {
            base = base_name(frame.function.substr(at + kWrapper.size()));
            return true;
        }
        const size_t at = frame.function.find(kStub);
        if (at == std::string::npos) {
            const bool same =
                !base.empty() && ((!frame.linkage.empty() && frame.linkage == mangled) ||
                                  base_name(frame.function) == base);
            base.clear();  // at most one function is between the stub and the launch
            return same;
        }
        const std::string rest = base_name(frame.function.substr(at + kStub.size()));
        mangled = "_" + rest;
        base = base_name(demangled(mangled));
        if (base == mangled) base = rest;  // extern "C"
        return true;
    }
};

}  // namespace

Dwfl_Module* module_at(uint64_t pc) {
    return program().module_at(pc);
}

// The compilation unit of an address; some compilers do not write .debug_aranges.
Dwarf_Die* unit_at(Dwfl_Module* module, uint64_t pc, Dwarf_Addr* bias) {
    if (Dwarf_Die* unit = dwfl_module_addrdie(module, pc, bias)) return unit;
    Dwarf_Die* unit = nullptr;
    while ((unit = dwfl_module_nextcu(module, unit, bias)) != nullptr)
        if (dwarf_haspc(unit, pc - *bias) == 1) return unit;
    return nullptr;
}

bool is_library_source(const std::string& path) {
    if (path.empty() || path[0] == '<') return true;
    const std::filesystem::path normal = std::filesystem::path(path).lexically_normal();
    const std::string text = normal.string(), file = normal.filename().string();
    if (file.find(".cudafe1.") != std::string::npos || file.starts_with("tmpxft_")) return true;
    if (starts_with_any(text, {"/usr/include/", "/usr/lib/", "/usr/lib64/", "/usr/local/include/"}))
        return true;
#ifdef EMULATOR_LIBRARY_SOURCES
    // The emulator's own files, and the workbook's small wrappers of API calls.
    for (std::string_view rest = EMULATOR_LIBRARY_SOURCES; !rest.empty();) {
        const size_t end = std::min(rest.find(':'), rest.size());
        if (text.starts_with(rest.substr(0, end))) return true;
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
#endif
    for (const char* part : {"/targets/x86_64-linux/include/",
                             "/targets/sbsa-linux/include/",
                             "/targets/aarch64-linux/include/",
                             "/include/c++/",
                             "/lib/gcc/",
                             "/lib/gcc-cross/"})
        if (text.find(part) != std::string::npos) return true;
    // A toolkit elsewhere, such as in a Python environment, is recognised by its best-known header.
    if (text.starts_with("/usr/local/cuda")) return true;
    constexpr std::string_view kInclude = "/include/";
    for (size_t at = 0; (at = text.find(kInclude, at)) != std::string::npos; ++at) {
        std::error_code ignored;
        const std::string directory = text.substr(0, at + kInclude.size());
        if (std::filesystem::exists(directory + "cuda_runtime_api.h", ignored)) return true;
    }
    return false;
}

std::vector<HostFrame> frames_at(uint64_t pc) {
    std::vector<HostFrame> frames(1);
    Dwfl_Module* module = program().module_at(pc);
    if (!module) return frames;
    if (const char* name =
            dwfl_module_info(module, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr))
        frames[0].module = name;
    if (Dwfl_Line* line = dwfl_module_getsrc(module, pc)) {
        int number = 0, column = 0;
        if (const char* file = dwfl_lineinfo(line, nullptr, &number, &column, nullptr, nullptr)) {
            frames[0].file = file;
            if (const char* directory = file[0] == '/' ? nullptr : dwfl_line_comp_dir(line))
                frames[0].file = std::string(directory) + "/" + file;
            frames[0].line = uint32_t(number);
            frames[0].column = uint32_t(column);
        }
        Dwarf_Addr bias = 0;
        if (Dwarf_Die* unit = unit_at(module, pc, &bias)) add_levels(unit, pc - bias, frames);
    }
    if (frames[0].function.empty()) {
        if (const char* symbol = dwfl_module_addrname(module, pc)) {
            frames[0].linkage = symbol;
            frames[0].function = demangled(symbol);
        }
    }
    return frames;
}

// The function that contains `pc` in a library without debug information, under the name that
// callers use; empty when unknown. glibc has `free` under three names.
static std::string library_function(uint64_t pc) {
    Dwfl_Module* module = module_at(pc);
    const char* symbol = module ? dwfl_module_addrname(module, pc) : nullptr;
    std::string name = symbol ? symbol : "";
    name.resize(std::min(name.find('@'), name.size()));
    if (name == "cfree" || name == "__libc_free") return "free";
    if (name == "__libc_realloc") return "realloc";
    return name;
}

// The path with the levels restored that tail calls have removed.
static std::vector<uint64_t> complete(const std::vector<uint64_t>& pcs, const std::string& entry) {
    std::vector<uint64_t> all;
    std::string callee = entry;
    for (const uint64_t pc : pcs) {
        const std::vector<uint64_t> jumps = tail_calls(pc, callee);
        all.insert(all.end(), jumps.begin(), jumps.end());
        all.push_back(pc);
        callee = compiled_function(pc);
        if (callee.empty()) callee = library_function(pc);
    }
    return all;
}

ptx::SourceLine blame(const std::vector<uint64_t>& pcs, const std::string& entry) {
    LaunchStub stub;
    ptx::SourceLine fallback;
    for (const uint64_t pc : complete(pcs, entry)) {
        for (const HostFrame& frame : frames_at(pc)) {
            if (stub.enter(frame)) continue;
            if (is_library_module(frame.module)) continue;
            if (frame.line == 0) {
                // There is no line here: the program, or a part of it, has no debug information.
                if (frame.module.empty() || is_library_function(frame.function)) continue;
                return {std::filesystem::path(frame.module).filename().string(),
                        0,
                        0,
                        base_name(frame.function)};
            }
            if (!is_library_source(frame.file))
                return {frame.file, frame.line, frame.column, base_name(frame.function)};
            if (fallback.file.empty())
                fallback = {frame.file, frame.line, frame.column, base_name(frame.function)};
        }
    }
    return fallback;
}

}  // namespace runtime
