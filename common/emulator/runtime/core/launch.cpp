// SPDX-License-Identifier: MIT
// Launches kernels: limits, arguments, execution, and the resulting error.
#include "runtime/core/launch.h"

#include <algorithm>
#include <cstring>

#include "runtime/core/end_request.h"
#include "runtime/host_watch/host_sites.h"
#include "runtime/host_watch/internal_error.h"

namespace runtime {
namespace {

std::string shape(const dim3& size) {
    return "(" + std::to_string(size.x) + "," + std::to_string(size.y) + "," +
           std::to_string(size.z) + ")";
}

std::string written(const Launch& launch, const std::string& kernel) {
    std::string text = "`" + kernel + "<<<" + shape(launch.grid) + ", " + shape(launch.block);
    if (launch.shared) text += ", " + std::to_string(launch.shared);
    return text + ">>>`: ";
}

machine::Dim3 to_machine(const dim3& size) {
    return {size.x, size.y, size.z};
}

// What is wrong with the shape, to follow "`kernel<<<...>>>`: "; empty if nothing is.
std::string shape_problem(const Launch& launch, const machine::Limits& limits) {
    const uint64_t threads = to_machine(launch.block).count();
    if (!launch.grid.x || !launch.grid.y || !launch.grid.z)
        return "a grid of 0 blocks; every grid dimension must be at least 1";
    if (!launch.block.x || !launch.block.y || !launch.block.z)
        return "a block of 0 threads; every block dimension must be at least 1";
    const auto over = [](const char* what, char axis, uint32_t asked, uint32_t allowed) {
        return std::string("a ") + what + " of " + std::to_string(asked) + " in " + axis +
               "; at most " + std::to_string(allowed) + " are allowed there";
    };
    const uint32_t grid[3] = {launch.grid.x, launch.grid.y, launch.grid.z};
    const uint32_t block[3] = {launch.block.x, launch.block.y, launch.block.z};
    const uint32_t grid_limit[3] = {limits.grid.x, limits.grid.y, limits.grid.z};
    const uint32_t block_limit[3] = {limits.block.x, limits.block.y, limits.block.z};
    if (threads > limits.threads_per_block)
        return "a block of " + std::to_string(threads) + " threads; at most " +
               std::to_string(limits.threads_per_block) + " are allowed";
    for (int i = 0; i < 3; ++i) {
        if (grid[i] > grid_limit[i]) return over("grid", char('x' + i), grid[i], grid_limit[i]);
        if (block[i] > block_limit[i])
            return over("block", char('x' + i), block[i], block_limit[i]);
    }
    return {};
}

cudaError_t error_of(machine::LaunchStatus status) {
    using machine::LaunchStatus;
    switch (status) {
    case LaunchStatus::kOk:
        return cudaSuccess;
    case LaunchStatus::kIllegalAddress:
        return cudaErrorIllegalAddress;
    case LaunchStatus::kMisaligned:
        return cudaErrorMisalignedAddress;
    case LaunchStatus::kAssert:
        return cudaErrorAssert;
    case LaunchStatus::kTrap:
        return cudaErrorLaunchFailure;
    case LaunchStatus::kDeadlock:
    case LaunchStatus::kBudget:
        return cudaErrorLaunchTimeout;
    case LaunchStatus::kStackOverflow:
        return cudaErrorHardwareStackError;
    case LaunchStatus::kUnsupported:
        return cudaErrorNotSupported;
    }
    return cudaErrorUnknown;
}

// The program must call cudaGetLastError for this error; `<<<>>>` cannot return it.
void add_unchecked(Call& call, const Launch& launch, cudaError_t error, bool asynchronous) {
    const std::string kernel = launch.kernel ? launch.kernel->name : "?";
    call.global.unchecked.push_back({error, launch.site, kernel, asynchronous});
}

cudaError_t reject(Call& call, const Launch& launch, Call::Reason reason, cudaError_t error,
                   const std::string& problem) {
    return call.misuse(machine::ApiEvent::Kind::kInvalidLaunch,
                       reason,
                       error,
                       written(launch, launch.kernel->name) + problem,
                       0,
                       nullptr,
                       0,
                       launch.kernel->name);
}

}  // namespace

std::vector<std::byte> pack_arguments(const machine::Kernel& kernel, void** args) {
    std::vector<std::byte> packed(kernel.parameter_bytes());
    for (size_t i = 0; i < kernel.parameters().size(); ++i) {
        const ptx::Parameter& parameter = kernel.parameters()[i];
        if (parameter.bytes)
            std::memcpy(packed.data() + parameter.offset, args[i], parameter.bytes);
    }
    return packed;
}

uint32_t dynamic_shared_limit(const KernelRecord& record, int device, const machine::Limits& limits,
                              uint32_t static_bytes) {
    const auto found = record.devices.find(device);
    if (found != record.devices.end() && found->second.max_dynamic_set)
        return found->second.max_dynamic_shared;
    return limits.shared_per_block - std::min(limits.shared_per_block, static_bytes);
}

uint32_t resident_blocks(const machine::Limits& limits, machine::Kernel& kernel, uint64_t threads,
                         uint64_t dynamic_shared) {
    if (!threads || threads > limits.threads_per_block || threads > kernel.max_threads()) return 0;
    const uint64_t warps = (threads + 31) / 32;
    uint64_t blocks = std::min<uint64_t>(limits.blocks_per_multiprocessor,
                                         limits.threads_per_multiprocessor / (warps * 32));
    // Registers are allocated to warps in units of 256, shared memory in units of 256 bytes. The
    // number of registers is an estimate, so it never makes the result zero.
    const uint64_t per_warp = (uint64_t(kernel.registers()) * 32 + 255) / 256 * 256;
    if (per_warp)
        blocks = std::min(
            blocks, std::max<uint64_t>(1, limits.registers_per_multiprocessor / per_warp / warps));
    const uint64_t shared =
        (kernel.static_shared_bytes() + dynamic_shared + limits.shared_reserved + 255) / 256 * 256;
    if (shared) blocks = std::min(blocks, limits.shared_per_multiprocessor / shared);
    return uint32_t(blocks);
}

cudaError_t check_launch(Call& call, const Launch& launch, machine::Kernel& kernel) {
    const machine::Limits& limits = call.global.machine(call.thread.device).limits();
    const std::string problem = shape_problem(launch, limits);
    if (!problem.empty()) {
        const bool empty = !to_machine(launch.grid).count() || !to_machine(launch.block).count();
        return reject(call,
                      launch,
                      empty ? Call::Reason::kEmptyGrid : Call::Reason::kTooManyThreads,
                      cudaErrorInvalidConfiguration,
                      problem);
    }

    const machine::Dim3 required = kernel.required_block();
    const dim3 only(required.x, required.y, required.z);
    if (required.x &&
        (launch.block.x != only.x || launch.block.y != only.y || launch.block.z != only.z))
        return reject(call,
                      launch,
                      Call::Reason::kUnknown,
                      cudaErrorInvalidValue,
                      "a block of " + shape(launch.block) +
                          " threads; the kernel was compiled (.reqntid) for blocks of exactly " +
                          shape(only));

    const uint64_t threads = to_machine(launch.block).count();
    if (threads > kernel.max_threads())
        return reject(call,
                      launch,
                      Call::Reason::kTooManyThreads,
                      cudaErrorInvalidValue,  // as on an H200; not documented
                      "a block of " + std::to_string(threads) +
                          " threads; the kernel's __launch_bounds__ allow " +
                          std::to_string(kernel.max_threads()));

    const uint32_t fixed = kernel.static_shared_bytes();
    const uint32_t allowed =
        dynamic_shared_limit(*launch.kernel, call.thread.device, limits, fixed);
    if (launch.shared > allowed) {
        const uint32_t optin =
            limits.shared_per_block_optin - std::min(limits.shared_per_block_optin, fixed);
        std::string text = std::to_string(launch.shared) +
                           " bytes of dynamic shared memory; at most " + std::to_string(allowed) +
                           " are allowed";
        if (fixed) text += " in addition to the kernel's static " + std::to_string(fixed);
        if (launch.shared <= optin)
            text += ", or " + std::to_string(optin) +
                    " after cudaFuncSetAttribute(kernel, "
                    "cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)";
        return reject(call, launch, Call::Reason::kTooMuchShared, cudaErrorInvalidValue, text);
    }
    if (launch.cooperative) {
        const uint64_t most = uint64_t(limits.multiprocessors) *
                              resident_blocks(limits, kernel, threads, launch.shared);
        const uint64_t blocks = to_machine(launch.grid).count();
        if (blocks > most)
            return reject(call,
                          launch,
                          Call::Reason::kUnknown,
                          cudaErrorCooperativeLaunchTooLarge,
                          "a cooperative grid of " + std::to_string(blocks) + " blocks; at most " +
                              std::to_string(most) + " of this size fit on the device at a time");
    }
    return cudaSuccess;
}

static cudaError_t unsupported(Call& call, const Launch& launch, cudaError_t error,
                               const char* why) {
    const std::string& name = launch.kernel->name;
    return refuse(call, error, "cannot run kernel `" + name + "`: " + why, name);
}

cudaError_t run_launch(Call& call, Launch& launch, Stream& stream) {
    const int device = stream.device;
    machine::Machine& machine = call.global.machine(device);
    machine::Kernel* kernel = nullptr;
    const DeviceWork work;
    cudaError_t error = resolve_kernel(call, *launch.kernel, device, kernel);
    if (error != cudaSuccess) return error;
    machine::LaunchSummary summary;
    try {
        error = check_launch(call, launch, *kernel);
        if (error != cudaSuccess) return error;
        machine::LaunchRequest request;
        request.kernel = kernel;
        request.grid = to_machine(launch.grid);
        request.block = to_machine(launch.block);
        request.dynamic_shared_bytes = uint32_t(launch.shared);
        request.arguments = launch.arguments;
        request.stream = stream.id;
        request.device = device;
        request.cooperative = launch.cooperative;
        request.site = launch.site;
        const EndRequest end(machine);
        summary = machine.launch(request);
    } catch (const machine::UnsupportedPtx& problem) {
        return unsupported(call, launch, cudaErrorNotSupported, problem.what());
    } catch (const ptx::ParseError& problem) {
        return unsupported(call, launch, cudaErrorInvalidPtx, problem.what());
    }
    const cudaError_t fault = error_of(summary.status);
    if (fault != cudaSuccess) {
        call.global.devices[size_t(device)].fault = fault;
        add_unchecked(call, launch, fault, true);
    }
    return cudaSuccess;
}

cudaError_t launch_api(Call& call, const void* function, dim3 grid, dim3 block, void** args,
                       size_t shared, cudaStream_t handle, bool cooperative) {
    const bool from_stub = call.thread.in_launch_stub;
    call.thread.in_launch_stub = false;
    Launch launch{find_kernel(function), grid, block, shared, cooperative, call.site(), {}};
    const auto finish = [&](cudaError_t error) {
        if (error != cudaSuccess && from_stub) add_unchecked(call, launch, error, false);
        return error;
    };
    Stream* stream = find_stream(call, handle);
    if (!stream || stream->device != call.thread.device)
        return finish(cudaErrorInvalidResourceHandle);
    if (!launch.kernel) {
        warn_once("the launched function is not a kernel of this program, or was compiled without "
                  "PTX. Compile with -gencode arch=compute_75,code=compute_75");
        return finish(cudaErrorInvalidDeviceFunction);
    }
    machine::Kernel* kernel = nullptr;
    if (const cudaError_t error = resolve_kernel(call, *launch.kernel, call.thread.device, kernel))
        return finish(error);
    if (!args && !kernel->parameters().empty()) return finish(cudaErrorInvalidValue);
    launch.arguments = pack_arguments(*kernel, args);
    Work work{Work::Kind::kKernel, call.name, [launch](Call& later, Stream& where) mutable {
                  return run_launch(later, launch, where);
              }};
    if (stream->capture) {
        if (const cudaError_t error = check_launch(call, launch, *kernel)) return finish(error);
        launch.function = function;
        for (const auto& parameter : kernel->parameters())
            launch.offsets.push_back(parameter.offset);
        work.launch = std::make_shared<const Launch>(launch);
    }
    return finish(submit(call, *stream, std::move(work)));
}

}  // namespace runtime

