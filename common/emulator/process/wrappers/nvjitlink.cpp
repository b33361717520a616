// SPDX-License-Identifier: MIT
// nvJitLink for the emulated device. Its machine code is useless here. So PTX is linked as cuLink
// does it, and LTO-IR by the real library, which is asked for PTX. The "cubin" that results is an
// image that the emulated device's driver loads.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <unordered_set>
#include <vector>

#include "driver/link_images.h"
#include "process/wrappers/wrapped.h"

namespace {

// nvJitLinkResult and nvJitLinkInputType, by the numbers of nvJitLink.h.
enum Result : int {
    kSuccess = 0,
    kUnrecognizedOption = 1,
    kInvalidInput = 3,
    kPtxCompile = 4,
    kInternal = 6,
    kNullInput = 10,
    kLtoNotEnabled = 18
};
enum Input : int { kCubin = 1, kPtx, kLtoIr, kFatbin, kObject, kLibrary, kIndex, kAny = 10 };

template <class... T>
int call(const char* name, T... arguments) {
    const auto function = wrapper::real<int (*)(T...)>(name);
    return function ? function(arguments...) : int(kInternal);
}

struct Link {
    void* real = nullptr;  // with -lto: the real library's link
    bool wants_ptx = false, has_lto_input = false;
    std::vector<std::string> texts, names;  // PTX and fat binaries
    std::string errors;
    std::string ptx;
    std::vector<char> image;
    ~Link() {
        if (real) call("nvJitLinkDestroy", &real);
    }
};

std::mutex mutex;
std::unordered_set<Link*>& live() {
    static auto& instance = *new std::unordered_set<Link*>;
    return instance;
}

template <class F>
int with_link(void* handle, F&& body) {
    const std::lock_guard lock(mutex);
    auto* const link = static_cast<Link*>(handle);
    return live().contains(link) ? body(*link) : int(kInvalidInput);
}

int refuse(Link& link, int result, const std::string& why) {
    link.errors += why + "\n";
    return result;
}

std::string real_text(Link& link, const char* size_name, const char* text_name) {
    size_t bytes = 0;
    if (!link.real || call(size_name, link.real, &bytes) != kSuccess || bytes == 0) return "";
    std::string text(bytes, '\0');
    if (call(text_name, link.real, text.data()) != kSuccess) return "";
    text.resize(strnlen(text.data(), bytes));
    return text;
}

Input kind_of(const char* data, size_t bytes) {
    const auto starts = [&](const char* magic, size_t length) {
        return bytes >= length && std::memcmp(data, magic, length) == 0;
    };
    if (starts("\x7f"
               "ELF",
               4))
        return kCubin;
    if (starts("\x50\xed\x55\xba", 4) || starts("\xb1\x43\x62\x46", 4)) return kFatbin;
    if (starts("!<arch>", 7)) return kLibrary;
    if (std::string_view(data, bytes).find(".version") != std::string_view::npos) return kPtx;
    return kLtoIr;
}

int add(Link& link, int type, const char* data, size_t bytes, const std::string& name) {
    if (!data || !bytes) return kNullInput;
    if (type == kAny) type = kind_of(data, bytes);
    switch (type) {
    case kPtx:
    case kFatbin:
        link.texts.emplace_back(data, bytes);
        link.names.push_back(name);
        return kSuccess;
    case kLtoIr:
        if (!link.real) return refuse(link, kLtoNotEnabled, "LTO-IR needs the option -lto");
        link.has_lto_input = true;
        return call("nvJitLinkAddData",
                    link.real,
                    type,
                    static_cast<const void*>(data),
                    bytes,
                    name.c_str());
    case kLibrary:
        // The device runtime is part of the emulated device.
        if (name.find("cudadevrt") != std::string::npos) return kSuccess;
        [[fallthrough]];
    default:
        return refuse(link,
                      kInvalidInput,
                      (name.empty() ? "an input" : name) +
                          ": the emulated device links PTX, LTO-IR and fat binaries with PTX, but "
                          "no machine code, objects or libraries");
    }
}

int complete(Link& link) {
    if (link.has_lto_input) {
        if (const int error = call("nvJitLinkComplete", link.real)) return error;
        link.ptx = real_text(link, "nvJitLinkGetLinkedPtxSize", "nvJitLinkGetLinkedPtx");
        if (link.ptx.empty()) return refuse(link, kInternal, "nvJitLink returned no PTX");
        link.texts.push_back(link.ptx);
        link.names.emplace_back("the linked LTO-IR");
    }
    if (link.texts.empty()) return refuse(link, kInvalidInput, "nothing to link");
    std::vector<emulator::LinkInput> inputs;
    for (size_t i = 0; i < link.texts.size(); ++i)
        inputs.push_back({link.texts[i].data(), link.texts[i].size(), link.names[i].c_str()});
    const char* problem = nullptr;
    emulatorLinkImages(
        inputs.data(),
        inputs.size(),
        [](void* out, const char* bytes, size_t count) {
            static_cast<Link*>(out)->image.assign(bytes, bytes + count);
        },
        &link,
        &problem);
    return problem ? refuse(link, kPtxCompile, problem) : int(kSuccess);
}

int give(const void* data, size_t bytes, void* out) {
    if (!out) return kNullInput;
    std::memcpy(out, data, bytes);
    return kSuccess;
}
int tell(size_t bytes, size_t* out) {
    if (!out) return kNullInput;
    *out = bytes;
    return kSuccess;
}
std::string error_log(Link& link) {
    return real_text(link, "nvJitLinkGetErrorLogSize", "nvJitLinkGetErrorLog") + link.errors;
}
std::string info_log(Link& link) {
    return real_text(link, "nvJitLinkGetInfoLogSize", "nvJitLinkGetInfoLog");
}

}  // namespace

