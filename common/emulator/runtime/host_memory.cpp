// SPDX-License-Identifier: MIT
#include "runtime/host_memory.h"

#include <cerrno>

#include <sys/uio.h>
#include <unistd.h>

#include "runtime/host_pages.h"

namespace runtime {
namespace {

// Whether the byte at `address` can be read; true where the system cannot be asked.
bool readable(uint64_t address) {
    char byte = 0;
    iovec here{&byte, 1}, there{reinterpret_cast<void*>(address), 1};
    const int error = errno;
    const bool missing = process_vm_readv(getpid(), &here, 1, &there, 1, 0) < 0 && errno == EFAULT;
    errno = error;
    return !missing || is_closed_page(address);
}

}  // namespace

uint64_t readable_bytes(uint64_t address, uint64_t bytes) {
    if (bytes == 0) return 0;
    const uint64_t last = address + (bytes - 1);
    if (!readable(address)) return 0;
    if (last >= address && readable(last)) return bytes;
    // The first page that is missing: `there` can be read, `gone` cannot.
    const uint64_t page = uint64_t(sysconf(_SC_PAGESIZE));
    uint64_t there = address / page, gone = last >= address ? last / page : ~0ull / page;
    while (gone - there > 1) {
        const uint64_t middle = there + (gone - there) / 2;
        (readable(middle * page) ? there : gone) = middle;
    }
    return gone * page - address;
}

}  // namespace runtime