using namespace runtime;

static cudaError_t launch(const char* name, const void* function, dim3 grid, dim3 block,
                          void** args, size_t shared, cudaStream_t stream, bool cooperative) {
    return api(name, [&](Call& call) {
        return launch_api(call, function, grid, block, args, shared, stream, cooperative);
    });
}

EMULATOR_API cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** args,
                                            size_t shared, cudaStream_t stream) {
    return launch("<<<>>>", kernel, grid, block, args, shared, stream, false);
}
EMULATOR_API cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** args,
                                          size_t shared, cudaStream_t stream) {
    return launch("cudaLaunchKernel", function, grid, block, args, shared, stream, false);
}
EMULATOR_API cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block,
                                                     void** args, size_t shared,
                                                     cudaStream_t stream) {
    return launch("cudaLaunchCooperativeKernel", function, grid, block, args, shared, stream, true);
}

// Clusters need compute capability 9.0; the other attributes are hints without effect here.
EMULATOR_API cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function,
                                             void** args) {
    return api("cudaLaunchKernelExC", [&](Call& call) -> cudaError_t {
        if (!config || (config->numAttrs && !config->attrs)) return cudaErrorInvalidValue;
        bool cooperative = false;
        for (unsigned i = 0; i < config->numAttrs; ++i) {
            const cudaLaunchAttribute& attribute = config->attrs[i];
            if (attribute.id == cudaLaunchAttributeCooperative)
                cooperative = attribute.val.cooperative != 0;
            if (attribute.id == cudaLaunchAttributeClusterDimension) {
                const auto& cluster = attribute.val.clusterDim;
                if (uint64_t(cluster.x) * cluster.y * cluster.z > 1)
                    return call.misuse(
                        machine::ApiEvent::Kind::kInvalidLaunch,
                        Call::Reason::kUnknown,
                        cudaErrorInvalidClusterSize,
                        "a launch with thread block clusters, which the emulated device does not "
                        "have");
            }
        }
        return launch_api(call,
                          function,
                          config->gridDim,
                          config->blockDim,
                          args,
                          config->dynamicSmemBytes,
                          config->stream,
                          cooperative);
    });
}
