// SPDX-License-Identifier: MIT
// cuLink: several PTX texts become one image. Missing and duplicate definitions are detected when
// the link completes, as documented.
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <unordered_set>

#include "driver/device_runtime.h"
#include "driver/link_images.h"
#include "driver/modules.h"
#include "machine/machine.h"

namespace driver {
namespace {

using Image = runtime::FatBinary::Image;

struct LinkState {
    JitLog log;
    std::vector<Image> inputs;
    std::vector<char> output;
};
std::unordered_set<const LinkState*>& live() {
    static auto& instance = *new std::unordered_set<const LinkState*>;
    return instance;
}

template <class F>
CUresult with_link(const char* name, CUlinkState handle, F&& body) {
    return run(name, [&]() -> CUresult {
        const std::lock_guard lock(runtime::context().mutex);
        auto* state = reinterpret_cast<LinkState*>(handle);
        return live().contains(state) ? body(*state) : CUDA_ERROR_INVALID_HANDLE;
    });
}

CUresult add(LinkState& state, CUjitInputType type, const void* data, size_t bytes,
             const char* name) {
    if (!data || !bytes) return CUDA_ERROR_INVALID_VALUE;
    // NVIDIA's device runtime: the emulated device has its functions.
    if (type == CU_JIT_INPUT_LIBRARY && name && std::strstr(name, "cudadevrt")) return CUDA_SUCCESS;
    if (type != CU_JIT_INPUT_PTX && type != CU_JIT_INPUT_FATBINARY) {
        const std::string why = "cuLink takes PTX and fat binaries with PTX; machine code, objects "
                                "and libraries cannot be linked for the emulated device";
        state.log.error(why);
        state.log.write();
        runtime::warn_once(why);
        return type == CU_JIT_INPUT_CUBIN ? CUDA_ERROR_NO_BINARY_FOR_GPU : CUDA_ERROR_NOT_SUPPORTED;
    }
    std::vector<std::vector<Image>> objects;
    // A text with a given length need not end with NUL.
    const std::string text(static_cast<const char*>(data), bytes);
    const void* image = type == CU_JIT_INPUT_PTX ? text.c_str() : data;
    if (const CUresult error = read_image(image, state.log, objects)) {
        state.log.write();
        return error;
    }
    const unsigned arch = runtime::context().arch();
    for (auto& images : objects) {
        Image* best = &images.front();
        for (Image& other : images)
            if (other.arch <= arch && (best->arch > arch || other.arch > best->arch)) best = &other;
        if (name && *name) best->name = name;
        // In the same text, so that its calls find the definitions.
        if (best->text.find(" cudaCGSynchronize") != best->text.npos ||
            best->text.find(" cudaCGGetIntrinsicHandle") != best->text.npos) {
            while (!best->text.empty() && best->text.back() == '\0') best->text.pop_back();
            best->text += kDeviceRuntime;
        }
        state.inputs.push_back(std::move(*best));
    }
    return CUDA_SUCCESS;
}

// Parses all inputs and matches definitions with uses. Throws ptx::ParseError with the problem.
void check(const std::vector<Image>& inputs) {
    struct Definition {
        std::string input;
        bool is_weak;
    };
    std::map<std::string, Definition> defined;
    std::vector<std::pair<std::string, std::string>> wanted;
    for (const Image& input : inputs) {
        const auto module = ptx::Module::open(input.text, input.name);
        const auto define = [&](std::string_view symbol, bool exported, bool is_weak) {
            if (!exported) return;
            const auto [known, fresh] =
                defined.try_emplace(std::string(symbol), Definition{input.name, is_weak});
            if (fresh || is_weak) return;
            if (!known->second.is_weak)
                throw ptx::ParseError("`" + std::string(symbol) + "` is defined in " +
                                      known->second.input + " and in " + input.name);
            known->second = {input.name, false};
        };
        for (const auto& header : module->functions())
            if (!header.is_declaration) define(header.name, header.is_exported, header.is_weak);
        for (const MissingCallee& missing : missing_callees(*module))
            wanted.emplace_back(missing.name, input.name);
        for (const auto& variable : module->variables()) {
            if (variable.is_extern && variable.bytes)
                wanted.emplace_back(variable.name, input.name);
            else if (!variable.is_extern)
                define(variable.name, variable.is_exported, variable.is_weak);
        }
    }
    for (const auto& [symbol, where] : wanted)
        if (!defined.contains(symbol))
            throw ptx::ParseError("`" + symbol + "` is used in " + where +
                                  " but not defined by any input of the link");
}

CUresult complete(LinkState& state, void** image, size_t* bytes) {
    if (!image) return CUDA_ERROR_INVALID_VALUE;
    try {
        check(state.inputs);
    } catch (const ptx::ParseError& problem) {
        state.log.error(problem.what());
        state.log.write();
        runtime::warn_once(std::string("cannot link PTX: ") + problem.what());
        return CUDA_ERROR_INVALID_PTX;
    }
    state.log.write();
    state.output = pack_image(state.inputs);
    *image = state.output.data();
    if (bytes) *bytes = state.output.size();
    return CUDA_SUCCESS;
}

}  // namespace
}  // namespace driver

