// SPDX-License-Identifier: MIT
// libFuzzer: text loaded into a machine, every kernel decoded, launched with a tiny budget, and
// that twice: without observers, and with every checker. Memory that kernels may not write is
// looked at after each.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "../machine/hostile_target.h"
#include "checks/checks.h"
#include "checks/report/report.h"
#include "machine/program/sites.h"

namespace {

constexpr uint64_t kTinyBudget = 1 << 16;
// Allocations are remembered for ever: a new device now and then.
constexpr unsigned kRunsOfTarget = 64;

struct Device {
    explicit Device(const char* selection)
        : checkers(
              checks::make_checkers(checks::select_checkers(selection), report, target.memory)) {
        for (const checks::Checker& checker : checkers)
            target.observers.add(checker.observer.get(), checker.interests);
    }
    hostile::Target target;
    checks::Report report;
    std::vector<checks::Checker> checkers;
};

void run_all(hostile::Target& target, const std::string& text) {
    target.renew();
    target.device().set_budget(kTinyBudget);
    std::unique_ptr<machine::LoadedModule> module;
    try {
        module = target.device().load(text, "fuzz", 0);
    } catch (const ptx::ParseError&) {
        return;
    } catch (const machine::UnsupportedPtx&) {
        return;
    }
    target.aim(text.size());
    machine::LaunchRequest request;
    request.grid = {2, 1, 1};
    request.block = {48, 1, 1};  // a warp, and half of one
    request.dynamic_shared_bytes = 256;
    for (const ptx::FunctionHeader& header : module->ptx().functions()) {
        if (!module->kernel(header.name)) continue;
        if (!target.run(*module, std::string(header.name), request)) continue;
        module->kernel(header.name)->registers();
        const std::string damage = target.damage();
        if (damage.empty()) continue;
        std::fprintf(stderr, "a kernel has written to %s\n", damage.c_str());
        std::abort();
    }
    for (machine::Allocation* variable : module->variables()) target.memory.release(*variable, 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    static std::unique_ptr<Device> devices[2];
    static unsigned runs = 0;
    if (runs++ % kRunsOfTarget == 0) {
        devices[0] = std::make_unique<Device>("none");
        devices[1] = std::make_unique<Device>("all");
    }
    const uint32_t sites = machine::site_count();
    for (const auto& device : devices)
        run_all(device->target, std::string(reinterpret_cast<const char*>(data), size));
    machine::forget_sites(sites);
    return 0;
}
