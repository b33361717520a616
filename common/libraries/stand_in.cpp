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

void note_creation(const char* name, const char* thing, const std::string& kind) {
    static auto& made = *new std::map<std::pair<uint64_t, std::string>, int>;
    static auto& mutex = *new std::mutex;
    const uint64_t caller = emulatorLibraryCaller();  // may wait for an interpreter's lock
    {
        std::lock_guard lock(mutex);
        if (++made[{caller, kind}] != kMany) return;
    }
    emulatorLibraryMisuse(
        name,
        "created-often",
        '`' + std::string(name) + "` has created " + std::to_string(kMany) + ' ' + thing +
            (kind.empty() ? "s" : "s of the same sizes") +
            " on this line: on a card each one allocates memory and initialises the device, so "
            "create one and reuse it");
}

}  // namespace stand_in

// Called by the generated functions that the stand-in does not implement. `status`: the library's
// code for "not supported".
extern "C" __attribute__((visibility("hidden"))) int stand_in_lacks(const char* name, int status) {
    emulatorLibraryLacks(name);
    return status;
}
