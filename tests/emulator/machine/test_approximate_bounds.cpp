// SPDX-License-Identifier: MIT
// Approximate instructions over their whole range: no result is further from the exact one than PTX
// ISA 9.1 states, and special operands give what its tables say. The figures stand in the sections
// "Floating Point Instructions: rcp", "... sqrt" and so on, for f16 and bf16 in "Half Precision
// Floating Point Instructions: ex2" and "... tanh". Exact results are computed in long double.
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "arith_lab.h"

using namespace lab;

namespace {

using Wide = long double;
constexpr Wide kInfinite = std::numeric_limits<Wide>::infinity();
constexpr Wide kWideNan = std::numeric_limits<Wide>::quiet_NaN();
constexpr Wide kPi = 3.14159265358979323846264338327950288L;

// An IEEE format: its width, bits of fraction, exponent of the least normal number.
struct Format {
    unsigned width;
    int fraction, least;

    bool upper() const { return width == 64 && fraction == 20; }
    uint64_t sign() const { return uint64_t(1) << (width - 1); }
    uint64_t infinity() const {
        return (sign() - 1) & ~((uint64_t(1) << (width == 64 ? 52 : fraction)) - 1);
    }
    Wide value(uint64_t bits) const {
        const int stored = width == 64 ? 52 : fraction;  // also of kUpper
        const int64_t exponent = int64_t((bits & (sign() - 1)) >> stored);
        const uint64_t rest = bits & ((uint64_t(1) << stored) - 1);
        Wide size = std::ldexp(Wide(exponent ? rest | uint64_t(1) << stored : rest),
                               int(std::max<int64_t>(exponent, 1)) - 1 + least - stored);
        if ((bits & infinity()) == infinity()) size = rest ? kWideNan : kInfinite;
        return bits & sign() ? -size : size;
    }
    // The distance of neighbours at x, one ulp.
    Wide unit(Wide x) const {
        const int exponent = x == 0 || std::isinf(x) ? least : std::ilogb(x);
        return std::ldexp(Wide(1), std::max(exponent, least) - fraction);
    }
    Wide least_normal() const { return std::ldexp(Wide(1), least); }
    bool subnormal(Wide x) const { return x != 0 && std::fabs(x) < least_normal(); }
    // Infinity as the power of two after the greatest number: near, when a result overflows.
    Wide finite(Wide x) const {
        const Wide greatest = std::ldexp(Wide(1), 2 - least);
        return std::isnan(x) ? x : std::clamp(x, -greatest, greatest);
    }
};
constexpr Format kSingle{32, 23, -126}, kHalf{16, 10, -14}, kBrain{16, 7, -126};
constexpr Format kDouble{64, 52, -1022}, kUpper{64, 20, -1022};  // kUpper: 1.11.20, a word of f64

// The largest error for operands a, b and the exact result; none where PTX ISA states none.
using Limit = std::function<std::optional<Wide>(const Format&, Wide a, Wide b, Wide want)>;
using Exact = Wide (*)(Wide a, Wide b);

Limit ulps(Wide n) {
    return [n](const Format& format, Wide, Wide, Wide want) { return n * format.unit(want); };
}
Limit relative(Wide error) {  // below the normal numbers no relative error fits: one unit
    return [error](const Format& format, Wide, Wide, Wide want) {
        const Wide limit = error * std::fabs(want);
        return format.subnormal(want) ? std::max(limit, format.unit(0)) : limit;
    };
}
Limit absolute(Wide error) {
    return [error](const Format&, Wide, Wide, Wide) { return error; };
}
std::optional<Wide> circle_limit(const Format&, Wide a, Wide, Wide) {
    if (std::fabs(a) <= 2 * kPi) return std::exp2(Wide(-20.5));
    if (std::fabs(a) <= 100 * kPi) return std::exp2(Wide(-14.7));
    return std::nullopt;
}
std::optional<Wide> logarithm_limit(const Format&, Wide a, Wide, Wide want) {
    return std::ldexp(a > 0.5 && a < 2 ? Wide(1) : std::fabs(want), -22);
}
std::optional<Wide> quotient_limit(const Format& format, Wide, Wide b, Wide want) {
    const Wide size = std::fabs(b);
    if (size == 0 || size > 0x1p126L) return 0;
    if (size < 0x1p-126L) return std::nullopt;
    return 2 * format.unit(want);
}

Wide reciprocal(Wide a, Wide) {
    return 1 / a;
}
Wide reciprocal_root(Wide a, Wide) {
    return 1 / std::sqrt(a);
}
Wide quotient(Wide a, Wide b) {
    return a / b;
}
// a * (1 / b), where 1 / b counts as zero for 2^126 < |b| < 2^128.
Wide quick_quotient(Wide a, Wide b) {
    const bool huge = std::fabs(b) > 0x1p126L && std::isfinite(b);
    return huge ? a * std::copysign(Wide(0), b) : a / b;
}
template <Wide (*function)(Wide)>
Wide of(Wide a, Wide) {
    return function(a);
}

struct Subject {
    std::string mnemonic;
    Format format;
    Exact exact;
    Limit limit;
    std::vector<std::pair<double, double>> ranges{};  // swept closely
    bool flush = mnemonic.find(".ftz") != std::string::npos;

