// SPDX-License-Identifier: MIT
#include "ptx/container/fatbin.h"

#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>

#include "ptx/container/mapped_bytes.h"

namespace ptx {
namespace {

constexpr uint32_t kWrapperMagic = 0x466243b1, kContainerMagic = 0xba55ed50;
constexpr uint64_t kMaxText = uint64_t(1) << 30;  // 1 GiB: a larger size means a damaged file
constexpr uint64_t kMaxContainer = uint64_t(1) << 32;
constexpr size_t kContainerHeader = 16, kEntryHeader = 0x40;
constexpr size_t kMaxContainers = 1 << 16;
constexpr uint16_t kPtx = 1;
constexpr uint64_t kFlagLz4 = 0x2000, kFlagZstd = 0x8000;
constexpr std::string_view kAdvice =
    "compile with `-gencode arch=compute_75,code=compute_75` (or `-arch=compute_75`), so that the "
    "program carries PTX";

struct Wrapper {
    uint32_t magic;
    uint32_t version;
    const void* container;
    const void* objects;  // version 2: NULL-terminated array of containers
};

template <class T>
T read(std::span<const std::byte> bytes, size_t offset) {
    if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) {
        throw FatbinError("The fat binary is truncated: a field at byte " + std::to_string(offset) +
                          " is past its end at byte " + std::to_string(bytes.size()) + ".");
    }
    T value;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
}

std::span<const std::byte> slice(std::span<const std::byte> bytes, uint64_t offset, uint64_t size,
                                 const char* what) {
    if (offset > bytes.size() || size > bytes.size() - offset) {
        throw FatbinError(std::string("The fat binary is truncated: ") + what + " of " +
                          std::to_string(size) + " bytes at byte " + std::to_string(offset) +
                          " does not fit into " + std::to_string(bytes.size()) + " bytes.");
    }
    return bytes.subspan(size_t(offset), size_t(size));
}

std::string as_text(std::span<const std::byte> bytes) {
    std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    text.resize(std::min(text.size(), text.find('\0')));
    return text;
}

std::string trimmed(std::string text) {
    const size_t first = text.find_first_not_of(' ');
    if (first == std::string::npos) return {};
    return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::string inflate(std::span<const std::byte> payload, uint64_t wanted, Compression how) {
    if (wanted == 0 || wanted > kMaxText) {
        throw FatbinError("The fat binary is damaged: an uncompressed size of " +
                          std::to_string(wanted) + " bytes is not plausible.");
    }
    // The limits of both formats, so that a small damaged file cannot request a lot of memory. A
    // byte of LZ4 expands to 255 at most; a block of zstd has at least 4 bytes and expands to 128
    // KiB. LZ4's interface also counts in int.
    const uint64_t most = how == Compression::kLz4 ? (payload.size() + 1) * 255
                                                   : (payload.size() / 4 + 1) * (128 << 10);
    if (wanted > most || payload.size() > kMaxText) {
        throw FatbinError("The fat binary is damaged: its compressed data cannot hold " +
                          std::to_string(wanted) + " bytes.");
    }
    if (how == Compression::kZstd) {
        const unsigned long long content = ZSTD_getFrameContentSize(payload.data(), payload.size());
        if (content == ZSTD_CONTENTSIZE_ERROR ||
            (content != ZSTD_CONTENTSIZE_UNKNOWN && content != wanted)) {
            throw FatbinError("The fat binary is damaged: its zstd data does not hold " +
                              std::to_string(wanted) + " bytes.");
        }
    }
    std::string text(size_t(wanted), '\0');
    if (how == Compression::kZstd) {
        const size_t got =
            ZSTD_decompress(text.data(), text.size(), payload.data(), payload.size());
        if (ZSTD_isError(got) || got != wanted) {
            throw FatbinError("The fat binary is damaged: its zstd data cannot be decompressed (" +
                              std::string(ZSTD_isError(got) ? ZSTD_getErrorName(got) : "short") +
                              ").");
        }
    } else {
        const int got = LZ4_decompress_safe(reinterpret_cast<const char*>(payload.data()),
                                            text.data(),
                                            int(payload.size()),
                                            int(text.size()));
        if (got < 0 || uint64_t(got) != wanted) {
            throw FatbinError("The fat binary is damaged: its LZ4 data cannot be decompressed.");
        }
    }
    text.resize(std::min(text.size(), text.find('\0')));
    return text;
}

// One entry's header starts at `at`; `payload` is what follows it.
PtxImage read_image(std::span<const std::byte> bytes, size_t at, std::span<const std::byte> header,
                    std::span<const std::byte> payload) {
    PtxImage image;
    const uint32_t compressed = read<uint32_t>(bytes, at + 0x10);
    const uint32_t options = read<uint32_t>(bytes, at + 0x14);
    image.isa_minor = read<uint16_t>(bytes, at + 0x18);
    image.isa_major = read<uint16_t>(bytes, at + 0x1a);
    image.arch = read<uint32_t>(bytes, at + 0x1c);
    const uint32_t name = read<uint32_t>(bytes, at + 0x20);
    const uint32_t name_bytes = read<uint32_t>(bytes, at + 0x24);
    const uint64_t flags = read<uint64_t>(bytes, at + 0x28);
    const uint64_t plain = read<uint64_t>(bytes, at + 0x38);
    if (name != 0 && name_bytes != 0)
        image.name = as_text(slice(header, name, name_bytes, "a name"));
    if (options != 0) {
        const uint32_t where = read<uint32_t>(header, options);
        const uint32_t length = read<uint32_t>(header, size_t(options) + 4);
        image.options = trimmed(as_text(slice(header, where, length, "a list of options")));
    }
    if (flags & kFlagZstd)
        image.compression = Compression::kZstd;
    else if (flags & kFlagLz4)
        image.compression = Compression::kLz4;
    else if (compressed != 0) {
        throw FatbinError("The fat binary uses a compression that is neither zstd nor LZ4 (flags " +
                          std::to_string(flags) + "): compile with --no-compress.");
    }
    if (image.compression == Compression::kNone)
        image.text = as_text(payload);
    else
        image.text =
            inflate(slice(payload, 0, compressed, "compressed PTX"), plain, image.compression);
    return image;
}

uint64_t container_bytes(std::span<const std::byte> head) {
    if (read<uint32_t>(head, 0) != kContainerMagic) {
        throw FatbinError("These bytes are not a fat binary: the magic number is missing.");
    }
    const uint16_t header = read<uint16_t>(head, 6);
    const uint64_t body = read<uint64_t>(head, 8);
    if (header < kContainerHeader || body > kMaxContainer) {
        throw FatbinError("The fat binary is damaged: a size of " + std::to_string(body) +
                          " bytes is not plausible.");
    }
    return header + body;
}

struct Contents {
    std::vector<PtxImage> images;
    size_t compiled = 0;  // entries that are not PTX
};

Contents read_contents(std::span<const std::byte> bytes) {
    const uint64_t total = container_bytes(bytes);
    bytes = slice(bytes, 0, total, "a container");
    Contents out;
    for (size_t at = read<uint16_t>(bytes, 6); at < bytes.size();) {
        if (bytes.size() - at < kEntryHeader) break;  // padding
        const uint16_t kind = read<uint16_t>(bytes, at);
        const uint32_t header_bytes = read<uint32_t>(bytes, at + 4);
        const uint64_t payload_bytes = read<uint64_t>(bytes, at + 8);
        if (kind == 0 && header_bytes == 0 && payload_bytes == 0) break;
        if (header_bytes < kEntryHeader) {
            throw FatbinError("The fat binary is damaged: an entry's header of " +
                              std::to_string(header_bytes) + " bytes is too short.");
        }
        const auto header = slice(bytes, at, header_bytes, "an entry's header");
        const auto payload = slice(bytes, at + header_bytes, payload_bytes, "an entry");
        if (kind == kPtx)
            out.images.push_back(read_image(bytes, at, header, payload));
        else
            ++out.compiled;
        at += size_t(header_bytes + payload_bytes);
    }
    return out;
}

void refuse_sass(const Contents& contents) {
    if (contents.images.empty() && contents.compiled > 0) {
        throw FatbinError(
            "The program contains only machine code for particular GPUs (SASS) and no PTX: " +
            std::string(kAdvice) + ".");
    }
}

}  // namespace

std::vector<PtxImage> read_container(std::span<const std::byte> bytes, bool require_ptx) {
    Contents contents = read_contents(bytes);
    if (require_ptx) refuse_sass(contents);
    return std::move(contents.images);
}

bool is_container(const void* bytes) {
    uint32_t magic = 0;
    std::memcpy(&magic, bytes, sizeof magic);
    return magic == kContainerMagic;
}

// The container's header has its length, but may be damaged.
static Contents contents_at(const void* container) {
    const auto* begin = static_cast<const std::byte*>(container);
    const size_t head = mapped_bytes(container, kContainerHeader);
    const size_t total = size_t(container_bytes({begin, head}));
    return read_contents({begin, mapped_bytes(container, total)});
}

std::vector<PtxImage> read_container(const void* container) {
    Contents contents = contents_at(container);
    refuse_sass(contents);
    return std::move(contents.images);
}

std::vector<std::vector<PtxImage>> read_all(const void* wrapper) {
    Wrapper head;
    if (!wrapper) throw FatbinError("There is no fat binary: the wrapper is null.");
    std::memcpy(&head, wrapper, sizeof head);
    if (head.magic != kWrapperMagic) {
        throw FatbinError("This is not the wrapper of a fat binary: the magic number is missing.");
    }
    if (head.version != 1 && head.version != 2) {
        throw FatbinError("The wrapper of the fat binary has version " +
                          std::to_string(head.version) +
                          "; only 1 and 2 are supported: compile with CUDA 12 or 13.");
    }
    std::vector<const void*> containers;
    if (head.container) containers.push_back(head.container);
    if (head.version == 2 && head.objects) {
        const auto* objects = static_cast<const void* const*>(head.objects);
        for (; *objects; ++objects) {
            if (containers.size() == kMaxContainers) {
                throw FatbinError("The fat binary is damaged: its list of objects has no end.");
            }
            containers.push_back(*objects);
        }
    }
    std::vector<std::vector<PtxImage>> out;
    Contents all;
    for (const void* container : containers) {
        Contents contents = contents_at(container);
        all.compiled += contents.compiled;
        if (!contents.images.empty()) out.push_back(std::move(contents.images));
    }
    if (out.empty()) refuse_sass(all);
    return out;
}

std::vector<PtxImage> read_wrapper(const void* wrapper, unsigned max_arch) {
    std::vector<PtxImage> out;
    for (const auto& images : read_all(wrapper)) out.push_back(*best_image(images, max_arch));
    return out;
}

const PtxImage* best_image(const std::vector<PtxImage>& images, unsigned max_arch) {
    const PtxImage* best = nullptr;
    const auto fits = [&](const PtxImage& image) {
        return max_arch == 0 || image.arch <= max_arch;
    };
    for (const PtxImage& image : images) {
        if (!best || (fits(image) && !fits(*best)) ||
            (fits(image) && fits(*best) && image.arch > best->arch) ||
            (!fits(image) && !fits(*best) && image.arch < best->arch)) {
            best = &image;
        }
    }
    return best;
}

}  // namespace ptx
