// SPDX-License-Identifier: MIT
// The emulator's model timeline for tests (common/emulator/TIMELINE.md): when the work would run on
// a card. It is the same on every machine. A real GPU has none.
#pragma once

#include <cstdint>

#include <dlfcn.h>

#include "common/emulator/emulator_api.h"

namespace wb {
namespace {

// Begins with its construction, at time 0 and with idle streams.
class Timeline {
public:
    Timeline() {
        if (const auto start = (void (*)())dlsym(RTLD_DEFAULT, "emulatorTimelineStart")) start();
    }
    static bool available() { return dlsym(RTLD_DEFAULT, "emulatorTimelineHost") != nullptr; }
    // Nanoseconds that the host has reached: after a wait, those of the work too.
    uint64_t host() const {
        const auto time = (uint64_t(*)())dlsym(RTLD_DEFAULT, "emulatorTimelineHost");
        return time ? time() : 0;
    }
};

}  // namespace
}  // namespace wb
