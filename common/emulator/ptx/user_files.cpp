// SPDX-License-Identifier: MIT
// Decides which files findings are attributed to. See UserFiles in source_map.h.
#include <sys/stat.h>

#include "ptx/source_map.h"

namespace ptx {
namespace {

bool exists(const std::string& path) {
    struct stat info;
    return stat(path.c_str(), &info) == 0;
}

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

// `/usr/local/cuda-13.0/include` and the like: the word before `include` names a toolkit.
bool is_toolkit_word(std::string_view word) {
    if (!word.starts_with("cuda")) return false;
    word.remove_prefix(4);
    if (word.starts_with("-")) word.remove_prefix(1);
    return word.find_first_not_of("0123456789.") == std::string_view::npos;
}

// Whether a path is in a toolkit's include directory, judging by its words alone.
bool looks_like_toolkit(std::string_view path) {
    for (size_t at = path.find("/include/"); at != std::string_view::npos;
         at = path.find("/include/", at + 1)) {
        const std::string_view above = path.substr(0, at);
        const std::string_view below = path.substr(at + 9);
        const size_t slash = above.rfind('/');
        const std::string_view owner =
            slash == std::string_view::npos ? above : above.substr(slash + 1);
        const std::string_view parent =
            slash == std::string_view::npos ? std::string_view{} : above.substr(0, slash);
        if (is_toolkit_word(owner) || parent.ends_with("/targets")) return true;
        if (parent.ends_with("/nvidia")) return true;  // NVIDIA's Python wheels
        for (const std::string_view library :
             {"cub/", "thrust/", "cuda/std/", "cccl/", "cooperative_groups/", "crt/", "nv/"}) {
            if (below.starts_with(library)) return true;
        }
        for (const std::string_view header : {"cooperative_groups.h",
                                              "curand",
                                              "cuda_runtime",
                                              "cuda_fp16",
                                              "cuda_bf16",
                                              "cuda_fp8",
                                              "device_functions.h",
                                              "device_launch_parameters.h",
                                              "math_functions.h",
                                              "mma.h",
                                              "sm_"}) {
            if (below.starts_with(header) && !contains(below, "/")) return true;
        }
    }
    return false;
}

bool is_system(std::string_view path) {
    for (const std::string_view prefix :
         {"/usr/include/", "/usr/lib/gcc/", "/usr/lib/clang/", "/usr/lib/llvm"}) {
        if (path.starts_with(prefix)) return true;
    }
    return contains(path, "/lib/gcc/");
}

// A library that is often cloned beside a program: the directory that contains all of it.
bool is_library_root(const std::string& directory, std::string_view below) {
    if (below.starts_with("cub/")) return exists(directory + "cub/version.cuh");
    if (below.starts_with("thrust/")) return exists(directory + "thrust/version.h");
    if (below.starts_with("cuda/") || below.starts_with("nv/")) {
        return exists(directory + "cuda/std/version") || exists(directory + "nv/target");
    }
    return false;
}

}  // namespace

bool is_python_library(std::string_view path) {
    if (path.empty() || path[0] == '<') return path != "<string>" && path != "<stdin>";
    for (const std::string_view folder : {"/site-packages/", "/dist-packages/"})
        if (contains(path, folder)) return true;
    for (const std::string_view library : {"/lib/python3", "/lib64/python3"})
        if (contains(path, library)) return true;
    return false;
}

bool UserFiles::is_toolkit_include(const std::string& directory) {
    const auto [known, is_new] = directories_.try_emplace(directory, false);
    if (is_new) {
        // A student's stub of cuda_runtime.h is not accompanied by the runtime's internal headers.
        known->second = exists(directory + "cuda_runtime.h") &&
                        (exists(directory + "crt") || exists(directory + "driver_types.h"));
    }
    return known->second;
}

bool UserFiles::decide(const std::string& path) {
    if (path.empty() || path[0] == '<' || is_system(path)) return false;
    if (is_python_library(path)) return false;
    if (!exists(path)) return !looks_like_toolkit(path);
    for (size_t slash = path.rfind('/'); slash != std::string::npos && slash != 0;
         slash = path.rfind('/', slash - 1)) {
        const std::string directory = path.substr(0, slash + 1);
        if (is_toolkit_include(directory)) return false;
        if (is_library_root(directory, std::string_view(path).substr(slash + 1))) return false;
    }
    // In a toolkit that is split over several directories, such as wheels, CUB has no
    // cuda_runtime.h beside it.
    return !(contains(path, "/nvidia/") && looks_like_toolkit(path));
}

bool UserFiles::is_user_file(const std::string& path) {
    const auto known = files_.find(path);
    if (known != files_.end()) return known->second;
    return files_[path] = decide(path);
}

}  // namespace ptx
