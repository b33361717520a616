// SPDX-License-Identifier: MIT
// A clock that shows when work would end on a card, by the emulated device's model timeline
// (common/emulator/TIMELINE.md). It shows the same time on every machine.
#pragma once

#include <dlfcn.h>

#include <algorithm>
#include <functional>
#include <stdexcept>

#include "common/emulator/emulator_api.h"
#include "common/host/cuda_check.h"

namespace wb {

class ModelClock {
public:
    // Before any stream is made: the timeline notes then which streams wait for the default stream.
    ModelClock() {
        if (!start_ || !host_ || !get_)
            throw std::runtime_error("--model needs the emulated device");
        start_();
    }
    // Milliseconds until `work` has returned and all that it has queued is done.
    double time(const std::function<void()>& work) const {
        CUDA_CHECK(cudaDeviceSynchronize());
        start_();
        work();
        uint64_t end = host_();
        EmulatorInterval one{};
        one.size = sizeof one;
        for (uint32_t i = 0; get_(i, &one) == 0; ++i) end = std::max(end, one.end);
        return 1e-6 * double(end);
    }

private:
    template <class Function>
    static Function* named(const char* name) {
        return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
    }
    decltype(emulatorTimelineStart)* start_ =
        named<decltype(emulatorTimelineStart)>("emulatorTimelineStart");
    decltype(emulatorTimelineHost)* host_ =
        named<decltype(emulatorTimelineHost)>("emulatorTimelineHost");
    decltype(emulatorTimelineGet)* get_ =
        named<decltype(emulatorTimelineGet)>("emulatorTimelineGet");
};

}  // namespace wb
