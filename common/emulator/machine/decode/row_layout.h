// SPDX-License-Identifier: MIT
// The layout of one activation: which row each register, parameter and constant has, and where each
// local variable lies in the depot. Constants follow all other rows, so their offsets are known
// only when the function has been decoded; until then a constant is a placeholder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "machine/program/code.h"

namespace machine {

class RowLayout {
public:
    // Assigns rows to the registers and parameters of `function`, and writes the sizes to `code`.
    // Throws UnsupportedPtx where they exceed the device's limits.
    RowLayout(const ptx::Function& function, Code& code);

    uint32_t of_register(uint32_t index) const { return register_rows_[index]; }
    // 4 for a predicate's mask.
    uint32_t register_bytes(uint32_t index) const;
    bool is_predicate(uint32_t index) const;
    static uint32_t width_of(ptx::Type type);  // of a row of that type, in bytes per lane

    uint32_t reserve(uint32_t bytes_per_lane);
    uint32_t reserve_predicate();
    uint32_t scratch(uint32_t bytes_per_lane);  // one row for each width, shared by all users
    // A row with this value in every lane: a placeholder until place_constants().
    uint32_t constant(ptx::Type type, uint64_t bits);

    // The storage of a .param variable of a call; empty for all other variables.
    Region parameter_region(uint32_t variable) const;
    uint32_t local_offset(uint32_t variable) const { return variable_offsets_[variable]; }

    // `row` is part of a side table that place_constants() does not know: it is resolved with the
    // others, and must stay where it is until then.
    void resolve_later(uint32_t& row) { later_.push_back(&row); }
    // Appends the constants to the rows and replaces every placeholder in the code.
    void place_constants();
    std::vector<uint32_t> take_register_rows() { return std::move(register_rows_); }

private:
    uint32_t append(uint32_t bytes, uint32_t alignment);
    Region make_region(uint64_t bytes);
    void resolve(uint32_t& row) const;

    const ptx::Function& function_;
    Code& code_;
    std::vector<uint32_t> register_rows_;
    std::vector<uint32_t> variable_offsets_;  // .local: in the depot; .param: index into regions_
    std::vector<Region> regions_;
    std::map<uint32_t, uint32_t> scratch_;                            // by bytes per lane
    std::map<std::pair<uint32_t, uint64_t>, uint32_t> placeholders_;  // by width and value
    struct Constant {
        uint32_t offset = 0;
        std::vector<std::byte> row;
    };
    std::vector<Constant> constants_;
    std::vector<uint32_t*> later_;
};

}  // namespace machine
