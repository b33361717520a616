// SPDX-License-Identifier: MIT
// Calls of the program by which the system reads or writes its memory (read, write, fread, send,
// ...). On a closed page they would fail with EFAULT, of which nobody could tell; so the program's
// import tables are pointed to functions that open such pages first and tell what was in use.
// Nothing is changed before the program has managed or pinned memory in flight.
#pragma once

namespace runtime {

// Finds the real functions. To be called while the library is loaded, with no locks held.
void prepare_host_calls();

// Changes the import tables of everything that is loaded by now, once each. False: some of the
// program's calls cannot be watched (tables that cannot be written, libraries such as MPI and
// liburing that let others reach into this process), so that only pages that are wholly in use may
// be closed.
bool watch_host_calls();

}  // namespace runtime