using namespace driver;

DRIVER_API CUresult cuLinkCreate_v2(unsigned count, CUjit_option* options, void** values,
                                    CUlinkState* result) {
    return run("cuLinkCreate", [&] {
        if (!result || (count && (!options || !values))) return CUDA_ERROR_INVALID_VALUE;
        const std::lock_guard lock(runtime::context().mutex);
        auto* state = new LinkState{JitLog(count, options, values), {}, {}};
        live().insert(state);
        *result = reinterpret_cast<CUlinkState>(state);
        return CUDA_SUCCESS;
    });
}
DRIVER_API CUresult cuLinkAddData_v2(CUlinkState handle, CUjitInputType type, void* data,
                                     size_t bytes, const char* name, unsigned, CUjit_option*,
                                     void**) {
    return with_link("cuLinkAddData", handle, [&](LinkState& state) {
        return add(state, type, data, bytes, name);
    });
}
DRIVER_API CUresult cuLinkAddFile_v2(CUlinkState handle, CUjitInputType type, const char* path,
                                     unsigned, CUjit_option*, void**) {
    return with_link("cuLinkAddFile", handle, [&](LinkState& state) -> CUresult {
        if (!path) return CUDA_ERROR_INVALID_VALUE;
        std::ifstream file(path, std::ios::binary);
        if (!file) return CUDA_ERROR_FILE_NOT_FOUND;
        std::ostringstream text;
        text << file.rdbuf();
        const std::string bytes = text.str();
        return add(state, type, bytes.data(), bytes.size(), path);
    });
}
DRIVER_API CUresult cuLinkComplete(CUlinkState handle, void** image, size_t* bytes) {
    return with_link(
        "cuLinkComplete", handle, [&](LinkState& state) { return complete(state, image, bytes); });
}
DRIVER_API CUresult cuLinkDestroy(CUlinkState handle) {
    return with_link("cuLinkDestroy", handle, [&](LinkState& state) {
        live().erase(&state);
        delete &state;
        return CUDA_SUCCESS;
    });
}

DRIVER_API void emulatorLinkImages(const emulator::LinkInput* inputs, size_t count,
                                   void (*take)(void*, const char*, size_t), void* out,
                                   const char** problem) {
    static thread_local std::string why;
    why.clear();
    const std::lock_guard lock(runtime::context().mutex);
    LinkState state{JitLog(0, nullptr, nullptr), {}, {}};
    for (size_t i = 0; i < count && why.empty(); ++i) {
        const auto starts = [&](const char* magic) {
            return inputs[i].bytes >= 4 && std::memcmp(inputs[i].data, magic, 4) == 0;
        };
        const bool is_fatbin = starts("\x50\xed\x55\xba") || starts("\xb1\x43\x62\x46");
        const auto type = is_fatbin ? CU_JIT_INPUT_FATBINARY : CU_JIT_INPUT_PTX;
        if (add(state, type, inputs[i].data, inputs[i].bytes, inputs[i].name) != CUDA_SUCCESS)
            why = state.log.errors();
    }
    void* image = nullptr;
    size_t bytes = 0;
    if (why.empty() && complete(state, &image, &bytes) != CUDA_SUCCESS) why = state.log.errors();
    if (why.empty()) take(out, static_cast<const char*>(image), bytes);
    *problem = why.empty() ? nullptr : why.c_str();
}