    Wide operand(uint64_t bits) const {
        if (format.upper()) bits &= 0xffffffff00000000;
        const Wide x = format.value(bits);
        return flush && format.subnormal(x) ? std::copysign(Wide(0), x) : x;
    }
    // "" or what is wrong with a result.
    std::string fault(uint64_t a_bits, uint64_t b_bits, uint64_t result) const {
        const Wide a = operand(a_bits), b = operand(b_bits), got = format.value(result);
        const Wide want = exact(a, b);
        if (std::isnan(want)) return std::isnan(got) ? "" : "not NaN";
        const std::optional<Wide> stated = limit(format, a, b, format.finite(want));
        if (!stated) return "";
        if (std::isnan(got)) return "NaN";
        if (flush && format.subnormal(got)) return "subnormal";
        if (format.upper() && result & 0xffffffff) return "below bit 32";
        const bool same_sign = std::signbit(got) == std::signbit(want);
        const bool special = a == 0 || b == 0 || std::isinf(a) || std::isinf(b);
        if (special || *stated == 0) return got == want && same_sign ? "" : "not as in the table";
        // .ftz: zero, of the right sign where that is certain, stands for what is below normal.
        if (flush && got == 0 && std::fabs(want) - *stated < format.least_normal())
            return same_sign || *stated >= std::fabs(want) ? "" : "of the wrong sign";
        const Wide error = std::fabs(format.finite(got) - format.finite(want));
        if (error <= *stated) return "";
        return std::to_string(double(error / *stated)) + " times the largest error";
    }
};

std::vector<Subject> subjects() {
    const Wide rough = std::exp2(Wide(-22.9));
    std::vector<Subject> list;
    for (const std::string ftz : {"", ".ftz"}) {
        const auto add = [&](const std::string& opcode,
                             Exact exact,
                             const Limit& limit,
                             std::vector<std::pair<double, double>>
                                 ranges) {
            list.push_back({opcode + ftz + ".f32", kSingle, exact, limit, std::move(ranges)});
        };
        add("rcp.approx", reciprocal, ulps(1), {{-4, 4}, {0x1p125, 0x1.fp127}});
        add("sqrt.approx", of<sqrtl>, relative(0x1p-23L), {{0, 4}, {0, 0x1p-125}});
        add("rsqrt.approx", reciprocal_root, relative(rough), {{0, 4}, {0, 0x1p-125}});
        add("sin.approx", of<sinl>, circle_limit, {{-2 * kPi, 2 * kPi}, {-100 * kPi, 100 * kPi}});
        add("cos.approx", of<cosl>, circle_limit, {{-2 * kPi, 2 * kPi}, {-100 * kPi, 100 * kPi}});
        add("lg2.approx", of<log2l>, logarithm_limit, {{0.5, 2}, {0, 0x1p-125}, {0, 100}});
        add("ex2.approx", of<exp2l>, ulps(2), {{-1, 1}, {-152, 130}});
        add("div.approx", quick_quotient, quotient_limit, {{-4, 4}, {0x1p124, 0x1p127}});
        add("div.full", quotient, ulps(2), {{-4, 4}, {0x1p124, 0x1p127}});
    }
    list.push_back({"tanh.approx.f32", kSingle, of<tanhl>, relative(0x1p-11L), {{-12, 12}}});
    for (const std::string pack : {"", "x2"}) {
        const Wide half_power = std::exp2(Wide(-9.9)), half_tangent = std::exp2(Wide(-10.987));
        list.push_back({"ex2.approx.f16" + pack, kHalf, of<exp2l>, relative(half_power)});
        list.push_back({"ex2.approx.ftz.bf16" + pack, kBrain, of<exp2l>, relative(0x1p-7L)});
        list.push_back({"tanh.approx.f16" + pack, kHalf, of<tanhl>, absolute(half_tangent)});
        list.push_back({"tanh.approx.bf16" + pack, kBrain, of<tanhl>, absolute(0x1p-8L)});
    }
    // PTX ISA states no error for these: 1 ulp is that of rsqrt() in CUDA C++ Programming Guide,
    // "Mathematical Functions", counted from the rounded result; the others have 20 bits.
    list.push_back({"rsqrt.approx.f64", kDouble, reciprocal_root, ulps(1.5), {{1, 1.001}, {0, 4}}});
    list.push_back({"rcp.approx.ftz.f64", kUpper, reciprocal, ulps(1), {{-4, 4}}});
    list.push_back({"rsqrt.approx.ftz.f64", kUpper, reciprocal_root, ulps(1), {{0, 4}}});
    return list;
}

// Every number of 16 bits; of longer formats the awkward ones, an even share of all bit patterns,
// and the ranges.
std::vector<uint64_t> operands(const Subject& subject) {
    const Format& format = subject.format;
    std::vector<uint64_t> list;
    if (format.width == 16) {
        for (uint64_t bits = 0; bits < 0x10000; ++bits) list.push_back(bits);
        return list;
    }
    const bool single = format.width == 32;
    const uint64_t one = single ? bits(1.0f) : bits(1.0);
    const uint64_t normal = uint64_t(1) << (single ? 23 : 52);
    for (const uint64_t start : {uint64_t(0),
                                 normal,
                                 one,
                                 one + normal,
                                 one - normal,
                                 one + 126 * normal,
                                 format.infinity()})
        for (uint64_t sign : {uint64_t(0), format.sign()})
            for (uint64_t step = 0; step < 9; ++step)
                if (start + step >= 4) list.push_back(sign | (start + step - 4));
    constexpr uint64_t kPatterns = 100000;
    const uint64_t stride = single ? 42013 : 0x0000a7c5ac471b47 * 5;
    for (uint64_t i = 0; i < kPatterns; ++i)
        list.push_back(single ? uint32_t(i * stride) : i * stride);
    for (const auto& [low, high] : subject.ranges)
        for (int i = 0; i <= 16000; ++i) {
            const double x = low + (high - low) * i / 16000;
            list.push_back(single ? bits(float(x)) : bits(x));
        }
    return list;
}

// Results in the order of the operands; packed forms take two at a time.
std::vector<uint64_t> results(machine::ProcessorLevel level, const std::string& mnemonic,
                              const std::vector<uint64_t>& a, const std::vector<uint64_t>& b) {
    const bool packed = mnemonic.ends_with("x2");
    const size_t step = packed ? 2 * kWarpSize : kWarpSize;
    const bool binary = mnemonic.starts_with("div");
    Setup setup{.mnemonic = mnemonic, .sources = {std::vector<uint64_t>(kWarpSize)}};
    if (binary) setup.sources.emplace_back(kWarpSize);
    ptx::Instruction instruction;
    ptx::Function function;
    build(setup, instruction, function);
    const auto selected = machine::select_arithmetic_for(level, instruction, function);
    REQUIRE(selected);
    std::vector<uint64_t> out;
    for (size_t start = 0; start < a.size(); start += step) {
        for (size_t lane = 0; lane < kWarpSize; ++lane) {
            const auto at = [&](const std::vector<uint64_t>& list, size_t i) {
                return i < list.size() ? list[i] : 0;
            };
            const size_t i = start + (packed ? 2 * lane : lane);
            setup.sources[0][lane] = packed ? at(a, i) | at(a, i + 1) << 16 : at(a, i);
            if (binary) setup.sources[1][lane] = at(b, i);
        }
        for (const uint64_t word : run_once(*selected, setup, kAllLanes, false).dst) {
            out.push_back(packed ? word & 0xffff : word);
            if (packed) out.push_back(word >> 16 & 0xffff);
        }
    }
    out.resize(a.size());
    return out;
}

const Subject& subject(const std::string& mnemonic) {
    static const std::vector<Subject> all = subjects();
    for (const Subject& one : all)
        if (one.mnemonic == mnemonic) return one;
    throw std::out_of_range(mnemonic);
}

}  // namespace

