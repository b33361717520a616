// SPDX-License-Identifier: MIT
// The functions that every device program may call without defining them: vprintf, __assertfail,
// malloc, free (CUDA C++ Programming Guide, "Formatted Output", "Assertion", "Dynamic Global Memory
// Allocation and Operations"), cudaGraphSetConditional.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

#include "machine/units/builtins.h"
#include "ptx/demangle/demangle.h"

namespace machine {
namespace {

uint64_t argument(LaunchState& ex, const CallOp& op, size_t k, uint32_t lane) {
    uint64_t value = 0;
    if (k >= op.arguments.size()) return value;
    const CallOp::Slot& slot = op.arguments[k];
    if (slot.row != kNoRow)
        std::memcpy(&value,
                    ex.rows + slot.row + lane * slot.row_bytes,
                    std::min<uint32_t>(8, slot.row_bytes));
    else
        std::memcpy(&value,
                    ex.rows + slot.region.offset + lane * slot.region.stride,
                    std::min<uint32_t>(8, slot.region.bytes));
    return value;
}

void result(LaunchState& ex, const CallOp& op, uint32_t lane, uint64_t value) {
    if (op.results.empty()) return;
    const CallOp::Slot& slot = op.results[0];
    if (slot.row != kNoRow)
        std::memcpy(ex.rows + slot.row + lane * slot.row_bytes,
                    &value,
                    std::min<uint32_t>(8, slot.row_bytes));
    else
        std::memcpy(ex.rows + slot.region.offset + lane * slot.region.stride,
                    &value,
                    std::min<uint32_t>(8, slot.region.bytes));
}

// A NUL-terminated string in device memory; `limit` guards against unterminated text.
std::string text_at(LaunchState& ex, uint64_t address, uint32_t lane, size_t limit = 1 << 16) {
    std::string out;
    for (; out.size() < limit; ++address) {
        const std::byte* p = ex.peek(address, 1, lane);
        if (!p || *p == std::byte{0}) break;
        out += char(*p);
    }
    return out;
}

// Formats like the host's printf; the buffer holds the arguments at their natural alignment, with
// float promoted to double and small integers to int.
std::string format(LaunchState& ex, const std::string& pattern, uint64_t buffer, uint32_t lane,
                   int& count) {
    std::string out;
    uint64_t offset = 0;
    const auto take = [&](unsigned bytes) {
        offset = (offset + bytes - 1) / bytes * bytes;
        uint64_t value = 0;
        if (const std::byte* p = ex.peek(buffer + offset, bytes, lane))
            std::memcpy(&value, p, bytes);
        offset += bytes;
        return value;
    };
    for (size_t i = 0; i < pattern.size(); ++i) {
        if (pattern[i] != '%') {
            out += pattern[i];
            continue;
        }
        if (i + 1 < pattern.size() && pattern[i + 1] == '%') {
            out += '%';
            ++i;
            continue;
        }
        std::string spec = "%";
        size_t k = i + 1;
        const auto is_one_of = [&](const char* set) {
            return k < pattern.size() && std::strchr(set, pattern[k]) != nullptr;
        };
        while (is_one_of("-+ #0")) spec += pattern[k++];
        const auto number = [&] {
            if (k < pattern.size() && pattern[k] == '*') {
                // Like the digits below; a negative precision counts as absent (ISO C, "fprintf").
                const int32_t given = int32_t(take(4));
                if (given < 0 && spec.back() == '.')
                    spec.pop_back();
                else
                    spec += std::to_string(std::clamp(given, -9999, 9999));
                ++k;
            }
            std::string digits;
            while (is_one_of("0123456789")) digits += pattern[k++];
            // A wider field can only be a mistake; it must not exhaust memory.
            if (digits.size() > 4) digits = "9999";
            spec += digits;
        };
        number();
        if (k < pattern.size() && pattern[k] == '.') {
            spec += pattern[k++];
            number();
        }
        bool wide = false;
        while (is_one_of("hlLqjzt")) {
            wide |= pattern[k] != 'h';
            ++k;
        }
        if (k >= pattern.size()) {
            out += pattern.substr(i);
            break;
        }
        char text[10400];
        const char kind = pattern[k];
        int length = 0;
        switch (kind) {
        case 'd':
        case 'i':
            length = std::snprintf(text,
                                   sizeof text,
                                   (spec + "ll" + kind).c_str(),
                                   wide ? static_cast<long long>(take(8))
                                        : static_cast<long long>(int32_t(take(4))));
            break;
        case 'u':
        case 'x':
        case 'X':
        case 'o':
            length = std::snprintf(text,
                                   sizeof text,
                                   (spec + "ll" + kind).c_str(),
                                   static_cast<unsigned long long>(take(wide ? 8 : 4)));
            break;
        case 'c':
            length = std::snprintf(text, sizeof text, (spec + kind).c_str(), int(take(4)));
            break;
        case 'p':
            length = std::snprintf(
                text, sizeof text, (spec + kind).c_str(), reinterpret_cast<void*>(take(8)));
            break;
        case 's': {
            const std::string s = text_at(ex, take(8), lane);
            length = std::snprintf(text, sizeof text, (spec + kind).c_str(), s.c_str());
            break;
        }
        case 'e':
        case 'E':
        case 'f':
        case 'F':
        case 'g':
        case 'G':
        case 'a':
        case 'A': {
            const uint64_t bits = take(8);
            double value;
            std::memcpy(&value, &bits, 8);
            length = std::snprintf(text, sizeof text, (spec + kind).c_str(), value);
            break;
        }
        default:
            out += pattern.substr(i, k - i + 1);
            i = k;
            continue;
        }
        if (length > 0) out.append(text, std::min<size_t>(size_t(length), sizeof text - 1));
        ++count;
        i = k;
    }
    return out;
}

void device_printf(LaunchState& ex, const Instr&, const CallOp& op) {
    ++ex.changes;
    for_lanes(ex.mask, [&](uint32_t lane) {
        int count = 0;
        const std::string text = format(ex,
                                        text_at(ex, argument(ex, op, 0, lane), lane),
                                        argument(ex, op, 1, lane),
                                        lane,
                                        count);
        if (ex.printf_sink)
            ex.printf_sink(text.data(), text.size());
        else
            std::fwrite(text.data(), 1, text.size(), stdout);
        result(ex, op, lane, uint64_t(uint32_t(count)));
    });
}

void assert_fail(LaunchState& ex, const Instr&, const CallOp& op) {
    const uint32_t lane = uint32_t(std::countr_zero(ex.mask));
    ex.fault(FaultKind::kAssert,
             ex.mask,
             text_at(ex, argument(ex, op, 0, lane), lane),
             text_at(ex, argument(ex, op, 1, lane), lane),
             uint32_t(argument(ex, op, 2, lane)),
             text_at(ex, argument(ex, op, 3, lane), lane));
    ex.stop(LaunchStatus::kAssert);  // PTX continues after the call, a card does not
}

void device_malloc(LaunchState& ex, const Instr& in, const CallOp& op) {
    ++ex.changes;
    for_lanes(ex.mask, [&](uint32_t lane) {
        const uint64_t bytes = argument(ex, op, 0, lane);
        Allocation* a = nullptr;
        if (bytes && bytes <= ex.heap_bytes - std::min(ex.heap_bytes, ex.heap_used))
            a = ex.memory.allocate(MemoryKind::kHeap, bytes, ex.info.device, 0);
        if (a) {
            a->made_by = LaunchState::blamed(ex.frame, in);
            ex.heap_used += bytes;
            ex.heap.push_back(a);
            for (Observer* o : ex.observers.memory) o->on_alloc(*a);
        }
        result(ex, op, lane, a ? a->address : 0);
    });
}

void device_free(LaunchState& ex, const Instr& in, const CallOp& op) {
    ++ex.changes;
    for_lanes(ex.mask, [&](uint32_t lane) {
        const uint64_t address = argument(ex, op, 0, lane);
        if (address == 0) return;
        Allocation* a = ex.memory.find(address);
        if (!a || !a->live || a->kind != MemoryKind::kHeap || a->address != address) {
            const bool again = a && !a->live && a->kind == MemoryKind::kHeap;
            ex.fault(FaultKind::kBadFree,
                     1u << lane,
                     again ? "`free` frees an array that has already been freed"
                           : "`free` gets an address that `malloc` in a kernel did not give",
                     {},
                     0,
                     {},
                     again ? a->freed_by : 0);
            ex.fail(LaunchStatus::kIllegalAddress);
            return;
        }
        for (Observer* o : ex.observers.memory) o->on_free(*a);
        ex.heap_used -= std::min(ex.heap_used, a->bytes);
        ex.memory.release(*a, 0);
        a->freed_by = LaunchState::blamed(ex.frame, in);
    });
}

void set_condition(LaunchState& ex, const Instr&, const CallOp& op) {
    ++ex.changes;
    for_lanes(ex.mask, [&](uint32_t lane) {
        conditions()[argument(ex, op, 0, lane)] = uint32_t(argument(ex, op, 1, lane));
    });
}

}  // namespace

std::unordered_map<uint64_t, uint32_t>& conditions() {
    static auto& values = *new std::unordered_map<uint64_t, uint32_t>;
    return values;
}

Builtin find_builtin(std::string_view name) {
    if (name == "vprintf") return device_printf;
    if (name == "__assertfail") return assert_fail;
    if (name == "malloc") return device_malloc;
    if (name == "free") return device_free;
    if (name == "cudaGraphSetConditional") return set_condition;
    return nullptr;
}

}  // namespace machine
