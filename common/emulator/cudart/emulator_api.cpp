// SPDX-License-Identifier: MIT
// The functions of emulator_api.h, and the function that unimplemented ones of the runtime API
// call.
#include "emulator_api.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <mutex>

#include "checks/source/resolvers.h"
#include "checks/source/source.h"
#include "cudart/host_access.h"
#include "cudart/library.h"
#include "runtime/core/context.h"
#include "runtime/host_watch/host_pages.h"
#include "runtime/host_watch/host_source.h"

namespace emulator {
namespace {

// Both structs consist of the same names in the same order.
void fill(EmulatorCounters& to, const checks::Counts& from) {
    static_assert(sizeof to == sizeof from + sizeof to.size);
#define COUNTER(name) to.name = from.name;
#include "checks/record/counter_fields.def"
}

// The caller may have been built with a shorter or a longer struct: it says how long in `size`.
template <class T>
void give(T* caller, const T& values) {
    const uint64_t size = caller->size;
    std::memcpy(caller, &values, std::min<uint64_t>(size, sizeof values));
    caller->size = size;
}

// The name of a file without its folder.
template <size_t kBytes>
void give_file(char (&to)[kBytes], const std::string& path) {
    std::snprintf(to, kBytes, "%s", path.substr(path.rfind('/') + 1).c_str());
}

}  // namespace
}  // namespace emulator

// Called by the generated stubs: 801 is cudaErrorNotSupported, and the next cudaGetLastError
// returns it.
extern "C" __attribute__((visibility("hidden"))) int emulator_unsupported(const char* name) {
    runtime::warn_once(std::string(name) + " is not supported by the emulated device");
    runtime::thread_state().last_error = cudaErrorNotSupported;
    return cudaErrorNotSupported;
}

#define EMULATOR_EXPORT extern "C" __attribute__((visibility("default")))

EMULATOR_EXPORT void emulatorFindingsCount(uint64_t* errors, uint64_t* warnings) {
    const std::lock_guard lock(runtime::context().mutex);
    runtime::enter_host_pages();  // reports what the host has accessed so far
    runtime::leave_host_pages();
    if (errors) *errors = emulator::library().report.errors();
    if (warnings) *warnings = emulator::library().report.warnings();
}

EMULATOR_EXPORT void emulatorCountersReset() {
    const std::lock_guard lock(runtime::context().mutex);
    emulator::start_counting();
    if (!emulator::report_to) emulator::library().counters->reset();
}

EMULATOR_EXPORT int emulatorReportTo(void (*sink)(const char*, uint64_t, int)) {
    if (emulator::loaded) return 1;
    emulator::report_to = sink;
    return 0;
}

EMULATOR_EXPORT int emulatorCountersGet(EmulatorCounters* counters) {
    const std::lock_guard lock(runtime::context().mutex);
    const auto& counting = emulator::library().counters;
    if (!counters || !counting) return 1;
    EmulatorCounters totals{};
    emulator::fill(totals, counting->totals());
    emulator::give(counters, totals);
    return 0;
}

EMULATOR_EXPORT int emulatorCountersLine(uint32_t index, EmulatorLine* line) {
    const std::lock_guard lock(runtime::context().mutex);
    const auto& counting = emulator::library().counters;
    static std::vector<checks::CounterRow> rows;  // of the last call with index 0
    if (index == 0 && counting) rows = counting->lines();
    if (!line || !counting || index >= rows.size()) return 1;
    const checks::CounterRow& row = rows[index];
    EmulatorLine out{};
    out.line = row.line;
    out.warp_instructions = row.warp_instructions;
    out.thread_instructions = row.thread_instructions;
    out.global_load_requests = row.loads.requests;
    out.global_load_sectors = row.loads.sectors;
    out.global_load_bytes = row.loads.bytes;
    out.global_store_requests = row.stores.requests;
    out.global_store_sectors = row.stores.sectors;
    out.global_store_bytes = row.stores.bytes;
    out.shared_load_conflicts = row.conflicts - row.store_conflicts;
    out.shared_store_conflicts = row.store_conflicts;
    out.atomics = row.atomics;
    out.barriers = row.barriers;
    out.branches = row.branches;
    out.divergent_branches = row.divergent;
    std::snprintf(out.kernel, sizeof out.kernel, "%s", row.kernel.c_str());
    emulator::give_file(out.file, row.file);
    emulator::give(line, out);
    return 0;
}

EMULATOR_EXPORT int emulatorMemorySet(uint64_t bytes) {
    if (bytes < emulator::kLeastMemory || bytes > emulator::kMostMemory) return 1;
    const std::lock_guard lock(runtime::context().mutex);
    runtime::context().memory.set_capacity(bytes);
    return 0;
}