TEST_CASE("approximations: no error above PTX's largest, over the whole range",
          "[machine][arith][bounds][slow]") {
    for (const Subject& one : subjects()) {
        INFO(one.mnemonic);
        std::vector<uint64_t> a = operands(one), b = a;
        // Divisors in another order: all awkward pairs meet, the rest at random.
        std::mt19937_64 random(7);
        if (one.mnemonic.starts_with("div")) {
            constexpr size_t kAwkward = 100;
            for (size_t i = 0; i < kAwkward; ++i)
                for (size_t k = 0; k < kAwkward; ++k) a.push_back(a[i]), b.push_back(b[k]);
            std::shuffle(b.begin(), b.end() - kAwkward * kAwkward, random);
        }
        std::vector<uint64_t> first;
        for (const auto level : levels()) {
            INFO("level " << machine::level_name(level));
            const std::vector<uint64_t> got = results(level, one.mnemonic, a, b);
            if (!first.empty()) {
                REQUIRE(got == first);
                continue;
            }
            first = got;
            for (size_t i = 0; i < a.size(); ++i) {
                const std::string fault = one.fault(a[i], b[i], got[i]);
                if (!fault.empty())
                    FAIL(std::hex << a[i] << " " << b[i] << " gives " << got[i] << ": " << fault);
            }
        }
    }
}

