// SPDX-License-Identifier: MIT
// Watches system calls that access the program's memory (read, write, fread, send, ...). On a
// closed page they would fail with EFAULT and raise no signal. So the program's import tables are
// redirected to functions that open such pages first and report what was in use. Nothing is
// redirected until the program has managed or pinned memory in flight.
#pragma once

namespace runtime {

// Finds the real functions. To be called while the library is loaded, with no locks held.
void prepare_host_calls();

// Redirects the import tables of all objects that are loaded, each once. False: some of the
// program's calls cannot be watched (import tables that cannot be written, libraries such as MPI
// and liburing that give others access to this process), so only pages that are in use as a whole
// may be closed.
bool watch_host_calls();

}  // namespace runtime
