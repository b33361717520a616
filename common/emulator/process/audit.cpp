// SPDX-License-Identifier: MIT
// An audit library (rtld-audit(7)) for processes that load CUDA code while they run, such as
// Python: the dynamic linker calls it for every library, so whichever way a program asks for one of
// NVIDIA's libraries, it gets ours, and a copy of NVIDIA's runtime inside another library is led to
// ours.
//
// It is loaded into a namespace of its own, together with a second C library. So it uses nothing
// but system calls and plain memory, and shares no state with the emulator.
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "process/static_runtime.h"

#define AUDIT_API extern "C" __attribute__((visibility("default")))

namespace {

// The folder of this library and of the emulator's libraries, and the one with the wrappers around
// NVIDIA's compilers. With a slash at the end; empty: not known.
char own_folder[PATH_MAX], wrapper_folder[PATH_MAX];

// Where each wrapped library was found.
struct Wrapped {
    char name[64];
    char real[PATH_MAX];
};
Wrapped wrapped[16];
size_t wrapped_count = 0;

const char* base_name(const char* path) {
    const char* slash = std::strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool is_in(const char* path, const char* folder) {
    const size_t length = std::strlen(folder);
    return length && std::strncmp(path, folder, length) == 0;
}

// Whether the folder has a library of this name; `path` is its path then.
bool find_in(const char* folder, const char* name, char* path, size_t room) {
    if (!*folder || std::strlen(folder) + std::strlen(name) >= room) return false;
    std::strcpy(path, folder);
    std::strcat(path, name);
    return access(path, R_OK) == 0;
}

Wrapped* find_wrapped(const char* name) {
    for (size_t i = 0; i < wrapped_count; ++i)
        if (std::strcmp(wrapped[i].name, name) == 0) return &wrapped[i];
    return nullptr;
}

// The path that the linker was looking at when it last got a wrapper's instead. It opens the
// wrapper, but keeps this path as its name if it had searched for the library by its soname.
char replaced[PATH_MAX];

// Remembers the path of the library that a wrapper replaces. The last one before the wrapper
// is mapped counts: a program may have looked for others that it does not load.
void remember(const char* name, const char* real) {
    Wrapped* known = find_wrapped(name);
    if (!known && wrapped_count < sizeof wrapped / sizeof *wrapped) known = &wrapped[wrapped_count];
    if (!known || std::strlen(name) >= sizeof known->name ||
        std::strlen(real) + 2 >= sizeof known->real)
        return;
    if (known == &wrapped[wrapped_count]) ++wrapped_count;
    std::strcpy(known->name, name);
    std::strcpy(replaced, real);
    // From now on the linker takes this path for the wrapper's, so the wrapper needs another one.
    const int folder = int(base_name(real) - real);
    std::snprintf(known->real, sizeof known->real, "%.*s./%s", folder, real, base_name(real));
}

// Objects of ours get what they ask for: a wrapper asks for the library that it wraps.
constexpr uintptr_t kOurs = 1, kOther = 0;

}  // namespace

AUDIT_API unsigned la_version(unsigned version) {
    // `emulate` passes the folder: finding this library's own path would need dladdr.
    if (const char* folder = std::getenv("EMULATOR_FOLDER"); folder && *folder) {
        std::snprintf(own_folder, sizeof own_folder, "%s/", folder);
        std::snprintf(wrapper_folder, sizeof wrapper_folder, "%s/wrappers/", folder);
    }
    return version < LAV_CURRENT ? version : LAV_CURRENT;
}

AUDIT_API char* la_objsearch(const char* name, uintptr_t* cookie, unsigned) {
    static char path[PATH_MAX];  // valid until the linker has copied it
    char* const unchanged = const_cast<char*>(name);
    if (cookie && *cookie == kOurs) return unchanged;
    const char* const base = base_name(name);
    if (std::strncmp(base, "lib", 3) != 0) return unchanged;
    if (find_in(own_folder, base, path, sizeof path)) return path;
    // A wrapper needs the library that it wraps, so it takes the place of a file that exists.
    if (base != name && access(name, R_OK) == 0 && !is_in(name, wrapper_folder) &&
        find_in(wrapper_folder, base, path, sizeof path)) {
        remember(base, name);
        return path;
    }
    return unchanged;
}

AUDIT_API unsigned la_objopen(link_map* map, Lmid_t space, uintptr_t* cookie) {
    *cookie = kOther;
    if (space != LM_ID_BASE || !map->l_name || !*map->l_name) return 0;
    const char* const path = map->l_name;
    static char of_wrapper[PATH_MAX];
    const bool renamed = std::strcmp(path, replaced) == 0 &&
                         find_in(wrapper_folder, base_name(path), of_wrapper, sizeof of_wrapper);
    const char* const file = renamed ? of_wrapper : path;
    if (is_in(file, own_folder)) {
        *cookie = kOurs;
        *replaced = '\0';
        emulator::note_own_library(file, map->l_addr);
        if (is_in(file, wrapper_folder))
            if (const Wrapped* found = find_wrapped(base_name(file)))
                emulator::write_text_variable(
                    file, map->l_addr, "emulator_wrapped_library", found->real);
        return 0;
    }
    emulator::redirect_static_runtime(path, map->l_addr);
    return 0;
}
