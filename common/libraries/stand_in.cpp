// SPDX-License-Identifier: MIT
// Linked into every stand-in: when it is loaded, its code counts as the emulated device's.
#include "stand_in.h"

#include <map>
#include <string>

namespace {
[[gnu::constructor]] void announce() {
    emulatorAddLibrary(reinterpret_cast<const void*>(&announce));
}
}  // namespace

namespace stand_in {

// A program that tests itself calls the same function a few times; a loop makes more.
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
        '`' + std::string(name) + "` has made " + std::to_string(kMany) + ' ' + thing +
            "s in the same place: on a card each one allocates memory and prepares the device, so "
            "make one and use it again");
}

}  // namespace stand_in

// Called by the generated functions of what the stand-in does not implement. The status is each
// library's own "not supported".
extern "C" __attribute__((visibility("hidden"))) int stand_in_lacks(const char* name, int status) {
    emulatorLibraryLacks(name);
    return status;
}
