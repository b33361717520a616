// SPDX-License-Identifier: MIT
// The images that cuModuleLoadData and cuLinkAddData accept, and the logs that a program may
// request.
#include <algorithm>
#include <cstring>
#include <fstream>

#include "driver/modules.h"
#include "ptx/container/fatbin.h"

namespace driver {
namespace {

using Image = runtime::FatBinary::Image;

constexpr char kPackedMagic[8] = {'\x7f', 'E', 'M', 'U', 'L', 'I', 'N', 'K'};
constexpr uint32_t kWrapperMagic = 0x466243b1;

template <class T>
void append(std::vector<char>& bytes, const T& value) {
    bytes.resize(bytes.size() + sizeof value);
    std::memcpy(bytes.data() + bytes.size() - sizeof value, &value, sizeof value);
}

std::vector<Image> unpack_image(const char* bytes) {
    std::vector<Image> out;
    uint64_t count = 0;
    const char* at = bytes + sizeof kPackedMagic;
    const auto take = [&](uint64_t& value) {
        std::memcpy(&value, at, sizeof value);
        at += sizeof value;
    };
    take(count);
    for (uint64_t i = 0; i < count; ++i) {
        uint64_t text = 0, name = 0;
        take(text);
        take(name);
        Image& image = out.emplace_back();
        image.text.assign(at, text);
        image.name.assign(at + text, name);
        at += text + name;
    }
    return out;
}

std::vector<Image> to_images(std::vector<ptx::PtxImage> found) {
    std::vector<Image> out;
    for (ptx::PtxImage& image : found)
        out.push_back({std::move(image.text), std::move(image.name), image.arch});
    return out;
}

}  // namespace

JitLog::JitLog(unsigned count, CUjit_option* options, void** values)
    : count_(count), options_(options), values_(values) {
    if (count && (!options || !values)) throw std::invalid_argument("options without values");
}

void JitLog::write() {
    const auto find = [&](CUjit_option wanted) -> void** {
        for (unsigned i = 0; i < count_; ++i)
            if (options_[i] == wanted) return &values_[i];
        return nullptr;
    };
    // On input the size is that of the buffer, on output the bytes written.
    const auto put = [&](CUjit_option buffer, CUjit_option size, const std::string& text) {
        void** const where = find(buffer);
        void** const room = find(size);
        if (!where || !*where || !room) return;
        const size_t bytes = reinterpret_cast<size_t>(*room);
        const size_t used = bytes ? std::min(bytes - 1, text.size()) : 0;
        if (bytes) {
            std::memcpy(*where, text.data(), used);
            static_cast<char*>(*where)[used] = 0;
        }
        *room = reinterpret_cast<void*>(used);
    };
    put(CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, infos_);
    put(CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, errors_);
    if (void** const time = find(CU_JIT_WALL_TIME)) *time = nullptr;  // 0 ms
}

std::vector<char> pack_image(const std::vector<Image>& texts) {
    std::vector<char> bytes(std::begin(kPackedMagic), std::end(kPackedMagic));
    append(bytes, uint64_t(texts.size()));
    for (const Image& image : texts) {
        append(bytes, uint64_t(image.text.size()));
        append(bytes, uint64_t(image.name.size()));
        bytes.insert(bytes.end(), image.text.begin(), image.text.end());
        bytes.insert(bytes.end(), image.name.begin(), image.name.end());
    }
    return bytes;
}

CUresult read_image(const void* image, JitLog& log, std::vector<std::vector<Image>>& objects) {
    if (!image) return CUDA_ERROR_INVALID_VALUE;
    const auto refuse = [&](CUresult result, const std::string& why) {
        log.error(why);
        runtime::warn_once(why);
        return result;
    };
    const char* const bytes = static_cast<const char*>(image);
    uint32_t magic = 0;
    const size_t readable = strnlen(bytes, sizeof magic);  // a text may be shorter
    if (readable == sizeof magic || bytes[0] == '\x7f' || bytes[0] == '\x50' ||
        bytes[0] == char(0xb1))
        std::memcpy(&magic, bytes, sizeof magic);
    try {
        if (magic == kWrapperMagic) {
            for (auto& found : ptx::read_all(image)) objects.push_back(to_images(std::move(found)));
        } else if (magic && ptx::is_container(image)) {
            objects.push_back(to_images(ptx::read_container(image)));
        } else if (magic && std::memcmp(bytes,
                                        "\x7f"
                                        "ELF",
                                        4) == 0) {
            return refuse(CUDA_ERROR_NO_BINARY_FOR_GPU,
                          "a module holds only machine code for particular GPUs (a cubin), which "
                          "the emulated device cannot run: load PTX instead");
        } else if (magic &&
                   std::memcmp(bytes,
                               "\x7f"
                               "EMU",
                               4) == 0 &&
                   std::memcmp(bytes, kPackedMagic, sizeof kPackedMagic) == 0) {
            for (Image& one : unpack_image(bytes)) objects.push_back({std::move(one)});
        } else {
            objects.push_back({{bytes, "PTX of the program", 0}});
        }
    } catch (const ptx::FatbinError& error) {
        return refuse(CUDA_ERROR_NO_BINARY_FOR_GPU, error.what());
    }
    if (objects.empty() || objects.front().empty())
        return refuse(CUDA_ERROR_NO_BINARY_FOR_GPU, "a module holds no PTX");
    return CUDA_SUCCESS;
}

}  // namespace driver
