// SPDX-License-Identifier: MIT
// The counters of a launch, and their fields by name, for sums and for JSON.
#pragma once

#include <array>
#include <cstdint>

namespace checks {

// What each one counts: common/emulator/COUNTERS.md.
struct Counts {
#define COUNTER(name) uint64_t name = 0;
#include "checks/record/counter_fields.def"
};

struct CounterField {
    const char* name;
    uint64_t Counts::*value;
};

constexpr std::array kCounterFields = {
#define COUNTER(name) CounterField{#name, &Counts::name},
#include "checks/record/counter_fields.def"
};

inline void add_counters(Counts& to, const Counts& more) {
    for (const CounterField& field : kCounterFields) to.*field.value += more.*field.value;
}

}  // namespace checks