WRAPPER_API int nvJitLinkVersion(unsigned* major, unsigned* minor) {
    return call("nvJitLinkVersion", major, minor);
}
WRAPPER_API int nvJitLinkCreate(void** handle, uint32_t count, const char** options) {
    if (!handle || (count && !options)) return kNullInput;
    auto link = std::make_unique<Link>();
    std::vector<const char*> all(options, options + count);
    const auto has = [&](const char* name) {
        return std::any_of(
            all.begin(), all.end(), [&](const char* o) { return o && std::strcmp(o, name) == 0; });
    };
    link->wants_ptx = has("-ptx");
    const bool lto = has("-lto");
    if (lto && !link->wants_ptx) all.push_back("-ptx");
    if (lto && !has("-lineinfo") && !has("-g")) all.push_back("-lineinfo");
    // The real library also checks the options of a link that it has no part in.
    if (const int error = call("nvJitLinkCreate", &link->real, uint32_t(all.size()), all.data())) {
        link->real = nullptr;
        return error;
    }
    if (!lto) {
        call("nvJitLinkDestroy", &link->real);
        link->real = nullptr;
    }
    const std::lock_guard lock(mutex);
    live().insert(link.get());
    *handle = link.release();
    return kSuccess;
}
WRAPPER_API int nvJitLinkDestroy(void** handle) {
    if (!handle) return kNullInput;
    return with_link(*handle, [&](Link& link) {
        live().erase(&link);
        delete &link;
        *handle = nullptr;
        return int(kSuccess);
    });
}
WRAPPER_API int nvJitLinkAddData(void* handle, int type, const void* data, size_t bytes,
                                 const char* name) {
    return with_link(handle, [&](Link& link) {
        return add(link, type, static_cast<const char*>(data), bytes, name ? name : "");
    });
}
WRAPPER_API int nvJitLinkAddFile(void* handle, int type, const char* path) {
    return with_link(handle, [&](Link& link) -> int {
        if (!path) return kNullInput;
        std::ifstream file(path, std::ios::binary);
        if (!file) return refuse(link, kInvalidInput, std::string(path) + " cannot be read");
        std::ostringstream bytes;
        bytes << file.rdbuf();
        const std::string text = bytes.str();
        return add(link, type, text.data(), text.size(), path);
    });
}
WRAPPER_API int nvJitLinkComplete(void* handle) {
    return with_link(handle, complete);
}
WRAPPER_API int nvJitLinkGetLinkedCubinSize(void* handle, size_t* bytes) {
    return with_link(handle, [&](Link& link) { return tell(link.image.size(), bytes); });
}
WRAPPER_API int nvJitLinkGetLinkedCubin(void* handle, void* image) {
    return with_link(handle,
                     [&](Link& link) { return give(link.image.data(), link.image.size(), image); });
}
WRAPPER_API int nvJitLinkGetLinkedPtxSize(void* handle, size_t* bytes) {
    return with_link(handle, [&](Link& link) { return tell(link.ptx.size() + 1, bytes); });
}
WRAPPER_API int nvJitLinkGetLinkedPtx(void* handle, char* text) {
    return with_link(handle,
                     [&](Link& link) { return give(link.ptx.c_str(), link.ptx.size() + 1, text); });
}
WRAPPER_API int nvJitLinkGetLinkedLTOIRSize(void* handle, size_t* bytes) {
    return with_link(handle, [&](Link& link) {
        return link.real ? call("nvJitLinkGetLinkedLTOIRSize", link.real, bytes)
                         : int(kLtoNotEnabled);
    });
}
WRAPPER_API int nvJitLinkGetLinkedLTOIR(void* handle, void* image) {
    return with_link(handle, [&](Link& link) {
        return link.real ? call("nvJitLinkGetLinkedLTOIR", link.real, image) : int(kLtoNotEnabled);
    });
}
WRAPPER_API int nvJitLinkGetErrorLogSize(void* handle, size_t* bytes) {
    return with_link(handle, [&](Link& link) { return tell(error_log(link).size() + 1, bytes); });
}
WRAPPER_API int nvJitLinkGetErrorLog(void* handle, char* text) {
    return with_link(handle, [&](Link& link) {
        const std::string log = error_log(link);
        return give(log.c_str(), log.size() + 1, text);
    });
}
WRAPPER_API int nvJitLinkGetInfoLogSize(void* handle, size_t* bytes) {
    return with_link(handle, [&](Link& link) { return tell(info_log(link).size() + 1, bytes); });
}
WRAPPER_API int nvJitLinkGetInfoLog(void* handle, char* text) {
    return with_link(handle, [&](Link& link) {
        const std::string log = info_log(link);
        return give(log.c_str(), log.size() + 1, text);
    });
}
