// SPDX-License-Identifier: MIT
// Decoding of one function: from the parsed body to Code.
#include <algorithm>
#include <iterator>
#include <sstream>

#include "machine/decode/families.h"
#include "machine/decode/fusion.h"
#include "machine/decode/invariants.h"
#include "machine/decode/removals.h"
#include "machine/machine.h"
#include "machine/program/sites.h"
#include "ptx/demangle/demangle.h"

namespace machine {
namespace {

using ptx::Opcode;
using ptx::Operand;

constexpr bool (*kDecoders[])(Decoding&, Decoding::In) = {
    decode_unsupported,
#define PTX_OPCODE(name, decoder, ...) decode_##decoder,
#include "ptx/instructions.def"
};

bool decode_instruction(Decoding& d, const ptx::Instruction& in) {
    for (const Operand& operand : in.operands) {
        if (is_partial(d.function, operand)) return decode_lane_operation(d, in);
        if (has_partial_elements(d.function, operand)) return false;
    }
    return kDecoders[size_t(in.opcode)](d, in);
}

// The PTX instructions that no handler supports, for the message that refuses the function.
class Missing {
public:
    void add(const ptx::Module& module, const ptx::Instruction& in) {
        if (count_++ >= kMost) return;
        text_ << "\n  PTX line " << in.line << ": " << in.text;
        for (const Operand& operand : in.operands)
            if ((in.opcode == Opcode::k_call && operand.kind == Operand::Kind::kSymbol) ||
                operand.kind == Operand::Kind::kSpecial)
                text_ << " " << operand.name;
        const ptx::SourceLine line =
            in.location ? module.user_line(in.location) : ptx::SourceLine{};
        if (!line.file.empty()) text_ << "  (" << line.file << ":" << line.line << ")";
    }
    void refuse(const Decoding& d) const {
        if (count_ == 0) return;
        std::string text =
            "`" + d.code.name + "` uses PTX that the emulated device cannot execute:" + text_.str();
        if (count_ > kMost) text += "\n  and more";
        if (d.calls_device_runtime)
            text +=
                "\n  These calls are of the device runtime (CUDA Dynamic Parallelism: kernels that "
                "launch kernels, or make streams), which the emulated device does not have. Launch "
                "from the host instead.";
        throw UnsupportedPtx(text);
    }

private:
    static constexpr unsigned kMost = 20;  // that are listed
    unsigned count_ = 0;
    std::ostringstream text_;
};

// Marks what belongs to the toolkit: a function that was not inlined (-G), of whose instructions
// none, or only some, have a line in the user's source.
void mark_toolkit(Code& code, ptx::Module& module, const ptx::Function& function) {
    if (function.is_entry || is_users(module, function)) return;
    code.foreign.assign(function.body.size(), true);
    for (size_t i = 0; i < function.body.size(); ++i) {
        const uint32_t location = function.body[i].location;
        if (location && module.in_user_file(location)) code.foreign[i] = false;
    }
    code.is_toolkit =
        std::find(code.foreign.begin(), code.foreign.end(), false) == code.foreign.end();
}

// Lines with a word that the parser does not know. Such an instruction would mean something else
// without the word.
std::vector<uint32_t> lines_not_understood(ptx::Module& module, const ptx::Function& function) {
    std::vector<uint32_t> lines;
    for (const ptx::Unsupported& each : module.unsupported(function.name))
        lines.push_back(each.line);
    std::sort(lines.begin(), lines.end());
    return lines;
}

// How far each straight run goes, and how many PTX instructions it has.
void count_runs(Code& code) {
    code.deltas.assign(code.instructions.size() + 1, {});
    code.runs.resize(code.instructions.size());
    for (const Code::Counted& also : code.counted_with) ++code.runs[also.pc].instructions;
    for (uint32_t pc = uint32_t(code.runs.size()); pc-- > 0;) {
        Code::Run& run = code.runs[pc];
        const uint8_t control = code.instructions[pc].control;
        run.end = pc + 1;
        run.instructions += control != kReconverge;
        if (control > kReconverge) continue;  // the body's last instruction is none of these
        run.end = code.runs[pc + 1].end;
        run.instructions += code.runs[pc + 1].instructions;
    }
}

// Branches are decoded with PTX indexes; these become pcs.
void resolve_branches(Code& code, const std::vector<uint32_t>& pc_of) {
    for (BranchOp& branch : code.branches) {
        branch.target = pc_of[branch.target];
        if (branch.reconvergence != kNoInstruction)
            branch.reconvergence = pc_of[branch.reconvergence];
        for (uint32_t& target : branch.table) target = pc_of[target];
    }
}

// Decodes the body in order. Returns the first decoded instruction of each PTX instruction.
std::vector<uint32_t> decode_body(Decoding& d, Removals& removals) {
    Code& code = d.code;
    const ptx::Function& function = d.function;
    LaunchInvariants invariants(
        function, [&](const Operand& operand) { return d.operands.symbol_space(operand); });
    const ProductFusion fusion(function);
    const std::vector<uint32_t> reconvergence = reconvergence_points(function);
    const uint32_t count = uint32_t(function.body.size());
    std::vector<bool> reconverges(count + 1, false);
    for (const uint32_t at : reconvergence)
        if (at != kNoInstruction) reconverges[at] = true;
    const std::vector<uint32_t> not_understood = lines_not_understood(d.module.ptx(), function);
    std::vector<uint32_t> pc_of(count + 1);
    const auto fuse = [&](uint32_t index) {
        const auto fused = fusion.find(index, pc_of, code, removals);
        if (!fused || !decode_rows(d, fused->multiply_add)) return false;
        removals.drop(pc_of[fused->product]);
        return true;
    };
    Missing missing;
    for (uint32_t index = 0; index < count; ++index) {
        const ptx::Instruction& in = function.body[index];
        d.emitter.set_index(index);
        d.reconvergence = reconvergence[index];
        pc_of[index] = uint32_t(code.instructions.size());
        if (reconverges[index]) d.emitter.emit_reconvergence();
        const size_t first = code.instructions.size();
        if (std::binary_search(not_understood.begin(), not_understood.end(), in.line) ||
            (!fuse(index) && !decode_instruction(d, in))) {
            missing.add(d.module.ptx(), in);
        } else if (code.instructions.size() == first + 1 &&
                   code.instructions[first].control == kStraight && invariants.note(in)) {
            removals.hoist(first);
        }
    }
    missing.refuse(d);
    pc_of[count] = uint32_t(code.instructions.size());
    return pc_of;
}

}  // namespace

std::unique_ptr<Code> decode(ModuleImage& module, const ptx::Function& function) {
    auto result = std::make_unique<Code>();
    Code& code = *result;
    code.module = &module;
    code.function = &function;
    code.name = ptx::plain_function(function.name);
    code.is_entry = function.is_entry;
    mark_toolkit(code, module.ptx(), function);
    RowLayout rows(function, code);
    Emitter emitter(module.ptx(), function, code, rows);
    Operands operands(module, function, code, rows, emitter);
    Decoding decoding{module, function, code, rows, emitter, operands};
    Removals removals;
    std::vector<uint32_t> pc_of = decode_body(decoding, removals);

    Instr end;
    end.control = function.is_entry ? kExit : kMissing;
    const uint32_t count = uint32_t(function.body.size());
    end.site = count ? register_site(module.ptx(), function, count - 1) : 0;
    code.instructions.push_back(end);

    removals.apply(code, pc_of);
    resolve_branches(code, pc_of);
    rows.place_constants();
    count_runs(code);
    code.register_rows = rows.take_register_rows();
    code.divergent.assign(code.instructions.size(), 0);
    return result;
}

void Code::reset_counts() {
    std::fill(deltas.begin(), deltas.end(), Delta{});
    for (Run& run : runs) run.executed = {};
    std::fill(divergent.begin(), divergent.end(), 0);
    touched = false;
}

}  // namespace machine
