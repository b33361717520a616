// SPDX-License-Identifier: MIT
// NVRTC, with source lines, and PTX where machine code is asked for: the emulated device runs PTX,
// and its driver takes PTX wherever it takes machine code.
#include <string>
#include <vector>

#include "emulator_api.h"
#include "process/wrappers/wrapped.h"

namespace {

using Program = struct OpaqueProgram*;
constexpr int kInternalError = 11;  // nvrtcResult

// "sm_90a" -> "compute_90a" in the value of -arch, and nothing else.
std::string virtual_arch(std::string value) {
    if (value.starts_with("sm_")) value = "compute_" + value.substr(3);
    return value;
}

std::vector<std::string> for_emulator(int count, const char* const* options) {
    std::vector<std::string> out;
    bool lines = false;
    for (int i = 0; i < count; ++i) {
        std::string option = options[i] ? options[i] : "";
        for (const std::string name : {"--gpu-architecture", "-arch", "--gpu-name"}) {
            if (option == name && i + 1 < count) {  // the value is the next option
                out.push_back(option);
                option = virtual_arch(options[++i]);
                break;
            }
            if (option.starts_with(name + "=")) {
                option = name + "=" + virtual_arch(option.substr(name.size() + 1));
                break;
            }
        }
        lines |= option == "-lineinfo" || option == "--generate-line-info" || option == "-G" ||
                 option == "--device-debug" || option == "-dlto" || option == "--dlto";
        out.push_back(option);
    }
    if (!lines) out.push_back("--generate-line-info");
    return out;
}

template <class... T>
int call(const char* name, T... arguments) {
    const auto function = wrapper::real<int (*)(T...)>(name);
    return function ? function(arguments...) : kInternalError;
}

}  // namespace

WRAPPER_API int nvrtcCreateProgram(Program* program, const char* text, const char* name, int count,
                                   const char* const* headers, const char* const* names) {
    emulatorSourceSet(name ? name : "default_program", text);
    return call("nvrtcCreateProgram", program, text, name, count, headers, names);
}
WRAPPER_API int nvrtcCompileProgram(Program program, int count, const char* const* options) {
    if (count < 0 || (count && !options))
        return call("nvrtcCompileProgram", program, count, options);
    const std::vector<std::string> changed = for_emulator(count, options);
    std::vector<const char*> pointers;
    for (const std::string& option : changed) pointers.push_back(option.c_str());
    return call("nvrtcCompileProgram",
                program,
                int(pointers.size()),
                static_cast<const char* const*>(pointers.data()));
}
WRAPPER_API int nvrtcGetCUBINSize(Program program, size_t* bytes) {
    return call("nvrtcGetPTXSize", program, bytes);
}
WRAPPER_API int nvrtcGetCUBIN(Program program, char* image) {
    return call("nvrtcGetPTX", program, image);
}

// All others are passed on as they are, whichever of them the real library has.
#define NAMES(X)                                                                                   \
    X(nvrtcVersion)                                                                                \
    X(nvrtcGetNumSupportedArchs)                                                                   \
    X(nvrtcGetSupportedArchs)                                                                      \
    X(nvrtcDestroyProgram)                                                                         \
    X(nvrtcGetErrorString)                                                                         \
    X(nvrtcGetPTXSize)                                                                             \
    X(nvrtcGetPTX)                                                                                 \
    X(nvrtcGetLTOIRSize)                                                                           \
    X(nvrtcGetLTOIR)                                                                               \
    X(nvrtcGetOptiXIRSize)                                                                         \
    X(nvrtcGetOptiXIR)                                                                             \
    X(nvrtcGetTileIRSize)                                                                          \
    X(nvrtcGetTileIR)                                                                              \
    X(nvrtcGetNVVMSize)                                                                            \
    X(nvrtcGetNVVM)                                                                                \
    X(nvrtcGetProgramLogSize)                                                                      \
    X(nvrtcGetProgramLog)                                                                          \
    X(nvrtcAddNameExpression)                                                                      \
    X(nvrtcGetLoweredName)                                                                         \
    X(nvrtcGetPCHHeapSize)                                                                         \
    X(nvrtcSetPCHHeapSize)                                                                         \
    X(nvrtcGetPCHCreateStatus)                                                                     \
    X(nvrtcGetPCHHeapSizeRequired)                                                                 \
    X(nvrtcSetFlowCallback)                                                                        \
    X(nvrtcGetBundledHeadersInfo)                                                                  \
    X(nvrtcInstallBundledHeaders)                                                                  \
    X(nvrtcRemoveBundledHeaders)
NAMES(PASS_ON)

namespace {

int wrapper_lacks() {
    return kInternalError;
}
__attribute__((constructor)) void fill() {
    NAMES(FILL)
}

}  // namespace
