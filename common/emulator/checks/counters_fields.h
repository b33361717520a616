// SPDX-License-Identifier: MIT
// The fields of EmulatorCounters by name, for sums and for JSON.
#pragma once

#include <array>
#include <cstdint>

#include "emulator_api.h"

namespace checks {

struct CounterField {
    const char* name;
    uint64_t EmulatorCounters::*value;
};

constexpr std::array kCounterFields = {
#define COUNTER(name) CounterField{#name, &EmulatorCounters::name},
#include "counter_fields.def"
};
// Every counter but `size` is in the table.
static_assert(sizeof(EmulatorCounters) == (kCounterFields.size() + 1) * sizeof(uint64_t));

inline void add_counters(EmulatorCounters& to, const EmulatorCounters& more) {
    for (const CounterField& field : kCounterFields) to.*field.value += more.*field.value;
}

}  // namespace checks
