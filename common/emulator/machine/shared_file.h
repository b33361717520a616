// SPDX-License-Identifier: MIT
// Files in memory that several processes map: what handles of cudaIpcGetMemHandle and
// cudaIpcGetEventHandle stand for. A file has no place in the file system. Another process finds it
// among the descriptors of its owner (/proc/PID/fd), as the system permits, and knows it by its
// name. Its size never changes, so no process can take away pages that others use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace machine {

// A new file of `bytes`, which take memory once they are written. -1 on failure, as errno says.
int make_shared_file(const std::string& name, uint64_t bytes);

// The file that the process `owner` has as `file`, if it is still the one with that name and that
// many bytes. -1 on failure: ENOENT if there is no such file, another errno if it cannot be opened.
int open_shared_file(int owner, int file, const std::string& name, uint64_t bytes);

// All bytes of a file; null on failure.
std::byte* map_shared_file(int file, uint64_t bytes);

// Zeros in whole pages of a file, which take no memory until they are written again. False: not
// possible here, and nothing has changed.
bool clear_shared_pages(int file, uint64_t offset, uint64_t bytes);

// Copies `bytes` to new, zeroed pages. `mapped`: `from` begins at a page of private memory, of
// which pages that were never touched are not read.
void copy_to_new_pages(std::byte* to, const std::byte* from, uint64_t bytes, bool mapped);

// Locks by which processes see who uses a file. They belong to the opened file: they end when it is
// closed, also because its process has died.
enum class FileUse : uint8_t { kShared, kAlone };
// False if another process's use excludes this one.
bool use_shared_file(int file, FileUse use);
// Also for copies of the descriptor in child processes.
void close_shared_file(int file);

}  // namespace machine