EMULATOR_EXPORT int emulatorDevicesSet(uint32_t devices) {
    const std::lock_guard lock(runtime::context().mutex);
    if (devices > emulator::kMostDevices || devices < uint32_t(runtime::context().device_count()))
        return 1;
    runtime::context().add_devices(devices);
    return 0;
}

EMULATOR_EXPORT void emulatorSourceSet(const char* file, const char* text) {
    if (!file || !text) return;
    const std::lock_guard lock(runtime::context().mutex);
    checks::set_source(file, text);
}

EMULATOR_EXPORT void emulatorTimelineStart() {
    const std::lock_guard lock(runtime::context().mutex);
    emulator::start_timeline();
    emulator::library().timeline->start();
}

EMULATOR_EXPORT uint64_t emulatorTimelineHost() {
    const std::lock_guard lock(runtime::context().mutex);
    const auto& timeline = emulator::library().timeline;
    return timeline ? timeline->host_time() : 0;
}

EMULATOR_EXPORT int emulatorTimelineGet(uint32_t index, EmulatorInterval* interval) {
    const std::lock_guard lock(runtime::context().mutex);
    const auto& timeline = emulator::library().timeline;
    if (!interval || !timeline || index >= timeline->intervals().size()) return 1;
    const checks::Interval& from = timeline->intervals()[index];
    EmulatorInterval out{};
    out.kind = uint32_t(from.kind);
    out.device = uint32_t(from.device);
    out.stream = from.stream;
    out.begin = from.begin;
    out.end = from.end;
    out.bytes = from.bytes;
    out.pageable = from.pageable;
    const ptx::SourceLine line = from.site ? checks::resolve_host(from.site) : ptx::SourceLine{};
    out.line = line.line;
    std::snprintf(out.name, sizeof out.name, "%s", from.name.c_str());
    emulator::give_file(out.file, line.file);
    emulator::give(interval, out);
    return 0;
}

EMULATOR_EXPORT int emulatorWriterOf(uint64_t address, EmulatorWriter* writer) {
    const std::lock_guard lock(runtime::context().mutex);
    const auto& writers = emulator::library().writers;
    const auto found = writers ? writers->at(address) : std::nullopt;
    if (!found || !writer) return 1;
    EmulatorWriter out{};
    out.by = uint32_t(found->by);
    out.launch = found->launch.serial;
    out.line = found->line.line;
    const auto copy = [](uint32_t* to, const machine::Dim3& from) {
        to[0] = from.x, to[1] = from.y, to[2] = from.z;
    };
    copy(out.grid, found->launch.grid);
    copy(out.block_size, found->launch.block);
    copy(out.block, found->block);
    copy(out.thread, found->thread);
    std::snprintf(out.kernel, sizeof out.kernel, "%s", found->launch.kernel.c_str());
    emulator::give_file(out.file, found->line.file);
    emulator::give(writer, out);
    return 0;
}

EMULATOR_EXPORT int emulatorSourceOf(const uint64_t* path, uint32_t length,
                                     EmulatorSource* source) {
    const std::lock_guard lock(runtime::context().mutex);
    if (!path || !source) return 1;
    const ptx::SourceLine line = runtime::blame({path, path + length}, "");
    if (line.line == 0) return 1;
    EmulatorSource out{};
    out.line = line.line;
    emulator::give_file(out.file, line.file);
    emulator::give(source, out);
    return 0;
}

EMULATOR_EXPORT int emulatorHostUse(const char* api, const void* address, uint64_t bytes,
                                    int writes) {
    return emulator::host_uses(api, address, bytes, writes != 0);
}

EMULATOR_EXPORT int emulatorRecentLaunch(uint32_t ago, EmulatorLaunch* launch) {
    const std::lock_guard lock(runtime::context().mutex);
    const auto& writers = emulator::library().writers;
    if (!writers || !launch || ago >= writers->launches().size()) return 1;
    const checks::LaunchShape& shape = writers->launches()[ago];
    EmulatorLaunch out{};
    out.serial = shape.serial;
    const uint32_t grid[3] = {shape.grid.x, shape.grid.y, shape.grid.z};
    const uint32_t block[3] = {shape.block.x, shape.block.y, shape.block.z};
    std::memcpy(out.grid, grid, sizeof grid);
    std::memcpy(out.block_size, block, sizeof block);
    std::snprintf(out.kernel, sizeof out.kernel, "%s", shape.kernel.c_str());
    emulator::give(launch, out);
    return 0;
}
