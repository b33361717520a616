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

// The arguments of a printf, at their natural alignment in a buffer in device memory, with float
// promoted to double and small integers to int.
struct PrintfArguments {
    LaunchState& ex;
    uint64_t buffer;
    uint32_t lane;
    uint64_t offset = 0;

    uint64_t take(unsigned bytes) {
        offset = (offset + bytes - 1) / bytes * bytes;
        uint64_t value = 0;
        if (const std::byte* p = ex.peek(buffer + offset, bytes, lane))
            std::memcpy(&value, p, bytes);
        offset += bytes;
        return value;
    }
};

// A conversion of a pattern: `%-8.3lf`.
struct Conversion {
    std::string flags;  // from the percent sign to the precision, for the host's printf
    bool wide = false;  // an integer of 64 bits
    char kind = 0;      // the letter at the end; 0: the pattern ends before it
    size_t end = 0;     // the index of that letter
};

// pattern[at] is the percent sign. An asterisk takes its number from the arguments.
Conversion read_conversion(const std::string& pattern, size_t at, PrintfArguments& arguments) {
    Conversion out;
    out.flags = "%";
    size_t& k = out.end = at + 1;
    const auto is_one_of = [&](const char* set) {
        return k < pattern.size() && std::strchr(set, pattern[k]) != nullptr;
    };
    const auto number = [&] {
        if (k < pattern.size() && pattern[k] == '*') {
            // Like the digits below; a negative precision counts as absent (ISO C, "fprintf").
            const int32_t given = int32_t(arguments.take(4));
            if (given < 0 && out.flags.back() == '.')
                out.flags.pop_back();
            else
                out.flags += std::to_string(std::clamp(given, -9999, 9999));
            ++k;
        }
        std::string digits;
        while (is_one_of("0123456789")) digits += pattern[k++];
        // A wider field can only be a mistake; it must not exhaust memory.
        if (digits.size() > 4) digits = "9999";
        out.flags += digits;
    };
    while (is_one_of("-+ #0")) out.flags += pattern[k++];
    number();
    if (k < pattern.size() && pattern[k] == '.') {
        out.flags += pattern[k++];
        number();
    }
    while (is_one_of("hlLqjzt")) {
        out.wide |= pattern[k] != 'h';
        ++k;
    }
    if (k < pattern.size()) out.kind = pattern[k];
    return out;
}

// Appends the next argument; false for a letter that printf does not know.
bool append_argument(std::string& out, const Conversion& conversion, PrintfArguments& arguments) {
    char text[10400];
    const auto print = [&](const char* length, auto value) {
        const std::string spec = conversion.flags + length + conversion.kind;
        const int written = std::snprintf(text, sizeof text, spec.c_str(), value);
        if (written > 0) out.append(text, std::min<size_t>(size_t(written), sizeof text - 1));
        return true;
    };
    switch (conversion.kind) {
    case 'd':
    case 'i':
        return print("ll",
                     conversion.wide ? static_cast<long long>(arguments.take(8))
                                     : static_cast<long long>(int32_t(arguments.take(4))));
    case 'u':
    case 'x':
    case 'X':
    case 'o':
        return print("ll",
                     static_cast<unsigned long long>(arguments.take(conversion.wide ? 8 : 4)));
    case 'c':
        return print("", int(arguments.take(4)));
    case 'p':
        return print("", reinterpret_cast<void*>(arguments.take(8)));
    case 's':
        return print("", text_at(arguments.ex, arguments.take(8), arguments.lane).c_str());
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
        return print("", std::bit_cast<double>(arguments.take(8)));
    default:
        return false;
    }
}

// Formats like the host's printf. `count`: the arguments that were printed.
std::string format(const std::string& pattern, PrintfArguments arguments, int& count) {
    std::string out;
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
        const Conversion conversion = read_conversion(pattern, i, arguments);
        if (!conversion.kind) return out + pattern.substr(i);
        if (append_argument(out, conversion, arguments))
            ++count;
        else
            out += pattern.substr(i, conversion.end - i + 1);
        i = conversion.end;
    }
    return out;
}

void device_printf(LaunchState& ex, const Instr&, const CallOp& op) {
    ++ex.changes;
    for_lanes(ex.mask, [&](uint32_t lane) {
        int count = 0;
        const std::string text = format(text_at(ex, argument(ex, op, 0, lane), lane),
                                        {ex, argument(ex, op, 1, lane), lane},
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
