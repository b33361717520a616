// SPDX-License-Identifier: MIT
// The lists of observers for each kind of event, and small functions that events share.
#include "machine/observer.h"

namespace machine {

void Observers::add(Observer* observer, uint32_t interests) {
    const auto put = [&](uint32_t bit, std::vector<Observer*>& list) {
        if (interests & bit) list.push_back(observer);
    };
    put(kMemoryEvents, memory);
    put(kHostEvents, host);
    put(kLaunchEvents, launch);
    put(kBlockEvents, block);
    put(kGlobalAccess, global);
    put(kSharedAccess, shared);
    put(kLocalAccess, local);
    put(kSyncEvents, sync);
    put(kFaultEvents, fault);
    put(kOnlyBadAccess, bad);
    put(kUndefinedValues, undefined);
    if (interests & kUndefinedValues) {
        put(kGlobalAccess, undefined_global);
        put(kSharedAccess, undefined_shared);
    }
}

void Observers::clear() {
    *this = Observers{};
}

Dim3 thread_index(const BlockInfo& block, uint32_t linear_thread) {
    const Dim3& shape = block.launch->block;
    return {linear_thread % shape.x,
            linear_thread / shape.x % shape.y,
            linear_thread / (shape.x * shape.y)};
}

const SharedVariable* shared_variable_at(const LaunchInfo& launch, uint64_t address) {
    if (!launch.shared) return nullptr;
    for (const SharedVariable& variable : *launch.shared)
        if (address >> kSharedWindowBits == variable.address >> kSharedWindowBits) return &variable;
    return nullptr;
}

}  // namespace machine
