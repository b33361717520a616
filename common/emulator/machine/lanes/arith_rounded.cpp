// SPDX-License-Identifier: MIT
// f32 and f64 arithmetic with directed rounding (.rz, .rm, .rp): the operations of arith_float.h
// under another rounding mode of the processor. This file must be compiled with -frounding-math.
#include <cfenv>

#include "machine/lanes/arith_float.h"

namespace machine::LEVEL_NS {
namespace {

enum Direction { kToZero, kDown, kUp };

// Only the mode of vector arithmetic matters on x86, and setting only that is several times faster.
class RoundingScope {
public:
    explicit RoundingScope(uint16_t direction) {
#if defined(__SSE2__)
        constexpr unsigned kMode[] = {0x6000, 0x2000, 0x4000};
        before_ = _mm_getcsr();
        _mm_setcsr((before_ & ~0x6000u) | kMode[direction]);
#else
        constexpr int kMode[] = {FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
        before_ = std::fegetround();
        std::fesetround(kMode[direction]);
#endif
    }
    ~RoundingScope() {
#if defined(__SSE2__)
        _mm_setcsr(before_);
#else
        std::fesetround(before_);
#endif
    }
    RoundingScope(const RoundingScope&) = delete;

private:
#if defined(__SSE2__)
    unsigned before_;
#else
    int before_;
#endif
};

// Not inlined: a call keeps the arithmetic between the two mode changes.
template <class Op>
[[gnu::noinline, gnu::flatten]] void row(Lanes& lanes, const Instr& in) {
    run_as<Op>(lanes, in, &Op::apply);
}
template <class Op>
void run_rounded(Lanes& lanes, const Instr& in) {
    const RoundingScope scope(in.extra);
    asm volatile("" ::: "memory");
    row<Op>(lanes, in);
    asm volatile("" ::: "memory");
}

}  // namespace

bool select_rounded(const Form& form, Selected& out) {
    if (form.type_count != 1 ||
        !form.only<Mod::k_rz, Mod::k_rm, Mod::k_rp, Mod::k_ftz, Mod::k_sat>())
        return false;
    const int direction = form.has(Mod::k_rz)   ? kToZero
                          : form.has(Mod::k_rm) ? kDown
                          : form.has(Mod::k_rp) ? kUp
                                                : -1;
    if (direction < 0) return false;
    const auto binder = [&]<class Op>(Op*) __attribute__((always_inline)) {
        out.handler = &run_rounded<Op>;
        out.extra = uint16_t(direction);
        describe(&Op::apply, out);
        return true;
    };
    switch (form.opcode) {
    case Opcode::k_add:
        return choose_style<AddFloat>(form, binder);
    case Opcode::k_sub:
        return choose_style<SubFloat>(form, binder);
    case Opcode::k_mul:
        return choose_style<MulFloat>(form, binder);
    case Opcode::k_fma:
    case Opcode::k_mad:
        return choose_style<FmaFloat>(form, binder);
    case Opcode::k_div:
        return choose_plain<DivFloat>(form, binder);
    case Opcode::k_sqrt:
        return choose_plain<SqrtFloat>(form, binder);
    case Opcode::k_rcp:
        return choose_plain<RcpFloat>(form, binder);
    default:
        return false;
    }
}

}  // namespace machine::LEVEL_NS