TEST_CASE("approximations: PTX's spellings, and all of them are swept",
          "[machine][arith][bounds]") {
    size_t count = 0;
    for (const std::string opcode :
         {"rcp", "sqrt", "rsqrt", "div", "sin", "cos", "lg2", "ex2", "tanh"})
        for (const std::string way : {".approx", ".approx.ftz", ".full", ".full.ftz"})
            for (const std::string type : {"f32", "f64", "f16", "f16x2", "bf16", "bf16x2"}) {
                Setup setup{.mnemonic = opcode + way + "." + type, .sources = {{0}}};
                if (opcode == "div") setup.sources.push_back({0});
                if (!known(setup)) continue;
                INFO(setup.mnemonic);
                CHECK_NOTHROW(subject(setup.mnemonic));
                ++count;
            }
    CHECK(count == subjects().size());
}

TEST_CASE("approximations: special operands give what PTX's tables say",
          "[machine][arith][bounds]") {
    // For -inf, a negative number, -subnormal, -0, +0, +subnormal, +inf, NaN; `.` is in no table.
    const std::array<std::array<std::string, 2>, 24> tables = {{
        {"rcp.approx.f32", "-0 . . -inf inf . +0 nan"},
        {"rcp.approx.ftz.f32", "-0 . -inf -inf inf inf +0 nan"},
        {"sqrt.approx.f32", "nan nan . -0 +0 . inf nan"},
        {"sqrt.approx.ftz.f32", "nan nan -0 -0 +0 +0 inf nan"},
        {"rsqrt.approx.f32", "nan nan . -inf inf . +0 nan"},
        {"rsqrt.approx.ftz.f32", "nan nan -inf -inf inf inf +0 nan"},
        {"sin.approx.f32", "nan . . -0 +0 . nan nan"},
        {"sin.approx.ftz.f32", "nan . -0 -0 +0 +0 nan nan"},
        {"cos.approx.f32", "nan . . 1 1 . nan nan"},
        {"cos.approx.ftz.f32", "nan . 1 1 1 1 nan nan"},
        {"lg2.approx.f32", "nan nan . -inf -inf . inf nan"},
        {"lg2.approx.ftz.f32", "nan nan -inf -inf -inf -inf inf nan"},
        {"ex2.approx.f32", "+0 . . 1 1 . inf nan"},
        {"ex2.approx.ftz.f32", "+0 . 1 1 1 1 inf nan"},
        {"tanh.approx.f32", "-1 . same -0 +0 same 1 nan"},
        {"ex2.approx.f16", "+0 . . 1 1 . inf nan"},
        {"ex2.approx.f16x2", "+0 . . 1 1 . inf nan"},
        {"ex2.approx.ftz.bf16", "+0 . 1 1 1 1 inf nan"},
        {"ex2.approx.ftz.bf16x2", "+0 . 1 1 1 1 inf nan"},
        {"tanh.approx.f16", "-1 . . -0 +0 . 1 nan"},
        {"tanh.approx.bf16", "-1 . . -0 +0 . 1 nan"},
        {"rcp.approx.ftz.f64", "-0 . -inf -inf inf inf +0 nan"},
        {"rsqrt.approx.ftz.f64", "nan . -inf -inf inf inf +0 nan"},
        {"rsqrt.approx.f64", "nan nan . -inf inf . +0 nan"},
    }};
    for (const auto& [mnemonic, results] : tables) {
        const Format& format = subject(mnemonic).format;
        const uint64_t sign = format.sign(), infinity = format.infinity();
        const uint64_t number = infinity / 2 + infinity / 4,
                       tiny = uint64_t(1) << (format.width == 64 ? 40 : format.width - 12);
        const uint64_t inputs[] = {
            sign | infinity, sign | number, sign | tiny, sign, 0, tiny, infinity, infinity | tiny};
        std::istringstream words(results);
        std::string word;
        for (const uint64_t input : inputs) {
            words >> word;
            if (word == ".") continue;
            const bool packed = mnemonic.ends_with("x2");
            const uint64_t result = eval(mnemonic, {packed ? input << 16 | input : input});
            const uint64_t part = packed ? result >> 16 : result;
            const Wide got = format.value(part);
            INFO(mnemonic << " of " << std::hex << input << " gives " << part << ", not " << word);
            if (packed) CHECK((result & 0xffff) == part);
            if (word == "nan") {
                CHECK(std::isnan(got));
            } else {
                const Wide want = word == "same" ? format.value(input) : std::stold(word);
                CHECK(got == want);
                CHECK(std::signbit(got) == std::signbit(want));
            }
        }
    }
    // Any NaN gives the one that PTX names.
    CHECK(eval("rcp.approx.ftz.f64", {0xfff0000100000000}) == 0x7fffffff00000000);
    CHECK(eval("rsqrt.approx.ftz.f64", {0x7ff8000000000001}) == 0x7fffffff00000000);
}

