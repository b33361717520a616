# SPDX-License-Identifier: MIT
"""The cause of a program that was stopped: a status in an exception, or a crash of the host."""

from __future__ import annotations

import re

# What the status that a lesson's exception names says about the call.
_STATUS = (
    (r"CUBLAS_STATUS_INVALID_VALUE",
     "an argument that cuBLAS refuses: a negative size, or a leading dimension smaller than a "
     "column, as cuBLAS sees the matrix"),
    (r"CUSOLVER_STATUS_INVALID_VALUE",
     "an argument that cuSOLVER refuses: a negative size, a leading dimension smaller than a "
     "column, or a workspace that is too small"),
    (r"(?:CUBLAS|CUSOLVER)_STATUS_NOT_INITIALIZED",
     "a handle that was never made, or is destroyed"),
    (r"CUFFT_INVALID_PLAN", "a plan that was never made, or is destroyed"),
    (r"CUFFT_INVALID_TYPE", "a plan of another kind: R2C, C2R and C2C each need their own"),
    (r"CUFFT_INVALID_SIZE", "a transform of a size that cuFFT refuses"),
)  # fmt: skip


def of_cuda_error(exception: str) -> str:
    """What the CUDA error that a test case was stopped by says about the call."""
    if "cudaErrorInvalidConfiguration" in exception:
        return "a launch with no blocks or no threads, or with more than a block may have (1024)"
    if "cudaErrorInvalidResourceHandle" in exception:
        return (
            "a stream or an event that was destroyed, or that belongs to another device than the "
            "current one"
        )
    if "cudaErrorStreamCapture" in exception:
        if "cudaStreamBeginCapture(" in exception:
            return "the default stream is to capture: the legacy default stream cannot"
        return (
            "a call that no graph can hold, while a stream captures: one that waits, copies at "
            "once, or uses the default stream"
        )
    if "KernelNode" in exception and "cudaErrorInvalidValue" in exception:
        return "a node that is not a kernel, or a list of arguments that does not fit the kernel"
    if "cudaErrorInvalidValue" in exception:
        return "an argument of a CUDA call that the runtime rejects"
    return ""


def of_status(exception: str) -> str:
    """The same for a status of a library that a lesson's exception names."""
    return next((words for pattern, words in _STATUS if re.search(pattern, exception)), "")


_CRASHES = (
    (r"terminate called without an active exception",
     "a std::thread that was destroyed before it was joined"),
    (r"terminate called after throwing", "an uncaught exception: from a thread, a "
                                         "destructor or a noexcept function"),
    (r"free\(\): |double free or corruption|malloc\(\): |corrupted size",
     "host memory that was freed twice, or written past its end"),
    (r"stack smashing detected", "a local array of the host that was written past its end"),
)  # fmt: skip


def of_crash(ended: str, output: str) -> str:
    """The likely cause of a crash of host code without a finding, or empty."""
    if not ended.startswith("crashed"):
        return ""
    for pattern, words in _CRASHES:
        if re.search(pattern, output):
            return words
    if "segmentation fault" in ended:
        return "host code at a wrong address: an index past the end of a vector, a null pointer, " \
               "&x where x.data() is meant, or a function that calls itself forever"  # fmt: skip
    return ""
