// SPDX-License-Identifier: MIT
// The process-wide table of sites. Source lines are looked up on demand.
#include "machine/program/sites.h"

#include <algorithm>
#include <deque>
#include <memory>

#include "ptx/demangle/demangle.h"

namespace machine {
namespace {

struct Record {
    ptx::Module* module = nullptr;
    const ptx::Function* function = nullptr;
    uint32_t instruction = 0;
    std::unique_ptr<CodeSite> resolved;
};

std::deque<Record>& records() {
    static auto* table = new std::deque<Record>(1);  // site 0 is "unknown"
    return *table;
}

}  // namespace

SiteId register_site(ptx::Module& module, const ptx::Function& function, uint32_t instruction) {
    records().push_back({&module, &function, instruction, nullptr});
    return SiteId(records().size() - 1);
}

uint32_t site_count() {
    return uint32_t(records().size());
}

void forget_sites(uint32_t count) {
    while (records().size() > std::max(count, 1u)) records().pop_back();
}

uint32_t instruction_of_site(SiteId site) {
    return records()[site].instruction;
}

const ptx::Function* function_of_site(SiteId site) {
    return site < records().size() ? records()[site].function : nullptr;
}

bool is_users(ptx::Module& module, const ptx::Function& function) {
    for (const ptx::Instruction& in : function.body)
        if (in.location) return module.in_user_file(in.location);
    return false;
}

// Unoptimised code has no information on where a header's function was inlined: in a user's
// function, it is attributed to the preceding line of the user's. Returns the instruction with that
// line.
static uint32_t user_instruction(const Record& record) {
    const ptx::Module& module = *record.module;
    const auto& body = record.function->body;
    const uint32_t location = body[record.instruction].location;
    if (!location || module.in_user_file(location) || !is_users(*record.module, *record.function))
        return record.instruction;
    uint32_t at = record.instruction;
    while (at > 0 && !(body[at].location && module.in_user_file(body[at].location))) --at;
    return at;
}

const CodeSite& code_site(SiteId site) {
    static const CodeSite unknown;
    if (site == 0 || site >= records().size()) return unknown;
    Record& record = records()[site];
    if (!record.resolved) {
        auto out = std::make_unique<CodeSite>();
        const ptx::Instruction& in = record.function->body[record.instruction];
        out->mangled = std::string(record.function->name);
        out->function = ptx::plain_function(out->mangled);
        const uint32_t location = record.function->body[user_instruction(record)].location;
        out->user = record.module->user_line(location);
        out->library = out->user.line != 0 && !record.module->in_user_file(location);
        out->chain = record.module->inline_chain(in.location);
        out->opcode = in.text;
        out->ptx_line = in.line;
        record.resolved = std::move(out);
    }
    return *record.resolved;
}

}  // namespace machine
