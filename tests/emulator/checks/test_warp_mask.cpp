// SPDX-License-Identifier: MIT
// Masks of warp operations that do not say who takes part.
#include "bench.h"
#include "checks/execution/warp_mask.h"

using bench::Bench;
using machine::WarpSyncKind;

namespace {

struct MaskBench : Bench {
    MaskBench() : Bench(64), checker(report) {}
    machine::WarpSyncEvent event(WarpSyncKind kind, const char* opcode, uint32_t named,
                                 uint32_t arrived) {
        machine::WarpSyncEvent result{};
        result.warp = &warp;
        result.site = site(18, opcode);
        result.kind = kind;
        result.named = named;
        result.arrived = arrived;
        return result;
    }
    checks::WarpMask checker;
};

constexpr const char* kDown = "shfl.sync.down.b32";

}  // namespace

TEST_CASE("warp-mask: all named lanes arrive", "[checks][warp_mask]") {
    MaskBench bench;
    bench.checker.on_warp_sync(bench.event(WarpSyncKind::kShuffle, kDown, 0xffffffff, 0xffffffff));
    bench.checker.on_warp_sync(
        bench.event(WarpSyncKind::kVote, "vote.sync.ballot.b32", 0xff, 0xff));
    CHECK(bench.report.findings().empty());
}

TEST_CASE("warp-mask: the full mask inside a branch", "[checks][warp_mask]") {
    MaskBench bench;
    auto event = bench.event(WarpSyncKind::kShuffle, kDown, 0xffffffff, 0x0000ffff);
    event.missing_waiting = 0xffff0000;
    event.undefined_sources = 0xffff;
    bench.checker.on_warp_sync(event);
    CHECK(bench.only().severity == checks::Severity::kError);
    CHECK(bench.only().message ==
          "the mask 0xffffffff of the shuffle names lanes 16 to 31, which never come here: only "
          "lanes 0 to 15 do");
    CHECK(bench.only().count == 16);
}

TEST_CASE("warp-mask: a named lane that has returned is a warning", "[checks][warp_mask]") {
    MaskBench bench;
    auto event = bench.event(WarpSyncKind::kVote, "vote.sync.any.pred", 0xffffffff, 0x000000ff);
    event.missing_exited = 0xffffff00;
    bench.checker.on_warp_sync(event);
    CHECK(bench.only().severity == checks::Severity::kWarning);
    CHECK(bench.only().message ==
          "the mask 0xffffffff of the vote names lanes 8 to 31, which have already returned");
}

TEST_CASE("warp-mask: taking part without being named", "[checks][warp_mask]") {
    MaskBench bench;
    auto event = bench.event(WarpSyncKind::kBarrier, "bar.warp.sync", 0x1, 0x1);
    event.strangers = 0x2;
    bench.checker.on_warp_sync(event);
    CHECK(bench.only().severity == checks::Severity::kError);
    CHECK(bench.only().message ==
          "lane 1 takes part in `__syncwarp` without being named in the mask 0x1");
    CHECK(bench.only().place.thread == machine::Dim3{1, 0, 0});
}

TEST_CASE("warp-mask: the unused half of a tree over 16 lanes is silent", "[checks][warp_mask]") {
    MaskBench bench;
    auto event = bench.event(WarpSyncKind::kShuffle, kDown, 0xffff, 0xffff);
    event.undefined_sources = 0xff00;  // lanes 8 to 15 read 16 to 23
    bench.checker.on_warp_sync(event);
    event.site = bench.site(19, "shfl.sync.up.b32");
    event.undefined_sources = 0x00ff;
    bench.checker.on_warp_sync(event);
    CHECK(bench.report.findings().empty());
}

TEST_CASE("warp-mask: a value from nowhere counts once it is used", "[checks][warp_mask]") {
    MaskBench bench;
    auto event = bench.event(WarpSyncKind::kShuffle, kDown, 0xff, 0xff);
    event.undefined_sources = 0xc0;
    bench.checker.on_warp_sync(event);
    CHECK(bench.report.findings().empty());
    machine::UndefinedOrigin origin;
    origin.kind = machine::UndefinedOrigin::Kind::kShuffle;
    origin.site = event.site;
    const machine::UndefinedUse use{
        machine::UndefinedUse::How::kStored, &bench.warp, bench.site(20), 0xc0, &origin};
    bench.checker.on_undefined_use(use);
    CHECK(bench.only().severity == checks::Severity::kError);
    CHECK(bench.only().message ==
          "lanes 6 to 7 use a value from a lane that does not take part in the shuffle");
    CHECK(bench.only().place.line == 18);
    CHECK(bench.only().notes.at(0) == "it is used on line 20");
    CHECK(bench.only().count == 2);
}

TEST_CASE("warp-mask: other undefined values belong to other checkers", "[checks][warp_mask]") {
    MaskBench bench;
    machine::UndefinedOrigin origin;
    origin.kind = machine::UndefinedOrigin::Kind::kLocal;
    const machine::UndefinedUse use{
        machine::UndefinedUse::How::kStored, &bench.warp, bench.site(20), 0x1, &origin};
    bench.checker.on_undefined_use(use);
    CHECK(bench.report.findings().empty());
}

TEST_CASE("warp-mask: values of lanes that have returned count at once", "[checks][warp_mask]") {
    MaskBench bench;
    auto event = bench.event(WarpSyncKind::kShuffle, kDown, 0xff, 0x0f);
    event.missing_exited = 0xf0;
    event.undefined_sources = 0x08;
    bench.checker.on_warp_sync(event);
    CHECK(bench.only().severity == checks::Severity::kError);
    CHECK(bench.only().message.find("lanes 4 to 7 of its mask have returned") != std::string::npos);
}

TEST_CASE("warp-mask: two shuffles that are not the same", "[checks][warp_mask]") {
    MaskBench bench;
    auto event = bench.event(WarpSyncKind::kShuffle, kDown, 0xffffffff, 0xffffffff);
    event.strayed = 0xff000000;
    event.strayed_site = bench.site(24, "shfl.sync.up.b32");
    bench.checker.on_warp_sync(event);
    CHECK(bench.only().severity == checks::Severity::kError);
    CHECK(bench.only().message ==
          "lanes 0 to 23 and lanes 24 to 31 meet at different shuffles, with the mask 0xffffffff "
          "for both");
    CHECK(bench.only().other_text == "lanes 24 to 31 are on line 24");
}
