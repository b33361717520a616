// SPDX-License-Identifier: MIT
#include "machine/program/liveness.h"

#include <algorithm>

#include "machine/program/control_flow.h"

namespace machine {

Liveness::Liveness(const ptx::Function& function) {
    const uint32_t count = uint32_t(function.body.size());
    words_ = (function.registers.size() + 63) / 64;
    row_.assign(count + 1, kNone);
    std::vector<bool> leader(count + 1, false);
    leader[0] = true;
    for (uint32_t i = 0; i < count; ++i) {
        const auto& in = function.body[i];
        const std::vector<uint32_t> jumps = jump_targets(function, in);
        for (const uint32_t t : jumps)
            if (t < count) leader[t] = true;
        if (!jumps.empty() || ends_flow(in)) leader[i + 1] = true;
    }
    std::vector<uint32_t> first;
    for (uint32_t i = 0; i < count; ++i) {
        if (!leader[i]) continue;
        row_[i] = uint32_t(first.size());
        first.push_back(i);
    }
    const size_t blocks = first.size();
    first.push_back(count);

    // What a block reads before writing it, and what it always writes.
    std::vector<uint64_t> needs(blocks * words_), kills(blocks * words_);
    std::vector<std::vector<uint32_t>> next(blocks);
    for (size_t b = 0; b < blocks; ++b) {
        uint64_t* const need = needs.data() + b * words_;
        uint64_t* const kill = kills.data() + b * words_;
        for (uint32_t i = first[b]; i < first[b + 1]; ++i) {
            const auto& in = function.body[i];
            for_read(in, [&](uint32_t r) {
                if (!(kill[r / 64] >> (r % 64) & 1)) need[r / 64] |= uint64_t(1) << (r % 64);
            });
            if (in.guarded) continue;
            for_written(in, [&](uint32_t r) { kill[r / 64] |= uint64_t(1) << (r % 64); });
        }
        const auto& last = function.body[first[b + 1] - 1];
        for (const uint32_t t : jump_targets(function, last))
            if (t < count) next[b].push_back(row_[t]);
        if (!ends_flow(last) && b + 1 < blocks) next[b].push_back(uint32_t(b + 1));
    }
    sets_ = needs;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t b = blocks; b-- > 0;) {
            for (size_t w = 0; w < words_; ++w) {
                uint64_t out = 0;
                for (const uint32_t n : next[b]) out |= sets_[n * words_ + w];
                const uint64_t in = sets_[b * words_ + w] | (out & ~kills[b * words_ + w]);
                changed |= in != sets_[b * words_ + w];
                sets_[b * words_ + w] = in;
            }
        }
    }
    for (uint32_t r = 0; blocks && r < function.registers.size(); ++r)
        if (live(0, r)) at_entry_.push_back(r);
}

uint32_t Liveness::most_words(const ptx::Function& function) const {
    const auto words = [&](uint32_t r) -> uint32_t {
        const ptx::Type type = function.registers[r].type;
        return type == ptx::Type::kPred ? 0 : std::max(1u, ptx::byte_size(type) / 4);
    };
    std::vector<bool> alive(function.registers.size());
    uint32_t now = 0, most = 0;
    const auto change = [&](uint32_t r, bool to) {
        if (alive[r] == to) return;
        alive[r] = to;
        now += to ? words(r) : -words(r);
    };
    const auto at_start_of = [&](uint32_t instruction) {
        for (uint32_t r = 0; r < alive.size(); ++r)
            if (live(instruction, r)) change(r, true);
    };
    const uint32_t count = uint32_t(function.body.size());
    for (uint32_t i = count; i-- > 0;) {
        const auto& in = function.body[i];
        if (i + 1 == count || starts_block(i + 1)) {
            std::fill(alive.begin(), alive.end(), false);
            now = 0;
            for (const uint32_t t : jump_targets(function, in))
                if (t < count) at_start_of(t);
            if (!ends_flow(in) && i + 1 < count) at_start_of(i + 1);
        }
        if (!in.guarded) for_written(in, [&](uint32_t r) { change(r, false); });
        for_read(in, [&](uint32_t r) { change(r, true); });
        most = std::max(most, now);
    }
    return most;
}

}  // namespace machine
