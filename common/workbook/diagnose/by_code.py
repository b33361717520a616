# SPDX-License-Identifier: MIT
"""The cause of a finding in a beginner's words: by its code, and by its reason where it has one."""

from __future__ import annotations

by_code = {
    "out-of-bounds-global": "a missing or wrong bounds check, or a wrong index",
    "out-of-bounds-shared": "an index larger than the shared array, or launched with too little",
    "out-of-bounds-local": "an index past the end of a local array",
    "race-shared": "a missing barrier between one thread's write and another's access",
    "race-global": "threads that update one address without an atomic or an order between them",
    "barrier-divergence": "a barrier that only some of the threads reach",
    "deadlock": "threads that wait for one another forever",
    "hang": "a loop that never ends, or far more iterations or threads than there is work for",
    "uninitialized-shared": "shared memory that is read before it is written",
    "uninitialized-global": "memory that is read before it is written",
    "uninitialized-local": "a local variable that is read before it has a value",
    "host-dereference": "host code that reads or writes device memory through its pointer",
    "invalid-address": "a pointer that does not point to device memory",
    "use-after-free": "memory that is used after it was freed",
    "double-free": "memory that is freed twice",
    "leak": "a cudaMalloc without its cudaFree",
    "misaligned": "a wide access at an address that is not a multiple of its width",
    "warp-mask": "a warp operation whose mask does not name exactly the threads that take part",
    "invalid-launch": "a launch configuration that no GPU accepts",
    "invalid-copy": "a copy of the wrong size, direction or address",
    "stack-overflow": "recursion without an end",
    "library-misuse": "a library function that is used in a way for which it is not made",
    "collective-deadlock": "a collective that not all ranks call",
    "collective-mismatch": "a collective that the ranks call with different arguments",
    "unchecked-error": "an error code that was never checked",
    "assert": "a device assert() that did not hold",
}

# The same for some reasons of a code.
by_reason = {
    ("invalid-copy", "no-variable"): "the name of a __device__ or __constant__ variable belongs "
    "there: no quotes, no &, no index",
    ("invalid-copy", "variable-name"): "a __device__ variable where a pointer belongs: on the host "
    "its name is a symbol",
    ("invalid-copy", "freed"): "memory that is used after it was freed",
    ("invalid-copy", "wrong-direction"): "a copy in the wrong direction, or with source and "
    "destination swapped",
    ("invalid-copy", "out-of-range"): "a copy of the wrong size: it is in bytes, and must fit "
    "both sides",
    ("invalid-launch", "empty-grid"): "a grid of 0 blocks, which CUDA refuses: a launch for no "
    "elements, or a division that rounds down and should round up",
    ("invalid-launch", "too-much-shared"): "more shared memory than a block may have: split the "
    "work into smaller parts",
    ("misaligned", "lanes-differ"): "lanes of one warp that mean different matrices: a fragment is "
    "loaded and stored by the whole warp, from one address",
    ("library-misuse", "workspace"): "a workspace that is smaller than the size from _bufferSize",
    ("library-misuse", "created-often"): "a handle or a plan that is made again and again: make it "
    "once",
    ("library-misuse", "edited-arguments"): "arguments of a graph's node that are changed in "
    "place, in memory that belongs to the node",
    ("library-misuse", "not-symmetric"): "a function for symmetric matrices, and a matrix that is "
    "not symmetric",
    ("library-misuse", "pivots"): "a system that is solved before its matrix is factorised",
    ("library-misuse", "same-device"): "two ranks on one device: cudaSetDevice comes before "
    "ncclCommInitRank",
    ("library-misuse", "not-destroyed"): "a communicator without its ncclCommDestroy",
    ("library-misuse", "group-open"): "an ncclGroupStart without its ncclGroupEnd",
    ("library-misuse", "overlap"): "a collective whose buffers overlap, and are not the same",
    ("collective-deadlock", "no-group"): "a thread that calls for several ranks without "
    "ncclGroupStart and ncclGroupEnd",
    ("collective-deadlock", "missing-rank"): "a collective that not all ranks call",
    ("collective-mismatch", "count"): "ranks that pass different counts to one collective",
    ("collective-mismatch", "type"): "ranks that pass different data types to one collective",
    ("collective-mismatch", "op"): "ranks that pass different operators to one collective",
    ("collective-mismatch", "root"): "ranks that name different roots for one collective",
    ("collective-mismatch", "call"): "ranks that call different collectives",
    ("host-dereference", "host-free"): "device memory passed to free() or delete: use cudaFree()",
    ("double-free", "no-allocation"): "cudaFree of an address that cudaMalloc did not return: "
    "host memory, or the address of the pointer itself",
}
