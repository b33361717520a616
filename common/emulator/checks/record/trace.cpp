// SPDX-License-Identifier: MIT
#include "checks/record/trace.h"

#include <bit>

#include "checks/report/places.h"
#include "checks/report/report.h"
#include "checks/source/names.h"

namespace checks {
namespace {

std::string index_text(const machine::Dim3& d) {
    return JsonList(",").add(d.x).add(d.y).add(d.z).text();
}

// A list that starts with the event's name and its block.
JsonList event_list(const char* name, const machine::BlockInfo& block) {
    return JsonList(",").add(name).add(block.linear);
}

const char* kind_name(machine::AccessKind kind) {
    switch (kind) {
    case machine::AccessKind::kLoad:
        return "load";
    case machine::AccessKind::kStore:
        return "store";
    default:
        return "atomic";
    }
}

}  // namespace

void Trace::close() {
    if (file_) std::fclose(file_);
    file_ = nullptr;
}

void Trace::write(const std::string& line) {
    if (!file_ || cut_) return;
    if (written_ + line.size() + 64 > most_bytes_) {
        const JsonObject cut = JsonObject().add("bytes", written_);
        std::fprintf(file_, "%s\n", JsonObject().json("cut", cut.text()).text().c_str());
        std::fflush(file_);
        cut_ = true;
        return;
    }
    std::fwrite(line.data(), 1, line.size(), file_);
    std::fputc('\n', file_);
    written_ += line.size() + 1;
}

void Trace::write_entry(const char* kind, const JsonObject& entry) {
    write(JsonObject().json(kind, entry.text()).text());
}

int Trace::line_id(machine::SiteId site) {
    const auto known = site_lines_.find(site);
    if (known != site_lines_.end()) return known->second;
    const ptx::SourceLine& user = site_of(site).user;
    const auto [entry, fresh] = lines_.try_emplace({user.file, user.line}, int(lines_.size()));
    if (fresh)
        write_entry(
            "line",
            JsonObject().add("id", entry->second).add("file", user.file).add("line", user.line));
    site_lines_[site] = entry->second;
    return entry->second;
}

Trace::Named Trace::array_of(const machine::AccessEvent& event,
                             const machine::Allocation& allocation) {
    const auto known = arrays_.find(allocation.id);
    if (known != arrays_.end()) return known->second;
    const Array array = name_global(event.warp->block->launch,
                                    allocation,
                                    event.element_bytes,
                                    event.kind != machine::AccessKind::kLoad);
    const Named named{next_array_++, array.base};
    JsonList extents;
    for (const uint64_t extent : array.extents) extents.add(extent);
    const uint32_t element = array.element_bytes ? array.element_bytes : event.element_bytes;
    write_entry("array",
                JsonObject()
                    .add("id", named.id)
                    .add("name", array.name)
                    .add("subject", array.subject)
                    .add("element_bytes", element)
                    .add("bytes", array.bytes)
                    .json("extents", extents.text()));
    arrays_[allocation.id] = named;
    return named;
}

void Trace::on_launch_begin(const machine::LaunchInfo& launch) {
    arrays_.clear();  // names are those of the kernel's parameters
    if (!file_ || cut_) return;
    JsonList shared;
    if (launch.shared) {
        for (const machine::SharedVariable& variable : *launch.shared)
            shared.json(JsonObject()
                            .add("name", variable.name)
                            .add("offset", variable.offset)
                            .add("bytes", variable.bytes)
                            .add("dynamic", variable.dynamic)
                            .text());
    }
    write_entry("launch",
                JsonObject()
                    .add("serial", launch.serial)
                    .add("kernel", launch.kernel)
                    .json("grid", index_text(launch.grid))
                    .json("block", index_text(launch.block))
                    .json("shared", shared.text()));
}

void Trace::on_launch_end(const machine::LaunchInfo& launch,
                          const machine::LaunchSummary& summary) {
    write_entry("end",
                JsonObject().add("serial", launch.serial).add("status", int(summary.status)));
    if (file_) std::fflush(file_);
}

void Trace::on_access(const machine::AccessEvent& event) {
    if (!file_ || cut_) return;
    const bool shared = event.space == ptx::Space::kShared;
    if (!shared && event.space != ptx::Space::kGlobal && event.space != ptx::Space::kConst) return;
    const machine::BlockInfo& block = *event.warp->block;
    const int line = line_id(event.site);
    int array = -1;
    JsonList offsets(",");
    for (uint32_t m = event.mask; m; m &= m - 1) {
        const uint32_t lane = uint32_t(std::countr_zero(m));
        const uint64_t address = event.address[lane];
        if (shared) {
            const machine::SharedVariable* variable =
                event.variable ? event.variable
                               : machine::shared_variable_at(*block.launch, address);
            if (!variable) {
                offsets.add(-1);
                continue;
            }
            array = int(variable - block.launch->shared->data());
            offsets.add(int64_t(address - variable->address) + variable->offset);
        } else {
            const machine::Allocation* allocation =
                event.allocation ? event.allocation : memory_.find(address);
            if (!allocation) {
                offsets.add(-1);
                continue;
            }
            // Lanes in several arrays: the first one's is the picture's.
            const Named named = array_of(event, *allocation);
            if (array < 0) array = named.id;
            offsets.add(array == named.id ? int64_t(address - named.base) : -1);
        }
    }
    write(event_list("access", block)
              .add(event.warp->index)
              .add(line)
              .add(shared ? "shared" : "global")
              .add(kind_name(event.kind))
              .add(event.bytes)
              .add(event.mask)
              .add(event.bad_lanes)
              .add(array)
              .json(offsets.text())
              .text());
}

void Trace::on_block_barrier(const machine::BarrierEvent& event) {
    if (!file_ || cut_) return;
    JsonList arrivals(",");
    for (const machine::Arrival& arrival : event.arrivals)
        arrivals.json(
            JsonList(",").add(arrival.warp).add(arrival.mask).add(line_id(arrival.site)).text());
    write(event_list("barrier", *event.block).add(event.id).json(arrivals.text()).text());
}

void Trace::on_warp_sync(const machine::WarpSyncEvent& event) {
    if (!file_ || cut_) return;
    const int line = line_id(event.site);
    write(event_list("sync", *event.warp->block)
              .add(event.warp->index)
              .add(line)
              .add(event.arrived)
              .text());
}

void Trace::on_exit(const machine::ExitEvent& event) {
    if (!file_ || cut_) return;
    write(event_list("exit", *event.warp->block).add(event.warp->index).add(event.mask).text());
}

}  // namespace checks
