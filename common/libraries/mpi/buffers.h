// SPDX-License-Identifier: MIT
// The buffers that a program gives to MPI: checked as memory that the host uses, or, for an MPI
// that is CUDA-aware, as device memory that is copied in a stream of MPI's own.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace mpi_watch {

// Parts of a buffer: `bytes` bytes from `offset` on. Empty parts are left out.
struct Block {
    uint64_t offset, bytes;
};
using Blocks = std::vector<Block>;

// `count` elements from the start.
Blocks elements(int count, MPI_Datatype type);
// The block of each rank: counts[r] elements from element at[r] on.
Blocks blocks(const int counts[], const int at[], MPI_Datatype type, MPI_Comm comm);

// One buffer of a call. Where MPI is to be CUDA-aware and cannot be watched, or is not by itself,
// device memory is replaced by host memory of the same content (staging), as some MPIs do
// themselves.
class Buffer {
public:
    Buffer() = default;
    // `call`: the function of MPI. `address`: as the program gave it, perhaps null or MPI_IN_PLACE.
    // `sent` is read now, and `received` written until arrived(). Throws Error if MPI cannot use
    // this memory.
    Buffer(const char* call, const void* address, const Blocks& sent, const Blocks& received = {});
    // The same for a persistent request: nothing is read or checked before begin(), which may be
    // called again and again.
    static Buffer persistent(const void* address, const Blocks& sent, const Blocks& received);
    void begin(const char* call);

    // What the real MPI is given.
    void* get() const { return staged_ ? staged_.get() : address_; }
    // To be called when MPI has written to the buffer: checks once more that nothing else uses it,
    // and copies to the device what was received for it.
    void arrived() const;

private:
    void stage();
    bool host_memory() const;

    std::string call_;
    void* address_ = nullptr;
    Blocks sent_, received_;
    std::unique_ptr<std::byte[]> staged_;
};

// Whether device pointers may be given to MPI.
bool cuda_aware();

}  // namespace mpi_watch
