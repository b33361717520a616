// SPDX-License-Identifier: MIT
// Determines which bytes of the host program are readable.
#include "runtime/host_watch/host_memory.h"

#include <cerrno>

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "runtime/host_watch/host_pages.h"

namespace runtime {
namespace {

// For systems without process_vm_readv (containers that forbid it, qemu): write() to a pipe fails
// for memory that is not readable. True if there is no pipe either.
bool readable_by_pipe(uint64_t address) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return true;
    const bool missing =
        write(ends[1], reinterpret_cast<const void*>(address), 1) < 0 && errno == EFAULT;
    close(ends[0]);
    close(ends[1]);
    return !missing;
}

// Whether the byte at `address` is readable; true if the system cannot be asked.
bool readable(uint64_t address) {
    char byte = 0;
    iovec here{&byte, 1}, there{reinterpret_cast<void*>(address), 1};
    const int error = errno;
    bool there_is = true;
    if (process_vm_readv(getpid(), &here, 1, &there, 1, 0) < 0)
        there_is = errno != EFAULT && readable_by_pipe(address);
    errno = error;
    return there_is || is_closed_page(address);
}

}  // namespace

uint64_t readable_bytes(uint64_t address, uint64_t bytes) {
    if (bytes == 0) return 0;
    const uint64_t last = address + (bytes - 1);
    if (!readable(address)) return 0;
    if (last >= address && readable(last)) return bytes;
    // Binary search for the first missing page: `there` is readable, `gone` is not.
    const uint64_t page = uint64_t(sysconf(_SC_PAGESIZE));
    uint64_t there = address / page, gone = last >= address ? last / page : ~0ull / page;
    while (gone - there > 1) {
        const uint64_t middle = there + (gone - there) / 2;
        (readable(middle * page) ? there : gone) = middle;
    }
    return gone * page - address;
}

}  // namespace runtime
