// SPDX-License-Identifier: MIT
// Extracts the PTX from the fat binaries that nvcc embeds in a program. The layout has no public
// documentation; it was measured on nvcc 13 (wrapper, container, entries; zstd, LZ4 or
// uncompressed).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace ptx {

enum class Compression : uint8_t { kNone, kLz4, kZstd };

// One PTX text of a fat binary.
struct PtxImage {
    std::string text;   // without the terminating NUL padding
    unsigned arch = 0;  // 75 for compute_75
    unsigned isa_major = 0, isa_minor = 0;
    Compression compression = Compression::kNone;
    std::string name;     // the source file as nvcc recorded it; may be empty
    std::string options;  // for instance "--generate-line-info"; may be empty
};

// The bytes are not a fat binary, or have no usable PTX. what() is a full sentence with advice.
class FatbinError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// All PTX images of one container (header and entries), in file order; compiled (SASS) entries are
// skipped. Reads nothing outside `bytes`: every offset and size is checked. Throws FatbinError.
// The list is empty for an empty container, and for one with only SASS unless `require_ptx`.
std::vector<PtxImage> read_container(std::span<const std::byte> bytes, bool require_ptx = false);

// The same for a container in memory, whose header contains its length.
std::vector<PtxImage> read_container(const void* container);
// Whether `bytes` (at least 16 of them) begin with a container's header.
bool is_container(const void* bytes);

// All PTX images that a wrapper refers to, one list for each container that has PTX (see
// read_wrapper).
std::vector<std::vector<PtxImage>> read_all(const void* wrapper);

// The containers of a wrapper as __cudaRegisterFatBinary receives it: one for version 1; for
// version 2 (-rdc) the linked image and each object's. For every container that has PTX, the result
// has its best image: the highest arch not above `max_arch` (0: no limit), else the lowest. With
// -rdc one container is the toolkit's own device runtime, often for a newer arch: check
// PtxImage::arch. `wrapper` must point at a live wrapper. Throws FatbinError; if there is only
// SASS, the message names the nvcc option that adds PTX.
std::vector<PtxImage> read_wrapper(const void* wrapper, unsigned max_arch = 0);

// The image of `images` with the highest arch not above `max_arch`, else the lowest; null if empty.
const PtxImage* best_image(const std::vector<PtxImage>& images, unsigned max_arch);

}  // namespace ptx
