// SPDX-License-Identifier: MIT
#include "checks/trace.h"

#include <bit>

#include "checks/names.h"
#include "checks/report.h"
#include "checks/text.h"

namespace checks {
namespace {

std::string index_text(const machine::Dim3& d) {
    return '[' + std::to_string(d.x) + ',' + std::to_string(d.y) + ',' + std::to_string(d.z) + ']';
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
        std::fprintf(file_, "{\"cut\": {\"bytes\": %llu}}\n", (unsigned long long)written_);
        std::fflush(file_);
        cut_ = true;
        return;
    }
    std::fwrite(line.data(), 1, line.size(), file_);
    std::fputc('\n', file_);
    written_ += line.size() + 1;
}

int Trace::line_id(machine::SiteId site) {
    const auto known = site_lines_.find(site);
    if (known != site_lines_.end()) return known->second;
    const ptx::SourceLine& user = site_of(site).user;
    const auto [entry, fresh] = lines_.try_emplace({user.file, user.line}, int(lines_.size()));
    if (fresh)
        write("{\"line\": {\"id\": " + std::to_string(entry->second) + ", \"file\": " +
              json_string(user.file) + ", \"line\": " + std::to_string(user.line) + "}}");
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
    std::string extents;
    for (const uint64_t extent : array.extents)
        extents += (extents.empty() ? "" : ", ") + std::to_string(extent);
    const uint32_t element = array.element_bytes ? array.element_bytes : event.element_bytes;
    write("{\"array\": {\"id\": " + std::to_string(named.id) + ", \"name\": " +
          json_string(array.name) + ", \"subject\": " + json_string(array.subject) +
          ", \"element_bytes\": " + std::to_string(element) +
          ", \"bytes\": " + std::to_string(array.bytes) + ", \"extents\": [" + extents + "]}}");
    arrays_[allocation.id] = named;
    return named;
}

void Trace::on_launch_begin(const machine::LaunchInfo& launch) {
    arrays_.clear();  // names are those of the kernel's parameters
    if (!file_ || cut_) return;
    std::string shared;
    if (launch.shared) {
        for (const machine::SharedVariable& variable : *launch.shared)
            shared += (shared.empty() ? "" : ", ") + ("{\"name\": " + json_string(variable.name)) +
                      ", \"offset\": " + std::to_string(variable.offset) +
                      ", \"bytes\": " + std::to_string(variable.bytes) +
                      ", \"dynamic\": " + (variable.dynamic ? "true" : "false") + "}";
    }
    write("{\"launch\": {\"serial\": " + std::to_string(launch.serial) +
          ", \"kernel\": " + json_string(launch.kernel) + ", \"grid\": " + index_text(launch.grid) +
          ", \"block\": " + index_text(launch.block) + ", \"shared\": [" + shared + "]}}");
}

void Trace::on_launch_end(const machine::LaunchInfo& launch,
                          const machine::LaunchSummary& summary) {
    write("{\"end\": {\"serial\": " + std::to_string(launch.serial) +
          ", \"status\": " + std::to_string(int(summary.status)) + "}}");
    if (file_) std::fflush(file_);
}

void Trace::on_access(const machine::AccessEvent& event) {
    if (!file_ || cut_) return;
    const bool shared = event.space == ptx::Space::kShared;
    if (!shared && event.space != ptx::Space::kGlobal && event.space != ptx::Space::kConst) return;
    const machine::BlockInfo& block = *event.warp->block;
    const int line = line_id(event.site);
    int array = -1;
    std::string offsets;
    const auto add = [&](int64_t offset) {
        if (!offsets.empty()) offsets += ',';
        offsets += std::to_string(offset);
    };
    for (uint32_t m = event.mask; m; m &= m - 1) {
        const uint32_t lane = uint32_t(std::countr_zero(m));
        const uint64_t address = event.address[lane];
        if (shared) {
            const machine::SharedVariable* variable =
                event.variable ? event.variable
                               : machine::shared_variable_at(*block.launch, address);
            if (!variable) {
                add(-1);
                continue;
            }
            array = int(variable - block.launch->shared->data());
            add(int64_t(address - variable->address) + variable->offset);
        } else {
            const machine::Allocation* allocation =
                event.allocation ? event.allocation : memory_.find(address);
            if (!allocation) {
                add(-1);
                continue;
            }
            // Lanes in several arrays: the first one's is the picture's.
            const Named named = array_of(event, *allocation);
            if (array < 0) array = named.id;
            add(array == named.id ? int64_t(address - named.base) : -1);
        }
    }
    write("[\"access\"," + std::to_string(block.linear) + ',' + std::to_string(event.warp->index) +
          ',' + std::to_string(line) + (shared ? ",\"shared\",\"" : ",\"global\",\"") +
          kind_name(event.kind) + "\"," + std::to_string(event.bytes) + ',' +
          std::to_string(event.mask) + ',' + std::to_string(event.bad_lanes) + ',' +
          std::to_string(array) + ",[" + offsets + "]]");
}

void Trace::on_block_barrier(const machine::BarrierEvent& event) {
    if (!file_ || cut_) return;
    std::string arrivals;
    for (const machine::Arrival& arrival : event.arrivals)
        arrivals += (arrivals.empty() ? "[" : ",[") + std::to_string(arrival.warp) + ',' +
                    std::to_string(arrival.mask) + ',' + std::to_string(line_id(arrival.site)) +
                    ']';
    write("[\"barrier\"," + std::to_string(event.block->linear) + ',' + std::to_string(event.id) +
          ",[" + arrivals + "]]");
}

void Trace::on_warp_sync(const machine::WarpSyncEvent& event) {
    if (!file_ || cut_) return;
    const int line = line_id(event.site);
    write("[\"sync\"," + std::to_string(event.warp->block->linear) + ',' +
          std::to_string(event.warp->index) + ',' + std::to_string(line) + ',' +
          std::to_string(event.arrived) + ']');
}

void Trace::on_exit(const machine::ExitEvent& event) {
    if (!file_ || cut_) return;
    write("[\"exit\"," + std::to_string(event.warp->block->linear) + ',' +
          std::to_string(event.warp->index) + ',' + std::to_string(event.mask) + ']');
}

}  // namespace checks