TEST_CASE("div.approx and div.full: zero, infinity and huge divisors", "[machine][arith][bounds]") {
    const uint64_t one = bits(1.0f), minus = bits(-1.0f), huge = bits(0x1.8p126f), nan = 0x7fc00000;
    const uint64_t infinity = kSingle.infinity(), sign = kSingle.sign();
    for (const std::string ftz : {"", ".ftz"}) {
        const std::string quick = "div.approx" + ftz + ".f32", full = "div.full" + ftz + ".f32";
        check({
            {quick, {one, huge}, 0},
            {quick, {minus, huge}, sign},
            {quick, {bits(0x1p127f), huge | sign}, sign},
            {full, {bits(0x1.8p127f), huge}, bits(2.0f)},
            {quick, {one, infinity}, 0},
            {full, {minus, infinity}, sign},
            {quick, {one, sign}, sign | infinity},
            {full, {infinity, huge}, infinity},
        });
        CHECK(std::isnan(as_float(eval(quick, {infinity, huge}))));
        for (const std::string& mnemonic : {quick, full}) {
            CHECK(std::isnan(as_float(eval(mnemonic, {nan, one}))));
            CHECK(std::isnan(as_float(eval(mnemonic, {one, nan}))));
            CHECK(std::isnan(as_float(eval(mnemonic, {0, 0}))));
            CHECK(std::isnan(as_float(eval(mnemonic, {infinity, infinity}))));
        }
    }
}

TEST_CASE("approximations: a result beyond the largest error is noticed",
          "[machine][arith][bounds]") {
    const auto fault = [](const std::string& mnemonic, float a, uint64_t result) {
        return subject(mnemonic).fault(bits(a), bits(a), result);
    };
    const uint64_t third = bits(1 / 3.0f), least = bits(0x1p-126f), sign = kSingle.sign();
    CHECK(fault("rcp.approx.f32", 3, third) == "");
    CHECK(fault("rcp.approx.f32", 3, third - 1) == "");
    CHECK(fault("rcp.approx.f32", 3, third + 2) != "");
    CHECK(fault("rcp.approx.f32", 3, third | sign) != "");
    CHECK(fault("rcp.approx.f32", 0, sign | kSingle.infinity()) != "");
    CHECK(fault("ex2.approx.f32", 128.5f, kSingle.infinity()) == "");
    CHECK(fault("ex2.approx.f32", 127.5f, kSingle.infinity()) != "");
    CHECK(fault("ex2.approx.f32", -127, least / 2) == "");
    CHECK(fault("ex2.approx.ftz.f32", -127, least / 2) == "subnormal");
    CHECK(fault("ex2.approx.ftz.f32", -127, 0) == "");
    CHECK(fault("ex2.approx.ftz.f32", -127, sign) == "of the wrong sign");
    CHECK(fault("ex2.approx.ftz.f32", -125, 0) != "");
    CHECK(fault("lg2.approx.f32", -1, bits(0.0f)) == "not NaN");
    CHECK(fault("sin.approx.f32", 3, bits(std::sin(3.0f) + 0x1p-20f)) != "");
    CHECK(fault("sin.approx.f32", 300, bits(std::sin(300.0f) + 0x1p-16f)) == "");
    CHECK(fault("sin.approx.f32", 400, bits(2.0f)) == "");  // nothing is stated
    CHECK(subject("rcp.approx.ftz.f64").fault(bits(4.0), bits(4.0), bits(0.25) | 1) != "");
}
