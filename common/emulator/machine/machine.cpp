// SPDX-License-Identifier: MIT
// The Machine of the layer's interface: loads modules, and launches through the executor.
#include "machine/machine.h"

#include "machine/execute/executor.h"
#include "machine/units/builtins.h"

namespace machine {
namespace {

class MachineImage final : public Machine {
public:
    MachineImage(Memory& memory, Observers& observers, const Limits& limits)
        : limits_(limits), memory_(memory), observers_(observers),
          executor_(memory, observers, limits_) {}

    std::unique_ptr<LoadedModule> load(std::string text, std::string name, int device,
                                       uint64_t unit, const Variables* managed) override {
        auto module = ptx::Module::open(std::move(text), std::move(name));
        return std::make_unique<ModuleImage>(
            std::move(module), memory_, observers_, linker_, unit, device, managed);
    }

    LaunchSummary launch(const LaunchRequest& request) override {
        auto& kernel = static_cast<KernelImage&>(*request.kernel);
        executor_.heap_bytes = heap_bytes_;
        return executor_.launch(kernel, request, budget_, uint32_t(stack_bytes_), sink_);
    }

    void run_library_kernel(const std::string& name, const LaunchRequest& request,
                            const std::function<void()>& work) override {
        executor_.run_library_kernel(name, request, work);
    }

    const Limits& limits() const override { return limits_; }
    void set_budget(uint64_t thread_instructions) override { budget_ = thread_instructions; }
    void interrupt() override { executor_.interrupt(); }
    void set_heap_bytes(uint64_t bytes) override { heap_bytes_ = bytes; }
    void set_stack_bytes(uint64_t bytes) override {
        stack_bytes_ = std::min<uint64_t>(bytes, 512 << 10);
    }
    void set_textures(const TextureTable* textures) override { executor_.textures = textures; }
    void set_peers(uint64_t devices) override { executor_.reachable = devices; }
    void set_printf_sink(void (*sink)(const char*, size_t)) override { sink_ = sink; }

private:
    Limits limits_;
    Memory& memory_;
    Observers& observers_;
    Linker linker_;
    Executor executor_;
    uint64_t budget_ = 0, heap_bytes_ = 8 << 20, stack_bytes_ = 1024;
    void (*sink_)(const char*, size_t) = nullptr;
};

}  // namespace

std::unique_ptr<Machine> Machine::create(Memory& memory, Observers& observers,
                                         const Limits& limits) {
    return std::make_unique<MachineImage>(memory, observers, limits);
}

bool is_device_runtime_function(std::string_view name) {
    return find_builtin(name) != nullptr;
}

bool is_toolkit_function(std::string_view name) {
    return name.starts_with("cuda") || name.starts_with("__cuda");
}

}  // namespace machine
