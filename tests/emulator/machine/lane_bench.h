// SPDX-License-Identifier: MIT
// Runs one PTX instruction on up to 32 sets of operands, one a lane. The operands of a set are
// there in every width: %rd1 to %rd3, %r1 to %r3, %rs1 to %rs3, %f1 to %f3, and %p1, the lowest bit
// of the last.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "machine_lab.h"

namespace machine_lab {

using Operands = std::array<uint64_t, 3>;

// `result` is the register with the answer: "%r4", "%rs4", "%f4", "%rd4", "%p4". Lanes outside
// `active` do not execute it; the register of an answer holds 0x5a5a... before.
inline std::vector<uint64_t> evaluate(const std::string& instruction, const std::string& result,
                                      const std::vector<Operands>& sets,
                                      uint32_t active = kAllLanes) {
    Lab lab;
    for (size_t i = 0; i < 32; ++i)
        for (size_t k = 0; k < 3; ++k) lab.give<uint64_t>(i * 3 + k, sets[i % sets.size()][k]);
    std::string body = "mad.wide.u32 %rd10, %lane, 24, %in;\n";
    for (const char* k : {"1", "2", "3"}) {
        const std::string n = k;
        body += "ld.global.u64 %rd" + n + ", [%rd10+" + std::to_string((k[0] - '1') * 8) +
                "];\ncvt.u32.u64 %r" + n + ", %rd" + n + ";\ncvt.u16.u64 %rs" + n + ", %rd" + n +
                ";\nmov.b32 %f" + n + ", %r" + n + ";\n";
    }
    body += "and.b32 %r5, %r3, 1;\nsetp.ne.u32 %p1, %r5, 0;\nsetp.ne.u32 %p4, 0, 0;\n"
            "mov.u64 %rd4, 0x5a5a5a5a5a5a5a5a;\nmov.u32 %r4, 0x5a5a5a5a;\nmov.u16 %rs4, 0x5a5a;\n"
            "mov.b32 %f4, %r4;\nmov.u32 %r6, " +
            std::to_string(active) +
            ";\nshr.u32 %r6, %r6, %lane;\nand.b32 %r6, %r6, 1;\nsetp.ne.u32 %p5, %r6, 0;\n@%p5 " +
            instruction + ";\n";
    if (result[1] == 'f')
        body += "mov.b32 %r4, %f4;\ncvt.u64.u32 %rd4, %r4;\n";
    else if (result.starts_with("%rs"))
        body += "cvt.u64.u16 %rd4, %rs4;\n";
    else if (result[1] == 'p')
        body += "selp.u64 %rd4, 1, 0, " + result + ";\n";
    else if (!result.starts_with("%rd"))
        body += "cvt.u64.u32 %rd4, " + result + ";\n";
    body += "st.global.u64 [%mine8], %rd4;";
    const LaunchSummary summary = lab.run(body);
    INFO(instruction);
    REQUIRE(summary.status == LaunchStatus::kOk);
    std::vector<uint64_t> out;
    for (size_t i = 0; i < std::min<size_t>(32, sets.size()); ++i)
        out.push_back(lab.got<uint64_t>(i));
    return out;
}

// 32 sets with the edges of 8, 16 and 32 bits among them, the rest random.
inline std::vector<Operands> integer_sets(uint32_t seed) {
    constexpr uint32_t kEdges[] = {0,
                                   1,
                                   0x7f,
                                   0x80,
                                   0xff,
                                   0x7fff,
                                   0x8000,
                                   0xffff,
                                   0x7fffffff,
                                   0x80000000,
                                   0xffffffff,
                                   0x80808080,
                                   0x7f7f7f7f,
                                   31,
                                   32,
                                   33};
    std::mt19937 random(seed);
    std::vector<Operands> sets;
    for (int i = 0; i < 32; ++i) {
        Operands set;
        for (uint64_t& v : set) v = random() % 3 ? kEdges[random() % 16] : random();
        sets.push_back(set);
    }
    return sets;
}

inline uint32_t bits(float x) {
    return std::bit_cast<uint32_t>(x);
}
inline float number(uint64_t x) {
    return std::bit_cast<float>(uint32_t(x));
}

}  // namespace machine_lab
