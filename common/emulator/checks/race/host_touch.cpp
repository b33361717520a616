// SPDX-License-Identifier: MIT
// The host's own loads and stores of managed and pinned memory against kernels and copies that it
// has not waited for. Policy: host_watch.h.
#include <algorithm>

#include "checks/race/host_races.h"
#include "checks/report/places.h"
#include "checks/source/names.h"
#include "checks/source/text.h"

namespace checks {
namespace {

// The bytes of a sector that a pattern covers, a bit each.
uint32_t covered_by(Epoch pattern) {
    uint32_t bits = shape_of(pattern).covered;
    for (uint32_t width = 1u << shape_of(pattern).log2; width < kSectorBytes; width *= 2)
        bits |= bits << width;
    return bits;
}

// `float* data; cudaMallocManaged(&data, n * sizeof(float))`: name and type as the line of the
// allocation has them, for memory that no argument of a kernel names.
void name_by_allocation(Array& array, const machine::Allocation& allocation) {
    const ptx::SourceLine line = resolve_host(allocation.allocated_at);
    const Source* text = line.line ? source(line.file) : nullptr;
    if (!text || line.line > text->starts.size()) return;
    // The line, and the rest of a call that continues after it. With two calls it may be either.
    const size_t begin = text->starts[line.line - 1];
    const size_t newline = std::min(text->code.find('\n', begin), text->code.size());
    const size_t stop =
        text->code.find(';', begin) < newline ? newline : text->code.find(';', begin);
    const std::string code = text->code.substr(begin, stop - begin);
    size_t calls = 0, open = 0;  // after the name of the call
    for (const char* name : {"cudaMalloc", "cudaHost", "cuMem"}) {
        for (size_t at = code.find(name); at != code.npos; at = code.find(name, at)) {
            while (at < code.size() && word_char(code[at])) ++at;
            const size_t next = skip_space(code, at);
            if (next >= code.size() || code[next] != '(') continue;
            open = next;
            ++calls;
        }
    }
    if (calls != 1) return;
    if (array.element_bytes == 0) {
        const size_t size = find_word(code, "sizeof", 0);
        const size_t begins = size == code.npos ? code.npos : skip_space(code, size + 6);
        const size_t ends =
            begins < code.size() && code[begins] == '(' ? close_of(code, begins) : code.npos;
        if (ends != code.npos) {
            const std::string type = code.substr(begins + 1, ends - begins - 2);
            const uint32_t bytes = type_bytes(line.file, spelled(tokens(type)));
            if (bytes && allocation.bytes % bytes == 0) array.element_bytes = bytes;
        }
    }
    // The first argument: `&data`, `(void**)&data`, or `data` itself where it is registered.
    const size_t comma = code.find(',', open);
    if (comma == code.npos) return;
    size_t end = comma;
    while (end > open && is_space(code[end - 1])) --end;
    size_t begins = end;
    while (begins > open && word_char(code[begins - 1])) --begins;
    const char before = code[begins - 1];
    if (begins == end || (before != '&' && before != '(' && before != ')')) return;
    array.name = code.substr(begins, end - begins);
    array.subject = backticked(array.name);
    array.description = array.subject + ", " + plural(allocation.bytes, "byte");
}

// Bytes of one element, from the type at the end of an opcode ("st.global.f32"); 0: not there.
uint32_t width_of(machine::SiteId instruction) {
    if (!instruction) return 0;
    const std::string_view opcode = site_of(instruction).opcode;
    const size_t digits = opcode.find_last_not_of("0123456789") + 1;
    return digits < opcode.size() ? uint32_t(std::stoul(std::string(opcode.substr(digits)))) / 8
                                  : 0;
}

Array name_of(const StreamOperation* operation, const machine::Allocation& allocation, bool written,
              uint64_t address, machine::SiteId instruction) {
    const uint32_t width = width_of(instruction);
    if (operation && operation->names)
        return name_global(&operation->names->launch, allocation, width, written, address);
    Array array = name_global(nullptr, allocation, 0, written, address);
    if (array.name.empty()) name_by_allocation(array, allocation);
    return array;
}

}  // namespace

void HostRaces::add_use(const Shadow& shadow, uint64_t page, uint64_t begin, uint64_t end,
                        PageUse& use) const {
    StreamOrder::FlightRange range;
    for (uint64_t at = begin & ~uint64_t(kSectorBytes - 1); at < end; at += kSectorBytes) {
        const Sector& s = shadow.sector(at);
        uint32_t written = 0, read = 0;
        const uint32_t step = s.cell_bytes(), cell = step == 1 ? 1 : 15;
        if (s.has(Sector::kWriterCells)) {
            for (uint32_t byte = 0; byte < kSectorBytes; byte += step)
                if (in_flight(Shadow::writer_at(s, byte), range)) written |= cell << byte;
        } else if (in_flight(s.writer, range)) {
            written |= covered_by(s.writer);
        }
        for (uint32_t byte = 0; s.atomic_cells() && byte < kSectorBytes; byte += step) {
            const Pair& p = s.atomic_cells()[s.cell(byte)];
            if (in_flight(p.first, range) || in_flight(p.second, range)) written |= cell << byte;
        }
        if (s.has(Sector::kReaderCells)) {
            for (uint32_t byte = 0; byte < kSectorBytes; byte += step) {
                const Pair p = Shadow::readers_at(s, byte);
                if (read_in_flight(p.first, range) || read_in_flight(p.second, range))
                    read |= cell << byte;
            }
        } else {
            for (const Epoch e : {s.reader, s.reader2})
                if (read_in_flight(e, range)) read |= covered_by(e);
        }
        // A sector never straddles a page: both begin at multiples of their size.
        const uint64_t offset = at - page;
        use.written[offset / 64] |= uint64_t(written) << offset % 64;
        use.touched[offset / 64] |= uint64_t(written | read) << offset % 64;
    }
}

void HostRaces::host_touch(const HostTouch& touch, const machine::Allocation& allocation,
                           const Shadow& shadow, uint64_t begin, uint64_t end) {
    Race race;
    StreamOrder::FlightRange range;
    uint64_t races = 0;
    const auto compare = [&](Epoch e, uint64_t offset, bool writes) {
        if (races || !(writes ? in_flight(e, range) : read_in_flight(e, range))) return;
        ++races;
        race.allocation = &allocation;
        race.address = (allocation.address & ~uint64_t(kSectorBytes - 1)) + offset;
        race.other_segment = segment_of(e);
        race.other_lane = lane_of(e);
        race.other_site = instructions_.place(instruction_of(e));
        race.other = instructions_.traits(instruction_of(e));
        race.other.writes = writes;
    };
    for (uint64_t at = begin; at < end && !races; ++at) {
        const Sector& s = shadow.sector(at);
        const uint32_t byte = uint32_t(at % kSectorBytes);
        compare(Shadow::writer_at(s, byte), at, true);
        if (s.atomic_cells()) {
            const Pair& p = s.atomic_cells()[s.cell(byte)];
            compare(p.first, at, true);
            compare(p.second, at, true);
        }
        if (!touch.writes) continue;
        const Pair p = Shadow::readers_at(s, byte);
        compare(p.first, at, false);
        compare(p.second, at, false);
    }
    if (races) report_.add(describe_host_touch(code_, order_, touch, race));
}

Finding describe_host_touch(const char* code, const HappensBefore& order, const HostTouch& touch,
                            const Race& race) {
    const HappensBefore::Who who = order.who(race.other_segment, race.other_lane);
    const StreamOperation* operation = who.operation;
    const bool copy = operation && operation->launch == 0;
    const std::string api = copy && operation->api ? operation->api : "";
    const char* const what = !copy ? "kernel" : operation->fill ? "fill" : "copy";
    const Array array = name_of(operation,
                                *race.allocation,
                                touch.writes || race.other.writes,
                                race.address,
                                race.other.instruction);
    const bool writes = race.other.writes;
    Finding finding;
    finding.code = code;
    finding.place = place_of_host(touch.site);
    finding.message = array.element(race.address) + " is " + (touch.writes ? "written" : "read") +
                      " by the host while a " + what + " may still be " +
                      (race.other.atomic ? "updating"
                       : writes          ? "writing"
                                         : "reading") +
                      " it";
    finding.facts.add("relation", "host").add("clash", "plain");
    AccessTraits mine;
    mine.writes = touch.writes;
    add_facts(finding.facts, mine, race.other, array, race.address);
    finding.allocation = array.description;
    finding.address = hex(race.address);
    finding.bytes = uint32_t(touch.bytes);
    finding.count_text = "more accesses by the host on this line";
    const char* const did = race.other.atomic ? "updated" : writes ? "wrote" : "read";
    if (copy) {
        finding.other = place_of_host(operation->site);
        finding.other_text = (api.empty() ? "a copy" : backticked(api)) + ' ' + did + " it on ";
    } else {
        machine::LaunchInfo launch;
        if (operation) launch.launched_at = operation->site;
        finding.other = place_of(race.other_site, launch);
        if (who.known_thread) {
            finding.other->block = who.block;
            finding.other->thread = who.thread;
            finding.other_text = "thread " + coordinates(who.thread) + " of block " +
                                 coordinates(who.block) + " of kernel ";
        } else {
            finding.other_text = "a thread of kernel ";
        }
        finding.other_text +=
            backticked(operation ? operation->kernel : "?") + ' ' + did + " it on ";
    }
    finding.other_text +=
        line_text(*finding.other, finding.place.file) + ", and the host has not waited for that";
    std::string launched;
    if (!copy && operation) {
        const Place place = place_of_host(operation->site);
        if (place.line) launched = " (here on " + line_text(place, finding.place.file) + ')';
    }
    finding.notes.push_back(
        (copy ? "an asynchronous " + std::string(what) + " returns when it is queued"
              : "a launch" + launched + " returns when the kernel is queued") +
        ": first wait for the stream, the device or an event recorded after it");
    return finding;
}

}  // namespace checks
