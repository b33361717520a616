// SPDX-License-Identifier: MIT
// Linked into a copy of the drop-in library, this makes the emulated device die in the middle of
// every launch. No verdict may come of such a device: tests/workbook/test_internal_error.py.
#include <cstdlib>
#include <string_view>

#include "machine/observer.h"
#include "runtime/core/context.h"

namespace {

volatile int* volatile nowhere = nullptr;

class Dies final : public machine::Observer {
    void on_launch_begin(const machine::LaunchInfo&) override {
        const char* how = std::getenv("BROKEN_LAUNCHES");
        if (how && std::string_view(how) == "abort") std::abort();
        if (how && std::string_view(how) == "segv") *nowhere = 1;
        __builtin_trap();
    }
};

[[gnu::constructor]] void break_launches() {
    static auto& dies = *new Dies;
    runtime::context().observers.add(&dies, machine::kLaunchEvents);
}

}  // namespace
