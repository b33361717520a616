// SPDX-License-Identifier: MIT
// Every special register of ptx/specials.def has a value, or a module that reads it does not load.
#include "machine_lab.h"

namespace {

using namespace machine_lab;

struct Row {
    std::string spelling, type, reader;
};
const Row kRows[] = {
#define PTX_SPECIAL(name, spelling, type, reader) {spelling, #type, #reader},
#include "ptx/specials.def"
#undef PTX_SPECIAL
};

std::string move_from(const Row& row) {
    const char* const to = row.type == "kB64"    ? "mov.u64 %rd1, %"
                           : row.type == "kPred" ? "mov.pred %p1, %"
                                                 : "mov.u32 %r1, %";
    return to + row.spelling + ";";
}

// By lane.
std::vector<uint32_t> values(const std::string& name) {
    Lab lab;
    lab.run("mov.u32 %r1, %" + name + ";\nst.global.u32 [%mine], %r1;");
    std::vector<uint32_t> out;
    for (uint32_t lane = 0; lane < 32; ++lane) out.push_back(uint32_t(lab.got(lane)));
    return out;
}

}  // namespace

TEST_CASE("special registers: one without a value is refused when the module is loaded",
          "[machine][specials]") {
    for (const Row& row : kRows) {
        if (row.reader != "unsupported") continue;
        CAPTURE(row.spelling);
        const std::string message = refusal("\n" + move_from(row));
        CHECK(message.find("cannot execute") != std::string::npos);
        CHECK(message.find("PTX line") != std::string::npos);
        CHECK(message.find("%" + row.spelling) != std::string::npos);
    }
}

TEST_CASE("special registers: all others can be read", "[machine][specials]") {
    for (const Row& row : kRows) {
        if (row.reader == "unsupported") continue;
        CAPTURE(row.spelling);
        CHECK(refusal(move_from(row)).empty());
    }
}

TEST_CASE("special registers: a name that PTX does not have is refused", "[machine][specials]") {
    CHECK(refusal("mov.u32 %r1, %moonphase;").find("%moonphase") != std::string::npos);
}

TEST_CASE("special registers: without clusters, each block is a cluster of one",
          "[machine][specials]") {
    for (const char* axis : {".x", ".y", ".z"}) {
        CHECK(values(std::string("cluster_ctaid") + axis)[0] == 0);
        CHECK(values(std::string("cluster_nctaid") + axis)[0] == 1);
    }
    CHECK(values("cluster_ctarank")[0] == 0);
    CHECK(values("cluster_nctarank")[0] == 1);
}

TEST_CASE("special registers: masks of lanes", "[machine][specials]") {
    const auto equal = values("lanemask_eq"), below = values("lanemask_lt"),
               up_to = values("lanemask_le"), above = values("lanemask_gt"),
               from = values("lanemask_ge");
    for (uint32_t lane = 0; lane < 32; ++lane) {
        CAPTURE(lane);
        const uint32_t self = 1u << lane;
        CHECK(equal[lane] == self);
        CHECK(below[lane] == self - 1);
        CHECK(up_to[lane] == (self | (self - 1)));
        CHECK(above[lane] == ~(self | (self - 1)));
        CHECK(from[lane] == ~(self - 1));
    }
}
