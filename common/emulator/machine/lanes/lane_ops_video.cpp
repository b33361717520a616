// SPDX-License-Identifier: MIT
// PTX ISA "Scalar Video Instructions" (vadd, vsub, vabsdiff, vmin, vmax, vshl, vshr, vmad, vset)
// and "SIMD Video Instructions" with element selectors; those without have handlers in
// arith_video.cpp. Follows the pseudo-code there: extract and extend, operate, saturate, then
// combine with c or merge into it.
#include <algorithm>

#include "machine/lanes/lane_op.h"

namespace machine {

using ptx::Mod;
using ptx::Opcode;
using ptx::Type;

namespace {

enum Flags : uint32_t {
    kNone = 0,
    kSignedD = 1,
    kSignedA = 2,
    kSignedB = 4,
    kSat = 8,
    kAdd = 16,
    kMin = 32,
    kMax = 64,
    kWrap = 128,
    kShift7 = 256,
    kShift15 = 512,
    kPlusOne = 1024,
    kCompareShift = 12,  // one bit each for less, equal, greater
    kOpShift = 16,
    kBytes = 1u << 24,  // SIMD: four elements instead of two
};
enum Op : uint32_t { kSum, kDifference, kDistance, kLeast, kGreatest, kLeft, kRight, kSet, kMean };

// `b2` or `h1` of a word, or all of it.
struct Part {
    unsigned shift = 0, bits = 32;
};
Part part_of(std::string_view selector) {
    if (selector.size() != 2) return {};
    const unsigned k = unsigned(selector[1] - '0'), bits = selector[0] == 'b' ? 8 : 16;
    return {k * bits, bits};
}

int64_t extracted(uint32_t word, std::string_view selector, bool is_signed) {
    const Part part = part_of(selector);
    const uint64_t field = (uint64_t(word) >> part.shift) & ((uint64_t(1) << part.bits) - 1);
    if (!is_signed) return int64_t(field);
    return int64_t(field << (64 - part.bits)) >> (64 - part.bits);
}

int64_t clamped(int64_t value, unsigned bits, bool is_signed) {
    const int64_t high = (int64_t(1) << (is_signed ? bits - 1 : bits)) - 1;
    return std::clamp(value, is_signed ? -high - 1 : int64_t(0), high);
}

bool compared(uint32_t flags, int64_t a, int64_t b) {
    const uint32_t relation = a < b ? 1 : a == b ? 2 : 4;
    return (flags >> kCompareShift & relation) != 0;
}

int64_t operated(const LaneOp& op, int64_t a, int64_t b) {
    switch (op.flags >> kOpShift & 15) {
    case kSum:
        return a + b;
    case kDifference:
        return a - b;
    case kDistance:
        return a < b ? b - a : a - b;
    case kLeast:
        return std::min(a, b);
    case kGreatest:
        return std::max(a, b);
    case kLeft:
    case kRight: {
        const int64_t by = op.flags & kWrap ? b & 31 : std::min<int64_t>(b, 32);
        if ((op.flags >> kOpShift & 15) == kRight) return a >> by;
        // Saturation does not see what is shifted out beyond the ISA's 34 bits.
        return op.flags & kSat ? int64_t(uint64_t(a) << by << 30) >> 30
                               : int64_t(uint64_t(a) << by);
    }
    case kMean:
        return (a + b + (a + b >= 0)) >> 1;
    default:
        return compared(op.flags, a, b);
    }
}

uint64_t scalar(const LaneOp& op, const uint64_t* s, bool&) {
    const uint32_t flags = op.flags;
    const int64_t a = extracted(uint32_t(s[0]), op.selector[0], flags & kSignedA);
    const int64_t b = extracted(uint32_t(s[1]), op.selector[1], flags & kSignedB);
    int64_t value = operated(op, a, b);
    const Part into = part_of(op.result_selector);
    if (flags & kSat) value = clamped(value, into.bits, flags & kSignedD);
    const uint32_t c = uint32_t(s[2]);
    if (into.bits != 32) {
        const uint32_t mask = ((1u << into.bits) - 1) << into.shift;
        return (c & ~mask) | (uint32_t(value) << into.shift & mask);
    }
    const uint32_t cut = uint32_t(value);
    if (flags & kAdd) return cut + c;
    if (!(flags & (kMin | kMax))) return cut;
    // A saturated result is compared with c as the type of d. The ISA leaves open how wide an
    // unsaturated one is. An H200 compares 64 bits, of which a sum and a difference have kept 32.
    const uint32_t kind = flags >> kOpShift & 15;
    if (!(flags & kSat) && (kind == kSum || kind == kDifference)) value = int32_t(cut);
    const bool less = flags & kSignedD ? value < int64_t(int32_t(c)) : uint64_t(value) < c;
    return less == ((flags & kMin) != 0) ? cut : c;
}

uint64_t multiply_add(const LaneOp& op, const uint64_t* s, bool&) {
    const uint32_t flags = op.flags;
    using Wide = __int128;
    const Wide a = extracted(uint32_t(s[0]), op.selector[0], flags & kSignedA);
    const Wide b = extracted(uint32_t(s[1]), op.selector[1], flags & kSignedB);
    const bool negative = op.negative[0] != op.negative[1];
    const bool is_signed = (flags & (kSignedA | kSignedB)) != 0 || negative || op.negative[2];
    uint32_t c = uint32_t(s[2]);
    Wide value = a * b;
    int last = 0;
    if (flags & kPlusOne) {
        last = 1;
    } else if (op.negative[2]) {
        c = ~c;
        last = 1;
    } else if (negative) {
        value = ~value;
        last = 1;
    }
    value += (is_signed ? Wide(int32_t(c)) : Wide(c)) + last;
    if (flags & kShift7) value >>= 7;
    if (flags & kShift15) value >>= 15;
    if (flags & kSat) {
        const Wide high = is_signed ? Wide(INT32_MAX) : Wide(UINT32_MAX);
        const Wide low = is_signed ? Wide(INT32_MIN) : Wide(0);
        value = value < low ? low : value > high ? high : value;
    }
    return uint32_t(value);
}

// Element k of the operand that `selector` selects from the elements of a (0, 1, ...) and b.
uint32_t selected(const LaneOp& op, unsigned which, unsigned k, const uint64_t* s) {
    const unsigned count = op.flags & kBytes ? 4 : 2, bits = 32 / count;
    const std::string_view selector = op.selector[which];
    const unsigned index =
        selector.empty() ? k + which * count : unsigned(selector[selector.size() - 1 - k] - '0');
    return uint32_t(s[index / count] >> bits * (index % count)) & ((1u << bits) - 1);
}

uint64_t simd(const LaneOp& op, const uint64_t* s, bool&) {
    const unsigned count = op.flags & kBytes ? 4 : 2, bits = 32 / count;
    const uint32_t flags = op.flags, mask = (1u << bits) - 1;
    const auto extended = [&](uint32_t x, bool is_signed) {
        return is_signed ? int64_t(uint64_t(x) << (64 - bits)) >> (64 - bits) : int64_t(x);
    };
    uint32_t chosen = 0;  // the elements that are computed
    if (op.result_selector.empty()) chosen = (1u << count) - 1;
    for (const char c : op.result_selector)
        if (c >= '0' && c < char('0' + count)) chosen |= 1u << (c - '0');
    const uint32_t c = uint32_t(s[2]);
    uint32_t packed = 0, sum = c;
    for (unsigned k = 0; k < count; ++k) {
        if (!(chosen >> k & 1)) {
            packed |= c & mask << bits * k;
            continue;
        }
        int64_t value = operated(op,
                                 extended(selected(op, 0, k, s), flags & kSignedA),
                                 extended(selected(op, 1, k, s), flags & kSignedB));
        if (flags & kSat) value = clamped(value, bits, flags & kSignedD);
        packed |= (uint32_t(value) & mask) << bits * k;
        sum += uint32_t(value);  // not truncated, as without selectors (arith_video.cpp)
    }
    return flags & kAdd ? sum : packed;
}

bool is_32_bit_integer(Type type) {
    return type == Type::kU32 || type == Type::kS32;
}

bool comparison(const ptx::Instruction& in, uint32_t& flags) {
    const uint32_t compare = in.has(Mod::k_eq)   ? 2
                             : in.has(Mod::k_ne) ? 5
                             : in.has(Mod::k_lt) ? 1
                             : in.has(Mod::k_le) ? 3
                             : in.has(Mod::k_gt) ? 4
                             : in.has(Mod::k_ge) ? 6
                                                 : 0;
    flags |= compare << kCompareShift;
    return compare != 0;
}

struct Entry {
    Opcode opcode;
    Op op;
    unsigned elements;
};
constexpr Entry kEntries[] = {
    {Opcode::k_vadd, kSum, 1},           {Opcode::k_vsub, kDifference, 1},
    {Opcode::k_vabsdiff, kDistance, 1},  {Opcode::k_vmin, kLeast, 1},
    {Opcode::k_vmax, kGreatest, 1},      {Opcode::k_vshl, kLeft, 1},
    {Opcode::k_vshr, kRight, 1},         {Opcode::k_vset, kSet, 1},
    {Opcode::k_vadd2, kSum, 2},          {Opcode::k_vsub2, kDifference, 2},
    {Opcode::k_vavrg2, kMean, 2},        {Opcode::k_vabsdiff2, kDistance, 2},
    {Opcode::k_vmin2, kLeast, 2},        {Opcode::k_vmax2, kGreatest, 2},
    {Opcode::k_vset2, kSet, 2},          {Opcode::k_vadd4, kSum, 4},
    {Opcode::k_vsub4, kDifference, 4},   {Opcode::k_vavrg4, kMean, 4},
    {Opcode::k_vabsdiff4, kDistance, 4}, {Opcode::k_vmin4, kLeast, 4},
    {Opcode::k_vmax4, kGreatest, 4},     {Opcode::k_vset4, kSet, 4},
};

// The letter and number of digits of every selector.
bool selectors_fit(const LaneOp& op, const Entry& entry) {
    const auto fits = [&](std::string_view s, bool result) {
        if (s.empty()) return true;
        const char letter = s[0];
        const std::string_view digits = s.substr(1);
        if (entry.elements == 1)
            return digits.size() == 1 &&
                   ((letter == 'b' && digits[0] <= '3') || (letter == 'h' && digits[0] <= '1'));
        const char most = char('0' + (result ? entry.elements : 2 * entry.elements) - 1);
        if (letter != (entry.elements == 4 ? 'b' : 'h')) return false;
        if (result ? digits.size() > entry.elements : digits.size() != entry.elements) return false;
        return std::all_of(
            digits.begin(), digits.end(), [&](char c) { return c >= '0' && c <= most; });
    };
    return fits(op.result_selector, true) && fits(op.selector[0], false) &&
           fits(op.selector[1], false) && op.selector[2].empty();
}

}  // namespace

bool select_video_operation(const ptx::Instruction& in, LaneOp& op) {
    op.result = Type::kB32;
    for (Type& type : op.source) type = Type::kB32;
    op.count = unsigned(in.operands.size() - 1);
    if (in.opcode == Opcode::k_vmad) {
        if (op.count != 3 || in.types.size() != 3 ||
            !only(in, {Mod::k_sat, Mod::k_po, Mod::k_shr7, Mod::k_shr15}))
            return false;
        if (!selectors_fit(op, kEntries[0]) || !op.result_selector.empty()) return false;
        op.apply = multiply_add;
        op.flags = (in.type(1) == Type::kS32 ? kSignedA : kNone) |
                   (in.type(2) == Type::kS32 ? kSignedB : kNone) |
                   (in.has(Mod::k_sat) ? kSat : kNone) | (in.has(Mod::k_po) ? kPlusOne : kNone) |
                   (in.has(Mod::k_shr7) ? kShift7 : kNone) |
                   (in.has(Mod::k_shr15) ? kShift15 : kNone);
        return true;
    }
    const auto entry = std::find_if(std::begin(kEntries), std::end(kEntries), [&](const Entry& e) {
        return e.opcode == in.opcode;
    });
    if (entry == std::end(kEntries) || !selectors_fit(op, *entry)) return false;
    if (op.negative[0] || op.negative[1] || op.negative[2]) return false;
    for (const Type type : in.types)
        if (!is_32_bit_integer(type)) return false;
    const bool set = entry->op == kSet, simd_form = entry->elements > 1;
    const size_t first = set ? 0 : 1;
    if (in.types.size() != first + 2) return false;
    op.flags = uint32_t(entry->op) << kOpShift | (entry->elements == 4 ? kBytes : kNone);
    if (!set && in.type(0) == Type::kS32) op.flags |= kSignedD;
    if (in.type(first) == Type::kS32) op.flags |= kSignedA;
    if (in.type(first + 1) == Type::kS32) op.flags |= kSignedB;
    if (set && !comparison(in, op.flags)) return false;
    // How an H200 compares the result with c; a vset has no type of d.
    if (set && !simd_form && op.flags & kSignedA) op.flags |= kSignedD;
    const bool shift = entry->op == kLeft || entry->op == kRight;
    if (shift) {
        if (in.has(Mod::k_clamp) == in.has(Mod::k_wrap) || in.type(2) != Type::kU32) return false;
        if (in.has(Mod::k_wrap)) op.flags |= kWrap;
    }
    if (!only(in,
              {Mod::k_sat,
               Mod::k_add,
               Mod::k_min,
               Mod::k_max,
               shift ? Mod::k_clamp : Mod::k_sat,
               shift ? Mod::k_wrap : Mod::k_sat,
               set ? Mod::k_eq : Mod::k_sat,
               set ? Mod::k_ne : Mod::k_sat,
               set ? Mod::k_lt : Mod::k_sat,
               set ? Mod::k_le : Mod::k_sat,
               set ? Mod::k_gt : Mod::k_sat,
               set ? Mod::k_ge : Mod::k_sat}))
        return false;
    if (in.has(Mod::k_sat)) {
        if (set) return false;
        op.flags |= kSat;
    }
    op.flags |= (in.has(Mod::k_add) ? kAdd : kNone) | (in.has(Mod::k_min) ? kMin : kNone) |
                (in.has(Mod::k_max) ? kMax : kNone);
    const bool second = op.flags & (kAdd | kMin | kMax), merges = !op.result_selector.empty();
    if (simd_form) {
        op.apply = simd;
        return op.count == 3 && !(op.flags & (kMin | kMax)) && !(second && (op.flags & kSat));
    }
    op.apply = scalar;
    return op.count == (second || merges ? 3u : 2u) && !(second && merges);
}

}  // namespace machine
