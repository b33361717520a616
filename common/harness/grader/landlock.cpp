// SPDX-License-Identifier: MIT
// Landlock (Documentation/userspace-api/landlock.rst) has no rule that forbids one folder: writing
// is allowed below each folder of the root but those of a proc file system.
#include "landlock.h"

#include <cstdint>
#include <cstring>

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#if __has_include(<linux/landlock.h>)
#include <linux/landlock.h>
#endif

namespace wb::grader {

#ifdef LANDLOCK_ACCESS_FS_WRITE_FILE

namespace {

// Moving a file to another folder. Landlock forbids it unless it is allowed, from version 2 on.
constexpr uint64_t kMove = 1ull << 13;

bool is_proc(int folder) {
    struct statfs found {};
    return fstatfs(folder, &found) != 0 || found.f_type == PROC_SUPER_MAGIC;
}

bool is_folder(int file) {
    struct stat found {};
    return fstat(file, &found) == 0 && S_ISDIR(found.st_mode);
}

}  // namespace

void protect_processes() {
    const long version =
        syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (version < 1) return;
    landlock_ruleset_attr handled{};
    handled.handled_access_fs = LANDLOCK_ACCESS_FS_WRITE_FILE | (version < 2 ? 0 : kMove);
    const auto rules =
        int(syscall(SYS_landlock_create_ruleset, &handled, sizeof handled.handled_access_fs, 0));
    DIR* const root = rules < 0 ? nullptr : opendir("/");
    if (!root) return;
    while (const dirent* const entry = readdir(root)) {
        if (std::strcmp(entry->d_name, ".") == 0 || std::strcmp(entry->d_name, "..") == 0) continue;
        const int file = openat(dirfd(root), entry->d_name, O_PATH | O_CLOEXEC);
        if (file < 0) continue;
        landlock_path_beneath_attr below{};
        below.allowed_access = handled.handled_access_fs;
        if (!is_folder(file)) below.allowed_access = LANDLOCK_ACCESS_FS_WRITE_FILE;
        below.parent_fd = file;
        if (!is_proc(file))
            syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &below, 0);
        close(file);
    }
    closedir(root);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) syscall(SYS_landlock_restrict_self, rules, 0);
    close(rules);
}

#else

void protect_processes() {}

#endif

}  // namespace wb::grader
