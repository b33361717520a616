// SPDX-License-Identifier: MIT
// Linked into every stand-in: registers its code as part of the emulated device when it is loaded.
#include "stand_in.h"

#include <map>
#include <string>

namespace {
[[gnu::constructor]] void announce() {
    emulatorAddLibrary(reinterpret_cast<const void*>(&announce));
}
}  // namespace

namespace stand_in {

// A test may call a function a few times from one line; a loop does so more often.
constexpr int kMany = 10;

void note_creation(const char* name, const char* thing) {
    static auto& made = *new std::map<uint64_t, int>;
    static auto& mutex = *new std::mutex;
    {
        std::lock_guard lock(mutex);
        if (++made[emulatorLibraryCaller()] != kMany) return;
    }
    emulatorLibraryMisuse(
        name,
        "created-often",
        '`' + std::string(name) + "` has created " + std::to_string(kMany) + ' ' + thing +
            "s on this line: on a card each one allocates memory and initialises the device, so "
            "create one and reuse it");
}

}  // namespace stand_in

// Called by the generated functions that the stand-in does not implement. `status`: the library's
// code for "not supported".
extern "C" __attribute__((visibility("hidden"))) int stand_in_lacks(const char* name, int status) {
    emulatorLibraryLacks(name);
    return status;
}
