// SPDX-License-Identifier: MIT
// The text and the fields of race findings.
#include <algorithm>

#include "checks/race/describe.h"
#include "checks/report/places.h"
#include "checks/source/names.h"

namespace checks {
namespace {

using machine::AccessKind;

const char* doing(const AccessTraits& t) {
    return t.atomic ? "updating" : t.writes ? "writing" : "reading";
}
const char* did(const AccessTraits& t) {
    return t.atomic ? "updated it atomically" : t.writes ? "wrote it" : "read it";
}

// One side of a race.
struct Party {
    AccessTraits traits;
    Place place;
    bool known = true;  // block and thread
    machine::Dim3 block, thread;
};

// "read while another thread may still be writing it"
std::string clash(const AccessTraits& mine, const AccessTraits& other, bool narrow_scope) {
    std::string text = mine.atomic ? "updated" : mine.writes ? "written" : "read";
    if (narrow_scope) return text + " by two blocks, but one of them only with block scope";
    if (mine.atomic) text += " atomically";
    // One of the two is plain, the other not: say so, for it is half of a fix.
    if (!mine.strong && other.atomic) text += " without an atomic";
    text += std::string(" while another thread may still be ") + doing(other) + " it";
    if (mine.atomic && !other.strong) text += " without an atomic";
    return text;
}

std::string name_of(const Party& party, bool with_block) {
    if (!party.known) return "a thread";
    std::string text = "thread " + coordinates(party.thread);
    if (with_block) text += " of block " + coordinates(party.block);
    return text;
}

uint64_t linear(const machine::Dim3& thread, const machine::Dim3& shape) {
    return thread.x + uint64_t(shape.x) * (thread.y + uint64_t(shape.y) * thread.z);
}

// The other party is an operation of another stream: a launch, a copy or a fill.
// `stream`: the one that the finding is about.
void describe_stream(Finding& finding, const HappensBefore::Who& who, const Party& other,
                     uint64_t stream, const char* the_two, const machine::Allocation* allocation) {
    // Two nodes of a graph, or a node and work outside of the graph.
    const bool in_graph = stream & machine::kGraphBranch ||
                          (who.operation && who.operation->stream & machine::kGraphBranch);
    const std::string where = in_graph ? " in another branch of a graph " : " in another stream ";
    if (who.operation && who.operation->launch == 0) {
        finding.other = place_of_host(who.operation->site);
        finding.other_text = backticked(who.operation->api ? who.operation->api : "a copy") +
                             where +
                             (who.operation->allocates               ? "allocated"
                              : who.operation->writes_to(allocation) ? "wrote"
                                                                     : "read") +
                             " it";
    } else {
        finding.other = other.place;
        finding.other_text = name_of(other, true);
        if (who.operation) finding.other_text += " of kernel " + backticked(who.operation->kernel);
        finding.other_text += where + did(other.traits);
    }
    finding.other_text += " on " + line_text(*finding.other, finding.place.file) +
                          (in_graph ? ", and no path of edges orders the two"
                                    : ", and no event or synchronisation orders the two") +
                          (finding.other->thread ? the_two : "");
    if (who.operation && who.operation->staged)
        finding.notes.push_back(backticked(who.operation->api ? who.operation->api : "a copy") +
                                " from pageable memory returns when the bytes are staged, and the "
                                "transfer may still run: "
                                "wait for its stream, or copy in the stream that uses them");
}

// `launch`: of the access that was found; null for one by the host.
Party earlier_party(const HappensBefore::Who& who, const Race& race,
                    const machine::LaunchInfo* launch) {
    Party party{race.other, {}, who.known_thread, who.block, who.thread};
    machine::LaunchInfo its;
    if (who.operation) its.launched_at = who.operation->site;
    party.place = place_of(race.other_site, launch && who.this_launch ? *launch : its);
    if (who.operation && who.operation->launch == 0) {  // a copy or fill, which has no instruction
        party.traits = {};
        party.traits.writes = who.operation->writes_to(race.allocation);
    }
    if (party.known) {
        party.place.block = party.block;
        party.place.thread = party.thread;
    }
    return party;
}

const char* kind_of(const AccessTraits& t) {
    return t.atomic ? "update" : t.writes ? "write" : "read";
}

// A plain load of a whole word of global memory against such an update.
bool only_stale(const Race& race, const AccessTraits& now, const AccessTraits& other) {
    const machine::AccessEvent& event = *race.event;
    if (!race.allocation || now.atomic == other.atomic) return false;
    const AccessTraits& load = now.atomic ? other : now;
    const bool word = event.element_bytes == 4 || event.element_bytes == 8;
    return !load.writes && !load.strong && word &&
           event.address[race.lane] % event.element_bytes == 0 &&
           (now.atomic ? now : other).forgiving;
}

}  // namespace

void add_facts(JsonObject& facts, const AccessTraits& mine, const AccessTraits& other,
               const Array& array, uint64_t address) {
    facts.add("access", kind_of(mine)).add("other_access", kind_of(other));
    facts.add("one_atomic", (mine.atomic && !other.strong) || (other.atomic && !mine.strong));
    if (!array.name.empty()) facts.add("array", array.name);
    if (array.base && array.element_bytes) facts.add("index", array.index(address));
}

namespace {

// Both parties of a race: `here` is the one whose line gets the finding.
struct Parties {
    Party here, other;
    bool same_block, same_warp;
};

Parties parties_of(const Race& race, const HappensBefore::Who& who) {
    const machine::AccessEvent& event = *race.event;
    const machine::LaunchInfo& launch = *event.warp->block->launch;
    Parties p{{traits_of(event),
               place_of(event.site, *event.warp, race.lane),
               true,
               event.warp->block->index,
               thread_at(launch.block, event.warp->thread(race.lane))},
              earlier_party(who, race, &launch),
              false,
              false};
    if (race.swapped) std::swap(p.here, p.other);
    p.same_block = p.here.block == p.other.block;
    p.same_warp = who.this_launch && p.same_block &&
                  linear(p.here.thread, launch.block) / machine::kWarpSize ==
                      linear(p.other.thread, launch.block) / machine::kWarpSize;
    return p;
}

Array array_of(const Race& race, const Parties& p) {
    const machine::AccessEvent& event = *race.event;
    const machine::LaunchInfo& launch = *event.warp->block->launch;
    if (race.allocation) {
        const bool written = p.here.traits.writes || p.other.traits.writes;
        return name_global(&launch, *race.allocation, event.element_bytes, written, race.address);
    }
    if (const auto* variable = machine::shared_variable_at(launch, race.address))
        return name_shared(launch, *variable, event.element_bytes);
    return {};
}

// "written while a `cp.async` may still be writing it"
std::string what_happens(const Race& race, const Parties& p) {
    const AccessTraits& mine = p.here.traits;
    if (race.under_way)
        return std::string(mine.writes ? "written" : "read") +
               " while a `cp.async` may still be writing it";
    if (race.too_early)
        return std::string(mine.atomic   ? "updated"
                           : mine.writes ? "written"
                                         : "read") +
               " while another stream may still have to allocate it";
    if (race.lost_update) return "read and written back while another thread may be doing the same";
    if (race.one_store) return "written by several threads at once, with different values";
    return clash(mine, p.other.traits, race.narrow_scope);
}

const char* clash_fact(const Race& race) {
    return race.under_way      ? "async-copy"
           : race.too_early    ? "allocation"
           : race.lost_update  ? "lost-update"
           : race.one_store    ? "same-store"
           : race.narrow_scope ? "scope"
                               : "plain";
}

void add_race_notes(Finding& finding, const Race& race) {
    if (race.lost_update)
        finding.notes.push_back(
            "the read and the write are two steps, strong or not: what another thread stores in "
            "between is lost");
    if (race.lock_step)
        finding.notes.push_back("`volatile` does not keep the lanes of a warp in step");
    if (only_stale(race, traits_of(*race.event), race.other)) {
        finding.severity = Severity::kWarning;
        finding.notes.push_back(
            "the load may give the value from before the update: harmless only where a stale "
            "value will do");
    }
}

// The other thread of the same launch, and why nothing orders the two.
void describe_other(Finding& finding, const Race& race, const Parties& p) {
    finding.other = p.other.place;
    finding.other_text = name_of(p.other, !p.same_block) + ' ' +
                         (race.under_way ? "started the copy" : did(p.other.traits)) + " on " +
                         line_text(p.other.place, p.here.place.file) + ", and ";
    finding.other_text += race.under_way      ? "has not waited for the copy since"
                          : race.narrow_scope ? "block scope does not reach another block"
                          : !p.same_block     ? "nothing orders the two blocks"
                          : p.same_warp       ? "no barrier or `__syncwarp` lies between"
                                              : "no barrier lies between";
}

}  // namespace

Finding describe_race(const char* code, const HappensBefore& order, const Race& race,
                      uint64_t count) {
    const machine::AccessEvent& event = *race.event;
    const machine::LaunchInfo& launch = *event.warp->block->launch;
    const HappensBefore::Who who = order.who(race.other_segment, race.other_lane);
    const Parties p = parties_of(race, who);
    const Array array = array_of(race, p);
    Finding finding;
    finding.code = code;
    finding.kernel = launch.kernel;
    finding.place = p.here.place;
    finding.message = array.element(race.address) + " is " + what_happens(race, p);
    const bool in_graph = launch.stream & machine::kGraphBranch ||
                          (who.operation && who.operation->stream & machine::kGraphBranch);
    finding.facts.add("relation",
                      !who.this_launch ? (in_graph ? "graph" : "streams")
                      : !p.same_block  ? "grid"
                      : p.same_warp    ? "warp"
                                       : "block");
    finding.facts.add("clash", clash_fact(race));
    add_facts(finding.facts, p.here.traits, p.other.traits, array, race.address);
    add_shape(finding.facts, launch);
    finding.allocation = array.description;
    finding.address = hex(race.address);
    finding.bytes = event.bytes;
    finding.count = count;
    finding.count_text = "more pairs of threads on the same two lines";
    add_race_notes(finding, race);
    if (who.this_launch)
        describe_other(finding, race, p);
    else
        describe_stream(finding, who, p.other, launch.stream, " launches", race.allocation);
    return finding;
}

void report_host_race(Report& report, const char* code, const HappensBefore& order,
                      const machine::HostAccess& access, const machine::Allocation& allocation,
                      bool writes, const Race& race, uint64_t count) {
    Finding finding;
    const bool frees = access.kind == machine::HostAccess::Kind::kFree;
    finding.code = frees ? "use-after-free" : code;
    finding.place = place_of_host(access.site);
    const Array array = name_global(nullptr, allocation, 0, writes);
    const HappensBefore::Who who = order.who(race.other_segment, race.other_lane);
    const bool by_host = who.operation && who.operation->launch == 0;
    finding.message = (array.subject.empty() ? "device memory" : array.subject) + " is " +
                      (frees    ? "freed"
                       : writes ? "written"
                                : "read") +
                      " by " + backticked(access.api ? access.api : "a copy") + " while " +
                      (by_host ? "another operation" : "a kernel") +
                      (access.stream & machine::kGraphBranch ? " in another branch of the graph"
                                                             : " in another stream") +
                      " may still be " +
                      (!by_host                                ? doing(race.other)
                       : who.operation->allocates              ? "allocating"
                       : who.operation->writes_to(&allocation) ? "writing"
                                                               : "reading") +
                      " it";
    const bool in_graph = access.stream & machine::kGraphBranch ||
                          (who.operation && who.operation->stream & machine::kGraphBranch);
    finding.facts.add("relation", in_graph ? "graph" : "streams").add("clash", "plain");
    AccessTraits mine;
    mine.writes = writes;
    add_facts(finding.facts, mine, race.other, array, race.address);
    finding.allocation = array.description;
    finding.address = hex(race.address);
    finding.count = count;
    finding.count_text = "more places in the same range";
    describe_stream(
        finding, who, earlier_party(who, race, nullptr), access.stream, "", &allocation);
    report.add(std::move(finding));
}

}  // namespace checks
